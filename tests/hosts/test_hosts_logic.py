"""Temporal triggers on all hosts: the worked examples, the notices that something can fire no more, other languages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hostcases import here, keywords, on_spark
from instream import How, InStream
from tests.laws.contract import intake_of
from tests.laws.logic import Subject, program_of
from tests.textcases.logic import LogicCase, load_cases

import occurs
from occurs.cli import main
from occurs.connect.tables import to_arrow
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.program import Program
from occurs.testing.cases import parse_events
from occurs.verify.compare import difference

FOLDER = Path(__file__).parents[1] / "cases" / "logic"
CASES = [c for c in load_cases(FOLDER) if c.error is None and c.events]
WORKED = [c for c in CASES if Path(c.file or "").stem == "worked"]

OVERLOAD = """
table Traffic (link string key, load int)
trigger overload for each y in (select link from Traffic):
    eventually ([x <- Traffic(y)] eventually within 10 (Traffic(y) >= 2*x))
    emit Overload(link = y, load = Traffic(y))
trigger at_once for each y in (select link from Traffic): Traffic(y) = 10 and nexttime Traffic(y) > 15
"""
TRAFFIC = pa.table(
    {"time": [1, 2, 4, 5, 9, 12], "link": ["a", "b", "a", "b", "a", "b"], "load": [10, 7, 20, 14, 40, 15]}
)
WHY = [("activation", "state", 1), ("x", "10", 1), ("state", "state", 4)]
NEVER = [{"type": "at_once", "time": 2, "y": "b"}, {"type": "at_once", "time": 9, "y": "a"}]
FIRED = "Overload@4(link='a',load=20) Overload@5(link='b',load=14) at_once@4(y='a')"


def told(rows: list[dict[str, Any]]) -> Counter[Any]:
    """Notices; times of timestamps in microseconds."""
    out: Counter[Any] = Counter()
    for row in rows:
        time = row["time"] if isinstance(row["time"], int) else round(row["time"].timestamp() * 1_000_000)
        values = {n: str(v) for n, v in row.items() if n not in ("type", "time") and v is not None}
        out[row["type"], time, tuple(sorted(values.items()))] += 1
    return out


def wanted(case: LogicCase) -> Counter[Any]:
    return told([{"type": e.type, "time": e.time, **e.attributes} for e in case.never])


@pytest.mark.parametrize("case", CASES[::6], ids=str)
def test_what_can_fire_no_more(case: LogicCase) -> None:
    found = program_of(case).detect(case.tables(), **keywords(case))
    assert told([] if found.never is None else found.never.to_pylist()) == wanted(case)


@pytest.mark.parametrize("case", [c for c in CASES if c.start is None and c.until is None], ids=str)
def test_one_by_one(case: LogicCase) -> None:
    subject = Subject(case)
    checked = program_of(case).checked.noticing()
    live = occurs.Live(checked.plan(subject.history.schemas, subject.history.kind), intake_of(checked, subject.history))
    rows = sorted(case.events, key=lambda e: e.time)
    found: list[dict[str, Any]] = []
    for e in rows:
        found += live.on_event(e.type, e.time, pushed(e, subject), e.sequence)
    found += live.close()
    got = [Occurrence(r.pop("type"), ticks(r.pop("time")), plain(r)) for r in found]
    assert difference([Occurrence(e.type, e.time, plain(e.attributes)) for e in case.expected or ()], got) is None
    assert told(live.never) == wanted(case)


def ticks(time: Any) -> int:
    return time if isinstance(time, int) else round(time.timestamp() * 1_000_000)


def plain(row: Any) -> dict[str, Any]:
    return {n: ticks(v) if hasattr(v, "timestamp") else v for n, v in row.items()}


def pushed(event: Occurrence, subject: Subject) -> dict[str, Any]:
    schema = subject.history.schemas[event.type]
    table = pa.Table.from_pylist([dict(event.attributes)])
    out = {}
    for name in (n for n in table.column_names if n in schema):
        value = table.column(name)[0].as_py()
        of_time = schema[name].value == "timestamp" and value is not None
        out[name] = pa.scalar(int(value), pa.timestamp("us", tz="UTC")).as_py() if of_time else value
    return out


def test_triggers_of_several_files_and_languages(tmp_path: Path) -> None:
    (tmp_path / "overload.ftl").write_text(OVERLOAD)
    (tmp_path / "again.ptl").write_text("trigger again: Overload and previously[>=1] Overload continue")
    (tmp_path / "seen.tesla").write_text("define Seen(Link: string) from Overload() as O where Link = O.link;")
    (tmp_path / "two.epl").write_text("insert into Two select b.link as link from pattern [a=Overload -> b=Overload]")
    program = occurs.load(*sorted(tmp_path.iterdir()))
    found = here(program, {"Traffic": TRAFFIC}, time_unit="s")
    expected = parse_events(f"{FIRED} again@5 Seen@4(Link='a') Seen@5(Link='b') Two@5(link='b')")
    assert difference(expected, found) is None
    assert program.verify({"Traffic": TRAFFIC}, time_unit="s").equal


def test_a_cycle_through_other_languages_is_refused() -> None:
    ftl = "event B(n int)\ntrigger t: eventually B emit A(n = B.n)"
    tesla = "define B(n: int) from A() as A where n = A.n;"
    with pytest.raises(occurs.DefinitionProblem) as caught:
        Program([(ftl, "a.ftl", "ftl"), (tesla, "b.tesla", "tesla")])
    assert caught.value.kind == "cycle"


def test_the_language_says_what_a_trigger_is() -> None:
    rows = pa.table({"time": [1, 2], "p": [True, False]})
    for language, times in (("ftl", [1]), ("ptl", [1])):
        found = occurs.parse("trigger t: p", language=language).detect(rows, time_unit="s")
        assert found["t"].column("time").to_pylist() == times
    with pytest.raises(occurs.DefinitionProblem):
        occurs.parse("trigger t: eventually p", language="ptl")
    assert "Overload: trigger over Traffic" in occurs.parse(OVERLOAD, language="ftl").explain()


def test_the_command_line(tmp_path: Path) -> None:
    rules, rows = tmp_path / "rules.ftl", tmp_path / "rows.jsonl"
    rules.write_text(OVERLOAD)
    rows.write_text("".join(json.dumps({"type": "Traffic", **r}) + "\n" for r in TRAFFIC.to_pylist()))
    given = ["--events", str(rows), "--time-unit", "s", "--host", "local"]
    done = CliRunner().invoke(main, ["run", str(rules), *given])
    assert done.exit_code == 0, done.output
    assert sorted(json.loads(line)["time"] for line in done.stdout.splitlines()) == [4, 4, 5]
    assert "never: `at_once` (y b) can no longer fire since 2" in done.stderr
    never = tmp_path / "never.jsonl"
    done = CliRunner().invoke(main, ["run", str(rules), *given, "--never", str(never)])
    assert "never:" not in done.stderr
    assert [json.loads(t) for t in never.read_text().splitlines()] == NEVER
    assert CliRunner().invoke(main, ["verify", str(rules), *given[:4]]).exit_code == 0
    past = tmp_path / "past.ptl"
    past.write_text("table Traffic (link string key, load int)\ntrigger t: Traffic(a) > 20")
    assert CliRunner().invoke(main, ["run", str(past), *given, "--never", str(never)]).exit_code == 2


def test_rows_of_one_time_need_no_order_unless_the_last_is_asked_for() -> None:
    """Nor where others than triggers read them; a sequence always decides."""
    text = """
    table T (k string key, v int)
    event E (n int)
    event F (n int)
    trigger a: eventually (T("k") > 1 and E) continue emit A(v = T("k"))
    trigger b: eventually F.n = 2 continue
    """
    program = occurs.parse(text, language="ftl")
    kind = TimeKind(timestamp=False, unit="s")
    schemas = program.declared
    assert program.checked.plan(schemas, kind).unordered == {"T", "E"}
    tesla = ("define G(N: int) from E() as E where N = E.n;", "a.tesla", "tesla")
    assert Program([(text, "a.ftl", "ftl"), tesla]).checked.plan(schemas, kind).unordered == {"T"}
    rows = [{"time": 1, "sequence": s, "k": "k", "v": v} for s, v in ((2, 1), (3, 7), (1, 9))]
    found = program.detect({"T": pa.Table.from_pylist(rows), "E": pa.table({"time": [1], "n": [0]})}, time_unit="s")
    assert found["A"].column("v").to_pylist() == [7]


@pytest.mark.spark
def test_spark(spark: Any) -> None:
    program = occurs.parse(OVERLOAD, language="ftl")
    assert difference(parse_events(FIRED), on_spark(spark, program, {"Traffic": TRAFFIC}, time_unit="s")) is None
    found = program.detect({"Traffic": spark.createDataFrame(TRAFFIC)}, time_unit="s", because=True)
    (row,) = found.arrow("at_once").to_pylist()
    local = program.detect({"Traffic": TRAFFIC}, time_unit="s", because=True)
    assert row == local.arrow("at_once").to_pylist()[0]
    made = min(found.arrow("Overload").to_pylist(), key=lambda r: r["time"])
    assert [(b["role"], b["type"], b["time"]) for b in made["because"]] == WHY
    assert sorted(to_arrow(found.never).to_pylist(), key=lambda r: r["time"]) == NEVER


#: it looks at the rows of every type: one is declared, one is made by a rule, two are not known
OBSERVING = """
event e
trigger every observing all: nexttime true reactivate
trigger made: eventually e reactivate emit Made(n = 1)
"""


def observed() -> pa.Table:
    types = ["other", "e", "other", None, "third", "Made", "e", "other"]
    rows = [{"type": t, "time": 2 * n, "link": "ab"[n % 2]} for n, t in enumerate(types)]
    return pa.Table.from_pylist([r for r in rows if r["type"]])


@pytest.mark.spark
def test_rows_of_types_that_nobody_knows_are_observed_on_spark(spark: Any) -> None:
    program = occurs.parse(OBSERVING, language="ftl")
    wanted = here(program, observed(), time_unit="s")
    assert [e.time for e in wanted if e.type == "every"] == [2, 8, 14]
    assert difference(wanted, on_spark(spark, program, observed(), partitions=3, time_unit="s")) is None


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_case_on_spark(spark: Any, case: LogicCase) -> None:
    got = on_spark(spark, program_of(case), case.tables(), partitions=3, **keywords(case))
    assert difference(case.expected or (), got) is None


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("case", [c for c in CASES if c.never], ids=str)
def test_what_can_fire_no_more_on_spark(spark: Any, case: LogicCase) -> None:
    frames = {t: spark.createDataFrame(table) for t, table in case.tables().items()}
    found = program_of(case).detect(frames, partitions=3, **keywords(case))
    assert told(to_arrow(found.never).to_pylist()) == wanted(case)


@pytest.mark.spark
@pytest.mark.long
def test_what_can_always_fire_once_more_needs_no_job(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    program = occurs.parse(OVERLOAD.split("trigger at_once")[0], language="ftl")
    never = program.detect({"Traffic": spark.createDataFrame(TRAFFIC)}, time_unit="s").never
    assert (never.columns, never.count()) == (["type", "time", "y"], 0)
    never.explain()
    assert "InArrow" not in capsys.readouterr().out


#: over whole columns; state by state; by a query over several rows
COUNTED = """
table T (k string key, v int)
trigger fast for each y in (select k from T): eventually T(y) > 5
trigger slow for each y in (select v from T where v > 1):
    exists (select 1 from T a join T b on a.v = b.v where a.v = :y)
