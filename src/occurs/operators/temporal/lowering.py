"""Which triggers are evaluated over whole columns, and how (temporal-logic.md 5.4)."""

from __future__ import annotations

from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.build import Formulas
from occurs.operators.temporal.network import Builder, Network
from occurs.operators.temporal.rule import Rule
from occurs.operators.temporal.scopes import REACH, Unsuited, plain
from occurs.operators.temporal.streams import seen_by
from occurs.operators.temporal.tree import Generic, Time
from occurs.operators.temporal.vectorised import Columns

#: generic variables of these types are codes
_KEYS = (Type.INT, Type.STRING)


def over_columns(rule: Rule) -> Columns | None:
    """The evaluator over whole columns of a trigger, None if it has no such form."""
    try:
        return suited(rule)
    except Unsuited:
        return None


def suited(rule: Rule) -> Columns:
    """As :func:`over_columns`; :class:`Unsuited` says what stands against it."""
    if rule.observes_all or (rule.query is not None and rule.query.clocked):
        raise Unsuited("states at which nothing is written that it reads")
    if any(t not in _KEYS for _, t in rule.generics):
        raise Unsuited("a generic variable that is neither an int nor text")
    if rule.gap is not None and rule.gap > REACH:
        raise Unsuited("a duration beyond 64 bits of ticks")
    network = network_of(rule.formula, rule.past, rule.kind)
    emit = None if rule.emit is None else tuple(plain(e) for _, e in rule.emit)
    seen = seen_by(rule, emit or ())
    return Columns(
        rule.name, network, seen, rule.kind, rule.gap or 0, rule.continues, rule.generics, rule.outputs, emit
    )


def network_of(formula: tree.Formula, past: bool, kind: TimeKind) -> Network:
    """The network that says at which states a formula fires.  :class:`Unsuited` says why it has none."""
    builder = Builder()
    formulas = Formulas(builder, kind)
    if past:
        return builder.network(formulas.past(formula))
    _endless(formula)
    return builder.network(formulas.future(formula, builder.first()))


def _endless(f: tree.Formula) -> None:
    """A future trigger can always fire once more: then no notice is due (4.4)."""
    if not isinstance(f, tree.Eventually) or f.bound is not None:
        raise Unsuited("a trigger that may become unable to fire")
    for node in f.walk():
        leaves = [n for n in node.walk() if not n.children] if isinstance(node, tree.Compare) else []
        if any(isinstance(n, Time) for n in leaves) and all(_fixed(n) for n in leaves):
            raise Unsuited("a time at which something ends")


def _fixed(leaf: Expr) -> bool:
    return isinstance(leaf, Time | Literal | DurationLiteral | Generic)
