"""Functions in the reference semantics of pipes: the value of an expression for one front (pipes.md 2.2).

An expression is evaluated for the items of a front, in a context of variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occurs.expr import tree
from occurs.languages.esql.semantics_arithmetic import (
    ARITHMETIC,
    COMPARISONS,
    LOST,
    Fault,
    Lost,
    clean,
    kleene,
    opposite,
    strict,
)
from occurs.languages.esql.semantics_functions import SEEING, STRICT, XPATH
from occurs.languages.esql.semantics_values import Record, Sharp, Troolean, set_of
from occurs.operators.process import tree as pipes

Context = Mapping[str, Any]


def value_of(node: tree.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value of a function that somebody needs: Fault if an overflow keeps it from being known."""
    found = evaluate(node, front, context)
    if isinstance(found, Lost):
        raise Fault("overflow", "an integer does not fit in 64 bits", None)
    return found


def selects(node: tree.Expr, front: Sequence[Any], context: Context) -> bool:
    """Whether a guard is true: null selects nothing."""
    found = value_of(node, front, context)
    if found is not None and not isinstance(found, bool):
        raise Fault("bad-value", "is not a boolean", found)
    return found is True


def evaluate(node: tree.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value of a function; None is null."""

    def of(part: tree.Expr) -> Any:
        return evaluate(part, front, context)

    match node:
        case tree.Literal():
            return clean(node.value)
        case pipes.TrooleanLiteral():
            return Troolean(node.value)
        case pipes.EverySlice():
            return Sharp.ALL
        case pipes.Input():
            return front[node.index]
        case tree.Param():
            return context[node.name]
        case tree.Ref():
            return next((v.get(node.name) for v in front if isinstance(v, Record) and v.has(node.name)), None)
        case pipes.Attribute():
            return strict(lambda v: _attribute(v, node.name), of(node.of))
        case tree.Unary(op="not"):
            return opposite(of(node.arg))
        case tree.Unary():
            return strict(ARITHMETIC["neg"], of(node.arg))
        case tree.Binary(op="and"):
            return kleene([of(node.left), of(node.right)], False)
        case tree.Binary(op="or"):
            return kleene([of(node.left), of(node.right)], True)
        case tree.Binary():
            run = COMPARISONS.get(node.op) or ARITHMETIC[node.op]
            return strict(run, of(node.left), of(node.right))
        case tree.IsNull():
            found = of(node.arg)
            return LOST if isinstance(found, Lost) else (found is None) != node.negated
        case tree.Call(name="implies"):
            return kleene([opposite(of(node.args[0])), of(node.args[1])], True)
        case tree.Call(name="if"):
            return _if(node, front, context)
        case tree.Call(name="coalesce"):
            return next((v for v in map(of, node.args) if v is not None), None)
        case tree.Call():
            return _call(node.name, [of(a) for a in node.args], context)
        case pipes.ListOf():
            return _whole([of(i) for i in node.items], tuple)
        case pipes.SetOf():
            return _whole([of(i) for i in node.items], set_of)
        case pipes.TupleOf():
            return _whole([of(i) for i in node.items], lambda v: Record(tuple(zip(node.names, v))))
        case pipes.Foreign():
            return _foreign(node, [of(a) for a in node.args])
    raise AssertionError(node)


def _attribute(value: Any, name: str) -> Any:
    if not isinstance(value, Record):
        raise Fault("bad-value", f"is not a tuple with an attribute `{name}`", value)
    return value.get(name)


def _if(node: tree.Call, front: Sequence[Any], context: Context) -> Any:
    """``if(c, a, b)``; more pairs of a condition and a value may stand in front."""
    *pairs, default = node.args
    for condition, value in zip(pairs[::2], pairs[1::2]):
        found = evaluate(condition, front, context)
        if isinstance(found, Lost):
            return LOST
        if found is True:
            return evaluate(value, front, context)
    return evaluate(default, front, context)


def _call(name: str, args: list[Any], context: Context) -> Any:
    if name in SEEING:
        return LOST if LOST in args else SEEING[name](*args)
    if name in XPATH:
        return strict(lambda path, document: XPATH[name](path, document, context), *args)
    return strict(STRICT[name], *args)


def _whole(parts: list[Any], build: Any) -> Any:
    return LOST if any(isinstance(p, Lost) for p in parts) else build(parts)


def _foreign(node: pipes.Foreign, args: list[Any]) -> Any:
    """A user's function, row by row: of arrays of one if it is vectorised.  Null if an argument is."""
    if None in args or LOST in args:
        return None if None in args else LOST
    function = node.function
    if function.vectorised:
        import numpy as np

        args = [np.array([a]) for a in args]
    found = function.run(*args)
    found = found[node.output] if len(function.outputs) > 1 else found
    return found[0].item() if function.vectorised else found
