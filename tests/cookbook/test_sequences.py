"""Recipes about events that follow each other: the answers equal independent computations."""

from __future__ import annotations

import pytest

from cookbook.recipes import HOUR, MINUTE, compare, frames, history, rules, sql, tuples

SEEDS = (1, 2, 3)


def groups(rows, name):
    """The events per value of an attribute, in their order."""
    out = {}
    for row in rows:
        out.setdefault(row[name], []).append(row)
    return out.items()


def logins(seed):
    ips, users = [f"10.0.0.{n}" for n in range(5)], ["ann", "bob", "root"]
    failed = {"ip": ips, "user": users}
    rows = history(seed, 3000, 30, {"LoginFailed": failed, "LoginFailed ": failed, "LoginOk": failed})
    return [{**row, "type": row["type"].strip()} for row in rows]


@pytest.mark.parametrize("seed", SEEDS)
def test_brute_force(seed):
    rows = logins(seed)
    query = """
        select o.time, o.ip, o.user, count(*) as failures from LoginOk o
        join LoginFailed f on f.ip = o.ip and f.time between o.time - 600 and o.time
        group by o.place having count(*) >= 5
    """
    compare(tuples(rules("brute-force", "brute_force.tesla").detect(frames(rows))["BruteForce"]), sql(rows, query))


@pytest.mark.parametrize("seed", SEEDS)
def test_brute_force_with_several_accounts(seed):
    tried = {"ip": [1, 2, 3, 4], "user": ["ann", "bob"]}
    rows = history(seed, 2500, 60, {"LoginFailed": tried, "LoginOk": tried})
    query = """
        with ends as materialized (select o.time, o.ip, (select max(place) from LoginFailed f
                where f.ip = o.ip and f.time between o.time - 600 and o.time) as second from LoginOk o),
        pairs as materialized (select e.time, e.ip, b.user, (select max(place) from LoginFailed a where a.ip = b.ip
                and a.user <> b.user and a.time between b.time - 600 and b.time) as first
            from ends e join LoginFailed b on b.place = e.second)
        select p.time, p.ip, a.user, p.user from pairs p join LoginFailed a on a.place = p.first
    """
    compare(tuples(rules("brute-force", "spray.tesla").detect(frames(rows))["Spray"]), sql(rows, query))


def payments(seed):
    kinds = {
        "card": [f"c{n}" for n in range(6)],
        "amount": [1.0, 2.5, 4.5, 5.0, 60.0, 200.0, 350.0],
        "shop": ["a", "b"],
    }
    return history(seed, 3000, 150, {"Payment": kinds})


