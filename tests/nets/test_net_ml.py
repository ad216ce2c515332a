"""CPN ML: terms and values as text and back, and what is said of texts that cannot be read (epl-and-nets.md, 4B)."""

from __future__ import annotations

import random

import pytest

from occurs.errors import DefinitionProblem, OccursError, SyntaxProblem
from occurs.expr.tree import Binary, Call, In, IsNull, Literal, Unary
from occurs.model.types import Type
from occurs.nets.colours import Alias, Bool, Colour, Enum, Int, List, Product, Real, Record, String, Union, Unit, Value
from occurs.nets.evaluate import evaluate
from occurs.nets.ml import equality, marking_text, value_text
from occurs.nets.ml_parser import Names, parse_guard, parse_term, parse_tokens, parse_values, term_of
from occurs.nets.ml_terms import Printer
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm, var

INT, REAL, TEXT, BOOL, UNIT = Int("INT"), Real("REAL"), String("STRING"), Bool("BOOL"), Unit("UNIT")
E = Enum("E", ("e", "f"))
CA = Record("CA", (("tm", INT), ("ma", INT)))
CB = Record("CB", (("x", REAL), ("name", TEXT)))
C = Union("C", (("pA", CA), ("pB", CB), ("none", None)))
CF = Product("CF", (INT, INT, INT, C))
FLAGS = List("Flags", BOOL)
CFS = List("List_CFs", CF)
NUMBER = Alias("Number", INT)
COLOURS = (INT, REAL, TEXT, BOOL, UNIT, E, CA, CB, C, CF, FLAGS, CFS, NUMBER)
VARIABLES: dict[str, Colour] = {
    **dict.fromkeys(("n", "m"), INT),
    **dict.fromkeys(("x", "y"), REAL),
    **dict.fromkeys(("s", "t"), TEXT),
    **dict.fromkeys(("b", "c"), BOOL),
    "k": NUMBER,
    "a": CA,
    "d": C,
    "l1": CFS,
    "l2": CFS,
    "en": E,
}
NAMES = Names(VARIABLES, COLOURS, functions=frozenset(("every",)), equalities=frozenset(("eq_List_CFs", "eq_CF")))


def integer(n: int) -> Literal:
    return Literal(n, Type.INT)


def printed(term: Term, wide: bool = False) -> str:
    return Printer(VARIABLES, COLOURS, wide).term(term)


@pytest.mark.parametrize(
    "text",
    [
        "n - (m - 1)",
        "n - m - 1",
        "(n + m) * 2",
        "n div 2 mod 3",
        "Int.rem(n, 5) = 0 andalso not(b)",
        "b andalso c orelse n < 3",
        "b andalso (c orelse n < 3)",
        "pA({tm=n, ma=3})",
        '(n, 1, ~2, pB({x=1.5, name="a\\"b\\\\"}))',
        "[(1, 2, 3, none)]",
        "eq_List_CFs(l1, List.take(l2, length(l1)))",
        "not(eq_CF((1, 2, 3, none), List.nth(l1, 0)))",
        "real(n) / 2.0",
        "x + real(n)",
        "x * (y - 1E~07)",
        "x <= real(n) andalso x >= real(n)",
        "b andalso (x < y + 1.0 orelse x > y + 1.0) andalso c",
        "Real.rem(x, 2.0)",
        "if b then n else if c then m else 0",
        's ^ "-" ^ t',
        "s <> t",
        "n :: m :: []",
        "[n] ^^ [m, 1]",
        "#ma(a)",
        "#1(n, m)",
        "~(n + 1)",
        "abs(~3)",
        "Int.max(Int.max(n, m), 3)",
        "Real.min(x, 2.0)",
        "length(l1) + length(List.drop(l2, 1))",
        "en = f",
        "()",
        "[n > 1, n <> m]",
    ],
)
def test_text_to_term_and_back(text: str) -> None:
    term = parse_term(text, NAMES)
    assert printed(term) == text
    assert parse_term(printed(term, wide=True), NAMES) == term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("pA {ma = 3, tm = n}", Inject("pA", RecordTerm(("tm", "ma"), (var("n"), integer(3))))),
        ("length l1 + 1", Binary("+", Call("length", (var("l1"),)), integer(1))),
        ("#ma a", FieldTerm("ma", var("a"))),
        ("not b", Unary("not", var("b"))),
        ("hd [n]", Call("list.nth", (ListTerm((var("n"),)), integer(0)))),
        ("(* all of (* them *) *) (n)", var("n")),
        ("f", EnumTerm("f")),
        ("Real.==(x, real n)", Binary("=", var("x"), var("n"))),
        ("Real.!=(x, y)", Binary("!=", var("x"), var("y"))),
        ("x <= y andalso x >= y andalso b", Binary("and", Binary("=", var("x"), var("y")), var("b"))),
        ("n <= m andalso n >= m", Binary("and", Binary("<=", var("n"), var("m")), Binary(">=", var("n"), var("m")))),
        ("nil", ListTerm(())),
        ("n = ~1", Binary("=", var("n"), integer(-1))),
        ("iffy", None),
    ],
)
def test_other_spellings(text: str, term: Term | None) -> None:
    if term is None:
        with pytest.raises(DefinitionProblem, match="unknown name `iffy`"):
            parse_term(text, NAMES)
    else:
        assert parse_term(text, NAMES) == term


