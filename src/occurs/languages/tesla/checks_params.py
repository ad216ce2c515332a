"""Parameters, positional constraints and own names: a rule in its plain form (tesla.md, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from occurs.errors import did_you_mean
from occurs.expr.tree import Annotated, Binary, Expr, Param, Ref, conjuncts, rewrite
from occurs.languages.expressions import within_record
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks_catalogue import TIMER, Catalogue
from occurs.languages.text import Text


def bindings(rule: syntax.Rule) -> dict[str, tuple[int, str]]:
    """What each parameter of a normalised rule stands for: `$x` -> (number of the role, attribute).

    The first constraint ``Attr = $x`` that is a top-level conjunct in the parentheses of a role (0: the terminator),
    in text order; else the first top-level condition ``R.Attr = $x`` (tesla.md, section 4, Parameters).  That one
    constraint is no test.  Parameters that nothing binds are left out.
    """
    out: dict[str, tuple[int, str]] = {}
    names = [event.role for event in rule.roles]
    for number, event in enumerate(rule.roles):
        if event.type.text == TIMER:
            continue  # a calendar has fields, no attributes
        for constraint in event.constraints:
            for part in conjuncts(constraint):
                for ref, param in _equations(part):
                    if ref.scope in (None, event.role):
                        out.setdefault(param.name, (number, ref.name))
    for item in rule.items:
        if isinstance(item, syntax.Condition):
            for ref, param in _equations(item.expr):
                if ref.scope in names:
                    out.setdefault(param.name, (names.index(ref.scope), ref.name))
    return out


def _equations(expr: Expr) -> Iterator[tuple[Ref, Param]]:
    """``attribute = $x``, either side."""
    if isinstance(expr, Binary) and expr.op == "=":
        left, right = strip(expr.left), strip(expr.right)
        if isinstance(left, Ref) and isinstance(right, Param):
            yield left, right
        elif isinstance(right, Ref) and isinstance(left, Param):
            yield right, left


def strip(expr: Expr) -> Expr:
    """Without type annotations."""
    return rewrite(expr, lambda e: e.arg if isinstance(e, Annotated) else None)


def strip_event(event: syntax.Event) -> syntax.Event:
    """An event without type annotations."""
    return replace(event, constraints=tuple(strip(c) for c in event.constraints))


def map_rule(rule: syntax.Rule, normaliser: Normaliser | None) -> syntax.Rule:
    """The rule with every event and expression put into plain form; without ``normaliser`` annotations are removed."""

    def event(e: syntax.Event, role: str | None) -> syntax.Event:
        return strip_event(e) if normaliser is None else normaliser.event(e, role)

    def expr(e: Expr) -> Expr:
        return strip(e) if normaliser is None else normaliser.expr(e, None)

    items: list[syntax.Item] = []
    for item in rule.items:
        if isinstance(item, syntax.Selection):
            having = item.having and expr(item.having)
            items.append(replace(item, event=event(item.event, item.event.role), having=having))
        elif isinstance(item, syntax.Negation):
            items.append(replace(item, event=event(item.event, None)))
        elif isinstance(item, syntax.Condition):
            items.append(replace(item, expr=expr(item.expr)))
        else:
            items.append(item)
    return replace(
        rule,
        terminator=event(rule.terminator, rule.terminator.role),
        items=tuple(items),
        where=tuple(replace(a, expr=expr(a.expr)) for a in rule.where),
    )


class Normaliser:
    """Positional constraints get their names, `Own.attr` in its own parentheses becomes `attr`, and `a.b` there the
    attribute `a.b` if no event of the rule is called `a`."""

    def __init__(self, source: Text, catalogue: Catalogue, roles: Collection[str]):
        """``roles``: what the events of the rule are called, and their types."""
        self.source = source
        self.catalogue = catalogue
        self.roles = roles
        #: the type of the event in whose parentheses an expression stands
        self.own: str | None = None
        #: parameters at positions of roles that have no attribute: what they bind is not known
        self.unplaced: set[str] = set()

    def event(self, event: syntax.Event, role: str | None) -> syntax.Event:
        """``role``: how the event is called, None if it has no name (negated, aggregated)."""
        out = []
        around, self.own = self.own, event.type.text
        for position, constraint in enumerate(event.constraints):
            if isinstance(constraint, syntax.Positional):
                named = self._named(event, position, constraint)
                if named is not None:
                    out.append(named)
                elif role is not None and constraint.value is not None:
                    self.unplaced |= {n.name for n in constraint.value.walk() if isinstance(n, Param)}
            else:
                out.append(self.expr(constraint, role))
        self.own = around
        return replace(event, constraints=tuple(out))

    def expr(self, expr: Expr, role: str | None) -> Expr:
        """Inside an aggregate's parentheses `Own.attr` stays: there a bare name is the aggregated event's."""
        if isinstance(expr, Ref):
            if role is not None and expr.scope == role:
                return replace(expr, scope=None)
            known = None if self.own is None else self.catalogue.get(self.own)
            inner = within_record(expr, None if known is None else known.attributes, self.roles)
            return expr if self.own in (None, TIMER) or inner is None else inner
        if isinstance(expr, syntax.Aggregate):
            return replace(expr, event=self.event(expr.event, None))
        children = expr.children
        if not children:
            return expr
        return expr.with_children(tuple(self.expr(c, role) for c in children))

    def _named(self, event: syntax.Event, position: int, constraint: syntax.Positional) -> Expr | None:
        name = event.type.text
        if name == TIMER:
            hint = "name a field: `Timer(H = 9, M = 0)`"
            self.source.report("timer-field", "a Timer takes no positional values", constraint.span, hint)
            return None
        known = self.catalogue.get(name)
        if known is None or not known.ordered:
            if constraint.value is not None:
                hint = f"declare it with `event {name}(...)`, or name the attribute"
                message = f"the order of the attributes of `{name}` is unknown"
                self.source.report("unknown-order", message, constraint.span, hint)
            return None
        names = list(known.attributes)
        if position >= len(names):
            message = f"`{name}` has {len(names)} attribute{'s' * (len(names) != 1)}, but this is value {position + 1}"
            listed = did_you_mean("", names, "attributes") if names else None
            self.source.report("too-many-values", message, constraint.span, listed)
            return None
        if constraint.value is None:
            return None
        ref = Ref(None, names[position], span=constraint.span)
        return Binary("=", ref, constraint.value, span=constraint.span)
