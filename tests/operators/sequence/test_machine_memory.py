"""What the machine of patterns keeps between calls: arrays that grow, whatever happens to a call."""

from __future__ import annotations

import contextlib
import random
from fractions import Fraction
from typing import Any

import pytest
from chains_histories import KIND, SCHEMAS, TYPES, calls, random_sequence, told
from chains_histories import history as random_history
from chains_histories import stream as call_of
from machine_streams import (
    MILLISECONDS,
    SCHEMA,
    Event,
    atom,
    compare,
    history,
    number,
    own,
    pattern,
    restored,
    shown,
    stream,
    then,
)

from occurs.errors import InputProblem, LimitProblem
from occurs.expr.tree import Binary, Call, Literal, Ref
from occurs.model.types import Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.merging import Stream
from occurs.operators.sequence import machine_memory
from occurs.operators.sequence.machine import Machine
from occurs.operators.sequence.machine_events import Pool
from occurs.operators.sequence.machine_memory import Memory
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Every, Node, Sequence, Within

A, B = atom("a=A"), atom("b=B", key="a")


def fails(machine: Machine, memory: Memory, given: Stream) -> None:
    """A call that fails behind all its work."""
    assert given.start is not None
    with contextlib.suppress(KeyboardInterrupt), memory.call(given) as now:
        machine.run(now, given.start, given.since, given.frontier, False)
        raise KeyboardInterrupt


class Calls:
    """Calls of a machine, one after the other."""

    def __init__(self, sequence: Sequence, limit: int = 10_000_000) -> None:
        self.sequence = sequence
        self.machine = Machine(sequence, dict.fromkeys("AB", SCHEMA), MILLISECONDS, limit)
        self.memory, self.since = self.machine.fresh(), None

    def push(self, events: list[Event], until: int | None = None) -> list[tuple[Any, ...]]:
        """The matches of these events, of one call."""
        until = events[-1][0] if until is None else until
        found = self.machine.advance(self.memory, stream(events, ["A", "B"], 1, self.since, until))
        self.since = until
        return shown(found, self.sequence, ["A", "B"])


def tables(memory: Memory) -> dict[str, Any]:
    return {name: table.to_pydict() for name, table in memory.saved().items()}


