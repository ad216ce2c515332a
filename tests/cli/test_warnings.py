"""Warnings about input and rules that are likely not meant, with their places; and when there are none."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import occurs as package
from occurs.errors import DefinitionProblem

LOCAL = ("run", "fire.tesla", "--host", "local", "--events")
RULES = "event A(v: int)\ndefine X(v) from A() where v = A.v\n"
EPOCH = 1_700_000_000
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def likely(times, unit=None):
    """The warnings about the times of some events."""
    table = {"A": pa.table({"time": times, "v": list(range(len(times)))})}
    found = package.parse(RULES).detect(table, time_unit=unit)
    return [(p.message, p.hint) for p in found.notices if p.kind == "unlikely-time"]


@pytest.mark.parametrize("counted", TICKS)
@pytest.mark.parametrize("unit", ["us", "ms", "s", "min", "h", "d"])
def test_epoch_times_in_another_unit(counted, unit):
    times = [EPOCH * TICKS[counted], (EPOCH + 3_600) * TICKS[counted]]
    found = likely(times, unit)
    if counted == unit:
        assert found == []
    elif counted == "ns":
        assert [hint for _, hint in found] == ["if they are nanoseconds, divide them by 1,000 and use time unit us"]
    else:
        [(text, hint)] = found
        assert text.startswith(f"read as {unit} since 1970, all times are from ")
        assert hint == f"did you mean time unit {counted}? The times would then be from 2023-11-14 to 2023-11-14"


def test_times_that_count_from_anywhere_are_no_epoch_times():
    for times in ([0, 600], [1], [0, EPOCH], [-5, 10**6], [2**62]):
        for unit in (None, "us", "ms", "s", "min", "h", "d"):
            assert likely(times, unit) == []


def test_timestamps_that_are_all_before_1980_or_after_2100():
    def stamps(*times):
        return pa.array([dt.datetime(*t) for t in times], pa.timestamp("us", "UTC"))

    [(text, _)] = likely(stamps((1970, 1, 20), (1979, 12, 31)))
    assert text == "all times are from 1970-01-20 to 1979-12-31"
    [(text, _)] = likely(stamps((2101, 1, 1)))
    assert text == "all times are from 2101-01-01 to 2101-01-01"
    assert likely(pa.array([2**62], pa.timestamp("us")))[0][0].startswith("all times are from the year 148,")
    for times in ([(1970, 1, 1), (1980, 1, 1)], [(2100, 12, 31), (2200, 1, 1)], [(2024, 1, 1)]):
        assert likely(stamps(*times)) == []


def test_epoch_seconds_read_as_milliseconds_through_the_command(occurs, here):
    (here / "a.tesla").write_text(RULES)
    (here / "a.csv").write_text(f"type,time,v\nA,{EPOCH},1\n")
    done = occurs("run", "a.tesla", "--host", "local", "--events", "a.csv", "--time-unit", "ms")
    assert done.status == 0
    assert "warning[unlikely-time]: read as ms since 1970, all times are from 1970-01-20 to 1970-01-20" in done.err
    assert "hint: did you mean time unit s?" in done.err
    done = occurs("run", "a.tesla", "--host", "local", "--events", "a.csv", "--time-unit", "s", "--strict")
    assert (done.status, "warning" in done.err) == (0, False)
    for command in ("run", "check"):
        more = ("--host", "local") if command == "run" else ()
        done = occurs(command, "a.tesla", *more, "--events", "a.csv", "--time-unit", "ms", "--strict")
        assert (done.status, done.out) == (2, "")
        assert "error[unlikely-time]" in done.err


def test_a_table_of_a_type_that_no_rule_reads(occurs, here):
    (here / "s.csv").write_text("time,Area\n2024-01-05T09:04:00Z,kitchen\n")
    (here / "t.csv").write_text("time,Area,Value\n2024-01-05T09:00:00Z,kitchen,50\n")
    both = ("--events", "Temp=t.csv")
    done = occurs(*LOCAL, "Smok=s.csv", *both)
    assert done.status == 0
    assert "s.csv: warning[unread-type]: no rule reads events of type `Smok`" in done.err
    assert "hint: did you mean `Smoke`?" in done.err
    done = occurs("check", "fire.tesla", "--events", "Smok=s.csv", *both)
    assert "s.csv: warning[unread-type]" in done.err
    done = occurs(*LOCAL, "Smok=s.csv", *both, "--strict")
    assert (done.status, done.out) == (2, "")
    assert "error[unread-type]" in done.err
    done = occurs(*LOCAL, "Smoke=s.csv", *both, "--strict")
    assert (done.status, "unread-type" in done.err) == (0, False)
    done = occurs(*LOCAL, "events.csv", "--strict")  # one table for all may have more types than are read
    assert (done.status, "unread-type" in done.err) == (0, False)


def test_tables_that_no_rule_reads_in_python():
    program = package.parse(RULES)
    table = pa.table({"time": [1], "v": [1]})

    def warned(tables, **options):
        found = program.detect(tables, time_unit="s", **options)
        return [p.message for p in found.notices if p.kind == "unread-type"]

    assert warned({"A": table}) == warned(table) == []
    assert warned({"A": table, "B": table}) == ["no rule reads events of type `B`"]
    assert warned({"A": table, "X": table}) == []  # defined: read as input, says another warning
    with pytest.raises(DefinitionProblem, match="unread-type"):
        program.detect({"A": table, "B": table}, time_unit="s", strict=True)


@pytest.mark.parametrize("suffix", ["tesla", "epl", "ftl", "ptl", "esql", "phen", "sql"])
def test_rules_without_a_statement(occurs, here, suffix):
    comment = "-- nothing yet\n" if suffix == "sql" else "# nothing yet\n"
    for text in ("", "\n\n", comment):
        (here / f"none.{suffix}").write_text(text)
        done = occurs("check", f"none.{suffix}")
        if suffix == "phen" and text != comment:  # an error of the language
            assert (done.status, "the text is empty" in done.err) == (2, True)
            continue
        assert done.status == 0, done.err
        assert f"none.{suffix}: warning[no-statement]: this text has no statement" in done.err
        done = occurs("run", f"none.{suffix}", "fire.tesla", "--host", "local", "--events", "events.csv", "--strict")
        assert (done.status, done.out) == (2, "")
    (here / f"none.{suffix}").write_text("((( ")
    assert "no-statement" not in occurs("check", f"none.{suffix}").err


@pytest.mark.parametrize(
    ("suffix", "text", "place"),
    [
        ("tesla", "define X(v: int) from A() and last Smook(v > 1) within 5 s from A where v = A.v\n", "1:36"),
        ("epl", "insert into X select a.v as v from pattern [every a=A -> b=Smook];\n", "1:60"),
    ],
)
def test_a_rule_reads_a_type_that_nobody_has(occurs, here, suffix, text, place):
    (here / f"r.{suffix}").write_text(text)
    (here / "one.csv").write_text("type,time,v\nA,1,1\nSmoke,2,2\n")
    (here / "a.csv").write_text("time,v\n1,1\n")
    for command in (("run", f"r.{suffix}", "--host", "local"), ("check", f"r.{suffix}")):
        more = ("--time-unit", "s")
        done = occurs(*command, "--events", "one.csv", *more)
        assert (done.status, f"r.{suffix}:1:" in done.err) == (0, True), done.err
        assert (
            "warning[unknown-type]: no event of type `Smook` is declared, defined or present in the input" in done.err
        )
        assert "hint: did you mean `Smoke`?" in done.err
        done = occurs(*command, "--events", "A=a.csv", "--events", "Smoke=a.csv", *more)
        assert f"r.{suffix}:{place}: " in done.err
        assert "hint: did you mean `Smoke`?" in done.err


def test_a_trigger_whose_names_have_no_type_reads_no_row_of_a_table_of_types(occurs, here):
    (here / "r.ptl").write_text("past trigger p: v > 3;\n")
    (here / "one.csv").write_text("type,time,v\nTemp,1,1\nTemp,2,5\n")
    done = occurs("run", "r.ptl", "--host", "local", "--events", "one.csv", "--time-unit", "s")
    assert "r.ptl:1:1: warning[unknown-type]: no event of type `state`" in done.err
    assert "hint: names without a type are columns of rows of type `state`: declare the type" in done.err
    (here / "r.ptl").write_text("state Temp(v int);\npast trigger p: v > 3;\n")
    done = occurs("run", "r.ptl", "--host", "local", "--events", "one.csv", "--time-unit", "s")
    assert ("unknown-type" in done.err, "p: 1" in done.err) == (False, True)
