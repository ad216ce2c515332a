"""Detections in an object store: each micro-batch is published once, wherever a run stops and whoever else writes."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from objectstore import Killed, ObjectStore, Shelf, without_rename  # noqa: F401
from occurs.connect.manifests import is_output, published
from occurs.connect.store import Disk, Store
from occurs.errors import CheckpointProblem, InputProblem, UsageProblem
from occurs.follow.sinks import Objects

pytestmark = pytest.mark.usefixtures("without_rename")
BATCHES = 3


def rows(batch: int) -> dict[str, pa.Table]:
    """The detections of a micro-batch; none in the second one."""
    times = [] if batch == 1 else [batch * 10, batch * 10 + 1]
    return {"Fire": pa.table({"time": pa.array(times, pa.int64()), "area": ["hall"] * len(times)})}


def sink(store: Store, owner: str = "me") -> Objects:
    return Objects(store, "jsonl", owner, "--out")


def run(store: Store, first: int = 0) -> None:
    """Write micro-batches as a follower does; the one before ``first`` is not repeated."""
    out = sink(store)
    for batch in range(first, BATCHES):
        out.write(batch, rows(batch))


def found(shelf: Shelf) -> list[int]:
    """The times of the rows that manifests name."""
    store = ObjectStore(shelf)
    names = published(store) or []
    data = [store.get(name) for name in names]
    return [json.loads(line)["time"] for one in data for line in (one or b"").decode().splitlines()]


def begun(shelf: Shelf) -> int:
    """The last micro-batch of which there is anything: the one before it was noted as done."""
    return max([int(name.split("-")[1][:12]) for name in shelf.objects if is_output(name)], default=0)


WANTED = [10 * b + n for b in range(BATCHES) if b != 1 for n in (0, 1)]


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_operation_and_again_in_the_repetition(after: bool) -> None:
    operations = ObjectStore(Shelf())
    run(operations)
    steps = 0
    for first in range(1, len(operations.done) + 1):
        for second in range(1, 13):
            shelf = Shelf()
            with pytest.raises(Killed):
                run(ObjectStore(shelf, killed_at=first, after=after))
            try:
                run(ObjectStore(shelf, killed_at=second, after=after), begun(shelf))
            except Killed:
                run(ObjectStore(shelf), begun(shelf))
            assert found(shelf) == WANTED
            named = set(published(ObjectStore(shelf)) or ())
            assert {name for name in shelf.objects if name.startswith("part-")} == named, "parts that do not count"
            steps += 1
    assert steps > 100


@pytest.mark.parametrize("moment", ["put part", "put_new _batch", "get _batch"])
def test_two_write_one_micro_batch(moment: str) -> None:
    """The second one writes all of it while the first one is at some operation: one of both publishes."""
    shelf = Shelf()
    other: list[Objects] = []

    def interfere(operation: str) -> None:
        if operation.startswith(moment) and not other:
            other.append(sink(ObjectStore(shelf)))
            other[0].write(0, rows(0))

    one = sink(ObjectStore(shelf, before=interfere))
    one._again = False  # not the first one of its run
    one.write(0, rows(0))
    assert found(shelf) == [0, 1]
    assert len([name for name in shelf.objects if name.startswith("part-")]) == 1


def test_the_fence_is_asked_between_the_part_and_the_manifest() -> None:
    shelf = Shelf()

    def fence() -> None:
        raise Killed

    out = Objects(ObjectStore(shelf), "jsonl", "me", "--out", fence)
    with pytest.raises(Killed):
        out.write(0, rows(0))
    assert [name[:5] for name in sorted(shelf.objects)] == [".occu", "part-"]
    assert found(shelf) == []


def test_a_manifest_that_was_set_back_stays() -> None:
    """A checkpoint that is restored from a backup repeats micro-batches: they are published already."""
    shelf = Shelf()
    run(ObjectStore(shelf))
    before = dict(shelf.objects)
    run(ObjectStore(shelf))
    assert shelf.objects == before


def test_rows_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # a file of this machine takes its name when it is complete
    bad = Objects(Disk(tmp_path), "csv", "me", "--bad")
    bad.rows(7, pa.table({"reason": ["torn"], "row": [3]}))
    bad.rows(8, pa.table({"reason": pa.array([], pa.string()), "row": pa.array([], pa.int64())}))
    late = Objects(Disk(tmp_path), "jsonl", "me", "--late")
    late.lines(9, ['{"a": 1}'])
    late.lines(10, [])
    names = published(Disk(tmp_path))
    assert names is not None
    assert [(tmp_path / name).read_text() for name in names] == ["reason,row\ntorn,3\n", '{"a": 1}\n']
    entry = json.loads((tmp_path / "_batch-000000000007.json").read_bytes())
    assert (entry["batch"], entry["files"]) == (7, [{"name": names[0], "rows": 1, "bytes": 18}])


def test_whose_folder_it_is() -> None:
    shelf = Shelf()
    sink(ObjectStore(shelf))
    sink(ObjectStore(shelf))
    with pytest.raises(UsageProblem, match=r"--out mem://shelf: the directory has output of another checkpoint"):
        sink(ObjectStore(shelf), "you")
    shelf.objects[".occurs-follow.json"] = b"7"
    with pytest.raises(CheckpointProblem, match=r"mem://shelf/\.occurs-follow\.json is damaged"):
        sink(ObjectStore(shelf))
    del shelf.objects[".occurs-follow.json"]
    shelf.objects["_batch-000000000001.json"] = b""
    with pytest.raises(UsageProblem, match="files in it would be overwritten"):
        sink(ObjectStore(shelf))


def test_two_claim_a_folder_at_once() -> None:
    shelf = Shelf()

    def interfere(operation: str) -> None:
        if operation.startswith("put_new") and not shelf.objects:
            sink(ObjectStore(shelf), "you")

    with pytest.raises(UsageProblem, match="output of another checkpoint"):
        sink(ObjectStore(shelf, before=interfere))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"version": 9, "files": []}',
        b'{"version": 1}',
        b'{"version": 1, "files": [{"name": "../secret"}]}',
        b'{"version": 1, "files": [7]}',
    ],
)
def test_a_manifest_that_is_damaged(text: bytes) -> None:
    shelf = Shelf(objects={"_batch-000000000001.json": text})
    with pytest.raises(InputProblem, match=r"mem://shelf/_batch-000000000001\.json: it "):
        published(ObjectStore(shelf))


def test_a_folder_without_manifests() -> None:
    assert published(ObjectStore(Shelf(objects={"part-1.csv": b""}))) is None


def test_a_disk_without_second_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def refused(*arguments: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    store = Disk(tmp_path)
    assert [store.put_new("one", text) for text in (b"1", b"2")] == [True, False]
    assert (store.get("one"), store.list()) == (b"1", ["one"])
    monkeypatch.setattr("occurs.connect.atomic_files._NO_LINKS", ())
    with pytest.raises(OSError, match="not permitted"):
        store.put_new("two", b"2")


@pytest.mark.parametrize("lag", [0, 5])
def test_what_a_store_does(tmp_path: Path, lag: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two stores of this process alike."""
    monkeypatch.undo()  # a file of this machine takes its name when it is complete
    for store in (Disk(tmp_path), ObjectStore(Shelf(lag))):
        assert store.put_new("a/b/one", b"1")
        assert not store.put_new("a/b/one", b"2")
        assert store.get("a/b/one") == b"1"
        store.put("a/b/one", b"three")
        assert (store.get("a/b/one"), store.get("a/b/one", last=2), store.get("a/b/one", last=9)) == (
            b"three", b"ee", b"three",
        )  # fmt: skip
        store.put("a/two", b"")
        assert store.list("a") == ["a/b", "a/two"]
        assert (store.list(), store.list("none")) == (["a"], [])
        assert store.list("a", deep=True) == ["a/b/one", "a/two"]
        assert (store.get("none"), store.get("a/none")) == (None, None)
        store.delete("a/none")
        store.delete("a/b/one")
        assert store.put_new("a/b/one", b"4")
        assert store.get("a/b/one") == b"4"
        assert store.address("a").endswith("/a")
