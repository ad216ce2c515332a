"""The text cases of Phenesthe as streams, in this process: the rows of a batch, however the stream is cut, and each row
when it is final."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from instream import How, InStream
from test_local_lasting import CASES, input_of, instant, lines_of, program_of
from tests.amount import one_of
from tests.textcases.phenesthe import LastingCase, Line, Loaded

import occurs
from occurs.model.history import InputOptions, Source

BATCH = [c for c in CASES if c.mode == "batch" and c.expected is not None]
APPEND = [c for c in CASES if c.mode == "append"]
WAYS = [
    How(size=size, shuffled=shuffled, buckets=buckets, memory=memory, because=False)
    for size, shuffled, buckets, memory in product((1, 7, None), (False, True), (1, 3), ("kept", "forgetful"))
]
#: every size in order and shuffled, with every number of buckets and every kind of memory
FEW = [WAYS[n] for n in (3, 4, 8, 15, 21, 18)]


def some_of(number: int) -> Sequence[How]:
    """The ways of the case of this number: every other one of the few in CI, one of them in the fast run."""
    return one_of(FEW[number % 2 :: 2], number // 2)


def options_of(case: LastingCase) -> InputOptions:
    unit = None if case.kind.timestamp else case.kind.unit
    return InputOptions(time_unit=unit, start=instant(case, "start"), until=instant(case, "until"))


def stream_of(case: LastingCase, how: How, *more: Source, **windows: Any) -> InStream:
    """``windows``: the options of window mode."""
    program = program_of(case).checked.adjusted(facts=Loaded(case).fact_tables(), **windows)
    return InStream(program, [*input_of(case)[0], *more], options_of(case), how)


def found_in(stream: InStream) -> list[Line]:
    return [one for batch in stream.run().batches for one in lines_of(batch.found)]


def delayed(case: LastingCase, rng: random.Random) -> int:
    """A delay in ticks: one, a part of the history, or all of it."""
    times = [r.time for r in case.rows if r.time is not None] or [0]
    span = max(times) - min(times)
    return rng.choice((1, 1 + span // 3, span)) if span < 2**62 else 1


def check(case: LastingCase, ways: Sequence[How]) -> None:
    assert case.expected is not None
    wanted = sorted(Loaded(case).lines(case.expected[None]), key=repr)
    rng = random.Random(case.name)
    for seed, way in enumerate(ways):
        delay = delayed(case, rng) if way.shuffled else 0
        how = How(way.buckets, way.size, delay, way.shuffled, way.memory, way.because, seed=seed)
        assert sorted(found_in(stream_of(case, how)), key=repr) == wanted, how


def test_few_ways_meet_everything() -> None:
    assert {(w.size, w.shuffled) for w in FEW} == set(product((1, 7, None), (False, True)))
    assert {(w.buckets, w.memory) for w in FEW} == set(product((1, 3), ("kept", "forgetful")))


@pytest.mark.share(8)
@pytest.mark.parametrize("case", BATCH, ids=str)
def test_a_stream_that_is_closed_gave_what_a_batch_gives(case: LastingCase) -> None:
    check(case, some_of(BATCH.index(case)))


@pytest.mark.long
@pytest.mark.parametrize("case", BATCH, ids=str)
def test_all_ways(case: LastingCase) -> None:
    check(case, WAYS)


@pytest.mark.parametrize("case", [c for c in CASES if c.error is not None and c.mode == "batch"], ids=str)
def test_what_is_wrong_is_refused(case: LastingCase) -> None:
    with pytest.raises(occurs.OccursError) as raised:
        stream_of(case, How(because=False)).run()
    assert case.error in {p.kind for p in raised.value.problems}


@pytest.mark.share(4)
@pytest.mark.parametrize("case", APPEND, ids=str)
@pytest.mark.parametrize("memory", ["kept", "forgetful"])
def test_rows_come_when_they_are_final(case: LastingCase, memory: str) -> None:
    """Tick by tick; a row that nobody reads tells every tick, behind the rows of the tick."""
    assert case.expected is not None
    ends = [t for r in case.rows for t in (r.time, r.end) if t is not None]
    first, last = min(ends), case.times.get("until", max(ends))
    clock = pa.table({"time": pa.array(range(first, last + 1), pa.int64())})
    stream = stream_of(case, How(2, None, -1, memory=memory, because=False), Source(clock, "every tick"))
    times = stream.rows.column("__time").to_numpy()
    got = {}
    for at in range(first, last + 1):
        rows = stream.query.read(stream.micro_batch(stream.rows.filter(pa.array(times == at))))
        assert rows.figures["frontier"] == at
        got[at] = set(lines_of(rows.found))
    got["closing"] = set(lines_of(stream.query.read(stream.micro_batch(stream.rows.slice(0, 0), True)).found))
    wanted = {at: Loaded(case).lines(rows) for at, rows in case.expected.items()}
    assert {at: rows for at, rows in got.items() if rows} == {at: rows for at, rows in wanted.items() if rows}
