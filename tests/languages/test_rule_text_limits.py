"""Rule texts of any size: an answer at once, which is right or says what is too much."""

from __future__ import annotations

import pytest
from mutants import NUMBERS as ODD_NUMBERS
from mutants import Source
from rule_text_shapes import NESTED, NUMBERS, ROWS, Shape
from test_rule_texts import judge

import occurs
from occurs.errors import DefinitionProblem, OccursError, UsageProblem


def answered(language: str, text: str) -> None:
    """The text is a program or has problems, at once."""
    judge(Source("", language, text, {}), text, kinds=())


@pytest.mark.share(4)
@pytest.mark.parametrize("shape", NESTED, ids=str)
def test_nested(shape: Shape) -> None:
    """Two levels are a program, or have a problem that has nothing to do with depth; no depth is a fault or a hang."""
    for n in (20, 200):
        answered(shape.language, shape.text(n))
    assert "syntax" not in kinds_of(shape, 2)
    if shape.opening.strip() != "(" or shape.closing.strip() != ")":
        with pytest.raises(OccursError, match=r"nested more than|operands in a row|too large|stand for more|64 bits"):
            occurs.parse(shape.text(200), language=shape.language)


def kinds_of(shape: Shape, n: int) -> set[str]:
    """The kinds of the problems of a text; none if it is a program."""
    try:
        occurs.parse(shape.text(n), language=shape.language)
    except OccursError as error:
        return {p.kind for p in error.problems}
    return set()


@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_rows(shape: Shape) -> None:
    answered(shape.language, shape.text(200))


@pytest.mark.long
@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_long_rows(shape: Shape) -> None:
    for n in (1_000, 10_000):
        answered(shape.language, shape.text(n))


@pytest.mark.long
@pytest.mark.parametrize("shape", NESTED, ids=str)
def test_nested_at_all_depths(shape: Shape) -> None:
    for n in (2, 10, 30, 40, 60, 80, 100, 150, 1_000, 10_000):
        answered(shape.language, shape.text(n))


@pytest.mark.share(4)
@pytest.mark.parametrize("number", ODD_NUMBERS, ids=lambda n: n[:24])
def test_numbers(number: str) -> None:
    for language, text in NUMBERS:
        answered(language, text.replace("@", number))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("tesla", "event A(V: int) define C() from A() and last A() as B within {} ms from A"),
        ("epl", "select 1 as v from pattern [every A -> timer:interval({} msec)];"),
        ("phenesthe", "input event a(k).\nstate s(K): filter(a(K) ~> a(K), less({} ms))."),
        ("ftl", "state s(p boolean) trigger t: eventually[<={} ms] p"),
        ("esql", "DEFINE Out AS EVERY {} ms OF X0.v."),
    ],
)
def test_durations_that_no_time_reaches(language: str, text: str) -> None:
    for number in ("9" * 5_000, "9" * 400 + ".5", "1e999999999", "1e-999999999"):
        with pytest.raises(OccursError, match=r"too long for a duration|number for a duration|64 bits|a positive time"):
            occurs.parse(text.format(number), language=language).check()
    assert occurs.parse(text.format("5"), language=language).check() is not None


def test_durations_of_options_and_pipes() -> None:
    from occurs.model.ticks import duration
    from occurs.model.time import TimeKind
    from occurs.pipes.constants import duration as of_pipes

    for number in ("9" * 5_000, "9" * 400 + ".5"):
        with pytest.raises(UsageProblem) as caught:
            duration(f"{number} s", TimeKind(), "--window")
        assert caught.value.kind == "bad-duration"
        with pytest.raises(DefinitionProblem) as found:
            of_pipes(f"{number} s")
        assert found.value.kind == "bad-duration"


def test_phrases_of_phrases() -> None:
    """Each doubles the one before: twenty stand for a million parts."""
    first = "WHEN @P IS A PROCESSOR: THE D0 OF @P IS THE PROCESSOR (@P + @P). "
    rest = [f"WHEN @P IS A PROCESSOR: THE D{i + 1} OF @P IS THE PROCESSOR (THE D{i} OF (THE D{i} OF @P)). "
            for i in range(20)]  # fmt: skip
    assert occurs.parse(f"{first}{rest[0]}DEFINE Out AS THE D1 OF X0.v.", language="esql").check() == []
    with pytest.raises(OccursError, match="the phrases in this statement expand to more than"):
        occurs.parse(f"{first}{''.join(rest)}DEFINE Out AS THE D20 OF X0.v.", language="esql")


def test_the_answer_is_right_where_it_is_not_refused() -> None:
    """Twenty-one levels of CASE without ELSE: a detection, where there was none in minutes."""
    import pyarrow as pa

    deep = "case when a.v > 0 then " * 21 + "7" + " end" * 21
    rule = f"insert into O select {deep} as w from pattern [every a=A];"
    found = occurs.parse(rule, language="epl").detect({"A": pa.table({"time": [1, 2], "v": [1, -1]})}, time_unit="ms")
    assert found["O"]["w"].to_pylist() == [7, None]


NAMES = ("e", "self", "node", "inputs", "variables", "scope", "slice", "lambda", "class", "None")


@pytest.mark.parametrize("name", NAMES)
def test_variables_of_any_name(name: str) -> None:
    """Names of users never become names of Python."""
    import pyarrow as pa

    machine = (
        "DEFINE Out AS MACHINE ON X0.v WITH $n := 0 START A IN A OUTPUT $n : "
        "WHEN $0 > 1 GO TO A SET $n := $n + $0; OTHERWISE GO TO A SET $n := 1; END."
    )
    quantifier = "DEFINE Some AS EXISTS $n IN [$0, $0 + 1] ON X0.v : F (* = $n + 1) AT END FINITE."
    rows = {"X0": pa.table({"time": [0, 1, 2], "v": [1, 2, 3]})}
    for text in (machine, quantifier, "DEFINE Out AS APPLY $n + 1 WITH X0.v AS $n."):
        of_n = occurs.parse(text, language="esql").detect(rows, time_unit="ms")
        program = occurs.parse(text.replace("$n", f"${name}"), language="esql")
        assert all(p.severity != "error" for p in program.check())
        found = program.detect(rows, time_unit="ms")
        assert [found[t].to_pylist() for t in found] == [of_n[t].to_pylist() for t in of_n]
        assert program.verify(rows, time_unit="ms").equal


def test_a_key_needs_no_events() -> None:
    """Without events nothing is known of the attributes that a rule equates: they may well be a key."""
    rule = "insert into O select a.k as k from pattern [every a=A -> (timer:interval(30 min) and not B({}))];"
    assert occurs.parse(rule.format("k=a.k"), language="epl").check() == []
    assert [p.kind for p in occurs.parse(rule.format("k>a.k"), language="epl").check()] == ["global-stage"]
    typed = "create schema A(k string); create schema B(k {});"
    assert occurs.parse(typed.format("string") + rule.format("k=a.k"), language="epl").check() == []


def test_types_of_which_nothing_is_known() -> None:
    for function in ("AVG", "SUM", "MIN", "MAX", "COUNT", "STDDEV", "MEDIAN", "FIRST", "LAST"):
        text = f"define CE(M) from A() where M = {function}(B().V) within 2 s from A"
        assert occurs.parse(text, language="tesla").check() == []
