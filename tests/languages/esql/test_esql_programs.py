"""Programs in eSQL in this process: the text cases, what stands beside the values, what cannot run."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.textcases.pipes import PipesCase, Row, difference, load_cases, rows

import occurs

FOLDER = Path(__file__).parents[2] / "cases" / "pipes"
CASES = [c for c in load_cases(FOLDER) if c.rules]


def found(case: PipesCase, **options: Any) -> list[Row]:
    program = occurs.parse(case.rules, language="esql")
    given = {"time_unit": case.kind.unit, "start": case.start, "until": case.until, "ended": case.ended, **options}
    detected = program.detect(case.tables(), **given)
    out = []
    for name in detected:
        table = detected.arrow(name)
        for row in table.to_pylist():
            time, about = row.pop("time"), row.pop("about", None)
            del row["type"]
            values = {n: _given(v, table.schema.field(n).type) for n, v in row.items()}
            out.append(Row(name, time, values["value"] if list(values) == ["value"] else values, about))
    return out


def _given(value: Any, kind: pa.DataType) -> Any:
    """A value of any type that has parts is JSON text."""
    parts = pa.types.is_union(kind) and isinstance(value, str) and value[:1] in ("[", "{")
    return json.loads(value) if parts else value


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_programs_give_what_the_case_says(case: PipesCase) -> None:
    if case.error is not None:
        with pytest.raises(occurs.OccursError) as problem:
            found(case)
        assert problem.value.kind == case.error
        return
    assert case.expected is not None
    have, want = found(case), rows(case.expected)
    if "bag" in case.name.lower() or any(r.name == "Bag" for r in want):
        # the case does not say in which order a bag is listed
        have, want = list(map(_unordered, have)), list(map(_unordered, want))
    text = difference(have, want)
    assert text is None, text


def _unordered(row: Row) -> Row:
    return Row(row.name, row.time, sorted(row.value) if isinstance(row.value, list) else row.value, row.about)


def test_times_of_events_are_what_the_table_has() -> None:
    text = """DEFINE At AS SELECT time AS at, maximum(time, w) AS late FROM X0. DEFINE Last AS THE MAXIMUM OF X0.time.
              DEFINE Gap AS (TRIM 1 OF X0.time) - X0.time.
              DEFINE Since AS X0 WHERE time > TIME "1970-01-01T00:00:02Z"."""
    program = occurs.parse(text, language="esql")
    stamp = pa.timestamp("us", "UTC")
    times = pa.array([1_000_000, 3_000_000], pa.int64()).cast(stamp)
    found = program.detect({"X0": pa.table({"time": times, "w": times})})
    assert found["At"].schema.types[2:] == [stamp, stamp]
    assert found["At"].column("late").equals(found["At"].column("time"))
    assert found["Last"].column("value").combine_chunks() == times
    assert found["Gap"].column("value").to_pylist() == [2_000_000]
    assert found["Since"].column("w").to_pylist() == times.to_pylist()[1:]
    ticks = {"X0": pa.table({"time": [1, 3], "w": [1, 3]})}
    found = occurs.parse("SELECT time AS at FROM X0.", language="esql").detect(ticks)
    assert found["Result"].schema.field("at").type == pa.int64()
