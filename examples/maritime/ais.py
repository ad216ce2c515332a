"""Ships off a coast: their position reports (AIS), and the events made from these.

The vessels are invented.  Each is moored in a port, sails to another port, directly or by way of a fishing area, and is
moored there again; from time to time its reports are missing.  A fishing vessel may stop in its area to haul the nets.

:func:`maritime` returns a table per type, in time order, with ``time`` (timestamp in UTC, whole seconds) and:

=====================  ==================  ==========================================================================
type                   attributes          when
=====================  ==================  ==========================================================================
``ais``                vessel: int,        every report; speed in knots, position in degrees (WGS 84)
                       speed, lon, lat:
                       float
``stop_start``         vessel              a report with a speed of at most 0.5 kn
``stop_end``           vessel              a report with a greater one
``fast``, ``slow``     vessel              the first report above 2.7 kn, the first report at or below it again
``entersPort``,        vessel,             the first report within a port's zone, the first outside it again
``leavesPort``         area: string
``entersFishingArea``  vessel,             the same for fishing areas
``leavesFishingArea``  area: string
``gap_start``,         vessel              the last report before half an hour or more without one, and the next one
``gap_end``
=====================  ==================  ==========================================================================

The kind of a vessel (``cargo``, ``ferry``, ``fishing``) does not change: :func:`vessel_types` returns it as a table of
facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

#: knots: at most this is stopped, more than that is under way
STOPPED, UNDERWAY = 0.5, 2.7
KINDS = ("cargo", "ferry", "fishing")
HOUR = 3600.0
#: seconds without a report that are a gap
SILENCE = 1800
#: 1 June 2024, 00:00 UTC, in seconds since 1970
START = 1_717_200_000
#: degrees: where x = y = 0 is
_WEST, _SOUTH = -4.9, 48.0
_FIRST_VESSEL = 227_000_001
#: legs of a trip
_MOORED, _OUT, _FISHING, _BACK = range(4)
#: further than every time from the start, in seconds: vessel * _APART + time orders reports of all vessels
_APART = float(1 << 32)


@dataclass(frozen=True)
class Zones:
    """Circles: names, centres and radii in nautical miles east and north of the corner of the chart."""

    names: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    radius: np.ndarray


@dataclass(frozen=True)
class Reports:
    """Reports sorted by (vessel, time): vessel number, seconds since the start, knots, nautical miles."""

    vessel: np.ndarray
    time: np.ndarray
    speed: np.ndarray
    x: np.ndarray
    y: np.ndarray


def maritime(
    vessels: int = 20, days: float = 1.0, *, seed: int = 0, every: int = 60, gaps: float = 0.5, start: int = START
) -> dict[str, pa.Table]:
    """Generate position reports of ships and the events derived from them.

    Args:
        vessels: The number of ships.
        days: The length of the history in days.
        seed: Determines all events.
        every: The seconds between two reports of a moving ship, at least 5; ships in port send a third as many.
        gaps: The average number of gaps in the reports of a ship per day.
        start: The start of the history, in seconds since 1970.

    Returns:
        One table per event type.  There are about ``vessels * days * 50000 / every`` reports, and about as many other
        events.
    """
    rng = np.random.default_rng(seed)
    ports, areas = chart(rng)
    kinds = _kinds(vessels, seed)
    reports = _reports(rng, ports, areas, kinds, days * 24 * HOUR, every, gaps)
    return _events(reports, ports, areas, start)


def vessel_types(vessels: int = 20, *, seed: int = 0) -> pa.Table:
    """Return the kinds of the ships that :func:`maritime` generates with the same number and seed.

    Args:
        vessels: The number of ships.
        seed: The seed.

    Returns:
        A table of facts with the columns ``vessel`` and ``kind`` (cargo, ferry or fishing).
    """
    return pa.table(
        {"vessel": _FIRST_VESSEL + np.arange(vessels), "kind": np.array(KINDS)[_kinds(vessels, seed)].tolist()}
    )


def _kinds(vessels: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, 1]).choice(3, vessels, p=(0.25, 0.15, 0.6))


def chart(rng: np.random.Generator) -> tuple[Zones, Zones]:
    """Ports along the coast in the south, fishing areas in rows off it; no two share a point."""
    count = 8
    ports = Zones(
        tuple(f"port_{i + 1}" for i in range(count)),
        np.arange(count) * 7.0 + rng.uniform(0, 3, count),
        rng.uniform(0, 2, count),
        rng.uniform(0.8, 1.5, count),
    )
    column, row = np.divmod(np.arange(6), 2)
    areas = Zones(
        tuple(f"fishing_{i + 1}" for i in range(6)),
        column * 19.0 + rng.uniform(5, 9, 6),
        row * 13.0 + rng.uniform(12, 14, 6),
        rng.uniform(3, 5, 6),
    )
    return ports, areas


# --- what the vessels do ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Legs:
    """Legs of all vessels in order, as matrices (vessels, legs); distances in nautical miles, times in seconds."""

    begin: np.ndarray
    end: np.ndarray
    what: np.ndarray
    #: where it begins and ends; of fishing, the centre and the place of the first net
    x: np.ndarray
    y: np.ndarray
    to_x: np.ndarray
    to_y: np.ndarray
    speed: np.ndarray
    #: rounds in the fishing area; whether the vessel stops there
    turns: np.ndarray
    hauls: np.ndarray


def _legs(rng: np.random.Generator, ports: Zones, areas: Zones, kinds: np.ndarray, seconds: float) -> _Legs:
    """Trips from port to port until the end, the first one begun before the start."""
    trips = int(seconds / (3 * HOUR)) + 4
    shape = (len(kinds), trips)
    kind = kinds[:, None]
    # fishing vessels mostly come home, others do not
    home = rng.integers(0, len(ports.names), shape[0])[:, None]
    port = rng.integers(0, len(ports.names), shape)
    port = np.where((kind == 2) & (rng.random(shape) < 0.7), home, port)
    before = np.concatenate([home, port[:, :-1]], axis=1)
    fishing = (kind == 2) & (rng.random(shape) < 0.85)
    # others do not go from a port to itself
    port = np.where(~fishing & (port == before), (port + 1) % len(ports.names), port)
    before[:, 1:] = port[:, :-1]
    area = rng.integers(0, len(areas.names), shape)
    angle, reach = rng.uniform(0, 2 * np.pi, shape), rng.uniform(0.4, 0.8, shape) * areas.radius[area]
    net = areas.x[area] + reach * np.cos(angle), areas.y[area] + reach * np.sin(angle)
    speed = np.array([12.0, 18.0, 8.5])[kind] * rng.uniform(0.85, 1.15, shape)

    x = [ports.x[before], ports.x[before], areas.x[area], net[0]]
    y = [ports.y[before], ports.y[before], areas.y[area], net[1]]
    there = [ports.x[before], np.where(fishing, net[0], ports.x[port]), net[0], ports.x[port]]
    north = [ports.y[before], np.where(fishing, net[1], ports.y[port]), net[1], ports.y[port]]
    way = [np.hypot(b - a, d - c) / speed * HOUR for a, b, c, d in zip(x, there, y, north)]
    rest = rng.lognormal(np.log(np.array([9.0, 1.2, 4.0]))[kind], 0.5, shape) * HOUR
    work = np.where(fishing, rng.uniform(2, 6, shape) * HOUR, 0.0)
    lasts = np.stack([rest, way[_OUT], work, np.where(fishing, way[_BACK], 0.0)], axis=2)
    # a ferry to the next port arrives in less than an hour: nothing lasts no time but what is left out
    end = np.cumsum(lasts.reshape(shape[0], -1), axis=1)
    begin = np.concatenate([np.zeros((shape[0], 1)), end[:, :-1]], axis=1)
    early = rng.uniform(0, 12 * HOUR, (shape[0], 1))
    turns = np.maximum(1, np.round(4.2 * work / HOUR / (2 * np.pi * reach)))
    knots = np.stack([np.zeros(shape), speed, 2 * np.pi * reach * turns / np.maximum(work / HOUR, 1), speed], axis=2)

    def flat(parts: list[np.ndarray]) -> np.ndarray:
        return np.stack(parts, axis=2).reshape(shape[0], -1)

    return _Legs(
        begin - early,
        end - early,
        np.tile(np.arange(4), (shape[0], trips)),
        flat(x), flat(y), flat(there), flat(north),
        knots.reshape(shape[0], -1),
        np.repeat(turns, 4, axis=1),
        np.repeat(rng.random(shape) < 0.25, 4, axis=1),
    )  # fmt: skip


def _reports(
    rng: np.random.Generator,
    ports: Zones,
    areas: Zones,
    kinds: np.ndarray,
    seconds: float,
    every: int,
    gaps: float,
) -> Reports:
    legs = _legs(rng, ports, areas, kinds, seconds)
    count = int(seconds / every)
    vessel = np.repeat(np.arange(len(kinds)), count)
    number = np.tile(np.arange(count), len(kinds))
    time = np.floor((number + rng.uniform(0, 0.8, len(number))) * every)
    key = vessel * _APART + time
    at = np.searchsorted((np.arange(len(kinds))[:, None] * _APART + legs.end).ravel(), key, side="right")
    what = legs.what.ravel()[at]
    # a vessel in port reports less often, and at times nothing is received
    received = ((what != _MOORED) | (number % 3 == 0)) & ~_lost(rng, len(kinds), seconds, gaps, key)
    vessel, time, at, what = vessel[received], time[received], at[received], what[received]

    def leg(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.ravel()[at])

    begin, end = leg(legs.begin), leg(legs.end)
    part = (time - begin) / np.maximum(end - begin, 1)
    dx, dy = leg(legs.to_x) - leg(legs.x), leg(legs.to_y) - leg(legs.y)
    turn = 2 * np.pi * leg(legs.turns) * part
    round_ = what == _FISHING
    x = leg(legs.x) + np.where(round_, dx * np.cos(turn) - dy * np.sin(turn), dx * part)
    y = leg(legs.y) + np.where(round_, dx * np.sin(turn) + dy * np.cos(turn), dy * part)
    speed = leg(legs.speed) * rng.normal(1, 0.04, len(time))
    # slowly out of the port and into it, in ten minutes
    harbour = np.where(what == _OUT, time - begin, np.where(what == _BACK, end - time, np.inf))
    speed *= np.clip(harbour / 600, 0.15, 1)
    speed = np.where(round_ & leg(legs.hauls) & (part > 0.4) & (part < 0.5), 0.3, speed)
    speed += np.abs(rng.normal(0, 0.1, len(time)))
    return Reports(vessel, time.astype(np.int64), np.round(speed, 1), x, y)


def _lost(rng: np.random.Generator, vessels: int, seconds: float, gaps: float, key: np.ndarray) -> np.ndarray:
    """Which reports fall into a time without reception."""
    count = rng.poisson(gaps * seconds / (24 * HOUR) * vessels)
    begin = rng.integers(0, vessels, count) * _APART + rng.uniform(0, seconds, count)
    end = begin + rng.uniform(0.6, 4, count) * HOUR
    return np.asarray(np.searchsorted(np.sort(begin), key) > np.searchsorted(np.sort(end), key))


# --- what is seen of them ---------------------------------------------------------------------------------------------


def _events(reports: Reports, ports: Zones, areas: Zones, start: int) -> dict[str, pa.Table]:
    r = reports
    new = np.ones(len(r.time), bool)
    new[1:] = r.vessel[1:] != r.vessel[:-1]

    def table(rows: np.ndarray, **columns: np.ndarray | pa.Array) -> pa.Table:
        order = np.lexsort((r.vessel[rows], r.time[rows]))
        rows = rows[order]
        times = pa.array((r.time[rows] + start) * 1_000_000).cast(pa.timestamp("us", tz="UTC"))
        more = {n: (c if isinstance(c, pa.Array) else pa.array(c)).take(pa.array(order)) for n, c in columns.items()}
        return pa.table({"time": times, "vessel": _FIRST_VESSEL + r.vessel[rows], **more})

    def changes(holds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reports at which something begins to hold for a vessel, and at which it no longer holds."""
        before = np.concatenate([[False], holds[:-1]]) & ~new
        return np.flatnonzero(holds & ~before), np.flatnonzero(~holds & before)

    def zones(of: Zones, side: int) -> pa.Table:
        places = [changes(np.hypot(r.x - x, r.y - y) <= radius)[side] for x, y, radius in zip(of.x, of.y, of.radius)]
        names = np.repeat(np.arange(len(of.names)), [len(p) for p in places])
        return table(np.concatenate(places), area=pa.array(of.names).take(pa.array(names)))

    everything = np.arange(len(r.time))
    fast, slow = changes(r.speed > UNDERWAY)
    silent = np.flatnonzero(~new[1:] & (np.diff(r.time) >= SILENCE))
    lon = np.round(_WEST + r.x / 60 / np.cos(np.radians(_SOUTH)), 5)
    lat = np.round(_SOUTH + r.y / 60, 5)
    return {
        "ais": table(everything, speed=r.speed, lon=lon, lat=lat),
        "stop_start": table(np.flatnonzero(r.speed <= STOPPED)),
        "stop_end": table(np.flatnonzero(r.speed > STOPPED)),
        "fast": table(fast),
        "slow": table(slow),
        "entersPort": zones(ports, 0),
        "leavesPort": zones(ports, 1),
        "entersFishingArea": zones(areas, 0),
        "leavesFishingArea": zones(areas, 1),
        "gap_start": table(silent),
        "gap_end": table(silent + 1),
    }
