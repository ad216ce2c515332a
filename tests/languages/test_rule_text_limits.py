"""Rule texts of any size: an answer at once, which is right or says what is too much."""

from __future__ import annotations

import pytest
from mutants import Source
from mutants import NUMBERS as ODD_NUMBERS
from rule_text_shapes import NESTED, NUMBERS, ROWS, Shape
from test_rule_texts import judge

import occurs
from occurs.errors import DefinitionProblem, OccursError, UsageProblem


@pytest.mark.parametrize("shape", NESTED, ids=str)
def test_nested(shape: Shape) -> None:
    """Two levels are a program, or have a problem that has nothing to do with depth; no depth is a fault or a hang."""
    for n in (2, 10, 20, 40, 80, 1_000):
        judge(Source(str(shape), shape.language, shape.text(n), {}), shape.text(n))
    try:
        occurs.parse(shape.text(2), language=shape.language)
    except OccursError as error:
        assert error.kind != "syntax", error
    if not shape.opening.strip() == "(" or shape.closing.strip() != ")":
        with pytest.raises(OccursError, match="nested more than|operands in a row|too large|stand for more|64 bits"):
            occurs.parse(shape.text(1_000), language=shape.language)


@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_rows(shape: Shape) -> None:
    for n in (100, 1_000):
        judge(Source(str(shape), shape.language, shape.text(n), {}), shape.text(n))


@pytest.mark.long
@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_long_rows(shape: Shape) -> None:
    judge(Source(str(shape), shape.language, shape.text(10_000), {}), shape.text(10_000))


@pytest.mark.parametrize("number", ODD_NUMBERS, ids=lambda n: n[:24])
def test_numbers(number: str) -> None:
    for language, text in NUMBERS:
        judge(Source(text, language, text, {}), text.replace("@", number))


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
        with pytest.raises(OccursError, match="too long for a duration|not a number for a duration|64 bits"):
            occurs.parse(text.format(number), language=language)
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
    with pytest.raises(OccursError, match="the phrases here stand for more than"):
        occurs.parse(f"{first}{''.join(rest)}DEFINE Out AS THE D20 OF X0.v.", language="esql")


def test_the_answer_is_right_where_it_is_not_refused() -> None:
    """Twenty-one levels of CASE without ELSE: a detection, where there was none in minutes."""
    import pyarrow as pa

    deep = "case when a.v > 0 then " * 21 + "7" + " end" * 21
    rule = f"insert into O select {deep} as w from pattern [every a=A];"
    found = occurs.parse(rule, language="epl").detect({"A": pa.table({"time": [1, 2], "v": [1, -1]})}, time_unit="ms")
    assert found["O"]["w"].to_pylist() == [7, None]
