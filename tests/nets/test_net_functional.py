"""The functional part of CPN ML in nets: each construct by what CPN Tools' documentation says that it means."""

from __future__ import annotations

from typing import Any

import pytest

from occurs.errors import OccursError
from occurs.nets.colours import Bool, Colour, Enum, Int, List, Product, Record, String, Subset, Union, index, members
from occurs.nets.evaluate import evaluate
from occurs.nets.functional.library import LIBRARY
from occurs.nets.functional.tree import Delayed, Many, token_part
from occurs.nets.ml_parser import Names, parse_declarations, parse_term, parse_tokens, parse_values
from occurs.nets.ml_terms import Printer
from occurs.nets.timing import world

INT, BOOL, STRING = Int("INT"), Bool("BOOL"), String("STRING")
LEVEL = Enum("LEVEL", ("low", "high"))
SEAT = index("SEAT", "seat", 1, 4)
PAIR = Product("PAIR", (SEAT, SEAT))
CUP = Record("CUP", (("size", INT), ("label", STRING)))
DRINK = Union("DRINK", (("tea", CUP), ("water", None)))
INTS = List("INTS", INT)
COLOURS: tuple[Colour, ...] = (INT, BOOL, STRING, LEVEL, SEAT, PAIR, CUP, DRINK, INTS)
VARIABLES: dict[str, Colour] = {"n": INT, "b": BOOL, "l": LEVEL, "s": SEAT, "d": DRINK, "ns": INTS, "c": CUP}
BINDING: dict[str, Any] = {
    "n": 3, "b": True, "l": "low", "s": ("seat", 4), "d": ("tea", (2, "green")), "ns": (5, 1, 5), "c": (2, "mint"),
}  # fmt: skip
DECLARED = """
fun fork (seat i) = 1`seat(i) ++ 1`seat(if i = 4 then 1 else i + 1);
fun fact 0 = 1 | fact k = k * fact (k - 1);
fun member (x, []) = false | member (x, y::ys) = x = y orelse member (x, ys);
fun add x y = x + y;
fun price (low) = 1 | price (high) = 10;
fun size ({size = k, ...} : CUP) = k;
fun label (cup : CUP) = #label cup;
fun some (k : int) = if k > 0 then 1`k else empty;
fun others x = SEAT.all() -- 1`x;
fun twice f x = f (f x);
"""


def names() -> Names:
    found = Names(VARIABLES, COLOURS)
    for one in parse_declarations(DECLARED, found):
        assert one.function is not None
        found = found.with_function(one.function)
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fact 5", 120),
        ("member (n, [1, 2, 3])", True),
        ("member (seat 9, [s])", False),
        ("add 2 n", 5),
        ("List.map (add 2) ns", (7, 3, 7)),
        ("price l + price high", 11),
        ("size {size = 4, label = \"\"}", 4),
        ("label c ^ \"!\"", "mint!"),
        ("twice (fn k => k * k) n", 81),
        ("let val k = n + 1 val m = k * 2 in m - k end", 4),
        ("let val (k, _) = (n, b) in k end", 3),
        ("case d of tea cup => #size cup | water => 0", 2),
        ("case ns of [] => 0 | k :: _ => k", 5),
        ("case n of 1 => low | _ => high", "high"),
        ("(fn (a, b) => a - b) (5, n)", 2),
        ("List.filter (fn k => k > 1) ns", (5, 5)),
        ("List.foldl (fn (k, sum) => k + sum) 0 ns", 11),
        ("foldr (fn (k, text) => Int.toString k ^ text) \"\" ns", "515"),
        ("List.exists (fn k => k = 1) ns andalso not (List.all (fn k => k = 1) ns)", True),
        ("List.tabulate (3, fn k => k * n)", (0, 3, 6)),
        ("rev ns", (5, 1, 5)),
        ("remdupl [1, 2, 1]", (1, 2)),
        ("rm 5 ns", (1, 5)),
        ("rmall 5 ns", (1,)),
        ("mem ns 1", True),
        ("contains [1, 2] [2, 2]", True),
        ("contains_all [1, 2] [2, 2]", False),
        ("intersect [1, 2] [2, 3]", (2,)),
        ("sort (fn (x, y) => x < y) [3, 1, 2]", (1, 2, 3)),
        ("List.nth ([7, 8], 1)", 8),
        ("SEAT.mkstr s", "seat(4)"),
        ("Int.toString (~3)", "~3"),
        ("String.size \"abc\" + size c", 5),
        ("explode \"ab\"", ("a", "b")),
        ("floor 2.5 + ceil 2.5", 5),
        ("hd (tl ns)", 1),
    ],
)
def test_values(text: str, value: Any) -> None:
    known = names()
    term = parse_term(text, known)
    assert evaluate(term, BINDING, None, VARIABLES) == value
    again = Printer(VARIABLES, COLOURS).term(term)
    assert evaluate(parse_term(again, known), BINDING, None, VARIABLES) == value


