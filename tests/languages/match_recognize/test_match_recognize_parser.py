"""Row patterns from text to tree to text, and the words of problems: what is wrong, where, and what was meant."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.generators.random_match_recognize import random_rows
from tests.textcases.match_recognize import load_cases

import occurs
from occurs import services
from occurs.errors import OccursError, Problem
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks import analyse
from occurs.languages.match_recognize.define import outline
from occurs.languages.match_recognize.parser import parse
from occurs.languages.match_recognize.render import pattern_text, render
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

CASES = [c for c in load_cases(Path(__file__).parents[2] / "cases" / "match_recognize") if c.error is None]
QUOTE = {"Quote": Schema((("sym", Type.STRING), ("price", Type.INT), ("Price", Type.FLOAT), ("volume", Type.INT)))}


def again(text: str) -> None:
    tree, problems = parse(text)
    assert not problems
    for whole in (render(tree), "; ".join(render(s) for s in tree.statements)):
        other, more = parse(whole)
        assert not more
        assert other.statements == tree.statements
    assert render(parse(render(tree))[0]) == render(tree)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_text_to_tree_to_text(case) -> None:
    again(case.rules)


@pytest.mark.parametrize("seed", range(60))
def test_random_text_to_tree_to_text(seed: int) -> None:
    again(random_rows(random.Random(seed)).rules)


def the_pattern(text: str) -> syntax.Pattern:
    tree, problems = parse(f"SELECT * FROM Q MATCH_RECOGNIZE (PATTERN ({text}) DEFINE A AS TRUE)")
    assert not problems, problems
    return tree.statements[0].clause.pattern


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a b c", "A B C"),
        ("(a b) c", "A B C"),
        ("a (b | (c | d))", "A (B | C | D)"),
        ("((a))", "A"),
        ("a{0,}", "A*"),
        ("a{1,}?", "A+?"),
        ("a{0,1}", "A?"),
        ("a{,3}", "A{0,3}"),
        ("a{ , }", "A*"),
        ("a{2,2}", "A{2}"),
        ("(a b)*", "(A B)*"),
        ("(a*)+", "(A*)+"),
        ("permute ( a , b c )", "PERMUTE(A, B C)"),
        ("permute(a)", "A"),
        ('"a" "A" `b c`', '"a" A "b c"'),
        ('"""" "order"', '"""" "order"'),
        ("^ a $ ()", "^ A $ ()"),
        ("{- a -}+ {-(b)-}", "{- A -}+ {- B -}"),
        ("first last prev", "FIRST LAST PREV"),
    ],
)
def test_patterns_have_one_text(text: str, canonical: str) -> None:
    assert pattern_text(the_pattern(text)) == canonical
    assert the_pattern(canonical) == the_pattern(text)


def first(text: str, kind: TimeKind | None = None) -> Problem:
    tree, problems = parse(text)
    problems = problems or analyse([tree], QUOTE, {}, kind or TimeKind(False, "s")).problems
    return problems[0]


BASE = "SELECT * FROM Quote MATCH_RECOGNIZE ({})"
TRUE = "PATTERN (A) DEFINE A AS TRUE"


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        (f"SELECT * FROM Qoute MATCH_RECOGNIZE ({TRUE})", "there is no table `Qoute`", "did you mean `Quote`?"),
        (BASE.format(f"MEASURES prize AS p {TRUE}"), "no column `prize`", "did you mean `price` or `Price`?"),
        (BASE.format(f"MEASURES PRICE AS p {TRUE}"), "no column `PRICE`", 'columns: `"price"`, `"Price"`'),
        (BASE.format("PATTERN (DOWN) DEFINE DONW AS TRUE"), "`DONW` is not a variable", "did you mean `DOWN`?"),
        (BASE.format(f"MEASURES Quote.price AS p {TRUE}"), "is the table", "write the column alone"),
        (BASE.format(f"MEASURES flor(price) AS p {TRUE}"), "no function `flor`", "did you mean `floor`"),
        (BASE.format(f"MEASURES CAST(sym AS integr) AS p {TRUE}"), "`integr` is not a type", "did you mean `int`?"),
        (BASE.format("PATTERN (A) WITHIN INTERVAL '5' MINUT DEFINE A AS TRUE"), "not a unit", "`minute`"),
        (BASE.format("PATERN (A) DEFINE A AS TRUE"), "unexpected `PATERN`", "`pattern`"),
        (BASE.format("DEFINE A AS TRUE"), "`PATTERN` is missing", "write `PATTERN (A B+)`"),
        (BASE.format("PATTERN (A)"), "`DEFINE` is missing", "`DEFINE A AS TRUE`"),
        (BASE.format(f"ORDER BY time PARTITION BY sym {TRUE}"), "unexpected `PARTITION`", "in this order"),
        (BASE.format("PATTERN (A++) DEFINE A AS TRUE"), "unexpected `+`", "no possessive quantifiers"),
        (BASE.format("PATTERN (A)) DEFINE A AS TRUE"), "unexpected `DEFINE`", "closes MATCH_RECOGNIZE"),
        (BASE.format("PATTERN (A | ) DEFINE A AS TRUE"), "unexpected `)`: expected a variable", None),
        (BASE.format("PATTERN (A) DEFINE A AS price == 1"), "unexpected `=`", "one `=`"),
        (BASE.format("PATTERN (A) DEFINE A AS sym = \"x\""), "no column `x`", None),
        (BASE.format("PATTERN (A) DEFINE A AS sym = 'x"), "not closed", "close it with '"),
        (BASE.format(f"MEASURES price AS order {TRUE}"), "unexpected `order`", 'write it in quotes: `"order"`'),
        (BASE.format(f"MEASURES price {TRUE}"), "this measure has no name", "name it"),
        (BASE.format("PATTERN (A) DEFINE A AS LAST(price, -1) > 0"), "the offset of LAST", None),
        (BASE.format("PATTERN (A) DEFINE A AS SUM(PREV(price)) > 3"), "PREV inside the aggregate", "FIRST and LAST"),
        (BASE.format(f"MEASURES FINAL PREV(price) AS p {TRUE}"), "`FINAL` has no meaning", "PREV(FINAL LAST(..))"),
        (BASE.format(f"MEASURES :x AS p {TRUE}"), "no value for the parameter `:x`", "occurs.sql"),
    ],
)  # fmt: skip
def test_problems_say_what_was_meant(text: str, words: str, hint: str | None) -> None:
    found = first(text)
    assert words in found.message
    assert found.span is not None
    assert hint is None or hint in (found.hint or "")


def test_problems_have_their_place() -> None:
    text = "SELECT *\nFROM Quote MATCH_RECOGNIZE (\n  PATTERN (A{3,1})\n  DEFINE A AS TRUE);"
    with pytest.raises(OccursError) as caught:
        occurs.parse(text, language="match_recognize")
    assert (caught.value.kind, caught.value.line, caught.value.column, caught.value.end_column) == (
        "bad-bound",
        3,
        13,
        18,
    )


def test_every_wrong_statement_is_reported() -> None:
    one, two = BASE.format("PATTERN (A{0}) DEFINE A AS TRUE"), BASE.format("PATTERN (A")
    _, problems = parse(f"{one};\nCREATE VIEW B AS {BASE.format(TRUE)}\n{two};\n{one};")
    assert [p.line for p in problems] == [1, 2, 3, 4]
    assert "without `;`" in problems[1].message


def test_a_text_of_another_language_is_recognised() -> None:
    with pytest.raises(OccursError, match="this looks like MATCH_RECOGNIZE, but it was read as EPL"):
        occurs.parse(f"CREATE VIEW A AS {BASE.format(TRUE)}", language="epl")
    with pytest.raises(OccursError, match="this looks like EPL, but it was read as MATCH_RECOGNIZE"):
        occurs.parse("select a.v as v from pattern [every a=A -> b=B]", language="match_recognize")


def test_editors_see_the_views() -> None:
    text = f"CREATE VIEW Dip AS {BASE.format(TRUE)};\n{BASE.format(TRUE)};"
    assert [(e.name, e.kind, e.output) for e in outline(parse(text)[0])] == [
        ("Dip", "row pattern", "Dip"), ("matches", "row pattern", "matches"),
    ]  # fmt: skip


def test_a_text_is_laid_out() -> None:
    text = "create view Dip as select * from Quote match_recognize (pattern (a b+) -- rows\n define b as price > 1)"
    found = services.format_text("a.sql", text)
    assert found.text.startswith("CREATE VIEW Dip AS\nSELECT * FROM Quote MATCH_RECOGNIZE (\n  PATTERN (A B+)")
    assert found.text.rstrip().endswith("DEFINE B AS price > 1);")


def test_nested_too_deeply_is_a_problem() -> None:
    for text in ("(" * 2000 + "A" + ")" * 2000, "(" * 2000 + "A" + ")+" * 2000):
        with pytest.raises(OccursError) as caught:
            occurs.parse(BASE.format(f"PATTERN ({text}) DEFINE A AS TRUE"), language="match_recognize")
        assert "nested more than" in str(caught.value)
