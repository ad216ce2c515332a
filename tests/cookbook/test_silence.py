"""Recipes about something that does not happen: the answers equal independent computations."""

from __future__ import annotations

import pytest

from cookbook.recipes import DAY, HOUR, MINUTE, compare, frames, history, rules, sql, tuples

SEEDS = (1, 2, 3)


def heartbeats(seed):
    hosts = [f"web{n}" for n in range(5)]
    return history(seed, 3000, 30, {"Heartbeat": {"host": hosts}, "Restart": {"host": hosts}}, jumps=(0, 1, 2, 4))


#: the last heartbeat of a host before a silence of five minutes, the clock stops with the last event
SILENCES = """
    with ends as (select max(time) as last from (select time from Heartbeat union all select time from Restart)),
    pairs as (select host, time, lead(time) over (partition by host order by place) as next from Heartbeat)
    select time + 300, host, time, next from pairs, ends
    where coalesce(next, 1e12) - time >= 300 and time + 300 <= last
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_heartbeat_lost(seed):
    rows = heartbeats(seed)
    found = rules("heartbeat-lost", "heartbeat.epl").detect(frames(rows))
    compare(tuples(found["Lost"]), [row[:3] for row in sql(rows, SILENCES)])


@pytest.mark.parametrize("seed", SEEDS)
def test_heartbeat_lost_and_recovered(seed):
    rows = heartbeats(seed)
    found = rules("heartbeat-lost", "recovery.epl").detect(frames(rows))
    expected = [(after, host, after - last) for _, host, last, after in sql(rows, SILENCES) if after is not None]
    compare(tuples(found["Recovered"]), expected)


def carts(seed):
    users = ["ann", "bob", "eve", "joe"]
    kinds = {"AddToCart": {"user": users, "item": ["lamp", "desk"]}, "Purchase": {"user": users}}
    return history(seed, 3000, 5 * MINUTE, kinds)


def abandoned(rows):
    """(due, user, item) by looking at every later event of the user."""
    last, out = rows[-1]["time"], []
    for place, row in enumerate(rows):
        due = row["time"] + 30 * MINUTE
        later = [after["time"] for after in rows[place + 1 :] if after["user"] == row["user"]]
        if row["type"] == "AddToCart" and due <= last and not any(time < due for time in later[:1]):
            out.append((due, row["user"], row["item"]))
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_abandoned_cart(seed):
    rows = carts(seed)
    compare(tuples(rules("abandoned-cart", "cart.epl").detect(frames(rows))["AbandonedCart"]), abandoned(rows))


@pytest.mark.parametrize("seed", SEEDS)
def test_abandoned_cart_won_back(seed):
    rows = carts(seed)
    expected = []
    for due, user, item in abandoned(rows):
        bought = [r["time"] for r in rows if r["type"] == "Purchase" and r["user"] == user and r["time"] >= due]
        if bought and bought[0] < due + 2 * HOUR:
            expected.append((bought[0], user, item))
    compare(tuples(rules("abandoned-cart", "reminder.epl").detect(frames(rows))["WonBack"]), expected)


def orders(seed):
    """Stages of some hundred orders, in any order, with repetitions and at whole hours."""
    numbers = [f"o{n}" for n in range(150)]
    kinds = ("Created", "Paid", "Packed", "Shipped", "Cancelled")
    return history(seed, 2000, HOUR, {kind: {"order": numbers} for kind in kinds})


@pytest.mark.parametrize("seed", SEEDS)
def test_sla_breach(seed):
    rows = orders(seed)
    expected = []
    for place, row in enumerate(rows):
        due = row["time"] + 2 * DAY
        if row["type"] != "Created" or due > rows[-1]["time"]:
            continue
        ended = any(
            r["type"] in ("Shipped", "Cancelled") and r["order"] == row["order"] and r["time"] < due
            for r in rows[place + 1 :]
        )
        if not ended:
            # rules derive the stages of one instant in the order of the text
            rank = {"Created": 0, "Paid": 1, "Packed": 2}
            stages = [
                (r["time"], rank[r["type"]], r["type"].lower())
                for r in rows
                if r["type"] in rank and r["order"] == row["order"] and due - 2 * DAY <= r["time"] <= due
            ]
            expected.append((due, row["order"], max(stages)[2]))
    found = rules("sla-breach", "late.epl", "stage.tesla").detect(frames(rows))
    compare(tuples(found["Breach"]), expected)
    assert {stage for _, _, stage in expected} == {"created", "paid", "packed"}


@pytest.mark.parametrize("seed", SEEDS)
def test_sla_breach_packing(seed):
    rows = orders(seed)
    query = """
        with ends as (select max(time) as last from (select time from Created union all select time from Paid
            union all select time from Packed union all select time from Shipped union all select time from Cancelled)),
        stops as (select "order", time, place from Packed union all select "order", time, place from Cancelled)
        select p.time + 86400, p."order", p.time from Paid p, ends
        where p.time + 86400 <= last and not exists (
            select 1 from stops s where s."order" = p."order" and s.place > p.place and s.time < p.time + 86400)
    """
    compare(tuples(rules("sla-breach", "packing.epl").detect(frames(rows))["PackingLate"]), sql(rows, query))


def alerts(seed):
    names = [f"a{n}" for n in range(400)]
    kinds = {"Alert": {"alert": names, "service": ["search", "login", "billing"]}, "Ack": {"alert": names[:80]}}
    return history(seed, 2000, 5 * MINUTE, kinds)


def unanswered(rows, asked, minutes):
    """(due, *details) of (time, place, *details) without an acknowledgement of the alert in the meantime."""
    acks = [(r["time"], place, r["alert"]) for place, r in enumerate(rows) if r["type"] == "Ack"]
    for time, place, alert, *more in asked:
        due = time + minutes * MINUTE
        met = any(name == alert and place < at and moment < due for moment, at, name in acks)
        if not met and due <= rows[-1]["time"]:
            yield (due, alert, *more)


def first_level(rows):
    asked = [(r["time"], i, r["alert"], r["service"], r["time"]) for i, r in enumerate(rows) if r["type"] == "Alert"]
    return list(unanswered(rows, asked, 15))


@pytest.mark.parametrize("seed", SEEDS)
def test_alert_escalation(seed):
    rows = alerts(seed)
    found = rules("alert-escalation", "escalate.epl").detect(frames(rows))
    lead = first_level(rows)
    compare(tuples(found["PageLead"]), lead)
    # a timer comes before the events of its instant
    first = {time: next(i for i, r in enumerate(rows) if r["time"] >= time) - 1 for time, *_ in lead}
    again = [(time, first[time], *more) for time, *more in lead]
    compare(tuples(found["PageManager"]), unanswered(rows, again, 15))


@pytest.mark.parametrize("seed", SEEDS)
def test_alert_escalation_quiet(seed):
    rows = alerts(seed)
    found = rules("alert-escalation", "quiet.epl").detect(frames(rows))
    last, expected = {}, []
    order = {(r["time"], r["alert"], r["service"]): i for i, r in enumerate(rows) if r["type"] == "Alert"}
    for due, alert, service, _ in sorted(first_level(rows), key=lambda p: (p[0], order[p[3], p[1], p[2]])):
        if service not in last or due - last[service] >= HOUR:
            last[service] = due
            expected.append((due, alert, service))
    compare(tuples(found["QuietPage"]), expected)