@pytest.mark.parametrize(
    ("text", "colour", "tokens", "delay"),
    [
        ("if b then 1`n else empty", INT, [3], None),
        ("if not b then 2`n else empty", INT, [], None),
        ("case l of low => 2`n | high => 1`n", INT, [3, 3], None),
        ("n`s", SEAT, [("seat", 4)] * 3, None),
        ("fork s", SEAT, [("seat", 4), ("seat", 1)], None),
        ("others s", SEAT, [("seat", 1), ("seat", 2), ("seat", 3)], None),
        ("PAIR.mult (1`s, SEAT.all() -- 1`s)", PAIR, [(("seat", 4), ("seat", k)) for k in (1, 2, 3)], None),
        ("some n ++ 1`7", INT, [3, 7], None),
        ("List.map (add n) ns", INT, [8, 4, 8], None),
        ("ns", INTS, [(5, 1, 5)], None),
        ("n @+ 5", INT, [3], 5),
        ("n @+ n * 2", INT, [3], 6),
        ("if b then 1`n else empty @+ 7", INT, [3], 7),
        ("(2`n) @+ (if b then 1 else 2)", INT, [3, 3], 1),
        ("if b then 1`n @+ 4 else 1`1 @+ 9", INT, [3], 4),
    ],
)
def test_inscriptions(text: str, colour: Colour, tokens: list[Any], delay: int | None) -> None:
    known = names()

    def found(inscription: str) -> tuple[list[Any], set[int]]:
        out: list[Any] = []
        delays: set[int] = set()
        for term in parse_tokens(inscription, known, colour):
            one, many, late = token_part(term)
            value: Any = evaluate(one, BINDING, None, VARIABLES)
            out += value if many else [value]
            delays |= set() if late is None else {evaluate(late, BINDING, None, VARIABLES)}  # type: ignore[arg-type]
        return out, delays

    assert found(text) == (tokens, set() if delay is None else {delay})
    written = Printer(VARIABLES, COLOURS).tokens(parse_tokens(text, known, colour), colour)
    assert found(written) == found(text)


def test_delays_of_single_tokens() -> None:
    terms = parse_tokens("(1`n @+ 1) ++ 1`1 ++ (1`2 @+ n)", names(), INT)
    assert [isinstance(t, Delayed) for t in terms] == [True, False, True]
    written = Printer(VARIABLES, COLOURS).tokens(terms, INT)
    assert parse_tokens(written, names(), INT) == terms


def test_declared_functions_are_written_as_they_mean() -> None:
    known = names()
    printer = Printer({}, COLOURS)
    text = "\n".join(map(printer.function, known.declared.values()))
    again = Names(VARIABLES, COLOURS)
    for one in parse_declarations(text, again):
        assert one.function is not None
        again = again.with_function(one.function)
    assert "\n".join(map(printer.function, again.declared.values())) == text
    for call in ("fact 6", "member (2, [1, 2])", "twice (add 1) n", "label c", "size c"):
        assert evaluate(parse_term(call, again), BINDING) == evaluate(parse_term(call, known), BINDING)
    many = [(f.name, f.multiset, f.many) for f in again.declared.values()]
    assert many == [(f.name, f.multiset, f.many) for f in known.declared.values()]


