"""The recipe that tunes a rule with why-not: the answers equal independent computations."""

from __future__ import annotations

import pandas as pd
import pytest

from cookbook.recipes import MINUTE, START, compare, frames, history, rules, sql, tuples

PAGE, RULE = "tune-with-why-not", "testing.tesla"


def payments(seed, size, cards=6):
    amounts = [1, 2, 4, 5, 60, 480, 499, 500, 900]
    return history(seed, size, MINUTE, {"Payment": {"card": list(range(cards)), "amount": amounts}})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rule_reports_every_small_payment_before_a_large_one(seed):
    rows = payments(seed, 1500)
    query = """
        select l.time, l.card, l.amount from Payment l join Payment s on s.card = l.card and s.amount < 5
        and s.time between l.time - 300 and l.time where l.amount >= 500 and s.place < l.place
    """
    compare(tuples(rules(PAGE, RULE).detect(frames(rows))["Testing"]), sql(rows, query))


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_single_repair_is_the_smallest_one(seed):
    rows = payments(seed, 60, cards=3)
    program, events, asked = rules(PAGE, RULE), frames(rows), 0
    for last in rows[10:]:
        alike = [row for row in rows if row["time"] == last["time"] and row["card"] == last["card"]]
        before = [row for row in rows if row["card"] == last["card"] and row["time"] < last["time"]]
        ages = [last["time"] - row["time"] for row in before if row["amount"] < 5]
        if len(alike) > 1 or not before or asked == 3:
            continue
        expected = set()
        if last["amount"] < 500 and ages and min(ages) <= 5 * MINUTE:
            expected.add(("threshold", f"amount >= {last['amount']}"))
        if last["amount"] >= 500:
            if ages and min(ages) > 5 * MINUTE:
                expected.add(("window", f"{min(ages) // MINUTE} min"))
            near = [row["amount"] for row in before if last["time"] - row["time"] <= 5 * MINUTE]
            if near and min(near) >= 5:
                expected.add(("threshold", f"amount <= {min(near)}"))
        moment = START + pd.Timedelta(last["time"], "s")
        answer = program.why_not("Testing", events, where={"card": last["card"]}, between=moment)
        single = [reason.clauses[0] for reason in answer.reasons if len(reason.clauses) == 1]
        found = {(clause.kind, clause.repair) for clause in single if clause.kind in ("threshold", "window")}
        assert found == expected, last
        asked += bool(expected)
    assert asked == 3
