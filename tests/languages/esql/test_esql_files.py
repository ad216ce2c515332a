"""FILE: the lines of a text file as items, of a file in the folder of the rules and of no other."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import occurs
from occurs.cli import main

TEXT = """
DEFINE Stock AS SELECT name AS name, number(count) AS count FROM THE TUPLES OF FILE 'data/stock.csv'.
DEFINE Long AS size(split(FILE 'data/stock.csv', ',')) WHERE $0 > 1.
DEFINE Both WITH ABOUT AS MERGE (FILE 'data/stock.csv'), (Read.text).
"""
FOUND = {
    "Stock": [{"time": 1, "name": "nut", "count": 3.0}, {"time": 3, "name": "Öse", "count": None}],
    "Long": [{"time": t, "value": 2} for t in (0, 1, 3)],
    "Both": [
        {"time": t, "value": v, "about": t}
        for t, v in [(0, "name,count"), (1, "nut,3"), (1, "x"), (2, ""), (3, "Öse,many"), (5, "y")]
    ],
}
READ = pa.table({"time": [1, 5], "text": ["x", "y"]})


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Rules, and a file with a mark at its beginning, lines that end in two ways, and no end of the last."""
    (tmp_path / "rules" / "data").mkdir(parents=True)
    stock = "\ufeffname,count\r\nnut,3\n\nÖse,many"
    (tmp_path / "rules" / "data" / "stock.csv").write_bytes(stock.encode())
    path = tmp_path / "rules" / "a.esql"
    path.write_text(TEXT)
    return path


def rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["type"]).to_pylist()


def refused(path: Path, text: str, events: Any = None) -> occurs.InputProblem:
    path.write_text(text)
    with pytest.raises(occurs.InputProblem) as problem:
        occurs.load(path).detect({} if events is None else events)
    return problem.value


def test_lines_are_events_beside_others(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rules.parent)
    program = occurs.load("a.esql")
    monkeypatch.chdir("/")  # a path begins at the folder where the rules were
    found = program.detect(READ, because=True)
    for name, expected in FOUND.items():
        assert [{n: r[n] for n in expected[0]} for r in rows(found[name])] == expected, name
    (step, about) = found["Long"].to_pylist()[0]["because"]
    assert (step["type"], step["time"], about["role"]) == ("FILE data/stock.csv", 0, "about")
    assert program.verify(READ).equal
    cut = program.detect(READ, start=1, until=2)
    assert [r["value"] for r in rows(cut["Both"])] == ["nut,3", "x", ""]


def test_a_program_of_files_needs_no_events(rules: Path) -> None:
    text = "DEFINE Last AS THE LAST OF FILE 'data/stock.csv'. DEFINE N AS THE COUNT OF FILE './data/none.txt'."
    rules.write_text(text)
    (rules.parent / "data" / "none.txt").write_text("")
    found = occurs.load(rules).detect({}, time_unit="s", until=9)
    assert {n: rows(found[n]) for n in found} == {"Last": [{"time": 9, "value": "Öse,many"}], "N": []}


@pytest.mark.parametrize("host", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])])
def test_occurs_run(rules: Path, host: str) -> None:
    rules.write_text("DEFINE Out AS FILE 'data/stock.csv' WHERE $0 <> ''.")
    done = CliRunner().invoke(main, ["run", str(rules), "--host", host])
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["time"], r["value"]) for r in found] == [(0, "name,count"), (1, "nut,3"), (3, "Öse,many")]
    assert CliRunner().invoke(main, ["verify", str(rules)]).exit_code == 0
    rules.write_text("DEFINE Out AS FILE 'data/stock.csv'. DEFINE More AS Read.text.")
    done = CliRunner().invoke(main, ["run", str(rules), "--host", host])
    assert (done.exit_code, "Missing option '--events'" in done.stderr) == (2, True)


