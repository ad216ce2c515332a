"""Chains of steps find what the instances of epl-and-nets.md, 4A, do, however a history is cut."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chains_histories import TYPES, alone, chain_of, history, random_sequence, run, sequence_of, stream
from chains_oracle import Event, Oracle
from tests.amount import first

from occurs.errors import InputProblem, LimitProblem
from occurs.expr.tree import Binary, Literal, Ref
from occurs.model.types import Type
from occurs.operators.kernels.row_index import first_after, in_order
from occurs.operators.sequence.chain_shape import Shape
from occurs.operators.sequence.chains import NEVER, Chain
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Node, Not, Repeat, Sequence, Within

Told = list[tuple[int, int, bool, Any]]


def expected(pattern: Sequence, events: list[Event], start: int, until: int) -> Told:
    """What the oracle finds, as ``run`` tells it."""
    places: list[int] = []
    for i, e in enumerate(events):
        places.append(places[-1] + 1 if i and events[i - 1]["time"] == e["time"] else 1)
    out = []
    for time, number, binding in Oracle(events, start, until).run(pattern.root):
        whole = {tag: dict(events[at]) for tag, at in binding.items()}
        out.append((time, 0 if number is None else places[number], number is None, whole))
    return out


def known_chain(pattern: Sequence) -> Chain:
    made = chain_of(pattern)
    assert made is not None
    return made


def event(type: str, time: int, k: int | None = 0, v: int | None = 0) -> Event:
    return {"type": type, "time": time, "id": 0, "k": k, "f": None, "s": None, "v": v}


def events_of(*given: Event) -> list[Event]:
    return [{**e, "id": n} for n, e in enumerate(given)]


def followed(*operands: Node) -> Followed:
    return Followed(operands, (None,) * (len(operands) - 1))


def atom(type: str, tag: str, *equal: tuple[str, str, str]) -> Atom:
    return Atom((type,), tag, equal=equal)


def found(root: Node, events: list[Event], until: int, cuts: tuple[int, ...] = ()) -> list[tuple[Any, ...]]:
    """(time, ids of the events in the order of tags, None of those that are not bound)."""
    pattern = sequence_of(root)
    operator = known_chain(pattern)
    got, _ = run(alone(operator), {}, events, events[0]["time"], until, cuts)
    assert got == expected(pattern, events, events[0]["time"], until)
    return [(t, *(b[tag]["id"] if tag in b else None for tag, _ in pattern.tags)) for t, _, _, b in got]


MORE = [pytest.param(n, marks=pytest.mark.slow) for n in range(5, 20)]


@pytest.mark.parametrize("seed", [*first(range(5), 2), *MORE])
def test_what_instances_find(seed: int) -> None:
    rng = random.Random(seed)
    matches = 0
    for _ in range(150):
        pattern = random_sequence(rng)
        operator = known_chain(pattern)
        events = history(rng, rng.choice([4, 10, 20]), keys=rng.choice([1, 2, 3]))
        start = events[0]["time"] - rng.choice([0, 0, 3])
        until = events[-1]["time"] + rng.choice([0, 2, 20])
        wanted = expected(pattern, events, start, until)
        cuts = [rng.randint(start, until) for _ in range(rng.choice([0, 1, 4, 30]))]
        got, _ = run(alone(operator), {}, events, start, until, cuts, labelled=rng.random() < 0.3)
        assert got == wanted, pattern
        matches += len(wanted)
    assert matches > 100


def test_absence_of_the_specification() -> None:
    absent = And((Interval(3000), Not(atom("B", "b", ("k", "a", "k")))))
    events = events_of(event("A", 1000, 0), event("A", 2000, 1), event("B", 3000, 1), event("C", 10000))
    assert found(followed(Every(atom("A", "a")), absent), events, 10000) == [(4000, 0, None)]


@pytest.mark.parametrize(("late", "matches"), [(4000, []), (3999, [(3999, 0, 1)])])
def test_a_guard_ends_before_the_rows_of_its_time(late: int, matches: list[tuple[int, ...]]) -> None:
    root = followed(Every(atom("A", "a")), Within(atom("B", "b"), 3000))
    assert found(root, events_of(event("A", 1000), event("B", late)), late) == matches


def test_rows_of_one_time_follow_one_another() -> None:
    root = followed(Every(atom("A", "a")), Every(atom("B", "b")))
    same = events_of(event("B", 5), event("A", 5), event("B", 5))
    assert found(root, same, 5) == [(5, 1, 2)]


def test_an_event_does_not_fill_two_steps() -> None:
    events = events_of(*(event("A", t) for t in range(1, 6)))
    assert found(followed(Every(atom("A", "a")), atom("A", "b")), events, 5, (2, 3)) == [
        (2, 0, 1),
        (3, 1, 2),
        (4, 2, 3),
        (5, 3, 4),
    ]


def test_what_ends_before_what_is_waited_for_wins() -> None:
    root = followed(Every(atom("A", "a")), And((atom("B", "b"), Not(atom("C", "c")))))
    events = events_of(event("A", 1), event("C", 2), event("B", 3), event("A", 4), event("B", 5))
    assert found(root, events, 5, (1, 2)) == [(5, 3, 4, None)]
    both = And((Atom(("B",), "b"), Not(Atom(("B",), "c", own=(Binary("=", Ref(None, "v"), Literal(1, Type.INT)),)))))
    events = events_of(event("A", 1), event("B", 2, v=1), event("A", 3), event("B", 4, v=0))
    assert found(followed(Every(atom("A", "a")), both), events, 4) == [(4, 2, 3, None)]


def test_whole_numbers_and_floats_are_equal_by_value_and_nulls_never() -> None:
    root = followed(Every(atom("A", "a")), Every(atom("B", "b", ("f", "a", "k"))))
    events = events_of(
        event("A", 1, 2), event("A", 2, None), {**event("B", 3), "f": 2.0}, event("B", 4), {**event("B", 5), "f": 2.5}
    )
    assert found(root, events, 5, (2,)) == [(3, 0, 2)]


def test_the_nearest_greater_one_among_many() -> None:
    greater = Atom(("B",), "b", others=(Binary(">", Ref(None, "v"), Ref("a", "v")),))
    rng = random.Random(1)
    values = [rng.randrange(50) for _ in range(60)]
    events = events_of(*(event("AB"[n % 2], n // 3, v=v) for n, v in enumerate(values)))
    assert len(found(followed(Every(atom("A", "a")), greater), events, 40, (5, 11))) > 20


def test_durations_beyond_the_end_of_time_do_not_run_out() -> None:
    root = followed(Every(atom("A", "a")), Within(atom("B", "b"), NEVER))
    assert found(root, events_of(event("A", 5), event("B", 9)), 9, (6,)) == [(9, 0, 1)]
    timed = followed(Every(atom("A", "a")), Interval(NEVER))
    assert found(timed, events_of(event("A", 5), event("B", 9)), 9) == []


def test_the_state_holds_what_can_still_match_only() -> None:
    root = followed(Every(atom("A", "a")), Within(followed(atom("B", "b", ("k", "a", "k")), Every(atom("C", "c"))), 10))
    operator = known_chain(sequence_of(root))
    rng = random.Random(3)
    events = history(rng, 400, gap=1)
    state = {}
    for frontier in range(events[0]["time"], events[-1]["time"], 20):
        part = [e for e in events if frontier - 20 < e["time"] <= frontier]
        given = stream(part, TYPES, events[0]["time"], None, frontier, False)
        state, _ = alone(operator)(state, given)
        recent = [e for e in events if frontier - 10 < e["time"] <= frontier]
        assert operator.live(state) <= sum(e["type"] == "A" for e in recent)
        for name in ("step1", "step2"):
            if name in state:
                assert min(state[name]["0.time"].to_pylist()) > frontier - 10
    nothing = stream([], TYPES, events[0]["time"], None, events[-1]["time"] + 100, False)
    state, matches = alone(operator)(state, nothing)
    assert len(matches) == 0
    assert operator.live(state) == 0


@pytest.mark.parametrize("second", [atom("B", "b", ("k", "a", "k")), Every(atom("B", "b", ("k", "a", "k")))])
def test_what_a_null_keeps_from_matching_is_not_kept(second: Node) -> None:
    operator = known_chain(sequence_of(followed(Every(atom("A", "a")), second)))
    events = events_of(event("A", 1, None), event("A", 2, 1), event("B", 3, None))
    got, state = run(alone(operator), {}, events, 1, 3, (1,))
    assert got == []
    assert state["step1"]["0:k"].to_pylist() == [1]


def test_before_the_clock_starts_nothing_happens() -> None:
    operator = known_chain(sequence_of(followed(atom("A", "a"), atom("B", "b"))))
    state, matches = alone(operator)({}, stream([], TYPES, None, None, 5, False))
    assert state == {}
    assert len(matches) == 0
    assert set(matches.bound) == {"a", "b"}


def test_rows_before_the_start_are_awaited() -> None:
    operator = known_chain(sequence_of(followed(atom("A", "a"), Interval(4))))
    state, _ = alone(operator)({}, stream([], TYPES, 9, None, 5, False))
    assert state == {}


def test_more_partial_matches_than_may_be() -> None:
    root = followed(Every(atom("A", "a")), atom("B", "b"), Interval(5))
    events = events_of(*(event("A", t) for t in range(4)))
    at_most = chain_of(sequence_of(root), 4)
    assert at_most is not None
    _, state = run(alone(at_most), {}, events, 0, 9, ())
    assert at_most.live(state) == 4
    fewer = replace(at_most, limit=3)
    with pytest.raises(LimitProblem, match="`P`: more than 3 partial matches at once, the next one waits for `b`"):
        run(alone(fewer), {}, events, 0, 9, ())
    with pytest.raises(LimitProblem, match="for its time"):
        run(alone(fewer), {}, [*events, {**event("B", 4), "id": 4}], 0, 5, ())


@pytest.mark.parametrize("seen", [1, 7])
def test_an_overflow_that_decides_is_an_error(seen: int) -> None:
    big = Binary(">", Binary("*", Ref(None, "v"), Literal(2**62, Type.INT)), Literal(0, Type.INT))
    root = followed(Every(atom("A", "a")), Atom(("B",), "b", own=(big,), equal=(("k", "a", "k"),)))
    operator = known_chain(sequence_of(root))
    events = events_of(event("A", 1, k=1), event("B", 2, k=seen, v=5), event("B", 3, k=1, v=1))
    if seen == 1:
        with pytest.raises(InputProblem, match="64-bit") as told:
            run(alone(operator), {}, events, 1, 3, ())
        assert told.value.problems[0].definition == "P"
        assert told.value.problems[0].value == 2
    else:
        got, _ = run(alone(operator), {}, events, 1, 3, ())
        assert [m[0] for m in got] == [3]


A, B = atom("A", "a"), atom("B", "b")


@pytest.mark.parametrize(
    "root",
    [
        Every(followed(A, B)),
        followed(A, Repeat(B, 2)),
        Followed((A, B), (2,)),
        followed(Every(A), Within(B, 5, 1)),
        followed(Every(Atom(("A",), "a", level=1)), B),
        followed(Every(A), And((B, atom("C", "c")))),
        followed(Every(A), Every(And((B, Not(atom("C", "c")))))),
        followed(Every(A, keys=(Ref("a", "k"),)), B),
        Not(A),
    ],
    ids=lambda root: type(root).__name__,
)
def test_other_patterns_are_left_to_the_machine(root: Node) -> None:
    assert Shape.of(sequence_of(root)) is None
    assert chain_of(sequence_of(root)) is None


def test_first_after() -> None:
    at = np.array([0, 3, 6, 20, 1, 2], np.int64)
    start = np.array([0, 4, 6], np.int64)
    time = np.arange(30, dtype=np.int64) * 10
    none = np.zeros(0, np.int64)
    code = np.array([0, 0, 0, 1, 1, -1, 2, 0, 0], np.int64)
    low = np.array([0, 1, 7, 2, 3, 0, 0, 0, 21], np.int64)
    assert first_after(code, low, none, start, at, time).tolist() == [0, 3, 20, 2, -1, -1, -1, 0, -1]
    limit = np.array([1, 30, 201, 20, 99, 99, 99, 0, 999], np.int64)
    assert first_after(code, low, limit, start, at, time).tolist() == [0, -1, 20, -1, -1, -1, -1, -1, -1]


def test_first_after_in_long_groups() -> None:
    rng = np.random.default_rng(5)
    at = np.sort(rng.choice(10_000, 3_000, replace=False)).astype(np.int64)
    low = np.sort(rng.integers(0, 10_001, 50)).astype(np.int64)
    for asked in (low, low[::-1].copy(), rng.permutation(low)):
        got = first_after(
            np.zeros(50, np.int64), asked, np.zeros(0, np.int64), np.array([0, 3000]), at, np.zeros(10_000, np.int64)
        )
        where = np.searchsorted(at, asked)
        assert got.tolist() == [int(at[w]) if w < 3000 else -1 for w in where]


def test_in_order() -> None:
    assert in_order(np.array([[1, 1, 2], [0, 5, 0]], np.int64))
    assert in_order(np.zeros((2, 3), np.int64))
    assert not in_order(np.array([[1, 1, 2], [5, 0, 0]], np.int64))
    assert not in_order(np.array([[2, 1], [0, 5]], np.int64))
