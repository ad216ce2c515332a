"""Rules that look forward: the hint has what they mean, in TESLA and in EPL, and both find it."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import occurs
from occurs.errors import SyntaxProblem

REQUESTS = pa.table({"time": [60, 120, 600, 700], "Id": [1, 2, 3, 4], "Kind": ["a", "a", "b", "a"]})
REPLIES = pa.table({"time": [200, 960, 1800], "Id": [2, 4, 9]})
#: 1 and 3 have no reply within five minutes; 2 and 4 have one
UNANSWERED = [1, 3]


def found(rule: str, language: str) -> list[int]:
    events = {"Request": REQUESTS, "Reply": REPLIES}
    table = occurs.parse(rule, language).detect(events, time_unit="s").arrow("Unanswered")
    return sorted(table["Id"].to_pylist())


def rewritten(rule: str) -> tuple[str, str]:
    """The rules of the hint: in TESLA, in EPL."""
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse(rule)
    assert len(caught.value.problems) == 1
    epl, tesla = re.findall(r"`([^`]+)`", str(caught.value.hint))
    return tesla, epl


@pytest.mark.parametrize(
    "rule",
    [
        "from Request(Id = $i) and not Reply(Id = $i) within 5 min after Request where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) for 5 min after Request where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) after Request within 5 min where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) after Request where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) within 300 s since Request where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) within 5 min following Request where Id = $i",
        "from Request(Id = $i) and not Reply(Id = $i) as R within 5 min after Request where Id = $i consuming Request",
        "from not Reply(Id = $i) within 5 min after Request(Id = $i) where Id = $i",
        "from not Reply(Id = Request.Id) within 5 min after Request where Id = Request.Id",
    ],
)
def test_absence_after_an_event_is_rewritten(rule):
    tesla, epl = rewritten(f"define Unanswered(Id) {rule}")
    assert found(tesla, "tesla") == found(epl, "epl") == UNANSWERED


def test_conditions_of_the_event_stay():
    tesla, epl = rewritten(
        "define Unanswered(Id) from Request(Id = $i, Kind = 'a') "
        "and not Reply(Id = $i) within 5 min after Request where Id = $i"
    )
    assert found(tesla, "tesla") == found(epl, "epl") == [1]


def test_an_event_that_follows_begins_the_rule():
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse("define Late(Id) from Request(Id=$i) and each Reply(Id=$i) within 5 min after Request where Id=$i")
    [rule] = re.findall(r"`([^`]+)`", str(caught.value.hint))
    table = occurs.parse(rule).detect({"Request": REQUESTS, "Reply": REPLIES}, time_unit="s").arrow("Late")
    assert sorted(table["Id"].to_pylist()) == [2, 4]


def test_words_of_english_that_are_names_stay_names():
    occurs.parse("define A(after) from X(since > 1) and not Y(after = 1) within 5 min from X where after = X.since")


def test_the_caret_is_below_the_word():
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse("define A() -- begins\nfrom B() and not C() within 5 min after B")
    first = caught.value.first
    assert (first.line, first.column, first.end_column) == (2, 35, 40)
    assert first.source[34:39] == "after"
