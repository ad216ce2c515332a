"""The machine of patterns: what it asks for, limits, overflow, texts, calendars, state and partial matches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machine_streams import (
    MILLISECONDS,
    SCHEMA,
    atom,
    compare,
    history,
    number,
    own,
    pattern,
    run,
    stream,
    then,
)

from occurs.errors import InputProblem, LimitProblem
from occurs.expr.tree import Binary, Call, Expr, Like, Literal, Ref
from occurs.model.types import Type
from occurs.operators.sequence.machine import Machine
from occurs.operators.sequence.timers import At, Interval
from occurs.operators.sequence.tree import And, Every, Node, Not, Or, Repeat, Sequence, Until, While, Within

A, B = atom("a=A"), atom("b=B")


def both(sequence: Sequence, text: str, expected: list[tuple[Any, ...]], **options: Any) -> None:
    """In one call; cut at every instant, and the state restored there or kept as it is."""
    rows = history(text)
    assert run(sequence, rows, **options) == expected
    assert run(sequence, rows, {e[0] for e in rows}, **options) == expected
    assert run(sequence, rows, {e[0] for e in rows}, **options, resident=True) == expected


def times(a: Expr, b: Expr) -> Expr:
    return Binary("*", a, b)


# --- conditions -----------------------------------------------------------------------------------------------------


def test_conditions_on_several_events_are_judged() -> None:
    condition = compare(">", Binary("+", own("v"), number(1)), Binary("%", Ref("a", "v"), number(4)))
    both(
        pattern(then(Every(A), atom("b=B", others=(condition,)))),
        "A1(7) B1(2) B2(3) A2(-5) B3(-3) B4(-1)",
        [(3000, "A1", "B2"), (6000, "A2", "B4")],
    )


def test_texts_have_an_order() -> None:
    condition = compare("<", own("k"), Ref("a", "k"))
    both(
        pattern(then(Every(A), atom("b=B", others=(condition,)))),
        "A1:m B1:m B2:z A2:z B3:a B4:n",
        [(5000, "A1", "B3"), (5000, "A2", "B3")],
    )


def test_text_functions_of_two_events_are_asked() -> None:
    joined = Call("concat", (Ref("a", "k"), own("k")))
    both(
        pattern(then(Every(A), atom("b=B", others=(Like(joined, Literal("p%q", Type.STRING)),)))),
        "A1:p A2:x B1:p B2:q B3:q",
        [(4000, "A1", "B2")],
    )


def test_text_functions_of_one_event_are_columns() -> None:
    condition = compare("=", Call("upper", (own("k"),)), Call("upper", (Ref("a", "k"),)))
    sequence = pattern(then(Every(A), atom("b=B", others=(condition,))))
    both(sequence, "A1:p A2:x B1:P B2:X B3:x", [(3000, "A1", "B1"), (4000, "A2", "B2")])
    machine = Machine(sequence, {"A": SCHEMA, "B": SCHEMA}, MILLISECONDS)
    assert not machine.rules.tables(set())[0][:, 4].any()


def test_keys_that_are_asked_are_remembered() -> None:
    key = Call("concat", (Ref("a", "k"), Ref("b", "k")))
    both(
        pattern(Every(then(A, B), keys=(key,))),
        "A1:p B1:q A2:pq B2 A3:p B3:q A4:q B4:p A5 B5 A6 B6:z",
        [(2000, "A1", "B1"), (4000, "A2", "B2"), (8000, "A4", "B4")],
    )


def test_keys_of_several_types() -> None:
    keys = (Ref("a", "k"), Ref("a", "v"), Ref("a", "x"))
    both(
        pattern(Every(A, keys=keys)),
        "A1:p(1) A2:p(1) A3:q(1) A4(1) A5(1) A6:p A7:p A8:p(0) A9:p(1)",
        [(1000, "A1"), (3000, "A3"), (4000, "A4"), (6000, "A6"), (8000, "A8")],
    )


def test_overflow_counts_only_if_it_decides() -> None:
    big = number(2**62)
    condition = compare(">", times(own("v"), big), Ref("a", "v"))
    sequence = pattern(then(Every(A), atom("b=B", others=(compare("=", own("k"), Ref("a", "k")), condition))))
    both(sequence, "A1:p(0) B1:q(9) B2:p(1)", [(3000, "A1", "B2")])
    with pytest.raises(InputProblem) as caught:
        run(sequence, history("A1:p(0) B1:p(9)"))
    assert (caught.value.kind, caught.value.definition) == ("overflow", "test")


def test_overflow_of_a_filter_counts_only_if_somebody_waits() -> None:
    beyond = compare(">", times(own("v"), number(2**62)), number(0))
    sequence = pattern(then(Every(A), atom("b=B", beyond, key="a")))
    both(sequence, "B1:p(9) A1:p B2:q(9) B3:p(1)", [(4000, "A1", "B3")])
    with pytest.raises(InputProblem):
        run(sequence, history("A1:p B1:p(9)"))


def test_unbound_is_null() -> None:
    condition = Binary("or", compare("=", Ref("a", "v"), own("v")), compare(">", own("v"), number(5)))
    sequence = pattern(then(Until(0, None, A, B), atom("c=C", others=(condition,))))
    both(sequence, "B1 C1(1) C2(6)", [(3000, None, "B1", "C2")])


# --- limits, state --------------------------------------------------------------------------------------------------


def test_a_limit_names_statement_and_operator() -> None:
    with pytest.raises(LimitProblem) as caught:
        run(pattern(then(Every(A), B)), history("A1 A2 A3 A4 A5 A6"), limit=5)
    assert "`test`" in caught.value.message
    assert "`filter`" in caught.value.message
    with pytest.raises(LimitProblem):
        run(pattern(And((Every(A), Every(B)))), history("A1 A2 A3 A4 A5 A6 A7 A8 A9"), limit=9)


def test_a_state_does_not_grow() -> None:
    inner = And((atom("b=B", key="a"), Not(atom("c=C", key="a"))))
    sequence = pattern(then(Every(A), Within(Until(1, 3, atom("d=D"), inner), 5000)))
    machine = Machine(sequence, dict.fromkeys("ABCD", SCHEMA), MILLISECONDS)
    memory, since, sizes = machine.fresh(), None, []
    for period in range(12):
        words = [f"{'ABCDAD'[i % 6]}:{'pqr'[i % 3]}@{period * 60_000 + i * 700 + 1}" for i in range(60)]
        until = (period + 1) * 60_000
        machine.advance(memory, stream(history(" ".join(words)), tuple("ABCD"), 1, since, until))
        since = until
        sizes.append({name: len(table) for name, table in memory.saved().items()})
    assert sizes[1] == sizes[-1]
    assert sizes[1]["bindings"] == 0


def test_many_instances_at_once() -> None:
    """Chains, tables and garbage grow past their first sizes; the same cut often."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(3000):
        kind = "AB"[int(rng.random() < 0.3)]
        rows.append((i + 1, kind, {"n": i, "k": str(rng.integers(40)), "v": int(rng.integers(5)), "x": None}))
    others = (compare(">=", own("v"), Ref("a", "v")),)
    sequence = pattern(then(Every(A), Within(atom("b=B", key="a", others=others), 700)))
    waiting: list[tuple[int, str, int, int]] = []
    expected = []
    for time, kind, row in rows:
        waiting = [w for w in waiting if time < w[0] + 700]
        if kind == "A":
            waiting.append((time, row["k"], row["v"], row["n"]))
            continue
        hit = [w for w in waiting if w[1] == row["k"] and row["v"] >= w[2]]
        waiting = [w for w in waiting if w not in hit]
        expected += [(time, f"A{w[3]}", f"B{row['n']}") for w in hit]
    assert len(expected) > 1000
    assert run(sequence, rows) == expected
    assert run(sequence, rows, range(1, 3000, 97)) == expected
    assert run(sequence, rows, range(1, 3000, 97), resident=True) == expected


