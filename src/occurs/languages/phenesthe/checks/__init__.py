"""Everything that can be said of Phenesthe definitions before a row is read (phenesthe.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from occurs.errors import Place, Problem
from occurs.expr.text import Text
from occurs.languages.kit.cycles import cycles
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import Catalogue, Phenomenon
from occurs.languages.phenesthe.checks.scope import Scopes, check_head, notices, whole
from occurs.languages.phenesthe.checks.sorts import Sorts
from occurs.languages.phenesthe.checks.types import Types, check_durations, check_measures, check_reads
from occurs.languages.phenesthe.render import render
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
    """Whether an event definition may be co-finite where there are windows: nothing uses it."""
    return definition.sort == "event" and definition.name.text not in used


# --- the whole program ------------------------------------------------------------------------------------------------


Defined = tuple[Text, syntax.Definition]


def reads(definition: syntax.Definition) -> tuple[str, ...]:
    """The names of the phenomena and facts that a definition reads, in the order in which they stand."""
    return tuple(dict.fromkeys(a.name.text for a in definition.atoms))


def check_cycles(definitions: Sequence[Defined], foreign: Mapping[str, Collection[str]]) -> None:
    """Report each definition that leads back to itself, once per cycle, at its first definition in the file.

    ``foreign``: what each type of another language reads.
    """
    edges: dict[str, Sequence[str]] = {name: tuple(sorted(read)) for name, read in foreign.items()}
    for _, definition in reversed(definitions):
        edges[definition.name.text] = reads(definition)
    first = {d.name.text: (s, d) for s, d in reversed(definitions)}
    for name, ring in cycles([d.name.text for _, d in definitions], edges):
        places = tuple(
            Place(f"`{n}` is defined here", first[n][0].file, first[n][1].name.span) for n in ring[1:-1] if n in first
        )
        message = f"the definitions form a cycle: {' -> '.join(f'`{n}`' for n in ring)}"
        hint = "a definition cannot depend on itself: start from inputs and define each step"
        source, definition = first[name]
        source.report("cycle", message, definition.name.span, hint, "error", places)


def in_order(definitions: Sequence[Defined]) -> list[Defined]:
    """The definitions, each behind those it reads; else as they stand.  Those of a cycle come last."""
    number = {d.name.text: i for i, (_, d) in reversed(list(enumerate(definitions)))}
    needs = [{number[n] for n in reads(d) if n in number} for _, d in definitions]
    readers: dict[int, list[int]] = {}
    for i, needed in enumerate(needs):
        for n in needed:
            readers.setdefault(n, []).append(i)
    done: list[int] = []
    ready = [i for i, needed in enumerate(needs) if not needed]
    while ready:
        at = heappop(ready)
        done.append(at)
        for i in readers.get(at, ()):
            needs[i].discard(at)
            if not needs[i]:
                heappush(ready, i)
    ordered = set(done)
    return [definitions[i] for i in [*done, *(i for i in range(len(definitions)) if i not in ordered)]]
