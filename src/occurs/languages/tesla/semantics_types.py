"""What the reference semantics of TESLA has to know of types: whether alternatives are ints or floats, what is a time.

An int beside a float is a float (common.md section 6), also where the float is the alternative that was not taken:
``coalesce(n, 0.5)`` is a float of every ``n``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from occurs.expr import tree
from occurs.languages.reference_functions import ALIKE, FIRST, FLOATS, TIMES
from occurs.languages.tesla import syntax
from occurs.model.types import Type


class Typed(Protocol):
    """Where an expression stands, as far as types go; None is unknown."""

    def type_of(self, scope: str | None, name: str) -> Type | None:
        """The type of an attribute of a role, or (None) of the event at hand."""

    def type_of_parameter(self, name: str) -> Type | None:
        """The type of what ``$name`` stands for."""

    def type_of_aggregated(self, node: syntax.Aggregate) -> Type | None:
        """The type of the attribute that is aggregated."""


def static_type(node: tree.Expr, at: Typed) -> Type | None:
    """FLOAT and TIMESTAMP where the type is one; anything else is of no consequence here."""
    match node:
        case tree.Literal():
            return node.type
        case tree.Ref():
            return at.type_of(node.scope, node.name)
        case tree.Param():
            return at.type_of_parameter(node.name)
        case tree.Annotated():
            return node.type
        case syntax.Aggregate(function="avg" | "stddev" | "median" | "percentile"):
            return Type.FLOAT
        case syntax.Aggregate(function="count" | "count distinct"):
            return Type.INT
        case syntax.Aggregate():
            return at.type_of_aggregated(node)
        case tree.Unary("neg"):
            return static_type(node.arg, at)
        case tree.Binary(op="/"):
            return Type.FLOAT
        case tree.Binary(op="+" | "-" | "*" | "%"):
            return widest([static_type(node.left, at), static_type(node.right, at)])
        case tree.Call() if node.name in FLOATS:
            return Type.FLOAT
        case tree.Call() if node.name in TIMES:
            return Type.TIMESTAMP
        case tree.Call() if node.name in FIRST:
            return static_type(node.args[0], at)
        case tree.Call() if node.name in ALIKE:
            return widest([static_type(a, at) for a in alternatives(node)])
    return None


def alternatives(node: tree.Call) -> Sequence[tree.Expr]:
    """The arguments of which the result may be one."""
    if node.name == "if":
        return [a for i, a in enumerate(node.args) if i % 2 == 1 or i == len(node.args) - 1]
    return node.args


def widest(types: Sequence[Type | None]) -> Type | None:
    """FLOAT if one is, else the first that is known."""
    known = [t for t in types if t not in (None, Type.NULL)]
    return Type.FLOAT if Type.FLOAT in known else next(iter(known), None)
