"""The text of Phenesthe: the worked examples, every construct, mistakes and their words, and back to text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amount import amount

from occurs.errors import Problem
from occurs.expr import tree as core
from occurs.languages.phenesthe import syntax as s
from occurs.languages.phenesthe.define import read
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.render import render
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.model.types import Type


def good(text: str) -> s.File:
    """The tree of a text without problems, which is also that of its canonical text."""
    file, problems = parse(text, "a.phen")
    assert not problems, "\n".join(p.render() for p in problems)
    canonical = render(file)
    again, problems = parse(canonical)
    assert not problems, canonical
    assert again.statements == file.statements, canonical
    assert render(again) == canonical
    return file


def definition(text: str) -> s.Definition:
    (statement,) = good(text).statements
    assert isinstance(statement, s.Definition)
    return statement


def body(text: str) -> s.Relation:
    return definition(f"event e : {text}.").body


def shape(text: str) -> str:
    """A formula with all its parentheses."""

    def show(node: s.Relation) -> str:
        if isinstance(node, s.Atom):
            return node.name.text
        inside = " ".join(show(p) for p in node.parts)
        return f"({node.rel if isinstance(node, s.Related) else type(node).__name__} {inside})"

    return show(body(text))


BREST = """
input event stop_start(vessel), stop_end(vessel), entersPort(vessel, area), leavesPort(vessel, area),
            entersFishingArea(vessel, area), leavesFishingArea(vessel, area), fast(vessel), slow(vessel).
state stopped(Vessel)               : stop_start(Vessel) ~> stop_end(Vessel).
state underway(Vessel)              : fast(Vessel) ~> slow(Vessel).
state in_port(Vessel, Port)         : entersPort(Vessel, Port) ~> leavesPort(Vessel, Port).
state in_fishing_area(Vessel, Area) : entersFishingArea(Vessel, Area) ~> leavesFishingArea(Vessel, Area).
state moored(Vessel, Port)          : stopped(Vessel) ⊓ in_port(Vessel, Port).
dynamic trip(Vessel, PortA, PortB)  : end(moored(Vessel, PortA)) before (underway(Vessel) before start(moored(Vessel, PortB))).
dynamic fishing_trip(Vessel, PortA, Area, PortB) :
    end(moored(Vessel, PortA)) before ((underway(Vessel) contains in_fishing_area(Vessel, Area)) before start(moored(Vessel, PortB))).
