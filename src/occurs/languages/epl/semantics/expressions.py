"""Expressions in the reference semantics of EPL: what it adds to those of every language (common.md section 6).

Readings where the specification is silent: ``between`` takes its ends in either order and is null if any of the three
is; ``in [l:h)`` is ``l <= x and x < h`` (ends as written, Kleene's ``and``); ``min`` and ``max`` are null if any
argument is; of ``case`` without ``else`` the rest is null.  Durations are compared exactly; as values they are the
nearest whole number of ticks (of two the even one).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from occurs.expr import tree
from occurs.expr.dialect import EPL
from occurs.expr.reference import OPERATORS, Evaluator, as_float, both, outcomes, strict, unless, widest
from occurs.languages.epl import syntax
from occurs.model.types import Type


class Expressions(Evaluator):
    """Expressions of EPL; a place says what references are there."""

    dialect = EPL
    names: ClassVar[Mapping[str, str]] = {"min": "least", "max": "greatest"}

    @abstractmethod
    def referred(self, ref: tree.Ref) -> Any:
        """The value of a reference."""

    @abstractmethod
    def type_of(self, ref: tree.Ref) -> Type | None:
        """The declared type of a reference; None if it is not known."""

    def leaf(self, node: tree.Expr) -> Any:
        match node:
            case tree.Ref():
                return self.referred(node)
            case syntax.Between():
                ends = self.compared((node.arg, node.low, node.high))
                return unless(node.negated, strict(lambda x, a, b: min(a, b) <= x <= max(a, b), *ends))
            case syntax.InRange():
                x, low, high = self.compared((node.arg, node.low, node.high))
                above = strict(OPERATORS[">=" if node.closed[0] else ">"], x, low)
                below = strict(OPERATORS["<=" if node.closed[1] else "<"], x, high)
                return unless(node.negated, both(above, below))
            case syntax.Concat():
                return strict(lambda a, b: a + b, self.value(node.left), self.value(node.right))
            case syntax.Case():
                return as_float(self.branch(node.parts), self.type(node))
        raise TypeError(f"not an expression of EPL: {type(node).__name__}")

    def leaf_type(self, node: tree.Expr) -> Type | None:
        match node:
            case tree.Ref():
                return self.type_of(node)
            case syntax.Case():
                return widest([self.type(v) for v in outcomes(node.parts)])
        return None

    def compared(self, nodes: Sequence[tree.Expr]) -> list[Any]:
        """A text literal beside a timestamp is one."""
        beside = any(self.type(n) is Type.TIMESTAMP for n in nodes)
        return [
            microseconds(n.value)
            if beside and isinstance(n, tree.Literal) and isinstance(n.value, str)
            else self.value(n)
            for n in nodes
        ]


def microseconds(text: str) -> int:
    """An ISO time, UTC if it has no zone."""
    at = datetime.fromisoformat(text)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
