"""Parameters, positional constraints and own names: a rule in its plain form (tesla.md, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from occurs.errors import did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import COMPARISONS, Annotated, Binary, Expr, Literal, Param, Ref, conjuncts, rewrite
from occurs.languages.kit.expressions import within_record
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks.catalogue import TIMER, Catalogue
from occurs.model.types import Type


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


# --- the calendar fields of a Timer -----------------------------------------------------------------------------------


FIELDS = ("Y", "MO", "DM", "D", "H", "M", "S", "MS")
ZONE = "TZ"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = {form: i for i, day in enumerate(_DAYS, 1) for form in (day, day[:3])}
_MEANING = "fields: Y, MO (1-12), DM (1-31), D (Monday ... Sunday or 1-7), H, M, S, MS, and TZ"


def check_timer(timer: syntax.Event, source: Text, before: int) -> syntax.Event:
    """The terminator with day names as the numbers 1 (Monday) to 7; reports unknown and missing fields.

    ``before``: how many problems there were before the rule was read; with a new one a missing field is no news.
    """
    out, fields, zoned = [], set(), False
    for constraint in timer.constraints:
        plain = _Reader(source).read(constraint)
        fields |= {n.name for n in plain.walk() if isinstance(n, Ref)}
        for part in conjuncts(plain):
            zoned = _check_zone(part, source, zoned)
        out.append(plain)
    if not fields & set(FIELDS) and len(source.problems) == before:
        message = "this Timer has no calendar field, so it never fires"
        source.report("timer-field", message, timer.span, f"add one: `Timer(H = 9, M = 0)`; {_MEANING}")
    return replace(timer, constraints=tuple(out))


def _check_zone(part: Expr, source: Text, before: bool) -> bool:
    """Whether a zone has been named, here or (``before``) in an earlier constraint."""
    zones = [n for n in part.walk() if isinstance(n, Ref) and n.name == ZONE]
    if not zones:
        return before
    value: Expr | None = None
    if isinstance(part, Binary) and part.op == "=":
        value = part.right if part.left is zones[0] else part.left
    if before or not isinstance(value, Literal) or not isinstance(value.value, str):
        hint = 'write it as a separate constraint: `Timer(H = 9, TZ = "Europe/Rome")`'
        source.report("timer-field", "`TZ` can be set only once, to the name of a time zone", zones[0].span, hint)
        return True
    try:
        ZoneInfo(value.value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = 'write a name such as "Europe/Rome" or "UTC"'
        source.report("timer-field", f"unknown time zone `{value.value}`", value.span, hint)
    return True


class _Reader:
    def __init__(self, source: Text):
        self.source = source

    def read(self, expr: Expr) -> Expr:
        if isinstance(expr, Binary) and expr.op in COMPARISONS:
            day = any(isinstance(s, Ref) and s.scope is None and s.name == "D" for s in (expr.left, expr.right))
            return expr.with_children((self._operand(expr.left, day), self._operand(expr.right, day)))
        return self._operand(expr, False)

    def _operand(self, expr: Expr, day: bool) -> Expr:
        if isinstance(expr, Param | syntax.Aggregate):
            hint = "compare its fields with constants; conditions on events go after `and`"
            self.source.report("timer-field", "a Timer has only calendar fields", expr.span, hint)
            return Literal(None, Type.NULL, span=expr.span)
        if isinstance(expr, Ref):
            return self._field(expr, day)
        if not expr.children:
            return expr
        return expr.with_children(tuple(self.read(c) for c in expr.children))

    def _field(self, ref: Ref, day: bool) -> Expr:
        if ref.scope is not None:
            hint = "compare its fields with constants; conditions on events go after `and`"
            self.source.report("timer-field", f"`{ref.scope}.{ref.name}` is not a field of a Timer", ref.span, hint)
        elif ref.name in (*FIELDS, ZONE):
            return ref
        elif ref.name.lower() in DAYS:
            if not day:
                hint = f"compare days with D: `D = {ref.name}`"
                self.source.report("timer-field", f"`{ref.name}` is a day of the week, not a field", ref.span, hint)
            return Literal(DAYS[ref.name.lower()], Type.INT, span=ref.span)
        else:
            near = did_you_mean(ref.name, (*FIELDS, ZONE), "fields")
            hint = near if near.startswith("did") else _MEANING
            self.source.report("timer-field", f"`{ref.name}` is not a field of a Timer", ref.span, hint)
        return Literal(None, Type.NULL, span=ref.span)
