"""EPL statements as nets: colours, names, rows, values; what is refused, and where."""

from __future__ import annotations

from typing import Any

import pytest

from occurs.errors import DefinitionProblem, InputProblem
from occurs.languages.epl.nets import outputs, to_net, translate
from occurs.languages.epl.parser import parse
from occurs.loading import parse as program
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.nets import cpn_read, cpn_write
from occurs.nets.colours import Record, Union
from occurs.nets.firing import run
from occurs.nets.ml_terms import Printer
from occurs.nets.net import Net, Role
from occurs.nets.transform import to_priority_net
from occurs.nets.validate import violations

Rows = list[tuple[str, int, dict[str, Any]]]


def results(text: str, rows: Rows, file: bool = False) -> list[dict[str, Any]]:
    """The values of what is derived, with black transitions and without; the nets are valid.

    ``file``: the file of CPN Tools, too, comes back as a net with the same steps.
    """
    parsed, problems = parse(text, "x.epl")
    assert not problems
    t = translate(parsed, rows=rows)
    encoded = to_priority_net(t.net)
    nets = [t.net, encoded]
    if file:
        back, notes = cpn_read.read(cpn_write.write(encoded), "x")
        assert not notes
        assert run(back).steps == run(encoded).steps
        nets.append(back)
    assert [violations(net) for net in nets] == [[]] * len(nets)
    out = [t.outputs(run(net).marking) for net in nets]
    assert all(o == out[0] for o in out)
    return [values for _, _, values in out[0]]


# --- colours and names --------------------------------------------------------------------------------------------


def test_colours_of_a_program() -> None:
    text = """create schema A(tm int, ma double); create schema B(name string, on boolean);
    insert into X select a.ma as ma from pattern [a=A -> b=B]"""
    net = to_net(parse(text, None)[0])
    named = {c.name: c for c in net.colours}
    assert list(named) == ["INT", "BOOL", "REAL", "STRING", "CA", "CB", "CX", "C", "CF", "List_CFs", "CEnd"]
    assert named["CA"] == Record("CA", (("tm", named["INT"]), ("ma", named["REAL"])))
    assert isinstance(named["C"], Union)
    assert named["C"].cases == (("pA", named["CA"]), ("pB", named["CB"]), ("pX", named["CX"]))
    roles = {role: [p.name for p in net.places.values() if p.role is role] for role in Role}
    assert [p for p in roles[Role.CONTROL] if net.holder(p) == p] == ["Control"]
    assert {p.fusion for p in net.places.values() if p.role is Role.INPUT} == {"Input"}
    variables = dict(net.variables)
    assert {"a_n", "a_x", "a_tm", "a_ma", "b_name", "b_on", "r", "s", "l1", "l2"} <= set(variables)
    (black,) = [t for t in net.transitions.values() if t.name == "X_b_t"]
    (init,) = [a for a in net.inputs[black.name] if a.place == black.black.init]  # type: ignore[union-attr]
    assert (
        Printer(variables, net.colours).tokens(init.terms, named["CEnd"])
        == "(r, [(a_n, 1, a_x, pA({tm=a_tm, ma=a_ma}))])"
    )


def test_names_that_ml_does_not_have_or_that_meet() -> None:
    text = """create schema `End`(val int, n int, x int); create schema F(a_n int);
    create schema CF(k string); create schema `$m`(k string);
    @Name('a b') insert into Out select a.val as v, a.n as n, a.x as x, a_a.a_n as m
    from pattern [a=`End` -> a_a=F(a_n = a.n) -> CF -> d=`$m`]"""
    rows: Rows = [
        ("End", 1, {"val": 4, "n": 5, "x": 6}),
        ("F", 2, {"a_n": 4}),
        ("F", 3, {"a_n": 5}),
        ("CF", 4, {"k": "z"}),
        ("$m", 5, {"k": "z"}),
    ]
    assert results(text, rows, file=True) == [{"v": 4, "n": 5, "x": 6, "m": 5}]


def test_one_tag_in_two_statements_with_other_types() -> None:
    text = """create schema A(v int); create schema B(v string);
    insert into X select t.v as v from pattern [every t=A];
    insert into Y select t.v as v from pattern [every t=B(v > 'a')]"""
    assert results(text, [("A", 1, {"v": 3}), ("B", 2, {"v": "b"}), ("B", 2, {"v": "a"})]) == [{"v": 3}, {"v": "b"}]


def test_types_without_attributes_and_statements_without_insert() -> None:
    text = (
        "create schema Tick(); create schema A(v int); select a.v + 1 as v, 'x' as w from pattern [every (Tick -> a=A)]"
    )
    file, _ = parse(text, None)
    t = translate(file, rows=[("A", 1, {"v": 1}), ("Tick", 2, {}), ("A", 3, {"v": 2})])
    done = run(t.net)
    assert t.outputs(done.marking) == outputs(t.net, done.marking) == [("stmt_1", 3, {"v": 3, "w": "x"})]


