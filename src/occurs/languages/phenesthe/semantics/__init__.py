"""The reference semantics of Phenesthe: what definitions derive from a finite history (phenesthe.md section 4).

A direct transcription, binding by binding and pair by pair, that is meant to be checked by reading.  It takes time
quadratic and worse, keeps everything, and shares nothing with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.aggregates import plain_aggregate
from occurs.expr.reference import Undecided, clean
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics.formulas import Formulas, Phenomenon
from occurs.languages.phenesthe.semantics.intervals import INFINITY, maximal_range
from occurs.languages.phenesthe.semantics.scope import CONDITION, EVENT, finite, negated, scoped, unbound
from occurs.languages.phenesthe.semantics.values import Binding, joined
from occurs.model.time import TimeKind


@dataclass(frozen=True)
class Row:
    """A row of the history: of an event, or with ``end`` (None: still holds) of something that lasts."""

    type: str
    time: int
    attributes: Mapping[str, Any] = field(default_factory=dict)
    end: int | None = None


#: (attributes, instant), or (attributes, start, end); the end of an open interval is None
Result = tuple[Binding, int] | tuple[Binding, int, int | None]
#: the rows of facts that come from outside, by name
Facts = Mapping[str, Sequence[Mapping[str, Any]]]


def evaluate(
    program: syntax.File | Sequence[syntax.Statement],
    history: Iterable[Row],
    *,
    kind: TimeKind,
    facts: Facts | None = None,
    start: int | None = None,
    until: int | None = None,
    ticks: range | None = None,
) -> dict[str, set[Result]]:
    """What each definition derives, in evaluation order.

    The statements have passed the checks.  ``start`` and ``until`` are the ends of the clock in ticks; *now* is
    ``until``, by default the greatest time or finite end.  An attribute that a row does not give is null.  ``ticks``
    are the instants of co-finite definitions (window mode alone has any).
    """
    statements = program.statements if isinstance(program, syntax.File) else program
    rows = list(clocked(history, start, until))
    known = dict(inputs(statements, rows, facts or {}))
    now = max((t for r in rows for t in (r.time, r.end) if t is not None), default=0) if until is None else until
    out: dict[str, set[Result]] = {}
    for definition in evaluation_order(statements):
        found = derived(definition, Formulas(known, kind, now), ticks)
        known[definition.name.text] = found
        out[definition.name.text] = {_result(values, when) for values, when in found.rows}
    return out


def _result(values: Mapping[str, Any], when: Any) -> Result:
    attributes = frozenset(values.items())
    if isinstance(when, int):
        return attributes, when
    return attributes, when[0], None if when[1] == INFINITY else when[1]


def derived(definition: syntax.Definition, formulas: Formulas, ticks: range | None) -> Phenomenon:
    """The rows of a definition; a variable of the head lives in the whole body."""
    whole = definition.body if definition.where is None else syntax.And(definition.body, definition.where)
    head = frozenset(a.value.name for a in definition.head if isinstance(a.value, syntax.Variable))
    body = scoped(whole, head)
    if ticks is not None and definition.sort == EVENT and not finite(body, formulas.sorts):
        if not head:
            values = {a.name.text: attribute(a.value, {}, Binding(), None, formulas) for a in definition.head}
            names = tuple(a.name.text for a in definition.head)
            return Phenomenon(EVENT, names, tuple((values, t) for t in ticks if formulas.true_at(body, Binding(), t)))
        return absent(definition, body, formulas, ticks)
    rows = []
    for binding, items in formulas.meaning(body).items():
        bound = dict(binding)
        if missing := head - set(bound):
            raise unbound(missing, body)
        for item in items:
            values = {a.name.text: attribute(a.value, bound, binding, item, formulas) for a in definition.head}
            rows.append((values, item))
    return Phenomenon(definition.sort, tuple(a.name.text for a in definition.head), tuple(rows))


def absent(definition: syntax.Definition, body: syntax.Relation, formulas: Formulas, ticks: range) -> Phenomenon:
    """A co-finite definition with variables: the ticks at which the body is true, for every binding under which it is
    not true at another one of them."""
    rows = []
    for binding, instants in formulas.meaning(negated(body)).items():
        if any(t in ticks for t in instants):
            values = {a.name.text: attribute(a.value, dict(binding), binding, None, formulas) for a in definition.head}
            rows += [(values, t) for t in ticks if t not in instants]
    return Phenomenon(EVENT, tuple(a.name.text for a in definition.head), tuple(rows))


def attribute(
    value: syntax.Variable | syntax.Constant | syntax.Measure,
    bound: Mapping[str, Any],
    binding: Binding,
    item: Any,
    formulas: Formulas,
) -> Any:
    """The value of an attribute of a row; what is computed of an interval is null as long as it is open."""
    if isinstance(value, syntax.Variable):
        return bound[value.name]
    if isinstance(value, syntax.Constant):
        return value.value
    start, end = item
    if end == INFINITY:
        return None
    if value.atom is None:
        length = end - start
        return _within(clean(length)) if value.unit is None else float(length) / formulas.ticks(value.unit, value)
    events = {(b, t) for b, t in formulas.matches(value.atom) if start <= t <= end and joined(binding, b) is not None}
    if value.variable is None:
        return len(events)
    found = clean(plain_aggregate(value.function, [dict(b)[value.variable.name] for b, _ in events]))
    return _within(found)


def _within(value: Any) -> Any:
    """A value; an overflow of int64 is an error."""
    if isinstance(value, Undecided):
        raise InputProblem.of("overflow", "overflow of int64 in a value computed from an interval")
    return value


def evaluation_order(statements: Sequence[syntax.Statement]) -> list[syntax.Definition]:
    """The definitions, each after those it reads, ties by place."""
    waiting = [s for s in statements if isinstance(s, syntax.Definition)]
    order: list[syntax.Definition] = []
    while waiting:
        left = {d.name.text for d in waiting}
        ready = next((d for d in waiting if not left & reads(d)), None)
        if ready is None:
            raise DefinitionProblem.of("cycle", " -> ".join(sorted(left)))
        order.append(ready)
        waiting.remove(ready)
    return order


def reads(definition: syntax.Definition) -> set[str]:
    """The phenomena and facts that a definition reads."""
    parts = [definition.body, *([definition.where] if definition.where else []), *definition.measured]
    return {n.name.text for part in parts for n in part.walk() if isinstance(n, syntax.Atom)}


# --- 4.1, 4.6 The history -------------------------------------------------------------------------------------------


def clocked(history: Iterable[Row], start: int | None, until: int | None) -> Iterator[Row]:
    """The rows between the ends of the clock; an end after it is not known."""
    for row in history:
        if (start is None or row.time >= start) and (until is None or row.time <= until):
            late = until is not None and row.end is not None and row.end > until
            values = {name: _without_nan(v) for name, v in row.attributes.items()}
            yield replace(row, attributes=values, end=None if late else row.end)


def _without_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def inputs(
    statements: Sequence[syntax.Statement], rows: Sequence[Row], facts: Facts
) -> Iterator[tuple[str, Phenomenon]]:
    """Every declared input and every fact, by name."""
    written: dict[str, list[tuple[Any, ...]]] = {}
    for s in statements:
        if isinstance(s, syntax.Fact):
            written.setdefault(s.name.text, []).append(tuple(c.value for c in s.values))
    declared = {s.name.text: s for s in statements if isinstance(s, syntax.Declaration)}
    for name, declaration in declared.items():
        if declaration.sort != CONDITION:
            yield name, observed(declaration, [r for r in rows if r.type == name])
    for name in sorted({n for n, d in declared.items() if d.sort == CONDITION} | set(written)):
        if name in declared:
            names = tuple(a.name.text for a in declared[name].attributes)
        else:
            names = tuple(f"a{i}" for i in range(1, len(written[name][0]) + 1))
        given = [dict(zip(names, values, strict=True)) for values in written.get(name, [])]
        outside = [matched(row, names) for row in facts.get(name, [])]
        yield name, Phenomenon(CONDITION, names, tuple((row, None) for row in [*given, *outside]))


def observed(declaration: syntax.Declaration, rows: Sequence[Row]) -> Phenomenon:
    """The rows of an input, with attributes of the declared names."""
    names = tuple(a.name.text for a in declaration.attributes)
    found = [(matched(r.attributes, names), r) for r in rows]
    if declaration.sort == "event":
        return Phenomenon("event", names, tuple((values, r.time) for values, r in found))
    if declaration.changes:
        return Phenomenon("state", names, tuple(changes(found, names)))
    for _, r in found:
        if r.end is not None and r.end < r.time:
            raise InputProblem.of("bad-value", f"a row of {r.type} ends before it begins", value=r.end)
    # rows of a state that share a point coalesce where an atom pools them; of a dynamic all count
    lasting = [(values, (r.time, INFINITY if r.end is None else r.end)) for values, r in found if r.end != r.time]
    return Phenomenon(declaration.sort, names, tuple(lasting))


def matched(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A row with its declared attributes under the declared names: exactly, else ignoring case if only one fits."""
    out = dict(given)
    for name in names:
        if name not in given:
            alike = [n for n in given if n.casefold() == name.casefold()]
            out[name] = given[alike[0]] if len(alike) == 1 else None
    return out


