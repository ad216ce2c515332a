"""Text cases of temporal triggers in Markdown: rules, rows and what must come out; and what the reference says.

As in :mod:`occurs.testing.cases`, with a block ``ftl`` or ``ptl`` for the rules.  Instead of ``out`` there may be
blocks ``reactivate`` and ``continue``: what comes out if that is the strategy of every trigger without a written one.
A block ``never`` (or ``never reactivate``, ``never continue``) has the notices of triggers that can fire no more, with
their generic variables, at the latest time at which they must be given; without it there are none.  Rows of tables have
the attribute ``op``, and ``old`` as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.laws.logic_monitors import firings, notices

from occurs.errors import raise_problems
from occurs.languages.logic import syntax
from occurs.languages.logic.checks import Analysis, analyse
from occurs.languages.logic.parser import parse
from occurs.languages.logic.semantics import Run
from occurs.model.occurrence import Occurrence
from occurs.model.types import arrow_type
from occurs.testing.cases import Case, Section, fields, parse_events, read_cases

REACTIVATE, CONTINUE = "reactivate", "continue"


@dataclass(frozen=True)
class LogicCase(Case):
    """One case under one strategy; ``past``: the file is one of PTL; ``never``: the notices."""

    past: bool = False
    never: tuple[Occurrence, ...] = ()
    #: of the triggers without a written one; None: as written
    strategy: str | None = None

    @cached_property
    def tree(self) -> syntax.File:
        """The parsed file; SyntaxProblem or DefinitionProblem if it is not in the grammar."""
        name = f"{self.file or self.name}:{self.line}.{'ptl' if self.past else 'ftl'}"
        tree, problems = parse(self.rules, name)
        raise_problems(problems)
        return tree

    def tables(self) -> dict[str, pa.Table]:
        """One Arrow table per type; changes that say nothing of a declared column have nulls."""
        out = super().tables()
        for d in self.tree.definitions:
            if isinstance(d, syntax.Table) and d.name.text in out:
                for c in (c for c in d.columns if c.name.text not in out[d.name.text].column_names):
                    table = out[d.name.text]
                    out[d.name.text] = table.append_column(c.name.text, pa.nulls(len(table), arrow_type(c.type)))
        return out

    @cached_property
    def analysis(self) -> Analysis:
        """What the checks found; DefinitionProblem if there is an error among it."""
        found = analyse([self.tree], self.inputs, kind=self.kind)
        raise_problems(found.problems)
        return found

    @cached_property
    def definitions(self) -> tuple[syntax.Definition, ...]:
        """The definitions, under the strategy of the case."""
        return tuple(self.with_strategy(d) for d in self.tree.definitions)

    def with_strategy(self, d: syntax.Definition) -> syntax.Definition:
        """A trigger with the strategy of the case."""
        if not isinstance(d, syntax.Trigger) or self.strategy is None:
            return d
        return replace(d, continues=self.strategy == CONTINUE)


def load_cases(path: str | Path) -> list[LogicCase]:
    """All cases of a Markdown file, or of every ``*.md`` in a directory; ValueError names file and line."""
    return [case for some in read_cases(Path(path), _cases) for case in some]


def _cases(section: Section) -> list[LogicCase]:
    blocks = section.blocks
    strategies = [s for s in (REACTIVATE, CONTINUE) if s in blocks]
    never = ["never", *(f"never {s}" for s in (REACTIVATE, CONTINUE))]
    if len(strategies) == 2:
        section.need(["ftl", "ptl"], [REACTIVATE], [CONTINUE, *never])
    else:
        section.need(["ftl", "ptl"], ["out", REACTIVATE, CONTINUE, "error"], never)
    past = "ptl" in blocks
    common = fields(section, "ptl" if past else "ftl")

    def case(strategy: str | None) -> LogicCase:
        notices = blocks.get(f"never {strategy or 'out'}", blocks.get("never", ""))
        one = LogicCase(**common, past=past, never=tuple(parse_events(notices, common["kind"])), strategy=strategy)
        if strategy is None:
            return one
        expected = tuple(parse_events(blocks[strategy], one.kind))
        return replace(one, name=f"{one.name}, {strategy}", expected=expected)

    return [case(strategy) for strategy in strategies or [None]]


def reference(case: LogicCase) -> list[Occurrence]:
    """What the reference semantics derives, by time, type and attributes; OccursError if the case is wrong."""
    schemas = case.analysis.schemas
    return [event for _, event in run_of(case).all_events(schemas)]


def run_of(case: LogicCase) -> Run:
    """The evaluation of a case by the reference semantics."""
    return Run(case.definitions, case.events, case.kind, case.inputs, (), case.start, case.until)


def monitored(case: LogicCase) -> list[tuple[str, tuple[Any, ...], int]]:
    """When the monitors fire: trigger, values of the generic variables, time."""
    return firings(run_of(case))


def never(case: LogicCase) -> list[Occurrence]:
    """The notices of triggers that can fire no more, by time, then trigger."""
    return notices(
        case.definitions, case.events, kind=case.kind, inputs=case.inputs, start=case.start, until=case.until
    )
