"""The smallest setting of every part of the benchmarks runs, and what it measures is checked."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from benchmarks import __main__ as command
from benchmarks import growth, history, lasting, local, page, push, sizes, sparkjob, workload
from benchmarks.report import Report, ratio
from benchmarks.timing import Timing, alternate, stopwatch
from click.testing import CliRunner
from rich.console import Console

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.usefixtures("frozen")  # the benchmarks collect garbage before each job


def test_jobs_take_turns_and_the_median_counts() -> None:
    order: list[str] = []

    def job(name: str, seconds: list[float]) -> float:
        order.append(name)
        return seconds.pop(0)

    a, b = [9.0, 1.0, 5.0, 2.0], [9.0, 4.0, 4.0, 4.0]
    times = alternate({"a": lambda: job("a", a), "b": lambda: job("b", b)}, 3)
    assert order == ["a", "b"] * 4
    assert times == {"a": Timing((1.0, 5.0, 2.0)), "b": Timing((4.0, 4.0, 4.0))}
    assert (times["a"].median, times["a"].spread) == (2.0, 5.0)


def test_the_budget_ends_after_a_whole_round() -> None:
    times = alternate({"a": lambda: 1.0, "b": lambda: 2.0}, 100, warm=False, budget=0)
    assert times == {"a": Timing((1.0,)), "b": Timing((2.0,))}
    assert stopwatch(lambda: sum(range(10))) >= 0


def test_a_table_shows_its_cells() -> None:
    table = Report("Title", [("name", ""), ("ev/s", ",.0f"), ("peer", ".1f")], notes=["a note"])
    table.add("[last]", 1234567.8, ratio(1.0, None))
    with pytest.raises(ValueError, match="2 cells for 3 columns"):
        table.add("short", 1)
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    table.show(console)
    text = console.export_text()
    assert "[last]" in text
    assert "1,234,568" in text
    assert "–" in text
    assert "a note" in text
    assert table.plain()["rows"] == [["[last]", 1234567.8, None]]


def test_the_local_part_on_the_smallest_golden_case() -> None:
    table = local.report([workload.golden("last", 1, 100)], 1, many=0)
    row = dict(zip((name for name, _ in table.columns), table.rows[0]))
    assert (row["family"], row["rules"], row["events"], row["found"]) == ("last", 1, 100_000, 1888)
    assert row["prototype*"] == 70e6
    assert (row["T-Rex*"], row["of"]) == (6_600_000, "22 Nov 2026")
    for name in ("engine", "from table", "detect", "script", "ns per rule-event"):
        assert row[name] > 0


def test_many_events_are_checked_against_the_script() -> None:
    case = workload.golden("aggb", 1, 100)
    prepared = local.Prepared.of(case.text, workload.events(120_000).table())
    found, _ = local.check(case, prepared, 120_000)
    assert found > case.detections
    other = local.Prepared.of(workload.rules("aggb", 1, 99), workload.events(120_000).table())
    with pytest.raises(AssertionError, match="instead of"):
        local.check(case, other, 120_000)


def test_the_cases_of_a_run() -> None:
    assert len(local.cases(quick=False)) == len(workload.GOLDEN)
    assert {g.rules for g in local.cases(quick=True)} == {1, 100, 1000, 5000}
    assert {g.window for g in local.cases(quick=True)} == {100}


@pytest.mark.long
def test_growth_on_few_events() -> None:
    events = growth.by_events([500, 1000], 1)
    assert [row[0] for row in events.rows] == list(growth.FAMILIES)
    windows = growth.by_window([10, 100], 2000, 1, ["last", "last+negb"])
    last, negated = windows.rows
    assert last[2] < last[4]  # the longer window finds more
    assert negated[4] <= last[4]  # the negation only takes away


def test_sequential_rules_on_few_events() -> None:
    table = growth.sequential([(1, 100), (5, 200)], 1)
    assert [row[:3] for row in table.rows] == [
        ["consuming", 1, 100],
        ["consuming", 5, 200],
        ["recursion", 1, 100],
        ["recursion", 5, 200],
    ]
    assert all(row[3] > 0 for row in table.rows)


SHIPS = {"vessels": 12, "days": 0.5, "every": 600}


def test_what_lasts_is_found_by_pandas_and_by_the_reference_too() -> None:
    ships = lasting.ships(**SHIPS)
    table = lasting.rates(ships, 1, sample=300)
    lines = {row[0]: row for row in table.rows}
    assert lines["engine"][1] == lasting.size(ships) > 500
    assert lines["engine"][2] > lines["pandas, four of them"][2] > 50
    assert lines["reference semantics"][2] == lines["engine, few events"][2] > 0
    assert all(row[4] > 0 for row in table.rows)


def test_sort_and_shift() -> None:
    begin = pd.DataFrame({"time": [1, 3, 10, 12, 20, 30], "k": "v"})
    end = pd.DataFrame({"time": [5, 7, 12, 14, 20, 25], "k": "v"})
    found = lasting.sort_and_shift(begin, end, ("k",))
    assert found["time"].tolist() == [1, 10, 20, 30]
    assert found["end"].tolist()[:3] == [5, 14, 25]
    assert found["end"].isna().tolist() == [False, False, False, True]


def test_another_number_of_intervals_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "sort_and_shift", lambda begin, end, key: begin)
    with pytest.raises(AssertionError, match="pandas finds"):
        lasting.rates(lasting.ships(**SHIPS), 1, sample=300)


def test_real_ships_come_from_a_file(tmp_path: Path) -> None:
    lines = ["type,time,vessel,area", "fast,10,7,", "slow,60,7,", "entersPort,70,7,north", "other,80,7,"]
    (tmp_path / "ships.csv").write_text("\n".join(lines) + "\n")
    ships = lasting.from_file(tmp_path / "ships.csv")
    assert lasting.size(ships) == 3
    assert ships["entersPort"].to_pylist() == [{"time": 70, "vessel": 7, "area": "north"}]
    assert lasting.Ready.of(ships).found()["underway"] == 1


def test_growth_of_what_lasts_on_few_events() -> None:
    ships = lasting.ships(**SHIPS)
    half = lasting.part(ships, lasting.size(ships) // 2)
    assert 0.45 < lasting.size(half) / lasting.size(ships) < 0.55
    table = lasting.by_history([("half", half), ("whole", ships)], 1, budget=200)
    assert [row[0] for row in table.rows] == ["one call", "calls of 200 events"]
    calls = lasting.by_call(ships, [200], 1)
    assert [row[0] for row in calls.rows] == ["one call", "200 events a call", "nothing to do"]
    assert calls.rows[1][1] > 2
    assert all(row[2] > 0 for row in calls.rows)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.long
def test_what_lasts_on_spark_on_few_events(spark: object, tmp_path: Path) -> None:
    path = lasting.parquet(tmp_path, lasting.ships(**SHIPS), "few")
    stamp = path.stat().st_mtime_ns
    assert lasting.parquet(tmp_path, {}, "few").stat().st_mtime_ns == stamp
    table = lasting.on_spark(spark, path, 1)  # type: ignore[arg-type]
    assert len(table.rows) == 3
    assert all(row[1] > 0 for row in table.rows)


def test_the_history_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = history.piece(0, 2500)
    monkeypatch.setattr(history, "PIECE", 1000)
    path = history.parquet(tmp_path, 2500)
    stamp = path.stat().st_mtime_ns
    assert history.parquet(tmp_path, 2500) == path
    assert path.stat().st_mtime_ns == stamp
    assert [p.name for p in tmp_path.iterdir()] == ["events-2500.parquet"]
    assert history.pq.read_table(path).equals(whole)
    assert set(whole["type"].to_pylist()) == {f"T{i}" for i in range(1, 11)}
    read, count, total = sparkjob.expected(path)
    assert 0.65 * 2500 < read < 0.8 * 2500
    assert 0 < count < read
    assert total > 10 * count


def test_the_identity_kernel_passes_rows_on() -> None:
    batch = history.piece(0, 100).to_batches()[0]
    (half,) = sparkjob.identity(0.5)(iter([batch]))
    assert half.equals(batch.slice(0, 50))
    (all_of_it,) = sparkjob.identity(1.0)(iter([batch]))
    assert all_of_it.equals(batch)


def test_the_command_prints_and_keeps_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(command.RUN, "growth", lambda quick: iter([growth.sequential([(1, 50)], 1)]))
    path = tmp_path / "tables.json"
    done = CliRunner().invoke(command.main, ["--quick", "--part", "growth", "--json", str(path)])
    assert done.exit_code == 0, done.output
    assert "Sequential rules" in done.output
    kept = json.loads(path.read_text())
    assert kept["tables"][0]["run"]["quick"] is True
    assert [row[0] for row in kept["tables"][0]["rows"]] == ["consuming", "recursion"]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.long
def test_the_spark_part_on_few_events(spark: object, tmp_path: Path) -> None:
    table = sparkjob.report(spark, history.parquet(tmp_path, 20_000), 1)  # type: ignore[arg-type]
    assert len(table.rows) == 7
    assert all(row[1] > 0 for row in table.rows)
    assert {row[0] for row in table.rows if row[6] == 1.0} == {"Spark's own window function"}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.long
def test_the_memory_of_the_workers_is_seen(tmp_path: Path) -> None:
    table = sparkjob.memory(tmp_path, [5_000])
    assert [row[0] for row in table.rows] == [5_000]
    if Path("/proc").is_dir():
        assert all(row[3] > 20 for row in table.rows)


@pytest.mark.slow
def test_programs_of_two_sizes() -> None:
    table = sizes.by_size(2, 2, 1)
    assert [row[:2] for row in table.rows] == [[g.__name__.replace("_", ": "), w] for g, w in sizes.cases()]
    assert all(cost > 0 for row in table.rows for cost in row[2:4])


def test_a_micro_batch_of_the_benchmark_has_rows_of_every_type() -> None:
    query, rows = sizes.micro_batch(*sizes.parsed(sizes.epl_rules, 5))
    assert rows.num_rows == 1
    assert set(query.read(rows).found) == {f"R{i}" for i in range(5)}


@pytest.mark.slow
@pytest.mark.parametrize("work", push.WORKS, ids=lambda work: work.name)
def test_pushes_one_by_one_and_together(work: push.Work) -> None:
    given = push.events(200, 5)
    assert push.check(work, given) > 10
    assert push.check(push.hundred(work), given[:80]) > 10
    assert [len(push.one_by_one(work, given[:40], 10)), len(push.together(work, given, 20, 2))] == [30, 8]
    assert len(push.after(work, 20, 40)) == 30


def test_the_page_gets_the_tables_of_all_parts(tmp_path: Path) -> None:
    run = {"date": "2026-11-29", "machine": "2 cores", "python": "3.11.2", "quick": False}
    table = Report("Events | seconds", [("rule", ""), ("ev/s", ",.0f")], [["a_b", 12345.6], ["none", None]], ["a note"])
    kept, text = tmp_path / "tables.json", tmp_path / "page.md"
    command.keep(kept, "push", [{"part": "push", "run": run, **table.plain()}])
    command.keep(kept, "local", [{"part": "local", "run": run, **table.plain()}])
    text.write_text(f"# Performance\n\n{page.BEGIN}\nold\n{page.END}\n\n## Next\n")
    assert CliRunner().invoke(page.main, [str(kept), str(text)]).exit_code == 0
    lines = text.read_text().splitlines()
    titles = [line for line in lines if line.startswith("#")]
    assert titles == ["# Performance", "### Part `local`", "### Part `push`", "## Next"]
    assert "**Events \\| seconds** (2026-11-29, 2 cores, Python 3.11.2)" in lines
    assert lines.count("| a\\_b | 12,346 |") == 2
    assert lines.count("| none | – |") == 2
    assert "old" not in lines
    with pytest.raises(ValueError, match="the page needs the lines"):
        page.between("# Performance", "")


def test_the_page_of_the_documentation_has_a_place_for_the_tables() -> None:
    assert page.between((ROOT / page.PAGE).read_text(encoding="utf-8"), "").startswith("# Performance")