def test_a_value_where_no_clause_matches_is_null() -> None:
    known = names()
    for text in ("case n of 1 => 2", "hd []", "fact (hd [])", "List.nth ([1], 1)", "1`1 -- 1`2"):
        (term,) = parse_tokens(text, known, INT)
        assert evaluate(term.arg if isinstance(term, Many) else term, BINDING) is None


def test_initial_markings_are_computed() -> None:
    known = names()
    assert parse_values("fork (seat 4) ++ others (seat 1)", known, SEAT)[:3] == (("seat", 4), ("seat", 1), ("seat", 2))
    assert parse_values("SEAT", known, SEAT) == tuple(members(SEAT) or ())
    with pytest.raises(OccursError, match="random function"):
        parse_values("1`(discrete (1, 2))", known, INT)
    with pytest.raises(OccursError, match="not between 1 and 4"):
        parse_values("fork (seat 9)", known, SEAT)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fun f 0 = 1 | g n = 2", "all clauses of `f`"),
        ("fun f x = y", "unknown name `y`"),
        ("fun f (x : NONE) = x", "unknown colour `NONE`"),
        ("val (a, b) = (1, 2)", "`val` of a pattern"),
        ("fun f (x + 1) = x", "this pattern"),
        ("fun f ({no = k} : CUP) = k", "no colour is known that has the fields no"),
        ("fun f x = let fun g y = y in g x end", "a function inside of `let`"),
        ("1 + 1", "expected a declaration"),
    ],
)
def test_declarations_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(OccursError) as caught:
        parse_declarations(text, names())
    assert words in caught.value.message


def test_a_function_that_never_ends() -> None:
    (loop,) = parse_declarations("fun loop k = 1 + loop (k + 1);", Names())
    assert loop.function is not None
    term = parse_term("loop 1", Names().with_function(loop.function))
    with pytest.raises(OccursError, match="`loop` calls itself too often"):
        evaluate(term, {})


# -- colours


def test_bounded_colours() -> None:
    digit = Int("DIGIT", 0, 9)
    assert (digit.check(9), digit.check(10)) == (None, "10 is not between 0 and 9 (DIGIT)")
    assert members(digit) == list(range(10))
    assert SEAT.check(("seat", 5)) == "seat: 5 is not between 1 and 4 (SEAT_number)"
    short = List("SHORT", INT, 1, 2)
    assert short.check((1, 2)) is None
    assert short.check(()) == "a list of 0 is not of the lengths of SHORT, 1 to 2"
    odd = Subset("ODD", digit, by="odd", holds=lambda v: isinstance(v, int) and v % 2 == 1)
    assert members(odd) == [1, 3, 5, 7, 9]
    assert odd.check(2) == "2 is not a value of ODD (subset)"
    assert members(Union("U", (("a", BOOL), ("b", None)))) == [("a", False), ("a", True), ("b", ())]
    assert members(INTS) is None
    assert members(Int("BIG", 0, 10**9)) is None


# -- chance


def test_random_functions_draw_in_their_range() -> None:
    import random

    with world(0, random.Random(7)):
        assert all(2 <= LIBRARY["discrete"]((2, 4)) <= 4 for _ in range(50))
        assert all(0 <= LIBRARY["uniform"]((0.0, 1.0)) < 1 for _ in range(50))
        assert {LIBRARY["bernoulli"](0.5) for _ in range(50)} == {0, 1}
        mean = sum(LIBRARY["exponential"](0.5) for _ in range(4000)) / 4000
        assert 1.8 < mean < 2.2
        assert 2.8 < sum(LIBRARY["poisson"](3.0) for _ in range(2000)) / 2000 < 3.2
