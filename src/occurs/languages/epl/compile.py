"""From resolved queries to patterns as their operator sees them, how each can be split by keys, and the partial matches
that guards end (epl-and-nets.md, sections 4A and 5; common.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa

from occurs.expr.tree import Expr, Literal, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import Atom, Output, ResolvedQuery
from occurs.languages.epl.timers import timer_of
from occurs.model.time import Duration, TimeKind
from occurs.model.types import RESERVED_OUTPUT, Schema, Type
from occurs.operators.definition import Choice
from occurs.operators.sequence import tree
from occurs.operators.sequence.definition import SequenceDefinition, nodes


def compile_query(query: ResolvedQuery, kind: TimeKind, zone: str) -> tree.Sequence:
    """The pattern of a query without problems; times are counted as ``kind`` says, calendars are those of ``zone``."""
    root = Nodes(query.filters, kind, zone).node(query.pattern)
    return tree.Sequence(
        query.name,
        tree.Every(root) if query.query.simple else root,
        query.tags,
        tuple((tag, query.columns.get(tag, frozenset())) for tag in query.atoms),
        query.where,
        tuple((o.name, _value(o)) for o in query.outputs),
        query.query.suppress,
        query.query.discard,
        query.order,
    )


def _value(output: Output) -> Expr:
    if output.struct is not None:
        return tree.Whole(output.struct.tag, output.struct.attributes, output.struct.index)
    assert output.expr is not None
    return output.expr


def _number(bound: int | Expr | None) -> Expr | None:
    return Literal(bound, Type.INT) if isinstance(bound, int) else bound


class Nodes:
    def __init__(self, filters: Iterable[Atom], kind: TimeKind, zone: str):
        #: of the filters that are still to come, in the order of the pattern
        self.filters = iter(filters)
        self.kind = kind
        self.zone = zone

    def node(self, node: syntax.Pattern) -> tree.Node:
        match node:
            case syntax.Filter():
                atom = next(self.filters)
                return tree.Atom(atom.types, atom.tag, atom.own, atom.equal, atom.others, node.consume)
            case syntax.Every():
                return tree.Every(self.node(node.operand))
            case syntax.EveryDistinct():
                if node.expiry is None:
                    return tree.Every(self.node(node.operand), node.keys)
                return tree.Every(self.node(node.operand), node.keys, self.ticks(node.expiry), self.shift(node.expiry))
            case syntax.Not():
                return tree.Not(self.node(node.operand))
            case syntax.Repeat():
                if isinstance(node.count, int):
                    return tree.Repeat(self.node(node.operand), node.count)
                return tree.Repeat(self.node(node.operand), 0, (node.count, node.count))
            case syntax.Until():
                operand, end = self.node(node.operand), self.node(node.end)
                if isinstance(node.low, Expr) or isinstance(node.high, Expr):
                    return tree.Until(0, None, operand, end, (_number(node.low), _number(node.high)))
                return tree.Until(node.low or 0, node.high, operand, end)
            case syntax.And():
                return tree.And(self.all_of(node.operands))
            case syntax.Or():
                return tree.Or(self.all_of(node.operands))
            case syntax.Followed():
                return tree.Followed(self.all_of(node.operands), node.limits)
            case syntax.Within():
                return tree.Within(
                    self.node(node.operand),
                    self.ticks(node.duration),
                    node.count,
                    self.shift(node.duration),
                    self.length(node.duration),
                )
            case syntax.While():
                return tree.While(self.node(node.operand), node.condition)
            case syntax.Timer():
                return timer_of(node).build(node, self)
        raise AssertionError(f"not a pattern: {node}")

    def all_of(self, nodes: tuple[syntax.Pattern, ...]) -> tuple[tree.Node, ...]:
        return tuple(self.node(n) for n in nodes)

    def ticks(self, duration: Duration) -> int:
        if isinstance(duration, syntax.Computed):
            return 1
        found = self.kind.convert(Duration(duration.rest) if isinstance(duration, syntax.Period) else duration)
        assert found is not None
        return int(found)

    def shift(self, duration: Duration) -> tree.Shift | None:
        """The years, months and days of a length with months."""
        if not isinstance(duration, syntax.Period):
            return None
        tick = self.kind.tick
        assert tick is not None
        days = 7 * duration.weeks + duration.days
        return tree.Shift(duration.years, duration.months, days, tick, self.zone)

    def length(self, duration: Duration) -> tuple[tuple[Expr, Fraction], ...]:
        """What a computed length is the sum of: values, each with the ticks of its unit."""
        if not isinstance(duration, syntax.Computed):
            return ()
        tick = self.kind.tick
        assert tick is not None
        return tuple((e, Fraction(size, tick)) for e, size in duration.parts)


# --- the attributes that a pattern can be split by --------------------------------------------------------------------


#: a tag and an attribute of its events
Place = tuple[str, str]


def looks_at_one(root: tree.Node) -> bool:
    """Is every event of a type judged by itself?"""
    return isinstance(root, tree.Every) and isinstance(root.operand, tree.Atom) and not root.keys


def choices(pattern: tree.Sequence) -> tuple[Choice, ...]:
    """All ways to split a pattern by one attribute of each type.

    There are such if each search starts with an event and goes on with events equated with it: ``every t=T -> R`` where
    every filter of R, those below ``not`` too, is equated, may be by way of others, with one attribute of ``t``.
    """
    if looks_at_one(pattern.root):
        atom = next(n for n in nodes(pattern.root) if isinstance(n, tree.Atom))
        places = [(atom.tag, e.name) for _, e in pattern.outputs if isinstance(e, Ref) and e.name != "time"]
        carried = _carried(pattern, {atom.tag})
        found = [_choice(carried, {atom.tag: atom}, {p}) for p in dict.fromkeys(places)]
        return tuple(c for c in found if c is not None)
    first = _first(pattern.root)
    filters = [n for n in nodes(pattern.root) if isinstance(n, tree.Atom)]
    equal = {n.tag: set(n.equal) for n in filters}
    if first is None or any(equal[n.tag] != set(n.equal) for n in filters):
        return ()
    start, distinct = first
    atoms = {n.tag: n for n in filters}
    classes = _classes(atoms.values())
    carried = _carried(pattern, set(_surely(pattern.root)))
    out = []
    for attribute in sorted(a for t, a in classes if t == start):
        members = classes[start, attribute]
        if any(m[0] == start and m < (start, attribute) for m in members):
            continue  # the same class by another attribute of the first event
        if distinct is not None and not members & distinct:
            continue
        found_choice = _choice(carried, atoms, members)
        if found_choice is not None:
            out.append(found_choice)
    return tuple(out)


def _first(root: tree.Node) -> tuple[str, set[Place] | None] | None:
    """The tag of the event that each search starts with, and what ``every-distinct`` tells its events apart by."""
    if not isinstance(root, tree.Followed) or any(limit is not None for limit in root.limits):
        return None
    first = root.operands[0]
    if not isinstance(first, tree.Every) or not isinstance(first.operand, tree.Atom):
        return None
    tag = first.operand.tag
    if not first.keys:
        return tag, None
    return tag, {(tag, k.name) for k in first.keys if isinstance(k, Ref) and k.scope in (tag, None)}


def _classes(atoms: Iterable[tree.Atom]) -> dict[Place, set[Place]]:
    """Per attribute of a tag all that it is equated with, itself too."""
    out: dict[Place, set[Place]] = {}
    for atom in atoms:
        for attribute, tag, other in atom.equal:
            one = out.setdefault((atom.tag, attribute), {(atom.tag, attribute)})
            two = out.setdefault((tag, other), {(tag, other)})
            if one is not two:
                one |= two
                for place in two:
                    out[place] = one
    return out


def _surely(node: tree.Node) -> Iterator[str]:
    """The tags that every match has."""
    if isinstance(node, tree.Atom):
        yield node.tag
    elif not isinstance(node, tree.Or | tree.Not | tree.Until | tree.Repeat):
        for child in node.children:
            yield from _surely(child)


def _carried(pattern: tree.Sequence, surely: set[str]) -> dict[Place, list[str]]:
    """The columns of the derived event that have the value of an attribute, whatever the match; ``surely``: the tags
    that every match has."""
    out: dict[Place, list[str]] = {}
    for name, e in pattern.outputs:
        if isinstance(e, Ref) and e.index is None and e.scope is not None and e.scope in surely:
            out.setdefault((e.scope, e.name), []).append(name)
    return out


def _choice(
    carried: Mapping[Place, Iterable[str]], atoms: Mapping[str, tree.Atom], members: set[Place]
) -> Choice | None:
    """The way to split by a class of equated attributes; None if some filter has none of them.

    ``carried``: the columns that have the value of an attribute.
    """
    by_type: dict[str, set[str]] = {}
    for tag, atom in atoms.items():
        own = {a for t, a in members if t == tag}
        for type in atom.types:
            by_type[type] = by_type[type] & own if type in by_type else set(own)
    if not all(by_type.values()):
        return None
    passes = frozenset(name for m in members for name in carried.get(m, ()))
    return Choice(tuple((t, tuple(sorted(a))) for t, a in sorted(by_type.items())), passes)


# --- the partial matches that `timer:within` ends ---------------------------------------------------------------------


#: before the name of a statement: no type that can be written has such a name
SIDE = "timeouts of "


def timeouts(q: ResolvedQuery, d: SequenceDefinition, schemas: Mapping[str, Schema], name: str) -> SequenceDefinition:
    """The definition of the partial matches that `timer:within` ends.  ``d``: of the query ``q``; ``schemas``: of all
    types; ``name``: under which users find the result.

    It runs by itself: the matches, and what they cost, stay what they are, and a stream can start or stop to ask for it
    at any start.  A row has the time at which the guard ended its pattern and, as in ``select *``, the event of every
    tag by then, null if there was none.  ``where`` and ``@SuppressOverlappingMatches`` are about matches and do not
    apply; ``@DiscardPartialsOnMatch`` does.

    Every search that waits below the guard gives a row: a filter or timer the binding that it started with, a
    repetition the events that it has collected, an ``and`` the results that wait for its other operands.  Left out are
    the start of another row, a row without any event, and everything below a ``not`` or at the end of an ``until``.
    """
    events: dict[str, tree.Whole] = {}
    columns = {tag: set(names) for tag, names in d.pattern.columns}
    for tag, atom in q.atoms.items():
        if not tag.startswith("#"):
            known = schemas.get(atom.types[0], Schema())
            shown = tuple((n, t) for n, t in known if t is not Type.RECORD)
            events[f"{tag}_" if tag in RESERVED_OUTPUT else tag] = tree.Whole(tag, shown)
            columns[tag] |= {n for n, _ in shown}
    pattern = replace(
        d.pattern,
        name=f"{SIDE}{name}",
        columns=tuple((tag, frozenset(names)) for tag, names in columns.items()),
        where=None,
        outputs=tuple(events.items()),
        suppress=False,
        order=(),
    )
    return replace(
        d,
        columns=columns_of(q, pattern),
        name=pattern.name,
        definition=f"{d.identity}/timeouts",
        pattern=pattern,
        splits=choices(pattern),
        kept=(),
        ended=name,
        schema=_schema(events, dict(pattern.tags)),
    )


def columns_of(q: ResolvedQuery, pattern: tree.Sequence) -> dict[str, frozenset[str]]:
    """The attributes that a compiled query needs, by type."""
    out: dict[str, frozenset[str]] = {}
    for tag, names in pattern.columns:
        for t in q.atoms[tag].types:
            out[t] = out.get(t, frozenset()) | names
    return out


def _schema(events: Mapping[str, tree.Whole], many: Mapping[str, bool]) -> Schema:
    """A column per tag: its event, or a list of events."""
    records = []
    for name, whole in events.items():
        record = tree.record_of(whole.attributes)
        records.append((name, pa.list_(record) if many[whole.tag] else record))
    return Schema(tuple((name, Type.RECORD) for name in events), records=tuple(records))