trigger most for each y in (select max(v) from T): exists (select 1 from T where v = :y)
"""


@pytest.mark.spark
@pytest.mark.long
def test_what_is_counted_of_the_input_on_spark(spark: Any) -> None:
    ops = ["insert", "I", "delete", "c", "x", "d", None, "u", None, None]
    keys = ["a", "a", "b", None, "a", "a", None, "c", "d", None]
    values = [1, 2, None, 2, 7, None, None, 9, None, 1]
    table = pa.table({"time": range(1, 11), "k": keys, "v": pa.array(values, pa.int64()), "op": ops})
    program = occurs.parse(COUNTED, language="ftl")
    options: dict[str, Any] = {"time_unit": "s", "bad_rows": "skip"}
    local = program.detect({"T": table}, **options).counts
    assert local["bad: unknown op"] == local["inserts of present rows: T"] == 1
    assert local["deletes of absent rows: T"] == 1
    assert local["rows without a key"] == 3
    assert program.detect({"T": spark.createDataFrame(table)}, **options).counts == local


def test_notices_of_a_stream() -> None:
    program = occurs.parse(OVERLOAD, language="ftl").checked.noticing()
    options = Subject(WORKED[0]).options
    stream = InStream(program, {"Traffic": TRAFFIC}, options, How(buckets=2, size=2))
    never = [row for b in stream.run().batches for t in b.never.values() for row in t.to_pylist()]
    assert sorted(({n: r[n] for n in NEVER[0]} for r in never), key=lambda r: r["time"]) == NEVER