def test_each_event_of_a_type_and_structs() -> None:
    text = """create schema A(v int, k string); create schema B(v int);
    insert into X select * from A(v > 1) as e; insert into Y select * from pattern [x=X -> b=B];
    insert into Z select y.b as b from pattern [every y=Y]"""
    file, _ = parse(text.rpartition("insert")[0], None)
    rows: Rows = [("A", 1, {"v": 1, "k": "p"}), ("A", 2, {"v": 2, "k": "q"}), ("B", 3, {"v": 7})]
    t = translate(file, rows=rows)
    assert t.outputs(run(t.net).marking) == [
        ("X", 2, {"v": 2, "k": "q"}),
        ("Y", 3, {"x": {"v": 2, "k": "q"}, "b": {"v": 7}}),
    ]


# --- values ---------------------------------------------------------------------------------------------------------


def test_values_and_conditions() -> None:
    text = """create schema A(i int, f double, s string, b boolean);
    insert into X select a.i / 2 as h, a.i % 3 as m, -a.i as neg, a.f + a.i as sum, a.s || '!' as t,
      a.b and a.i > 0 as both, max(a.i, 2) as most, abs(a.i) as size, a.time as at
    from pattern [every a=A(i in (-5, 4, 7) and not (s = 'no') and f between 0 and 10 and (b or i < 0))]"""
    rows: Rows = [
        ("A", 1, {"i": -5, "f": 1.5, "s": "yes", "b": False}),
        ("A", 2, {"i": 4, "f": 2, "s": "yes", "b": True}),
        ("A", 3, {"i": 5, "f": 2, "s": "yes", "b": True}),
        ("A", 4, {"i": 4, "f": 2, "s": "no", "b": True}),
        ("A", 5, {"i": 4, "f": 11, "s": "yes", "b": True}),
        ("A", 6, {"i": 4, "f": 2, "s": "yes", "b": False}),
    ]
    one = {"h": -2.5, "m": -2, "neg": 5, "sum": -3.5, "t": "yes!", "both": False, "most": 2, "size": 5, "at": 1}
    other = {"h": 2.0, "m": 1, "neg": -4, "sum": 6.0, "t": "yes!", "both": True, "most": 4, "size": 4, "at": 2}
    assert results(text, rows, file=True) == [one, other]


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        # division by zero is null: neither true nor false
        ("10 % v = 0", [1, 2, 5]),
        ("not (10 % v = 0)", [3]),
        ("10 / v > 4 or v = 0", [1, 2, 0]),
        ("(10 / v) is null", [0]),
        ("10 / (v - v) > 1", []),
        ("10 % 0 = 0", []),
        ("v is not null and v != null", []),
    ],
)
def test_division_by_zero(condition: str, taken: list[int]) -> None:
    text = f"create schema A(v int); insert into X select a.v as v from pattern [every a=A({condition})]"
    rows: Rows = [("A", n, {"v": v}) for n, v in enumerate((1, 2, 3, 5, 0))]
    assert [r["v"] for r in results(text, rows)] == taken


def test_whole_numbers_where_floats_are_due() -> None:
    text = """create schema A(v int); create schema X(v double);
    insert into X select a.v as v from pattern [every a=A]; insert into X select 2 * b.v as v from pattern [b=A]"""
    file, _ = parse(text, None)
    values = [v["v"] for _, _, v in translate(file, rows=[("A", 1, {"v": 3})]).outputs(run(_net(text)).marking)]
    assert sorted(values) == [3.0, 6.0]
    assert all(isinstance(v, float) for v in values)


def _net(text: str) -> Net:
    return to_net(parse(text, None)[0], rows=[("A", 1, {"v": 3})])


# --- rows -----------------------------------------------------------------------------------------------------------

PAIR = "create schema A(v int); create schema B(w double); insert into X select a.v as v from pattern [a=A -> B]"


def test_rows_are_numbered_and_others_left_out() -> None:
    net = to_net(
        parse(PAIR, None)[0], rows=[("Z", 1, {}), ("B", 1, {"w": 2}), ("Z", 1, {}), ("A", 2, {"v": 1, "z": 0})]
    )
    assert sorted(net.initial.tokens["Input"]) == [(1, 2, 1, ("pB", (2.0,))), (2, 1, 2, ("pA", (1,)))]  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("A", 5, {"v": None}), "row 2, A at 5: `v` is null, which a token cannot hold"),
        (("A", 5, {}), "row 2, A at 5: `v` is null, which a token cannot hold"),
        (("B", 5, {"w": float("nan")}), "row 2, B at 5: `w` is null, which a token cannot hold"),
        (("A", 5, {"v": "x"}), "row 2, A at 5: `v`: 'x' is not a value of INT (int)"),
        (("A", 5, {"v": 1.5}), "row 2, A at 5: `v`: 1.5 is not a value of INT (int)"),
        (("A", 0, {"v": 1}), "row 2 (A) at 0 follows a row at 1"),
    ],
)
def test_rows_that_a_net_cannot_hold(row: tuple[str, int, dict[str, Any]], message: str) -> None:
    with pytest.raises(InputProblem) as found:
        to_net(parse(PAIR, None)[0], rows=[("A", 1, {"v": 1}), row])
    assert found.value.message == message
    assert found.value.row == 2


