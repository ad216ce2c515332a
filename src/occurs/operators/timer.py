"""Timers: the starts of calendar units that satisfy constraints (TESLA, paper section 4.7; tesla.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.expr.evaluate import select
from occurs.expr.render import render
from occurs.expr.tree import Binary, Expr, Literal, Ref, conjuncts
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.model.zones import instants, local_times
from occurs.operators.blocks import Block, Identity, Out
from occurs.operators.contract import Call, Moves, Operator, Outcome
from occurs.operators.states import State

FIELDS = ("Y", "MO", "DM", "D", "H", "M", "S", "MS")
#: the unit at whose start a field changes, coarse to fine
_LEVEL = {"Y": 0, "MO": 1, "DM": 2, "D": 2, "H": 3, "M": 4, "S": 5, "MS": 6}
_NUMPY_UNIT = ("Y", "M", "D", "h", "m", "s", "ms")
#: instants held at once while a coarse unit is taken apart
_BLOCK = 1 << 20
_PARTS = {3: 24, 4: 60, 5: 60, 6: 1000}


@dataclass(frozen=True)
class TimerSource:
    """``constraints`` over the calendar fields (``Ref(None, "M")``), in the time zone ``zone``; fires at the start of
    every unit of the finest field named."""

    constraints: tuple[Expr, ...]
    zone: str = "UTC"

    @classmethod
    def of(cls, constraints: Sequence[Expr]) -> TimerSource:
        kept: list[Expr] = []
        zone = "UTC"
        for part in (p for c in constraints for p in conjuncts(c)):
            named = _zone(part)
            if named is None:
                kept.append(part)
            else:
                zone = named
        return cls(tuple(kept), zone)

    @property
    def name(self) -> str:
        """The name of the stream of its firings: equal timers share one."""
        zone = "" if self.zone == "UTC" else f", TZ = {self.zone}"
        return "Timer(" + ", ".join(render(c) for c in self.constraints) + zone + ")"

    @property
    def level(self) -> int:
        return max(_LEVEL[n.name] for c in self.constraints for n in c.walk() if isinstance(n, Ref))

    def instants(self, first: int, last: int, kind: TimeKind) -> np.ndarray:
        """int64 ticks, ascending, of all firings in [first, last].

        A local time that occurs twice fires once, the first; one that does not exist never.
        """
        assert kind.tick is not None
        if last < first:
            return np.zeros(0, np.int64)
        tick = kind.tick
        low, high = np.datetime64(first * tick, "us"), np.datetime64(last * tick, "us")
        years = np.arange(low.astype("M8[Y]") - 1, high.astype("M8[Y]") + 2)
        found: list[np.ndarray] = []
        self._expand(years, 0, low, high, kind, found)
        local = np.concatenate(found) if found else np.zeros(0, "M8[us]")
        if self.zone != "UTC":
            local = _to_utc(local, self.zone)
        micros = local.astype("M8[us]").astype(np.int64)
        micros = micros[(micros >= first * tick) & (micros <= last * tick) & (micros % tick == 0)]
        return np.sort(micros // tick)

    def _expand(
        self, units: np.ndarray, level: int, low: np.datetime64, high: np.datetime64, kind: TimeKind,
        out: list[np.ndarray],
    ) -> None:  # fmt: skip
        """Drop the units that fail the constraints known at this level; take the others apart, down to the finest."""
        size = np.timedelta64(1, _NUMPY_UNIT[level])  # type: ignore[call-overload]
        starts = units.astype("M8[us]")
        ends = (units + size).astype("M8[us]")
        if self.zone != "UTC":
            # local times differ from UTC by less than two days; from hours on they are compared in UTC, and only a
            # change of the clock inside the unit can still shift its end
            slack = np.timedelta64(2, "D") if level < 3 else np.timedelta64(3 if level == 3 else 0, "h")
            if level >= 3:
                starts, ends = _utc(starts, self.zone), _utc(starts, self.zone) + size
            starts, ends = starts - slack, ends + slack
        units = units[(ends > low) & (starts <= high)]
        here = [c for c in self.constraints if _deepest(c) == level]
        for c in here:
            passed, _ = select(c, lambda leaf, u=units: _field(leaf, u, level), len(units), kind=kind)  # type: ignore[misc]
            units = units[passed]
        if level == self.level:
            out.append(units.astype("M8[us]"))
            return
        step = max(1, _BLOCK // _PARTS.get(level + 1, 31))
        for at in range(0, len(units), step):
            self._expand(_split(units[at : at + step], level), level + 1, low, high, kind, out)


@dataclass(frozen=True, eq=False)
class Timer(Operator):
    """The firings of a timer as events of a type; a firing is known by its time."""

    source: TimerSource

    @classmethod
    def of(cls, source: TimerSource) -> Timer:
        out = Out(source.name, Schema(), "Timer", -1)
        return cls(source.name, (), (out,), source, moves=frozenset({Moves.CLOCK}))

    def advance(self, state: State, call: Call) -> Outcome:
        if call.start is None:
            return Outcome()
        first = call.start if call.since is None else max(call.since + 1, call.start)
        times = self.source.instants(first, call.frontier, call.kind)
        return Outcome([Block(self.outs, times, {}, identity=lambda: Identity(time=times))])


def _zone(node: Expr) -> str | None:
    if isinstance(node, Binary) and node.op == "=":
        for ref, value in ((node.left, node.right), (node.right, node.left)):
            if isinstance(ref, Ref) and ref.name == "TZ" and isinstance(value, Literal):
                return str(value.value)
    return None


def _deepest(c: Expr) -> int:
    return max((_LEVEL[n.name] for n in c.walk() if isinstance(n, Ref)), default=0)


def _split(units: np.ndarray, level: int) -> np.ndarray:
    """The next finer units of each unit."""
    if level == 0:
        return (units.astype("M8[M]")[:, None] + np.arange(12)).ravel()
    if level == 1:
        days = units.astype("M8[D]")[:, None] + np.arange(31)
        return days[days.astype("M8[M]") == units[:, None]]
    finer = _NUMPY_UNIT[level + 1]
    return (units.astype(f"M8[{finer}]")[:, None] + np.arange(_PARTS[level + 1])).ravel()


def _field(leaf: Expr, units: np.ndarray, level: int) -> pa.Array:
    assert isinstance(leaf, Ref)
    name = leaf.name
    if name == "Y":
        out = units.astype("M8[Y]").astype(np.int64) + 1970
    elif name == "MO":
        out = units.astype("M8[M]").astype(np.int64) % 12 + 1
    elif name == "DM":
        out = (units.astype("M8[D]") - units.astype("M8[M]").astype("M8[D]")).astype(np.int64) + 1
    elif name == "D":
        out = (units.astype("M8[D]").astype(np.int64) + 3) % 7 + 1  # 1970-01-01 was a Thursday
    else:
        at = _LEVEL[name]
        out = units.astype(f"M8[{_NUMPY_UNIT[at]}]").astype(np.int64) % _PARTS[at]
    return pa.array(out)


def _utc(local: np.ndarray, zone: str) -> np.ndarray:
    """UTC of local times: the first of two, and the end of the gap for those that do not exist."""
    return instants(local.astype("M8[us]").view(np.int64), zone).view("M8[us]")


def _to_utc(local: np.ndarray, zone: str) -> np.ndarray:
    """UTC of local times; those that do not exist are left out, of those that occur twice the first is taken."""
    utc = _utc(local, zone)
    return utc[local_times(utc.view(np.int64), zone) == local.astype("M8[us]").view(np.int64)]
