"""A pattern's tree as the tables that the machine runs on (see kernels/pattern_tables.py)."""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace

import numpy as np

from occurs.model.types import Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import ALLOWED, DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY
from occurs.operators.sequence.rulecode import Rules
from occurs.operators.sequence.tree import (
    And,
    At,
    Atom,
    Every,
    Followed,
    Interval,
    Node,
    Not,
    Or,
    Repeat,
    Sequence,
    Until,
    While,
    Within,
)

#: an `and` keeps the set of its children in one word
_MOST_OPERANDS = 60
_WORDS = {
    Atom: "filter",
    Followed: "->",
    Every: "every",
    Not: "not",
    And: "and",
    Or: "or",
    Until: "until",
    Repeat: "[n]",
    Within: "timer:within",
    While: "while",
    Interval: "timer:interval",
    At: "timer:at",
}
_KINDS = {
    Atom: T.ATOM,
    Followed: T.FOLLOWED,
    Every: T.EVERY,
    Not: T.NOT,
    And: T.AND,
    Or: T.OR,
    Until: T.UNTIL,
    Repeat: T.REPEAT,
    Within: T.WITHIN,
    While: T.WHILE,
    Interval: T.INTERVAL,
    At: T.AT,
}
#: fields of a calendar: where their numbers begin in the table of those allowed, and the numbers that there are
_FIELDS = ((SECOND, 0, 60), (MINUTE, 0, 60), (HOUR, 0, 24), (DAY, 1, 32), (MONTH, 1, 13), (WEEKDAY, 0, 7))


@dataclass
class Layout:
    """``nodes``: by number, parents before children; ``atoms``: by number.  The rest: see kernels/pattern_machine.py.

    ``width``: fields of an instance.  ``keys_width``: fields of an accepted key.
    ``text_keys``: which keys of every-distinct are texts.  ``zone``: of the calendars.
    """

    nodes: list[Node] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    node_table: np.ndarray = field(default_factory=lambda: np.zeros((0, T.NODE_FIELDS), np.int64))
    children: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    limits: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    atom_table: np.ndarray = field(default_factory=lambda: np.zeros((0, T.ATOM_FIELDS), np.int64))
    equals: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    keys: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    text_keys: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    tag_lists: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    calendars: np.ndarray = field(default_factory=lambda: np.zeros((1, ALLOWED), np.bool_))
    tick: int = 1
    zone: str = "UTC"
    width: int = T.INSTANCE_FIELDS
    keys_width: int = T.KEY_FIELDS
    most_keys: int = 1

    def word(self, node: int) -> str:
        """What users call a node."""
        return _WORDS[type(self.nodes[node])]


def lay_out(sequence: Sequence, rules: Rules) -> Layout:
    """The tables of a pattern; its conditions are put into ``rules``."""
    return _Builder(sequence, rules).build()


