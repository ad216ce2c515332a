"""``occurs follow`` with its checkpoint and outputs at addresses, in a file system that only Spark reaches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from occurs.connect.manifests import is_output, published
from occurs.connect.sparkstore import SparkStore
from occurs.connect.store import Disk
from occurs.errors import UsageProblem
from occurs.hosts.stream import batches

from .conftest import EVENTS, FIRE

NUMBERS = itertools.count()


@pytest.fixture
def there(here: Path, spark) -> Iterator[str]:
    """The address of the directory ``there``."""
    conf = spark._jsc.hadoopConfiguration()
    (here / "there").mkdir()
    name = f"host{next(NUMBERS)}"  # Hadoop keeps file systems by their names
    conf.set(f"fs.viewfs.mounttable.{name}.link./there", f"file://{here}/there")
    yield f"viewfs://{name}/there"
    conf.unset(f"fs.viewfs.mounttable.{name}.link./there")


def rows(folder: Path) -> list[dict]:
    """The rows that manifests name, in order of time."""
    texts = [(folder / name).read_text() for name in published(Disk(folder)) or []]
    return sorted((json.loads(line) for text in texts for line in text.splitlines()), key=lambda row: row["time"])


def refuse_manifests(put_new: Any) -> Any:
    def put(self: SparkStore, name: str, data: bytes) -> bool:
        if name.startswith("_batch"):
            raise OSError("the store is full")
        return bool(put_new(self, name, data))

    return put


def asked(here: Path, there: str) -> tuple[str, ...]:
    """A command whose events are in a folder of this machine, by its address, which is a path for what is written."""
    (here / "in").mkdir()
    (here / "in" / "a.csv").write_text(EVENTS + "Smoke,never,hall,\n")
    outputs = ("--out", f"{there}/out", "--late", f"{there}/late/", "--bad", f"file://{here}/bad")
    return ("follow", "fire.tesla", "-e", f"file://{here}/in", "--checkpoint", f"{there}/cp", *outputs, "--ended")


@pytest.mark.spark
def test_a_checkpoint_and_outputs_at_addresses(occurs, here, there, spark):
    follow = asked(here, there)
    done = occurs(*follow)
    assert (done.status, done.out) == (0, ""), done.err
    assert rows(here / "there" / "out") == [FIRE]
    [bad] = [json.loads(path.read_text()) for path in (here / "bad").glob("batch-*.jsonl")]
    assert bad["row"] == 6
    # it was let go, and is closed
    [lease] = (here / "there" / "cp" / "lease").glob("0*")
    assert (lease.name, json.loads(lease.read_text())["released"]) == ("000000000001.json", True)
    done = occurs(*follow)
    assert (done.status, "was already read to its end" in done.err) == (0, True)
    # the folder belongs to that checkpoint
    done = occurs("follow", "fire.tesla", "-e", "in", "--checkpoint", "other", "--out", f"{there}/out")
    assert done.status == 2
    assert f"--out {there}/out: the directory has output of another checkpoint" in done.err


@pytest.mark.spark
@pytest.mark.long
def test_a_micro_batch_that_was_not_published_is_repeated(occurs, here, there, spark, monkeypatch):
    follow = asked(here, there)
    with monkeypatch.context() as patch:
        patch.setattr(SparkStore, "put_new", refuse_manifests(SparkStore.put_new))
        done = occurs(*follow)
    assert (done.status, rows(here / "there" / "out")) == (1, []), done.err
    assert f"error[cannot-write]: --out {there}/out: the store is full" in done.err
    assert len(list((here / "there" / "out").glob("part-*"))) == 1
    done = occurs(*follow)
    assert (done.status, rows(here / "there" / "out")) == (0, [FIRE]), done.err
    [part] = published(Disk(here / "there" / "out")) or []
    assert [path.name for path in (here / "there" / "out").glob("part-*")] == [part]
    # a part that no manifest names does not count for `occurs run` either
    (here / "there" / "out" / part.replace(part.split("-")[2], "0123456789ab")).write_text(json.dumps(FIRE) + "\n")
    (here / "seen.epl").write_text("insert into Seen select f.Area as Area from pattern [every f=Fire];\n")
    done = occurs("run", "seen.epl", "-e", f"{there}/out", "--format", "jsonl")
    assert (done.status, len(done.out.splitlines())) == (0, 1), done.err


@pytest.mark.spark
def test_tasks_write_the_parts_of_many_detections(occurs, here, there, spark, monkeypatch):
    """A run that ends before its manifest leaves parts of tasks; the next one deletes them."""
    follow = (*asked(here, there), "--out-format", "parquet", "--label")
    more = "".join(f"{type},2024-01-05T10:0{n}:00Z,a{n},60\n" for n in range(5) for type in ("Temp", "Smoke"))
    (here / "in" / "a.csv").write_text(EVENTS + more)
    out = here / "there" / "out"
    monkeypatch.setattr(batches, "MOST", 0)
    with monkeypatch.context() as patch:
        patch.setattr(SparkStore, "put_new", refuse_manifests(SparkStore.put_new))
        done = occurs(*follow)
    assert (done.status, published(Disk(out))) == (1, None), done.err
    left = {path.name for path in out.glob("part-*")}
    assert left
    # files of a process that was stopped while Spark's committer collected them, of another micro-batch
    lost = out / "_temporary" / "0" / "task_1_m_000000" / "part-000000000007-dead-00000-c000.snappy.parquet"
    lost.parent.mkdir(parents=True)
    lost.write_bytes(b"")
    done = occurs(*follow)
    assert done.status == 0, done.err
    parts = published(Disk(out)) or []
    assert all(is_output(name) for name in parts)
    assert {path.name for path in out.glob("[!_.]*")} == set(parts)
    assert not left & set(parts)
    table = pa.concat_tables(pq.read_table(out / name) for name in parts)
    assert table.schema.field("time").type == pa.timestamp("us", tz="UTC")
    found = sorted((row["time"], row["Area"]) for row in table.to_pylist())
    assert [area for _, area in found] == ["kitchen", *(f"a{n}" for n in range(5))]
    # the driver writes the same, in a file per micro-batch
    monkeypatch.setattr(batches, "MOST", 1 << 26)
    options = ("--out-format", "parquet", "--label", "--ended", "--bad-rows", "skip")
    done = occurs("follow", "fire.tesla", "-e", "in", "--checkpoint", "cp", "--out", f"{there}/one", *options)
    assert done.status == 0, done.err
    names = published(Disk(here / "there" / "one")) or []
    assert {name.rpartition("-")[2] for name in names} == {"0.parquet"}
    one = pa.concat_tables(pq.read_table(here / "there" / "one" / name) for name in names)
    assert one.column_names == table.column_names
    assert sorted(map(repr, one.to_pylist())) == sorted(map(repr, table.to_pylist()))


@pytest.mark.spark
@pytest.mark.long
def test_a_replay_and_a_history_at_an_address(occurs, here, there, spark):
    """Their files are in the checkpoint, and Spark's are checked there."""
    (here / "past.csv").write_text(EVENTS.splitlines()[0] + "\nTemp,2024-01-05T08:58:00Z,attic,70\n")
    (here / "events.csv").write_text(EVENTS + "Smoke,2024-01-05T09:02:00Z,attic,\n")
    follow = ("follow", "fire.tesla", "-e", "events.csv", "--replay-from", "past.csv", "--checkpoint", f"{there}/cp")
    done = occurs(*follow, "--open", "--out", f"{there}/out")
    assert done.status == 0, done.err
    spark_files = here / "there" / "cp" / "spark"
    whole = (spark_files / "metadata").read_bytes()
    (spark_files / "metadata").unlink()
    done = occurs(*follow, "--ended", "--out", f"{there}/out")
    assert done.status == 2
    assert f"error[bad-checkpoint]: {there}/cp/spark/metadata is damaged: it is missing" in done.err
    (spark_files / "metadata").write_bytes(whole[:-1] + b"]")
    done = occurs(*follow, "--ended", "--out", f"{there}/out")
    assert f"{there}/cp/spark/metadata is damaged: its checksum is wrong" in done.err
    (spark_files / "metadata").write_bytes(whole)
    done = occurs(*follow, "--ended", "--out", f"{there}/out")
    assert done.status == 0, done.err
    assert [(row["Area"], row["Value"]) for row in rows(here / "there" / "out")] == [("attic", 70), ("kitchen", 50)]


