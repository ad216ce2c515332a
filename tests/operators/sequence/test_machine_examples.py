"""The worked examples of epl-and-nets.md, section 7, cut at every instant and restored in between."""

from __future__ import annotations

from typing import Any

import pytest
from machine_streams import atom, compare, history, number, own, pattern, run, text, then

from occurs.expr.tree import Ref
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Every, Node, Not, Or, Repeat, Until, While, Within

S1 = "A1 B1 C1 B2 A2 D1 A3 B3 E1 A4 E2 B4"
SECOND = 1000


def every(node: Node) -> Every:
    return Every(node)


A, B = atom("a=A"), atom("b=B")
EXAMPLES: list[tuple[str, Any, str, list[tuple[Any, ...]]]] = [
    (
        "every (a=A -> b=B)",
        pattern(every(then(A, B))),
        S1,
        [(2000, "A1", "B1"), (8000, "A2", "B3"), (12000, "A4", "B4")],
    ),
    (
        "every a=A -> b=B",
        pattern(then(every(A), B)),
        S1,
        [(2000, "A1", "B1"), (8000, "A2", "B3"), (8000, "A3", "B3"), (12000, "A4", "B4")],
    ),
    (
        "suppress",
        pattern(then(every(A), B), suppress=True),
        S1,
        [(2000, "A1", "B1"), (8000, "A2", "B3"), (12000, "A4", "B4")],
    ),
    (
        "a=A -> every b=B",
        pattern(then(A, every(B))),
        S1,
        [(2000, "A1", "B1"), (4000, "A1", "B2"), (8000, "A1", "B3"), (12000, "A1", "B4")],
    ),
    ("discard", pattern(then(A, every(B)), discard=True), S1, [(2000, "A1", "B1")]),
    (
        "every (a=A -> b=A)",
        pattern(every(then(A, atom("b=A")))),
        "A1 A2 A3 A4 A5",
        [(2000, "A1", "A2"), (4000, "A3", "A4")],
    ),
    (
        "every a=A -> b=A",
        pattern(then(every(A), atom("b=A"))),
        "A1 A2 A3 A4 A5",
        [(2000, "A1", "A2"), (3000, "A2", "A3"), (4000, "A3", "A4"), (5000, "A4", "A5")],
    ),
    (
        "every (a=A -> b=B(k=a.k))",
        pattern(every(then(A, atom("b=B", key="a")))),
        "A1:p A2:q B1:q B2:p A3:p B3:p",
        [(4000, "A1", "B2"), (6000, "A3", "B3")],
    ),
    (
        "every a=A -> (timer:interval(3 sec) and not B(k=a.k))",
        pattern(then(every(A), And((Interval(3 * SECOND), Not(atom("b=B", key="a")))))),
        "A1:p@1000 A2:q@2000 B1:q@3000 C@10000",
        [(4000, "A1", None)],
    ),
    ("within", pattern(then(every(A), Within(B, 3 * SECOND))), "A1@1000 B1@4000", []),
    ("within", pattern(then(every(A), Within(B, 3 * SECOND))), "A1@1000 B1@3999", [(3999, "A1", "B1")]),
    (
        "every a=A -> (timer:interval(2 sec) or b=B)",
        pattern(then(every(A), Or((Interval(2 * SECOND), B)))),
        "A1@1000 B1@2000 A2@3000 C@9000",
        [(2000, "A1", "B1"), (5000, "A2", None)],
    ),
    (
        "every-distinct(a.k, 3 sec) a=A",
        pattern(Every(A, (Ref("a", "k"),), 3 * SECOND)),
        "A1:p A2:p A3:q A4:p A5:p",
        [(1000, "A1"), (3000, "A3"), (4000, "A4")],
    ),
    (
        "every a=A -[2]> b=B",
        pattern(then(every(A), B, limits=(2,))),
        "A1 A2 A3 B1 A4 B2",
        [(4000, "A1", "B1"), (4000, "A2", "B1"), (6000, "A4", "B2")],
    ),
    ("every (a=A and b=B)", pattern(every(And((A, B)))), "A1 A2 B1 B2 A3", [(3000, "A1", "B1"), (5000, "A3", "B2")]),
    ("a=A or b=B", pattern(Or((A, B))), "B1 A1", [(1000, None, "B1")]),
    (
        "every (a=A -> (b=B and not c=C))",
        pattern(every(then(A, And((B, Not(atom("c=C"))))))),
        "A1 C1 B1 A2 B2",
        [(5000, "A2", "B2", None)],
    ),
    (
        "every (a=A until b=B)",
        pattern(every(Until(0, None, A, B))),
        "A1 A2 B1 B2 A3 B3",
        [(3000, ("A1", "A2"), "B1"), (4000, None, "B2"), (6000, ("A3",), "B3")],
    ),
    (
        "every ([2:3] a=A until b=B)",
        pattern(every(Until(2, 3, A, B))),
        "A1 A2 A3 A4 B1",
        [(5000, ("A1", "A2", "A3"), "B1")],
    ),
    (
        "[2] a=A -> b=B(k=a[1].k)",
        pattern(then(Repeat(A, 2), atom("b=B", others=(compare("=", own("k"), Ref("a", "k", 1)),)))),
        "A1:p A2:q B1:p B2:q",
        [(4000, ("A1", "A2"), "B2")],
    ),
    (
        "every a=A -> b=A@consume",
        pattern(then(every(A), atom("b=A", level=1))),
        "A1 A2 A3 A4",
        [(2000, "A1", "A2"), (4000, "A3", "A4")],
    ),
    (
        "a=A or b=A(k='p')",
        pattern(Or((A, atom("b=A", compare("=", own("k"), text("p")))))),
        "A1:p",
        [(1000, "A1", None)],
    ),
    (
        "every (a=A where timer:withinmax(2 sec, 2))",
        pattern(every(Within(A, 2 * SECOND, 2))),
        "A1 A2 A3 A4 A5",
        [(1000 * n, f"A{n}") for n in range(1, 6)],
    ),
    (
        "a=A -> ((every b=B) while (b.v < 3))",
        pattern(then(A, While(every(B), compare("<", Ref("b", "v"), number(3))))),
        "A1 B1(1) B2(2) B3(3) B4(2)",
        [(2000, "A1", "B1"), (3000, "A1", "B2")],
    ),
    (
        "every timer:interval(2 sec)",
        pattern(every(Interval(2 * SECOND))),
        "A1@1000 A2@9000",
        [(3000,), (5000,), (7000,), (9000,)],
    ),
]


@pytest.mark.parametrize(("name", "sequence", "events", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_example(name: str, sequence: Any, events: str, expected: list[tuple[Any, ...]]) -> None:
    rows = history(events)
    assert run(sequence, rows) == expected
    instants = sorted({e[0] for e in rows})
    for cut in instants:
        assert run(sequence, rows, [cut]) == expected, cut
    assert run(sequence, rows, [*instants, *(t + 1 for t in instants[:-1]), *(t - 1 for t in instants[1:])]) == expected
