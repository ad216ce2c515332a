"""Texts in eSQL: what is read, and what is said of what cannot be."""

import pytest

from occurs.errors import SyntaxProblem
from occurs.languages.esql import syntax
from occurs.languages.esql.checks import definitions
from occurs.languages.esql.parser import parse


def only(text: str) -> syntax.Node:
    """The pipe of a text with one query."""
    file, problems = parse(text)
    assert not problems, problems[0].render()
    (statement,) = file.statements
    assert isinstance(statement, syntax.Definition)
    return statement.pipe


def problem(text: str) -> str:
    """The one problem of a text: place, kind and message."""
    _, problems = parse(text)
    assert len(problems) == 1, [p.render() for p in problems]
    p = problems[0]
    return f"{p.line}:{p.column} {p.kind}: {p.message}" + (f" ({p.hint})" if p.hint else "")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("TRIM 1 OF a + b.", "(TRIM 1 OF a) + b."),
        ("G a > 1.", "G (a > 1)."),
        ("G a -> b.", "(G a) -> b."),
        ("NOT a = b AND c.", "(NOT (a = b)) AND c."),
        ("a -> b -> c.", "a IMPLIES (b IMPLIES c)."),
        ("a U b U c AND d.", "(a U (b U c)) AND d."),
        ("- a ^ -b ^ c.", "-(a ^ (-(b ^ c)))."),
        ("a TO THE 2 ND.", "a ^ 2."),
        ("√a × |b - c| ÷ 2.", "sqrt(a) * abs(b - c) / 2."),
        ("□ ¬(a ∧ b) ⇒ ◇ ○ c.", "G NOT (a AND b) -> F X c."),
        ("∀ $x ∈ $0 ON p · F q.", "FOR ALL $x IN $0 ON p : F q."),
        ("a LESS THAN b WHERE $0 ≠ ⊤.", "(a < b) WHERE $0 <> TRUE."),
        ("TURN a INTO A NUMBER.", "number(a)."),
        ("APPLY (THE SUM OF *) ON a ON A WINDOW OF 3 ticks.", "GET (THE SUM OF *) FROM a ON A WINDOW OF 3 tick."),
        ("EVERY 11 TH OF a.", "EVERY 11 OF a."),
        ("`F`.`X Y` + a.b.c[1].d.", "(`F`.`X Y`) + (((a.b).c)[1]).d."),
        ("a - -b -- a comment\n # another one\n + c.", "(a - (-b)) + c."),
        ("MERGE a, b, THE LAST OF c.", "MERGE (a), (b), (THE LAST OF c)."),
        ("SELECT a FROM p WHERE x WHERE y.", "(SELECT a FROM p WHERE x) WHERE y."),
        ("a * *.b.", "a × (*.b)."),
        ("a.b. LET z BE q.", "(a.b). LET z BE q."),
    ],
)
def test_two_spellings_of_one_tree(text: str, same: str) -> None:
    first, second = parse(text), parse(same)
    assert not first[1], first[1][0].render()
    assert not second[1], second[1][0].render()
    assert first[0] == second[0]


def test_a_number_ends_before_its_stop() -> None:
    file, problems = parse("a + 5.DEFINE b AS c + 1.5.")
    assert not problems
    assert len(file.statements) == 2


def test_words_are_reserved_in_upper_case_only() -> None:
    assert only("every + f * x.") == only("`every` + `f` * `x`.")
    assert isinstance(only("A + `A`."), syntax.Binary)


def test_the_longest_phrase_wins_then_the_latest() -> None:
    text = """
    WHEN @P IS A PROCESSOR: THE TWICE OF @P IS THE PROCESSOR @P + @P.
    WHEN @P IS A PROCESSOR, @Q IS A PROCESSOR: THE TWICE OF @P AND @Q IS THE PROCESSOR @P + @Q.
    WHEN @R IS A PROCESSOR: THE TWICE OF (@R) IS THE PROCESSOR @R * 2.
    DEFINE short AS THE TWICE OF x.
    DEFINE long AS THE TWICE OF x AND y.
    """
    file, problems = parse(text)
    assert not problems
    _, two, latest, short, long = file.statements
    assert isinstance(short, syntax.Definition)
    assert isinstance(long, syntax.Definition)
    assert short.pipe == syntax.Use(latest, (syntax.Named("x"),))
    assert long.pipe == syntax.Use(two, (syntax.Named("x"), syntax.Named("y")))


def test_a_phrase_replaces_a_built_in_one_but_no_form() -> None:
    text = """
    WHEN @P IS A PROCESSOR: THE SUM OF @P IS THE PROCESSOR @P.
    WHEN @P IS A PROCESSOR: THE LAST OF @P IS THE PROCESSOR @P.
    DEFINE a AS THE SUM OF x. DEFINE b AS THE LAST OF x.
    """
    file, _ = parse(text)
    mine, _, a, b = file.statements
    assert isinstance(a, syntax.Definition)
    assert isinstance(b, syntax.Definition)
    assert isinstance(a.pipe, syntax.Use)
    assert a.pipe.phrase is mine
    assert isinstance(b.pipe, syntax.Form)


