"""Recipes about values over time: the answers equal independent computations."""

from __future__ import annotations

import pandas as pd
import pytest

from cookbook.recipes import HOUR, MINUTE, compare, frames, history, rules, sql, tuples

SEEDS = (1, 2, 3)


def checks(seed):
    kinds = {"Check": {"service": [f"s{n}" for n in range(6)], "status": ["up", "up", "down"]}}
    return history(seed, 3000, MINUTE, kinds)


#: the changes of status, and their number in the 15 minutes up to each of them
FLAPS = """
    with pairs as (select *, lag(status) over (partition by service order by place) as before from "Check"),
    changed as (select * from pairs where status <> before)
    select a.time, a.service, a.status, count(*) as changes from changed a
    join changed b on b.service = a.service and b.time between a.time - 900 and a.time
    group by a.place having count(*) >= 3
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_flapping(seed):
    rows = checks(seed)
    found = rules("flapping", "changed.epl", "flapping.tesla").detect(frames(rows))
    compare(tuples(found["Flapping"]), sql(rows, FLAPS))


@pytest.mark.parametrize("seed", SEEDS)
def test_flapping_that_ends(seed):
    rows = [{**row, "time": row["time"] * 4} for row in checks(seed)]
    query = f"""
        with flaps as ({FLAPS}), ends as (select max(time) as last from "Check"),
        pairs as (select *, lag(status) over (partition by service order by place) as before from "Check")
        select f.time + 1800, f.service, f.status from flaps f, ends
        where f.time + 1800 <= last and not exists (select 1 from pairs c
            where c.status <> c.before and c.service = f.service and c.time > f.time and c.time < f.time + 1800)
    """
    # two checks of one service at one time would be one change after the other within the instant
    rows = list({(row["service"], row["time"]): row for row in rows}.values())
    found = rules("flapping", "changed.epl", "flapping.tesla", "stable.epl").detect(frames(rows))
    compare(tuples(found["Stable"]), sql(rows, query), least=3)


@pytest.mark.slow
@pytest.mark.spark
def test_flapping_on_spark(spark):
    rows = checks(4)
    events = spark.createDataFrame(frames(rows)["Check"])
    found = rules("flapping", "changed.epl", "flapping.tesla").detect({"Check": events})
    compare(tuples(found["Flapping"]), sql(rows, FLAPS))


def trades(seed):
    kinds = {"Trade": {"symbol": ["A", "B", "C"], "price": [round(97 + n / 2, 1) for n in range(12)]}}
    return history(seed, 3000, 30, kinds)


@pytest.mark.parametrize("seed", SEEDS)
def test_v_shape(seed):
    rows = trades(seed)
    expected = []
    for symbol, group in pd.DataFrame(rows).groupby("symbol"):
        p = [group.price.shift(n) for n in (4, 3, 2, 1, 0)]
        hits = group[(p[0] > p[1]) & (p[1] > p[2]) & (p[2] < p[3]) & (p[3] < p[4])].index
        expected += [(group.time[i], symbol, p[0][i], p[2][i], p[4][i]) for i in hits]
    compare(tuples(rules("v-shape", "v_shape.esql").detect(frames(rows))["VShape"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_v_shape_that_recovers(seed):
    rows = trades(seed)
    expected = []
    for symbol, group in pd.DataFrame(rows).groupby("symbol"):
        times, prices = list(group.time), list(group.price)
        for bottom in range(2, len(prices) - 1):
            top = bottom
            while top > 0 and prices[top - 1] > prices[top]:
                top -= 1
            if bottom - top < 2 or prices[bottom + 1] <= prices[bottom]:
                continue
            for at in range(bottom + 1, len(prices)):
                if prices[at] < prices[at - 1]:
                    break
                if prices[at] >= prices[top]:
                    expected.append((times[at], symbol, prices[top], prices[bottom], prices[at]))
                    break
    compare(tuples(rules("v-shape", "recovered.esql").detect(frames(rows))["Recovered"]), expected)


def stock(seed):
    """Units of some items; the rows of one item have different times."""
    kinds = {"Stock": {"item": [f"i{n}" for n in range(8)], "units": [3, 5, 9, 9, 10, 40]}}
    rows = {(row["item"], row["time"]): row for row in history(seed, 2000, 5 * MINUTE, kinds, jumps=(0, 1, 2, 4))}
    return list(rows.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_low_stock(seed):
    rows = stock(seed)
    expected = []
    for item in {row["item"] for row in rows}:
        units = {row["time"]: row["units"] for row in rows if row["item"] == item}
        first, value, since = min(units), None, None
        moments = set(units) | {t for t in range(0, rows[-1]["time"] + 1, 15 * MINUTE) if t > first}
        for now in sorted(moments):
            value = units.get(now, value)
            if since is not None and now - since >= 2 * HOUR:
                expected.append((now, item, value))
                since = None  # the state of an alert is not part of the next search
            elif value >= 10:
                since = None
            elif since is None:
                since = now
    compare(tuples(rules("low-stock", "low.ftl").detect(frames(rows))["Low"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_low_stock_as_intervals(seed):
    rows = stock(seed)
    query = """
        with marks as (select *, units < 10 as low, lag(units < 10) over (partition by item order by time) as before
                       from Stock),
        turns as (select *, lead(time) over (partition by item order by time) as stop
                  from marks where before is null or low <> before),
        ends as (select max(time) as last from Stock)
        select time, stop, item from turns, ends
        where low and (stop - time >= 7200 or (stop is null and last + 1e-6 - time >= 7200))
    """
    compare(tuples(rules("low-stock", "short.phen").detect(frames(rows))["short"]), sql(rows, query))


def traffic(seed):
    kinds = {"Traffic": {"link": [f"l{n}" for n in range(5)], "load": [80, 100, 120, 160, 199, 200, 240]}}
    rows = {(row["link"], row["time"]): row for row in history(seed, 2500, MINUTE, kinds)}
    return list(rows.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_traffic_doubles(seed):
    rows, seen, expected = traffic(seed), {}, []
    for row in rows:
        past = seen.setdefault(row["link"], [])
        past.append(row)
        if any(row["load"] >= 2 * old["load"] and row["time"] - old["time"] <= 600 for old in past):
            expected.append((row["time"], row["link"], row["load"]))
            past.clear()
    compare(tuples(rules("traffic-doubles", "doubled.ftl").detect(frames(rows))["Doubled"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_traffic_doubles_again(seed):
    rows, last, expected = traffic(seed), {}, []
    query = """
        select distinct a.time, a.link, a.load from Traffic a join Traffic b
        on b.link = a.link and b.time between a.time - 600 and a.time and a.load >= 2 * b.load order by a.time
    """
    for time, link, load in sql(rows, query):
        if time - last.get(link, -300) >= 300:
            last[link] = time
            expected.append((time, link, load))
    compare(tuples(rules("traffic-doubles", "again.ftl").detect(frames(rows))["Doubled"]), expected)


def readings(seed):
    return history(seed, 3000, 30, {"Reading": {"machine": ["m1", "m2", "m3"], "celsius": [40, 42, 45, 50, 53, 60]}})


@pytest.mark.parametrize("seed", SEEDS)
def test_sensor_spike(seed):
    rows = readings(seed)
    query = """
        with means as (select *, avg(celsius) over w as usual, count(*) over w as n from Reading
                       window w as (partition by machine order by place rows between 3 preceding and 1 preceding))
        select time, machine, celsius, round(usual, 9) from means where n = 3 and celsius > usual + 10
    """
    found = tuples(rules("sensor-spike", "spike.esql").detect(frames(rows))["Spike"])
    compare(type(found)((*row[:3], round(row[3], 9)) for row in found.elements()), sql(rows, query))


@pytest.mark.parametrize("seed", SEEDS)
def test_sensor_spike_of_its_own_kind(seed):
    usual = [40.3, 41.1, 41.7, 42.9, 43.3, 44.1, 45.7]
    kinds = {"Reading": {"machine": ["m1", "m2", "m3"], "celsius": [*usual * 4, 51.3, 53.9]}}
    rows, expected = history(seed, 3000, 30, kinds), []
    for machine, group in pd.DataFrame(rows).groupby("machine"):
        mean = group.celsius.expanding().mean().shift(1)
        spread = group.celsius.expanding().std(ddof=0).shift(1)
        above = group.celsius - mean - 2 * spread
        assert above[spread > 0].abs().min() > 1e-9  # no reading lies on the border, where rounding would decide
        hits = group[(above > 0) & (spread > 0)]
        expected += [(row.time, machine, row.celsius, round(mean[i], 9)) for i, row in hits.iterrows()]
    found = tuples(rules("sensor-spike", "outlier.esql").detect(frames(rows))["Outlier"])
    compare(type(found)((*row[:3], round(row[3], 9)) for row in found.elements()), expected)


def machines(seed):
    names = [f"m{n}" for n in range(6)]
    kinds = {
        "Reading": {"machine": names, "celsius": [58.0, 60.0, 63.0, 66.0, 70.0]},
        "Maintenance": {"machine": names},
    }
    rows = history(seed, 3000, 10 * MINUTE, kinds)
    return [row for n, row in enumerate(rows) if row["type"] == "Reading" or n % 4 == 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_rising_temperature(seed):
    rows = machines(seed)
    query = """
        with ends as (select max(time) as last from (select time from Reading union all select time from Maintenance)),
        next as (select machine, celsius as a, lead(celsius, 1) over w as b, lead(celsius, 2) over w as c,
                        lead(time, 2) over w as at, lead(place, 2) over w as spot
                 from Reading window w as (partition by machine order by place))
        select at + 7200, machine, a, c, at from next, ends
        where a < b and b < c and at + 7200 <= last and not exists (select 1 from Maintenance m
            where m.machine = next.machine and m.place > spot and m.time < at + 7200)
    """
    compare(tuples(rules("rising-temperature", "rising.epl").detect(frames(rows))["Neglected"]), sql(rows, query))


@pytest.mark.parametrize("seed", SEEDS)
def test_rising_temperature_with_others_between(seed):
    rows, expected = machines(seed), []

    def higher(place, than, before=10**9):
        for at in range(place + 1, len(rows)):
            row = rows[at]
            if row["time"] >= before:
                return None
            if row["type"] == "Reading" and row["machine"] == machine and row["celsius"] > than:
                return at
        return None

    for place, a in enumerate(rows):
        machine = a["machine"]
        b = higher(place, a["celsius"]) if a["type"] == "Reading" else None
        c = None if b is None else higher(b, rows[b]["celsius"], rows[b]["time"] + HOUR)
        if c is None:
            continue
        since = rows[c]["time"]
        repaired = any(
            r["type"] == "Maintenance" and r["machine"] == machine and r["time"] < since + 2 * HOUR
            for r in rows[c + 1 :]
        )
        if not repaired and since + 2 * HOUR <= rows[-1]["time"]:
            expected.append((since + 2 * HOUR, machine, a["celsius"], rows[c]["celsius"], since))
    compare(tuples(rules("rising-temperature", "skipping.epl").detect(frames(rows))["Neglected"]), expected)
