"""A checkpoint in an object store: who has it, and what a follower that was overtaken can still do."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from objectstore import Killed, ObjectStore, Shelf, without_rename  # noqa: F401
from occurs.connect.manifests import published
from occurs.errors import CheckpointProblem, ResourceProblem
from occurs.follow import checkpoint as checkpoints
from occurs.follow import lease as leases
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.lease import Lease
from occurs.follow.sinks import Objects

pytestmark = pytest.mark.usefixtures("without_rename")

ENTRY: dict[str, Any] = {
    "pinned": {"schemas": {}, "kind": [False, "s"], "sequence": False, "label": False},
    "source": "address",
    "events": ["s3a://b/in"],
    "ranges": 2,
    "even": True,
    "labelled": False,
    "only": None,
    "start": None,
    "facts": None,
    "special": [],
    "stages": 1,
    "rules": {},
}


def held(shelf: Shelf, **changed: Any) -> None:
    """Let the latest lease be that of another process."""
    name = max(n for n in shelf.objects if n.startswith("lease/"))
    shelf.objects[name] = json.dumps({**json.loads(shelf.objects[name]), **changed}).encode()


def soon(store: ObjectStore, wait: Callable[[float], object] = time.sleep) -> Lease:
    return Lease(store, patience=0.1, wait=wait)


def test_one_has_it_until_it_lets_go() -> None:
    shelf = Shelf()
    first = Lease(ObjectStore(shelf))
    first.check()
    first.close()
    second = Lease(ObjectStore(shelf), patience=1e9)
    assert (first.epoch, second.epoch) == (1, 2)
    assert [name for name in shelf.objects if name.startswith("lease/")] == ["lease/000000000002.json"]
    second.check()
    second.close()


def test_a_lease_that_is_renewed_is_refused() -> None:
    shelf = Shelf()
    first = Lease(ObjectStore(shelf), renewal=0.01)
    with pytest.raises(ResourceProblem, match=r"mem://shelf is in use by another follower \(process \d+ on "):
        Lease(ObjectStore(shelf), patience=10)
    first.close()


def test_a_lease_that_is_not_renewed_ends_and_its_follower_stops() -> None:
    shelf = Shelf()
    first = Lease(ObjectStore(shelf))
    held(shelf, host="elsewhere", process=7)
    second = soon(ObjectStore(shelf))
    second.check()
    assert not first.lost
    with pytest.raises(
        ResourceProblem, match=rf"was taken over by another follower \(process {os.getpid()} on "
    ) as one:
        first.check()
    assert one.value.kind == "locked"
    assert first.lost
    first.close()
    assert shelf.operations
    second.check()
    second.close()


def test_a_thread_that_renews_finds_out_that_the_lease_is_lost() -> None:
    shelf = Shelf()
    first = Lease(ObjectStore(shelf), renewal=0.01)
    shelf.objects["lease/000000000002.json"] = b"{}"
    until = time.monotonic() + 10
    while not first.lost and time.monotonic() < until:
        time.sleep(0.01)
    assert first.lost
    first.close()


def test_a_process_of_this_machine_that_is_gone_is_not_waited_for() -> None:
    """As after a kill: the same command starts again at once."""
    shelf = Shelf()
    Lease(ObjectStore(shelf)).close()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    held(shelf, process=gone.pid, released=False)
    second = Lease(ObjectStore(shelf), patience=1e9)
    second.close()
    held(shelf, id="another", process=os.getpid(), released=False)  # a container that was started again
    Lease(ObjectStore(shelf), patience=1e9).close()


@pytest.mark.parametrize("process", [1, os.getppid(), None, "x", True])
def test_a_process_that_may_live_is_waited_for(process: Any) -> None:
    shelf = Shelf()
    Lease(ObjectStore(shelf)).close()
    held(shelf, released=False, process=process, host=socket.gethostname())
    waits: list[float] = []
    soon(ObjectStore(shelf), waits.append).close()
    assert sum(waits) == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize("after", [False, True])
def test_two_take_it_at_once(after: bool) -> None:
    shelf = Shelf()
    others: list[Lease] = []

    def interfere(operation: str) -> None:
        if operation.startswith("put_new") and not others:
            others.append(Lease(ObjectStore(shelf)))
            if after:
                others.pop().close()
                others.append(Lease(ObjectStore(shelf)))

    with pytest.raises(ResourceProblem, match="in use by another follower"):
        Lease(ObjectStore(shelf, before=interfere))
    others[0].check()
    others[0].close()


def test_another_takes_it_while_one_waits() -> None:
    shelf = Shelf()
    Lease(ObjectStore(shelf)).close()
    held(shelf, host="elsewhere", released=False)

    def taken(seconds: float) -> None:
        shelf.objects["lease/000000000002.json"] = b'{"process": 5, "host": "third"}'

    with pytest.raises(ResourceProblem, match=r"in use by another follower \(process 5 on third\)"):
        soon(ObjectStore(shelf), taken)


def test_a_damaged_lease_is_waited_for() -> None:
    shelf = Shelf(objects={"lease/000000000004.json": b"\xff"})
    found = soon(ObjectStore(shelf))
    assert found.epoch == 5
    found.close()


# -- a follower without Spark: its checkpoint, its output, and micro-batches that Spark would have noted ---------------
BATCHES = 3


def table(batch: int) -> dict[str, pa.Table]:
    return {"Fire": pa.table({"time": [batch]})}


def follow(store: ObjectStore, upto: int = BATCHES) -> None:
    """What a follower stores, from its start to its end, or to a micro-batch."""
    checkpoint = Checkpoint("mem://shelf", store)
    try:
        out = Objects(store_of_output(store), "jsonl", checkpoint.id, "--out", checkpoint.check_held)
        checkpoint.lay("history-1.parquet", b"PAR1")
        checkpoint.settle(ENTRY)
        noted = [int(name.rpartition("/")[2]) for name in store.shelf.objects if name.startswith("spark/commits/")]
        for batch in range(len(noted), upto):
            checkpoint.check_held()
            out.write(batch, table(batch))
            checkpoint.check_held()
            store.put(f"spark/commits/{batch}", b"")
        if upto == BATCHES:
            checkpoint.tell_closing()
            checkpoint.note_closed()
    finally:
        checkpoint.close()


class Beside(ObjectStore):
    """The folder ``out`` of a store, as if it were an address of its own."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store

    def put_new(self, name: str, data: bytes) -> bool:
        return self.store.put_new(f"out/{name}", data)

    def put(self, name: str, data: bytes, *, stamp: float | None = None) -> None:
        self.store.put(f"out/{name}", data)

    def get(self, name: str, *, last: int | None = None) -> bytes | None:
        return self.store.get(f"out/{name}", last=last)

    def list(self, folder: str = "", *, deep: bool = False) -> list[str]:
        return [name.removeprefix("out/") for name in self.store.list("out", deep=deep)]

    def delete(self, name: str) -> None:
        self.store.delete(f"out/{name}")


