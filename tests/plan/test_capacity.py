"""What a program is estimated to need: rows and bytes against those of streams, and what limits a program."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests.hosts.instream import How, InStream

import occurs
from occurs.cli import main
from occurs.errors import UsageProblem
from occurs.hosts.stream.records import ROWS
from occurs.model.history import InputOptions
from occurs.model.time import TimeKind
from occurs.plan.capacity import Capacity, Costs, Load, capacity

MS = TimeKind(False, "ms")
EVENTS = "event A(k: int, v: int)\nevent B(k: int, v: int, unread: string)\n"


def rules(number: int, back: int) -> str:
    return EVENTS + "\n".join(
        f"define L{n}(k, v) from A(k = $k, v > {n}) and last B(k = $k) within {back} ms from A where k = A.k, v = B.v"
        for n in range(number)
    )


def plan(text: str, load: Load, costs: Costs | None = None) -> Capacity:
    return capacity(occurs.parse(text, "tesla").checked.plan(None, MS), load, costs)


@pytest.mark.share(4)
@pytest.mark.parametrize("number", [1, 30])
@pytest.mark.parametrize("keys", [5, 500])
@pytest.mark.parametrize(("back", "watermark"), [(100, 0), (1_000, 0), (1_000, 300)])
def test_rows_and_bytes_are_those_of_a_stream(number: int, keys: int, back: int, watermark: int) -> None:
    """1,000 events a second in micro-batches of half a second; within twice of what a stream has at its end."""
    n = 4_000
    tables = {
        t: pa.table({"time": range(first, n, 2), "k": [m * 7 % keys for m in range(first, n, 2)], "v": [0] * (n // 2)})
        for t, first in (("A", 0), ("B", 1))
    }
    tables["B"] = tables["B"].append_column("unread", pa.array(["some text"] * (n // 2)))
    text = rules(number, back)
    how = How(3, 500, watermark, because=False, divide=1)
    stream = InStream(occurs.parse(text), tables, InputOptions(time_unit="ms"), how)
    parts = stream.cut()
    shuffled = sum(len(r.blob or b"") for r in stream._packed(0, parts[-1], None, False) if r.kind == ROWS)
    for part in parts:
        figures = stream.query.read(stream.micro_batch(part)).figures
    found = plan(text, Load(1_000, watermark=watermark / 1_000, trigger=0.5, ranges=3))
    (need,) = found.groups
    assert need.rows == 1_000
    assert within_twice(need.kept, figures["kept"])
    assert need.waiting == watermark
    assert abs((figures["waiting"] or 0) - need.waiting) <= 2
    heads = 9 * 1_000  # of the blobs of 3 tasks to 3 buckets, which are small here
    assert need.shuffled * 0.5 / 2 <= shuffled <= need.shuffled * 0.5 * 2 + heads


def within_twice(one: float, other: Any) -> bool:
    return bool(other / 2 <= one <= other * 2)


def test_parts_of_types_count() -> None:
    text = rules(1, 10_000)
    few, many = (plan(text, Load(1_000, {"B": part})).groups[0].kept for part in (0.01, 0.9))
    assert (few, many) == (100, 9_000)
    with pytest.raises(UsageProblem, match="--type C: the rules do not read this type"):
        plan(text, Load(1_000, {"C": 0.1}))
    with pytest.raises(UsageProblem, match="the shares add up to"):
        plan(text, Load(1_000, {"A": 0.6, "B": 0.6}))


def test_more_events_need_more_cores_until_a_limit() -> None:
    text = rules(1, 1_000)
    found = [plan(text, Load(rate, trigger=10)) for rate in (1e4, 1e6, 1e7)]
    cores = [one.cores for one in found]
    assert cores[0] == 1
    assert all(c is not None for c in cores)
    assert sorted(cores) == cores
    assert all(one.limit == "the number of cores" for one in found)
    assert found[2].seconds <= 10 <= found[2].largest
    few = plan(text, Load(1e7, trigger=10, ranges=4))
    assert few.cores is None
    assert few.limit.startswith("4 key ranges: ")
    assert few.limit.endswith("; use a longer --trigger, or more --ranges")
    assert few.largest < 1e7
    assert plan(text, Load(few.largest * 0.99, trigger=10, ranges=4)).cores is not None
    assert plan(text, Load(few.largest * 1.01, trigger=10, ranges=4)).cores is None


def test_executors_hold_the_state() -> None:
    """A day of ten million events a second: more executors than their cores have work for, until the driver has too
    much to do."""
    load, text = Load(1e7, trigger=10, memory=512e9), rules(1, 86_400_000)
    large, small = plan(text, load), plan(text, replace(load, memory=128e9))
    assert large.cores is not None
    assert small.cores is not None
    assert small.executors > 3.9 * large.executors
    assert large.executors == -(-large.cores // 4)
    for found, most in ((large, 512e9), (small, 128e9)):
        assert 0.9 * most < found.memory <= most
        assert found.limit == "the memory of the executors"
    none = plan(text, replace(load, memory=8e9))
    assert none.cores is None
    assert none.limit == "the memory of the executors; use executors with more memory"
    driver = plan(text, replace(load, memory=64e9))
    assert driver.cores is None
    assert driver.limit.startswith("the driver, which starts 8,192 tasks in 12.9 s; ")


def test_state_of_one_task_is_in_one_executor() -> None:
    text = EVENTS + "define R(k) from A(k = $k) and last B() within 24 h from A where k = $k"
    none, enough = (plan(text, Load(1e4, trigger=10, memory=memory)) for memory in (16e9, 512e9))
    assert none.cores is None
    assert none.limit == "R: one task holds all the state, because there is no partition key"
    assert enough.cores is not None
    hot = plan(rules(1, 86_400_000), Load(1e5, trigger=10, hot=0.5, memory=64e9))
    assert hot.cores is None
    assert hot.limit.startswith("L0: one task holds the state of the most frequent key; ")


def test_limit_is_what_takes_the_time() -> None:
    """A key with few of the rows limits nothing; without a trigger that is long enough, the driver does."""
    text, load = rules(1, 86_400_000), Load(1e6, trigger=10, watermark=600, hot=0.001)
    assert plan(text, load).limit == "the memory of the executors"
    assert plan(text, replace(load, rate=1e7, hot=0.0005)).limit.startswith("the driver, which starts ")
    short = plan(text, Load(1_000, trigger=0.5)).limit
    assert (short[:10], short[-25:]) == ("the driver", "s; use a longer --trigger")


def test_slower_rows_need_more_cores() -> None:
    text = rules(1, 1_000)
    one, other = (plan(text, Load(1e6, trigger=10), Costs(row=each)).cores for each in (1e-6, 1e-5))
    assert one is not None
    assert other is not None
    assert other > 2 * one


def test_frequent_key_limits() -> None:
    found = plan(rules(1, 1_000), Load(1e7, trigger=10, hot=0.8))
    assert found.cores is None
    assert "one task evaluates the most frequent key; it could be divided by time" in found.limit
    assert found.largest < 2e6


def test_a_frequent_key_whose_rules_are_divided() -> None:
    """Twenty rules in four parts: each part keeps what it reads, and has about a quarter of the work."""
    load, costs = Load(1e6, trigger=10, hot=0.8, ranges=64), Costs(row=1e-5)
    one, four = (plan(rules(20, 1_000), replace(load, divide=n), costs) for n in (1, 4))
    assert (len(one.groups), len(four.groups)) == (1, 4)
    assert sorted(t for need in four.groups for t in need.types) == sorted(one.groups[0].types)
    assert sum(need.shuffled for need in four.groups) == pytest.approx(4 * one.shuffled)
    assert sum(need.kept for need in four.groups) == pytest.approx(4 * one.groups[0].kept)
    longest = max(need.longest for need in four.groups)
    assert one.groups[0].longest / 4 <= longest <= one.groups[0].longest / 2
    assert four.largest > 1.5 * one.largest
    with pytest.raises(UsageProblem, match="--divide 0"):
        plan(rules(1, 1_000), replace(load, divide=0))


def test_rule_without_a_key_has_one_task() -> None:
    text = EVENTS + "define L(v) from A() and last B() within 9 ms from A where v = B.v consuming B"
    found = plan(text, Load(1e7, trigger=10))
    assert found.groups[0].tasks == 1
    assert "one task does all the work, because there is no partition key" in found.limit


def test_command(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.tesla").write_text(rules(1, 60_000))
    lines = [f"{t},{n},{n % 9},{n % 5}," for n in range(900) for t in ("A", "B", "B")]
    (tmp_path / "e.csv").write_text("type,time,k,v,unread\n" + "\n".join(lines))

    def size(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["size", "r.tesla", "--time-unit", "ms", *arguments])

    done = size("--rate", "20k", "--type", "B=50%", "--watermark", "5s")
    assert done.exit_code == 0, done.stderr
    assert "cores: 1, as 1 executors of 4 cores" in done.stdout
    assert "L0: 20,000 rows/s in up to 8 tasks; keeps 600,000 rows, 100,000 wait" in done.stdout
    data = json.loads(size("--rate", "3k", "--events", "e.csv", "--json").stdout)
    assert data["groups"][0]["kept"] == pytest.approx(2_000 * 60)  # two of three events are B
    done = size("--rate", "10M", "--within", "2,1")
    assert (done.exit_code, "does not fit into 2 cores and 1 GB" in done.stderr) == (1, True)
    assert size("--rate", "1k", "--within", "2,1").exit_code == 0
    done = size("--rate", "10M", "--hot", "80%")
    assert done.exit_code == 0, done.stderr
    assert "cores: no number is enough" in done.stdout
    assert "limited by: L0: one task evaluates the most frequent key" in done.stdout
    for wrong in (("--rate", "ten"), ("--rate", "0"), ("--rate", "1", "--hot", "2"), ("--rate", "1", "--within", "2")):
        done = size(*wrong)
        assert (done.exit_code, f"bad-option]: {wrong[-2]} {wrong[-1]}" in done.stderr) == (2, True), done.stderr
