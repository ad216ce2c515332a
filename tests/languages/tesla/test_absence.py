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


FROM_A = "define Unanswered(Id) from Request(Id = $i) and not Reply(Id = $i)"


@pytest.mark.parametrize(
    "rule",
    [
        'define R() from A(S = "do not B after A") and last B( within 5 s from A',
        "define R() from A(S = 'each B within 5 s after A') and last B( within 5 s from A",
        "define R() from A(S = 'not paid after A') and last B( within 5 s from A",
        "define R() from A() -- not B after A\nand last B( within 5 s from A",
        "define R() from A() and not B(S = ) within 5 min after A",
        "define R() from A(S = ) and not B() within 5 min after A",
        "define R() from A() and not B() within 5 min from A where `not B after A` = ",
    ],
)
def test_an_error_elsewhere_is_told_as_it_is(rule):
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse(rule)
    assert "looks back" not in str(caught.value.first.message)


def test_an_alias_is_the_event_that_it_names():
    tesla, epl = rewritten(
        "define Unanswered(Id) from Request(Id = $i, Kind = 'a') as Q "
        "and not Reply(Id = $i) within 5 min after Q where Id = Q.Id"
    )
    assert "every q=Request(Kind = 'a') ->" in epl
    assert 'each Request(Id = $i, Kind = "a") as Q within 10 min from Timer' in tesla
    assert found(tesla, "tesla") == found(epl, "epl") == [1]


def test_texts_stay_as_they_are():
    tesla, epl = rewritten(
        "define Unanswered(Id) from Request(Id = $i, Kind != 'Request.x # $i, (') "
        "and not Reply(Id = $i) within 5 min after Request where Id = $i"
    )
    assert "'Request.x # $i, ('" in epl
    assert found(tesla, "tesla") == found(epl, "epl") == UNANSWERED


@pytest.mark.parametrize(
    "rule",
    [
        f"{FROM_A} within 5 min after Request and last C() within 3 s from Request where Id = C.V",
        f"{FROM_A} within 5 min after Request where Id = COUNT(C()) within 5 min from Request",
        f"{FROM_A} within 5 min after Request where Id = $j",
        f"{FROM_A} within 5 min after Other where Id = $i",
        f"{FROM_A} within 5 min after Request where Id = $i consuming Reply",
        f"{FROM_A} within 5 min after Request within 3 min where Id = $i",
        f"{FROM_A} within 5 months after Request where Id = $i",
        "define Unanswered(Id) from Request(S = 'a`', Id = $i) and not R() within 5 min after Request where Id = $i",
        "define R(Id) from A(Id = $i) and each B(Id = $i) as Z within 5 s after A having Z.V > 1 where Id = $i",
        "define R(Id) from A(Id = $i) and first B(Id = $i) within 5 s after A where Id = $i",
        "define R(Id) from A(Id = $i) and each B(Id = $i) within 5 s after A and not C() within 1 s from A",
        "define R(Id) from A(Id = $i, S = 'a`b') and each B(Id = $i) within 5 s after A where Id = $i",
    ],
)
def test_a_rule_of_more_parts_is_told_in_general(rule):
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse(rule)
    assert "looks back" in caught.value.first.message
    hint = str(caught.value.hint)
    assert "define" not in hint
    assert "insert" not in hint
    assert hint.count("`") % 2 == 0


@pytest.mark.parametrize(
    ("length", "twice", "when"),
    [("1 h 30 min", "3 h", "M"), ("2 d", "4 d", "H"), ("0.5 min", "1 min", "S"), ("5 ms", "10 ms", "MS")],
)
def test_the_timer_looks_often_enough_and_twice_as_far(length, twice, when):
    tesla, _ = rewritten(f"{FROM_A} within {length} after Request where Id = $i")
    assert f"within {twice} from Timer" in tesla
    assert f"Timer({when} % 1 = 0)" in tesla


def test_a_length_that_is_not_written_is_said_to_be_an_example():
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse(f"{FROM_A} since Request where Id = $i")
    assert str(caught.value.hint).startswith("choose a duration, for example 5 min: ")


def test_both_rules_wait_for_the_same_time():
    """A reply when the time is over, or between that and the Timer, is too late in both."""
    tesla, epl = rewritten(f"{FROM_A} within 5 min after Request where Id = $i")
    requests = pa.table({"time": [60, 600, 1000, 2000, 3000], "Id": [1, 2, 3, 4, 5]})
    replies = pa.table({"time": [359, 900, 1310, 2000, 9000], "Id": [1, 2, 3, 4, 9]})
    for rule, language in ((tesla, "tesla"), (epl, "epl")):
        events = {"Request": requests, "Reply": replies}
        table = occurs.parse(rule, language).detect(events, time_unit="s").arrow("Unanswered")
        assert sorted(table["Id"].to_pylist()) == [2, 3, 4, 5]


def test_an_alias_of_the_event_that_follows_stays():
    with pytest.raises(SyntaxProblem) as caught:
        occurs.parse("define L(V) from Request() as Q and each Reply(Id = Q.Id) as P within 5 s after Q where V = P.Id")
    [rule] = re.findall(r"`([^`]+)`", str(caught.value.hint))
    assert "from Reply(Id = Q.Id) as P and each Request() as Q within 5 s from P" in rule
