"""Functions of pipes row by row: expressions over values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from occurs.expr import tree
from occurs.operators.process.faults import Fault
from occurs.operators.process.scalars import (
    ARITHMETIC,
    COMPARE,
    LOST,
    SEEING,
    STRICT,
    XPATH,
    bounded,
    kleene,
    of_numbers,
    opposite,
)
from occurs.operators.process.tree import Attribute, EverySlice, Foreign, Input, ListOf, SetOf, TrooleanLiteral, TupleOf
from occurs.operators.process.values import Record, Set, Sharp, Troolean, distinct


def value_of(node: tree.Expr, leaf: Callable[[tree.Expr], Any], variables: Mapping[str, Any]) -> Any:
    """The value of an expression; ``leaf`` gives those of its leaves."""

    def of(part: tree.Expr) -> Any:
        return value_of(part, leaf, variables)

    match node:
        case tree.Literal():
            return bounded(node.value)
        case TrooleanLiteral():
            return Troolean(node.value)
        case EverySlice():
            return Sharp.ALL
        case Attribute():
            found = of(node.of)
            if found is not None and found is not LOST and not isinstance(found, Record):
                raise Fault("bad-value", f"is not a tuple with an attribute `{node.name}`", found)
            return found.get(node.name) if isinstance(found, Record) else found
        case tree.Unary(op="not"):
            return opposite(of(node.arg))
        case tree.Unary():
            return strict(of_numbers(lambda a: -a), [of(node.arg)])
        case tree.Binary(op="and" | "or"):
            return kleene([of(node.left), of(node.right)], node.op == "or")
        case tree.Binary():
            return strict(COMPARE.get(node.op) or ARITHMETIC[node.op], [of(node.left), of(node.right)])
        case tree.IsNull():
            found = of(node.arg)
            return LOST if found is LOST else (found is None) != node.negated
        case tree.Call():
            return _call(node, of, variables)
        case ListOf() | SetOf() | TupleOf():
            parts = [of(i) for i in node.items]
            if LOST in parts:
                return LOST
            if isinstance(node, TupleOf):
                return Record(tuple(zip(node.names, parts)))
            return tuple(parts) if isinstance(node, ListOf) else Set(distinct(parts))
    return leaf(node)


def strict(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Null if an argument is, else lost if one is, else ``f``."""
    if any(a is None for a in args):
        return None
    return LOST if any(a is LOST for a in args) else bounded(f(*args))


def _call(node: tree.Call, of: Callable[[tree.Expr], Any], variables: Mapping[str, Any]) -> Any:
    name = node.name
    if name == "implies":
        return kleene([opposite(of(node.args[0])), of(node.args[1])], True)
    if name == "coalesce":
        return next((v for v in map(of, node.args) if v is not None), None)
    if name == "if":
        *pairs, default = node.args
        for test, value in zip(pairs[::2], pairs[1::2]):
            found = of(test)
            if found is LOST:
                return LOST
            if found is True:
                return of(value)
        return of(default)
    args = [of(a) for a in node.args]
    if name in SEEING:
        return LOST if args[0] is LOST else SEEING[name](args[0])
    if name in XPATH:
        run = XPATH[name]
        return strict(lambda path, document: run(path, document, variables), args)
    return strict(STRICT[name], args)


def leaf_of(node: tree.Expr, items: Sequence[Any], variables: Mapping[str, Any]) -> Any:
    """The value of a leaf of a function, for the items of one front."""
    match node:
        case Input():
            return items[node.index]
        case tree.Param():
            return variables[node.name]
        case tree.Ref():
            return next((v.get(node.name) for v in items if isinstance(v, Record) and v.has(node.name)), None)
        case Foreign():
            args = [value_of(a, lambda n: leaf_of(n, items, variables), variables) for a in node.args]
            return foreign(node, args)
    raise AssertionError(node)


def foreign(node: Foreign, args: Sequence[Any]) -> Any:
    """A user's function of one front; null if an argument is."""
    if any(a is None for a in args):
        return None
    if any(a is LOST for a in args):
        return LOST
    function = node.function
    found = function.run(*(np.array([a]) for a in args)) if function.vectorised else function.run(*args)
    found = found[node.output] if len(function.outputs) > 1 else found
    return found[0].item() if function.vectorised else found
