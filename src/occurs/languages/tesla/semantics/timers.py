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
_UNITS = list(dict.fromkeys(UNITS.values()))
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


def unit_starts(
    timer: syntax.Event,
    start: int,
    until: int,
    kind: TimeKind,
    fails: Callable[[tree.Expr, dict[str, Any]], bool] = lambda constraint, fields: False,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(ticks, fields) at the start of every calendar unit of the finest field in [start, until], ascending.

    A local time that occurs twice counts once, the first; one that does not exist is left out, and so is one that is
    no whole number of ticks.  A unit is not looked into if one of the constraints ``fails`` with the fields that are
    the same in all of it.
    """
    if kind.tick is None:
        raise DefinitionProblem.of("missing-unit", "a Timer needs events whose time has a unit")
    tick, zone, finest = kind.tick, zone_of(timer), _UNITS.index(finest_unit(timer))
    constraints = [(_level(c, timer.role), c) for c in constraints_of(timer)]

    def within(local: datetime, level: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The starts in the unit of this level that begins at a local time."""
        end = _next(local, _UNITS[level])
        if min(_instants(local, zone)) > until * tick or max(_instants(end, zone)) <= start * tick:
            return
        fields = fields_at(local)
        if any(at == level and fails(c, fields) for at, c in constraints):
            return
        if level < finest:
            while local < end:
                yield from within(local, level + 1)
                local = _next(local, _UNITS[level + 1])
            return
        first, second = _instants(local, zone)
        exists = first <= second
        if exists and start * tick <= first <= until * tick and first % tick == 0:
            yield first // tick, fields

    year = datetime(((EPOCH + timedelta(microseconds=start * tick)).astimezone(zone)).year, 1, 1)
    while year < datetime.max and min(_instants(year, zone)) <= until * tick:
        yield from within(year, 0)
        year = _next(year, "year")


def _level(constraint: tree.Expr, role: str) -> int | None:
    """The number of the finest unit that a constraint speaks of; None if it is not about calendar fields alone."""
    if any(isinstance(n, syntax.Aggregate | tree.Param) for n in constraint.walk()):
        return None
    names = set(_fields(constraint, role))
    return max((_UNITS.index(UNITS[n]) for n in names), default=0) if names <= set(UNITS) else None


def _instants(local: datetime, zone: ZoneInfo) -> tuple[int, int]:
    """A local time in microseconds since the epoch by the clock before and behind a change: the first is later than the
    second if a change leaves the local time out, earlier if it occurs twice."""
    wall = (local - EPOCH.replace(tzinfo=None)) // timedelta(microseconds=1)
    before, behind = (local.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    assert before is not None
    assert behind is not None
    return wall - before // timedelta(microseconds=1), wall - behind // timedelta(microseconds=1)


def _next(local: datetime, unit: str) -> datetime:
    """The start of the next unit; the calendar ends with the year 9999."""
    try:
        if unit == "year":
            return datetime(local.year + 1, 1, 1)
        if unit == "month":
            return datetime(local.year + local.month // 12, local.month % 12 + 1, 1)
        return local + _STEPS[unit]
    except (OverflowError, ValueError):
        return datetime.max