@pytest.mark.parametrize("spare", [0, 3, 1 << 8])
@pytest.mark.parametrize("seed", range(3))
def test_arrays_and_tables_go_on_alike(spare: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over random patterns: kept as they are, saved and restored, with copies that other calls went on from, and with
    calls that fail."""
    monkeypatch.setattr(machine_memory, "SPARE", spare)
    monkeypatch.setattr(machine_memory, "MORE", spare)
    rng = random.Random(7000 + seed)
    matches = 0
    for _ in range(12):
        sequence = random_sequence(rng)
        machine = Machine(sequence, SCHEMAS, KIND)
        events = random_history(rng, rng.choice([40, 120]), keys=rng.choice([1, 3, 8]), gap=rng.choice([0, 1, 3]))
        start, until = events[0]["time"], events[-1]["time"] + rng.choice([0, 20])
        memory, saved, since = machine.fresh(), machine.fresh(), None
        for part, frontier in calls(events, [rng.randint(start, until) for _ in range(12)], until):
            given = call_of(part, TYPES, start, since, frontier, True)
            if rng.random() < 0.3:
                fails(machine, memory, call_of(part[::2], TYPES, start, since, frontier + 3, True))
            if rng.random() < 0.3:
                machine.advance(memory.copy(), call_of([], TYPES, start, since, until + 50, True))
            if rng.random() < 0.3:
                memory, other = memory.copy(), memory
                machine.advance(other, call_of([], TYPES, start, since, until + 9, True))
            saved = machine.restored(restored(saved.saved()))
            found, wanted = told(machine.advance(memory, given), True), told(machine.advance(saved, given), True)
            assert found == wanted, sequence
            if rng.random() < 0.3:
                rows = memory.size  # counted before the tables are there
                assert rows == sum(map(len, memory.saved().values())), sequence
                assert tables(memory) == tables(saved), sequence
            matches += len(wanted)
            since = frontier
        assert tables(memory) == tables(saved), sequence
    assert matches > 20


def test_a_call_that_fails_leaves_no_trace() -> None:
    """An overflow that leaves undecided whether an event fits; what was done before is done again."""
    beyond = compare(">", Binary("*", own("v"), number(2**62)), Ref("a", "v"))
    run = Calls(pattern(then(Every(A), atom("b=B", key="a", others=(beyond,)))))
    good = [history(text) for text in ("A1:p(0) A2:q(0)", "A3:p(1)@3000 B1:q(1)@4000", "B2:p(1)@6000")]
    assert run.push(good[0]) == []
    assert run.push(good[1]) == [(4000, "A2", "B1")]
    before = tables(run.memory.copy())
    for _ in range(2):
        with pytest.raises(InputProblem):
            run.push(history("A4:p(0)@4500 B9:p(9)@5000"))
        assert tables(run.memory.copy()) == before
    assert run.push(good[2]) == [(6000, "A1", "B2"), (6000, "A3", "B2")]


@pytest.mark.parametrize(
    ("root", "texts", "wanted"),
    [
        (
            And((atom("t=A"), Interval(0, length=((Ref("a", "v"), Fraction(1000)),)))),
            ("A1(2)@1000 A2(3)@1500", "A3(1)@6000"),
            [(3000, "A1", "A2"), (6000, "A2", "A3")],
        ),
        (
            atom("b=B", others=(compare("=", Call("concat", (Ref("a", "k"), own("k"))), Literal("pq", Type.STRING)),)),
            ("A1:p@1000 A2:x@1500", "B1:q@6000"),
            [(6000, "A1", "B1")],
        ),
    ],
)
def test_what_is_done_again_may_ask(root: Node, texts: tuple[str, str], wanted: list[tuple[Any, ...]]) -> None:
    """Lengths and conditions that Python computes."""
    run = Calls(pattern(then(Every(A), root)))
    assert run.push(history(texts[0]), 2000) == []
    fails(run.machine, run.memory, stream(history("A8:p(1)@3000 B9:z(1)@3500"), ["A", "B"], 1, 2000, 5000))
    assert run.push(history(texts[1])) == wanted


def test_a_failure_while_calls_are_done_again_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Calls(pattern(then(Every(A), B)))
    run.push(history("A1:p@1000 A2:q@2000"))
    fails(run.machine, run.memory, stream(history("A8:p@3000"), ["A", "B"], 1, 2000, 4000))
    with monkeypatch.context() as patch:

        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(run.machine, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.memory.saved()
    assert run.push(history("B1:p@3000 B2:q@4000")) == [(3000, "A1", "B1"), (4000, "A2", "B2")]


def test_a_first_call_that_failed_does_not_start_the_clock() -> None:
    """What is done again starts where the first call did that succeeded."""
    run = Calls(pattern(And((then(Interval(10_000), atom("c=B")), Every(then(A, B))))))
    fails(run.machine, run.memory, stream(history("A1:p@1000"), ["A", "B"], 1000, None, 1000))
    given = stream(history("A2:q@5000"), ["A", "B"], 5000, None, 5000)
    assert len(run.machine.advance(run.memory, given)) == 0
    fails(run.machine, run.memory, stream(history("A3:r@6000"), ["A", "B"], 5000, 5000, 6000))
    run.since = 5000
    assert run.push(history("B1:q@12000")) == []
    assert run.push(history("B2:q@16000"))


def test_timers_are_not_done_again_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that reads few events is put in order, too."""
    monkeypatch.setattr(machine_memory, "SPARE", 10)
    run = Calls(pattern(Every(Interval(1))))
    for i in range(20):
        assert len(run.push([], 1000 * (i + 1))) in (999, 1000)
        assert run.memory._live is not None
        assert run.memory._live.found <= run.memory._live.most + 1000


def test_events_that_are_only_counted_are_kept_for_what_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call after which there are as many bound events as before it, as the others were collected within it."""
    monkeypatch.setattr(machine_memory, "SPARE", 1 << 12)  # else the state is put in order before
    run = Calls(pattern(Within(Every(A), 10**9, count=10_000)))

    def push(first: int, last: int) -> None:
        run.push([(i, "A", {"n": i, "k": "p", "v": 0, "x": None}) for i in range(first, last)])

    push(1, 2)
    assert run.memory._live is not None
    reg = run.memory._live.work.reg
    bound = int(reg[T.BOUND])
    more = int(reg[T.BOUND_LIMIT]) - bound + 1
    push(2, 2 + more)
    assert run.memory._live.work.reg[T.BOUND] <= bound
    fails(run.machine, run.memory, stream([], ["A", "B"], 1, run.since, more + 5))
    assert more + 1 in run.memory.saved()["instances"]["count"].to_pylist()


def test_the_first_call_may_fail() -> None:
    run = Calls(pattern(then(Every(A), B)), limit=5)
    with pytest.raises(LimitProblem):
        run.push(history("A1 A2 A3 A4 A5 A6"))
    assert run.push(history("A1:p B1:p")) == [(2000, "A1", "B1")]


def test_new_texts_between_old_ones_keep_the_order() -> None:
    condition = compare("<", own("k"), Ref("a", "k"))
    run = Calls(pattern(then(Every(A), atom("b=B", others=(condition,)))))
    assert run.push(history("A1:m@1000 A2:c@2000")) == []
    assert run.push(history("B1:z@3000")) == []
    assert run.push(history("B2:d@4000")) == [(4000, "A1", "B2")]
    assert run.push(history("B3:a@5000")) == [(5000, "A2", "B3")]


@pytest.mark.parametrize("inner", [And((B, atom("c=B", compare("=", own("v"), number(9)), key="a"))), Within(B, 10**9)])
def test_work_of_a_call_does_not_grow_with_what_is_kept(inner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the events whose words are filled in, and the states that are put in order."""
    filled, begun = [0], [0]
    fill, begin = Pool._fill, Memory._begun

    def counting(self: Pool, type: str, rows: Any, chosen: Any, at: Any) -> None:
        filled[0] += len(at)
        fill(self, type, rows, chosen, at)

    def counted(self: Memory, *given: Any) -> Any:
        begun[0] += 1
        return begin(self, *given)

    monkeypatch.setattr(Pool, "_fill", counting)
    monkeypatch.setattr(Memory, "_begun", counted)
    for n in (300, 3000):
        run = Calls(pattern(then(Every(A), inner)))
        run.push([(i + 1, "A", {"n": i, "k": f"k{i}", "v": 0, "x": None}) for i in range(n)])
        run.push([(n + 1, "B", {"n": 0, "k": "none", "v": 0, "x": None})])  # many came at once: put in order
        filled[0] = begun[0] = 0
        for i in range(200):
            run.push([(n + i + 2, "B", {"n": i, "k": f"k{i}", "v": i % 10, "x": None})])
        assert (filled[0], begun[0]) == (200, 0)
    assert len(run.memory.saved()["kept:A"]) > 2500
