"""Nets beyond the paper: ``and``, ``or``, ``not``, ``timer:within``, by hand."""

from __future__ import annotations

import pytest

from occurs.errors import DefinitionProblem
from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.parser import parse
from occurs.nets.firing import run
from occurs.nets.transform import to_priority_net
from occurs.nets.validate import validate
from occurs.testing.cases import KINDS

SCHEMAS = "".join(f"create schema {t}(n int, k string);\n" for t in "ABC")


def translated(
    pattern: str, events: str, select: str = "a.n as a, b.n as b", more: str = "", first: int = 0
) -> Translation:
    """The net of one statement; ``A1@5:p``: type, number, time in s, key."""
    file, problems = parse(f"{SCHEMAS}insert into X select {select} from pattern [{pattern}]{more}", "x.epl")
    assert not problems
    rows = []
    for word in events.split():
        name, _, rest = word.partition("@")
        time, _, key = rest.partition(":")
        rows.append((name[0], int(time), {"n": int(name[1:]), "k": key or "p"}))
    return translate(file, first, rows=rows, extended=True, kind=KINDS["s"])


def found(t: Translation) -> list[tuple[object, ...]]:
    """(time, values ..) of what is derived, the same with black transitions and without."""
    validate(t.net)
    out = []
    for net in (t.net, to_priority_net(t.net)):
        out.append(sorted(((x, *v.values()) for _, x, v in t.outputs(run(net).marking)), key=repr))
    assert out[0] == out[1]
    return out[0]


WORKED = [
    # the worked examples of the specification
    ("every (a=A and b=B)", "A1@1 A2@2 B1@3 B2@4 A3@5", [(3, 1, 1), (5, 3, 2)]),
    ("a=A or b=B", "B1@1 A1@2", [(1, None, 1)]),
    ("every (a=A -> (b=B and not c=C))", "A1@1 C1@2 B1@3 A2@4 B2@5", [(5, 2, 2)]),
    ("a=A or b=A(k='p')", "A1@1:p", [(1, 1, None)]),
    # all pairs of two searches that never end
    ("every a=A and every b=B", "A1@1 B1@2 A2@3 B2@4", [(2, 1, 1), (3, 2, 1), (4, 1, 2), (4, 2, 2)]),
    ("every a=A and b=B", "A1@1 A2@2 B1@3 A3@4 B2@5", [(3, 1, 1), (3, 2, 1), (4, 3, 1)]),
    # one event for both operands
    ("every (a=A and b=A)", "A1@1 A2@2", [(1, 1, 1), (2, 2, 2)]),
    # absence wins over presence
    ("every (a=A and not b=A(k='q'))", "A1@1:q A2@2 A3@3:q A4@4", [(2, 2, None), (4, 4, None)]),
    ("every a=A and not b=B", "A1@1 A2@2 B1@3 A3@4", [(1, 1, None), (2, 2, None)]),
    ("a=A -> (b=B and not (c=C -> d=C))", "A1@1 C1@2 C2@3 B1@4", []),
    ("a=A -> (b=B and not (c=C -> d=C))", "A1@1 C1@2 B1@3 C2@4", [(3, 1, 1)]),
    # a branch that ends `or` ends the others, one that does not leaves them
    ("every a=A or b=B", "A1@1 A2@2 B1@3 A3@4", [(1, 1, None), (2, 2, None), (3, None, 1)]),
    # the older branch wins: b waits since the start
    ("(c=C -> a=A) or b=A", "C1@1 A1@2", [(2, None, 1)]),
    ("b=A or (c=C -> a=A)", "C1@1 A1@2", [(2, None, 1)]),
    # no match at exactly the end
    ("every a=A -> (b=B where timer:within(3 sec))", "A1@1 B1@4", []),
    ("every a=A -> (b=B where timer:within(3 sec))", "A1@1 A2@2 B1@4 A3@5", [(4, 2, 1)]),
    # the end of the guard begins the search again, at its own time: 4, and after the match at 6, which ends at 9
    ("every ((a=A -> b=B) where timer:within(3 sec))", "C0@1 A1@3 B1@4 A2@5 B2@6 A3@8 B3@9", [(6, 2, 2)]),
    # it begins again before the row of that time, which so begins the new search
    ("every ((a=A -> b=B) where timer:within(3 sec))", "C0@1 A1@4 B1@5", [(5, 1, 1)]),
    # the inner guard ends at 3, so that the whole begins again then, and not when the outer would end
    (
        "every ((a=A -> b=B where timer:within(2 sec)) where timer:within(10 sec))",
        "A1@1 C1@5 B1@6 A2@7 B2@8",
        [(8, 2, 2)],
    ),
    # `or` is false when both branches are
    (
        "every ((a=A where timer:within(2 sec)) or (b=B where timer:within(4 sec)))",
        "C0@1 A1@4 A2@6 B1@7",
        [(6, 2, None), (7, None, 1)],
    ),
]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("pattern", "events", "wanted"), WORKED)
def test_worked(pattern: str, events: str, wanted: list[tuple[object, ...]], first: int) -> None:
    select = "a.n as a, b.n as b"
    if "b=" not in pattern:
        select = "a.n as a"
    t = translated(pattern, events, select, first=first)
    assert t.extended
    assert found(t) == sorted(wanted, key=repr)


