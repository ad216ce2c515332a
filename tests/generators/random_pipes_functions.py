"""Random functions of pipes, right in types by construction, and small enough to stay within 64 bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occurs.expr.tree import Binary, Call, Expr, IsNull, Literal, Param, Ref, Unary
from occurs.model.types import Type
from occurs.operators.process.tree import Attribute, Input, ListOf, SetOf, TrooleanLiteral

#: what a random pipe may carry; an event has the attributes of :data:`ATTRIBUTES`
KINDS = ("int", "number", "bool", "text", "list", "troolean")
ATTRIBUTES = {"v": "int", "f": "number", "b": "bool", "k": "text"}
TEXTS = ("a", "b", "c", "ab")

_TYPES: dict[type, Type] = {int: Type.INT, float: Type.FLOAT, str: Type.STRING, bool: Type.BOOL, type(None): Type.NULL}


def literal(value: Any) -> Literal:
    """A constant."""
    return Literal(value, _TYPES[type(value)])


class Functions:
    """Makes functions of inputs of known kinds in a context of variables of known kinds."""

    def __init__(self, rng: random.Random, inputs: Sequence[str], context: Mapping[str, str] | None = None) -> None:
        self.rng, self.inputs, self.context = rng, inputs, context or {}

    def of(self, kind: str, depth: int) -> Expr:
        """A function with a result of this kind."""
        leaves = self.leaves(kind)
        if depth <= 0 or (leaves and self.rng.random() < 0.25):
            return self.rng.choice(leaves) if leaves and self.rng.random() < 0.85 else self.constant(kind)
        make: Callable[[int], Expr] = getattr(self, f"_{kind}")
        return make(depth - 1)

    def leaves(self, kind: str) -> list[Expr]:
        """Inputs, attributes and variables of a kind."""
        found: list[Expr] = [Input(i) for i, k in enumerate(self.inputs) if k == kind]
        for i, k in enumerate(self.inputs):
            if k == "event":
                names = [n for n, of in ATTRIBUTES.items() if of == kind]
                found += [Attribute(Input(i), n) for n in names]
                found += [Ref(None, n) for n in names if "event" not in self.inputs[:i]]
        return found + [Param(n) for n, k in self.context.items() if k == kind]

    def constant(self, kind: str) -> Expr:
        """A constant of a kind; null now and then."""
        rng = self.rng
        if rng.random() < 0.05:
            return literal(None)
        if kind == "list":
            return ListOf(tuple(literal(rng.randint(0, 3)) for _ in range(rng.randint(0, 2))))
        if kind == "troolean":
            return TrooleanLiteral("?")
        values: dict[str, Any] = {
            "int": rng.randint(-2, 4),
            "number": rng.choice((0.5, -1.5, 2.0)),
            "bool": rng.random() < 0.5,
            "text": rng.choice(TEXTS),
        }
        return literal(values[kind])

    def domain(self, depth: int) -> Expr:
        """A list or set of ints, to quantify over."""
        parts = tuple(self.of("int", depth) for _ in range(self.rng.randint(0, 2)))
        whole: Expr = ListOf(parts) if self.rng.random() < 0.5 else SetOf(parts)
        lists = self.leaves("list")
        return self.rng.choice(lists) if lists and self.rng.random() < 0.5 else whole

    def _int(self, depth: int) -> Expr:
        rng = self.rng
        choice = rng.randrange(9)
        if choice <= 2:
            return Binary(rng.choice("+-"), self.of("int", depth), self.of("int", depth))
        if choice == 3:
            return Binary("*", self.of("int", depth), literal(rng.randint(-2, 3)))
        if choice == 4:
            return Binary(rng.choice(("mod", "div")), self.of("int", depth), literal(rng.choice((2, 3, -2, 0))))
        if choice == 5:
            name = rng.choice(("maximum", "minimum", "coalesce"))
            return Call(name, (self.of("int", depth), self.of("int", depth)))
        if choice == 6:
            return Call("if", (self.of("bool", depth), self.of("int", depth), self.of("int", depth)))
        if choice == 7 and self.leaves("list"):
            return Call(rng.choice(("size", "sum")), (self.of("list", depth),))
        return Call(rng.choice(("abs", "signum")), (self.of("int", depth),))

    def _number(self, depth: int) -> Expr:
        rng = self.rng
        choice = rng.randrange(4)
        if choice == 0:
            return Binary("/", self.of("int", depth), literal(rng.choice((2, 4, -1))))
        if choice == 1:
            return Binary(rng.choice("+-"), self.of("number", depth), self.of("int", depth))
        if choice == 2 and self.leaves("list"):
            return Call("mean", (self.of("list", depth),))
        return Call(rng.choice(("floor", "ceil", "round", "abs")), (self.of("number", depth),))

    def _bool(self, depth: int) -> Expr:
        rng = self.rng
        choice = rng.randrange(8)
        if choice <= 2:
            kind = rng.choice(("int", "int", "number", "text"))
            op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
            return Binary(op, self.of(kind, depth), self.of(kind, depth))
        if choice == 3:
            return Unary("not", self.of("bool", depth))
        if choice == 4:
            return IsNull(self.of(rng.choice(("int", "text")), depth), rng.random() < 0.5)
        if choice == 5:
            return Call("implies", (self.of("bool", depth), self.of("bool", depth)))
        if choice == 6 and self.leaves("list"):
            return Call("in", (self.of("int", depth), self.of("list", depth)))
        return Binary(rng.choice(("and", "or")), self.of("bool", depth), self.of("bool", depth))

    def _text(self, depth: int) -> Expr:
        rng = self.rng
        choice = rng.randrange(3)
        if choice == 0:
            return Call("concat", (self.of("text", depth), self.of("text", depth)))
        if choice == 1:
            return Call("substring", (self.of("text", depth), literal(rng.randint(1, 2)), literal(1)))
        return Call("if", (self.of("bool", depth), self.of("text", depth), self.of("text", depth)))

    def _list(self, depth: int) -> Expr:
        return ListOf(tuple(self.of("int", depth) for _ in range(self.rng.randint(0, 3))))

    def _troolean(self, depth: int) -> Expr:
        rng = self.rng
        if rng.random() < 0.6:
            return Call(rng.choice(("troolean", "hard", "soft")), (self.of("bool", depth),))
        return Binary(rng.choice(("and", "or")), self.of("troolean", depth), self.of("troolean", depth))
