"""Coverage names a clause that no case depends on, in rules of every language: those of the examples, and of events of
flights where no example has the language."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from occurs.languages.kit.language import suffixes
from occurs.testing.coverage import coverage
from occurs.testing.rules import load

EXAMPLES = Path(__file__).parents[2] / "src" / "occurs" / "studio" / "examples"
MARITIME = "maritime/maritime.phen maritime/mixed.phen maritime/mixed.tesla"
DEPARTED = "Flight='A1', Carrier='A', Tail='T1', Dest='BOS', Seats=100"
VISIBLE = "Temperature=30.0, Rain=0.0, Wind=3.0"
STORM = "Weather@0(Origin='JFK', Temperature=30.0, Wind=30.0, Rain=0.0, Visibility=10.0)"
CALM = STORM.replace("@0", "@90m").replace("Wind=30.0", "Wind=3.0")
#: a ship is moored in one port, goes away, and is moored in the next
FIRST = """entersPort@0(vessel='a', area='P') stop_start@10(vessel='a') stop_end@20(vessel='a')
leavesPort@30(vessel='a', area='P') fast@40(vessel='a') slow@60(vessel='a') """
SECOND = "entersPort@70(vessel='a', area='Q') stop_start@80(vessel='a') stop_end@90(vessel='a')"
CLEARED = """ptl
table Weather (Origin string key, Visibility float)
trigger cleared for each y in (select Origin from Weather):
    Weather(y).Visibility > 5 and once[<=1 h] Weather(y).Visibility <= 1
    emit Cleared(Origin = y)
"""
WORSE = """sql
SELECT Origin, Worst FROM Departure MATCH_RECOGNIZE (
  PARTITION BY Origin ORDER BY time
  MEASURES LAST(B.Delay) AS Worst
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE A AS A.Delay > 15, B AS B.Delay > PREV(B.Delay)
) AS Worse
"""


def late(time: str) -> str:
    return f"Departure@{time}(Origin='JFK', Delay=70, {DEPARTED})"


def departures(*delays: int) -> str:
    return " ".join(f"Departure@{n}(Origin='JFK', Delay={d})" for n, d in enumerate(delays))


def weather(*reports: tuple[str, float]) -> str:
    return " ".join(f"Weather@{t}(Origin='JFK', Visibility={v}, {VISIBLE})" for t, v in reports)


def cancelled(*origins: str) -> str:
    return " ".join(f"Cancellation@{n}(Flight='A{n}', Origin='{o}', Dest='BOS')" for n, o in enumerate(origins))


def patients(*names: str) -> str:
    return " ".join(f"Patient@{n}(name='{p}', contrDuration=40, ts={n})" for n, p in enumerate(names))


#: rules, clauses, a case that does not depend on them, a case that does
CASES = [
    # the second clause is of a step that is not reported
    ("flights/flights.tesla", "1 h; Wind > 25 or Rain > 0.1 or Visibility < 2", f"{STORM} {late('10m')}",
     f"{STORM} {CALM} {late('2h')}"),
    ("flights/cancellations.epl", "Origin = a.Origin", cancelled("JFK", "JFK"), cancelled("JFK", "LGA")),
    ("labor/labor.epl", "a2.name = a1.name", patients("a", "a"), patients("a", "b")),
    ("esql\nDEFINE Late AS Departure.Delay WHERE $0 > 60.", "$0 > 60", departures(70), departures(7)),
    ("flights/visibility.ftl", "at most every 6 h", weather(("0", 0.5), ("3h", 9.0)),
     weather(("0", 0.5), ("3h", 0.5), ("4h", 0.4), ("5h", 0.5))),
    (CLEARED, "Weather(y).Visibility <= 1", weather(("0", 0.5), ("10m", 9.0)), weather(("0", 4.0), ("10m", 9.0))),
    (WORSE, "A.Delay > 15", departures(20, 30), departures(10, 20)),
    (MARITIME, "before", FIRST, FIRST + SECOND),
]  # fmt: skip


def test_every_language_is_there() -> None:
    files = " ".join(rules for rules, *_ in CASES).split()
    assert {Path(f).suffix for f in files if "/" in f} | {".esql", ".ptl", ".sql"} >= suffixes().keys()


@pytest.mark.share(4)
@pytest.mark.parametrize(("rules", "clauses", "without", "with_"), CASES)
def test_a_clause_is_named_until_a_case_depends_on_it(
    rules: str, clauses: str, without: str, with_: str, tmp_path: Path
) -> None:
    block = rules if "\n" in rules else "rules\n" + "\n".join(str(EXAMPLES / name) for name in rules.split())
    text = f"```options\nunit: s\n```\n```{block.rstrip()}\n```\n## One\n```in\n{without}\n```\n"
    (tmp_path / "one.case").write_text(text)
    (tmp_path / "two.case").write_text(f"{text}## Two\n```in\n{with_}\n```\n")
    before, after = (coverage(load(tmp_path / name)) for name in ("one.case", "two.case"))
    decided = {(p.line, p.column) for p, decided in after.clauses.items() if decided}
    for clause in clauses.split("; "):
        named = {(p.line, p.column) for p, decided in before.clauses.items() if p.text == clause and not decided}
        assert named & decided, clause
    assert after.percent > before.percent


def test_a_rule_without_a_detection_is_named(tmp_path: Path) -> None:
    cases = [f"## {n}\n```in\n{departures(*range(n))}\n```\n" for n in (19, 20)]
    head = f"```options\nunit: s\n```\n```rules\n{EXAMPLES / 'flights/delays.esql'}\n```\n"
    (tmp_path / "one.case").write_text(head + cases[0])
    (tmp_path / "two.case").write_text(head + "".join(cases))
    one, two = (coverage(load(tmp_path / name)) for name in ("one.case", "two.case"))
    assert "`MeanDelay`: no case has a detection of this rule" in one.report
    assert two.percent == 100


def test_the_rows_of_labor_do_not_need_three_of_its_clauses(tmp_path: Path) -> None:
    with (EXAMPLES / "labor" / "rows.csv").open() as file:
        rows = [f"Patient@{r['time']}(name='{r['name']}', contrDuration={r['contrDuration']}, ts={r['ts']})"
                for r in csv.DictReader(file)]  # fmt: skip
    head = f"```options\nunit: min\n```\n```rules\n{EXAMPLES / 'labor/labor.epl'}\n```\n"
    (tmp_path / "one.case").write_text(head + "## All rows\n```in\n" + "\n".join(rows) + "\n```\n")
    found = coverage(load(tmp_path / "one.case"))
    undecided = [f"{place.line}: {place.text}" for place, decides in found.clauses.items() if not decides]
    assert undecided == ["8: a1.contrDuration > 35", "15: a1.contrDuration > 5", "16: a2.contrDuration > 35"]
    assert (sum(found.clauses.values()), list(found.rules.values()), found.unknown) == (7, [True, True], 0)
