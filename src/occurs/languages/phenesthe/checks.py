"""Everything that can be said of Phenesthe definitions before a row is read (phenesthe.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from occurs.errors import Problem
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks_catalogue import Catalogue
from occurs.languages.phenesthe.checks_measures import check_measures, check_reads
from occurs.languages.phenesthe.checks_notices import check_head, notices
from occurs.languages.phenesthe.checks_phenomenon import Phenomenon
from occurs.languages.phenesthe.checks_program import check_cycles, in_order, reads
from occurs.languages.phenesthe.checks_scope import Scopes, whole
from occurs.languages.phenesthe.checks_sorts import Sorts
from occurs.languages.phenesthe.checks_types import Types, check_durations
from occurs.languages.phenesthe.render import render
from occurs.languages.text import Text
from occurs.model.time import TimeKind
from occurs.model.types import Schema

__all__ = ["Analysis", "Phenomenon", "ResolvedDefinition", "analyse"]


@dataclass(frozen=True)
class ResolvedDefinition:
    """A definition with what the checks know of it.

    ``body``: with the condition of `where`, and with a ``Project`` around the formula where a variable ends.
    ``reads``: the phenomena and facts of its atoms.  ``clocked``: the body is co-finite, so that its instants are the
    ticks of a window.  ``text``: the canonical text.
    """

    definition: syntax.Definition
    body: syntax.Relation
    schema: Schema
    reads: tuple[str, ...]
    clocked: bool
    file: str | None
    text: str

    @property
    def name(self) -> str:
        return self.definition.name.text


@dataclass(frozen=True)
class Analysis:
    """What the checks found; definitions with errors are there too, so look at ``problems`` first.

    ``phenomena``: every name that is declared, defined (here or in another language) or has facts.
    ``definitions``: each behind those it reads.
    """

    phenomena: dict[str, Phenomenon]
    definitions: tuple[ResolvedDefinition, ...]
    problems: list[Problem]

    @property
    def sorts(self) -> dict[str, str]:
        """The sort of every name; ``fact`` of facts."""
        return {name: p.sort for name, p in self.phenomena.items()}


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
    windows: bool = False,
) -> Analysis:
    """Check parsed files as one program and resolve their definitions.

    ``inputs``: the types seen in the data, whose columns complete the declarations.  ``foreign``: types that other
    languages define (lasting ones count as dynamic phenomena), ``foreign_reads``: what each of them reads.  ``kind``:
    what times count, None if not yet known.  ``windows``: the program runs, or may run, in window mode, where over
    integer times a definition may be true almost always.
    """
    sources = [Text(f.text, f.name) for f in files]
    statements = [(s, t) for s, f in zip(sources, files) for t in f.statements]
    catalogue = Catalogue(inputs, foreign or {})
    catalogue.unread = set().union(*(f.unread for f in files))
    catalogue.fill(statements)
    definitions = [(s, t) for s, t in statements if isinstance(t, syntax.Definition)]
    check_cycles(definitions, foreign_reads or {})
    ordered = in_order(definitions)
    used = {name for _, d in definitions for name in reads(d)}
    measured = {d.name.text: {n.text for n, _ in d.measures} for _, d in definitions}
    resolved = []
    for source, d in ordered:
        clocked = windows and (kind is None or not kind.timestamp) and _may_be_clocked(d, used)
        sorts = Sorts(d, source, catalogue)
        sorts.check()
        check_durations(d, source, kind)
        notices(d, source)
        if sorts.clean:
            scopes = Scopes(d, source, catalogue.sorts)
            clocked = scopes.check(clocked)
            Types(d, source, catalogue, kind).check()
            check_measures(d, source, kind, windows)
            check_reads(d, source, catalogue.known, measured)
        else:
            clocked = False
            check_head(d, source)
        schema = catalogue.known[d.name.text].schema
        resolved.append(ResolvedDefinition(d, whole(d), schema, reads(d), clocked, source.file, render(d)))
    problems = sorted((p for s in sources for p in s.problems), key=Problem.sort_key)
    return Analysis(dict(catalogue.known), tuple(resolved), problems)


def _may_be_clocked(definition: syntax.Definition, used: set[str]) -> bool:
    """Whether an event definition may be co-finite where there are windows: no variables, and nothing uses it."""
    constant = all(isinstance(a.value, syntax.Constant) for a in definition.head)
    return definition.sort == "event" and constant and definition.name.text not in used
