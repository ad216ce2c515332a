"""Everything that can be said of triggers before a row is read (temporal-logic.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.language import MAX_FORMULA
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.catalogue import Catalogue
from occurs.languages.logic.checks.nodes import Analysis, ResolvedTrigger
from occurs.languages.logic.checks.program import Stated, in_order, insert, warn_inputs
from occurs.languages.logic.checks.trigger import Resolver
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

__all__ = ["Analysis", "ResolvedTrigger", "analyse"]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
    require_bounds: bool = False,
    max_formula: int = MAX_FORMULA,
) -> Analysis:
    """Check parsed files as one program and resolve their triggers.

    ``inputs``: the types seen in the data (None: no data is known; then, if nothing is declared either, every name that
    means nothing else is taken for a database variable).  ``foreign``: types that other languages define or declare,
    ``foreign_reads``: what each of them is made of.  ``kind``: what times count, None if not yet known: then nothing is
    said about units.  Problems have the kinds of common.md, section 5, the warnings ``anchored always-fires
    unbounded-state exact-bound inexact-duration external-input`` and the notice ``text-constant``.
    """
    sources = [Text(f.text, f.name) for f in files]
    placed = [(s, d) for s, f in zip(sources, files, strict=True) for d in f.definitions]
    catalogue = Catalogue(placed, inputs, foreign or {}, frozenset().union(*(f.unread for f in files)))
    found = [(s, d) for s, d in placed if isinstance(d, syntax.Trigger)]
    triggers = [Stated(s, t, i) for i, (s, t) in enumerate(found, 1)]
    for t in triggers:
        # of the types that are made here nothing is known yet
        if t.made.text not in catalogue.declared_events and t.made.text not in catalogue.foreign:
            catalogue.events[t.made.text] = None
    resolver = Resolver(catalogue, kind, require_bounds, max_formula)
    resolved: dict[int, ResolvedTrigger] = {}
    first: dict[str, Stated] = {}
    for t in in_order(triggers, foreign_reads or {}):
        made = resolved[t.number] = resolver.resolve(t.trigger, t.number, t.source)
        insert(t, made, catalogue, first)
    warn_inputs(triggers, inputs)
    schemas = _schemas(catalogue)
    done = tuple(replace(resolved[t.number], schema=schemas[t.made.text]) for t in triggers)
    problems = sorted(dict.fromkeys(p for s in sources for p in s.problems), key=Problem.sort_key)
    names = [*catalogue.tables, *catalogue.states, *catalogue.declared_events]
    return Analysis(
        done,
        schemas,
        {n: schemas[n] for n in names},
        catalogue.tables,
        catalogue.declared_events,
        catalogue.states,
        catalogue.views,
        catalogue.constants,
        problems,
    )


def _schemas(catalogue: Catalogue) -> dict[str, Schema]:
    """The schemas of all types of rows."""
    out: dict[str, Schema] = {}
    stored: dict[str, syntax.Table | syntax.State] = {**catalogue.tables, **catalogue.states}
    for name, declared in stored.items():
        out[name] = _schema({c.name.text: c.type for c in declared.columns})
    for name, attributes in catalogue.events.items():
        out[name] = _schema(attributes or {})
    return out


def _schema(attributes: Mapping[str, Type]) -> Schema:
    return Schema(tuple(attributes.items()))
