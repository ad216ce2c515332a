"""Text cases of row patterns: statements, rows and the expected rows in one Markdown file, and what the reference says.

As in :mod:`occurs.testing.cases`, with a block ``sql`` for the statements; ticks have no unit unless an option
``unit`` says so.  A block ``timeouts`` has the attempts that WITHIN has ended, a block ``warnings`` the kinds of the
warnings and notices.  Options: ``rows: NAME`` takes the rows of another case of the file; ``ended: false`` expects what
a stream has emitted at the frontier ``until``, or at the last row.  The rows of ``out`` are in the total order; a list
is ``[1|2]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from occurs.errors import SyntaxProblem, raise_problems
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks import Analysis, analyse
from occurs.languages.match_recognize.parser import parse
from occurs.languages.match_recognize.semantics import evaluate, timeouts
from occurs.model.occurrence import Occurrence
from occurs.testing.cases import Case, Section, fields, parse_events, read_cases


@dataclass(frozen=True)
class RowCase(Case):
    """One case.  ``warned``: kinds of warnings and notices, None if nothing is said of them."""

    ended: bool = True
    late: tuple[Occurrence, ...] | None = None
    warned: tuple[str, ...] | None = None

    @cached_property
    def file_tree(self) -> syntax.File:
        """The parsed statements; SyntaxProblem if they are not in the grammar."""
        tree, problems = parse(self.rules, f"{self.file or self.name}:{self.line}")
        if any(p.severity == "error" for p in problems):
            raise SyntaxProblem(problems)
        return tree

    @cached_property
    def analysis(self) -> Analysis:
        """What the checks found; DefinitionProblem if there is an error among it."""
        found = analyse([self.file_tree], self.inputs, kind=self.kind)
        raise_problems(found.problems)
        return found


def load_cases(path: str | Path) -> list[RowCase]:
    """All cases of a Markdown file, or of every ``*.md`` in a directory; ValueError names file and line."""
    rows: dict[tuple[str, str], tuple[Occurrence, ...]] = {}

    def case(section: Section) -> RowCase:
        made = _case(section, rows)
        rows[section.file, section.name] = made.events
        return made

    return read_cases(Path(path), case)


def _case(section: Section, rows: dict[tuple[str, str], tuple[Occurrence, ...]]) -> RowCase:
    section.need(["sql"], more=["timeouts", "warnings"])
    other = section.options.pop("rows", None)
    ended = section.options.pop("ended", "true") == "true"
    found: dict[str, Any] = fields(section, "sql", "none")
    if other is not None:
        found["events"] = rows[section.file, other]
    blocks = section.blocks
    late = tuple(parse_events(blocks["timeouts"], found["kind"])) if "timeouts" in blocks else None
    warned = tuple(blocks["warnings"].split()) if "warnings" in blocks else None
    return RowCase(**found, ended=ended, late=late, warned=warned)


def reference(case: RowCase) -> list[Occurrence]:
    """What the reference semantics derives, in the total order; OccursError if the case is wrong."""
    return evaluate(case.analysis.queries, case.inputs, case.events, **_clock(case))


def reference_timeouts(case: RowCase) -> list[Occurrence]:
    """The attempts that WITHIN has ended."""
    return timeouts(case.analysis.queries, case.inputs, case.events, **_clock(case))


def _clock(case: RowCase) -> dict[str, Any]:
    return {"kind": case.kind, "start": case.start, "until": case.until, "ended": case.ended}


def plain(events: Sequence[Occurrence]) -> list[Occurrence]:
    """The events with lists as lists, whatever they came as."""
    return [
        replace(e, attributes={n: list(v) if isinstance(v, tuple | list) else v for n, v in e.attributes.items()})
        for e in events
    ]
