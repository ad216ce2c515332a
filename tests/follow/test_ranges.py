"""The buckets of a stream: equal shares of the ranges, and a number that changes between starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occurs.connect.store import Disk
from occurs.errors import CheckpointProblem, UsageProblem
from occurs.follow.ranges import Laid, Ranges, move
from occurs.hosts.stream.layout import bucket_ids, even_ids, spark_hash, unhashed


def test_hash_of_spark_is_undone() -> None:
    for value in (0, 1, 2, 4095, -1, 1 << 30, -(1 << 31), (1 << 31) - 1):
        assert spark_hash(unhashed(value)) == value
        assert unhashed(spark_hash(value)) == value


@pytest.mark.parametrize("buckets", [1, 2, 3, 4, 7, 16, 100, 4_096])
def test_any_number_of_buckets_has_equal_shares_of_the_ranges(buckets: int) -> None:
    ids = even_ids(4_096)
    assert len(set(ids)) == 4_096
    shares = np.bincount([spark_hash(n) % buckets for n in ids], minlength=buckets)
    assert shares.max() - shares.min() <= 1


def test_ranges_of_a_new_checkpoint_follow_the_cores() -> None:
    assert Ranges.of(None, None, None, 1) == Ranges.of(None, None, None, 2) == Ranges(8, True, True)
    assert Ranges.of(None, None, None, 100) == Ranges(512, True, True)
    assert Ranges.of(None, None, 40, 2) == Ranges(64, True, True)
    assert Ranges.of(None, 12, None, 2) == Ranges(12, True, True)
    with pytest.raises(UsageProblem, match="--buckets 13 exceeds --ranges 12"):
        Ranges.of(None, 12, 13, 2)


def test_ranges_of_a_checkpoint_stay() -> None:
    entry = Ranges(16, True).entry()
    assert Ranges.of(entry, None, 9, 100) == Ranges.of(entry, 16, None, 1) == Ranges(16, True)
    assert Ranges.of(Ranges(16, True, True).entry(), None, None, 2) == Ranges(16, True, True)
    assert not Ranges.of({"ranges": 16, "even": True}, None, None, 2).one_scan  # made before stages shared a scan
    with pytest.raises(CheckpointProblem, match="--ranges cannot change: it was 16, not 8"):
        Ranges.of(entry, 8, None, 2)
    with pytest.raises(CheckpointProblem, match="--buckets 17: the state in this checkpoint has only 16 key ranges"):
        Ranges.of(entry, None, 17, 2)


def test_parts_of_the_rules_of_a_key_stay() -> None:
    made = Ranges.of(None, 16, None, 2, divide=4)
    assert made == Ranges(16, True, True, 4)
    assert Ranges.of(made.entry(), None, None, 2) == Ranges.of(made.entry(), None, None, 2, divide=4) == made
    with pytest.raises(CheckpointProblem, match="--divide cannot change: it was 4, not 2"):
        Ranges.of(made.entry(), None, None, 2, divide=2)
    with pytest.raises(CheckpointProblem, match="--divide cannot change: it was 1, not 2"):
        Ranges.of(Ranges(16, True).entry(), None, None, 2, divide=2)


def test_checkpoint_of_version_2_has_a_range_per_bucket() -> None:
    ranges = Ranges.of({"buckets": 4}, None, None, 100)
    assert ranges == Ranges(4, False)
    assert ranges.buckets(None, 4, 100) == 4
    assert sorted(spark_hash(n) % 4 for n in bucket_ids(4)) == [0, 1, 2, 3]


def test_buckets_follow_the_cores_and_do_not_shrink_by_themselves() -> None:
    ranges = Ranges(16, True)
    assert [ranges.buckets(None, None, n) for n in (1, 2, 16, 99)] == [1, 2, 16, 16]
    assert ranges.buckets(None, 8, 2) == 8
    assert ranges.buckets(3, 8, 2) == 3


class Manager:
    """Notes what Spark would be asked to do."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def repartition(self, path: str, number: int) -> None:
        self.calls.append(number)


class Session:
    def __init__(self) -> None:
        self._streamingCheckpointManager = Manager()


def log(checkpoint: Path, partitions: list[int], commits: int) -> None:
    spark = checkpoint / "spark"
    for folder, texts in (
        ("offsets", [f"v1\n{json.dumps({'conf': {'spark.sql.shuffle.partitions': str(n)}})}\n-" for n in partitions]),
        ("commits", ['v1\n{"nextBatchWatermarkMs":0}'] * commits),
    ):
        (spark / folder).mkdir(parents=True)
        for n, text in enumerate(texts):
            (spark / folder / str(n)).write_text(text)


@pytest.mark.parametrize(
    ("partitions", "commits", "wanted", "calls"),
    [
        ([], 0, 5, []),
        ([4], 0, 5, []),
        ([4, 4], 2, 4, []),
        ([4, 4], 2, 5, [5]),
        ([4, 4], 1, 4, []),
        ([4, 4], 1, 5, ["repeat", 5]),
        ([4, 4, 16], 2, 16, [16]),
        ([4, 4, 16], 2, 3, [16, 3]),
        ([4, 4, 16], 2, 4, [16, 4]),
        ([4, 16], 2, 3, [3]),
    ],
)
def test_moves_complete_what_was_interrupted(
    tmp_path: Path, partitions: list[int], commits: int, wanted: int, calls: list[Any]
) -> None:
    """Micro-batches with these partitions of state, of which the first ``commits`` are complete."""
    log(tmp_path, partitions, commits)
    session: Any = Session()
    done = session._streamingCheckpointManager.calls

    def repeat() -> bool:
        done.append("repeat")
        return True

    notice = move(session, Disk(tmp_path), wanted, repeat)
    assert done == calls
    assert (notice is not None) == bool(calls)


def test_state_does_not_move_behind_a_micro_batch_that_was_stopped_again(tmp_path: Path) -> None:
    log(tmp_path, [4, 4], 1)
    session: Any = Session()
    assert move(session, Disk(tmp_path), 5, lambda: False) is None
    assert session._streamingCheckpointManager.calls == []


def test_pyspark_that_cannot_move_state(tmp_path: Path) -> None:
    log(tmp_path, [4], 1)
    session: Any = object()
    assert move(session, Disk(tmp_path), 4, lambda: True) is None
    with pytest.raises(UsageProblem, match="--buckets 5: the state in this checkpoint has 4"):
        move(session, Disk(tmp_path), 5, lambda: True)


def test_offsets_without_partitions_are_damaged(tmp_path: Path) -> None:
    log(tmp_path, [4], 1)
    (tmp_path / "spark" / "offsets" / "0").write_text('v1\n{"conf":{}}\n-')
    with pytest.raises(CheckpointProblem, match="offsets/0 is damaged"):
        Laid.read(Disk(tmp_path))
