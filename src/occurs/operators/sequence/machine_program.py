"""What the machine of patterns runs: the tree of a pattern as tables (see kernels/pattern_tables.py), its conditions
and keys as code, and the columns of events that this code reads."""

from __future__ import annotations

from collections.abc import Mapping, Set
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import Binary, DurationLiteral, Expr, Ref, conjunction, conjuncts, rewrite
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels import stackcode
from occurs.operators.kernels.pattern_timers import ALLOWED, AT
from occurs.operators.rule_bytecode import KINDS, Code, Coder, Unsupported
from occurs.operators.sequence.timers import Timer
from occurs.operators.sequence.tree import (
    And,
    Atom,
    Every,
    Followed,
    Node,
    Not,
    Or,
    Repeat,
    Sequence,
    Shift,
    Until,
    While,
    Within,
    at_once,
)

#: an `and` keeps the set of its children in one word
_MOST_OPERANDS = 60
#: per kind of node its number, and what users call it
_KINDS = {
    Atom: (T.ATOM, "filter"),
    Followed: (T.FOLLOWED, "->"),
    Every: (T.EVERY, "every"),
    Not: (T.NOT, "not"),
    And: (T.AND, "and"),
    Or: (T.OR, "or"),
    Until: (T.UNTIL, "until"),
    Repeat: (T.REPEAT, "[n]"),
    Within: (T.WITHIN, "timer:within"),
    While: (T.WHILE, "while"),
}