def test_due_times_beyond_int64_are_never() -> None:
    both(pattern(then(Every(A), Interval(2**63 - 2))), "A1 A2 A3", [])


# --- operators ------------------------------------------------------------------------------------------------------


def test_cross_product_of_and() -> None:
    both(
        pattern(And((Every(A), Every(B)))),
        "A1 A2 B1 A3 B2",
        [
            (3000, "A1", "B1"),
            (3000, "A2", "B1"),
            (4000, "A3", "B1"),
            (5000, "A1", "B2"),
            (5000, "A2", "B2"),
            (5000, "A3", "B2"),
        ],
    )


def test_an_and_of_many() -> None:
    parts: list[Node] = [atom(f"t{i}=A", compare("=", own("v"), number(i))) for i in range(70)]
    parts += [Not(atom(f"u{i}=B", compare("=", own("v"), number(i)))) for i in range(70)]
    rows = history(" ".join(f"A{i}({i})" for i in range(70)))
    found = run(pattern(And(tuple(parts))), rows)
    assert found == [(70_000, *(f"A{i}" for i in range(70)), *([None] * 70))]
    assert run(pattern(And(tuple(parts))), [*rows[:5], (5500, "B", {"n": 1, "v": 69}), *rows[5:]]) == []


def test_discard_reaches_what_an_and_has_stored() -> None:
    both(
        pattern(then(Every(A), And((atom("b=B"), atom("c=C")))), discard=True),
        "A1 B1 A2 C1 B2 C2",
        # C1 is stored for A2 too, and its match takes it away
        [(4000, "A1", "B1", "C1")],
    )


