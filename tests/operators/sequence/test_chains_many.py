"""Rules that share look-ups find what each finds alone, and their states can be told apart and put together."""

from __future__ import annotations

import random
from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from chains_histories import (
    KIND,
    SCHEMAS,
    TYPES,
    Told,
    alone,
    calls,
    chain_of,
    history,
    random_sequence,
    restored,
    run,
    sequence_of,
    stream,
    told,
)
from tests.amount import first

from occurs.errors import LimitProblem
from occurs.expr.exact import MIRRORED
from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.model.types import Type
from occurs.operators.merging import Stream
from occurs.operators.sequence.chains import Chains, Events, Found
from occurs.operators.sequence.match_rows import Matches, State
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import Atom, Every, Followed, Node, Repeat, Sequence, Within


def advanced(chains: Chains, states: Many[Mapping[str, pa.Table]], given: Stream) -> list[tuple[State, Matches]]:
    """The states and matches of every rule, where each has a state of its own."""
    after, done = chains.advance(states, given)
    return [(dict(state), found) for state, found in zip(after, of_rules(chains, done), strict=True)]


def of_rules(chains: Chains, done: Many[Found]) -> list[Matches]:
    """What the groups have found as the matches of every rule."""
    found: dict[int, Matches] = {}
    for group, numbers, of in zip(chains.groups, chains.members, done, strict=True):
        found |= {number: group.matches(of, rule) for rule, number in enumerate(numbers)}
    return [found[n] for n in range(len(found))]


def groups_advanced(chains: Chains, states: Many[State], given: Stream) -> tuple[list[State], list[Matches]]:
    """The states of the groups, and the matches of every rule."""
    events = Events(given, chains.domains, chains.kind)
    done = [group.run(state, events) for group, state in zip(chains.groups, states, strict=True)]
    return [state for state, _ in done], of_rules(chains, [found for _, found in done])


def varied(rng: random.Random, pattern: Sequence, name: str) -> Sequence:
    """The pattern with other constants, durations and tags."""

    def tag(old: str) -> str:
        return f"{name}_{old}"

    def scoped(e: Expr) -> Expr:
        assert isinstance(e, Binary)
        return Binary(e.op, e.left, replace(e.right, scope=tag(e.right.scope)) if isinstance(e.right, Ref) else e.right)

    def compared(e: Binary) -> Expr:
        if e.op == "!=":
            return e
        attribute, op = rng.choice([("v", ">"), ("v", "<="), ("f", ">="), ("f", "<")])
        of = Literal(rng.randrange(5), Type.INT) if attribute == "v" else Literal(rng.choice([0.5, -0.0]), Type.FLOAT)
        sides = Ref(None, attribute), of
        if rng.random() < 0.3:
            return Binary("and", Binary(">=", *sides), Binary("<", sides[0], replace(of, value=of.value + 2)))
        return Binary(op, *sides) if rng.random() < 0.8 else Binary(MIRRORED[op], *reversed(sides))

    def other(node: Node) -> Node:
        if isinstance(node, Atom):
            own = [compared(e) for e in node.own if isinstance(e, Binary) and e.op != "="]
            if node.own and rng.random() < 0.5:
                constant = Literal(rng.randrange(3), Type.INT) if rng.random() < 0.7 else Literal("x", Type.STRING)
                attribute = "s" if constant.type is Type.STRING else "k"
                own.append(Binary("=", Ref(None, attribute), constant))
            equal = tuple((a, tag(t), b) for a, t, b in node.equal)
            return replace(
                node, tag=tag(node.tag), own=tuple(own), equal=equal, others=tuple(scoped(e) for e in node.others)
            )
        if isinstance(node, Interval):
            return Interval(rng.choice([node.ticks, 3]))
        if isinstance(node, Within):
            return Within(other(node.operand), rng.choice([node.ticks, 6]))
        if hasattr(node, "operand"):
            return replace(node, operand=other(node.operand))
        return replace(node, operands=tuple(other(n) for n in node.children))  # type: ignore[call-arg]

    return sequence_of(other(pattern.root), name)


def rules(rng: random.Random) -> list[Sequence]:
    out = []
    for number in range(rng.choice([1, 2, 3])):
        pattern = random_sequence(rng)
        out += [varied(rng, pattern, f"P{number}_{n}") for n in range(rng.choice([1, 2, 5]))]
    rng.shuffle(out)
    return out


@pytest.mark.parametrize("seed", first(range(6), 2))
def test_what_each_finds_alone(seed: int) -> None:
    rng = random.Random(seed)
    matches = groups = ranged = 0
    for _ in range(25):
        patterns = rules(rng)
        together = Chains.of(patterns, SCHEMAS, KIND, ranged=True)
        groups += sum(len(m) > 1 for m in together.members)
        ranged += sum(len(g.shape.ranges) > 0 for g in together.groups)
        assert sorted(n for m in together.members for n in m) == list(range(len(patterns)))
        events = history(rng, 24)
        start, until = events[0]["time"], events[-1]["time"] + 5
        cuts = [rng.randint(start, until) for _ in range(rng.choice([0, 2, 6]))]
        got: list[Told] = [[] for _ in patterns]
        kept, apart = [State()] * len(together.groups), rng.random() < 0.5
        single: list[State] = [{} for _ in patterns]
        for part, frontier in calls(events, cuts, until):
            given = stream(part, TYPES, start, None, frontier, True)
            if apart:
                both = advanced(together, [restored(s) for s in single], given)
                single, found = [s for s, _ in both], [m for _, m in both]
            else:
                kept, found = groups_advanced(together, [restored(s) for s in kept], given)
            for n, m in enumerate(found):
                got[n] += told(m, True)
        for n, pattern in enumerate(patterns):
            operator = chain_of(pattern)
            assert operator is not None
            wanted, _ = run(alone(operator), {}, events, start, until, cuts, labelled=True)
            assert got[n] == wanted, pattern
            matches += len(wanted)
    assert matches > 150
    assert groups > 5
    assert ranged > 2