def store_of_output(store: ObjectStore) -> ObjectStore:
    return Beside(store)


def rows(shelf: Shelf) -> list[int]:
    names = published(store_of_output(ObjectStore(shelf))) or []
    return [json.loads(shelf.objects[f"out/{name}"])["time"] for name in names]


@pytest.fixture
def _no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed here is gone, as its lease says; the folder ``out`` is somewhere else."""
    monkeypatch.setattr(leases, "_OWN", Forgetful())
    monkeypatch.setattr(checkpoints, "_OURS", {*checkpoints._OURS, "out"})
    monkeypatch.setattr(checkpoints, "_BEFORE", {*checkpoints._BEFORE, "out"})


class Forgetful(set[str]):
    """The leases of no process that lives."""

    def __contains__(self, item: object) -> bool:
        return False


@pytest.mark.usefixtures("_no_wait")
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_operation_and_started_again(after: bool) -> None:
    whole = ObjectStore(Shelf())
    follow(whole)
    assert rows(whole.shelf) == [0, 1, 2]
    for step in range(1, len(whole.done) + 1):
        shelf = Shelf()
        with pytest.raises(Killed):
            follow(ObjectStore(shelf, killed_at=step, after=after))
        follow(ObjectStore(shelf))
        assert rows(shelf) == [0, 1, 2]
        assert shelf.objects["closed"] == b""
        entry = json.loads(shelf.objects["occurs.json"])
        assert entry["history"] == ["history-1.parquet"]
        Checkpoint("mem://shelf", ObjectStore(shelf)).close()
    assert step > 30


def refused(store: ObjectStore) -> ResourceProblem | None:
    """Why a follower stops; None: it comes to its end."""
    try:
        follow(store)
    except ResourceProblem as problem:
        return problem
    return None


@pytest.mark.usefixtures("_no_wait")
def test_of_two_the_older_stops_at_its_next_commit() -> None:
    """The newer one takes over at some operation of the older one, and goes on to the end."""
    whole = ObjectStore(Shelf())
    follow(whole)
    stopped = 0
    for step in range(len(whole.done)):
        shelf, done = Shelf(), [0]

        def overtake(operation: str, step: int = step, shelf: Shelf = shelf, done: list[int] = done) -> None:
            done[0] += 1
            if done[0] == step + 1:
                follow(ObjectStore(shelf))

        older = ObjectStore(shelf, before=overtake)
        problem = refused(older)
        if problem is not None:
            assert (problem.kind, "another follower" in problem.message) == ("locked", True)
            stopped += 1
        # what it was about to write, and no more
        commits = [o for o in older.done[step:] if o.startswith(("put spark/", "put_new out/_", "put occurs.json"))]
        assert commits in ([], [older.done[step]])
        assert rows(shelf) == [0, 1, 2], step
        assert json.loads(shelf.objects["occurs.json"])["history"] == ["history-1.parquet"]
    assert stopped > len(whole.done) // 2


def test_history_of_another_start_is_not_remembered_though_the_store_still_shows_it() -> None:
    shelf = Shelf(lag=1000)
    first = Checkpoint("mem://shelf", ObjectStore(shelf))
    first.lay("history-1.parquet", b"PAR1")
    first.close()
    second = Checkpoint("mem://shelf", ObjectStore(shelf))
    second.lay("history-2.parquet", b"PAR1")
    second.settle(ENTRY)
    assert second.entry is not None
    assert second.entry["history"] == ["history-2.parquet"]
    second.close()


def test_an_address_with_something_else() -> None:
    with pytest.raises(CheckpointProblem, match="mem://shelf: the directory is not an Occurs checkpoint"):
        Checkpoint("mem://shelf", ObjectStore(Shelf(objects={"thesis.txt": b""})))
    with pytest.raises(CheckpointProblem, match=r"mem://shelf/occurs\.json is damaged: it is missing"):
        Checkpoint("mem://shelf", ObjectStore(Shelf(objects={"spark/metadata": b""})))
