"""EPL as streams, in this process: what a batch gives, however the stream is cut, shuffled, restored and closed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pyarrow as pa
import pytest
from eplcases import all_cases, program_of, right
from hostcases import keywords
from instream import How, InStream
from test_stream_change import Changing
from tests.amount import one_of
from tests.generators.random_epl import random_epl
from tests.laws.epl import Subject
from tests.textcases.epl import EplCase

import occurs
from occurs.model.history import InputOptions
from occurs.model.occurrence import Occurrence
from occurs.program import Program
from occurs.verify.compare import difference, occurrences_of

CASES = right(all_cases())
WAYS = [
    How(buckets=1, size=1, memory="forgetful"),
    How(buckets=3, size=7, shuffled=True),
    How(buckets=3, size=None, shuffled=True, memory="mixed", apart=False),
    How(buckets=2, size=7, memory="crash"),
]
NOTHING = pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64())})


def options_of(case: EplCase) -> InputOptions:
    subject = Subject(case)
    unit = None if case.kind.timestamp else case.kind.unit
    return InputOptions(time_unit=unit, start=subject._instant(case.start), until=subject._instant(case.until))


def bare(events: list[Occurrence]) -> list[Occurrence]:
    """Without constituents: their order within a list is that of the pattern, and labels tell what they are."""
    return [Occurrence(e.type, e.time, {n: v for n, v in e.attributes.items() if n != "because"}) for e in events]


def check(case: EplCase, ways: Sequence[How]) -> None:
    program, options = program_of(case), options_of(case)
    local = program.detect(case.tables() or NOTHING, with_label=True, zone=case.zone, **keywords(case))
    wanted = occurrences_of({t: local.arrow(t) for t in local})
    rng = random.Random(case.name)
    times = [e.time for e in case.events] or [0]
    span = max(times) - min(times)
    for seed, way in enumerate(ways):
        delay = rng.choice((1, 1 + span // 3, span)) if way.shuffled and span < 2**62 else 0
        how = How(way.buckets, way.size, delay, way.shuffled, way.memory, apart=way.apart, seed=seed)
        got = InStream(program, case.tables(), options, how).run().found
        assert difference(wanted, bare(got)) is None, how


@pytest.mark.share(8)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stream_gives_what_a_batch_gives(case: EplCase) -> None:
    number = CASES.index(case)
    # every case in one way, in CI in two; in all of them with --long
    check(case, one_of([WAYS[number % len(WAYS)], WAYS[(number + 1) % len(WAYS)]], 0))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_ways(case: EplCase) -> None:
    check(case, WAYS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    check(random_epl(random.Random(seed)), [WAYS[seed % len(WAYS)]])


# -- programs that change, and clocks ----------------------------------------------------------------------------------
SCHEMAS = "create schema A(k int, v int); create schema B(k int, v int); create schema Clock(v int);\n"
PAIRS = "insert into P select a.v as v, b.v as w from pattern [every a=A -> b=B(k=a.k)];\n"
MISSING = "insert into M select a.v as v from pattern [every a=A -> (timer:interval(3 msec) and not B(k=a.k))];\n"


def tables() -> dict[str, pa.Table]:
    return {
        "A": pa.table({"time": [1, 2, 8], "k": [1, 2, 1], "v": [10, 20, 30]}),
        "B": pa.table({"time": [6, 12], "k": [1, 1], "v": [1, 2]}),
        "Clock": pa.table({"time": [4, 5, 20], "v": [0, 0, 0]}),
    }


def changed(one: str, other: str) -> list[tuple[str, int, int]]:
    """What a program finds whose rules change behind time 5, from a checkpoint of the first."""
    how = How(buckets=2, size=1, because=False)
    programs = [occurs.parse(SCHEMAS + text, language="epl") for text in (one, other)]
    first, second = (Changing(p, tables(), InputOptions(time_unit="ms"), how) for p in programs)
    before = first.go(first.cut()[:4], closing=False)
    second.stores = first.stores
    after = second.go(second.cut()[4:], closing=True)
    assert not [w for b in before.batches for w in b.warnings]
    told = [w.message for b in after.batches for w in b.warnings]
    return sorted((e.type, e.time, e.attributes["v"]) for a in (before, after) for e in a.found), told


def test_partial_matches_survive_a_change_of_other_rules() -> None:
    assert changed(PAIRS, PAIRS + MISSING) == ([("M", 11, 30), ("P", 6, 10), ("P", 12, 30)], [])


def test_a_pattern_that_is_changed_begins_anew() -> None:
    # the event at 1 is not seen by the pattern that is new at 5
    named = "@Name('n') " + PAIRS
    found, told = changed(named, named.replace("b=B(", "b=B(v > 0, "))
    assert found == [("P", 12, 30)]
    # once, though every bucket has a part of its state
    assert told == ["`epl/P/n`: its partial matches in this checkpoint have an incompatible form and are dropped"]


def test_timers_go_by_the_clock_alone() -> None:
    program = occurs.parse(SCHEMAS + MISSING, language="epl")
    answer = InStream(program, tables(), InputOptions(time_unit="ms"), How(buckets=2, size=1)).run()
    came = [(b.figures["frontier"], e) for b in answer.batches for e in occurrences_of(b.found)]
    found = [(frontier, e.time, e.attributes["v"]) for frontier, e in came]
    # a row that nobody reads completes the instant before it
    assert found == [(4, 4, 10), (5, 5, 20), (11, 11, 30)]


def test_with_other_languages() -> None:
    tesla = """
    event A(k: int, v: int) event B(k: int, v: int)
    define Seen(k: int, w: int) from B() as b and last P(v = b.v) as p within 9 ms from b where k := b.k, w := p.w
    """
    epl = SCHEMAS + PAIRS + "insert into Q select s.k as k from pattern [every s=Seen -> b=B];"
    program = Program([(tesla, None, "tesla"), (epl, None, "epl"), ("event E(K) : Q(K).", None, "phenesthe")])
    rng = random.Random(3)
    rows = {
        t: pa.table({"time": sorted(rng.randint(0, 9) for _ in range(20)), "k": [rng.randint(0, 1) for _ in range(20)],
                     "v": [rng.randint(0, 2) for _ in range(20)]})
        for t in "AB"
    }  # fmt: skip
    local = program.detect(dict(rows), with_label=True, time_unit="ms")
    wanted = occurrences_of({t: local.arrow(t) for t in local})
    assert {e.type for e in wanted} == {"P", "Seen", "Q", "E"}
    for way, delay in product(WAYS, (0, 4)):
        how = How(way.buckets, way.size, delay, bool(delay), way.memory, apart=way.apart)
        got = InStream(program, rows, InputOptions(time_unit="ms"), how).run().found
        assert difference(wanted, bare(got)) is None, how
