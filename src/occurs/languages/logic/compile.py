"""Resolved triggers to definitions of the plan: what they read, how they can be split, which operator takes them.

An operator over whole columns is offered by :func:`occurs.languages.logic.columns.suited.operator_of` for those that
have such a form; the general one takes everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from occurs.languages.logic.checks.analysis import Analysis
from occurs.languages.logic.checks.nodes import Generic, Happens, Last, ResolvedTrigger
from occurs.languages.logic.columns import suited as columns
from occurs.languages.logic.running.general import General
from occurs.languages.logic.running.program import STATE, Reading, Sources, of_sql, readings
from occurs.languages.logic.running.steps import ticks
from occurs.languages.logic.running.trigger import Plain, Query, Trigger
from occurs.languages.logic.semantics.text import parameters, sources
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.logic.trigger import Evaluator
from occurs.plan.keys import Choice

#: columns of changes, beside those of their table
CHANGES = ("op", "old")
_PLAIN = re.compile(
    r"(?is)\s*select\s+(?:distinct\s+)?([\w\s.,]+?)\s+from\s+(\w+)(?:\s+(?:as\s+)?(\w+))?\s*(?:where\b(.*))?"
)


def trigger_of(
    resolved: ResolvedTrigger,
    analysis: Analysis,
    schemas: Mapping[str, Schema],
    kind: TimeKind,
    everything: frozenset[str],
) -> Trigger:
    """A trigger with all that it sees.  ``schemas``: of all types; ``everything``: the types of the program's input,
    for those that are evaluated at every state of it."""
    trigger = resolved.trigger
    reads = types_read(resolved, analysis, everything)
    known = Sources.of(analysis, reads, schemas)
    query, split = None, {}
    if trigger.each is not None and trigger.each.sql is not None:
        query = _query(trigger.each.sql.text, known, analysis)
    elif trigger.each is not None:
        names = [v.text for v in trigger.each.variables]
        whole = {n: s for n, s in known.states.items() if set(names) <= set(s.columns)}
        read = {r.type for r in readings(resolved.formula, known)}
        chosen = {n: s for n, s in whole.items() if n in read} or whole
        split = {n: tuple(s.columns.index(c) for c in names) for n, s in chosen.items()}
    every = None if trigger.observing is None else trigger.observing.every
    schema = schemas.get(resolved.name, resolved.schema)
    return Trigger(
        resolved,
        known,
        kind,
        tuple(readings(resolved.formula, known)),
        tuple((n, schema.get(n) or t) for n, t in resolved.schema),
        query,
        split,
        None if trigger.gap is None else math.ceil(ticks(trigger.gap, kind)),
        None if every is None else int(ticks(every, kind)),
    )


def types_read(resolved: ResolvedTrigger, analysis: Analysis, everything: frozenset[str]) -> frozenset[str]:
    """The types of rows that a trigger has to see."""
    trigger = resolved.trigger
    found = {*resolved.reads, *resolved.inputs}
    if trigger.each is not None and trigger.each.sql is None and not analysis.states:
        found.add(STATE)
    return frozenset(found | (everything if observes(resolved) else frozenset()))


def observes(resolved: ResolvedTrigger) -> bool:
    """Does a trigger look at every state of the input: for itself, or because its query asks for the time?"""
    trigger = resolved.trigger
    if trigger.each is not None and trigger.each.sql is not None and "time" in parameters(trigger.each.sql.text):
        return True
    return trigger.observing is not None and trigger.observing.every is None


def _query(sql: str, known: Sources, analysis: Analysis) -> Query:
    tables = frozenset(r.type for r in of_sql(sql, {}, (), known))
    constants = {n: c.value.value for n, c in analysis.constants.items()}
    clocked = "time" in parameters(sql)
    return Query(sql, tables, clocked, constants, None if clocked else _plain(sql, known))


def operator_of(trigger: Trigger) -> Evaluator:
    """What evaluates a trigger."""
    return columns.operator_of(trigger) or General(trigger)


def begins_of(trigger: Trigger, operator: Evaluator) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """The types whose rows make instances, with the columns of the generic variables; None if a query makes them that
    looks at several rows."""
    if isinstance(operator, columns.Columns):
        seen = operator.seen
        own = [s for i, s in enumerate(seen.streams) if i == seen.query or i in seen.split]
        return tuple((s.shape.name, s.keyed) for s in own)
    if trigger.query is None:
        return tuple((name, tuple(n for n, _ in trigger.generics)) for name in trigger.split)
    plain = trigger.query.plain
    if plain is None:
        return None
    shape = trigger.sources.tables[plain.table]
    return ((plain.table, tuple(shape.columns[i] for i in plain.columns)),)


def columns_of(trigger: Trigger) -> dict[str, frozenset[str]]:
    """The columns that are needed of every type."""
    out: dict[str, frozenset[str]] = {n: frozenset((*s.columns, *CHANGES)) for n, s in trigger.sources.tables.items()}
    out |= {n: frozenset(s.columns) for n, s in trigger.sources.states.items()}
    used: dict[str, set[str]] = {n: set() for n in trigger.sources.events}
    terms = [trigger.resolved.formula, *(e for _, e in trigger.emit or ())]
    for node in (n for t in terms for n in t.walk()):
        if isinstance(node, Last):
            used[node.event].add(node.attribute)
        elif isinstance(node, Happens):
            used[node.event].update(node.names)
    return out | {n: frozenset(c) for n, c in used.items()}


def ordered(trigger: Trigger) -> frozenset[str]:
    """The types of events of which it matters which is the last of its time."""
    terms = [trigger.resolved.formula, *(e for _, e in trigger.emit or ())]
    return frozenset(n.event for t in terms for n in t.walk() if isinstance(n, Last))


# --- partition keys (5.3) ---------------------------------------------------------------------------------------------


def choices(trigger: Trigger, seen: Mapping[str, Schema]) -> tuple[Choice, ...]:
    """The ways to split a trigger: by a generic variable, if all that it reads is restricted by it.

    ``seen``: the types of the data; a table whose keys change (``old``) cannot be split.
    """
    if trigger.observes_all or (trigger.query is not None and trigger.query.clocked):
        return ()
    every = [*trigger.readings, *(r for _, e in trigger.emit or () for r in readings(e, trigger.sources))]
    out = []
    for place, (name, _) in enumerate(trigger.generics):
        columns = _columns(trigger, place, name, every)
        if columns is None or any(t in trigger.sources.tables and "old" in seen.get(t, Schema()) for t in columns):
            continue
        passes = frozenset({name}) if trigger.emit is None else frozenset(
            n for n, e in trigger.emit if isinstance(e, Generic) and e.name == name
        )  # fmt: skip
        out.append(Choice(tuple((t, (c,)) for t, c in sorted(columns.items())), passes))
    return tuple(out)


def _columns(trigger: Trigger, place: int, name: str, every: Iterable[Reading]) -> dict[str, str] | None:
    """Per type the column that has the value of a generic variable in all rows that are read."""
    found: dict[str, set[str]] = {t: {name} for t in trigger.split}
    for reading in every:
        if reading.type in trigger.split:
            continue
        own = {c for c, n in reading.keyed if n == name}
        found[reading.type] = found.get(reading.type, own) & own
    if trigger.query is not None:
        of_query = _column_of_query(trigger, place)
        if of_query is None:
            return None
        table, column = of_query
        found[table] = found.get(table, {column}) & {column}
    for type_, shape in trigger.sources.tables.items():
        keys = {shape.columns[i] for i in shape.keys}
        found[type_] = found.get(type_, set()) & keys
    types = {*trigger.sources.tables, *trigger.sources.states, *trigger.sources.events}
    if set(found) != types or not all(found.values()):
        return None
    return {t: min(c) for t, c in found.items()}


def _column_of_query(trigger: Trigger, place: int) -> tuple[str, str] | None:
    """(table, column) that a generic variable comes from, if the query looks at one row at a time."""
    plain = None if trigger.query is None else trigger.query.plain
    if plain is None or place >= len(plain.columns):
        return None
    return plain.table, trigger.sources.tables[plain.table].columns[plain.columns[place]]


def _plain(sql: str, known: Sources) -> Plain | None:
    """A SELECT as one that looks at one row of one table at a time; None if it does not."""
    match = _PLAIN.fullmatch(sql.strip().rstrip(";"))
    names = {n.lower(): n for n in known.tables}
    if match is None or match[2].lower() not in names or len(list(sources(sql))) != 1:
        return None
    if re.search(r"(?i)\b(select|group|limit|having|union|except|intersect|window|over|order)\b", match[4] or ""):
        return None
    shape = known.tables[names[match[2].lower()]]
    lower = [c.lower() for c in shape.columns]
    items = [i.strip().split() for i in match[1].split(",")]
    found = [i[0].rpartition(".")[2].lower() if i else "" for i in items]
    if any(f not in lower for f in found) or not shape.keys:
        return None
    return Plain(shape.name, tuple(lower.index(f) for f in found), match[4] is not None)
