"""Row patterns on all hosts: the text cases here, pushed row by row, as streams in this process and on Spark."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from filestream import cut, disordered, follow
from hostcases import here, keywords, labelled, on_spark
from instream import How, InStream
from tests.laws.match_recognize import RowSubject
from tests.textcases.match_recognize import RowCase, load_cases, plain

import occurs
from occurs.cli import main
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference, occurrences_of

FOLDER = Path(__file__).parents[1] / "cases" / "match_recognize"
CASES = [c for c in load_cases(FOLDER) if c.error is None and c.events]
CLOSED = [c for c in CASES if c.ended]
WORKED = [c for c in CASES if Path(c.file or "").stem == "worked"]
WAYS = [
    How(buckets=1, size=1, memory="forgetful"),
    How(buckets=3, size=3, shuffled=True),
    How(buckets=2, size=4, memory="crash"),
]


def program_of(case: RowCase) -> occurs.Program:
    return occurs.parse(case.rules, language="match_recognize")


def rows(found: list[Occurrence]) -> list[tuple[Any, ...]]:
    """By type, in the order in which they came."""
    return sorted(((e.type, e.time, list(e.attributes.items())) for e in found), key=lambda r: r[0])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_here(case: RowCase) -> None:
    got = here(program_of(case), case.tables(), ended=case.ended, **keywords(case))
    assert rows(plain(got)) == rows(list(case.expected or ()))


@pytest.mark.parametrize("case", [c for c in CASES if c.late], ids=str)
def test_timeouts(case: RowCase) -> None:
    found = program_of(case).detect(case.tables(), ended=case.ended, timeouts=True, **keywords(case))
    assert found.timeouts is not None
    got = [e for name in found.timeouts for e in occurrences_of({name: to_plain(found.timeouts[name])})]
    assert rows(plain(got)) == rows(list(case.late or ()))


def to_plain(table: Any) -> pa.Table:
    return table if isinstance(table, pa.Table) else pa.table(table)


@pytest.mark.parametrize("case", [c for c in CLOSED if c.start is None and c.until is None][::4], ids=str)
def test_one_by_one(case: RowCase) -> None:
    subject = RowSubject(case)
    if subject.part.closed_only:
        return
    live = subject.live(labelled=False)
    found: list[Any] = []
    for n, row in enumerate(sorted(case.events, key=lambda e: (e.time, e.sequence or 0))):
        del n
        found += live.on_event(row.type, row.time, dict(row.attributes), row.sequence)
    found += live.close()
    got = [Occurrence(r.pop("type"), ticks(r.pop("time")), r) for r in map(dict, found)]
    assert difference(list(case.expected or ()), plain(got)) is None


def ticks(time: Any) -> int:
    return time if isinstance(time, int) else round(time.timestamp() * 1_000_000)


def as_stream(case: RowCase, ways: list[How]) -> None:
    program = program_of(case)
    if program.checked.bind(case.inputs, case.kind).closed_only:
        return
    wanted = here(program, case.tables(), with_label=True, **keywords(case))
    rng = random.Random(case.name)
    times = [e.time for e in case.events]
    span = max(times) - min(times)
    for seed, way in enumerate(ways):
        delay = rng.choice((1, 1 + span // 3, span)) if way.shuffled else 0
        how = How(way.buckets, way.size, delay, way.shuffled, way.memory, seed=seed)
        got = InStream(program, case.tables(), RowSubject(case).options, how).run().found
        assert difference(wanted, [without_reasons(e) for e in got]) is None, how


def without_reasons(event: Occurrence) -> Occurrence:
    return Occurrence(event.type, event.time, {n: v for n, v in event.attributes.items() if n != "because"})


@pytest.mark.share(4)
@pytest.mark.parametrize("case", CLOSED[::6], ids=str)
def test_a_stream_gives_what_a_batch_gives(case: RowCase) -> None:
    as_stream(case, WAYS)


@pytest.mark.long
@pytest.mark.parametrize("case", CLOSED, ids=str)
def test_every_stream_gives_what_a_batch_gives(case: RowCase) -> None:
    as_stream(case, WAYS)


# --- programs, with other languages on both sides ---------------------------------------------------------------------

SMOOTH = "define Quote(sym: string, price: int) from Raw(price > 0) where sym = Raw.sym, price = Raw.price"
DIP = """CREATE VIEW Dip AS
SELECT * FROM Quote MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY time
  MEASURES FIRST(price) AS top, LAST(DOWN.price) AS low, LAST(UP.price) AS up
  AFTER MATCH SKIP TO LAST UP
  PATTERN (S DOWN+ UP+) WITHIN INTERVAL '10' SECOND
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)) AS d;"""
TWICE = "insert into Twice select b.sym as sym, b.low as low from pattern [every a=Dip -> b=Dip(sym = a.sym)];"


def quotes(count: int) -> pa.Table:
    """Prices of three symbols, a row a second; some of them are no prices."""
    draw = random.Random(3)
    columns = {
        "type": ["Raw"] * count,
        "time": list(range(count)),
        "sym": [draw.choice("xyz") for _ in range(count)],
        "price": [draw.choice((-1, 5, 7, 8, 9, 11, 12)) for _ in range(count)],
    }
    return pa.table(columns)


def mixed() -> occurs.Program:
    return occurs.Program(
        [(SMOOTH, "smooth.tesla", "tesla"), (DIP, "dip.sql", "match_recognize"), (TWICE, "twice.epl", "epl")]
    )


def test_a_program_of_three_languages() -> None:
    table = quotes(120)
    found = here(mixed(), table, time_unit="s")
    assert {e.type for e in found} == {"Quote", "Dip", "Twice"}
    assert mixed().verify(table, time_unit="s").equal


def test_a_program_of_three_languages_as_a_stream() -> None:
    table = quotes(60)
    program = mixed()
    wanted = here(program, table, time_unit="s", with_label=True)
    options = RowSubject(WORKED[0]).options.__class__(time_unit="s")
    for how in (How(buckets=3, size=5), How(buckets=2, size=9, delay=6, shuffled=True, memory="forgetful")):
        got = InStream(program, {None: table}, options, how).run().found  # type: ignore[dict-item]
        assert difference(wanted, [without_reasons(e) for e in got]) is None, how


def test_the_command_line(tmp_path: Path) -> None:
    case = WORKED[0]
    (table,) = case.tables().values()
    rules, given = tmp_path / "dip.sql", tmp_path / "rows.jsonl"
    rules.write_text(case.rules)
    given.write_text("".join(json.dumps({"type": "Quote", **r}) + "\n" for r in table.to_pylist()))
    options = ["--events", str(given), "--time-unit", "s", "--host", "local"]
    done = CliRunner().invoke(main, ["run", str(rules), *options, "--because"])
    assert done.exit_code == 0, done.output
    (row,) = map(json.loads, done.stdout.splitlines())
    assert (row["type"], row["time"], row["sym"], row["low"]) == ("Dip", 9, "x", 9)
    roles = [(b["role"], b["time"]) for b in row["because"]]
    assert roles == [("S", 2), ("DOWN", 4), ("DOWN", 5), ("UP", 7), ("UP", 9)]
    assert CliRunner().invoke(main, ["verify", str(rules), *options[:4]]).exit_code == 0
    assert "unbounded-state" in CliRunner().invoke(main, ["check", str(rules)]).output
    assert CliRunner().invoke(main, ["check", "--require-bounds", str(rules)]).exit_code == 2


def test_an_order_that_a_stream_does_not_have_is_refused() -> None:
    program = occurs.parse(
        "SELECT * FROM R MATCH_RECOGNIZE (ORDER BY v PATTERN (A) DEFINE A AS TRUE)", language="match_recognize"
    )
    table = pa.table({"time": [1, 2], "v": [2, 1]})
    assert len(program.detect({"R": table}, time_unit="s")["matches"]) == 2
    with pytest.raises(occurs.DefinitionProblem, match="ORDER BY does not begin with `time`") as caught:
        program.detect({"R": table}, time_unit="s", ended=False)
    assert (caught.value.kind, caught.value.column) == ("unsupported", 43)
    with pytest.raises(occurs.DefinitionProblem):
        program.live({"R": {"v": "int"}}, time_unit="s")


# --- Spark ------------------------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("case", [WORKED[0], WORKED[1], WORKED[2], WORKED[5]], ids=str)
def test_spark(spark: Any, case: RowCase) -> None:
    got = on_spark(spark, program_of(case), case.tables(), partitions=3, **keywords(case))
    assert difference(list(case.expected or ()), plain(got)) is None


@pytest.mark.spark
def test_reasons_on_spark(spark: Any) -> None:
    table = quotes(80)
    program = mixed()
    wanted = here(program, table, time_unit="s", because=True)
    got = on_spark(spark, program, table, time_unit="s", because=True, partitions=3)
    assert labelled(got) == labelled(wanted)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("case", CLOSED, ids=str)
def test_every_case_on_spark(spark: Any, case: RowCase) -> None:
    got = on_spark(spark, program_of(case), case.tables(), partitions=3, **keywords(case))
    assert difference(list(case.expected or ()), plain(got)) is None


@pytest.mark.spark
def test_a_stream_on_spark(live: Any, tmp_path: Path) -> None:
    """The end is a start of its own: what waits goes through the checkpoint."""
    table, program = quotes(40), mixed()
    options: dict[str, Any] = {"time_unit": "s", "because": True, "partitions": 2}
    got = follow(live, program, cut(disordered(table, 5, 1), 2), tmp_path, watermark=5, **options)
    assert labelled(got.found) == labelled(here(program, table, time_unit="s", because=True))
    assert (got.runs, got.total("late")) == (2, 0)
