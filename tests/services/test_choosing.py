"""Events by default, and types that only the events know."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from occurs import services

RULES = {"a.epl": "insert into X select a.v as v from pattern [every a=Temp -> b=Other];"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "options", "entry"),
    [
        ("Temp.csv", "time,v\n1,2\n", {}, "Temp=Temp.csv"),
        ("Temp.csv", "time,v\n", {}, "Temp=Temp.csv"),
        ("Temp.csv", "time;v\n1;2\n", {"delimiter": ";"}, "Temp=Temp.csv"),
        ("Temp.csv", "type,time,v\nOther,1,2\n", {}, "Temp.csv"),
        ("Temp.csv", "kind,time,v\nOther,1,2\n", {"type": "kind"}, "Temp.csv"),
        ("Temp.csv", "type,time,v\nOther,1,2\n", {"type": None}, "Temp=Temp.csv"),
        ("Temp.jsonl", '{"time": 1, "v": 2}\n', {}, "Temp=Temp.jsonl"),
        ("Temp.jsonl", '{"type": "Other", "time": 1}\n', {}, "Temp.jsonl"),
        ("X.csv", "time,v\n1,2\n", {}, "X=X.csv"),
        ("Else.csv", "time,v\n1,2\n", {}, "Else.csv"),
        ("Temp.csv", "", {}, "Temp.csv"),
        ("Temp.csv", b"\xff\xfe\x00", {}, "Temp.csv"),
        ("Temp.csv", "time,v\n1,2\n", {"facts": {"f": "nix.csv"}}, "Temp=Temp.csv"),
        ("Temp.csv", "time,v\n1,2\n", {"format": "parquet"}, "Temp.csv"),
    ],
)
def test_a_file_without_types_is_of_the_type_that_its_name_says(project, name, content, options, entry):
    (project / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert services.offered([name], RULES, options) == [entry]


def test_parquet_and_directories_have_types_in_the_same_way(project):
    pq.write_table(pa.table({"time": [1], "v": [2]}), project / "Temp.parquet")
    for folder, head in (("Other", "time,v"), ("X", "type,time,v")):
        (project / folder).mkdir()
        (project / folder / "part-1.csv").write_text(f"{head}\n")
    (project / "below").mkdir()
    (project / "below" / "Temp.csv").write_text("time,v\n")
    assert services.offered(["Temp.parquet", "Other", "X", "below/Temp.csv", "nix.csv"], RULES) == [
        "Temp=Temp.parquet", "Other=Other", "X", "Temp=below/Temp.csv", "nix.csv",
    ]  # fmt: skip


def test_a_file_is_read_again_when_it_changes(project):
    file = project / "Temp.csv"
    for head, entry in (("time,v", "Temp=Temp.csv"), ("type,time,v", "Temp.csv")):
        file.write_text(f"{head}\n")
        assert services.offered(["Temp.csv"], RULES) == [entry]
    for i, kind in enumerate(("int", "string")):
        file.write_text(f"type,time,v\nA,1,{'7' if kind == 'int' else 'x'}\n")
        os.utime(file, ns=(i, i))
        assert [str(t) for _, t in services.known_types(["Temp.csv"])["A"]] == [kind]


def test_types_of_the_events_are_completed_and_explained(project):
    (project / "rows.csv").write_text("type,time,celsius,room\nTemp,1,20,a\nSmoke,2,,b\n")
    events = services.known_types(["rows.csv", "nix.csv"])
    rules = {"a.epl": "select a.room as r from pattern [every a=Temp(celsius > 1)];"}
    at = rules["a.epl"].index("room")
    labels = [i.label for i in services.complete("a.epl", rules, at, events).items]
    assert labels == ["celsius", "room"]
    assert [i.label for i in services.complete("a.epl", rules, at).items] == ["room"], "as the text uses it"
    assert "room: string" in services.hover("a.epl", rules, at + 1, events).text
    shown = services.hover("a.epl", rules, rules["a.epl"].index("Temp"), events)
    assert "Temp(celsius: int, room: string)" in shown.text
    begun = "select a.v as v from pattern [every a="
    assert "Smoke" in [i.label for i in services.complete("a.epl", {"a.epl": begun}, len(begun), events).items]
    declared = {"a.epl": "create schema Temp (other int);\n" + rules["a.epl"]}
    at = declared["a.epl"].index("a.room") + 2
    assert [i.label for i in services.complete("a.epl", declared, at, events).items] == ["other"]


def test_a_file_that_cannot_be_read_knows_no_types(project):
    (project / "rows.csv").write_bytes(b"\xff\xfe")
    assert services.known_types(["rows.csv", "nix.csv", "/etc/passwd"]) == {}
    (project / "rows.csv").write_text("type,time,v\nA,x,1\nB,1,1\n")
    assert list(services.known_types(["rows.csv"])) == ["B"]
