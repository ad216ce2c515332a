"""What the attributes of nodes of a model say: constants, types, lengths of time, schedules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from occurs.expr.tree import Expr, Literal
from occurs.languages.epl import syntax
from occurs.languages.epl.model import Node
from occurs.languages.epl.model.palette import SCHEDULE, TYPES, UNITS
from occurs.languages.epl.parser.tree import TYPES as WRITTEN
from occurs.model.time import Duration
from occurs.model.types import Type

_INT = {"Integer": 2**31, "Long": 2**63}


def schema_type(text: str) -> Type | None:
    """The type of an attribute of the domain: as a schema writes it, or as the editor calls it."""
    return WRITTEN.get(text.lower()) or TYPES.get(text)


def value_type(node: Node) -> Type | None:
    """The type of a value or a property; None if there is none of the name."""
    type = node.attributes.get("type")
    return schema_type(type) if isinstance(type, str) else None


def literal_of(node: Node) -> Literal | None:
    """The constant that a Value is; None if its text is none of its type."""
    text, name = node.attributes.get("value"), node.attributes.get("type")
    if not isinstance(text, str):
        return None
    type = value_type(node)
    if type is Type.STRING:
        return Literal(text, Type.STRING)
    if type is Type.BOOL:
        return Literal(text == "true", Type.BOOL) if text in ("true", "false") else None
    if type is Type.INT:
        if not re.fullmatch(r"[+-]?\d{1,19}", text):
            return None
        most = _INT.get(str(name), 2**63)
        return Literal(int(text), Type.INT) if -most <= int(text) < most else None
    if type is Type.FLOAT:
        fits = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text)
        value = float(text) if fits else float("inf")
        return Literal(value, Type.FLOAT) if abs(value) != float("inf") else None
    return None


def value_attributes(expr: Expr) -> dict[str, str] | None:
    """The attributes of the Value that a constant is; None if the palette has none for it."""
    if not isinstance(expr, Literal) or expr.value is None:
        return None
    if isinstance(expr.value, bool):
        return {"type": "Boolean", "value": "true" if expr.value else "false"}
    if isinstance(expr.value, int):
        return {"type": "Integer" if -(2**31) <= expr.value < 2**31 else "Long", "value": str(expr.value)}
    if isinstance(expr.value, float):
        return {"type": "Double", "value": repr(expr.value)}
    return {"type": "String", "value": expr.value}


def duration_of(node: Node) -> Duration:
    """The length of time of an interval or a guard."""
    return Duration(Fraction(sum(int(node.attributes.get(u) or 0) * size for u, size in UNITS.items())))


def duration_attributes(duration: Duration) -> dict[str, int] | None:
    """The attributes of the node with this length; None if there is no such node: it is computed, has months, is finer
    than a microsecond, or not positive."""
    left = duration.amount
    if (
        isinstance(duration, syntax.Period | syntax.Computed)
        or left <= 0
        or left.denominator != 1
        or left % UNITS["microseconds"]
    ):
        return None
    whole, out = int(left), {}
    for unit, size in UNITS.items():
        if unit == "weeks" and whole % size:
            continue  # 8 days are 8 days, as in the text
        if whole >= size:
            out[unit], whole = divmod(whole, size)
    return out


def cron_of(name: str, text: str) -> syntax.Cron | None:
    """A field of a schedule: ``*``, ``5``, ``*/15``, ``9:17``, ``[1, 15]``; None if it is none of its range."""
    low, high = SCHEDULE[name]
    text = text.strip()
    if text == "*":
        return syntax.Cron("any")
    if found := re.fullmatch(r"(\d{1,4})", text):
        at = int(found[1])
        return syntax.Cron("at", at) if low <= at <= high else None
    if found := re.fullmatch(r"\*\s*/\s*(\d{1,4})", text):
        return syntax.Cron("step", int(found[1])) if 0 < int(found[1]) <= high else None
    if found := re.fullmatch(r"(\d{1,4})\s*:\s*(\d{1,4})", text):
        first, last = int(found[1]), int(found[2])
        return syntax.Cron("range", first, last) if low <= first <= last <= high else None
    if found := re.fullmatch(r"\[(.*)\]", text):
        items = [cron_of(name, item) for item in found[1].split(",")]
        return syntax.Cron("list", items=tuple(i for i in items if i is not None)) if None not in items else None
    return None


def schedule_of(node: Node) -> tuple[syntax.Cron, ...]:
    """The fields of a schedule in the order of the text, the second only if it is given; what is not given is any."""
    fields = [f for f in SCHEDULE if f != "second" or "second" in node.attributes]
    found = [cron_of(f, str(node.attributes.get(f, "*"))) for f in fields]
    return tuple(c if c is not None else syntax.Cron("any") for c in found)


def schedule_attributes(fields: tuple[syntax.Cron, ...], texts: tuple[str, ...]) -> Mapping[str, str]:
    """The attributes of the node with these fields; ``texts``: each as it is printed."""
    return dict(zip(list(SCHEDULE)[: len(fields)], texts, strict=True))
