"""What the checks make of triggers: terms whose names are resolved, and the analysis (temporal-logic.md, section 3).

In a resolved formula constants are literals, texts that were written as bare names are literals, functions are ``Call``
by their lower-case name, and every other name is one of the nodes here.  Everything else is as in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from occurs.errors import Problem
from occurs.expr.tree import Expr
from occurs.languages.logic import syntax
from occurs.languages.logic.syntax import Formula
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class ResolvedTrigger:
    """A trigger with what the checks know of it.

    ``name``: the type of event that it makes, of the ``schema``.  ``formula``: with resolved names, as ``emit`` and the
    ``values`` of `execute`.  ``reads``: the types of rows that its formula reads; ``inputs``: besides, those that its
    `for each` and its actions look at.  ``text``: the canonical text.
    """

    trigger: syntax.Trigger
    number: int
    name: str
    formula: Formula
    generics: tuple[tuple[str, Type], ...]
    reads: tuple[str, ...]
    inputs: tuple[str, ...]
    schema: Schema
    emit: tuple[tuple[str, Expr], ...] | None
    file: str | None
    text: str


@dataclass(frozen=True)
class Analysis:
    """What the checks found; triggers with errors are there too, so look at ``problems`` first.

    ``triggers``: in the order of the text.  ``schemas``: of all types that are known; ``declared``: of tables, events
    and states that are declared here.  ``tables`` .. ``constants``: the declarations by name.
    """

    triggers: tuple[ResolvedTrigger, ...]
    schemas: Mapping[str, Schema]
    declared: Mapping[str, Schema]
    tables: Mapping[str, syntax.Table]
    events: Mapping[str, syntax.Event]
    states: Mapping[str, syntax.State]
    views: Mapping[str, syntax.View]
    constants: Mapping[str, syntax.Constant]
    problems: list[Problem]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate((*self.tables, *self.states))}

    def in_order(self, names: Iterable[str]) -> list[tuple[str, syntax.Table | syntax.State]]:
        """The tables and states of these names, as they are declared one after the other: tables first."""
        found = sorted((n for n in names if n in self._places), key=self._places.__getitem__)
        return [(n, self.tables[n] if n in self.tables else self.states[n]) for n in found]
