"""When TESLA's timers fire: the reference semantics (tesla.md section 4, Timers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.languages.tesla import syntax
from occurs.model.time import TimeKind

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: fields from coarse to fine, each with the unit at whose start it changes
UNITS = {"Y": "year", "MO": "month", "DM": "day", "D": "day", "H": "hour", "M": "minute", "S": "second", "MS": "ms"}
_FINENESS = list(UNITS)
_STEPS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}


def zone_of(timer: syntax.Event) -> ZoneInfo:
    """The zone of ``TZ = "..."`` among the constraints, else UTC."""
    for conjunct in plain_conjuncts(timer):
        zone = _zone(conjunct)
        if zone is not None:
            return ZoneInfo(zone)
    return ZoneInfo("UTC")


def constraints_of(timer: syntax.Event) -> list[tree.Expr]:
    """The constraints without the zone."""
    return [c for c in plain_conjuncts(timer) if _zone(c) is None]


def plain_conjuncts(event: syntax.Event) -> list[tree.Expr]:
    """The top-level conjuncts in the parentheses of an event, in text order."""
    return [c for constraint in event.constraints for c in tree.conjuncts(constraint)]


def _zone(node: tree.Expr) -> str | None:
    if isinstance(node, tree.Binary) and node.op == "=":
        for ref, value in ((node.left, node.right), (node.right, node.left)):
            if isinstance(ref, tree.Ref) and ref.name == "TZ" and isinstance(value, tree.Literal):
                return str(value.value)
    return None


def finest_unit(timer: syntax.Event) -> str:
    """The unit of the finest field named in the constraints."""
    names = {f for c in constraints_of(timer) for f in _fields(c, timer.role) if f in UNITS}
    if not names:
        raise DefinitionProblem.of("timer-field", "a Timer needs at least one calendar field")
    return UNITS[max(names, key=_FINENESS.index)]


def _fields(node: tree.Expr, role: str) -> Iterator[str]:
    """Names of the timer's own fields; a bare name inside an aggregate belongs to the aggregated event."""
    if isinstance(node, syntax.Aggregate):
        return
    if isinstance(node, tree.Ref) and node.scope in (None, role):
        yield node.name
    for child in node.children:
        yield from _fields(child, role)


def fields_at(local: datetime) -> dict[str, Any]:
    """The calendar fields of a local time; Monday is 1."""
    return {
        "Y": local.year,
        "MO": local.month,
        "DM": local.day,
        "D": local.isoweekday(),
        "H": local.hour,
        "M": local.minute,
        "S": local.second,
        "MS": local.microsecond // 1000,
    }


def unit_starts(timer: syntax.Event, start: int, until: int, kind: TimeKind) -> Iterator[tuple[int, dict[str, Any]]]:
    """(ticks, fields) at the start of every calendar unit of the finest field in [start, until], ascending.

    A local time that occurs twice counts once, the first; one that does not exist is left out, and so is one that is
    no whole number of ticks.
    """
    if kind.tick is None:
        raise DefinitionProblem.of("missing-unit", "a Timer needs events whose time has a unit")
    zone, unit = zone_of(timer), finest_unit(timer)
    local = _floor((EPOCH + timedelta(microseconds=start * kind.tick)).astimezone(zone).replace(tzinfo=None), unit)
    while True:
        instant = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
        exists = instant.astimezone(zone).replace(tzinfo=None, fold=0) == local
        micros = (instant - EPOCH) // timedelta(microseconds=1)
        if exists and micros > until * kind.tick:
            return
        if exists and micros >= start * kind.tick and micros % kind.tick == 0:
            yield micros // kind.tick, fields_at(local)
        try:
            local = _next(local, unit)
        except (OverflowError, ValueError):  # the calendar ends with the year 9999
            return


def _floor(local: datetime, unit: str) -> datetime:
    floor: dict[str, Callable[[], datetime]] = {
        "year": lambda: datetime(local.year, 1, 1),
        "month": lambda: datetime(local.year, local.month, 1),
        "day": lambda: datetime(local.year, local.month, local.day),
        "hour": lambda: local.replace(minute=0, second=0, microsecond=0, fold=0),
        "minute": lambda: local.replace(second=0, microsecond=0, fold=0),
        "second": lambda: local.replace(microsecond=0, fold=0),
        "ms": lambda: local.replace(microsecond=local.microsecond // 1000 * 1000, fold=0),
    }
    return floor[unit]()


def _next(local: datetime, unit: str) -> datetime:
    if unit == "year":
        return datetime(local.year + 1, 1, 1)
    if unit == "month":
        return datetime(local.year + local.month // 12, local.month % 12 + 1, 1)
    return local + _STEPS[unit]
