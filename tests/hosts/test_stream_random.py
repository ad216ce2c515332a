"""Random programs over random histories as streams: however they are cut, disordered and interrupted, the answer is
that of the local host.  By hand: ``python tests/hosts/test_stream_random.py FIRST LAST [chains]``."""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hostcases import combined, here, keywords, labelled
from instream import How, as_stream
from tests.amount import amount, first
from tests.generators.histories import random_history, split_by_type
from tests.generators.random_tesla import random_program

import occurs
from occurs.errors import OccursError
from occurs.model.history import InputOptions
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type
from occurs.testing.cases import Case
from occurs.verify.compare import difference

SEEDS = 200
CHAINED = Schema((("K", Type.INT), ("G", Type.INT), ("V", Type.INT)))
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


@pytest.mark.parametrize("begin", first(range(0, SEEDS, GROUP), 1, 5))
def test_random_programs(begin: int) -> None:
    found = [run_seed(seed) for seed in range(begin, begin + GROUP)]
    assert sum(n > 0 for n in found) > GROUP / 3


#: programs of several stages, whose order in an instant, keys and modes differ
CHAINS = [
    """
define One(K, G, V) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G, V = A.V
define Two(G, V) from C(G = $g) and each One(G = $g) within 20 ms from C where G = $g, V = One.V
define Three(V) from Two(V > 0) where V = Two.V
""",
    """
define One(K, G) from A(K = $k) and first B(K = $k) within 9 ms from A where K = $k, G = B.G
define Two(N) from Timer(MS%7 == 0) where N = COUNT(One()) within 12 ms from Timer
define Else(K) from B(K = $k) and each A(K = $k) within 4 ms from B where K = $k
""",
    """
define One(K, G) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G consuming B
define Two(G, S) from One(G = $g) and not C(G = $g) within 6 ms from One where G = $g, S = One.K
define Three(G) from C() and each Two() within 15 ms from C where G = Two.G consuming Two
""",
    """
define One(K, G, V) from A(K = $k) and each B(K = $k) within 6 ms from A where K = $k, G = A.G, V = B.V
define One(K, G, V) from C(K = $k) and last B(K = $k) within 6 ms from C where K = $k, G = C.G, V = B.V
define Sum(G, S) from C(G = $g) where G = $g, S = SUM(One(G = $g).V) within 9 ms from C
define Top(S) from Sum() and last A() within 5 ms from Sum where S = Sum.S + A.V
""",
]


def run_chain(seed: int) -> int:
    """A program of several stages over random events."""
    rng = random.Random(seed)
    events = random_history(rng, dict.fromkeys("ABC", CHAINED), rng.randint(5, 40), span=30, nulls=0.1)
    case = Case("chain", rng.choice(CHAINS), tuple(events))
    return alike(case, keywords(case), random_way(rng, 30))


def test_chains() -> None:
    found = [run_chain(seed) for seed in range(amount(6, 15))]
    assert sum(n > 0 for n in found) > 0.6 * len(found)


def test_given_rows_of_a_type_that_feeds_itself() -> None:
    """Of P only V is read, but its rows stand beside derived ones, which have all attributes."""
    rules = """
event P(K: int, V: int)
define P(K, V) from A(K = $k) and last B(K = $k) within 8 ms from A where K = $k, V = B.V
define P(K, V) from A() and first B() within 5 ms from A where K = B.V, V = COUNT(P(V > 0)) within 5 ms from A
"""
    tables = {"A": {"time": [5], "K": [1]}, "B": {"time": [3], "K": [1], "V": [1]}}
    tables["P"] = {"time": [4], "K": [1], "V": [1]}
    history = {t: pa.table(columns) for t, columns in tables.items()}
    program = occurs.parse(rules)
    found = as_stream(program, history, InputOptions(time_unit="ms"), How(because=False)).found
    assert difference(here(program, history, time_unit="ms"), found) is None
    assert len(found) == 2


def test_the_order_of_what_decides_an_order() -> None:
    """`last Two()` depends on the order of Two, and that on the order of One, which another stage has found."""
    rules = """
define One(K, G) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G
define Two(G) from One(G = $g) and not C(G = $g) within 6 ms from One where G = $g
define Three(G) from D() and last Two() within 15 ms from D where G = Two.G
"""
    n = range(12)
    tables = {
        "A": pa.table({"time": [10] * 12, "K": list(n)}),
        "B": pa.table({"time": [8] * 12, "K": list(n), "G": [5 * i % 12 for i in n]}),
        "C": pa.table({"time": [1], "G": [99]}),
        "D": pa.table({"time": [12]}),
    }
    program = occurs.parse(rules)
    found = as_stream(program, tables, InputOptions(time_unit="ms"), How(size=None)).found
    assert labelled(found) == labelled(here(program, tables, because=True, time_unit="ms"))


@pytest.mark.long
@pytest.mark.slow
def test_many_programs_at_once() -> None:
    assert run_together(0, 150) >= 40


def run_together(first: int, number: int) -> int:
    """Several random programs as one; how many they are."""
    batches, _ = combined(random_program(random.Random(seed)) for seed in range(first, first + number))
    for at, batch in enumerate(batches):
        tables = split_by_type(batch.table)
        rng = random.Random(first + at)
        wanted = labelled(here(batch.program, tables, because=True, **batch.options))
        for size, memory in ((7, "kept"), (20, "forgetful"), (40, "crash"), (None, "kept")):
            times = batch.table.column("time").cast("int64").to_pylist()
            span = max(times) - min(times)
            way = How(rng.choice((1, 3, 8)), size, span // rng.choice((2, 10)), True, memory, seed=first)
            found = as_stream(batch.program, tables, InputOptions(**batch.options), way).found
            assert labelled(found) == wanted, (batch.name, way)
    return sum(len(b.cases) for b in batches)


def main(first: int, last: int, chains: bool = False) -> int:
    """Check the seeds in [first, last); print those that fail, and how many there are."""
    failed = detections = refused = silent = 0
    for seed in range(first, last):
        try:
            found = (run_chain if chains else run_seed)(seed)
            detections += max(found, 0)
            refused += found < 0
            silent += found == 0
        except Exception:
            failed += 1
            print(f"seed {seed}: {traceback.format_exc(limit=-3)[-1500:]}", flush=True)
    print(f"{last - first} seeds, {failed} failed; {detections} detections, {silent} without, {refused} refused")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["chains"])))
