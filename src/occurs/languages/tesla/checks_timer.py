"""The calendar fields of a Timer (tesla.md, section 4, Timers)."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from occurs.errors import did_you_mean
from occurs.expr.tree import COMPARISONS, Binary, Expr, Literal, Param, Ref, conjuncts
from occurs.languages.tesla import syntax
from occurs.languages.text import Text
from occurs.model.types import Type

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
