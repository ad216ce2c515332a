"""The recipes with row patterns, each compared with loops over the rows or with SQL."""

import pandas as pd
import pytest

from cookbook.recipes import HOUR, MINUTE, compare, frames, history, rules, sql, tuples

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_v_shape_in_sql(seed):
    kinds = {"Trade": {"symbol": [f"s{n}" for n in range(6)], "price": [95.0, 97.5, 99.0, 100.0, 101.5, 103.0]}}
    rows = history(seed, 3000, MINUTE, kinds)
    expected = []
    for symbol, group in pd.DataFrame(rows).groupby("symbol"):
        times, prices = list(group.time), list(group.price)
        for bottom in range(2, len(prices) - 2):
            top = bottom
            while top > 0 and prices[top - 1] > prices[top]:
                top -= 1
            if bottom - top >= 2 and prices[bottom] < prices[bottom + 1] < prices[bottom + 2]:
                now = bottom + 2
                expected.append((times[now], symbol, prices[top], prices[bottom], prices[now]))
    compare(tuples(rules("v-shape-sql", "v_shape.sql").detect(frames(rows))["VShape"]), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_funnel_in_sql(seed):
    kinds = {"Step": {"user": [f"u{n}" for n in range(5)], "step": ["view", "view", "help", "cart", "pay"]}}
    rows = history(seed, 2500, 5 * MINUTE, kinds)
    end = rows[-1]["time"]
    bought, left = [], []
    for user, group in pd.DataFrame(rows).groupby("user"):
        steps = list(zip(group.time, group.step, strict=True))
        at = 0
        while at < len(steps):
            viewed, step = steps[at]
            inside = [i for i in range(at + 1, len(steps)) if steps[i][0] <= viewed + HOUR]
            cart = next((i for i in inside if steps[i][1] == "cart"), None)
            paid = None if cart is None else next((i for i in inside if i > cart and steps[i][1] == "pay"), None)
            if step == "view" and paid is not None:
                bought.append((steps[paid][0], user, viewed, steps[cart][0], steps[paid][0]))
                at = paid
            elif step == "view" and viewed + HOUR <= end:
                left.append((viewed + HOUR, user, viewed, None if cart is None else steps[cart][0], None))
            at += 1
    found = rules("funnel-sql", "funnel.sql").detect(frames(rows), timeouts=True)
    compare(tuples(found["Bought"]), bought)
    compare(tuples(found.timeouts["Bought"]), left)


def clicks(seed):
    kinds = {"Click": {"user": [f"u{n}" for n in range(9)], "page": ["home", "shoes", "hats", "cart"]}}
    return history(seed, 2000, 5 * MINUTE, kinds)


#: every click with the number of its session, and how many clicks it has so far
NUMBERED = """
    with gaps as (select *, time - lag(time) over (partition by user order by place) as gap from Click),
    numbered as (select *, sum(gap is null or gap >= 1800) over (partition by user order by place) as n from gaps)
    select *, row_number() over (partition by user, n order by place) as so_far from numbered
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_sessions_in_sql(seed):
    rows = clicks(seed)
    query = f"""select max(time), user, min(time), max(case when so_far = 1 then page end),
        max(case when so_far = total then page end), total
        from (select *, count(*) over (partition by user, n) as total from ({NUMBERED})) group by user, n"""
    compare(tuples(rules("sessions-sql", "sessions.sql").detect(frames(rows))["Session"]), sql(rows, query))


@pytest.mark.parametrize("seed", SEEDS)
def test_clicks_with_their_sessions(seed):
    rows = clicks(seed)
    query = f"select time, user, page, n, so_far from ({NUMBERED})"
    compare(tuples(rules("sessions-sql", "clicks.sql").detect(frames(rows))["Numbered"]), sql(rows, query))