def test_integers_beyond_31_bits() -> None:
    term = Binary("=", Call("list.take", (var("l1"), Call("length", (var("l2"),)))), var("l1"))
    text = printed(Binary("and", term, Binary("=", Binary("%", var("n"), integer(2**40)), integer(0))), wide=True)
    assert text == "eq_List_CFs(List.take(l1, length(l2)), l1) andalso IntInf.rem(n, 1099511627776) = 0"
    assert printed(Binary("/", var("n"), integer(2)), wide=True) == "Real.fromLargeInt(n) / 2.0"
    assert printed(Call("list.take", (var("l1"), var("n"))), wide=True) == "List.take(l1, IntInf.toInt(n))"
    assert printed(Binary("+", Call("length", (var("l1"),)), var("n")), wide=True) == "IntInf.fromInt(length(l1)) + n"


def test_membership_is_written_as_comparisons() -> None:
    assert printed(In(var("s"), (Literal("a", Type.STRING), var("t")))) == 's = "a" orelse s = t'
    assert printed(In(var("n"), (integer(1),), negated=True)) == "not(n = 1)"


def test_reals_are_compared_by_functions_of_their_colours() -> None:
    printer = Printer(VARIABLES, COLOURS)
    printer.term(Binary("!=", var("l1"), var("l2")))
    assert [equality(c) for c in printer.compared.values()] == [
        "fun eq_CB (x:CB, y:CB) = Real.==(#x x, #x y) andalso #name x = #name y;",
        "fun eq_C (pA x, pA y) = x = y | eq_C (pB x, pB y) = eq_CB(x, y) | eq_C (none, none) = true | eq_C _ = false;",
        "fun eq_CF (x:CF, y:CF) = #1 x = #1 y andalso #2 x = #2 y andalso #3 x = #3 y andalso eq_C(#4 x, #4 y);",
        "fun eq_List_CFs ([]:List_CFs, []:List_CFs) = true | eq_List_CFs (x::xs, y::ys) = eq_CF(x, y) andalso "
        "eq_List_CFs(xs, ys) | eq_List_CFs _ = false;",
    ]


@pytest.mark.parametrize("term", [IsNull(var("n")), Call("upper", (var("s"),)), Literal(None, Type.NULL)])
def test_what_has_no_form_in_ml(term: Term) -> None:
    with pytest.raises(DefinitionProblem, match=r"CPN ML (cannot|does not)"):
        printed(term)


