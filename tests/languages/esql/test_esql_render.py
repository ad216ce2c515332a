"""Trees of eSQL as text: what is parsed from it is the same tree."""

from pathlib import Path

import pytest
from tests.generators.random_esql import random_file
from tests.textcases.pipes import load_cases

from occurs.languages.esql.parser import parse
from occurs.languages.esql.render import render

FOLDER = Path(__file__).parents[2] / "cases" / "pipes"
TEXTS = [c for c in load_cases(FOLDER) if c.rules and c.error is None]


@pytest.mark.parametrize("case", TEXTS, ids=lambda c: c.name)
def test_the_text_of_a_case_is_read_back_alike(case) -> None:
    file, problems = parse(case.rules)
    assert not problems
    again, more = parse(render(file))
    assert not more
    assert again == file
    assert render(again) == render(file)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_random_trees_are_read_back_alike(depth: int) -> None:
    for seed in range(120):
        file = random_file(seed, 2, depth)
        again, problems = parse(render(file))
        assert not problems, f"{seed}: {problems[0].render()}"
        assert again == file, f"{seed}: {render(file)}"


def test_how_texts_are_printed() -> None:
    text = """let_ IS THE PROCESSOR x.
    LET x BE `LET`.v. -- names
    define. ( # ).
    DEFINE Out WITH ABOUT AS ((a.b) × -2 ≤ |c|) ∧ ¬ d ⇒ EVERY 3 RD OF (TRIM 1 OF e), LAST TOO AT END FINITE."""
    file, problems = parse(text)
    assert not problems
    assert render(file).splitlines() == [
        "let_ IS THE PROCESSOR x.",
        "LET x BE `LET`.v.",
        "define.",
        "(#).",
        "DEFINE Out WITH ABOUT AS a.b * -2 <= abs(c) AND NOT d -> EVERY 3 RD OF (TRIM 1 OF e), LAST TOO AT END FINITE.",
    ]