def test_discard_reaches_what_a_repetition_has_collected() -> None:
    inner = Or((Repeat(atom("b=B"), 2), Interval(6000)))
    both(
        pattern(then(Every(A), inner), discard=True),
        "A1 B1 A2 B2 B3 B4 B5 B6 C1 C2",
        # A2 has collected B2 and then sees B3 with B4, were it not for the match that has B2
        [(4000, "A1", ("B1", "B2")), (9000, "A2", None)],
    )


def test_while_ends_and_every_starts_again() -> None:
    guarded = While(Every(B), compare("<", Ref("b", "v"), number(3)))
    # a second one starts when the first is true; both end with B2, both start again
    both(pattern(Every(guarded)), "B1(1) B2(5) B3(2)", [(1000, "B1"), (3000, "B3"), (3000, "B3")])


def test_calendars() -> None:
    minute = (None, None, None, None, None)
    at = At(((0, 30), *minute), 1000)
    both(
        pattern(then(Every(A), at)),
        "A1@10000 A2@30000 A3@59999 C@60000 A4@100000 A5@125000",
        [(30_000, "A1"), (60_000, "A2"), (60_000, "A3"), (120_000, "A4")],
        until=125_000,
    )


@pytest.mark.parametrize("cut", [None, 1_000])
def test_calendars_of_a_zone(cut: int | None) -> None:
    # 2024-03-31 in Berlin has no 02:30, 2024-10-27 two of them
    half_past_two = At(((0,), (30,), (2,), None, None, None), 1000, "Europe/Berlin")
    day = 86_400_000
    for first, expected in ((1_711_756_800_000, [1, 3]), (1_729_900_800_000, [1, 2, 3])):
        rows = [(first + i * day, "A", {"n": i}) for i in range(4)]
        cuts = [] if cut is None else [first + i * 7_200_000 + cut for i in range(36)]
        found = run(pattern(Every(half_past_two)), rows, cuts)
        hours = [(time - first) / 3_600_000 for (time,) in found]
        days = [int(h // 24) + 1 for h in hours]
        assert days == expected, hours


def test_partial_matches_that_a_guard_ends() -> None:
    inner = And((atom("b=B", key="a"), atom("c=C", key="a")))
    sequence = pattern(then(Every(A), Within(inner, 2500)))
    both(
        sequence,
        "A1:p A2:q B1:p B2:q C1:q A3:q A4:z A5:z A6:z",
        [(3500, "A1", "B1", None), (4500, "A2", "B2", None), (8500, "A3", None, None), (9500, "A4", None, None)],
        late=True,
        until=9500,
    )
