"""Temporal triggers as streams, in this process: what a batch gives, however the stream is cut, shuffled, restored."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hostcases import keywords
from instream import How, InStream
from tests.laws.logic import Subject, program_of
from tests.textcases.logic import LogicCase, load_cases

from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference, occurrences_of

CASES = [c for c in load_cases(Path(__file__).parents[1] / "cases" / "logic") if c.error is None and c.events]
WAYS = [
    How(buckets=1, size=1, memory="forgetful"),
    How(buckets=3, size=3, shuffled=True),
    How(buckets=2, size=4, memory="crash"),
]


def check(case: LogicCase, ways: list[How]) -> None:
    program = program_of(case)
    local = program.detect(case.tables(), with_label=True, **keywords(case))
    wanted = occurrences_of({t: local.arrow(t) for t in local})
    rng = random.Random(case.name)
    times = [e.time for e in case.events]
    span = max(times) - min(times)
    for seed, way in enumerate(ways):
        delay = rng.choice((1, 1 + span // 3, span)) if way.shuffled else 0
        how = How(way.buckets, way.size, delay, way.shuffled, way.memory, seed=seed)
        got = InStream(program, case.tables(), Subject(case).options, how).run().found
        assert difference(wanted, [without_reasons(e) for e in got]) is None, how


def without_reasons(event: Occurrence) -> Occurrence:
    return Occurrence(event.type, event.time, {n: v for n, v in event.attributes.items() if n != "because"})


SOME = [c for n, c in enumerate(CASES) if n % 8 == 0 or c.name in ("a table emptied, by key", "observing all")]


@pytest.mark.share(4)
@pytest.mark.parametrize("case", SOME, ids=str)
def test_a_stream_gives_what_a_batch_gives(case: LogicCase) -> None:
    check(case, WAYS)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_stream_gives_what_a_batch_gives(case: LogicCase) -> None:
    check(case, WAYS)
