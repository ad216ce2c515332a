"""Recipes about intervals: the answers equal computations with lists of (start, end), end None while open."""

from __future__ import annotations

import pandas as pd
import pytest

from cookbook.recipes import HOUR, MINUTE, START, compare, frames, history, rules, sql, tuples

SEEDS = (1, 2, 3)
EVER = float("inf")


def spans(rows, opens, closes, *key):
    """Per value of the key the intervals from an opening event to the next closing one at another time."""
    marks = {}
    for row in rows:
        if row["type"] in (opens, closes):
            at = marks.setdefault(tuple(row[name] for name in key), {})
            at.setdefault(row["time"], set()).add(row["type"])
    out = {}
    for value, at in marks.items():
        start, found = None, []
        for time in sorted(at):
            if opens in at[time]:  # an event that opens and one that closes at the same time: open
                start = time if start is None else start
            elif start is not None:
                found.append((start, time))
                start = None
        out[value] = found if start is None else [*found, (start, EVER)]
    return out


def meet(left, right):
    """The common parts of two lists of intervals."""
    parts = [(max(a, c), min(b, d)) for a, b in left for c, d in right]
    return [(start, stop) for start, stop in parts if start < stop]


def longer(intervals, now, least, strictly=False):
    """Those of this length; an open one is a bit longer than up to now."""
    for start, stop in intervals:
        length = (now if stop == EVER else stop) - start
        if length > least or (length == least and (not strictly or stop == EVER)):
            yield start, stop


def closed(stop):
    return None if stop == EVER else stop


def clicks(seed):
    kinds = {"Click": {"user": [f"u{n}" for n in range(12)], "page": ["home", "cart"]}}
    return history(seed, 3000, 5 * MINUTE, kinds)