@pytest.mark.spark
def test_a_store_that_spark_reaches(here, there, spark):
    """As :func:`tests.follow.test_objects.test_what_a_store_does` has it."""
    store = SparkStore(spark, f"{there}/x [1]", "--out")
    assert (store.list(), store.list("none"), store.get("none")) == ([], [], None)
    assert store.put_new("a/b/o*ne", b"1\0")
    assert not store.put_new("a/b/o*ne", b"2")
    assert store.get("a/b/o*ne") == b"1\0"
    store.put("a/b/o*ne", b"three")
    assert [store.get("a/b/o*ne", last=n) for n in (2, 9)] == [b"ee", b"three"]
    store.put("a/two", b"")
    assert (store.list("a"), store.list("a", deep=True)) == (["a/b", "a/two"], ["a/b/o*ne", "a/two"])
    store.delete("a/none")
    store.delete("a/b/o*ne")
    assert store.get("a/b/o*ne") is None
    assert store.put_new("a/b/o*ne", b"4")
    assert store.address("a") == f"{there}/x [1]/a"
    with pytest.raises(OSError, match="No FileSystem for scheme"):
        SparkStore(spark, "nowhere://b/x", "--out")
    with pytest.raises(UsageProblem, match="--out s3a:/"):
        SparkStore(spark, "s3a://", "--out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "s3a://b/x.csv"), "a stream writes to a folder, with files for each micro-batch"),
        (("--out", "s3a://b/x", "--late", "s3a://b/x/"), "--late s3a://b/x/ is the address of --out, too"),
        (("--out", "s3a://b/in/x", "-e", "s3a://b/in"), "--out s3a://b/in/x is inside the folder s3a://b/in and"),
        (("--out", "in/x", "-e", "file://HERE/in/"), "--out in/x is inside the folder file://HERE/in and"),
    ],
)
def test_what_an_output_at_an_address_must_say(occurs, here, arguments, message):
    events = () if "-e" in arguments else ("-e", "in")
    arguments, message = [a.replace("HERE", str(here)) for a in arguments], message.replace("HERE", str(here))
    (here / "in").mkdir()
    done = occurs("follow", "fire.tesla", *events, "--checkpoint", "cp", *arguments)
    assert done.status == 2
    assert message in done.err
    assert not (here / "cp" / "occurs.json").exists()


@pytest.mark.spark
def test_an_address_that_no_one_reaches(occurs, here, spark):
    (here / "in").mkdir()
    done = occurs("follow", "fire.tesla", "-e", "in", "--checkpoint", "cp", "--out", "nowhere://b/x")
    assert done.status == 1
    assert "error[cannot-write]: --out nowhere://b/x: No FileSystem for scheme" in done.err
    done = occurs("follow", "fire.tesla", "-e", "in", "--checkpoint", "nowhere://b/x")
    assert done.status == 1
    assert "error[cannot-write]: --checkpoint nowhere://b/x: No FileSystem for scheme" in done.err
