"""Texts in eSQL to the pipes of their definitions."""

from __future__ import annotations

from collections.abc import Mapping

from occurs.errors import raise_problems
from occurs.languages.esql.checks import analyse
from occurs.languages.esql.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.process.tree import Definition


def definitions(
    text: str, file: str | None = None, inputs: Mapping[str, Schema] | None = None, kind: TimeKind | None = None
) -> tuple[Definition, ...]:
    """The definitions of a text; SyntaxProblem or DefinitionProblem names all that is wrong with it.

    ``inputs``: the event types that are known (None: every name that nobody defines is one).  ``kind``: what times
    count (None: that is not known).
    """
    parsed, problems = parse(text, file)
    analysis = analyse([parsed], inputs, kind=kind)
    raise_problems([*problems, *analysis.problems])
    return analysis.definitions