#: the sessions with their first and last click, at different times
SESSIONS = """
    with gaps as (select *, time - lag(time) over (partition by user order by place) as gap from Click),
    numbered as (select *, sum(gap is null or gap >= 1800) over (partition by user order by place) as n from gaps)
    select min(time) as start, max(time) as stop, user, count(*) as clicks from numbered group by user, n
    having max(time) > min(time)
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_sessions(seed):
    rows = clicks(seed)
    found = rules("sessions", "sessions.phen", "sessions.tesla").detect(frames(rows))
    query = f"select stop, user, start, (stop - start) / 60.0, clicks from ({SESSIONS})"
    compare(tuples(found["Session"]), sql(rows, query))


@pytest.mark.parametrize("seed", SEEDS)
def test_long_sessions(seed):
    rows = clicks(seed)
    found = rules("sessions", "long.phen").detect(frames(rows))
    query = f"select start, stop, user from ({SESSIONS}) where stop - start >= 1200"
    compare(tuples(found["long_session"]), sql(rows, query))


def trucks(seed):
    names, zones = [f"t{n}" for n in range(6)], ["north", "south"]
    here, there = {"truck": names}, {"truck": names, "zone": zones}
    return history(seed, 2500, 10 * MINUTE, {"Stop": here, "Go": here, "Enter": there, "Leave": there})


@pytest.mark.parametrize("seed", SEEDS)
def test_stops_in_zone(seed):
    rows = trucks(seed)
    stopped = spans(rows, "Stop", "Go", "truck")
    expected = []
    for (truck, zone), inside in spans(rows, "Enter", "Leave", "truck", "zone").items():
        both = meet(stopped[truck,], inside)
        expected += [(a, closed(b), truck, zone) for a, b in longer(both, rows[-1]["time"], HOUR, strictly=True)]
    compare(tuples(rules("stops-in-zone", "stops.phen").detect(frames(rows))["waiting"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_stops_outside_of_zones(seed):
    rows = trucks(seed)
    zoned = spans(rows, "Enter", "Leave", "truck")
    expected = []
    for (truck,), stopped in spans(rows, "Stop", "Go", "truck").items():
        outside, since = [], -EVER
        for start, stop in [*zoned[truck,], (EVER, EVER)]:
            outside.append((since + 1e-6, start - 1e-6 if start < EVER else EVER))
            since = stop
        rest = [(round(a, 6), round(b, 6) if b < EVER else b) for a, b in meet(stopped, outside)]
        expected += [(a, closed(b), truck) for a, b in longer(rest, rows[-1]["time"], 30 * MINUTE)]
    compare(tuples(rules("stops-in-zone", "outside.phen").detect(frames(rows))["roadside"]), expected)


def ships(seed):
    names = [f"s{n}" for n in range(5)]
    alone, pair = {"ship": names}, {"ship": names, "other": names}
    rows = history(seed, 4000, 5 * MINUTE, {"Slow": alone, "Fast": alone, "Near": pair, "Apart": pair})
    return [row for row in rows if row["ship"] < row.get("other", "z")]


@pytest.mark.parametrize("seed", SEEDS)
def test_rendezvous(seed):
    rows = ships(seed)
    slow = spans(rows, "Slow", "Fast", "ship")
    expected = []
    for (a, b), close in spans(rows, "Near", "Apart", "ship", "other").items():
        all_three = meet(meet(close, slow[a,]), slow[b,])
        expected += [(s, closed(e), a, b) for s, e in longer(all_three, rows[-1]["time"], 30 * MINUTE)]
    compare(tuples(rules("rendezvous", "rendezvous.phen").detect(frames(rows))["rendezvous"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_rendezvous_with_a_handover(seed):
    rows = ships(seed)
    slow = spans(rows, "Slow", "Fast", "ship")
    expected = set()
    for (a, b), close in spans(rows, "Near", "Apart", "ship", "other").items():
        first = pd.DataFrame(meet(close, slow[a,]), columns=["s1", "e1"], dtype=float)
        second = pd.DataFrame(slow[b,], columns=["s2", "e2"], dtype=float)
        pairs = first.merge(second, how="cross").query("s1 < s2 < e1 < e2")
        expected |= {(p.s1, closed(p.e2), a, b) for p in pairs.itertuples()}
    compare(tuples(rules("rendezvous", "handover.phen").detect(frames(rows))["handover"]), expected)


def outages(seed):
    """Intervals for three services; those of one type and service may overlap, and the last ones are open."""
    rows = history(seed, 900, 2 * MINUTE, {kind: {"service": ["a", "b", "c"]} for kind in ("Down", "Planned")})
    for place, row in enumerate(rows):
        open_ = row["type"] == "Down" and place > 890
        row["end"] = None if open_ else row["time"] + (1 + (place * 7 + seed) % 9) * MINUTE
    return rows


def united(rows, kind, service):
    """The intervals of a service; those that share an instant are one."""
    out = []
    for row in rows:
        if row["type"] == kind and row["service"] == service:
            start, stop = row["time"], EVER if row["end"] is None else row["end"]
            if out and start <= out[-1][1]:
                out[-1] = (out[-1][0], max(stop, out[-1][1]))
            else:
                out.append((start, stop))
    return out


def with_ends(rows):
    """Tables of these rows, the ends as times."""
    tables = frames(rows)
    for table in tables.values():
        table["end"] = START + pd.to_timedelta(table["end"], unit="s")
    return tables


@pytest.mark.parametrize("seed", SEEDS)
def test_unplanned_downtime(seed):
    rows, expected = outages(seed), []
    now = max(row["end"] or row["time"] for row in rows)
    for service in "abc":
        rest, since = [], -EVER
        for start, stop in [*united(rows, "Planned", service), (EVER, EVER)]:
            rest.append((since + 1e-6, start - 1e-6 if start < EVER else EVER))
            since = stop
        left = [(round(a, 6), round(b, 6) if b < EVER else b) for a, b in meet(united(rows, "Down", service), rest)]
        expected += [(a, closed(b), service) for a, b in longer(left, now, 5 * MINUTE)]
    found = rules("unplanned-downtime", "downtime.phen").detect(with_ends(rows))
    compare(tuples(found["unplanned"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_maintenance_that_went_wrong(seed):
    rows, expected = outages(seed), set()
    for service in "abc":
        for a, b in united(rows, "Planned", service):
            expected |= {(a, closed(d), service) for c, d in united(rows, "Down", service) if a < c < b < d}
    found = rules("unplanned-downtime", "overrun.phen").detect(with_ends(rows))
    compare(tuples(found["overrun"]), expected)