class Layout:
    """The tables of a pattern; its conditions are put into ``rules``.

    ``nodes``: by number, parents before children; ``atoms``: by number.  The rest: see kernels/pattern_machine.py.
    ``at_nodes``: the numbers of the calendars' nodes.  ``width``: fields of an instance.  ``keys_width``: fields of an
    accepted key.  ``text_keys``: which keys of every-distinct are texts.  ``zones``: of the calendars, by number.
    ``longest``: microseconds of the longest shift.
    """

    def __init__(self, sequence: Sequence, rules: Rules) -> None:
        self.rules = rules
        self.nodes: list[Node] = []
        self.atoms: list[Atom] = []
        self.tick, self.longest = 1, 0
        self.zones: list[str] = []
        self.width, self.keys_width, self.most_keys = T.INSTANCE_FIELDS, T.KEY_FIELDS, 1
        self._tags = {tag: number for number, (tag, _) in enumerate(sequence.tags)}
        self._rows: list[list[int]] = []
        self._children: list[int] = []
        self._limits: list[int] = []
        self._atom_rows: list[list[int]] = []
        self._equals: list[tuple[int, int, int]] = []
        self._keys: list[tuple[int, int]] = []
        self._text_keys: list[bool] = []
        self._calendars: list[np.ndarray] = []
        self._node(_narrow(sequence.root), 0, 2)
        many = np.array([m for _, m in sequence.tags], np.bool_)
        self.tag_lists = np.where(many, np.cumsum(many) - 1, -1).astype(np.int64)
        self.node_table = np.array(self._rows, np.int64)
        self.at_nodes = np.flatnonzero(self.node_table[:, T.KIND] == AT).tolist()
        self.children = np.array(self._children or [0], np.int64)
        self.limits = np.array(self._limits or [0], np.int64)
        self.atom_table = np.array(self._atom_rows, np.int64).reshape(-1, T.ATOM_FIELDS)
        self.equals = np.array(self._equals, np.int64).reshape(-1, 3)
        self.keys = np.array(self._keys, np.int64).reshape(-1, 2)
        self.text_keys = np.array(self._text_keys, np.bool_)
        self.calendars = np.array(self._calendars or [np.zeros(ALLOWED, np.bool_)])

    def word(self, node: int) -> str:
        """What users call a node."""
        found = self.nodes[node]
        return found.word if isinstance(found, Timer) else _KINDS[type(found)][1]

    def _node(self, node: Node, position: int, rank: int) -> int:
        """``rank``: 0 below a `not`, 1 below the end of an `until`, else 2."""
        number = len(self._rows)
        row = [0] * T.NODE_FIELDS
        row[T.KIND] = node.kind if isinstance(node, Timer) else _KINDS[type(node)][0]
        row[T.N_KIDS] = len(node.children)
        row[T.POSITION] = position
        row[T.INSTANT] = int(at_once(node))
        row[T.ABSENT] = int(rank < 2)
        self._rows.append(row)
        self.nodes.append(node)
        row[T.KIDS] = first = len(self._children)
        self._children += [0] * len(node.children)
        for k, child in enumerate(node.children):
            below = rank
            if isinstance(node, Not):
                below = 0
            elif isinstance(node, Until) and k == 1:
                below = min(rank, 1)
            self._children[first + k] = self._node(child, k, below)
        self._fields(node, row, number, rank)
        return number

    def _fields(self, node: Node, row: list[int], number: int, rank: int) -> None:
        if isinstance(node, Atom):
            row[T.ONE] = len(self.atoms)
            self._atom(node, number, rank)
        elif isinstance(node, Followed):
            row[T.ONE] = -1
            if any(limit is not None for limit in node.limits):
                row[T.ONE] = len(self._limits)
                self._limits += [-1 if limit is None else limit for limit in node.limits]
                self.width = max(self.width, T.INSTANCE_FIELDS + len(node.operands))
        elif isinstance(node, Every):
            row[T.ONE] = len(self._keys)
            for k in node.keys:
                condition, type = self.rules.key(k)
                self._keys.append((condition, int(type is Type.FLOAT)))
                self._text_keys.append(type is Type.STRING)
            row[T.TWO] = len(self._keys)
            row[T.THREE] = -1 if node.expiry is None else node.expiry
            self.shift(node.shift, row)
            row[T.LONGEST] = row[T.THREE]
            if node.shift is not None:
                days = 366 * node.shift.years + 31 * node.shift.months + node.shift.days + 1
                row[T.LONGEST] += -(-days * 86_400_000_000 // node.shift.tick)
            self.keys_width = max(self.keys_width, T.KEY_FIELDS + len(node.keys))
            self.most_keys = max(self.most_keys, len(node.keys))
        elif isinstance(node, And):
            positive = [k for k, child in enumerate(node.operands) if not isinstance(child, Not)]
            row[T.ONE] = sum(1 << k for k in positive)
            row[T.TWO] = len(positive)
        elif isinstance(node, Until):
            row[T.ONE] = node.low
            row[T.TWO] = -1 if node.high is None else node.high
            row[T.THREE] = int(node.low == node.high)
            row[T.LENGTH] = int(node.bounds is not None)
        elif isinstance(node, Repeat):
            row[T.ONE], row[T.TWO], row[T.THREE] = node.count, node.count, 1
            row[T.LENGTH] = int(node.bounds is not None)
        elif isinstance(node, Within):
            row[T.ONE] = node.ticks
            row[T.TWO] = -1 if node.count is None else node.count
            row[T.LENGTH] = int(bool(node.length))
            self.shift(node.shift, row)
        elif isinstance(node, While):
            row[T.ONE] = self.rules.condition((node.condition,), None)
        elif isinstance(node, Timer):
            row[T.STAYS] = int(node.stays)
            node.fill(row, self)

    def shift(self, shift: Shift | None, row: list[int]) -> None:
        """Put years, months and days into the row of a node."""
        if shift is not None:
            row[T.SHIFTED] = 1
            row[T.YEARS], row[T.MONTHS], row[T.DAYS] = shift.years, shift.months, shift.days
            self.tick, row[T.ZONE] = shift.tick, self.zone(shift.zone)
            days = 366 * shift.years + 31 * shift.months + shift.days
            self.longest = max(self.longest, days * 86_400_000_000)

    def calendar(self, allowed: np.ndarray, tick: int, zone: str, row: list[int]) -> None:
        """Put a calendar into the row of a node."""
        row[T.ONE], row[T.ZONE] = len(self._calendars), self.zone(zone)
        self._calendars.append(allowed)
        self.tick = tick

    def zone(self, zone: str) -> int:
        """The number of a zone."""
        if zone not in self.zones:
            self.zones.append(zone)
        return self.zones.index(zone)

    def _atom(self, node: Atom, number: int, rank: int) -> None:
        row = [0] * T.ATOM_FIELDS
        row[T.CLASS] = rank
        row[T.LEVEL] = node.level
        row[T.TAG] = self._tags[node.tag]
        row[T.OWN_NODE] = number
        row[T.EQUALS] = len(self._equals)
        equal, others = self.rules.hashable(node)
        for own, tag, column in equal:
            self._equals.append((own, self._tags[tag], column))
        row[T.EQUALS_END] = len(self._equals)
        row[T.CONDITION] = self.rules.condition(others, node) if others else -1
        self.atoms.append(node)
        self._atom_rows.append(row)


def _narrow(node: Node) -> Node:
    """The same with no `and` of more operands than fit into a set."""
    if isinstance(node, Atom | Timer):
        return node
    if isinstance(node, Until):
        return replace(node, operand=_narrow(node.operand), end=_narrow(node.end))
    if isinstance(node, And):
        return _bundled([_narrow(child) for child in node.operands])
    if isinstance(node, Or | Followed):
        return replace(node, operands=tuple(_narrow(child) for child in node.operands))
    return replace(node, operand=_narrow(node.children[0]))  # type: ignore[call-arg]


def _bundled(operands: Many[Node]) -> And:
    """An `and` in an `and` says the same, as long as each has an operand that is no `not`."""
    if len(operands) <= _MOST_OPERANDS:
        return And(tuple(operands))
    positive = [n for n in operands if not isinstance(n, Not)]
    absent = [n for n in operands if isinstance(n, Not)]
    if len(absent) >= _MOST_OPERANDS:
        # of each few, one that is there for all: false as soon as one of them is
        some = _MOST_OPERANDS - 2
        rest = And((*positive[:1], *absent[:some]))
        return _bundled([rest, *positive[1:], *absent[some:]])
    some = _MOST_OPERANDS
    return _bundled([And(tuple(positive[:some])), *positive[some:], *absent])


# -- conditions and keys as code ---------------------------------------------------------------------------------------
#: Arrow types of columns that expressions are evaluated on
EMPTY = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.STRING: pa.string(), Type.BOOL: pa.bool_()}
EMPTY |= {Type.TIMESTAMP: pa.timestamp("us"), Type.DURATION: pa.int64(), Type.NULL: pa.null()}


