"""``occurs follow`` with outputs at addresses, in a file system that only Spark reaches (``viewfs``)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from occurs.connect.manifests import published
from occurs.connect.sparkstore import SparkStore
from occurs.connect.store import Disk
from occurs.errors import UsageProblem

from .conftest import EVENTS, FIRE

NUMBERS = itertools.count()
LATER = {**FIRE, "time": "2024-01-05T10:01:00Z", "Value": 60}


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


@pytest.mark.spark
def test_outputs_at_addresses(occurs, here, there, spark):
    (here / "in").mkdir()
    (here / "in" / "a.csv").write_text(EVENTS + "Smoke,never,hall,\n")
    # an address of this machine is a path
    outputs = ("--out", f"{there}/out", "--late", f"{there}/late/", "--bad", f"file://{here}/bad")
    follow = ("follow", "fire.tesla", "-e", "in", "--checkpoint", "cp", *outputs)
    done = occurs(*follow, "--ended")
    assert (done.status, done.out) == (0, ""), done.err
    assert rows(here / "there" / "out") == [FIRE]
    [bad] = [json.loads(path.read_text()) for path in (here / "bad").glob("batch-*.jsonl")]
    assert bad["row"] == 6
    # a part that no manifest names does not count for `occurs run` either
    [part] = published(Disk(here / "there" / "out")) or []
    (here / "there" / "out" / part.replace(part.split("-")[2], "0123456789ab")).write_text(json.dumps(LATER) + "\n")
    (here / "seen.epl").write_text("insert into Seen select f.Area as Area from pattern [every f=Fire];\n")
    done = occurs("run", "seen.epl", "-e", f"{there}/out", "--format", "jsonl")
    assert (done.status, len(done.out.splitlines())) == (0, 1), done.err
    # the folder belongs to that checkpoint
    done = occurs("follow", "fire.tesla", "-e", "in", "--checkpoint", "other", *outputs)
    assert done.status == 2
    assert f"--out {there}/out: the directory has output of another checkpoint" in done.err


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
    ],
)
def test_what_an_output_at_an_address_must_say(occurs, here, arguments, message):
    events = () if "-e" in arguments else ("-e", "in")
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