def changes(
    found: Sequence[tuple[dict[str, Any], Row]], names: Sequence[str]
) -> Iterator[tuple[dict[str, Any], tuple[int, float]]]:
    """``as changes``: ``opens ↣ closes`` per values of the declared attributes, null being a value like any other."""
    for key in {tuple(values[n] for n in names) for values, _ in found}:
        mine = [(values, r.time) for values, r in found if tuple(values[n] for n in names) == key]
        opens = {t for values, t in mine if values["holds"] is True}
        closes = {t for values, t in mine if values["holds"] is False}
        for interval in maximal_range(opens, closes):
            yield dict(zip(names, key, strict=True)), interval


# --- window mode ------------------------------------------------------------------------------------------------------


def windows(
    program: syntax.File | Sequence[syntax.Statement],
    history: Sequence[Row],
    *,
    kind: TimeKind,
    window: int,
    step: int,
    facts: Facts | None = None,
    start: int | None = None,
) -> dict[int, dict[str, set[Result]]]:
    """Per query what each definition prints: what reaches into the last ``window`` ticks of the answer of then.

    No row comes late: at a query there is every row that began by then.
    """
    assert window >= step > 0
    out = {}
    for query in queries(history, step, start):
        ticks = range(max(0, query - window + 1), query + 1)
        found = evaluate(program, history, kind=kind, facts=facts, start=start, until=query, ticks=ticks)
        out[query] = {
            name: {r for r in rows if r[-1] is None or r[-1] > query - window} for name, rows in found.items()
        }
    return out


def queries(history: Sequence[Row], step: int, start: int | None) -> Iterator[int]:
    """``start`` + step, ``start`` + 2 step, ... up to the first that is not before the last time or end.

    By default the first query is the first multiple of the step that is not before the first time.  Rows before
    ``start`` are no part of the history.
    """
    if start is not None:
        history = [r for r in history if r.time >= start]
        query = last = start + step
    elif history:
        query = last = -(-min(r.time for r in history) // step) * step
    else:
        return
    last = max((t for r in history for t in (r.time, r.end) if t is not None), default=last)
    yield query
    while query < last:
        query += step
        yield query
