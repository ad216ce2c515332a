"""Which evaluator takes a trigger, and where it finds what it sees (temporal-logic.md 5.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.ahead import network_ahead
from occurs.operators.temporal.network import Builder, Network
from occurs.operators.temporal.tables import Shape
from occurs.operators.temporal.times import REACH
from occurs.operators.temporal.tree import Found, Generic, Happens, Last, TableOf, Time, Value, Variable, ViewOf
from occurs.operators.temporal.trigger import Rule
from occurs.operators.temporal.vectorised import EVENT, STATE, TABLE, Columns, Seen, Stream
from occurs.operators.temporal.vectorising import Formulas, Unsuited, plain

#: generic variables of these types are codes
_KEYS = (Type.INT, Type.STRING)


def over_columns(rule: Rule, notices: bool = False) -> Columns | None:
    """The evaluator over whole columns of a trigger, None if it has no such form.  ``notices``: one that finds the
    instances that can fire no more."""
    try:
        return suited(rule, notices)
    except Unsuited:
        return None


def suited(rule: Rule, notices: bool = False) -> Columns:
    """As :func:`over_columns`; :class:`Unsuited` says what stands against it."""
    if rule.observes_all or (rule.query is not None and rule.query.clocked):
        raise Unsuited("states at which nothing is written that it reads")
    if any(t not in _KEYS for _, t in rule.generics):
        raise Unsuited("a generic variable that is neither an int nor text")
    if rule.gap is not None and rule.gap > REACH:
        raise Unsuited("a duration beyond 64 bits of ticks")
    network = network_of(rule.formula, rule.past, rule.kind, notices)
    emit = None if rule.emit is None else tuple(plain(e) for _, e in rule.emit)
    seen = seen_by(rule, emit or ())
    return Columns(
        rule.name, network, seen, rule.kind, rule.gap or 0, rule.continues, rule.generics, rule.outputs, emit
    )


def network_of(formula: tree.Formula, past: bool, kind: TimeKind, notices: bool = False) -> Network:
    """The network that says at which states a formula fires, without obligations if it can do without them.
    :class:`Unsuited` says why it has none."""
    builder = Builder()
    formulas = Formulas(builder, kind)
    if past:
        return builder.network(formulas.past(formula))
    if not notices or _endless(formula):
        try:
            return builder.network(formulas.future(formula, builder.first()))
        except Unsuited:
            pass
    return network_ahead(formula, kind)


def _endless(f: tree.Formula) -> bool:
    """Can a future trigger always fire once more?  Then no notice is due (4.4)."""
    if not isinstance(f, tree.Eventually) or f.bound is not None:
        return False
    compared = [[n for n in node.walk() if not n.children] for node in f.walk() if isinstance(node, tree.Compare)]
    return not any(any(isinstance(n, Time) for n in c) and all(isinstance(n, _FIXED) for n in c) for c in compared)


_FIXED = (Time, Literal, DurationLiteral, Generic)


# --- where a trigger finds what it sees -------------------------------------------------------------------------------

_SELECT = re.compile(r"(?is)\s*select\s+(?:distinct\s+)?([\w\s,]+?)\s+from\s+(\w+)\s*(?:\bwhere\b(.*))?")
_TEST = re.compile(r"(?s)\s*(\w+)\s*(<=|>=|<>|!=|==|=|<|>)\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?)\s*")


def seen_by(rule: Rule, emit: Sequence[Expr]) -> Seen:
    """The streams of a trigger; :class:`Unsuited`.  ``emit``: the terms of its events."""
    return _Streams(rule).seen(emit)


class _Streams:
    """Streams by what they are; ``wakes`` is entered at the end."""

    def __init__(self, rule: Rule) -> None:
        self.rule, self.sources = rule, rule.sources
        self.names = tuple(n for n, _ in rule.generics)
        self.found: dict[Stream, bool] = {}
        self.leaves: dict[Expr, tuple[Stream, str]] = {}

    def seen(self, emit: Sequence[Expr]) -> Seen:
        split = [self.of_state(name, False) for name in self.rule.split]
        query = self.of_query()
        for node in self.rule.formula.walk():
            self.leaf(node, True)
        for term in emit:
            for node in term.walk():
                self.leaf(node, False)
        numbers = {s: i for i, s in enumerate(self.found)}
        streams = tuple(replace(s, wakes=wakes) for s, wakes in self.found.items())
        leaves = {leaf: (numbers[s], column) for leaf, (s, column) in self.leaves.items()}
        begins = None if query is None else numbers[query]
        return Seen(streams, leaves, begins, tuple(numbers[s] for s in split), self.rule.every or 0)

    def add(self, stream: Stream, wakes: bool) -> Stream:
        self.found[stream] = self.found.get(stream, False) or wakes
        return stream

    def leaf(self, node: Expr, wakes: bool) -> None:
        """Enter the stream of a leaf."""
        match node:
            case Variable():
                self.leaves[node] = self.of_state(node.state, wakes), node.name
            case Value():
                shape = self.sources.tables[node.table]
                columns = [shape.columns[i] for i in shape.keys]
                if not columns:
                    raise Unsuited("a table without keys")
                stream = self.by(TABLE, shape, dict(zip(columns, node.keys, strict=True)))
                self.leaves[node] = self.add(stream, wakes), node.column
            case Happens():
                shape = self.sources.events[node.event]
                stream = self.by(EVENT, shape, dict(zip(node.names, node.args, strict=True)))
                self.leaves[node] = self.add(stream, wakes), ""
            case Last():
                stream = self.by(EVENT, self.sources.events[node.event], {})
                self.leaves[node] = self.add(stream, wakes), node.attribute
            case ViewOf() | TableOf() | Found():
                raise Unsuited("SQL, or a relation")

    def of_state(self, name: str, wakes: bool) -> Stream:
        """The rows of a state type; of each instance its own, or of the only one."""
        split = name in self.rule.split
        if not split and self.names:
            raise Unsuited("values that all instances share")
        shape = self.sources.states[name]
        return self.add(Stream(STATE, shape, self.names if split else ()), name in self.rule.waking if split else wakes)

    def by(self, kind: str, shape: Shape, wanted: dict[str, Expr]) -> Stream:
        """Rows with these values in these columns."""
        keyed: dict[str, str] = {}
        fixed: list[tuple[str, Literal]] = []
        for column, term in wanted.items():
            if isinstance(term, Generic):
                if term.name in keyed:
                    raise Unsuited("two columns of one generic variable")
                keyed[term.name] = column
            elif isinstance(term, Literal) and term.value is not None:
                fixed.append((column, term))
            else:
                raise Unsuited("rows are looked up by values that change")
        if len(keyed) != len(self.names):
            raise Unsuited("values that all instances share")
        return Stream(kind, shape, tuple(keyed[n] for n in self.names), tuple(fixed))

    # --- for each .. in (select ..) -----------------------------------------------------------------------------------

    def of_query(self) -> Stream | None:
        """The rows that activate instances: each by its own."""
        query = self.rule.query
        if query is None:
            return None
        match = _SELECT.fullmatch(query.sql.strip().rstrip(";"))
        tables = {n.lower(): s for n, s in self.sources.tables.items()}
        if match is None or match[2].lower() not in tables:
            raise Unsuited("instances by other SQL than the keys of a table")
        shape = tables[match[2].lower()]
        places = {c.lower(): c for c in shape.columns}
        columns = [places.get(c.strip().lower()) for c in match[1].split(",")]
        if len(columns) != len(self.names) or sorted(map(str, columns)) != sorted(shape.columns[i] for i in shape.keys):
            raise Unsuited("instances by other SQL than the keys of a table")
        types = self.sources.types[shape.name]
        where = tuple(self.test(t, places, types) for t in re.split(r"(?i)\band\b", match[3])) if match[3] else ()
        return self.add(Stream(TABLE, shape, tuple(str(c) for c in columns), (), where), False)

    def test(self, text: str, places: Mapping[str, str], types: Mapping[str, Type]) -> tuple[str, str, Literal]:
        """``column op literal``, of one type."""
        match = _TEST.fullmatch(text)
        column = places.get(match[1].lower()) if match else None
        if match is None or column is None:
            raise Unsuited("instances by other SQL than simple tests")
        type_ = types[column]
        op = {"<>": "!=", "==": "="}.get(match[2], match[2])
        if match[3].startswith("'"):
            value = Literal(match[3][1:-1].replace("''", "'"), Type.STRING)
        else:
            number = match[3]
            value = Literal(float(number), Type.FLOAT) if "." in number else Literal(int(number), Type.INT)
        if (value.type is Type.STRING) != (type_ is Type.STRING) or not (type_ is Type.STRING or type_.numeric):
            raise Unsuited("instances by other SQL than simple tests")
        return column, op, value
