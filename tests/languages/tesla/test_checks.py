"""What the checks say of wrong rules, and what they make of right ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from wrong_cases import FOLDER, LINE, blocks, found

from occurs.expr.tree import Binary, Literal, Param, Ref
from occurs.languages.tesla.checks import Analysis, analyse, bindings
from occurs.languages.tesla.parser import parse
from occurs.languages.tesla.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

#: the table of tesla.md, section 3
KINDS = [
    "syntax",
    "duplicate-name",
    "unknown-name",
    "reference-order",
    "unknown-attribute",
    "missing-value",
    "unbound-parameter",
    "unknown-order",
    "too-many-values",
    "not-one-chain",
    "cycle",
    "schema-conflict",
    "reserved-name",
    "type-mismatch",
    "unknown-unit",
    "missing-unit",
    "unknown-function",
    "aggregate-attribute",
    "nested-aggregate",
    "bad-count",
    "timer-position",
    "timer-field",
    "not-an-event",
]


@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in sorted(FOLDER.glob("*.md"))])
def test_wrong_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parts = blocks(text)
    time = next((line.removeprefix("time: ") for line in text.splitlines() if line.startswith("time: ")), None)
    problems, _ = found("\n".join(parts["tesla"]), parts.get("inputs"), parts.get("foreign", []), time)
    got = [
        f"{'' if p.severity == 'error' else p.severity + ' '}{p.kind} {p.line}:{p.column} «{c}»" for p, c in problems
    ]
    expected = [LINE.fullmatch(line) for line in parts["problems"]]
    assert got == [line.split(" hint: ")[0] for line in parts["problems"]]
    for match, (problem, _) in zip(expected, problems, strict=True):
        assert match is not None
        if match[6]:
            assert match[6] in (problem.hint or "")
        rendered = problem.render()
        assert f"case.tesla:{problem.line}:{problem.column}: {problem.severity}[{problem.kind}]: " in rendered
        assert "^" in rendered


def test_every_kind_has_a_case() -> None:
    lines = [line for p in FOLDER.glob("*.md") for line in blocks(p.read_text(encoding="utf-8"))["problems"]]
    assert set(KINDS) <= {m[2] for line in lines if (m := LINE.fullmatch(line)) and not m[1]}


def good(text: str, **known: object) -> Analysis:
    file, problems = parse(text)
    analysis = analyse([file], **known)  # type: ignore[arg-type]
    errors = [p.render() for p in [*problems, *analysis.problems] if p.severity == "error"]
    assert not errors, "\n".join(errors)
    return analysis


def types(analysis: Analysis, name: str) -> list[tuple[str, Type]]:
    return list(analysis.schemas[name])


# --- types -----------------------------------------------------------------------------------------------------------


def test_types_over_recursion() -> None:
    analysis = good("""
        event A(Val: int)
        define RepA(Times, Val) from A() where Times = 1 and Val = A.Val
        define RepA(Times, Val) from A($x) and last RepA(Val ≤ $x) within 3 min from A
          where Times = RepA.Times + 0.5 and Val = $x consuming RepA
        define B(Times) from RepA() where Times = RepA.Times
    """)
    assert types(analysis, "RepA") == [("Times", Type.FLOAT), ("Val", Type.INT)]
    assert types(analysis, "B") == [("Times", Type.FLOAT)]
    assert analysis.rules[0].schema == analysis.schemas["RepA"]


def test_types_whatever_the_order_of_the_rules() -> None:
    analysis = good(
        """
        define C(V) from B() where V = B.V
        define B(V) from A() where V = A.V
    """,
        inputs={"A": Schema((("V", Type.STRING),))},
    )
    assert types(analysis, "C") == [("V", Type.STRING)]


def test_types_of_aggregates() -> None:
    analysis = good(
        """
        define X(A, B, C, D, E, F) from T() where A = AVG(T().i) within 5 min from T,
          B = SUM(T().i) within 5 min from T,
          C = SUM(T().f) within 5 min from T, D = MAX(T().s) within 5 min from T, E = COUNT(T()) within 5 min from T,
          F = LAST(T().b) within 5 min from T
    """,
        inputs={"T": Schema((("i", Type.INT), ("f", Type.FLOAT), ("s", Type.STRING), ("b", Type.BOOL)))},
    )
    assert [t for _, t in analysis.schemas["X"]] == [
        Type.FLOAT, Type.INT, Type.FLOAT, Type.STRING, Type.INT, Type.BOOL,
    ]  # fmt: skip


def test_times_have_the_kind_of_the_run() -> None:
    text = "define X(T) from A() where T = A.time"
    assert types(good(text, kind=TimeKind()), "X") == [("T", Type.TIMESTAMP)]
    assert types(good(text, kind=TimeKind(False, "ms")), "X") == [("T", Type.INT)]
    for kind in (None, TimeKind(), TimeKind(False, "ms")):
        good("define X() from A() and each B() within 30 s from A and A.time - B.time >= 15 s", kind=kind)


def test_unknown_types_are_accepted() -> None:
    analysis = good("define X(V) from A(a > 3, b = 'x') where V = A.c + 1")
    assert types(analysis, "X")[0][0] == "V"
    assert "A" not in analysis.schemas


def test_declared_types_take_open_types_from_the_data() -> None:
    analysis = good("event A(v, w: float) define X(V) from A where V = A.v", inputs={"A": Schema((("v", Type.INT),))})
    assert types(analysis, "X") == [("V", Type.INT)]
    assert analysis.declared == {"A"}


def test_numeric_type_ids() -> None:
    analysis = good("Assign 7 => A define X(V) from A where V = A.v", inputs={"7": Schema((("v", Type.INT),))})
    assert analysis.assigns == {7: "A"}
    assert types(analysis, "X") == [("V", Type.INT)]


# --- plain form ------------------------------------------------------------------------------------------------------


def test_positions_own_names_and_annotations() -> None:
    analysis = good("""
        event A(k: string, v: int)
        define X() from A($k, _) as S and each A("a", $v) as T within 5 min from S
          and not A($k, v > S.v) within 5 min from S and T.v > S.v
        define Y() from A([string]k = $k, A.v > 1, v > AVG(A(v < A.v).v) within 5 min from A)
    """)
    x, y = (r.rule for r in analysis.rules)
    assert x.terminator.constraints == (Binary("=", Ref(None, "k"), Param("k")),)
    assert x.selections[0].event.constraints == (
        Binary("=", Ref(None, "k"), Literal("a", Type.STRING)),
        Binary("=", Ref(None, "v"), Param("v")),
    )
    assert bindings(x) == {"k": (0, "k"), "v": (1, "v")}
    assert y.terminator.constraints[0] == Binary("=", Ref(None, "k"), Param("k"))
    assert y.terminator.constraints[1] == Binary(">", Ref(None, "v"), Literal(1, Type.INT))
    # in the aggregate a bare name is the aggregated event's, so the role keeps its name there
    assert "v < A.v" in render(y)


def test_bindings() -> None:
    analysis = good("""
        define X() from A(a > $x and $y = b) and each B($x = k and (c = $z or d = 1)) within 5 min from A
          and A.e = $z and $w = B.f and B.g = $x
    """)
    assert bindings(analysis.rules[0].rule) == {"x": (1, "k"), "y": (0, "b"), "z": (0, "e"), "w": (1, "f")}


def test_timers() -> None:
    analysis = good(
        "define X() from Timer(H = 9, M = 00, D = Friday, TZ = 'Europe/Rome') define Y() from Timer(sun = D or D < tue)"
    )
    friday = analysis.rules[0].rule.terminator.constraints[2]
    assert friday == Binary("=", Ref(None, "D"), Literal(5, Type.INT))
    assert render(analysis.rules[1].rule.terminator) == "Timer(7 = D or D < 2)"


def test_definitions_do_not_depend_on_spelling() -> None:
    one = good("rule R: DEFINE X() FROM A(A.v > 1) AND each B WITHIN 60 s FROM A")
    two = good("define X() from A(v>1) and each B() within 1 min from A # the same")
    assert one.rules[0].definition == two.rules[0].definition


def test_subscriptions_are_in_plain_form() -> None:
    analysis = good("event T(v: int) define X(V) from T where V = T.v Subscribe(X, X.V > 3 and V < 9) Subscribe(T)")
    assert render(analysis.subscriptions[0]) == "Subscribe(X, V > 3 and V < 9)"


def test_several_files_are_one_program() -> None:
    a, _ = parse("define X(V) from A where V = 1", "a.tesla")
    b, _ = parse("define Y(W) from X where W = X.W", "b.tesla")
    (problem,) = analyse([a, b]).problems
    assert (problem.kind, problem.file, problem.source) == ("unknown-attribute", "b.tesla", b.text)


def test_a_long_chain_of_types() -> None:
    rules = "".join(f"define T{i}(V) from T{i + 1}() where V = T{i + 1}.V\n" for i in range(2000))
    analysis = good(rules + "event T2000(V: int)")
    assert types(analysis, "T0") == [("V", Type.INT)]
