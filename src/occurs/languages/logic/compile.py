"""Resolved triggers to definitions of the plan: what they read, how they can be split, which operator takes them.

An operator over whole columns is offered by :func:`occurs.operators.temporal.vectorising.over_columns` for those that
have such a form; the general one takes everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from occurs.expr.tree import Expr, Literal, Unary
from occurs.languages.logic import syntax
from occurs.languages.logic.checks import Analysis, ResolvedTrigger
from occurs.languages.logic.sql import parameters, restrictions, sources
from occurs.model.time import TimeKind, duration
from occurs.model.types import Schema
from occurs.operators.definition import Choice
from occurs.operators.temporal.evaluators import over_columns
from occurs.operators.temporal.general import General
from occurs.operators.temporal.reach import remembered
from occurs.operators.temporal.tables import Shape
from occurs.operators.temporal.times import ticks
from occurs.operators.temporal.tree import Found, Generic, Happens, Last, TableOf, Value, Variable, ViewOf
from occurs.operators.temporal.trigger import Evaluator, Plain, Query, Reading, Rule, Sources, View
from occurs.operators.temporal.vectorised import Columns

#: the type of rows that are states without declaration
STATE = "state"
#: columns of changes, beside those of their table
CHANGES = ("op", "old")
_PLAIN = re.compile(
    r"(?is)\s*select\s+(?:distinct\s+)?([\w\s.,]+?)\s+from\s+(\w+)(?:\s+(?:as\s+)?(\w+))?\s*(?:where\b(.*))?"
)


def rule_of(
    resolved: ResolvedTrigger,
    analysis: Analysis,
    schemas: Mapping[str, Schema],
    kind: TimeKind,
    everything: frozenset[str],
) -> Rule:
    """A trigger with all that it sees.  ``schemas``: of all types; ``everything``: the types of the program's input,
    for those that are evaluated at every state of it."""
    trigger = resolved.trigger
    reads = types_read(resolved, analysis, everything)
    known = _sources_of(analysis, reads, schemas)
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
    return Rule(
        trigger.name.text,
        resolved.formula,
        trigger.past,
        trigger.continues,
        resolved.generics,
        tuple((n, schema.get(n) or t) for n, t in resolved.schema),
        resolved.emit,
        kind,
        known,
        tuple(readings(resolved.formula, known)),
        query,
        split,
        None if trigger.gap is None else math.ceil(ticks(trigger.gap, kind)),
        None if every is None else int(ticks(every, kind)),
        trigger.observing is not None and every is None,
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


def operator_of(rule: Rule) -> Evaluator:
    """What evaluates a trigger."""
    return over_columns(rule) or General(rule)


def noticing_of(rule: Rule) -> Evaluator | None:
    """What evaluates a trigger and finds the instances that can fire no more, if there can be any."""
    return None if rule.past else over_columns(rule, True) or General(rule)


def begins_of(rule: Rule, operator: Evaluator) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """The types whose rows make instances, with the columns of the generic variables; None if a query makes them that
    looks at several rows."""
    if isinstance(operator, Columns):
        seen = operator.seen
        own = [s for i, s in enumerate(seen.streams) if i == seen.query or i in seen.split]
        return tuple((s.shape.name, s.keyed) for s in own)
    if rule.query is None:
        return tuple((name, tuple(n for n, _ in rule.generics)) for name in rule.split)
    plain = rule.query.plain
    if plain is None:
        return None
    shape = rule.sources.tables[plain.table]
    return ((plain.table, tuple(shape.columns[i] for i in plain.columns)),)


def columns_of(rule: Rule) -> dict[str, frozenset[str]]:
    """The columns that are needed of every type."""
    out: dict[str, frozenset[str]] = {n: frozenset((*s.columns, *CHANGES)) for n, s in rule.sources.tables.items()}
    out |= {n: frozenset(s.columns) for n, s in rule.sources.states.items()}
    used: dict[str, set[str]] = {n: set() for n in rule.sources.events}
    terms = [rule.formula, *(e for _, e in rule.emit or ())]
    for node in (n for t in terms for n in t.walk()):
        if isinstance(node, Last):
            used[node.event].add(node.attribute)
        elif isinstance(node, Happens):
            used[node.event].update(node.names)
    return out | {n: frozenset(c) for n, c in used.items()}


def ordered(rule: Rule) -> frozenset[str]:
    """The types of events of which it matters which is the last of its time."""
    terms = [rule.formula, *(e for _, e in rule.emit or ())]
    return frozenset(n.event for t in terms for n in t.walk() if isinstance(n, Last))


def _sources_of(analysis: Analysis, reads: frozenset[str], schemas: Mapping[str, Schema]) -> Sources:
    """The part of a program that a trigger reads; ``schemas``: of all types."""
    declared = analysis.in_order(reads)
    tables = {n: _shape(t) for n, t in declared if isinstance(t, syntax.Table)}
    states = {n: Shape(n, tuple(c.name.text for c in t.columns)) for n, t in declared if isinstance(t, syntax.State)}
    if not analysis.states and STATE in reads:
        states[STATE] = Shape(STATE, schemas[STATE].plain if STATE in schemas else ())
    others = reads - tables.keys() - states.keys()
    events = {n: Shape(n, schemas[n].plain if n in schemas else ()) for n in sorted(others)}
    views = {n: View(v.sql.text, tuple(p.text for p in v.parameters)) for n, v in analysis.views.items()}
    types = {n: {c.name.text: c.type for c in t.columns} for n, t in declared if isinstance(t, syntax.Table)}
    return Sources(tables, states, events, views, types)


def _shape(table: syntax.Table) -> Shape:
    keys = tuple(i for i, c in enumerate(table.columns) if c.key)
    return Shape(table.name.text, tuple(c.name.text for c in table.columns), keys)


# --- what is read (4.1, *Reads*) --------------------------------------------------------------------------------------


def readings(node: Expr, sources_: Sources) -> list[Reading]:
    """Everything that a resolved formula or term reads, each once."""
    return list(dict.fromkeys(_readings(node, sources_)))


def _readings(node: Expr, known: Sources) -> Iterator[Reading]:
    match node:
        case Variable():
            yield Reading(node.state)
        case TableOf():
            yield Reading(node.table)
        case Value():
            shape = known.tables[node.table]
            names = [shape.columns[i] for i in shape.keys]
            yield _reading(node.table, dict(zip(names, node.keys, strict=True)))
        case Happens():
            yield _reading(node.event, dict(zip(node.names, node.args, strict=True)))
        case Last():
            yield Reading(node.event)
        case ViewOf():
            view = known.views[node.view]
            yield from of_sql(view.sql, dict(zip(view.parameters, node.args, strict=True)), (), known)
        case Found():
            hidden = [str(getattr(x, "name", "")) for x in node.relations]
            yield from of_sql(node.sql.text, dict(zip(node.names, node.args, strict=True)), hidden, known)
    for child in node.children:
        yield from _readings(child, known)


def of_sql(
    sql: str, args: Mapping[str, Expr], relations: tuple[str, ...] | list[str], known: Sources
) -> Iterator[Reading]:
    """The rows of tables that a SELECT reads, those of the views in it wholly."""
    hidden = {r.lower() for r in relations}
    columns = {n: list(s.columns) for n, s in known.tables.items()}
    tables = {n.lower(): n for n in known.tables if n.lower() not in hidden}
    views = {n.lower(): v for n, v in known.views.items() if n.lower() not in hidden}
    restricted = restrictions(sql, columns)
    for name in dict.fromkeys(s.name.lower() for s in sources(sql)):
        if name in tables:
            by = restricted.get(tables[name], {})
            yield _reading(tables[name], {c: args[p] for c, p in by.items() if p in args})
        elif name in views:
            yield from of_sql(views[name].sql, {}, (), known)


def _reading(type_: str, wanted: Mapping[str, Expr]) -> Reading:
    fixed: list[tuple[str, Any]] = []
    keyed: list[tuple[str, str]] = []
    for column, term in wanted.items():
        if isinstance(term, Literal):
            fixed.append((column, term.value))
        elif isinstance(term, Unary) and isinstance(term.arg, Literal):
            fixed.append((column, None if term.arg.value is None else -term.arg.value))  # type: ignore[operator]
        elif isinstance(term, Generic):
            keyed.append((column, term.name))
    return Reading(type_, tuple(sorted(fixed, key=str)), tuple(sorted(keyed)))


# --- what is kept (5.2) -----------------------------------------------------------------------------------------------

CONSTANT, WINDOW, GROWS = "constant", "window", "grows"


def kept_by(rule: Rule) -> tuple[tuple[str, ...], str]:
    """What is read, which states are looked at, what is kept; and the size of that (common.md, section 7)."""
    out = [f"reads {', '.join(sorted(set(map(_read, rule.readings)))) or 'nothing'}"]
    if rule.observes_all:
        out.append("history: every state of the input")
    elif rule.every is not None:
        out.append(f"history: the states in which its input changes, and every {duration(rule.every, rule.kind)}")
    if rule.generics:
        names = ", ".join(n for n, _ in rule.generics)
        out.append(f"one instance per value of {names}")
    size = CONSTANT
    for one in remembered(rule.formula, rule.kind):
        if one.ticks is None:
            size = GROWS
            out.append(f"{one.variable}: every value, without limit [unbounded]")
        else:
            size = WINDOW if size == CONSTANT else size
            out.append(f"{one.variable}: for {duration(one.ticks, rule.kind)} after its assignment")
    if size == CONSTANT and any(map(_timed, rule.formula.walk())):
        size = WINDOW
    return tuple(out), size


def _read(reading: Reading) -> str:
    own = [f"{c} = {v!r}" for c, v in reading.fixed] + [f"{c} = {n}" for c, n in reading.keyed]
    return f"{reading.type}({', '.join(own)})" if own else reading.type


def _timed(node: Expr) -> bool:
    """Does a bound need the times of a window?"""
    if isinstance(node, syntax.Aggregate):
        return node.within is not None
    bound = getattr(node, "bound", None)
    return isinstance(bound, syntax.Bound) and bound.op in ("=", ">=", ">", "in")


# --- partition keys (5.3) ---------------------------------------------------------------------------------------------


def choices(rule: Rule, seen: Mapping[str, Schema]) -> tuple[Choice, ...]:
    """The ways to split a trigger: by a generic variable, if all that it reads is restricted by it.

    ``seen``: the types of the data; a table whose keys change (``old``) cannot be split.
    """
    if rule.observes_all or (rule.query is not None and rule.query.clocked):
        return ()
    every = [*rule.readings, *(r for _, e in rule.emit or () for r in readings(e, rule.sources))]
    out = []
    for place, (name, _) in enumerate(rule.generics):
        columns = _columns(rule, place, name, every)
        if columns is None or any(t in rule.sources.tables and "old" in seen.get(t, Schema()) for t in columns):
            continue
        passes = frozenset({name}) if rule.emit is None else frozenset(
            n for n, e in rule.emit if isinstance(e, Generic) and e.name == name
        )  # fmt: skip
        out.append(Choice(tuple((t, (c,)) for t, c in sorted(columns.items())), passes))
    return tuple(out)


def _columns(rule: Rule, place: int, name: str, every: Iterable[Reading]) -> dict[str, str] | None:
    """Per type the column that has the value of a generic variable in all rows that are read."""
    found: dict[str, set[str]] = {t: {name} for t in rule.split}
    for reading in every:
        if reading.type in rule.split:
            continue
        own = {c for c, n in reading.keyed if n == name}
        found[reading.type] = found.get(reading.type, own) & own
    if rule.query is not None:
        of_query = _column_of_query(rule, place)
        if of_query is None:
            return None
        table, column = of_query
        found[table] = found.get(table, {column}) & {column}
    for type_, shape in rule.sources.tables.items():
        keys = {shape.columns[i] for i in shape.keys}
        found[type_] = found.get(type_, set()) & keys
    types = {*rule.sources.tables, *rule.sources.states, *rule.sources.events}
    if set(found) != types or not all(found.values()):
        return None
    return {t: min(c) for t, c in found.items()}


def _column_of_query(rule: Rule, place: int) -> tuple[str, str] | None:
    """(table, column) that a generic variable comes from, if the query looks at one row at a time."""
    plain = None if rule.query is None else rule.query.plain
    if plain is None or place >= len(plain.columns):
        return None
    return plain.table, rule.sources.tables[plain.table].columns[plain.columns[place]]


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
