"""Which triggers are evaluated over whole columns, and how (temporal-logic.md 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.languages.logic import syntax
from occurs.languages.logic.checks_nodes import Generic, ResolvedTrigger, Time
from occurs.languages.logic.columns_build import Formulas
from occurs.languages.logic.columns_terms import Unsuited, ticks
from occurs.model.time import TimeKind
from occurs.operators.logic.network import Builder, Network


@dataclass(frozen=True)
class Plan:
    """A trigger over columns: its network, the least ticks between two firings (0: none), its strategy."""

    network: Network
    gap: int
    continues: bool


def plan(trigger: ResolvedTrigger, kind: TimeKind) -> Plan:
    """How a trigger is evaluated over columns.  :class:`Unsuited` says why it is not."""
    written = trigger.trigger
    builder = Builder()
    formulas = Formulas(builder, kind)
    if written.past:
        root = formulas.past(trigger.formula)
    else:
        _endless(trigger.formula)
        root = formulas.future(trigger.formula, builder.first())
    gap = 0
    if written.gap is not None:
        exact = ticks(written.gap, kind)
        gap = -(-exact.numerator // exact.denominator)
    return Plan(builder.network(root), gap, written.continues)


def _endless(f: syntax.Formula) -> None:
    """A future trigger can always fire once more: then no notice is due (4.4)."""
    if not isinstance(f, syntax.Eventually) or f.bound is not None:
        raise Unsuited("a trigger that can become one that fires no more")
    for node in f.walk():
        leaves = [n for n in node.walk() if not n.children] if isinstance(node, syntax.Compare) else []
        if any(isinstance(n, Time) for n in leaves) and all(_fixed(n) for n in leaves):
            raise Unsuited("a time at which something ends")


def _fixed(leaf: Expr) -> bool:
    return isinstance(leaf, Time | Literal | DurationLiteral | Generic)