dynamic trip_f(Vessel, PortA, Area, PortB) : trip(Vessel, PortA, PortB) contains in_fishing_area(Vessel, Area).
"""  # noqa: E501

EXAMPLES = [
    "event stop_start(V) : ais(V, S, ...) ∧ S ≤ 0.5. event stop_end(V) : ais(V, S, ...) ∧ S > 0.5. "
    "state stopped(V) : stop_start(V) ↣ stop_end(V).",
    "state moored(V, P) : stopped(V) ⊓ in_port(V, P).",
    "fact type(v, fishing). dynamic fishing_trip(V,A,F,B) : end(moored(V,A)) ∧ type(V, fishing) before (underway(V) "
    "contains in_fishing_area(V,F)) before start(moored(V,B)).",
    "dynamic l : p before q contains r. dynamic m : p before (q contains r).",
    "dynamic d : u before v.",
    "state s : a ~> b.",
    "state o : p ⊔ q. state i : p ⊓ q. state m : p \\ q.",
    "state has(P,O) : pick(P,O) ~> drop(P,O). state any(P) : pick(P,_) ~> drop(P,_). "
    "state some(P) : pick(P,A) ~> drop(P,A).",
    "event c(K) : a(K) ∧ b(K). event d(K) : a(K) ∨ b(K). event n(K) : a(K) ∧ ¬b(K).",
    "event n : ¬a.",
    "".join(f"dynamic {r}_ : p {r} q. " for r in s.RELATIONS),
    "dynamic b : a before q. dynamic s : a starts q. dynamic f : a finishes q. dynamic c : q contains a.",
    "event s : start(a ~> b). event e : end(a ~> b).",
    "state s : a ~> b. state r : c ~> d. dynamic o : s overlaps r. dynamic k : s contains r. dynamic e : s before r.",
    "state lt : a <@ 4. state eq : a =@ 4. state ge : a >=@ 4.",
    "state g : filter(a ~> b, greater(4)). state l : filter(a ~> b, less(4)). state e : filter(a ~> b, equal(4)).",
    "event e : c in (a ~> b).",
    "state m : a ~>> b. state n : a ~> b.",
    "dynamic d : c after p. dynamic u : q during p.",
    "dynamic o(K) : x(K) overlaps z(K). dynamic d(K) : a(K) before o(K).",
    BREST,
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_worked_examples_are_read_and_written_alike(text: str) -> None:
    assert len(good(text).statements) >= text.count(" : ")


def test_the_program_of_brest() -> None:
    file = good(BREST)
    declared = [d for d in file.statements if isinstance(d, s.Declaration)]
    assert [d.name.text for d in declared][:3] == ["stop_start", "stop_end", "entersPort"]
    assert len(declared) == 8
    trip = file.statements[13]
    assert isinstance(trip, s.Definition)
    assert [h.name.text for h in trip.head] == ["Vessel", "PortA", "PortB"]
    assert trip.source.startswith("dynamic trip(")
    assert trip.source.endswith("PortB)))")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p \\ q \\ r", "(Complement (Complement p q) r)"),
        ("p ⊔ q \\ r", "(Complement (Union p q) r)"),
        ("p ⊔ q ⊓ r", "(Union p (Intersection q r))"),
        ("p union q intersection r minus t", "(Complement (Union p (Intersection q r)) t)"),
        ("a before b before c", "(before (before a b) c)"),
        ("a before b contains c after d", "(after (contains (before a b) c) d)"),
        ("a ∧ b ∨ c ∧ ¬d", "(Or (And a b) (And c (Not d)))"),
        ("not not a and b", "(And (Not (Not a)) b)"),
        ("not a in b and c", "(And (In (Not a) b) c)"),
        ("a or b ~> c and d", "(MaximalRange (Or a b) (And c d))"),
        ("a ~>> b ⊓ c ↣ d", "(Intersection (MinimalRange a b) (MaximalRange c d))"),
        ("a or b <@ 5 ~> c", "(MaximalRange (Iteration (Or a b)) c)"),
        ("a or b aand c ~> d", "(MaximalRange (And (Or a b) c) d)"),
        ("tnot a and gtnot b", "(And (Not a) (Not b))"),
        ("start(p ⊔ q) before filter(a before b, less(4 h))", "(before (Start (Union p q)) (Filter (before a b)))"),
        ("p complement q minus r", "(Complement (Complement p q) r)"),
    ],
)
def test_precedence_and_spellings(text: str, expected: str) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize("rel", [*s.RELATIONS, *s.INVERSES])
def test_every_relation(rel: str) -> None:
    assert body(f"a {rel} b") == s.Related(rel, s.Atom(s.Name("a")), s.Atom(s.Name("b")))


def number(value: float) -> core.Literal:
    return core.Literal(value, Type.INT if isinstance(value, int) else Type.FLOAT)


X = core.Ref(None, "X")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((f"X {w} 3", core.Binary(op, X, number(3))) for op, spellings in {
            "<": "<", "<=": "<= ≤ =<", ">": ">", ">=": ">= ≥", "=": "= == =:=", "!=": "!= <> ≠ =\\= \\== \\=",
        }.items() for w in spellings.split()),
        ("X in {1, -2.5, fishing, 'a b'}",
         core.In(X, (number(1), number(-2.5), core.Literal("fishing", Type.STRING), core.Literal("a b", Type.STRING)))),
        ("X + 2 * 3 - -1 > X mod 2", core.Binary(">", core.Binary(
            "-", core.Binary("+", X, core.Binary("*", number(2), number(3))), number(-1)),
            core.Binary("mod", X, number(2)))),
        ("(X + 1) / 2 = 1e-3", core.Binary("=", core.Binary("/", core.Binary("+", X, number(1)), number(2)),
                                           number(0.001))),
        ("-X < Fishing", core.Binary("<", core.Unary("neg", X), core.Ref(None, "Fishing"))),
        ("X = true", core.Binary("=", X, core.Literal(True, Type.BOOL))),
        ("X = timestamp '1970-01-01T00:00:01Z'", core.Binary("=", X, core.Literal(1_000_000, Type.TIMESTAMP))),
        ("X = 'it\\'s \\u00e9\\n'", core.Binary("=", X, core.Literal("it's é\n", Type.STRING))),
        ("X = start", core.Binary("=", X, core.Literal("start", Type.STRING))),
    ],
)  # fmt: skip
def test_conditions(text: str, expected: core.Expr) -> None:
    assert body(text) == s.Comparison(expected)


def test_a_parenthesis_may_hold_a_term_or_a_formula() -> None:
    assert body("((X) + (1)) > 2 and ((a before (b)))") == s.And(
        s.Comparison(core.Binary(">", core.Binary("+", X, number(1)), number(2))),
        s.Related("before", s.Atom(s.Name("a")), s.Atom(s.Name("b"))),
    )


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("4", Duration(Fraction(4), ticks=True)),
        *((f"2 {u}", Duration(Fraction(2 * UNIT_MICROSECONDS[k]))) for k, us in {
            "us": "us", "ms": "ms", "s": "s sec second seconds", "min": "min minute minutes", "h": "h hour hours",
            "d": "d day days", "w": "w week weeks"}.items() for u in us.split()),
        ("0.5h", Duration(Fraction(1_800_000_000))),
        ("90 min", Duration(Fraction(5_400_000_000))),
        ("1.5 us", Duration(Fraction(3, 2))),
    ],
)  # fmt: skip
def test_durations(text: str, duration: Duration) -> None:
    assert body(f"a >=@ {text}") == s.Iteration(s.Atom(s.Name("a")), ">=", duration)


def test_arguments() -> None:
    atom = body("`my type`(V, _, -3, Fire, fishing, `an attribute` = _, end = X, ...)")
    assert isinstance(atom, s.Atom)
    assert atom.name.text == "my type"
    assert atom.rest
    assert [(a.name and a.name.text, a.value) for a in atom.arguments] == [
        (None, s.Variable("V")), (None, s.Anything()), (None, s.Constant(-3, Type.INT)), (None, s.Variable("Fire")),
        (None, s.Constant("fishing", Type.STRING)), ("an attribute", s.Anything()), ("end", s.Variable("X")),
    ]  # fmt: skip
    least = body("a(-9223372036854775808)")
    assert least == s.Atom(s.Name("a"), (s.Argument(s.Constant(-(2**63), Type.INT)),))
    assert atom.span is not None
    assert (atom.span.line, atom.span.column) == (1, 11)
    assert body("Fire()") == s.Atom(s.Name("Fire"))
    assert body("a(…)") == s.Atom(s.Name("a"), (), True)
    assert body("`before` before ärger") == s.Related("before", s.Atom(s.Name("before")), s.Atom(s.Name("ärger")))


def test_heads_and_where() -> None:
    made = definition("state s(V, kind = 'long', port = P) : a(V, P) ~> b(V) where V > 3 or P = x.")
    assert [(h.name.text, h.value) for h in made.head] == [
        ("V", s.Variable("V")), ("kind", s.Constant("long", Type.STRING)), ("port", s.Variable("P")),
    ]  # fmt: skip
    assert isinstance(made.where, s.Or)


def test_declarations() -> None:
    file = good(
        "input event a, b(x: int, time_: timestamp, y ...), c(...). input state p(X, ...) as changes.\n"
        "input dynamic d(). input fact type(vessel: string, kind). fact type(v, 'f g', -1.5, true)."
    )
    name = s.Name
    assert file.statements == (
        s.Declaration("event", name("a")),
        s.Declaration("event", name("b"), (s.Attribute(name("x"), Type.INT), s.Attribute(name("time_"), Type.TIMESTAMP),
                                           s.Attribute(name("y"))), rest=True),
        s.Declaration("event", name("c"), rest=True),
        s.Declaration("state", name("p"), (s.Attribute(name("X")),), rest=True, changes=True),
        s.Declaration("dynamic", name("d")),
        s.Declaration("fact", name("type"), (s.Attribute(name("vessel"), Type.STRING), s.Attribute(name("kind")))),
        s.Fact(name("type"), (s.Constant("v", Type.STRING), s.Constant("f g", Type.STRING),
                              s.Constant(-1.5, Type.FLOAT), s.Constant(True, Type.BOOL))),
    )  # fmt: skip


def test_files_of_phenesthe_itself() -> None:
    file = good(
        "input_phenomenon(ais(_, Speed, _), event_phenomenon). input_phenomenon(p, state).\n"
        "event_phenomenon stop(V) := ais(V, S, _) and tnot gap(V) aand S =< 0.5 .\n"
        "state_phenomenon s(V) := stop(V) ~> go(V). dynamic_phenomenon d := (a before b) before c."
    )
    first, _, stop, *_ = file.statements
    assert first == s.Declaration("event", s.Name("ais"), tuple(s.Attribute(s.Name(n)) for n in ("a1", "Speed", "a3")))
    assert isinstance(stop, s.Definition)
    assert stop.ported
    assert isinstance(stop.body, s.And)
    assert stop.body.ported
    assert [d.sort for d in file.statements if isinstance(d, s.Definition)] == ["event", "state", "dynamic"]


def test_comments_numbers_and_full_stops() -> None:
    text = "# one. two\nevent e:a(X) and X<=5.event f : a(X) and X > 0.5 % .\n and X < 1e-3. -- '\nevent g : a(...)."
    file = good(text)
    assert len(file.statements) == 3
    assert parse("") == (s.File(()), [])
    assert parse("% nothing")[0].statements == ()


# --- mistakes --------------------------------------------------------------------------------------------------------


def only(text: str) -> Problem:
    file, problems = parse(text, "a.phen")
    assert len(problems) == 1, [p.render() for p in problems]
    assert f"a.phen:{problems[0].line}:{problems[0].column}: error[{problems[0].kind}]: " in problems[0].render()
    assert "^" in problems[0].render()
    assert not [d for d in file.statements if isinstance(d, s.Definition) and d.name.text == "e"]
    return problems[0]


@pytest.mark.parametrize(
    ("text", "kind", "column", "words", "hint"),
    [
        ("event e : X > .5.", "syntax", 15, "unexpected `.`: expected a value", "0.5"),
        ("event e : a ~> b ~> c.", "syntax", 18, "unexpected `~>`", "write parentheses"),
        ("evnt e : a.", "syntax", 1, "expected `input`", "did you mean `event`?"),
        ("event e : a befor b.", "syntax", 13, "a relation", "did you mean `before`?"),
        ("event e : a unoin b.", "syntax", 13, "`union`", "did you mean `union`?"),
        ("event e : a ∧.", "syntax", 14, "ends too early: expected a formula", None),
        ("event e : (a or b.", "syntax", 18, "ends too early: expected `)`", None),
        ("event : a.", "syntax", 7, "expected a name", None),
        ("event e a.", "syntax", 9, "expected `:` or `(`", None),
        ("event e : a && b.", "syntax", 13, "unexpected `&`", "write `and`"),
        ("event e : a and 'b.", "syntax", 17, "not closed", "close it with '"),
        ("event e : `b.", "syntax", 11, "not closed", "backquotes"),
        ("event e : X.", "syntax", 11, "`X` is a value", "`X()`"),
        ("event e : 3.", "syntax", 11, "`3` is a value, but a formula is needed here", "X > 3"),
        ("event e : _ and a.", "syntax", 11, "`_` is a value", None),
        ("event e : start.", "syntax", 11, "is a keyword", "`` `start` ``"),
        ("event before : a.", "syntax", 7, "is a keyword", "`` `before` ``"),
        ("event e : p(3 + 2).", "syntax", 13, "this is computed", "`p(X) ∧ X = 3 + 2`"),
        ("event e : p(..., X).", "syntax", 13, "must be last", None),
        ("event e : p(x = 1, 2).", "syntax", 20, "a positional argument cannot", "`name = value`"),
        ("event e(3) : a.", "syntax", 9, "needs the name of its attribute", "`name = value`"),
        ("event e(_) : a.", "syntax", 9, "without a value", "list variables"),
        ("fact f(X).", "syntax", 8, "`X` is a variable", "in quotes"),
        ("event e : X in {1, Y}.", "syntax", 20, "`Y` is a variable", "in quotes"),
        ("event e : X = b(3).", "syntax", 15, "a value is needed here", None),
        ("event e : X > _.", "syntax", 15, "`_` has no value", "name the variable"),
        ("event e : X > `a b`.", "syntax", 15, "is not a value", "quotes"),
        ("event e : X > 9223372036854775808.", "syntax", 15, "64 bits", None),
        ("event e : X = '\\q'.", "syntax", 16, "unknown escape", "escapes are"),
        ("event e : X = timestamp 'noon'.", "syntax", 15, "is not a valid time", None),
        ("event e : filter(a, les(5)).", "syntax", 21, "does not compare lengths", "did you mean `less`?"),
        ("event e : a <@ 5 min 3 s.", "syntax", 22, "unexpected `3`", None),
        ("event e : filter(a, less(5 hors)).", "unknown-unit", 28, "is not a unit of time", "did you mean `h"),
        ("event e : a <@ 3 months.", "unknown-unit", 18, "is not a unit of time", "30 d"),
        ("event e : a <@ 0.", "bad-duration", 16, "must be greater than zero", None),
        ("event e : a <@ -4 min.", "bad-duration", 16, "must be greater than zero", None),
        ("event e : a <@ 1e9999999 min.", "bad-duration", 16, "too long", None),
        ("input event a(x: inT).", "syntax", 18, "is not a type", "did you mean `int`?"),
        ("input event q as changes.", "syntax", 13, "for states only", "`input state`"),
        ("input_phenomenon(x(_), evt).", "syntax", 24, "is not a sort", "did you mean `event`?"),
        ("event e := a aand X is 3.", "unsupported", 21, "`is`", "compute"),
        ("event e := collector(3, [x]).", "unsupported", 25, "`collector`", "as an input"),
        ("state e := a(S) <@ collector(600, [S], near).", "unsupported", 20, "`collector`", "as an input"),
        ("near([A], [B]) :- D is A - B, D < 6.", "unsupported", 1, "the Prolog clause of `near`", "as an input"),
        ("state e := p union q minus r.", "ambiguous-chain", 12, "`⊔` and `\\`", "write the parentheses"),
        ("state e := p union (q ⊓ r) ⊓ t.", "ambiguous-chain", 12, "`⊓` and `⊔`", "write the parentheses"),
        ("state e := p minus q minus r.", "ambiguous-chain", 12, "`\\` and `\\`", "write the parentheses"),
        ("dynamic e := a before b meets c.", "ambiguous-chain", 14, "`before` and `meets`", "write the parentheses"),
        (".", "syntax", 1, "unexpected `.`", None),
    ],
)
def test_mistakes(text: str, kind: str, column: int, words: str, hint: str | None) -> None:
    problem = only(text)
    assert (problem.kind, problem.line, problem.column) == (kind, 1, column), problem.render()
    assert words in problem.render()
    assert (hint or "") in (problem.hint or "")


def test_all_mistakes_are_reported_and_the_right_statements_read() -> None:
    text = "event a : b\nstate c : d ~> .\nevent `x y` : q and.\nevent g : h.\ninput evnt i, j.\nevent k : l"
    file, problems = parse(text)
    assert [(p.line, p.column, p.kind) for p in problems] == [
        (1, 12, "syntax"), (2, 15, "syntax"), (3, 20, "syntax"), (5, 7, "syntax"), (6, 12, "syntax"),
    ]  # fmt: skip
    # what lacks its full stop only is read nevertheless
    assert [d.name.text for d in file.statements if isinstance(d, s.Definition)] == ["a", "g", "k"]
    assert {"c", "x y", "i", "j"} <= file.unread
    assert "g" not in file.unread


@pytest.mark.parametrize(
    "formula",
    [
        "(" * 20000 + "a" + ")" * 20000,
        "not " * 5000 + "a",
        " and ".join(["a"] * 3000),
        "a before " * 1000 + "b",
        "start(" * 3000 + "a" + ")" * 3000,
        "X > " + "- " * 3000 + "X",
        "X = " + " + ".join("3" * 1000),
    ],
)
def test_nesting_too_deep_is_a_problem_and_no_crash(formula: str) -> None:
    problem = only(f"event e : {formula}.")
    assert problem.kind == "syntax"
    assert "150" in problem.message


# --- random trees ----------------------------------------------------------------------------------------------------

names = st.sampled_from(["a", "b_1", "Fire", "before", "my type", "ärger", "_x", "true", "Ünter", "3d"]).map(s.Name)
variables = st.sampled_from(["X", "Vessel", "_ignored", "Ärger"])
texts = st.text(st.characters(codec="utf-8"), max_size=5)
constants = st.one_of(
    st.booleans().map(lambda v: (v, Type.BOOL)),
    st.integers(-(2**63) + 1, 2**63 - 1).map(lambda v: (v, Type.INT)),
    st.floats(allow_nan=False).map(lambda v: (v, Type.FLOAT)),
    texts.map(lambda v: (v, Type.STRING)),
    st.integers(-(2**50), 2**50).map(lambda v: (v, Type.TIMESTAMP)),
)
values = st.one_of(variables.map(s.Variable), constants.map(lambda c: s.Constant(*c)), st.just(s.Anything()))
durations = st.one_of(
    st.integers(1, 10**9).map(lambda n: Duration(Fraction(n), ticks=True)),
    st.integers(1, 10**15).map(lambda n: Duration(Fraction(n))),
    st.integers(1, 10**6).map(lambda n: Duration(Fraction(n, 1000))),
)
literals = constants.map(lambda c: core.Literal(*c))
terms = st.recursive(
    st.one_of(variables.map(lambda v: core.Ref(None, v)), literals),
    lambda t: st.builds(core.Binary, st.sampled_from(["+", "-", "*", "/", "mod"]), t, t),
    max_leaves=4,
)
comparisons = st.one_of(
    st.builds(core.Binary, st.sampled_from(core.COMPARISONS), terms, terms),
    st.builds(core.In, terms, st.lists(literals, min_size=1, max_size=3).map(tuple)),
).map(s.Comparison)
arguments = st.tuples(
    st.lists(values.map(s.Argument), max_size=2), st.lists(st.builds(s.Argument, values, names), max_size=2)
).map(lambda both: (*both[0], *both[1]))
atoms = st.builds(s.Atom, names, arguments, st.booleans())
BOTH = (s.And, s.Or, s.In, s.MaximalRange, s.MinimalRange, s.Union, s.Intersection, s.Complement)


def _above(below: st.SearchStrategy[s.Relation]) -> st.SearchStrategy[s.Relation]:
    pairs = [st.builds(kind, below, below) for kind in BOTH]
    return st.one_of(
        *pairs,
        *(st.builds(kind, below) for kind in (s.Not, s.Start, s.End)),
        st.builds(s.Related, st.sampled_from([*s.RELATIONS, *s.INVERSES]), below, below),
        st.builds(s.Iteration, below, st.sampled_from(["<", "<=", "=", ">=", ">"]), durations),
        st.builds(s.Filter, below, st.sampled_from(s.LENGTHS), durations),
    )


relations = st.recursive(st.one_of(atoms, comparisons), _above, max_leaves=8)
heads = st.lists(
    st.one_of(
        variables.map(lambda v: s.HeadArgument(s.Name(v), s.Variable(v))),
        st.builds(s.HeadArgument, names, st.one_of(variables.map(s.Variable), constants.map(lambda c: s.Constant(*c)))),
    ),
    max_size=3,
).map(tuple)


@settings(max_examples=amount(150, 250), deadline=None, derandomize=True)
@given(st.builds(s.Definition, st.sampled_from(s.SORTS), names, heads, relations, st.none() | relations, st.booleans()))
def test_random_definitions_are_read_as_they_are_written(made: s.Definition) -> None:
    text = render(made)
    file, problems = parse(text)
    assert not problems, [p.render() for p in problems]
    assert file.statements == (made,), text


columns = st.lists(st.builds(s.Attribute, names, st.sampled_from([None, Type.INT, Type.STRING])), max_size=3).map(tuple)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.builds(s.Declaration, st.sampled_from((*s.SORTS, "fact")), names, columns, st.booleans()),
        st.builds(s.Declaration, st.just("state"), names, columns, st.booleans(), st.booleans()),
        st.builds(s.Fact, names, st.lists(constants.map(lambda c: s.Constant(*c)), min_size=1, max_size=3).map(tuple)),
    )
)
def test_random_declarations_are_read_as_they_are_written(made: s.Statement) -> None:
    file, problems = parse(render(made))
    assert not problems, [p.render() for p in problems]
    assert file.statements == (made,)


tokens = st.sampled_from(
    "event e : ( ) a X before ~> \\ ⊓ . ... , 3 0.5 min <@ ' ` { in where := - =".split()  # noqa: SIM905
)


@settings(max_examples=amount(100, 200), deadline=None, derandomize=True)
@given(st.lists(tokens, min_size=1))
def test_any_text_is_read_or_refused(words: list[str]) -> None:
    file, problems = parse(" ".join(words), "a.phen")
    assert problems or file.statements
    for problem in problems:
        assert problem.span is not None


def test_a_text_in_which_nothing_stands() -> None:
    for text in ("", " \n"):
        (problem,) = read([(text, "empty.phen", "phenesthe")]).problems
        assert (problem.kind, problem.file) == ("syntax", "empty.phen")
        assert "empty" in problem.message
    assert not read([("# nothing yet", None, "phenesthe")]).problems


def test_what_files_of_the_original_hold_beside_definitions() -> None:
    text = """:-multifile input_phenomenon/2.
:- ['../phenesthe.prolog'].
input_phenomenon(p(_), state).
state_phenomenon e(V) := p(V) union p(V) union p(V).
state_phenomenon f(V) := p(V) intersection p(V) intersection p(V).
:-run.
"""
    file, problems = parse(text)
    assert not problems
    assert [type(s).__name__ for s in file.statements] == ["Declaration", "Definition", "Definition"]