#: per large payment its place, the small payments before it, the sum of their amounts and the time of the first one
TESTS = """
    select p.time, p.card, p.amount, p.shop, count(*) as tests, (p.time - min(s.time)) / 60.0 as minutes,
           sum(s.amount) as spent
    from Payment p join Payment s on s.card = p.card and s.amount < 5 and s.time between p.time - 3600 and p.time
    where p.amount > 200 group by p.place having count(*) >= 3
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_card_testing(seed):
    rows = payments(seed)
    found = rules("card-testing", "card_testing.tesla").detect(frames(rows))
    compare(tuples(found["CardTesting"]), sql(rows, f"select time, card, amount, shop, tests from ({TESTS})"))


@pytest.mark.parametrize("seed", SEEDS)
def test_card_testing_with_sums(seed):
    rows = payments(seed)
    found = rules("card-testing", "tested.tesla").detect(frames(rows))
    compare(tuples(found["Tested"]), sql(rows, f"select time, card, amount, minutes, spent from ({TESTS})"))


@pytest.mark.spark
def test_card_testing_on_spark(spark):
    rows = payments(4)
    program = rules("card-testing", "card_testing.tesla")
    found = program.detect({"Payment": spark.createDataFrame(frames(rows)["Payment"])})
    compare(tuples(found["CardTesting"]), sql(rows, f"select time, card, amount, shop, tests from ({TESTS})"))


def travels(seed):
    kinds = {"card": [f"c{n}" for n in range(8)], "country": ["IT", "IT ", "FR", "BR"]}
    rows = history(seed, 3000, 10 * MINUTE, {"Payment": kinds})
    return [{**row, "country": row["country"].strip()} for row in rows]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_countries(seed):
    rows = sorted(travels(seed), key=lambda r: (r["time"], r["card"], r["country"]))
    query = """
        select p.time, p.card, b.country, p.country from Payment p join Payment b on b.place = (
            select max(place) from Payment q
            where q.card = p.card and q.country <> p.country and q.time between p.time - 3600 and p.time)
    """
    compare(
        tuples(rules("two-countries", "two_countries.tesla").detect(frames(rows))["TwoCountries"]), sql(rows, query)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_two_countries_and_back(seed):
    rows = sorted(travels(seed), key=lambda r: (r["time"], r["card"], r["country"]))
    expected = []
    for card, group in groups(rows, "card"):
        for place, here in enumerate(group):
            now, home = here["time"], here["country"]
            others = group[:place] + group[place + 1 :]
            trips = [r for r in others if r["country"] != home and now - HOUR <= r["time"] <= now]
            left = trips[-1]["time"] if trips else None
            starts = [r["time"] for r in others if r["country"] == home and trips and left - HOUR <= r["time"] <= left]
            if starts and starts[-1] >= now - HOUR:
                expected.append((now, card, home, trips[-1]["country"]))
    compare(tuples(rules("two-countries", "and_back.tesla").detect(frames(rows))["ThereAndBack"]), expected)


def exports(seed):
    kinds = {kind: {"user": [f"u{n}" for n in range(6)]} for kind in ("RightsChanged", "CustomersRead", "Exported")}
    rows = history(seed, 2500, 5 * MINUTE, kinds)
    return sorted(rows + history(seed + 9, 500, 25 * MINUTE, {"Approved": kinds["Exported"]}), key=lambda r: r["time"])


def approved(rows, after, until):
    return any(r["type"] == "Approved" and after < r["time"] <= until for r in rows)


def within(rows, kind, until, length):
    """The places of the events of this type in the window."""
    return [i for i, r in enumerate(rows) if r["type"] == kind and until - length <= r["time"] <= until]


@pytest.mark.parametrize("seed", SEEDS)
def test_unapproved_export(seed):
    rows, expected = exports(seed), []
    for user, group in groups(rows, "user"):
        for now in [r["time"] for r in group if r["type"] == "Exported"]:
            for read in within(group, "CustomersRead", now, HOUR)[-1:]:
                for change in within(group, "RightsChanged", group[read]["time"], HOUR)[-1:]:
                    began = group[change]["time"]
                    if began >= now - HOUR and not approved(group, began, now):
                        expected.append((now, user, began, group[read]["time"]))
    compare(tuples(rules("unapproved-export", "export.tesla").detect(frames(rows))["UnapprovedExport"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_unapproved_export_of_every_combination(seed):
    rows, expected = exports(seed), []
    for user, group in groups(rows, "user"):
        consumed = {}  # place of an event that was read: when
        for now in [r["time"] for r in group if r["type"] == "Exported"]:
            for read in within(group, "CustomersRead", now, HOUR):
                if consumed.get(read, now) < now:
                    continue
                for change in within(group, "RightsChanged", group[read]["time"], HOUR):
                    began = group[change]["time"]
                    if began >= now - 2 * HOUR and not approved(group, began, now):
                        expected.append((now, user, began, group[read]["time"]))
                        consumed.setdefault(read, now)
    compare(tuples(rules("unapproved-export", "each.tesla").detect(frames(rows))["UnapprovedExport"]), expected)


def failures(seed):
    return history(seed, 3000, 15, {"LoginFailed": {"ip": [f"10.0.0.{n}" for n in range(12)]}})


def inside(rows):
    """Per failure the number of failures of the address in the ten minutes before it."""
    times = {}
    for row in rows:
        times.setdefault(row["ip"], []).append(row["time"])
    return [
        (row["time"], row["ip"], sum(row["time"] - 600 <= time <= row["time"] for time in times[row["ip"]]))
        for row in rows
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_burst_once(seed):
    rows, last, expected = failures(seed), {}, []
    for now, ip, count in inside(rows):
        before = [time for time in last.get(ip, []) if time < now]
        if count >= 5 and not (before and before[-1] > now - 600):
            last.setdefault(ip, []).append(now)
            expected.append((now, ip, count))
    compare(tuples(rules("burst-once", "burst.tesla").detect(frames(rows))["Burst"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_burst_once_at_its_beginning(seed):
    rows, busy, expected = failures(seed), {}, []
    for now, ip, count in inside(rows):
        if count >= 5:
            before = busy.setdefault(ip, [])
            if not any(now - 600 < time < now for time in before):
                expected.append((now, ip))
            before.append(now)
    compare(tuples(rules("burst-once", "begin.tesla").detect(frames(rows))["Begins"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_burst_once_as_a_strategy(seed):
    rows = list({(row["ip"], row["time"]): row for row in failures(seed)}.values())
    last, expected = {}, []
    for now, ip, count in inside(rows):
        if count >= 5 and now - last.get(ip, -600) >= 600:
            last[ip] = now
            expected.append((now, ip))
    compare(tuples(rules("burst-once", "burst.ptl").detect(frames(rows))["Burst"]), expected)
