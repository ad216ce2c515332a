"""What is found while a `.cpn` file is read: errors, and notes on what nets here do not have (epl-and-nets.md, 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from occurs.errors import OccursError, Problem, Severity, Span
from occurs.nets.cpn_xml import Node

T = TypeVar("T")


@dataclass
class Findings:
    """``problems``: errors.  ``notes``: of kind ``unsupported``; warnings say what makes the net behave otherwise."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def error(self, kind: str, message: str, node: Node, hint: str | None = None) -> None:
        self.problems.append(self._problem(kind, message, node, "error", hint))

    def note(self, message: str, node: Node, severity: Severity = "warning") -> None:
        """What is not supported, by its name."""
        self.notes.append(self._problem("unsupported", message, node, severity, None))

    def _problem(self, kind: str, message: str, node: Node, severity: Severity, hint: str | None) -> Problem:
        where = Span(node.line, 1, node.line, 2)
        return Problem(kind, message, severity, file=self.file, span=where, hint=hint)

    def parsed(self, parse: Callable[[str], T], node: Node, what: str, left_out: str) -> T | None:
        """What ``parse`` makes of the text of ``node``, which is ``what``; None if it cannot be read.

        ML that has no form in nets becomes a note, which says what is ``left_out`` therefore; all else is an error.
        The lines of places are those of the file, their columns those of the inscription.
        """
        try:
            return parse(node.text)
        except OccursError as error:
            for problem in error.problems:
                note = problem.kind == "unsupported"
                found = replace(
                    problem,
                    message=f"{what}: {problem.message}" + (f"; {left_out}" if note else ""),
                    severity="warning" if note else "error",
                    file=self.file,
                    span=_moved(problem.span, node),
                )
                (self.notes if note else self.problems).append(found)
        return None


def _moved(span: Span | None, node: Node) -> Span:
    """A place in the text of ``node`` as one in the file."""
    if span is None:
        return Span(node.line, 1, node.line, 2)
    off = (node.text_line or node.line) - 1
    return Span(span.line + off, span.column, span.end_line + off, span.end_column)
