"""Random programs: valid, the same for the same seed, independent of the order of the rows and of what comes later."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.generators.random_epl import random_core, random_epl
from tests.textcases.epl import EplCase, flat, reference

from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference

MAKERS = [random_core, random_epl]


@pytest.mark.share(4)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(60))
def test_laws(make: Callable[[random.Random], EplCase], seed: int) -> None:
    case = make(random.Random(seed))
    assert make(random.Random(seed)) == case
    found = rows(case)
    events = list(case.events)
    random.Random(seed).shuffle(events)
    assert rows(replace(case, events=tuple(events))) == found
    # a match depends on nothing later: cutting the history off cuts off the output
    end = random.Random(seed).choice([e.time for e in case.events])
    if case.until is None or end <= case.until:
        part = rows(replace(case, until=end))
        assert difference([e for e in found if e.time <= end], part) is None


def rows(case: EplCase) -> list[Occurrence]:
    """What is derived, in order, without what depends on the order of the rows as written."""
    return [replace(e, label=(), constituents=()) for e in flat(reference(case))]


@pytest.mark.parametrize(("make", "least"), [(random_core, 70), (random_epl, 60)])
def test_most_programs_detect_something(make: Callable[[random.Random], EplCase], least: int) -> None:
    found = [reference(make(random.Random(seed))) for seed in range(1000, 1100)]
    assert sum(map(bool, found)) >= least
    assert sum(map(len, found)) < 5000


def test_all_operators_take_part() -> None:
    texts = [random_epl(random.Random(seed)).rules for seed in range(800)]
    for word in (
        *("every-distinct(", "every ", " and ", " or ", "not ", " until ", "[2] ", "-[1]>", "where timer:within("),
        *("timer:withinmax(", "while (", "timer:interval(", "timer:at(", "timer:schedule(", " month", " last"),
        *("[0] as e", "distinct(k", "(coalesce(", "weekday", "@consume", "@SuppressOverlapping"),
        *("\norder by ", " desc", "create variable", "(?:p0)", "w1"),
        *("@DiscardPartials", "inherits", "select *", ".*", "\nwhere ", "insert into X"),
    ):
        assert sum(word in t for t in texts) > 2, word