# --- refused --------------------------------------------------------------------------------------------------------

AB = "create schema A(k string, v int); create schema B(k string, v int);\n"


@pytest.mark.parametrize(
    ("query", "message", "at"),
    [
        ("select a.v as v from pattern [every a=A and b=B]", "`and` cannot be translated into a net", "every a=A and"),
        ("select a.v as v from pattern [a=A or b=B]", "`or` cannot be translated into a net", "a=A or"),
        ("select a.v as v from pattern [a=A where timer:within(1 sec)]", "`timer:within` cannot be", "a=A where"),
        ("select a.v as v from pattern [a=A -> timer:at(*, *, *, *, *)]", "`timer:at` cannot be", "timer:at"),
        ("select a.v as v from pattern [every-distinct(a.k) a=A]", "`every-distinct` cannot be", "every-distinct"),
        ("select a[0].v as v from pattern [a=A until b=B]", "`until` cannot be translated", "a=A until"),
        ("select a.v as v from pattern [a=A while (a.v > 1)]", "`while` cannot be translated", "a=A while"),
        ("select a.v as v from pattern [every a=A -[2]> b=B]", "`-[2]>` cannot be translated", "every a=A -[2]>"),
        ("select a.v as v from pattern [a=A@consume]", "`@consume` cannot be translated", "a=A@consume"),
        ("select a.v as v from pattern [every (a=A -> every b=B)]", "`every` inside `every`", "every b=B"),
        ("select a.v as v from pattern [a=A] where a.v > 1", "`where` after a pattern", "a.v > 1"),
        ("select a.v as v from pattern @DiscardPartialsOnMatch [a=A]", "`@DiscardPartialsOnMatch`", "insert"),
        ("select a.v as v from pattern @SuppressOverlappingMatches [a=A]", "`@SuppressOverlapping", "insert"),
        ("select a.v as v from pattern [a=A(k like '%p')]", "this condition cannot be translated", "k like"),
        ("select coalesce(a.v, 1) as v from pattern [a=A]", "`coalesce(..)` cannot be translated", "coalesce"),
        ("select case when a.v > 1 then 2 end as v from pattern [a=A]", "`case` cannot be translated", "case"),
        ("select 10 / a.v as v from pattern [a=A]", "`v` may be null (a division by zero)", "10 / a.v"),
    ],
)
def test_refused(query: str, message: str, at: str) -> None:
    file, problems = parse(f"{AB}insert into X {query}", "x.epl")
    assert not problems
    with pytest.raises(DefinitionProblem) as refused:
        to_net(file, kind=TimeKind(False, "s"))
    (problem,) = [p for p in refused.value.problems if message in p.message]
    assert (problem.kind, problem.file, problem.line) == ("unsupported", "x.epl", 2)
    assert problem.source is not None
    assert problem.column is not None
    assert problem.source[problem.column - 1 :].startswith(at)


def test_all_problems_are_reported() -> None:
    text = f"{AB}insert into X select a.v as v from pattern [[2] a=A]; insert into Y select * from pattern [a=A or b=B]"
    with pytest.raises(DefinitionProblem) as refused:
        to_net(parse(text.replace("a.v", "a[0].v"), None)[0])
    assert len(refused.value.problems) == 2


def test_filters_of_types_that_others_inherit() -> None:
    text = f"{AB}create schema H(u int) inherits A; insert into X select a.v as v from pattern [a=A]"
    with pytest.raises(DefinitionProblem, match="a filter of `A`, from which `H` inherits"):
        to_net(parse(text, None)[0])


def test_what_is_wrong_anyway() -> None:
    with pytest.raises(DefinitionProblem, match="unknown-attribute"):
        to_net(parse(f"{AB}insert into X select a.w as w from pattern [a=A]", None)[0])
    # types whose attributes nobody says
    with pytest.raises(DefinitionProblem, match="the attributes of `Q` are unknown"):
        to_net(parse("insert into X select 1 as one from pattern [a=Q]", None)[0])
    inputs = {"Q": Schema((("v", Type.INT),))}
    assert translate(parse("insert into X select a.v as v from pattern [a=Q]", None)[0], inputs=inputs).types.events[
        "Q"
    ]


def test_durations_need_a_unit() -> None:
    text = f"{AB}insert into X select a.v as v from pattern [a=A where timer:within(1 sec)]"
    file, _ = parse(text, None)
    with pytest.raises(DefinitionProblem):
        to_net(file, extended=True)
    with pytest.raises(DefinitionProblem):
        to_net(file, extended=True, kind=TimeKind(False, "min"))
    assert "tick" in to_net(file, extended=True, kind=TimeKind(False, "ms")).transitions


def test_the_part_of_a_program() -> None:
    bound = program(PAIR, language="epl").checked.bind(None, TimeKind(False, "s"))
    net = to_net(bound.parts["epl"], rows=[("A", 1, {"v": 4}), ("B", 2, {"w": 1})])  # type: ignore[arg-type]
    assert outputs(net, run(net).marking) == [("X", 2, {"v": 4})]