@dataclass(frozen=True)
class Word:
    """A column of the machine's pool: an attribute (``expr`` is a reference) or what is computed from one event."""

    expr: Expr
    type: Type


@dataclass
class Asked:
    """What Python answers if the machine asks: ``expr`` is a condition, or (``key``) a value; ``own``: the tag of the
    event at hand."""

    expr: Expr
    own: str | None
    key: bool = False


class Rules:
    """``schemas``: the attributes of every type that the pattern reads."""

    def __init__(self, sequence: Sequence, schemas: Mapping[str, Mapping[str, Type] | Schema], kind: TimeKind) -> None:
        self.schemas = schemas
        self.kind = kind
        self.tags = {tag: number for number, (tag, _) in enumerate(sequence.tags)}
        self.types: dict[str, tuple[str, ...]] = {}
        for node in sequence.root.walk():
            if isinstance(node, Atom):
                self.types[node.tag] = node.types
        self.coder = _Coder(self)
        self.words: list[Word] = []
        #: the types whose events have these words
        self.word_types: list[set[str]] = []
        self._words_of: dict[str, list[tuple[int, Word]]] = {}
        self.asked: list[Asked] = []
        #: the words that code of a condition reads: none of them may hide an overflow
        self.reads: list[set[int]] = []
        #: (place among the coder's ints, text)
        self.texts: list[tuple[int, str]] = []
        self._conditions: list[list[int]] = []
        self._parts: list[tuple[int, int]] = []
        self._needs: list[int] = []
        self._roles: dict[tuple[int, int], int] = {}

    # -- what is coded -----------------------------------------------------------------------------------------------
    def condition(self, conditions: tuple[Expr, ...], atom: Atom | None) -> int:
        """The number of the condition that all ``conditions`` are."""
        parts = [part for c in conditions for part in conjuncts(c)]
        whole = conjunction(parts)
        assert whole is not None
        return self._add(Asked(whole, atom.tag if atom else None), [(part, False) for part in parts])

    def key(self, expr: Expr) -> tuple[int, Type]:
        """(number of the condition that stands for a key, its type)."""
        return self._add(Asked(expr, None, key=True), [(expr, True)]), self._type(expr, ())

    def _type(self, expr: Expr, types: tuple[str, ...]) -> Type:
        """The type of an expression; references without a tag are to events of ``types``."""

        def empty(leaf: Expr) -> pa.Array:
            assert isinstance(leaf, Ref)
            if leaf.name == "time":
                return pa.array([], EMPTY[Type.TIMESTAMP])
            of = types if leaf.scope is None else self.types[leaf.scope]
            return pa.array([], EMPTY[self.attribute_type(of, leaf.name)])

        return evaluate(expr, empty, 0, kind=self.kind, dialect=EPL).type

    def _add(self, asked: Asked, parts: list[tuple[Expr, bool]]) -> int:
        row = [0] * T.CONDITION_FIELDS
        row[T.PARTS], row[T.NEEDS] = len(self._parts), len(self._needs)
        self.coder.begin(asked.own)
        try:
            for part, key in parts:
                self._parts.append(self.coder.part(part, key))
        except Unsupported:
            row[T.ASKS] = 1
            del self._parts[row[T.PARTS] :]
        self._needs += sorted(self.coder.roles)
        row[T.PARTS_END], row[T.NEEDS_END] = len(self._parts), len(self._needs)
        self._conditions.append(row)
        self.asked.append(asked)
        self.reads.append(self.coder.reads)
        return len(self._conditions) - 1

    def hashable(self, atom: Atom) -> tuple[list[tuple[int, str, int]], tuple[Expr, ...]]:
        """The equations by which a filter's instances are found: (own column, tag, column); and all other conditions on
        earlier events."""
        equal, others = [], list(atom.others)
        for own, tag, name in atom.equal:
            try:
                a, mine = self.attribute(atom.types, own)
                b, other = self.attribute(self.types[tag], name)
                if mine is not other or mine not in KINDS or mine is Type.NULL:
                    raise Unsupported(own)
                equal.append((a, tag, b))
            except Unsupported:
                others.append(Binary("=", Ref(None, own), Ref(tag, name)))
        return equal, tuple(others)

    # -- columns -----------------------------------------------------------------------------------------------------
    def attribute(self, types: tuple[str, ...], name: str) -> tuple[int, Type]:
        """(number of the word, type) of an attribute of events of ``types``."""
        type = Type.TIMESTAMP if name == "time" else self.attribute_type(types, name)
        return self.word(Ref(None, name), type, types), type

    def word(self, expr: Expr, type: Type, types: tuple[str, ...]) -> int:
        wanted = Word(expr, type)
        if wanted not in self.words:
            self.words.append(wanted)
            self.word_types.append(set())
        number = self.words.index(wanted)
        self.word_types[number] |= set(types)
        return number

    def computed(self, expr: Expr, types: tuple[str, ...]) -> tuple[int, Type]:
        """(number, type) of the word that has the values of an expression on one event."""
        type = self._type(expr, types)
        if type is Type.NULL:
            raise Unsupported("null")
        return self.word(expr, type, types), type

    def attribute_type(self, types: tuple[str, ...], name: str) -> Type:
        found = {self.schemas[t][name] for t in types if t in self.schemas and name in self.schemas[t]}
        if len(found) != 1:
            raise Unsupported(name)
        return found.pop()

    def text(self, text: str) -> int:
        """Note where the number of a text will be among the coder's ints."""
        self.texts.append((len(self.coder.ints), text))
        return 0

    def words_of(self, type: str) -> list[tuple[int, Word]]:
        """The words of events of a type, with their numbers; once the pattern is laid out there are no more."""
        if type not in self._words_of:
            self._words_of[type] = [(n, word) for n, word in enumerate(self.words) if type in self.word_types[n]]
        return self._words_of[type]

    def role(self, tag: str, index: int | None) -> int:
        name = (self.tags[tag], -1 if index is None else index)
        return self._roles.setdefault(name, len(self._roles))

    # -- tables ------------------------------------------------------------------------------------------------------
    @property
    def roles(self) -> int:
        return len(self._roles)

    def tables(self, overflowed: Set[int]) -> tuple[np.ndarray, ...]:
        """(conditions, code ranges, needs, roles); conditions that read a word in ``overflowed`` are asked for."""
        conditions, *others = self._tables
        asks = [number for number, reads in enumerate(self.reads) if reads & overflowed] if overflowed else []
        if asks:
            conditions = conditions.copy()
            conditions[asks, T.ASKS] = 1
        return (conditions, *others)

    @cached_property
    def _tables(self) -> tuple[np.ndarray, ...]:
        return (
            np.array(self._conditions, np.int64).reshape(-1, T.CONDITION_FIELDS),
            np.array(self._parts, np.int64).reshape(-1, 2),
            np.array(self._needs or [0], np.int64),
            np.array(list(self._roles) or [(0, 0)], np.int64).reshape(-1, 2),
        )


