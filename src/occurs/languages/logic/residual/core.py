"""What the incremental monitors work on: formulas without bounds, and the variables free in them.

A bound is the comparison of time that it stands for (temporal-logic.md 4.2): ``f until[<=c] g`` is
``[t <- time](f until (g and time <= t + c))``, ``f since[<=c] g`` is ``[t <- time](f since (g and time >= t - c))``.
The variables of bounds are called ``#1``, ``#2`` ..
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from occurs.expr import tree
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.core import core
from occurs.languages.logic.semantics.text import parameters, sources
from occurs.model.time import Duration

TIME = tree.Ref(None, "time")
_MIRRORED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "=": "="}


def unbounded(formula: syntax.Formula) -> syntax.Formula:
    """The formula in the core, without bounds."""
    numbers = count(1)

    def walk(f: syntax.Formula) -> syntax.Formula:
        match f:
            case syntax.Until() | syntax.Since():
                plain = replace(f, left=walk(f.left), right=walk(f.right), bound=None)
                if f.bound is None:
                    return plain
                name = f"#{next(numbers)}"
                tests = _tests(f.bound, tree.Ref(None, name), isinstance(f, syntax.Until))
                inner = replace(plain, right=syntax.And((plain.right, *tests)))
                return syntax.Assign(syntax.Name(name), TIME, inner)
            case syntax.Not() | syntax.Assign() | syntax.Nexttime() | syntax.Lasttime():
                return replace(f, operand=walk(f.operand))
            case syntax.And() | syntax.Or():
                return replace(f, operands=tuple(walk(p) for p in f.operands))
        return f

    return walk(core(formula))


def _tests(bound: syntax.Bound, start: tree.Expr, future: bool) -> Iterator[syntax.Formula]:
    """The comparisons that a bound stands for; ``start``: the time of the state where the operator is evaluated."""

    def test(op: str, duration: Duration) -> syntax.Formula:
        limit = tree.Binary("+" if future else "-", start, tree.DurationLiteral(duration))
        return syntax.Compare(op if future else _MIRRORED[op], TIME, limit)

    if bound.second is None:
        yield test(bound.op, bound.first)
    else:
        yield test(">=", bound.first)
        yield test("<=", bound.second)


def variables(node: tree.Expr) -> frozenset[str]:
    """All global variables that are assigned somewhere."""
    return frozenset(n.variable.text for n in node.walk() if isinstance(n, syntax.Assign))


def free(node: tree.Expr, names: frozenset[str]) -> frozenset[str]:
    """Those of the global variables ``names`` that are free in a formula or term."""
    if isinstance(node, syntax.Assign):
        return free(node.term, names) | (free(node.operand, names) - {node.variable.text})
    if isinstance(node, syntax.Sql):
        return names & {*parameters(node.text), *(s.name for s in sources(node.text))}
    if isinstance(node, tree.Ref) and node.scope is None:
        return names & {node.name}
    return frozenset().union(*(free(c, names) for c in node.children))
