"""The expressions of inscriptions and guards: the tree of :mod:`occurs.expr.tree` and what tokens need besides.

A variable is ``Ref(None, name)``; constants, operators and calls (``list.take``, ``length``, ``abs`` ..) are those of
the shared tree (``%`` has the dividend's sign, as EPL's and ML's ``Int.rem``).  No inscription is kept as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Span
from occurs.expr.tree import Expr, Ref, _span

#: an expression over variables of a net
Term = Expr


@dataclass(frozen=True)
class TupleTerm(Expr):
    """``(e1, .., en)``; of no parts: unit."""

    parts: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class RecordTerm(Expr):
    """``{f1 = e1, ..}``: ``names`` and ``parts`` go together, in the order of the declared fields."""

    names: tuple[str, ...]
    parts: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Inject(Expr):
    """``constructor(arg)`` of a union; ``arg`` None if it holds nothing."""

    constructor: str
    arg: Expr | None
    span: Span | None = _span()


@dataclass(frozen=True)
class ListTerm(Expr):
    """``[e1, .., en]``."""

    parts: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class FieldTerm(Expr):
    """``#name arg``: a field of a record, or the part of a product that the number ``name`` (from 1) says.

    ``at``: where it stands in the tuple, if ``arg`` is of a function and its colour is known there only.
    """

    name: str
    arg: Expr
    at: int | None = field(default=None, compare=False)
    span: Span | None = _span()


@dataclass(frozen=True)
class EnumTerm(Expr):
    """A value of an enumeration."""

    value: str
    span: Span | None = _span()

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


def var(name: str) -> Ref:
    """The variable ``name``."""
    return Ref(None, name)


def variables(term: Expr) -> set[str]:
    """The names of the variables in ``term``."""
    return {node.name for node in term.walk() if isinstance(node, Ref)}