def within(number: int, a: str = "A", ticks: int = 10) -> Sequence:
    """``every a=A(k=number) -> b=B where timer:within(ticks)``."""
    own = (Binary("=", Literal(number, Type.INT), Ref(None, "k")),)
    root = Followed((Every(Atom((a,), f"a{number}", own)), Within(Atom(("B",), f"b{number}"), ticks)), (None,))
    return sequence_of(root, f"P{number}")


def test_rules_that_differ_in_constants_and_durations_are_one_group() -> None:
    patterns = [within(0), within(1, ticks=5), within(2), within(0, a="C"), within(2)]
    together = Chains.of(patterns, SCHEMAS, KIND)
    assert together.members == ((0, 1, 2, 4), (3,))
    assert [len(g.shape.constants) for g in together.groups] == [1, 0]
    alike = Chains.of([within(1), within(1)], SCHEMAS, KIND)
    assert [len(g.shape.constants) for g in alike.groups] == [0]
    with pytest.raises(ValueError, match="`Q` is not a chain"):
        Chains.of([sequence_of(Repeat(Atom(("A",), "a"), 2), "Q")], SCHEMAS, KIND)


def test_rules_that_compare_a_number_with_other_constants_are_one_group() -> None:
    def over(op: str, bound: float, attribute: str = "v") -> Sequence:
        kind = Type.INT if isinstance(bound, int) else Type.FLOAT
        own = (Binary(op, Ref(None, attribute), Literal(bound, kind)),)
        root = Followed((Every(Atom(("A",), "a", own)), Within(Atom(("B",), "b"), 10)), (None,))
        return sequence_of(root, f"{attribute} {op} {bound}")

    patterns = [over(">", 1), over("<=", 4), over(">=", 1), over(">", 0.5, "f"), over(">", 2**63 - 1), over(">", 1.5)]
    together = Chains.of(patterns, SCHEMAS, KIND, ranged=True)
    # nothing is greater than the greatest number, and a float is not compared with an int as a number of its type
    assert together.members == ((0, 1, 2), (3,), (4,), (5,))
    shapes = together.groups[0].shapes
    assert [(s.ranges[0].low, s.ranges[0].high) for s in shapes] == [(2, 2**63 - 1), (-(2**63), 4), (1, 2**63 - 1)]
    rows: Any = [{"type": "A", "time": n, "id": n, "k": 1, "f": None, "s": None, "v": n or None} for n in range(6)]
    rows.append({"type": "B", "time": 6, "id": 6, "k": 1, "f": None, "s": None, "v": None})
    both = advanced(together, [{}] * 6, stream(rows, TYPES, 0, None, 6, False))
    found = [[binding["a"]["id"] for *_, binding in told(m, False)] for _, m in both]
    assert found == [[2, 3, 4, 5], [1, 2, 3, 4], [1, 2, 3, 4, 5], [], [], [2, 3, 4, 5]]


def test_the_limit_is_per_rule() -> None:
    rows: Any = [{"type": "A", "time": n, "id": n, "k": n % 2, "f": None, "s": None, "v": 0} for n in range(4)]
    given = stream(rows, TYPES, 0, None, 3, False)
    enough = Chains.of([within(0), within(1)], SCHEMAS, KIND, 2)
    [state], _ = groups_advanced(enough, [{}], given)
    assert len(state["step1"]) == 4
    few = Chains.of([within(5), within(1)], SCHEMAS, KIND, 1)
    with pytest.raises(LimitProblem, match="`P1`: more than 1 "):
        few.advance([{}, {}], given)


def test_a_rule_that_comes_later_begins_alone_and_the_others_go_on() -> None:
    def given(first: int, last: int, *events: tuple[str, int]) -> list[dict[str, object]]:
        return [
            {"type": t, "time": time, "id": first + n, "k": 1, "f": None, "s": None, "v": 0}
            for n, (t, time) in enumerate(events)
        ]

    def once(tag: str) -> Sequence:
        return sequence_of(Followed((Atom(("A",), f"a{tag}"), Atom(("B",), f"b{tag}")), (None,)), tag)

    one = Chains.of([once("x")], SCHEMAS, KIND)
    [(state, _)] = advanced(one, [{}], stream(given(0, 1, ("A", 1)), TYPES, 1, None, 5, False))
    two = Chains.of([once("y"), once("x")], SCHEMAS, KIND)
    both = advanced(two, [{}, state], stream(given(1, 2, ("B", 6), ("A", 7)), TYPES, 1, 5, 10, False))
    assert [[m[0] for m in told(found, False)] for _, found in both] == [[], [6]]
    last = advanced(two, [s for s, _ in both], stream(given(3, 4, ("B", 12)), TYPES, 1, 10, 15, False))
    assert [[m[0] for m in told(found, False)] for _, found in last] == [[12], []]