OUTSIDE = ["../secret", "data/../../secret", "data/../data/stock.csv", "{root}/secret", "/dev/null"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_what_is_outside_of_the_folder_is_not_opened(rules: Path, path: str) -> None:
    root = rules.parents[1]
    (root / "secret").write_text("secret")
    problem = refused(rules, f"\nDEFINE Out AS FILE '{path.format(root=root)}'.")
    assert (problem.kind, problem.definition, problem.line) == ("missing-file", "Out", 2)
    assert "may be outside" in problem.message
    assert "inside it" in (problem.hint or "")


def test_links_are_followed_inside_only(rules: Path) -> None:
    data, root = rules.parent / "data", rules.parents[1]
    (root / "secret").write_text("secret")
    (data / "out").symlink_to(root / "secret")
    (data / "up").symlink_to(root)
    (data / "loop").symlink_to(data / "loop")
    (data / "in").symlink_to("stock.csv")
    for name in ("out", "up/secret"):
        assert "a link leads outside" in refused(rules, f"DEFINE Out AS FILE 'data/{name}'.").message
    refused(rules, "DEFINE Out AS FILE 'data/loop'.")
    rules.write_text("DEFINE Out AS THE COUNT OF FILE 'data/in'.")
    assert occurs.load(rules).detect({})["Out"].num_rows == 4


def test_what_is_no_text_file(rules: Path) -> None:
    (rules.parent / "latin").write_bytes("Größe".encode("latin-1"))
    os.mkfifo(rules.parent / "pipe")
    for path, what in [
        ("data/stock.txt", "there is no file"),
        ("data", "is not a file"),
        ("", "is not a file"),
        ("pipe", "is not a file"),
        ("a" * 5000, "cannot be"),
        ("latin", "it is not UTF-8: invalid start byte at byte 2"),
    ]:
        problem = refused(rules, f"DEFINE Out AS FILE '{path}'.")
        assert problem.kind == "missing-file"
        assert what in problem.message


def test_rules_that_are_in_no_folder(rules: Path) -> None:
    for name in (None, str(rules)):  # the name of a text is for messages only
        program = occurs.parse(TEXT, "esql", name=name)
        with pytest.raises(occurs.InputProblem, match="these rules are text, so there is no folder"):
            program.detect(READ)


def test_a_file_is_a_history(rules: Path) -> None:
    program = occurs.load(rules)
    with pytest.raises(occurs.UsageProblem, match="which can only be read as a history, not as single events"):
        program.live({"Read": {"text": "string"}}, time_unit="s")
    assert "not supported: FILE data/stock.csv can only be read as a history" in program.explain()
    stamped = READ.set_column(0, "time", READ["time"].cast(pa.timestamp("us")))
    with pytest.raises(occurs.InputProblem, match="all tables of a run must have the same kind of time"):
        program.detect({"Read": stamped})
    with pytest.raises(occurs.UsageProblem, match="a special column is called `line`"):
        program.detect(READ.rename_columns(["line", "text"]), time="line")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["follow", "--events", "Read=in", "--checkpoint", "kept"],
            "which can only be read as a history, not as a stream",
        ),
        (["watch", "--database", "sqlite:data.db"], "which can only be read as a history, not as a database"),
    ],
)
def test_what_goes_on_reads_no_file(
    rules: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], words: str
) -> None:
    monkeypatch.chdir(rules.parent)
    sqlite3.connect("data.db").execute("CREATE TABLE t (k INTEGER PRIMARY KEY)").connection.close()
    (rules.parent / "in").mkdir()
    (rules.parent / "in" / "a.csv").write_text("time,text\n1,x\n")
    done = CliRunner().invoke(main, [command[0], "a.esql", *command[1:]])
    assert (done.exit_code, words in done.stderr) == (2, True), done.output


def test_one_path_in_two_folders(rules: Path) -> None:
    other = rules.parent / "data" / "b.esql"
    other.write_text("DEFINE More AS FILE 'data/stock.csv'.")
    with pytest.raises(occurs.DefinitionProblem, match="refers to files in two folders") as problem:
        occurs.load(rules, other)
    assert problem.value.kind == "duplicate-name"


def test_inside_a_processor_there_is_no_file() -> None:
    with pytest.raises(occurs.DefinitionProblem) as problem:
        occurs.parse("DEFINE Out AS GET (FILE 'a.txt') FROM Read.v ON A WINDOW OF 2.", "esql")
    assert problem.value.kind == "sort"


@pytest.mark.spark
def test_on_spark(spark: Any, rules: Path) -> None:
    program = occurs.load(rules)
    found = program.detect({"Read": spark.createDataFrame(READ)})
    for name in ("Stock", "Both"):
        assert sorted(map(str, rows(found.arrow(name)))) == sorted(map(str, FOUND[name]))
    stream = spark.readStream.format("rate").load().selectExpr("value as time", "'x' as text")
    with pytest.raises(occurs.UsageProblem, match="which can only be read as a history, not as a stream"):
        program.detect({"Read": stream}, time_unit="s")
