"""Text cases of EPL: statements, rows and the expected events in one Markdown file, and what the reference says.

As in :mod:`occurs.testing.cases`, with a block ``epl`` for the statements and an option ``zone``.  The rows of ``out``
are in the total order; a struct or a list of structs is written as JSON in quotes: ``Out@1(a='{"n": 1}')``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from occurs.errors import SyntaxProblem, raise_problems
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import Analysis, analyse
from occurs.languages.epl.parser import parse
from occurs.languages.epl.semantics import evaluate, timeouts
from occurs.languages.epl.semantics.machine import Timeout
from occurs.languages.epl.syntax import elements_of
from occurs.languages.kit.language import Written
from occurs.model.elements import element_of, path_of, with_elements_of
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema
from occurs.options import without_lists
from occurs.testing.cases import Case, Section, fields, read_cases


@dataclass(frozen=True)
class EplCase(Case):
    """One case; ``zone`` is that of calendar timers, ``values`` are those of variables and parameters."""

    zone: str = "UTC"
    values: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def file_tree(self) -> syntax.File:
        """The parsed statements; SyntaxProblem if they are not in the grammar."""
        tree, problems = parse(self.rules, f"{self.file or self.name}:{self.line}")
        if any(p.severity == "error" for p in problems):
            raise SyntaxProblem(problems)
        return tree

    @cached_property
    def read(self) -> dict[str, Schema]:
        """The types of the events as definitions see them: elements of lists and maps in the place of these."""
        names = elements_of(self.file_tree.statements)
        return {t: without_lists(with_elements_of(s, names)) for t, s in self.inputs.items()}

    @property
    def read_events(self) -> list[Occurrence]:
        """The events as definitions see them."""
        names = {t: [n for n in s.names if path_of(n) is not None] for t, s in self.read.items()}
        return [
            replace(e, attributes={**e.attributes, **{n: element_of(e.attributes, n) for n in names[e.type]}})
            for e in self.events
        ]

    @cached_property
    def analysis(self) -> Analysis:
        """What the checks found; DefinitionProblem if there is an error among it."""
        found = analyse([self.file_tree], self.read, kind=self.kind, values=self.values)
        raise_problems(found.problems)
        return found


def load_cases(path: str | Path) -> list[EplCase]:
    """All cases of a Markdown file, or of every ``*.md`` in a directory; ValueError names file and line."""
    return read_cases(Path(path), _case)


def _case(section: Section) -> EplCase:
    section.need(["epl"])
    zone = section.options.pop("zone", "UTC")
    values = dict(v.split("=") for v in section.options.pop("values", "").split(", ") if v)
    return EplCase(**fields(section, "epl"), zone=zone, values={n: Written(v) for n, v in values.items()})


def reference(case: EplCase) -> list[Occurrence]:
    """What the reference semantics derives, in the total order; OccursError if the case is wrong."""
    return evaluate(
        case.analysis.files[0].statements,
        case.analysis.schemas,
        case.read_events,
        kind=case.kind,
        zone=case.zone,
        start=case.start,
        until=case.until,
    )


def ended(case: EplCase) -> list[Timeout]:
    """What guards have ended."""
    return timeouts(
        case.analysis.files[0].statements,
        case.analysis.schemas,
        case.read_events,
        kind=case.kind,
        zone=case.zone,
        start=case.start,
        until=case.until,
    )


def flat(events: Sequence[Occurrence]) -> list[Occurrence]:
    """The events with every struct and list as JSON text, as ``out`` has them."""
    return [replace(e, attributes={n: _text(v) for n, v in e.attributes.items()}) for e in events]


def _text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, Mapping | list) else value