class _Builder:
    def __init__(self, sequence: Sequence, rules: Rules) -> None:
        self.tags = {tag: number for number, (tag, _) in enumerate(sequence.tags)}
        self.root = _narrow(sequence.root)
        self.rules = rules
        self.out = Layout()
        lists = np.cumsum([many for _, many in sequence.tags]) - 1
        many = np.array([m for _, m in sequence.tags], np.bool_)
        self.out.tag_lists = np.where(many, lists, -1).astype(np.int64)
        self.rows: list[list[int]] = []
        self.children: list[int] = []
        self.limits: list[int] = []
        self.atom_rows: list[list[int]] = []
        self.equals: list[tuple[int, int, int]] = []
        self.keys: list[tuple[int, int]] = []
        self.text_keys: list[bool] = []
        self.calendars: list[np.ndarray] = []

    def build(self) -> Layout:
        self._node(self.root, 0, 2)
        out = self.out
        out.node_table = np.array(self.rows, np.int64)
        out.children = np.array(self.children or [0], np.int64)
        out.limits = np.array(self.limits or [0], np.int64)
        out.atom_table = np.array(self.atom_rows, np.int64).reshape(-1, T.ATOM_FIELDS)
        out.equals = np.array(self.equals, np.int64).reshape(-1, 3)
        out.keys = np.array(self.keys, np.int64).reshape(-1, 2)
        out.text_keys = np.array(self.text_keys, np.bool_)
        out.calendars = np.array(self.calendars or [np.zeros(ALLOWED, np.bool_)])
        return out

    def _node(self, node: Node, position: int, rank: int) -> int:
        """``rank``: 0 below a `not`, 1 below the end of an `until`, else 2."""
        number = len(self.rows)
        row = [0] * T.NODE_FIELDS
        row[T.KIND] = _KINDS[type(node)]
        row[T.N_KIDS] = len(node.children)
        row[T.POSITION] = position
        row[T.INSTANT] = int(instant(node))
        row[T.ABSENT] = int(rank < 2)
        self.rows.append(row)
        self.out.nodes.append(node)
        row[T.KIDS] = first = len(self.children)
        self.children += [0] * len(node.children)
        for k, child in enumerate(node.children):
            below = rank
            if isinstance(node, Not):
                below = 0
            elif isinstance(node, Until) and k == 1:
                below = min(rank, 1)
            self.children[first + k] = self._node(child, k, below)
        self._fields(node, row, number, rank)
        return number

    def _fields(self, node: Node, row: list[int], number: int, rank: int) -> None:
        if isinstance(node, Atom):
            row[T.ONE] = len(self.out.atoms)
            self._atom(node, number, rank)
        elif isinstance(node, Followed):
            row[T.ONE] = -1
            if any(limit is not None for limit in node.limits):
                row[T.ONE] = len(self.limits)
                self.limits += [-1 if limit is None else limit for limit in node.limits]
                self.out.width = max(self.out.width, T.INSTANCE_FIELDS + len(node.operands))
        elif isinstance(node, Every):
            row[T.ONE] = len(self.keys)
            for k in node.keys:
                condition, type = self.rules.key(k)
                self.keys.append((condition, int(type is Type.FLOAT)))
                self.text_keys.append(type is Type.STRING)
            row[T.TWO] = len(self.keys)
            row[T.THREE] = -1 if node.expiry is None else node.expiry
            self.out.keys_width = max(self.out.keys_width, T.KEY_FIELDS + len(node.keys))
            self.out.most_keys = max(self.out.most_keys, len(node.keys))
        elif isinstance(node, And):
            positive = [k for k, child in enumerate(node.operands) if not isinstance(child, Not)]
            row[T.ONE] = sum(1 << k for k in positive)
            row[T.TWO] = len(positive)
        elif isinstance(node, Until):
            row[T.ONE] = node.low
            row[T.TWO] = -1 if node.high is None else node.high
            row[T.THREE] = int(node.low == node.high)
        elif isinstance(node, Repeat):
            row[T.ONE], row[T.TWO], row[T.THREE] = node.count, node.count, 1
        elif isinstance(node, Within):
            row[T.ONE] = node.ticks
            row[T.TWO] = -1 if node.count is None else node.count
        elif isinstance(node, While):
            row[T.ONE] = self.rules.condition((node.condition,), None)
        elif isinstance(node, Interval):
            row[T.ONE] = node.ticks
        elif isinstance(node, At):
            row[T.ONE] = len(self.calendars)
            self.calendars.append(_allowed(node.fields))
            self.out.tick, self.out.zone = node.tick, node.zone

    def _atom(self, node: Atom, number: int, rank: int) -> None:
        row = [0] * T.ATOM_FIELDS
        row[T.CLASS] = rank
        row[T.LEVEL] = node.level
        row[T.TAG] = self.tags[node.tag]
        row[T.OWN_NODE] = number
        row[T.EQUALS] = len(self.equals)
        equal, others = self.rules.hashable(node)
        for own, tag, column in equal:
            self.equals.append((own, self.tags[tag], column))
        row[T.EQUALS_END] = len(self.equals)
        row[T.CONDITION] = self.rules.condition(others, node) if others else -1
        self.out.atoms.append(node)
        self.atom_rows.append(row)


def instant(node: Node) -> bool:
    """May it be true as soon as it starts?"""
    if isinstance(node, Atom | Interval | At):
        return False
    if isinstance(node, Not):
        return True
    below = [instant(child) for child in node.children]
    if isinstance(node, And | Followed):
        return all(below)
    return any(below)


def _narrow(node: Node) -> Node:
    """The same with no `and` of more operands than fit into a set."""
    if isinstance(node, Atom | Interval | At):
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


def _allowed(fields: tuple[tuple[int, ...] | None, ...]) -> np.ndarray:
    out = np.zeros(ALLOWED, np.bool_)
    for (begin, low, high), numbers in zip(_FIELDS, fields, strict=True):
        for n in range(low, high) if numbers is None else numbers:
            out[begin + n] = True
    return out
