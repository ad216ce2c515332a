"""Random programs over random histories as streams: however they are cut, disordered and interrupted, the answer is
that of the local host.  By hand: ``python tests/hosts/test_stream_random.py FIRST LAST``."""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hostcases import here, keywords, labelled
from instream import How, as_stream

import occurs
from occurs.errors import OccursError
from occurs.languages.tesla.semantics import Occurrence
from occurs.model.history import InputOptions
from occurs.testing.cases import Case
from occurs.testing.compare import difference
from occurs.testing.random_tesla import random_program

SEEDS = 200
GROUP = 20


def random_way(rng: random.Random, span: int) -> How:
    """Cut, disorder, buckets, memory; ``span``: of the history, in ticks."""
    return How(
        buckets=rng.choice((1, 2, 3, 5)),
        size=rng.choice((1, 2, 3, 7, None)),
        delay=rng.choice((0, 1, span // 4, span)),
        shuffled=rng.random() < 0.7,
        memory=rng.choice(("kept", "forgetful", "mixed", "crash", "crash")),
        because=rng.random() < 0.7,
        apart=rng.random() < 0.5,
        seed=rng.randrange(10**9),
    )


def run_seed(seed: int, ways: int = 2) -> int:
    """Check one program; the number of its detections (-1: it is refused alike)."""
    rng = random.Random(seed)
    case = random_program(rng)
    times = [e.time for e in case.events] or [0]
    options = keywords(case)
    # `until` behind the last row is for the text cases
    if case.until is not None and case.until > max(times):
        options.pop("until")
    return max(alike(case, options, random_way(rng, max(times) - min(times))) for _ in range(ways))


def alike(case: Case, options: dict[str, Any], way: How) -> int:
    program, tables = occurs.parse(case.rules), case.tables()
    kind, wanted = _answer(lambda: here(program, tables, because=way.because, **options))
    refused, found = _answer(lambda: as_stream(program, tables, InputOptions(**options), way).found)
    assert refused == kind, way
    if kind is not None:
        return -1
    if way.because:
        assert labelled(found) == labelled(wanted), way
    else:
        text = difference(wanted, found)
        assert text is None, (way, text)
    return len(wanted)


def _answer(run: Callable[[], list[Occurrence]]) -> tuple[str | None, list[Occurrence]]:
    """(the kind of problem the input is refused for, the detections)."""
    try:
        return None, run()
    except OccursError as problem:
        return problem.kind, []


@pytest.mark.parametrize("first", range(0, SEEDS, GROUP))
def test_random_programs(first: int) -> None:
    found = [run_seed(seed) for seed in range(first, first + GROUP)]
    assert sum(n > 0 for n in found) > GROUP / 3


def main(first: int, last: int) -> int:
    """Check the seeds in [first, last); print those that fail, and how many there are."""
    failed = detections = refused = silent = 0
    for seed in range(first, last):
        try:
            found = run_seed(seed)
            detections += max(found, 0)
            refused += found < 0
            silent += found == 0
        except Exception:
            failed += 1
            print(f"seed {seed}: {traceback.format_exc(limit=-3)[-1500:]}", flush=True)
    print(f"{last - first} seeds, {failed} failed; {detections} detections, {silent} without, {refused} refused")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]))))
