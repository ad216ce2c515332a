"""What Spark's tasks bring along: a process decodes a plan once, and waiting rows are not written again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle

import occurs
from occurs.hosts.spark import shipped
from occurs.hosts.spark.batch import partitions_of
from occurs.hosts.spark.task import Share, Tally, Work, make_engine_task
from occurs.hosts.stream.bucket import in_pieces
from occurs.hosts.stream.waiting import MOST, Waiting
from occurs.model.time import TimeKind


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the objects that are decoded from now on."""
    sizes: list[int] = []
    before = shipped.decode

    def counting(data: bytes) -> Any:
        sizes.append(len(data))
        return before(data)

    monkeypatch.setattr(shipped, "decode", counting)
    return sizes


def plan(rules: int) -> Any:
    text = "\n".join(f"define R{n}(V) from A(V > {n}) where V = A.V" for n in range(rules))
    return occurs.parse(f"event A(V: int)\n{text}", "tesla").checked.plan(None, TimeKind())


def test_process_decodes_plan_of_thousand_rules_once(decoded: list[int]) -> None:
    task = make_engine_task([Share(plan(1_000), (0, 10), 0)], Tally(), [], labelled=False)
    brought = cloudpickle.dumps(task)
    works = [cloudpickle.loads(brought).__self__ for _ in range(20 * 8)]  # 8 tasks of 20 micro-batches
    assert len(decoded) == 1
    assert all(w is works[0] for w in works)
    assert isinstance(works[0], Work)
    assert len(works[0].shares[0].stage.definitions) == 1_000


def test_other_plan_is_decoded_and_the_oldest_is_dropped(decoded: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "KEPT", 2)
    shipped._decoded.clear()
    tasks = [cloudpickle.dumps(Work((Share(plan(1), (0, n), 0),), Tally(), (), False, True)) for n in range(3)]
    for task in [*tasks, tasks[2], tasks[1], tasks[0]]:
        cloudpickle.loads(task)
    assert len(decoded) == 3 + 1


def test_function_of_a_user_travels_with_the_plan() -> None:
    work = Work((Share(plan(1), (0, 1), 0),), Tally(), (), False, True)
    object.__setattr__(work, "wide", lambda: 7)
    assert cloudpickle.loads(cloudpickle.dumps(work)).wide() == 7


@pytest.mark.parametrize(
    ("rows", "wanted"), [(0, 8), (40_000_000, 8), (40_000_001, 9), (10**9, 200), (10**12, 200_000)]
)
def test_partitions_follow_from_the_rows(rows: int, wanted: int) -> None:
    assert partitions_of(rows) == partitions_of(rows, 8) == wanted


@pytest.mark.parametrize(("rows", "cores", "wanted"), [(1_000, 400, 8), (2_000_000, 400, 20), (10**8, 400, 400)])
def test_partitions_are_at_least_the_cores_that_have_enough_to_do(rows: int, cores: int, wanted: int) -> None:
    assert partitions_of(rows, cores) == wanted


@pytest.mark.parametrize(("batches", "most"), [(60, 4.0), (240, 6.0), (600, 8.0)])
def test_waiting_rows_are_written_a_few_times(batches: int, most: float) -> None:
    """Rows that wait through so many calls are written at most ``most`` times."""
    waiting, saved, written = Waiting(), dict[str, pa.Table](), 0

    def put(name: str, table: pa.Table) -> None:
        nonlocal written
        written += len(table)
        saved[name] = table

    calls = 3 * batches
    for call in range(calls):
        waiting.take(call - batches)
        waiting.add(pa.table({"__time": np.full(100, call)}))
        entry = waiting.write(put, lambda name: saved.pop(name))
        assert sorted(entry["pieces"]) == sorted(saved)
    assert written <= most * 100 * calls
    assert len(saved) <= MOST + 12
    again = Waiting().read(entry, calls - 1 - batches, saved.__getitem__)
    assert again.rows == waiting.rows == 100 * batches


def test_backlog_is_copied_piece_by_piece() -> None:
    """A hundred times the rows of a piece are due, in many small tables."""
    rng = np.random.default_rng(1)
    tables = []
    for n in range(400):
        time = np.sort(rng.integers(0, 100_000, 250))
        tables.append(pa.table({"__time": time, "row": np.arange(n * 250, (n + 1) * 250)}))
    ends: list[int] = []
    seen: list[int] = []
    held = 0
    before = pa.total_allocated_bytes()
    for until, piece in in_pieces(tables, 99_999, 1_000):
        assert piece is not None
        assert len(piece) <= 1_100
        held = max(held, pa.total_allocated_bytes() - before)
        time = piece["__time"].to_numpy()
        assert (np.diff(time) >= 0).all()
        assert time[0] > (ends[-1] if ends else -1)
        assert time[-1] <= until
        ends.append(until)
        seen += piece["row"].to_pylist()
    assert ends[-1] == 99_999
    assert sorted(seen) == list(range(100_000))
    assert held <= 8 * 1_100 * 16  # the piece and its copy, not all rows


def test_few_rows_are_one_piece() -> None:
    table = pa.table({"__time": [3, 1, 2]})
    ((until, piece),) = in_pieces([table.slice(0, 2), table.slice(2)], 7, 3)
    assert (until, piece["__time"].to_pylist()) == (7, [1, 2, 3])
    assert list(in_pieces([], 7, 3)) == [(7, None)]
