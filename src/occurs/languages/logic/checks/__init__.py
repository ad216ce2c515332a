"""Everything that can be said of triggers before a row is read (temporal-logic.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from occurs.errors import Place, Problem
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Ref
from occurs.languages.kit.complaints import columns_text, warn_also_in_input
from occurs.languages.kit.language import MAX_FORMULA
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.catalogue import Catalogue
from occurs.languages.logic.checks.trigger import ResolvedTrigger, Resolver
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type, widen


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
    warn_also_in_input([(t.made.text, t.source, t.made.span) for t in triggers], inputs, "triggers")
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


# --- what only all triggers together show -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """A trigger of the program: its number among all, from 1."""

    source: Text
    trigger: syntax.Trigger
    number: int

    @property
    def made(self) -> syntax.Name:
        """The type of event that it makes, where it is named."""
        return self.trigger.name if self.trigger.emit is None else self.trigger.emit.type

    @property
    def place(self) -> Place:
        name = self.trigger.name
        makes = f"`{name}`" if self.made == name else f"`{name}` emits `{self.made}`"
        return Place(f"{makes} is here", self.source.file, self.made.span)


def mentioned(trigger: syntax.Trigger) -> frozenset[str]:
    """The names in a trigger that may be types of events."""
    out: set[str] = set()
    terms: list[Expr] = [trigger.formula]
    for action in trigger.actions:
        if not isinstance(action, syntax.Notify):
            terms += [e for _, e in action.arguments]
    own = {v.text for v in trigger.each.variables} if trigger.each is not None else set()
    for node in (n for t in terms for n in t.walk()):
        if isinstance(node, Ref):
            out.add(node.name if node.scope is None else node.scope)
        elif isinstance(node, syntax.Apply):
            out.add(node.name)
        elif isinstance(node, syntax.Assign):
            own.add(node.variable.text)
    return frozenset(out - own)


def in_order(triggers: Sequence[Stated], foreign_reads: Mapping[str, Collection[str]]) -> list[Stated]:
    """Every trigger behind those that make what it reads, as far as there is such an order; reports cycles."""
    makers: dict[str, list[Stated]] = {}
    for t in triggers:
        makers.setdefault(t.made.text, []).append(t)
    needs = {name: {n for t in ts for n in mentioned(t.trigger)} for name, ts in makers.items()}
    for name, others in foreign_reads.items():
        needs.setdefault(name, set()).update(others)
    order: list[str] = []
    state: dict[str, int] = {}
    for start in makers:
        _visit(start, needs, makers, state, order)
    return [t for name in order for t in makers.get(name, ())]


def _visit(
    start: str,
    needs: Mapping[str, Collection[str]],
    makers: Mapping[str, Sequence[Stated]],
    state: dict[str, int],
    order: list[str],
) -> None:
    """Depth first, without recursion: 1 is being visited, 2 is done."""
    if start in state:
        return
    path = [start]
    state[start] = 1
    todo = [iter(sorted(n for n in needs[start] if n in needs))]
    while todo:
        name = next(todo[-1], None)
        if name is None:
            done = path.pop()
            todo.pop()
            state[done] = 2
            order.append(done)
        elif name not in state:
            state[name] = 1
            path.append(name)
            todo.append(iter(sorted(n for n in needs[name] if n in needs)))
        elif state[name] == 1:
            _report_cycle(path[path.index(name) :], makers)


def _report_cycle(ring: Sequence[str], makers: Mapping[str, Sequence[Stated]]) -> None:
    """``ring``: types, each made of the next, the last of the first; among them is one that a trigger makes."""
    at = next((i for i, name in enumerate(ring) if name in makers), None)
    if at is None:
        return
    ring = [*ring[at:], *ring[:at]]
    behind = [*ring[1:], ring[0]]
    on_it = [
        next((t for t in makers.get(name, ()) if other in mentioned(t.trigger)), None)
        for name, other in zip(ring, behind, strict=True)
    ]
    # from what is read to what is made
    steps = [f"`{ring[0]}`"]
    for name, other in zip(reversed(ring), reversed(on_it)):
        trigger = f" by `{other.trigger.name}`" if other is not None and other.trigger.name.text != name else ""
        steps.append(f"`{name}`{trigger}")
    first = on_it[0]
    assert first is not None
    message = f"the triggers form a cycle: {' -> '.join(steps)}"
    hint = "emit another type: a trigger cannot depend on its own output"
    places = tuple(dict.fromkeys(t.place for t in on_it[1:] if t is not None))
    first.source.report("cycle", message, first.made.span, hint, "error", places)


def insert(stated: Stated, resolved: ResolvedTrigger, catalogue: Catalogue, first: dict[str, Stated]) -> None:
    """Enter what a trigger makes; reports columns that are not those of the type."""
    name, source = resolved.name, stated.source
    mine = dict(resolved.schema.attributes)
    declared = catalogue.declared_events.get(name)
    other_definition = catalogue.first.get(name, (source, stated.trigger))[1]
    if declared is None and other_definition.name != stated.trigger.name:
        return  # it has been reported
    known = catalogue.events.get(name)
    if known is None:
        catalogue.events[name] = mine
        first[name] = stated
        return
    both = {n: widen(known[n], t) for n, t in mine.items() if n in known}
    fits = set(mine) == set(known) and None not in both.values()
    if declared is not None:
        # int widens to float, but no declared type widens
        fits = fits and all(both[n] is known[n] or known[n] is Type.NULL for n in known)
    if not fits:
        other = first.get(name)
        places: tuple[Place, ...]
        if declared is not None:
            places = (Place("it is declared here", catalogue.first[name][0].file, declared.name.span),)
        else:
            places = (other.place,) if other is not None else ()
        message = f"`{name}` has the columns ({columns_text(mine)}) here, but ({columns_text(known)}) elsewhere"
        hint = "all triggers that emit one type need the same columns; int widens to float"
        source.report("schema-conflict", message, stated.made.span, hint, "error", places)
        return
    if declared is None:
        catalogue.events[name] = {n: both[n] or t for n, t in known.items()}
