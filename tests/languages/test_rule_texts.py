"""Whatever a rule text is, there is a program or an OccursError that says what is wrong and where, and soon."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from mutants import LANGUAGES, Source, mutant, sources

import occurs
from occurs.errors import OccursError, Problem
from occurs.model.time import TimeKind

#: calls of Python functions that reading, checking and planning a text may take, and more for each character
CALLS, PER_CHARACTER = 3_000_000, 3_000
KINDS = (TimeKind(), TimeKind(False, "ms"), TimeKind(False, None))


class TooLong(BaseException):
    """More calls were made than the text can be worth."""


@contextmanager
def bounded(most: int) -> Iterator[None]:
    """No more than so many calls of Python functions: a bound of work that does not depend on the machine."""
    left = most

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            sys.settrace(None)
            raise TooLong(f"more than {most:,} calls, in {frame.f_code.co_qualname} of {frame.f_code.co_filename}")

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


def judge(source: Source, text: str, kinds: Sequence[TimeKind] = KINDS) -> bool:
    """Read and check a text, over times of these kinds also with the schemas of its source, and plan it; every problem
    must be well formed.  Returns whether it is a program."""
    with bounded(CALLS + PER_CHARACTER * len(text)):
        try:
            program = occurs.parse(text, language=source.language)
        except OccursError as error:
            well_formed(error.problems, text)
            return False
        well_formed(program.problems, text)
        well_formed(program.check(), text)
        for kind in kinds:
            well_formed(program.check(source.schemas, kind), text)
            try:
                program.checked.plan(source.schemas, kind)
            except OccursError as error:
                well_formed(error.problems, text)
    return True


def well_formed(problems: Iterable[Problem], text: str) -> None:
    """Each problem has a kind and a message, an error its place; all places are inside the text."""
    lines = text.split("\n")
    for p in problems:
        assert p.kind, p
        assert p.message, p
        assert p.render()
        # what costs is said of a plan, in which definitions are named
        assert p.span is not None or p.severity != "error", p
        for span in (p.span, *(r.span for r in p.related)):
            if span is not None:
                assert 1 <= span.line <= span.end_line <= len(lines), (p, span)
                assert 1 <= span.column <= len(lines[span.line - 1]) + 1, (p, span)
                assert 1 <= span.end_column <= len(lines[span.end_line - 1]) + 2, (p, span)
                assert (span.line, span.column) <= (span.end_line, span.end_column), (p, span)


def run(language: str, count: int, seed: int) -> int:
    """Judge ``count`` mutants of texts of a language; how many of them are programs."""
    rng = random.Random(f"{language} {seed}")
    mine = [s for s in sources() if s.language == language]
    right = 0
    for number in range(count):
        source = rng.choice(mine)
        text = mutant(source, rng)
        try:
            right += judge(source, text)
        except (OccursError, TooLong, Exception) as error:
            pytest.fail(f"mutant {number} of seed {seed}, from {source.name}\n{error!r}\n{text[:3000]}")
    return right


@pytest.fixture(scope="module", autouse=True)
def _grammars() -> None:
    """Grammars are read once, outside of the bounds."""
    for language in LANGUAGES:
        occurs.parse(next(s.text for s in sources() if s.language == language), language=language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_mutants(language: str) -> None:
    assert run(language, 60, seed=1) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("language", LANGUAGES)
def test_many_mutants(language: str, seed: int) -> None:
    assert run(language, 2_000, seed) > 0