def test_a_phrase_is_known_from_behind_its_statement_on() -> None:
    text = "DEFINE a AS THE DOUBLE OF x. WHEN @P IS A PROCESSOR: THE DOUBLE OF @P IS THE PROCESSOR @P + @P."
    assert problem(text).startswith("1:17 syntax: unexpected `DOUBLE`")
    itself = "WHEN @P IS A PROCESSOR: THE DOUBLE OF @P IS THE PROCESSOR THE DOUBLE OF @P."
    assert problem(itself).startswith("1:63 syntax: unexpected `DOUBLE`")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("THE CONT OF x.", "1:5 syntax: unexpected `CONT`"),
        ("THE CONT OF x.", "did you mean `THE COUNT OF @P`"),
        ("TRM 1 OF x.", "did you mean `TRIM ... OF ...`"),
        ("DEFINE a AS x + .", "1:17 syntax: the statement ends too early: expected an operand"),
        ("DEFINE a AS x", "1:14 syntax: the statement ends without `.`"),
        ("DEFINE F AS x.", "write it in backquotes: `` `F` ``"),
        ("LET a BE x.LET.", "write it in backquotes: `` `LET` ``"),
        ("x WHERE 'a.", "1:9 syntax: this quote is not closed on its line"),
        ("MACHINE ON x START s IN s: .", "expected `IN` or the `END` of the MACHINE of line 1"),
        ("EVERY 5 parsec OF x.", "1:9 unknown-unit: `parsec` is not a unit of time"),
        ("x + 99999999999999999999.", "1:5 syntax: this integer does not fit in 64 bits"),
        ("x WHERE time > TIME 'noon'.", "1:21 syntax: `noon` is not a valid time"),
        ("URL 'http://a.b/c'.", "1:1 unsupported: `URL` of the original eSQL"),
        ("CALL 'rm -r'.", "1:1 unsupported"),
        ("TABLE t IN DATABASE d.", "`occurs.connect`"),
        ("FOR ALL x IN y : z.", "1:9 syntax: unexpected `x`: expected a variable (`$x`)"),
        ("@P + 1.", "1:1 unknown-name: there is no parameter `@P`"),
        ("WHEN @P IS A PROCESSOR: THE @Q IS THE PROCESSOR @P.", "unknown-name"),
        ("WHEN @P IS A THING: THE @P IS THE PROCESSOR @P.", "1:14 syntax: `THING` is not a category"),
        ("TRIM n OF x.", "1:6 syntax: unexpected `n`: expected a number"),
    ],
)
def test_what_is_said_of_wrong_texts(text: str, said: str) -> None:
    _, problems = parse(text)
    assert problems
    p = problems[0]
    assert said in f"{p.line}:{p.column} {p.kind}: {p.message} ({p.hint})"


def test_reading_goes_on_behind_the_next_stop() -> None:
    text = "DEFINE a AS x +. DEFINE b AS y.\nDEFINE c AS (z. DEFINE d AS w.\nDEFINE e AS THE SM OF a."
    file, problems = parse(text)
    assert [s.name.text for s in file.statements if not isinstance(s, syntax.Phrase) and s.name] == ["b", "d"]
    assert [(p.line, p.column) for p in problems] == [(1, 16), (2, 15), (3, 17)]
    assert file.unread == {"a", "c", "e"}


def test_a_stop_that_is_missing_is_missed_where_the_next_statement_begins() -> None:
    file, problems = parse("LET x BE a.v\nDEFINE b AS x.\n")
    assert len(file.statements) == 2
    assert [(p.line, p.column, p.message) for p in problems] == [(1, 13, "the statement ends without `.`")]


@pytest.mark.parametrize("text", ["(" * 500 + "x" + ")" * 500 + ".", "NOT " * 500 + "x.", "x" + " + 1" * 500 + ".",
                                  "x" + " -> x" * 500 + ".", "FREEZE " * 500 + "x.", "x" + " ^ x" * 500 + ".",
                                  "x WHERE " + "[" * 500])  # fmt: skip
def test_what_is_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        definitions(text)


def test_rows_of_and_are_not_deep() -> None:
    (found,) = definitions("x.v = 0" + "".join(f" AND x.v = {i}" for i in range(1000)) + ".")
    assert found.name == "Result"


def test_the_deepest_texts_are_built() -> None:
    text = "(" * 40 + "x.v" + " + 1)" * 40 + " > " + "FREEZE " * 40 + "x.v."
    (found,) = definitions(text)
    assert found.name == "Result"
