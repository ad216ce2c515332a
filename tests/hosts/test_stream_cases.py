"""Every text case as a stream, in this process: the detections of the local host, labels and constituents included."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hostcases import all_cases, here, keywords, labelled
from instream import How, as_stream
from tests.amount import one_of

import occurs
from occurs.model.history import InputOptions
from occurs.testing.cases import Case

NOTHING = pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "V": pa.array([], pa.int64())})
ENDS = "windows at the ends of time"
WAYS = [
    How(size=size, shuffled=shuffled, buckets=buckets, memory=memory)
    for size, shuffled, buckets, memory in product((1, 7, None), (False, True), (1, 3), ("kept", "forgetful"))
]
#: every size in order and shuffled, with every number of buckets and every kind of memory
FEW = [WAYS[n] for n in (3, 4, 8, 15, 21, 18)]


def some_of(number: int) -> Sequence[How]:
    """The ways of the case of this number: every other one of the few in CI, one of them in the fast run."""
    return one_of(FEW[number % 2 :: 2], number // 2)


def delays(case: Case, rng: random.Random) -> int:
    """A delay in ticks: one, a part of the history, or all of it."""
    times = [e.time for e in case.events] or [0]
    span = max(times) - min(times)
    return rng.choice((1, 1 + span // 3, span))


def check(case: Case, ways: Sequence[How]) -> None:
    options = keywords(case)
    tables: Any = case.tables() or {None: NOTHING}
    rng = random.Random(case.name)
    wanted = None
    for seed, way in enumerate(ways):
        shuffled = way.shuffled and case.name != ENDS
        how = How(way.buckets, way.size, delays(case, rng) if shuffled else 0, shuffled, way.memory, seed=seed)
        if case.error is not None:
            with pytest.raises(occurs.OccursError) as caught:
                as_stream(occurs.parse(case.rules), tables, InputOptions(**options), how)
            assert caught.value.kind == case.error
            continue
        program = occurs.parse(case.rules)
        if wanted is None:
            wanted = labelled(here(program, tables if None not in tables else NOTHING, because=True, **options))
        assert labelled(as_stream(program, tables, InputOptions(**options), how).found) == wanted, how


def test_few_ways_meet_everything() -> None:
    assert {(w.size, w.shuffled) for w in FEW} == set(product((1, 7, None), (False, True)))
    assert {(w.buckets, w.memory) for w in FEW} == set(product((1, 3), ("kept", "forgetful")))


@pytest.mark.share(8)
@pytest.mark.parametrize("case", all_cases(), ids=lambda c: c.name)
def test_few_ways(case: Case) -> None:
    check(case, some_of(all_cases().index(case)))


@pytest.mark.long
@pytest.mark.parametrize("case", all_cases(), ids=lambda c: c.name)
def test_all_ways(case: Case) -> None:
    check(case, WAYS)


def test_a_frontier_before_all_time() -> None:
    case = next(c for c in all_cases() if c.name == ENDS)
    tables, options = case.tables(), keywords(case)
    wanted = here(occurs.parse(case.rules), tables, because=True, **options)
    found = as_stream(occurs.parse(case.rules), tables, InputOptions(**options), How(delay=5, size=1)).found
    assert labelled(found) == labelled(wanted)
