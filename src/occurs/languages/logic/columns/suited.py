"""Which triggers are evaluated over whole columns, and how (temporal-logic.md 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.nodes import Generic, ResolvedTrigger, Time
from occurs.languages.logic.columns.build import Formulas
from occurs.languages.logic.columns.operator import Columns
from occurs.languages.logic.columns.sources import seen_by
from occurs.languages.logic.columns.terms import Unsuited, plain, ticks
from occurs.languages.logic.running.trigger import Trigger
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.logic.network import Builder, Network

#: generic variables of these types are codes
_KEYS = (Type.INT, Type.STRING)


def operator_of(trigger: Trigger) -> Columns | None:
    """The operator over whole columns for a trigger, None if it has no such form."""
    try:
        return suited(trigger)
    except Unsuited:
        return None


def suited(trigger: Trigger) -> Columns:
    """As :func:`operator_of`; :class:`Unsuited` says what stands against it."""
    if trigger.observes_all or (trigger.query is not None and trigger.query.clocked):
        raise Unsuited("states at which nothing is written that it reads")
    if any(t not in _KEYS for _, t in trigger.generics):
        raise Unsuited("a generic variable that is neither an int nor text")
    made = plan(trigger.resolved, trigger.kind)
    emit = None if trigger.emit is None else tuple(plain(e) for _, e in trigger.emit)
    return Columns(
        trigger.name,
        made.network,
        seen_by(trigger, emit or ()),
        trigger.kind,
        made.gap,
        made.continues,
        trigger.generics,
        trigger.outputs,
        emit,
    )


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
        raise Unsuited("a trigger that may become unable to fire")
    for node in f.walk():
        leaves = [n for n in node.walk() if not n.children] if isinstance(node, syntax.Compare) else []
        if any(isinstance(n, Time) for n in leaves) and all(_fixed(n) for n in leaves):
            raise Unsuited("a time at which something ends")


def _fixed(leaf: Expr) -> bool:
    return isinstance(leaf, Time | Literal | DurationLiteral | Generic)
