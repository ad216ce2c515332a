"""The questions of ``examples/flights/flights.tesla`` answered once more with pandas and loops, sharing no code.

Every function returns a frame of detections: ``time`` and attributes, in no particular order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

Frames = Mapping[str, pd.DataFrame]
HOUR = pd.Timedelta(hours=1)


def late(e: Frames) -> pd.DataFrame:
    d = e["Departure"]
    return d[d.Delay >= 60][["time", "Flight", "Tail", "Origin", "Delay"]]


def bad_weather(e: Frames) -> pd.DataFrame:
    w = e["Weather"]
    return w[(w.Wind > 25) | (w.Rain > 0.1) | (w.Visibility < 2)][["time", "Origin", "Wind", "Rain", "Visibility"]]


def _before(left: pd.DataFrame, right: pd.DataFrame, by: str) -> pd.DataFrame:
    """``left`` with the last row of ``right`` at or before it; the columns of ``right`` end in ``_before``."""
    right = right.rename(columns={c: c + "_before" for c in right.columns if c != by})
    return pd.merge_asof(
        left.sort_values("time"), right.sort_values("time_before"), left_on="time", right_on="time_before", by=by
    )


def weather_delay(e: Frames) -> pd.DataFrame:
    found = _before(late(e), bad_weather(e), "Origin")
    found = found[found.time - found.time_before <= HOUR]
    return found.rename(columns={f"{n}_before": n for n in ("Wind", "Rain", "Visibility")})[
        ["time", "Flight", "Origin", "Delay", "Wind", "Rain", "Visibility"]
    ]


def late_in_good_weather(e: Frames) -> pd.DataFrame:
    columns = ["time", "Flight", "Origin", "Delay"]
    report = _before(late(e)[columns], e["Weather"][["time", "Origin"]], "Origin")
    reported = report[report.time - report.time_before <= HOUR][columns]
    bad = _before(reported, bad_weather(e)[["time", "Origin"]], "Origin")
    return bad[~(bad.time - bad.time_before < HOUR)][columns]


def knock_on(e: Frames) -> pd.DataFrame:
    arrivals = e["Arrival"][["time", "Tail", "Flight", "Delay"]]
    # of two arrivals of one aircraft at one instant, the greater by attributes is the last
    arrivals = arrivals.sort_values(["time", "Tail", "Delay", "Flight"], kind="stable")
    found = _before(late(e), arrivals[arrivals.Delay >= 60], "Tail")
    found = found[found.time - found.time_before <= 8 * HOUR]
    newest = _before(found[["time", "Tail"]], arrivals[["time", "Tail"]], "Tail")
    found = found[(newest.time_before == found.sort_values("time").time_before.to_numpy()).to_numpy()]
    return found.rename(columns={"Flight_before": "Before", "Delay_before": "BeforeDelay"})[
        ["time", "Tail", "Flight", "Delay", "Before", "BeforeDelay"]
    ]


def _half_past(e: Frames) -> list[pd.Timestamp]:
    """The instants at half past, from the first event to the last."""
    first, last = min(f.time.min() for f in e.values()), max(f.time.max() for f in e.values())
    return [t for t in pd.date_range(first.floor("h"), last, freq="h") + HOUR / 2 if first <= t <= last]


def _reports(e: Frames) -> set[tuple[str, pd.Timestamp]]:
    return set(zip(e["Weather"].Origin, e["Weather"].time))


def congestion(e: Frames) -> pd.DataFrame:
    rows, reports = [], _reports(e)
    for origin, group in e["Departure"].sort_values("time").groupby("Origin"):
        for timer in _half_past(e):
            low, high = group.time.searchsorted(timer - HOUR), group.time.searchsorted(timer, side="right")
            if high - low >= 10 and (origin, timer - HOUR / 2) in reports:
                average = group.Delay.iloc[low:high].mean()
                if average > 60:
                    rows.append((timer, origin, high - low, average))
    return pd.DataFrame(rows, columns=["time", "Origin", "Departures", "AverageDelay"])


def standstill(e: Frames) -> pd.DataFrame:
    rows, reports = [], _reports(e)
    for origin, group in e["Departure"].sort_values("time").groupby("Origin"):
        cancelled = e["Cancellation"][e["Cancellation"].Origin == origin].time
        for timer in _half_past(e):
            if not 9 <= timer.tz_convert("America/New_York").hour <= 21 or (origin, timer - HOUR / 2) not in reports:
                continue
            low, high = (group.time.searchsorted(t, side="right") for t in (timer - 3 * HOUR, timer))
            if low == high:
                rows.append((timer, origin, int(cancelled.between(timer - 3 * HOUR, timer).sum())))
    return pd.DataFrame(rows, columns=["time", "Origin", "Cancelled"])


def spiral(e: Frames) -> pd.DataFrame:
    departures: dict[str, dict[pd.Timestamp, list[int]]] = {}
    for d in e["Departure"].sort_values("time")[["time", "Tail", "Delay"]].itertuples():
        departures.setdefault(d.Tail, {}).setdefault(d.time, []).append(d.Delay)
    rows = []
    for tail, instants in departures.items():
        # runs that the departures of the latest instant began or continued, as (flights, delay)
        runs: list[tuple[int, int]] = []
        before: pd.Timestamp | None = None
        for time, delays in instants.items():
            new = [(1, delay) for delay in delays if delay >= 15]
            # another departure of the same instant is one in between, too
            if before is not None and time - before <= 12 * HOUR and len(delays) == 1:
                smaller = [run for run in runs if run[1] < delays[0]]
                if smaller:
                    new.append((max(smaller)[0] + 1, delays[0]))
            rows += [(time, tail, flights, delay) for flights, delay in new if flights >= 3]
            runs, before = new, time
    return pd.DataFrame(rows, columns=["time", "Tail", "Flights", "Delay"])


def weather_alert(e: Frames) -> pd.DataFrame:
    """Per airport one walk in time order with the unused reports as a stack."""
    rows = []
    delayed, bad = late(e).sort_values("time"), bad_weather(e).sort_values("time")
    for origin in sorted(set(delayed.Origin)):
        coming = list(bad[bad.Origin == origin].itertuples())[::-1]
        unused: list[Any] = []
        instants: dict[pd.Timestamp, list[Any]] = {}
        for flight in delayed[delayed.Origin == origin].itertuples():
            instants.setdefault(flight.time, []).append(flight)
        for time, flights in instants.items():
            while coming and coming[-1].time <= time:
                unused.append(coming.pop())
            if unused and unused[-1].time >= time - HOUR:
                r = unused.pop()
                rows += [(time, origin, f.Flight, f.Delay, r.Wind, r.Rain, r.Visibility) for f in flights]
    return pd.DataFrame(rows, columns=["time", "Origin", "Flight", "Delay", "Wind", "Rain", "Visibility"])


QUESTIONS = {
    "Late": late,
    "WeatherDelay": weather_delay,
    "LateInGoodWeather": late_in_good_weather,
    "KnockOn": knock_on,
    "Congestion": congestion,
    "Standstill": standstill,
    "Spiral": spiral,
    "WeatherAlert": weather_alert,
}