def test_conditions_on_events_that_may_not_be_there() -> None:
    events = "B1@1:q A1@2:q C1@3:p C2@4:q A2@5:p C3@6:p"
    pattern = "every (a=A or b=B) -> c=C(k = a.k)"
    assert found(translated(pattern, events, "a.n as a, c.n as c")) == [(4, 1, 2), (6, 2, 3)]
    # not there: null, which `is null` sees
    pattern = "every (a=A or b=B) -> c=C(a.k is null and k = b.k)"
    assert found(translated(pattern, events, "a.n as a, c.n as c")) == [(4, None, 2)]


def test_where_filters_matches() -> None:
    t = translated("every a=A -> b=B", "A1@1 B1@2 A2@3 B5@4", more=" where b.n > a.n")
    assert found(t) == [(4, 2, 5)]


def test_events_that_may_not_be_there_as_columns() -> None:
    t = translated("every (a=A or b=B)", "A1@1 B2@2:q", "*")
    assert [v for _, _, v in t.outputs(run(t.net).marking)] == [
        {"a": {"n": 1, "k": "p"}, "b": None},
        {"a": None, "b": {"n": 2, "k": "q"}},
    ]


def test_a_chain_goes_on_within_the_row() -> None:
    text = f"""{SCHEMAS}
    insert into Y select x.a as a, c.n as c from pattern [every x=X -> c=C];
    insert into X select a.n as a from pattern [every (a=A and not b=B)]"""
    file, _ = parse(text, None)
    rows = [(t, x, {"n": x, "k": "p"}) for t, x in (("A", 1), ("C", 2), ("B", 3), ("A", 4), ("C", 5))]
    t = translate(file, rows=rows, extended=True, kind=KINDS["s"])
    # both statements go through the gate, the one that others read first
    assert [q.name for q in t.queries] == ["X", "Y"]
    assert [e for e in t.outputs(run(t.net).marking) if e[0] == "Y"] == [
        ("Y", 2, {"a": 1, "c": 2}),
        ("Y", 5, {"a": 4, "c": 5}),
    ]


def test_the_clock_starts_with_the_first_row_of_any_type() -> None:
    file, _ = parse(f"{SCHEMAS}insert into X select a.n as a from pattern [a=A where timer:within(3 sec)]", None)
    late = [("A", 4, {"n": 1, "k": "p"})]
    for rows, start, wanted in ((late, None, 1), ([("Z", 1, {}), *late], None, 0), (late, 1, 0), (late, 2, 1)):
        t = translate(file, rows=rows, extended=True, kind=KINDS["s"], start=start)
        assert len(t.outputs(run(t.net).marking)) == wanted


REFUSED = [
    # pattern, what the message says, the column of the place
    ("(c=C -> a=A) or (d=B -> b=A)", "a net cannot know which of them started first", "(c=C"),
    ("every (a=A where timer:within(2 sec)) or b=A", "which of them started first", "every"),
    ("(((every a=A) where timer:within(2 sec)) -> b=B) and c=C", "the number of active searches", "((every"),
    ("((every a=A or c=C) where timer:within(2 sec)) or b=B", "whether this branch of `or` has ended", "(every"),
    ("a=A and not (b=B and not c=C)", "`not` inside `not`", "not c"),
    ("every (a=A and not (every b=B -> c=C))", "`every` inside `every`", "every b"),
    ("a=A where timer:withinmax(2 sec, 3)", "`timer:withinmax` cannot be translated", "a=A"),
    ("a=A -> timer:interval(2 sec)", "`timer:interval` cannot be translated", "timer"),
    ("[2] a=A", "`[n]` cannot be translated", "[2]"),
]


@pytest.mark.parametrize(("pattern", "message", "at"), REFUSED)
def test_refused(pattern: str, message: str, at: str) -> None:
    select = "1 as one"
    with pytest.raises(DefinitionProblem) as refused:
        translated(pattern, "A1@1", select)
    (problem,) = refused.value.problems
    assert problem.kind == "unsupported"
    assert message in problem.message
    assert problem.file == "x.epl"
    assert problem.span is not None
    assert problem.source is not None
    assert problem.source[problem.span.column - 1 :].startswith(at)


def test_what_has_ended_fires_no_more() -> None:
    pattern = "a=A or every (b=B where timer:within(9 sec)) or (c=C -> d=C)"
    t = translated(pattern, "C1@1 B1@2 A1@3 B2@4 C2@5 C3@6 B3@20")
    assert found(t) == [(2, None, 1), (3, 1, None)]
    fired = [name for name, _ in run(t.net).firings]
    assert [fired.count(f"X_{tag}_t") for tag in "abcd"] == [1, 1, 1, 0]


def test_the_core_stays_as_the_paper_has_it() -> None:
    t = translated("every a=A -> b=B", "A1@1 B1@2")
    assert not t.extended
    assert "X_Now" not in t.net.places