class _Coder(Coder):
    """Codes what the machine can do itself; of the rest, what depends on one event becomes a computed column."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(lambda role, name: (0, Type.NULL), rules.text, wide=True, ordered=True)
        self.rules = rules
        self.begin(None)

    def begin(self, own: str | None) -> None:
        """From here on another condition is coded."""
        self.own = own
        self.roles: set[int] = set()
        self.reads: set[int] = set()
        self.kind = ""

    def part(self, expr: Expr, key: bool) -> tuple[int, int]:
        made, self.kind = self._expr(expr)
        if not key and self.kind not in ("bool", "null"):
            raise Unsupported(self.kind)
        if not key and self.kind == "null":
            made = [(stackcode.NULL, 0, 0)]
        return self._put(made)

    def _expr(self, e: Expr) -> tuple[Code, str]:
        if isinstance(e, Ref):
            return self._ref(e)
        if isinstance(e, DurationLiteral):
            ticks = self.rules.kind.convert(e.value)
            if ticks is None or ticks.denominator != 1 or abs(ticks) >= 2**63:
                raise Unsupported("duration")
            self.ints.append(int(ticks))
            return [(stackcode.INT, len(self.ints) - 1, 0)], "span"
        try:
            return super()._expr(e)
        except Unsupported:
            return self._computed(e)

    def _ref(self, e: Ref) -> tuple[Code, str]:
        role, types = self._events(e)
        if e.name == "time":
            return [(stackcode.REF_TIME, role, 0)], "time"
        at, type = self.rules.attribute(types, e.name)
        return self._read(role, at, type)

    def _read(self, role: int, at: int, type: Type) -> tuple[Code, str]:
        if type is Type.NULL:
            return [(stackcode.NULL, 0, 0)], "null"
        self.reads.add(at)
        op = stackcode.REF_FLOAT if type is Type.FLOAT else stackcode.REF
        return [(op, role, at)], "span" if type is Type.DURATION else KINDS[type]

    def _events(self, e: Ref) -> tuple[int, tuple[str, ...]]:
        """(role, types) of the event that a reference speaks of; -1: the event at hand."""
        if e.scope is None or (e.scope == self.own and e.index is None):
            if self.own is None:
                raise Unsupported("no event at hand")
            return -1, self.rules.types[self.own]
        role = self.rules.role(e.scope, e.index)
        self.roles.add(role)
        return role, self.rules.types[e.scope]

    def _computed(self, e: Expr) -> tuple[Code, str]:
        refs = [r for r in e.walk() if isinstance(r, Ref)]
        if len({(r.scope, r.index) for r in refs}) != 1:
            raise Unsupported("several events")
        role, types = self._events(refs[0])
        alone = rewrite(e, lambda n: Ref(None, n.name, span=n.span) if isinstance(n, Ref) else None)
        at, found = self.rules.computed(alone, types)
        return self._read(role, at, found)

    def _combined(self, e: Binary, left: Code, a: str, right: Code, b: str) -> tuple[Code, str]:
        if not self.rules.kind.timestamp:
            # times and lengths are numbers of ticks
            a, b = (("int" if k in ("time", "span") else k) for k in (a, b))
            return super()._combined(e, left, a, right, b)
        if e.op in ("+", "-") and {a, b} <= {"time", "span"}:
            result = {("time", "time", "-"): "span", ("time", "span", "+"): "time", ("time", "span", "-"): "time"}
            result |= {("span", "time", "+"): "time", ("span", "span", "+"): "span", ("span", "span", "-"): "span"}
            if (a, b, e.op) not in result:
                raise Unsupported(e.op)
            return [*left, *right, (stackcode.ADD if e.op == "+" else stackcode.SUBTRACT, 0, 0)], result[a, b, e.op]
        return super()._combined(e, left, a, right, b)
