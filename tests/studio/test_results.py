"""Rows of a result against plain Python, why down to files and lines, exports, and values that JSON has no form for."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occurs
from occurs.studio.results import ALWAYS, UnknownNameError, cells
from occurs.studio.timeline_page import write_page
from studio.jobcases import ran, result

A = st.fixed_dictionaries(
    {"time": st.integers(-9, 9), "v": st.none() | st.integers(-3, 3), "s": st.sampled_from("aAbc")}
)
B = st.fixed_dictionaries(
    {"time": st.integers(-9, 9), "end": st.none() | st.just(12), "s": st.none() | st.sampled_from("Abx")}
)


def records(answer):
    """The rows as dicts."""
    return [dict(zip([c["name"] for c in answer["columns"]], row, strict=True)) for row in answer["rows"]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(A, min_size=1, max_size=9), st.lists(B, min_size=1, max_size=9),
    st.sampled_from([[], ["A"], ["B"], ["B", "A"]]), st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 12),
    st.sampled_from(["", "a", "-1", "x"]), st.sampled_from(["time", "s", "type"]), st.booleans(),
    st.integers(0, 5), st.integers(0, 5),
)  # fmt: skip
def test_rows_are_filtered_and_sorted_as_plain_python_does(a, b, types, begin, stop, text, sort, least, offset, limit):
    types_, order = {"A": a, "B": b}, types or ["A", "B"]
    with tempfile.TemporaryDirectory() as folder:
        found = result(Path(folder), {t: ("derived", rows) for t, rows in types_.items()})
        answer = found.rows(types, begin, stop, text, sort if least else f"-{sort}", offset, limit)
    wanted = []
    for type in order:
        for number, row in enumerate(sorted(types_[type], key=lambda r: r["time"])):
            end = row.get("end", row["time"])
            inside = (stop is None or row["time"] <= stop) and (begin is None or end is None or end >= begin)
            shown = [type, *map(str, (row["time"], row.get("v"), row.get("s"), *([end] if "end" in row else [])))]
            if inside and any(text.lower() in s.lower() for s in shown if s != "None"):
                wanted.append((type, number, row))
    wanted.sort(key=lambda one: one[2]["time"])
    key = {"time": lambda o: o[2]["time"], "s": lambda o: o[2].get("s"), "type": lambda o: o[0]}[sort]
    known, unknown = ([o for o in wanted if (key(o) is None) is none] for none in (False, True))
    wanted = sorted(known, key=key, reverse=not least) + unknown
    assert answer["total"] == len(wanted)
    shown = [(r["type"], r["row"], r["time"], r["end"], r["open"], r["s"], r.get("v")) for r in records(answer)]
    assert shown == [
        (t, n, r["time"], r.get("end"), "end" in r and r["end"] is None, r["s"], r.get("v"))
        for t, n, r in wanted[offset : offset + limit]
    ]


def test_values_are_what_json_can_say():
    big = 2**53
    assert cells(pa.chunked_array([[big - 1, big, -big]])) == [big - 1, str(big), str(-big)]
    assert cells(pa.chunked_array([[1.5, math.nan, math.inf, None]])) == [1.5, None, None, None]
    stamps = pa.chunked_array([pa.array([0, 1_500_000], pa.timestamp("us", tz="UTC"))])
    assert cells(stamps) == ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01.5Z"]
    assert cells(pa.chunked_array([[{"n": big, "f": math.nan}]])) == [{"n": str(big), "f": None}]
    assert cells(pa.chunked_array([["ab" * 3_000]]), 10) == ["ababababab\u2026"]


def test_ticks_that_javascript_cannot_hold_are_text(tmp_path):
    found = result(tmp_path, {"A": ("derived", [{"time": 2**60, "end": 2**61, "v": 1}])})
    (row,) = records(found.rows())
    assert (row["time"], row["ticks"], row["end_ticks"]) == (str(2**60), str(2**60), str(2**61))


def test_names_that_are_not_there_are_refused(tmp_path):
    found = result(tmp_path, {"A": ("derived", [{"time": 4, "v": 1}])})
    with pytest.raises(UnknownNameError, match="`Nix`"):
        found.rows(["Nix"])
    with pytest.raises(UnknownNameError, match="`nix`"):
        found.rows(sort="nix")
    for label in ("nix", "0" * 30, "f" * 32):
        with pytest.raises(UnknownNameError, match=label):
            found.why(label)


# --- why, down to the lines -----------------------------------------------------------------------------------------

TEMP = "type,time,room,value\nTemp,1,a,20\nSmoke,2,a,1\n\nTemp,3,a,50\nTemp,4,\"a\nb\",60\nSmoke,5,\"a\nb\",1\n"
FIRE = """
define Fire(room, v) from Smoke(room = $a) and last Temp(room = $a and value > 45) within 9 s from Smoke
where room = Smoke.room, v = Temp.value
"""


def leaves(constituents):
    """(role, type, values, source) of those that are made of nothing else."""
    for one in constituents:
        if one["constituents"]:
            yield from leaves(one["constituents"])
        else:
            yield one["role"], one["type"], one["values"], one["source"]


def why_of(found, type):
    (row,) = records(found.rows([type]))
    answer = found.why(row["label"])
    assert answer["detection"]["label"] == row["label"]
    return answer


def test_tesla_and_lines_with_quotes_and_blank_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(TEMP)
    _, found = ran(tmp_path, {"fire.tesla": FIRE}, ["rows.csv"], options={"time_unit": "s"})
    answer = why_of(found, "Fire")
    assert [(c["role"], c["source"]) for c in answer["constituents"]] == [
        ("Smoke", {"file": "rows.csv", "line": 8, "row": 5}),
        ("Temp", {"file": "rows.csv", "line": 6, "row": 4}),
    ]
    assert answer["constituents"][1]["values"] == {"room": "a\nb", "value": 60}


def test_a_detection_of_one_language_is_a_constituent_in_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"time": t, "room": "a", "value": v} for t, v in ((1, 20), (3, 50), (4, 70))]
    (tmp_path / "Temp.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = {
        "hot.tesla": "define Hot(room, v) from Temp(value > 45) where room = Temp.room, v = Temp.value",
        "twice.epl": "@Name('Twice') insert into Twice select a.room as room from pattern [every a=Hot -> b=Hot];",
    }
    _, found = ran(tmp_path, texts, ["Temp=Temp.jsonl"], options={"time_unit": "s"})
    answer = why_of(found, "Twice")
    assert [(c["role"], c["type"], c["time"], c["values"]) for c in answer["constituents"]] == [
        ("a", "Hot", 3, {"room": "a", "v": 50}),
        ("b", "Hot", 4, {"room": "a", "v": 70}),
    ]
    assert [s["line"] for *_, s in leaves(answer["constituents"])] == [2, 3]
    shallow = found.why(answer["detection"]["label"], 1)["constituents"]
    assert [(c["constituents"], c["more"]) for c in shallow] == [([], 1), ([], 1)]


def test_phenesthe_intervals_and_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pa.table({"type": ["go", "halt", "go"], "time": [1, 5, 7], "ship": ["x", "x", "x"]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    rules = """
    input event go(ship), halt(ship).
    state moving(Ship) : go(Ship) ~> halt(Ship).
    """
    _, found = ran(tmp_path, {"moving.phen": rules}, ["rows.parquet"], options={"time_unit": "s"})
    first, second = records(found.rows(["moving"]))
    assert (first["time"], first["end"], first["open"]) == (1, 5, False)
    assert (second["time"], second["end"], second["open"]) == (7, None, True)
    sources = [s for *_, s in leaves(found.why(first["label"])["constituents"])]
    assert sources == [{"file": "rows.parquet", "line": None, "row": n} for n in (1, 2)]


def test_rules_that_are_only_read_by_others_are_explained_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Temp.csv").write_text("time,value\n1,50\n2,70\n")
    rules = """
    define Hot(v) from Temp(value > 45) where v = Temp.value
    define Hotter(v) from Hot(v > 60) where v = Hot.v
    Subscribe(Hotter)
    """
    done, found = ran(tmp_path, {"hot.tesla": rules}, ["Temp=Temp.csv"], options={"time_unit": "s"})
    assert [t["name"] for t in done["done"]["types"]] == ["Hotter"]
    answer = why_of(found, "Hotter")
    assert [c["type"] for c in answer["constituents"]] == ["Hot"]
    assert [s["line"] for *_, s in leaves(answer["constituents"])] == [3]


@pytest.mark.parametrize("name", ["labor", "maritime"])
def test_every_detection_of_an_example_leads_to_the_lines_of_its_events(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    example = Path(occurs.__file__).parent / "studio" / "examples" / name
    texts = {p.name: p.read_text() for p in example.iterdir() if p.suffix in (".epl", ".phen", ".tesla")}
    (csv,) = example.glob("*.csv")
    (tmp_path / csv.name).write_text(csv.read_text())
    lines = csv.read_text().splitlines()
    options = {"time_unit": "min"} if name == "labor" else {}
    _, found = ran(tmp_path, texts, [csv.name], options=options)
    for type in found.of("derived"):
        for row in records(found.rows([type.name], limit=1000))[::7]:
            parts = [*leaves(found.why(row["label"])["constituents"])]
            assert parts
            for role, type_, values, source in parts:
                if role.startswith("not "):
                    continue
                line = lines[source["line"] - 1].split(",")
                assert type_ in line
                assert all(str(v) in line for v in values.values() if v is not None)


def test_a_constituent_with_thousands_of_others_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T.csv").write_text("time,v\n" + "".join(f"{i},{i}\n" for i in range(50)))
    monkeypatch.setattr("occurs.studio.results.NODES", 3)
    rule = "insert into All select a[0].v as v from pattern [[50] a=T];"
    _, found = ran(tmp_path, {"all.epl": rule}, ["T=T.csv"], options={"time_unit": "s"})
    answer = why_of(found, "All")
    assert (len(answer["constituents"]), answer["more"]) == (3, 47)


def test_exports_are_what_a_run_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(TEMP)
    _, found = ran(tmp_path, {"fire.tesla": FIRE}, ["rows.csv"], options={"time_unit": "s"})
    for format in ("csv", "jsonl", "parquet"):
        found.export(["Fire"], format, tmp_path / f"out.{format}")
    assert (tmp_path / "out.csv").read_text() == 'type,time,room,v\nFire,5,"a\nb",60\n'
    assert (tmp_path / "out.jsonl").read_text() == '{"type": "Fire", "time": 5, "room": "a\\nb", "v": 60}\n'
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"type": "Fire", "time": 5, "room": "a\nb", "v": 60}]


def test_an_export_holds_the_rows_that_the_table_shows(tmp_path):
    values = ((1, "ab"), (3, "b"), (4, "cb"), (9, "b"))
    rows = [{"time": t, "end": None if t == 4 else t + 2, "v": v} for t, v in values]
    found = result(tmp_path, {"A": ("derived", rows), "C": ("derived", [{"time": 5, "v": "b"}, {"time": 6, "v": "d"}])})
    found.export([], "jsonl", tmp_path / "all.jsonl")
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 6
    found.export(["A", "C"], "jsonl", tmp_path / "some.jsonl", 4, 8, "b")
    written = [json.loads(line) for line in (tmp_path / "some.jsonl").read_text().splitlines()]
    assert [(row["type"], row["time"], row["v"]) for row in written] == [("A", 3, "b"), ("A", 4, "cb"), ("C", 5, "b")]
    shown = records(found.rows(["A", "C"], 4, 8, "b"))
    assert [(row["type"], row["ticks"]) for row in shown] == [(row["type"], row["time"]) for row in written]


def drawn(path):
    """What a page of `occurs plot` draws."""
    return json.loads(re.search(r"<script[^>]*json[^>]*>(.*?)</script>", path.read_text(), re.S)[1])


def test_a_timeline_is_written_as_the_page_of_plot(tmp_path):
    lasting = [{"time": 2, "end": 6, "v": "</script>"}, {"time": 30, "end": None, "v": "y"}]
    found = result(tmp_path, {"T": ("input", [{"time": t, "w": t} for t in range(40)]), "A": ("derived", lasting)})
    write_page(found, [], tmp_path / "all.html", title="labor <1>")
    page = drawn(tmp_path / "all.html")
    assert page["title"] == "labor <1>"
    assert [(t["name"], t["input"]) for t in page["types"]] == [("T", True), ("A", False)]
    (bars,) = [lane for g in page["groups"] for lane in g["lanes"] if lane["lasting"]]
    assert (bars["start"], bars["open"]) == ([2, 30], [1])
    write_page(found, ["A"], tmp_path / "some.html", 3, 20)
    page = drawn(tmp_path / "some.html")
    (bars,) = [lane for g in page["groups"] for lane in g["lanes"] if lane["lasting"]]
    assert (page["base"], page["span"], bars["start"]) == ("3", 17, [-1])
    with pytest.raises(UnknownNameError, match="`Nix`"):
        write_page(found, ["Nix"], tmp_path / "none.html")


def test_a_page_has_the_first_rows_of_a_long_timeline_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("occurs.plot.timeline.PAGE_ROWS", 10)
    rows = {"T": ("input", [{"time": t, "w": "x"} for t in range(20)])}
    found = result(tmp_path, rows | {n: ("derived", [{"time": t, "v": t} for t in range(4)]) for n in "AB"})
    write_page(found, [], tmp_path / "page.html")
    page = drawn(tmp_path / "page.html")
    assert page["notices"][0].startswith("10 of 28 rows are shown")
    starts = {page["types"][lane["type"]]["name"]: lane["start"] for g in page["groups"] for lane in g["lanes"]}
    assert starts == {"T": [0, 1], "A": [0, 1, 2, 3], "B": [0, 1, 2, 3]}


def test_two_runs_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Temp.csv").write_text("time,value\n1,50\n2,70\n3,47\n")
    runs = []
    for n, least in enumerate((45, 48)):
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "Temp.csv").write_text((tmp_path / "Temp.csv").read_text())
        monkeypatch.chdir(folder)
        rules = f"define Hot(v) from Temp(value > {least}) where v = Temp.value\n"
        rules += "define Mild(v) from Temp(value < 60) where v = Temp.value\n" if n else ""
        runs.append(ran(folder, {"hot.tesla": rules}, ["Temp=Temp.csv"], options={"time_unit": "s"})[1])
    before, after = runs
    found = after.changes(before)
    assert found["types"] == [
        {"type": "Hot", "gained": 0, "lost": 1, "same": 2}, {"type": "Mild", "gained": 2, "lost": 0, "same": 0},
    ]  # fmt: skip
    assert [(row["type"], row["ticks"]) for row in found["gained"]] == [("Mild", 1), ("Mild", 3)]
    assert [(row["type"], row["ticks"], row["values"]) for row in found["lost"]] == [("Hot", 3, {"v": 47})]
    back = before.changes(after, 1)
    assert sorted((t["type"], t["gained"], t["lost"]) for t in back["types"]) == [("Hot", 1, 0), ("Mild", 0, 2)]
    assert (len(back["gained"]), len(back["lost"])) == (1, 1)


def test_the_columns_that_all_rows_have_come_first(tmp_path):
    answer = result(tmp_path, {"A": ("derived", [{"time": 4, "row": "mine"}])}).rows()
    assert [c["name"] for c in answer["columns"]] == [*ALWAYS, "row"]
    assert answer["rows"][0][-1] == "mine"


def test_windows_show_every_answer_with_its_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("type,time,ship\ngo,1,x\nhalt,5,x\ngo,7,x\n")
    rules = "input event go(ship), halt(ship).\nstate moving(Ship) : go(Ship) ~> halt(Ship)."
    options = {"time_unit": "s", "window": "6 s", "step": "3 s"}
    _, found = ran(tmp_path, {"moving.phen": rules}, ["rows.csv"], options=options)
    answers = [(r["time"], r["end"], r["query"]) for r in records(found.rows(["moving"]))]
    wanted = occurs.parse(rules, language="phenesthe").detect(
        pa.table({"type": ["go", "halt", "go"], "time": [1, 5, 7], "ship": ["x"] * 3}), **options
    )["moving"]
    assert sorted(answers, key=str) == sorted(zip(*(wanted[n].to_pylist() for n in ("time", "end", "query"))), key=str)
    for row in records(found.rows(["moving"])):
        assert found.why(row["label"])["constituents"]
