"""Conditions and keys of a pattern as code of the machine, and the columns of events that this code reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import Binary, DurationLiteral, Expr, Ref, conjunction, conjuncts, rewrite
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels import stackcode
from occurs.operators.rule_bytecode import KINDS, Code, Coder, Unsupported
from occurs.operators.sequence.tree import Atom, Node, Sequence

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
        for node in nodes_of(sequence.root):
            if isinstance(node, Atom):
                self.types[node.tag] = node.types
        self.coder = _Coder(self)
        self.words: list[Word] = []
        #: the types whose events have these words
        self.word_types: list[set[str]] = []
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
        number = self._add(Asked(expr, None, key=True), [(expr, True)])

        def empty(leaf: Expr) -> pa.Array:
            assert isinstance(leaf, Ref)
            assert leaf.scope is not None
            if leaf.name == "time":
                return pa.array([], EMPTY[Type.TIMESTAMP])
            return pa.array([], EMPTY[self.attribute_type(self.types[leaf.scope], leaf.name)])

        return number, evaluate(expr, empty, 0, kind=self.kind, dialect=EPL).type

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

        def empty(leaf: Expr) -> pa.Array:
            assert isinstance(leaf, Ref)
            if leaf.name == "time":
                return pa.array([], pa.timestamp("us"))
            return pa.array([], EMPTY[self.attribute_type(types, leaf.name)])

        type = evaluate(expr, empty, 0, kind=self.kind, dialect=EPL).type
        if type is Type.NULL:
            raise Unsupported("null")
        return self.word(expr, type, types), type

    def attribute_type(self, types: tuple[str, ...], name: str) -> Type:
        found = {self.schemas[t][name] for t in types if t in self.schemas and name in self.schemas[t]}
        if len(found) != 1:
            raise Unsupported(name)
        return found.pop()

    def role(self, tag: str, index: int | None) -> int:
        name = (self.tags[tag], -1 if index is None else index)
        return self._roles.setdefault(name, len(self._roles))

    # -- tables ------------------------------------------------------------------------------------------------------
    @property
    def roles(self) -> int:
        return len(self._roles)

    def tables(self, overflowed: set[int]) -> tuple[np.ndarray, ...]:
        """(conditions, code ranges, needs, roles); conditions that read a word in ``overflowed`` are asked for."""
        conditions = np.array(self._conditions, np.int64).reshape(-1, T.CONDITION_FIELDS)
        for number, reads in enumerate(self.reads):
            if reads & overflowed:
                conditions[number, T.ASKS] = 1
        return (
            conditions,
            np.array(self._parts, np.int64).reshape(-1, 2),
            np.array(self._needs or [0], np.int64),
            np.array(list(self._roles) or [(0, 0)], np.int64).reshape(-1, 2),
        )


@dataclass
class _Names:
    """How the coder is asked for texts: it notes where their numbers will be."""

    rules: Rules

    def __call__(self, text: str) -> int:
        self.rules.texts.append((len(self.rules.coder.ints), text))
        return 0


class _Coder(Coder):
    """Codes what the machine can do itself; of the rest, what depends on one event becomes a computed column."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(lambda role, name: (0, Type.NULL), _Names(rules), wide=True)
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

    def _put(self, made: Code) -> tuple[int, int]:
        depth = deepest = 0
        for op, _, _ in made:
            if op <= stackcode.REF_TIME:
                depth += 1
            elif op == stackcode.CHOOSE:
                depth -= 2
            elif op not in _UNARY:
                depth -= 1
            deepest = max(deepest, depth)
        if deepest >= stackcode.STACK:
            raise Unsupported("long expression")
        begin = len(self.code)
        self.code += made
        return begin, len(self.code)

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


_UNARY = {
    stackcode.TO_FLOAT,
    stackcode.NEGATE,
    stackcode.NEGATE_FLOAT,
    stackcode.NOT,
    stackcode.IS_NULL,
    stackcode.EXACT,
    stackcode.ABSOLUTE,
    stackcode.ABSOLUTE_FLOAT,
}


def nodes_of(node: Node) -> list[Node]:
    """A node and all below it, parents first, as the tree has them."""
    out = [node]
    for child in node.children:
        out += nodes_of(child)
    return out
