"""The coverage of the examples names clauses that decide nothing, in every language."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from occurs.studio import __file__ as studio
from occurs.testing.coverage import Coverage, coverage
from occurs.testing.rules import load

EXAMPLES = Path(studio).parent / "examples"
FLIGHTS = "Flight='A', Carrier='UA', Tail='N1', Origin='JFK', Dest='ORD'"


def covered(place: Path, rules: str, events: str, unit: str = "timestamp") -> Coverage:
    """The coverage of a program by one history."""
    (place / "one.case").write_text(
        f"```rules\n{rules}\n```\n```options\nunit: {unit}\n```\n## One history\n```in\n{events}\n```\n```out\n```\n"
    )
    return coverage(load(place / "one.case"))


def departure(hour: int, delay: int) -> str:
    """The departure of one flight."""
    return f"Departure@2013-03-08T{hour:02}:00:00Z({FLIGHTS}, Delay={delay})"


def undecided(found: Coverage) -> list[str]:
    """The clauses that no case depends on, with their lines."""
    return [f"{place.line}: {place.text}" for place, decides in found.clauses.items() if not decides]


def test_labor_has_clauses_that_its_rows_do_not_need(tmp_path: Path) -> None:
    with (EXAMPLES / "labor" / "rows.csv").open() as file:
        rows = [f"Patient@{r['time']}(name='{r['name']}', contrDuration={r['contrDuration']}, ts={r['ts']})"
                for r in csv.DictReader(file)]  # fmt: skip
    found = covered(tmp_path, str(EXAMPLES / "labor" / "labor.epl"), "\n".join(rows), "min")
    assert undecided(found) == ["8: a1.contrDuration > 35", "15: a1.contrDuration > 5", "16: a2.contrDuration > 35"]
    assert (sum(found.clauses.values()), list(found.rules.values()), found.unknown) == (7, [True, True], 0)


@pytest.mark.parametrize(
    ("rules", "events", "wanted", "decided"),
    [
        pytest.param(
            "flights/cancellations.epl",
            f"Cancellation@2013-03-08T09:00:00Z({FLIGHTS}) Cancellation@2013-03-08T09:10:00Z({FLIGHTS}) "
            f"Cancellation@2013-03-08T09:15:00Z({FLIGHTS.replace('JFK', 'EWR')})",
            ["5: Dest = a.Dest", "5: 1 hour"],
            ["Origin = a.Origin"],
            id="EPL",
        ),
        pytest.param(
            "flights/visibility.ftl",
            "Weather@2013-03-08T09:00:00Z(Origin='JFK', Visibility=0.5) "
            "Weather@2013-03-08T12:00:00Z(Origin='JFK', Visibility=5.0)",
            ["5: at most every 6 h"],
            ["Weather(y).Visibility <= 1"],
            id="FTL",
        ),
        pytest.param(
            "flights/delays.esql",
            "Departure@2013-03-08T09:00:00Z(Delay=5) " * 2,
            [],
            ["20"],
            id="eSQL",
        ),
        pytest.param(
            "maritime/maritime.phen",
            "fast@2024-06-01T00:00:00Z(vessel=1) stop_start@2024-06-01T01:00:00Z(vessel=1) "
            "entersPort@2024-06-01T01:30:00Z(vessel=1, area='p') stop_end@2024-06-01T02:00:00Z(vessel=1) "
            "fast@2024-06-01T03:00:00Z(vessel=1) slow@2024-06-01T04:00:00Z(vessel=1) "
            "stop_start@2024-06-01T05:00:00Z(vessel=1) stop_end@2024-06-01T06:00:00Z(vessel=1)",
            ["32: contains", "35: contains"],
            ["before"],
            id="Phenesthe",
        ),
        pytest.param(
            "flights/flights.tesla",
            "Weather@2013-03-08T08:10:00Z(Origin='JFK', Temperature=30.0, Wind=30.0, Rain=0.0, Visibility=9.0) "
            + departure(9, 70),
            [],
            ["not BadWeather(Origin = $airport) within 1 h from Late"],
            id="TESLA",
        ),
    ],
)
def test_a_small_history_leaves_clauses_undecided(
    tmp_path: Path, rules: str, events: str, wanted: list[str], decided: list[str]
) -> None:
    found = covered(tmp_path, str(EXAMPLES / rules), events)
    rest = undecided(found)
    assert [one for one in wanted if one not in rest] == []
    assert [one for one in decided if one not in {p.text for p, decides in found.clauses.items() if decides}] == []


def test_a_row_pattern_over_flights(tmp_path: Path) -> None:
    (tmp_path / "worse.sql").write_text(
        "CREATE VIEW Worse AS SELECT * FROM Departure MATCH_RECOGNIZE (PARTITION BY Tail ORDER BY time\n"
        "  MEASURES LAST(Delay) AS delay PATTERN (FIRST_ONE MORE{2,})\n"
        "  DEFINE FIRST_ONE AS Delay >= 15,\n  MORE AS Delay > PREV(Delay));\n"
    )
    events = " ".join(departure(9 + n, delay) for n, delay in enumerate((20, 30, 40, 10)))
    found = covered(tmp_path, "worse.sql", events)
    assert undecided(found) == ["2: AFTER MATCH SKIP PAST LAST ROW", "2: {2,}", "3: Delay >= 15"]
    assert "Delay > PREV(Delay)" in {place.text for place, decides in found.clauses.items() if decides}


def test_a_condition_of_a_pipe_that_all_rows_meet(tmp_path: Path) -> None:
    (tmp_path / "slow.esql").write_text("DEFINE Slow AS Departure WHERE Delay > 15.\n")
    assert undecided(covered(tmp_path, "slow.esql", departure(9, 20))) == ["1: Delay > 15"]
    assert undecided(covered(tmp_path, "slow.esql", f"{departure(9, 20)} {departure(10, 5)}")) == []


def test_clauses_of_a_step_that_is_not_reported_count(tmp_path: Path) -> None:
    report = "Weather@2013-03-08T08:10:00Z(Origin='JFK', Temperature=30.0, Wind={}, Rain=0.0, Visibility=9.0) "
    rules = str(EXAMPLES / "flights" / "flights.tesla")
    step = "17: Wind > 25 or Rain > 0.1 or Visibility < 2"  # of BadWeather, which has no Subscribe
    assert step in undecided(covered(tmp_path, rules, report.format("30.0") + departure(9, 70)))
    assert step not in undecided(covered(tmp_path, rules, report.format("3.0") + departure(9, 70)))


def test_a_bound_of_a_trigger_of_the_past(tmp_path: Path) -> None:
    (tmp_path / "cleared.ptl").write_text(
        "table Weather (Origin string key, Visibility float)\n"
        "trigger cleared for each y in (select Origin from Weather):\n"
        "    Weather(y).Visibility > 5 and once[<=1 h] Weather(y).Visibility <= 1\n"
        "    emit Cleared(Origin = y)\n"
    )
    report = "Weather@2013-03-08T{}:00:00Z(Origin='JFK', Visibility={}) "
    foggy, hazy, clear = (report.format(*at) for at in (("08", 0.5), ("08", 3.0), ("09", 9.0)))
    condition = "3: Weather(y).Visibility <= 1"
    assert condition in undecided(covered(tmp_path, "cleared.ptl", foggy + clear))
    assert condition not in undecided(covered(tmp_path, "cleared.ptl", hazy + clear))