@pytest.mark.parametrize(
    ("text", "kind", "place", "words"),
    [
        ("n +", "syntax", (1, 4), "the text ends too early: expected a value"),
        ("(n, m", "syntax", (1, 6), "the text ends too early: expected `)` or `,`"),
        ("n m", "syntax", (1, 1), "`n` is a value, not a function:"),
        ('"abc', "syntax", (1, 1), 'unexpected `"`'),
        ("n\n + nn", "unknown-name", (2, 4), "unknown name `nn`"),
        ("{a=1}", "unknown-record", (1, 1), "no colour is a record with exactly the fields a"),
        ("{ma=1, ma=2}", "duplicate-field", (1, 1), "has two fields"),
        ("pA", "unknown-name", (1, 1), "`pA` needs a value:"),
        ("none(1)", "unknown-name", (1, 1), "`none` does not hold"),
        ("every n", "unsupported", (1, 1), "the ML function `every`"),
        ("while true do n", "unsupported", (1, 1), "the ML keyword `while`"),
        ("(n; n)", "unsupported", (1, 3), "the ML syntax `;`"),
        ("if b then 1`n else n", "syntax", (1, 1), "a choice between a multiset and a value"),
        ("case n of [1, _] | 2 => 3", "unsupported", (1, 18), "the ML syntax `|`"),
        ("!nn", "unsupported", (1, 1), "the reference `!nn`"),
        ("(1`n, 2)", "unsupported", (1, 2), "a multiset is not allowed here:"),
        ("999999999`n", "too-many-tokens", (1, 1), "at most 1000000"),
        ("INT.all()", "unsupported", (1, 1), "`INT` has infinitely many values"),
        ("Intt.all()", "unknown-colour", (1, 1), "unknown colour `Intt`"),
    ],
)
def test_what_cannot_be_read(text: str, kind: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(OccursError) as caught:
        parse_tokens(text, NAMES, INT)
    assert (caught.value.kind, (caught.value.line, caught.value.column)) == (kind, place)
    assert words in caught.value.message
    assert isinstance(caught.value, SyntaxProblem) is (kind == "syntax")


def test_multisets_of_terms() -> None:
    n, m = var("n"), var("m")
    assert parse_tokens("1`n++2`m++n", NAMES, INT) == (n, m, m, n)
    assert parse_tokens("empty", NAMES, INT) == ()
    printer = Printer(VARIABLES, COLOURS)
    assert printer.tokens((n, m, m, n), INT) == "1`n++2`m++1`n"
    assert printer.tokens((Binary("+", n, m),), INT) == "n + m"
    assert printer.tokens((var("l1"),), CFS) == "1`l1"
    assert printer.tokens((Inject("pA", var("a")),) * 2, C) == "2`(pA(a))"
    assert printer.tokens((integer(2),), REAL) == "2.0"
    assert printer.tokens((), INT) == "empty"


def test_guards() -> None:
    one, two = Binary(">", var("n"), integer(1)), Binary("!=", var("n"), var("m"))
    for text in ("[n > 1, n <> m]", "[n>1,(* both *) n<>m]"):
        assert parse_guard(text, NAMES) == (one, two)
    assert parse_guard("n > 1", NAMES) == (one,)
    assert parse_guard(" (* none *) ", NAMES) == ()
    assert Printer(VARIABLES, COLOURS).guard((one, two)) == "[n > 1, n <> m]"


@pytest.mark.parametrize(
    ("text", "colour", "values"),
    [
        ("", INT, ()),
        ("20`()", UNIT, ((),) * 20),
        ("1`2 ++\n2`~3", INT, (2, -3, -3)),
        ("1`[]++2`[true,false]", FLAGS, ((), (True, False), (True, False))),
        ("E.all()", E, ("e", "f")),
        ("pA{ma=2,tm=1}", C, (("pA", (1, 2)),)),
        ("1`none", C, (("none", ()),)),
        ('"h\\195\\169\\n"', TEXT, ("hé\n",)),
    ],
)
def test_markings(text: str, colour: Colour, values: tuple[Value, ...]) -> None:
    assert parse_values(text, NAMES, colour) == values
    assert parse_values(marking_text(values, colour), NAMES, colour) == values


@pytest.mark.parametrize(
    ("text", "colour", "words"),
    [
        ("1`(1, 2, 3)", CF, "is not a value of CF"),
        ("1`2.0", INT, "2.0 is not a value of INT"),
        ("n", INT, "a variable (`n`) is not allowed here:"),
        ("pA({tm=1, ma=true})", C, "pA: ma: True is not a value of INT"),
    ],
)
def test_wrong_markings(text: str, colour: Colour, words: str) -> None:
    with pytest.raises(DefinitionProblem) as caught:
        parse_values(text, NAMES, colour)
    assert caught.value.kind == "bad-value"
    assert words in caught.value.message


def random_value(colour: Colour, rng: random.Random) -> Value:
    match colour:
        case Bool():
            return rng.random() < 0.5
        case Int():
            return rng.choice((0, -1, 7, 2**30, -(2**70), rng.randint(-99, 99)))
        case Real():
            return rng.choice((0.0, -2.5, 1e300, 5e-324, float("inf"), float("-inf"), rng.uniform(-5, 5)))
        case String():
            return "".join(rng.choice('ab "\\\n\t\x00\x7féΩ𝄞(*`') for _ in range(rng.randint(0, 6)))
        case Enum():
            return rng.choice(colour.values)
        case Product():
            return tuple(random_value(c, rng) for c in colour.parts)
        case Record():
            return tuple(random_value(c, rng) for _, c in colour.fields)
        case Union():
            name, held = rng.choice(colour.cases)
            return (name, () if held is None else random_value(held, rng))
        case List():
            return tuple(random_value(colour.of, rng) for _ in range(rng.randint(0, 3)))
        case Alias():
            return random_value(colour.of, rng)
    return ()


@pytest.mark.parametrize("seed", range(30))
def test_any_value_reads_back(seed: int) -> None:
    rng = random.Random(seed)
    for colour in COLOURS:
        values = tuple(random_value(colour, rng) for _ in range(rng.randint(1, 4)))
        assert parse_values(marking_text(values, colour), NAMES, colour) == values
        value = values[0]
        text = value_text(value, colour)
        assert text.isascii()
        assert text.isprintable()
        assert evaluate(parse_term(text, NAMES, colour), {}, colour) == value
        assert printed(term_of(value, colour)) == text


def random_term(want: str, depth: int, rng: random.Random) -> Term:
    """A term that is a number (``int``, ``real``), a ``text`` or a ``bool``."""
    inner = depth - 1
    if depth == 0:
        return {
            "int": lambda: rng.choice((var("n"), var("k"), integer(rng.randint(-9, 9)))),
            "real": lambda: rng.choice((var("x"), Literal(rng.uniform(-9, 9), Type.FLOAT))),
            "text": lambda: rng.choice((var("s"), Literal(rng.choice("a*\\"), Type.STRING))),
            "bool": lambda: rng.choice((var("b"), Literal(rng.random() < 0.5, Type.BOOL))),
        }[want]()

    def some(kind: str) -> Term:
        return random_term(kind, rng.randint(0, inner), rng)

    def number() -> Term:
        return some(rng.choice(("int", "real")))

    if want == "int":
        op = rng.choice(("+", "-", "*", "neg", "if", "div", "mod", "%", "length", "min"))
        if op == "neg":
            return Unary("neg", some("int"))
        if op == "length":
            return Call("length", (ListTerm((some("int"),) * rng.randint(1, 3)),))
        if op == "if":
            return Call("if", (some("bool"), some("int"), some("int")))
        return Call("min", (some("int"), some("int"))) if op == "min" else Binary(op, some("int"), some("int"))
    if want == "real":
        op = rng.choice(("/", "+", "*", "-", "real", "max"))
        if op == "real":
            return Call("real", (some("int"),))
        if op == "/":
            return Binary("/", number(), number())
        pair = rng.sample((some("real"), number()), 2)
        return Call("max", tuple(pair)) if op == "max" else Binary(op, pair[0], pair[1])
    if want == "text":
        return Call("concat", (some("text"), some("text")))
    op = rng.choice(("and", "or", "not", "=", "!=", "<", "<=", "text"))
    if op in ("and", "or"):
        return Binary(op, some("bool"), some("bool"))
    if op == "not":
        return Unary("not", some("bool"))
    if op == "text":
        return Binary(rng.choice(("<", "=", ">=")), some("text"), some("text"))
    return Binary(op, number(), number())


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_any_term_reads_back_with_its_meaning(seed: int, wide: bool) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        term = random_term(rng.choice(("int", "real", "text", "bool")), 4, rng)
        text = printed(term, wide)
        again = parse_term(text, NAMES)
        assert printed(again, wide) == text
        binding = {"n": rng.randint(-5, 5), "k": rng.randint(0, 3), "x": rng.uniform(-2, 2), "s": "ab", "b": True}
        assert evaluate(again, binding) == evaluate(term, binding), text


def test_long_markings_are_read_in_a_moment() -> None:
    values = tuple((k, 1, k * 10, ("pA", (k, k % 60))) for k in range(3000))
    assert parse_values(marking_text(values, CF), NAMES, CF) == values


def test_deep_brackets_are_no_crash() -> None:
    with pytest.raises(SyntaxProblem, match="brackets are nested too deeply"):
        parse_term("(" * 5_000 + "n" + ")" * 5_000, NAMES)
    assert parse_term("(" * 30 + "n" + ")" * 30, NAMES) == var("n")
    assert parse_term("(n, [m])", NAMES) == TupleTerm((var("n"), ListTerm((var("m"),))))
