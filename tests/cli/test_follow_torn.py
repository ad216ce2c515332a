"""Damaged files of a checkpoint: the right answer, or an error that names the file and says what to do.

A small checkpoint is made once.  Every case damages one file of a copy at the same place, and gives the same command
again with the rest of the events.  The long form damages every file in every way, also of a stream that has ended, of a
record that is replayed, and of one that was given history.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.connect.sparkerrors import _translated
from occurs.connect.store import Disk
from occurs.errors import CheckpointProblem
from occurs.follow import sources
from occurs.follow.checkpoint import Checkpoint, check, explained, misfit
from occurs.follow.ranges import Ranges
from occurs.follow.sinks import Files

from .test_follow import HEAD, interrupt, meanwhile, move_in

RULES = {
    "fire.tesla": """event Smoke(Area: string)
event Temp(Area: string, Value: int)
define Fire(Area, Value)
from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 40 s from Smoke
where  Area = $a, Value = Temp.Value consuming Temp
""",
    "silence.epl": """insert into Silence select s.Area as Area
from pattern [every s=Smoke -> (timer:interval(6 sec) and not Temp(Area = s.Area))];
""",
}
SECONDS = ("--time-unit", "s")
FOLLOW = ("follow", "fire.tesla", "silence.epl", "--checkpoint", "cp", "--out", "out", "--buckets", "2", *SECONDS)
ENTRY: dict[str, Any] = {
    "pinned": {"schemas": {"A": [True, False, [["k", "int"]]]}, "kind": [False, "s"], "sequence": True, "label": True},
    "source": "directory",
    "events": ["in"],
    "ranges": 2,
    "even": True,
    "labelled": False,
    "provisional": None,
    "only": None,
    "start": None,
    "zone": "UTC",
    "facts": None,
    "special": ["type", "time"],
    "stages": 1,
    "rules": {"one": "", "two": "0123456789abcdef"},
}  # fmt: skip
#: values that no file of ours has anywhere
ODD = (7, 1.5, "x", True, None, [], [7], {}, {"a": 1})


# -- ways to damage a file ---------------------------------------------------------------------------------------------
def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))] if data else data


def flipped(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(min(3, len(out))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def not_text(data: bytes, rng: random.Random) -> bytes:
    return b"\xff\xfe" + rng.randbytes(20)


def swapped(data: bytes, rng: random.Random) -> bytes:
    """A value of JSON gets another type, or goes; what is not JSON is doubled."""
    try:
        found = json.loads(data)
    except ValueError:
        return data + data
    if not isinstance(found, dict):
        return data + data
    key = rng.choice(sorted(found))
    if rng.random() < 0.3:
        del found[key]
    else:
        found[key] = rng.choice([v for v in ODD if type(v) is not type(found[key])])
    return json.dumps(found).encode()


WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "truncated": truncated,
    "flipped": flipped,
    "empty": lambda data, rng: b"",
    "not text": not_text,
    "swapped": swapped,
}


# -- without Spark -----------------------------------------------------------------------------------------------------
@pytest.fixture
def settled(here: Path) -> Path:
    """The entry of a checkpoint as a follower leaves it."""
    (here / "in").mkdir()
    checkpoint = Checkpoint("cp")
    checkpoint.settle(ENTRY)
    checkpoint.close()
    return here / "cp" / "occurs.json"


def refused(occurs: Any, file: str) -> str:
    done = occurs("follow", "fire.tesla", "--checkpoint", "cp", "--events", "in", "--out", "out")
    assert (done.status, done.out) == (2, "")
    assert re.search(rf"^error\[bad-checkpoint\]: \S*{re.escape(file)} is damaged: .*\n  hint: ", done.err), done.err
    return str(done.err)


def test_an_entry_is_read_as_it_was_written(settled):
    checkpoint = Checkpoint("cp")
    checkpoint.close()
    assert {n: v for n, v in (checkpoint.entry or {}).items() if n in ENTRY} == ENTRY


@pytest.mark.parametrize(("before", "now"), [(None, True), (True, None)])
def test_constituents_are_asked_for_always_or_never(here, before, now):
    entry = {**ENTRY, "labelled": True}
    checkpoint = Checkpoint("cp")
    checkpoint.settle({**entry, "because": before})
    checkpoint.close()
    checkpoint = Checkpoint("cp")
    checkpoint.compare({**entry, "because": before})
    with pytest.raises(CheckpointProblem, match="--because cannot change"):
        checkpoint.compare({**entry, "because": now})
    checkpoint.close()


@pytest.mark.parametrize("name", [*ENTRY, "version", "id", "digest"])
def test_every_part_of_the_entry_is_looked_at(occurs, settled, name):
    entry = json.loads(settled.read_text())
    for odd in ODD:
        if entry[name] == odd and type(entry[name]) is type(odd):
            continue
        settled.write_text(json.dumps({**entry, name: odd}))
        with pytest.raises(CheckpointProblem, match=r"error\[bad-checkpoint\]: .*occurs\.json is "):
            Checkpoint("cp")
    settled.write_text(json.dumps({n: v for n, v in entry.items() if n != name}))
    if name == "digest":  # there was none in the first checkpoints
        Checkpoint("cp").close()
    else:
        refused(occurs, "occurs.json")


@pytest.mark.parametrize("name", ["pinned", "rules"])
def test_what_was_written_before_there_was_a_digest_has_a_shape_too(occurs, settled, name):
    settled.write_text(json.dumps({"version": 3, "id": "x", **{n: v for n, v in ENTRY.items() if n != name}}))
    assert f"`{name}` is missing" in refused(occurs, "occurs.json")
    settled.write_text(json.dumps({"version": 3, "id": "x", **ENTRY, name: 7}))
    assert f"`{name}` is 7, not " in refused(occurs, "occurs.json")


def test_an_entry_of_version_2_is_read(settled):
    old = {n: v for n, v in ENTRY.items() if n not in ("ranges", "even")}
    settled.write_text(json.dumps({"version": 2, "id": "x", **old, "buckets": 4}))
    checkpoint = Checkpoint("cp")
    assert Ranges.of(checkpoint.entry, None, None, 8) == Ranges(4, False)
    checkpoint.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_torn_entry(occurs, settled, way):
    whole = settled.read_bytes()
    for seed in range(20):
        torn = WAYS[way](whole, random.Random(seed))
        settled.write_bytes(torn)
        if not same(torn, whole):
            with pytest.raises(CheckpointProblem, match=r"error\[bad-checkpoint\]: .*occurs\.json is "):
                Checkpoint("cp")


def same(torn: bytes, whole: bytes) -> bool:
    """Is nothing lost but the digest, which the first checkpoints did not have?"""
    try:
        found, wanted = json.loads(torn), json.loads(whole)
    except ValueError:
        return False
    return bool(found == wanted or found == {n: v for n, v in wanted.items() if n != "digest"})


def test_a_checkpoint_without_its_entry(occurs, settled):
    (settled.parent / "spark").mkdir()
    settled.unlink()
    assert "it is missing" in refused(occurs, "occurs.json")


def test_a_start_that_was_stopped_before_it_settled_can_be_repeated(here):
    (here / "cp" / "history").mkdir(parents=True)
    for name in ("control", "spool"):
        (here / "cp" / name).mkdir()
    for name in ("lock", ".occurs.json.abc", "history/history-0.parquet"):
        (here / "cp" / name).touch()
    checkpoint = Checkpoint("cp")
    assert checkpoint.entry is None
    assert list((here / "cp" / "history").iterdir()) == []
    checkpoint.close()


def test_history_that_was_laid_out_must_be_there(occurs, here):
    checkpoint = Checkpoint("cp")
    checkpoint.lay("history-1.parquet", b"")
    checkpoint.settle(ENTRY)
    checkpoint.close()
    (here / "cp" / "history" / "history-1.parquet").unlink()
    (here / "in").mkdir()
    refused(occurs, "history-1.parquet")


def test_a_lock_that_is_not_text(here):
    (here / "cp").mkdir()
    (here / "cp" / "lock").write_bytes(b"\xff\xfe\xfd\n1")
    first = Checkpoint("cp")
    with open(here / "cp" / "lock", "wb") as lock:
        lock.write(b"\xff\xfe\xfd\n1")
    with pytest.raises(Exception, match=r"is in use by another follower \(process unknown\)"):
        Checkpoint("cp")
    first.close()


def test_a_row_that_says_that_nothing_comes_any_more_is_written_again_if_it_is_torn(here):
    checkpoint = Checkpoint("cp")
    checkpoint.tell_closing()
    told = here / "cp" / "control" / "closing.txt"
    whole, told_before = told.read_bytes(), told.stat().st_mtime_ns
    checkpoint.tell_closing()
    assert told.stat().st_mtime_ns == told_before
    told.write_bytes(b"")
    checkpoint.tell_closing()
    assert told.read_bytes() == whole
    checkpoint.close()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"7", b"{}", b'{"checkpoint": 7}', b"\xff\xfe", b'{"checkpoint": "x']
)
def test_the_owner_of_an_output_directory(here, text):
    Files("out", "jsonl", "me", "--out")
    Files("out", "jsonl", "me", "--out")
    owner = here / "out" / ".occurs-follow.json"
    owner.write_bytes(text)
    with pytest.raises(CheckpointProblem, match=r"out/\.occurs-follow\.json is damaged: ") as caught:
        Files("out", "jsonl", "me", "--out")
    assert "new --checkpoint" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("value", "shape", "why"),
    [
        ({"a": 1, "b": 2}, {"a": int}, None),
        ({}, {"a?": int}, None),
        ({}, {"a": int}, "`a` is missing"),
        ({"a": True}, {"a": int}, "`a` is true, not a whole number"),
        ({"a": None}, {"a": (str, None)}, None),
        ({"a": {"b": ["x", 1]}}, {"a": {...: [str]}}, "`a.b` is 1, not text"),
        ([], {"a": int}, "the content is [], not an object"),
        ({"a": "x"}, {"a": [str]}, '`a` is "x", not a list'),
    ],
)
def test_shapes(value, shape, why):
    assert misfit(value, shape) == why


def test_logs_of_spark(tmp_path):
    """What a version of Spark writes; a gap where Spark looks is told by its name."""
    spark, store = tmp_path / "spark", Disk(tmp_path)
    check(store)  # nothing has begun
    for folder in ("offsets", "commits", "sources/0"):
        (spark / folder).mkdir(parents=True)
    (spark / "metadata").write_text('{"id":"x"}')
    check(store)
    for n in range(13):
        (spark / "offsets" / str(n)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{n}}}\n-')
        (spark / "commits" / str(n)).write_text('v1\n{"nextBatchWatermarkMs":0}')
        (spark / "sources" / "0" / str(n)).write_text(
            f'v1\n{{"path":"file:///in/{n}.csv","timestamp":1,"batchId":{n}}}'
        )
    check(store)
    os.rename(spark / "sources" / "0" / "9", spark / "sources" / "0" / "9.compact")
    for n in range(9):
        (spark / "sources" / "0" / str(n)).unlink()
    check(store)
    kept = spark / "kept"
    for name in ("metadata", "offsets/12", "offsets/11", "sources/0/9.compact", "sources/0/12"):
        os.rename(spark / name, kept)
        told = "sources/0/0" if "compact" in name else name  # nobody knows that it was put together
        with pytest.raises(CheckpointProblem, match=f"spark/{told} is damaged: it is missing"):
            check(store)
        os.rename(kept, spark / name)
    (spark / "commits" / "12").unlink()  # stopped before it was noted
    check(store)
    for text in ("v1\n7", 'v1\n{"path":7}', "v1", "", "7", "v1\n{", "\0"):
        for name in ("sources/0/12", "offsets/12", "commits/11", "metadata"):
            if (name, text) != ("commits/11", 'v1\n{"path":7}'):
                whole = (spark / name).read_text()
                (spark / name).write_text(text)
                with pytest.raises(CheckpointProblem, match=f"spark/{name} is damaged: "):
                    check(store)
                (spark / name).write_text(whole)
    own = f'{{"path":"file://{tmp_path}/spool/rows-1-2.parquet","timestamp":1,"batchId":12}}'
    (spark / "sources" / "0" / "12").write_text(f"v1\n{own}")
    with pytest.raises(CheckpointProblem, match=r"rows-1-2\.parquet is damaged: it is missing"):
        check(store)


def test_a_spool_holds_all_rows_from_the_first(tmp_path):
    names = ["rows-000000000000-000000000004.parquet", "rows-000000000004-000000000009.parquet"]
    assert sources._end(tmp_path, []) == 0
    assert sources._end(tmp_path, names) == 9
    with pytest.raises(CheckpointProblem, match=r"is damaged: a file with the rows from 0 to 4 is missing"):
        sources._end(tmp_path, names[1:])


def test_files_of_a_spool_keep_their_order_in_a_copy(tmp_path):
    """Spark takes them by their times of change, which a copy may not keep."""
    files = [tmp_path / name for name in "abc"]
    for path, stamp in zip(files, (30.0, 10.0, 10.0), strict=True):
        path.touch()
        os.utime(path, (stamp, stamp))
    last = sources._stamped(files)
    times = [path.stat().st_mtime for path in files]
    assert times == sorted(set(times))
    assert times[0] == 30.0
    assert abs(times[-1] - last) < 1e-5


STATE = """An error occurred while calling o1.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
Caused by: org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred.  SQLSTATE: 58030
Caused by: {cause}
"""


def test_why_spark_cannot_read_its_state(tmp_path):
    state = tmp_path / "spark" / "state" / "0" / "0"
    state.mkdir(parents=True)

    def told(cause):
        with pytest.raises(CheckpointProblem) as caught, explained(Disk(tmp_path)):
            raise RuntimeError(STATE.format(cause=cause))
        return caught.value.message

    assert told("java.lang.NullPointerException").startswith(f"{tmp_path}/spark/state is damaged: java.lang.Null")
    gone = state / "2.changelog"
    assert (
        told(f"java.io.FileNotFoundException: File file:{gone} does not exist") == f"{gone} is damaged: it is missing"
    )
    (state / ".1.zip.crc").touch()
    assert told("java.lang.NullPointerException") == f"{state}/1.zip is damaged: it is missing"
    (state / "1.zip").write_bytes(b"abcdef")
    (state / ".1.zip.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + crc32(b"abcdef").to_bytes(4, "big"))
    assert told("java.lang.NullPointerException").startswith(f"{tmp_path}/spark/state is damaged: java.lang.Null")
    (state / "1.zip").write_bytes(b"abcdeg")
    assert told("java.lang.NullPointerException").startswith(f"{state}/1.zip is damaged: its checksum is wrong")


@pytest.mark.parametrize(
    "text", [STATE.format(cause="java.io.IOException: No space left on device"), "a broker does not answer"]
)
def test_what_is_not_damage_passes(tmp_path, text):
    with pytest.raises(RuntimeError, match=re.escape(text[:40])), explained(Disk(tmp_path)):
        raise RuntimeError(text)


def test_the_cause_of_a_failure_is_told_and_not_that_somebody_waited_for_it():
    found = _translated(RuntimeError(STATE.format(cause="java.io.EOFException")), True)
    assert found is not None
    assert found.message.startswith("the Spark job failed: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED]")


# -- with Spark --------------------------------------------------------------------------------------------------------
def lines(count: int) -> list[str]:
    draw = random.Random(7)
    out = []
    for n in range(count):
        kind, area = draw.choice(["Smoke", "Temp", "Temp", "Door"]), draw.choice("abcdef")
        out.append(f"{kind},{1000 + n // 2},{area},{draw.randint(30, 60) if kind == 'Temp' else ''}")
    return out


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


@dataclass
class Stopped:
    """A follower that was stopped: its directory, the same as it was then, and what the whole stream gives.

    ``again``: the command that goes on to the end.
    """

    place: Path
    copy: Path
    again: tuple[str, ...]
    wanted: list[str] = field(default_factory=list)

    def keep(self) -> Stopped:
        shutil.copytree(self.place, self.copy, symlinks=True)
        return self

    def files(self) -> list[str]:
        """All files that may be damaged, by their place."""
        found = [p for f in ("cp", "out") for p in (self.copy / f).rglob("*") if p.is_file()]
        names = sorted(str(p.relative_to(self.copy)) for p in found)
        return [n for n in names if not n.endswith((".crc", "lock")) and "out/batch" not in n]

    def torn(self, name: str, way: str, seed: int = 0) -> str | None:
        """Damage a file and go on: None if the answer is right, else the error.

        ``never written``: it is missing, and so is the checksum beside it.
        """
        shutil.rmtree(self.place)
        shutil.copytree(self.copy, self.place)
        os.chdir(self.place)
        path = self.place / name
        if way in ("missing", "never written"):
            path.unlink()
        if way == "never written":
            (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
        if way in WAYS:
            path.write_bytes(WAYS[way](path.read_bytes(), random.Random(f"{name} {way} {seed}")))
        status, err = call(*self.again)
        if status == 0:
            assert self.found() == self.wanted, (name, way)
            return None
        assert status == 2, (name, way, err)
        assert re.match(r"error\[bad-checkpoint\]: .*/|error\[bad-option\]: --out out: ", err), (name, way, err)
        return err

    def found(self) -> list[str]:
        return sorted(x for p in (self.place / "out").glob("*.jsonl") for x in p.read_text().splitlines())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("torn") / "place"
    folder.mkdir()
    os.chdir(folder)
    for name, text in RULES.items():
        (folder / name).write_text(text)
    yield folder
    os.chdir(before)


def answer(folder: Path, events: str) -> list[str]:
    """What ``occurs run`` says."""
    done = CliRunner().invoke(main, ["run", "fire.tesla", "silence.epl", "-e", events, *SECONDS, "--host", "local"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("\n") > 8
    return sorted(done.stdout.splitlines())


@pytest.fixture(scope="module")
def live(spark: Any, place: Path) -> Stopped:
    """A directory that is followed, stopped after some micro-batches; more files are there when it goes on."""
    (place / "in").mkdir()
    rows = lines(80)
    (place / "all.csv").write_text(HEAD + "\n".join(rows) + "\n")
    parts = [HEAD + "\n".join(rows[at : at + 16]) + "\n" for at in range(0, 80, 16)]
    steps: list[tuple[int, Callable[[], object]]] = [
        (16 * n, lambda n=n: move_in(place / "in", f"{n}.csv", parts[n])) for n in range(4)
    ]
    with meanwhile(place / "m.jsonl", [*steps, (64, interrupt)]):
        status, err = call(*FOLLOW, "--events", "in", "--metrics", "m.jsonl")
    assert status == 0, err
    move_in(place / "in", "4.csv", parts[4])
    again = (*FOLLOW, "--events", "in", "--ended")
    return Stopped(place, place.parent / "copy", again, answer(place, "all.csv")).keep()


def newest(stopped: Stopped, pattern: str) -> str:
    found = [n for n in stopped.files() if re.fullmatch(pattern, n)]
    return max(found, key=lambda n: [int(d) for d in re.findall(r"\d+", n)])


#: what is told before Spark starts to work
@pytest.mark.spark
@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        pytest.param(r"cp/spark/metadata", ["missing", "truncated", "flipped"], marks=pytest.mark.slow),
        (r"cp/spark/offsets/\d+", ["missing", "truncated", "flipped"]),
        pytest.param(r"cp/spark/commits/\d+", ["truncated", "flipped", "not text"], marks=pytest.mark.slow),
        pytest.param(r"cp/spark/sources/0/\d+", ["missing", "truncated", "flipped"], marks=pytest.mark.slow),
        pytest.param(r"cp/spark/state/0/_metadata/.*", ["truncated"], marks=pytest.mark.slow),
        pytest.param(r"cp/spark/state/0/_stateSchema/.*", ["flipped"], marks=pytest.mark.slow),
        (r"out/\.occurs-follow\.json", ["truncated", "not text"]),
    ],
)
def test_torn_logs(live, pattern, ways):
    name = newest(live, pattern)
    for way in ways:
        err = live.torn(name, way)
        assert err is not None, (name, way)
        assert err.startswith(
            f"error[bad-checkpoint]: {live.place / name} is damaged: ".replace(f"{live.place}/out", "out")
        )


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"cp/spark/state/0/0/\d+\.changelog", "flipped"),
        (r"cp/spark/state/0/1/\d+\.changelog", "missing"),
        (r"cp/spark/state/0/0/SSTs/.*\.sst", "flipped"),
    ],
)
def test_torn_state(live, pattern, way):
    name = newest(live, pattern)
    err = live.torn(name, way)
    assert err is not None
    assert err.startswith(f"error[bad-checkpoint]: {live.place / name} is damaged: ")


@pytest.mark.spark
@pytest.mark.slow
def test_what_was_not_noted_is_done_again(live):
    assert live.torn(newest(live, r"cp/spark/commits/\d+"), "never written") is None


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("way", ["missing", "never written", *WAYS])
def test_every_file_in_every_way(live, way):
    tally = {name: live.torn(name, way) for name in live.files()}
    assert sum(err is None for err in tally.values()) < len(tally)


@pytest.fixture(scope="module")
def ended(live: Stopped) -> Stopped:
    """The same, read to its end."""
    assert live.torn(newest(live, r"cp/spark/commits/\d+"), "never written") is None
    return Stopped(live.place, live.place.parent / "ended", live.again, live.wanted).keep()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("way", ["missing", "never written", *WAYS])
def test_every_file_of_a_stream_that_has_ended(ended, way):
    for name in ("cp/closed", "cp/control/closing.txt", "cp/occurs.json"):
        ended.torn(name, way)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("way", ["missing", "never written", *WAYS])
def test_every_file_of_a_replay(spark, tmp_path, monkeypatch, way):
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setattr("occurs.follow.sources.CHUNK", 16)
    for name, text in RULES.items():
        (place / name).write_text(text)
    (place / "all.csv").write_text(HEAD + "\n".join(lines(80)) + "\n")
    again = (*FOLLOW, "--events", "all.csv")
    with meanwhile(place / "m.jsonl", [(32, interrupt)]):
        status, err = call(*again, "--metrics", "m.jsonl")
    assert status == 0, err
    stopped = Stopped(place, tmp_path / "copy", again, answer(place, "all.csv")).keep()
    for name in stopped.files():
        if "/spool/" in name or "/sources/" in name:
            stopped.torn(name, way)
