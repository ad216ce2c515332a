"""Occurs on a standalone cluster and a Connect server whose Python has no Occurs until it is shipped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest

import occurs
from occurs.connect.java import ensure_java
from occurs.connect.sparkerrors import translate
from occurs.hosts.spark.ship import NEEDED, Worker, _judge

RULE = """
event A(V: int)
define CE(V) from A(V > 3) where V = A.V
"""
#: a job as users write it: it ships Occurs itself unless it is asked not to
JOB = """
import sys
from pathlib import Path
sys.path.insert(0, {source!r})
import occurs
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
events = spark.createDataFrame([(n, n) for n in range(8)], "time long, V long")
rules = sys.argv[1]

def detect():
    found = occurs.load(rules).detect({{"A": events}}, time_unit="s")
    return sorted(row.V for row in found["CE"].collect())

try:
    detect()
except occurs.ResourceProblem as error:
    print("before:", error.kind, error, flush=True)
if len(sys.argv) > 2:
    workers = occurs.ship(spark, rules, archive=sys.argv[2])
else:
    workers = occurs.ship(spark, rules)
again = occurs.ship(spark, rules)
print("workers:", sorted({{(w.python, w.occurs) for w in workers}}), len(again), flush=True)
print("found:", detect(), flush=True)

def text(_):
    from pyspark import SparkFiles
    return Path(SparkFiles.get(Path(rules).name)).read_text()

from pyspark.sql.functions import udf
rows = spark.range(1).select(udf(text, "string", useArrow=False)("id")).collect()
print("rules:", rows[0][0] == Path(rules).read_text(), flush=True)
spark.stop()
"""


def _bare(folder: Path, *more: Path) -> Path:
    """A Python that has all packages of this one but Occurs: nobody reads what `.pth` files of its folder name."""
    script = folder / "bin" / "python"
    script.parent.mkdir(parents=True)
    paths = os.pathsep.join([sysconfig.get_paths()["purelib"], *map(str, more)])
    # -S: no site packages; those of this Python follow as an ordinary folder, without the links in it
    script.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{paths}" exec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    ensure_java()
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_REMOTE")}
    home = str(Path(pyspark.__file__).parent)
    env |= {"SPARK_HOME": home, "SPARK_LOCAL_DIRS": str(tmp_path / "local"), "SPARK_DAEMON_MEMORY": "128m"}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "OCCURS_KERNELS": "plain", "SPARK_WORKER_DIR": str(tmp_path / "work")}
    return env | {"PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1"}


Start = Callable[..., re.Match[str]]


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Start]:
    """Starts a process of Spark, and waits for a line of its log."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin(pattern: str, *command: str, **env: str) -> re.Match[str]:
        log = tmp_path / f"process-{len(processes)}.log"
        with log.open("wb") as out:
            processes.append(
                subprocess.Popen(command, stdout=out, stderr=out, cwd=tmp_path, env={**environment, **env})
            )
        for _ in range(600):
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found
            assert processes[-1].poll() is None, log.read_text()[-3000:]
            time.sleep(0.1)
        raise AssertionError(log.read_text()[-3000:])

    yield begin
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        process.wait(30)


def _job(tmp_path: Path) -> tuple[str, str]:
    job, rules = tmp_path / "job.py", tmp_path / "rule.tesla"
    job.write_text(JOB.format(source=str(Path(occurs.__file__).parents[1])))
    rules.write_text(RULE)
    return str(job), str(rules)


def _run(command: list[str], tmp_path: Path, env: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    return {name: text for name, _, text in lines}


@pytest.mark.slow
@pytest.mark.spark
def test_occurs_is_shipped_to_the_workers_of_a_cluster(
    tmp_path: Path, environment: dict[str, str], start: Start
) -> None:
    bin = Path(environment["SPARK_HOME"]) / "bin"
    run = (str(bin / "spark-class"), "org.apache.spark.deploy.")
    python = _bare(tmp_path / "bare")
    host = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    master = start(r"Starting Spark master at (spark://\S+)", run[0], run[1] + "master.Master", *host)[1]
    for _ in range(2):
        start("Successfully registered", run[0], run[1] + "worker.Worker", *host, "-c", "1", "-m", "1g", master)
    submit = [str(bin / "spark-submit"), "--master", master, "--executor-memory", "512m", "--driver-memory", "512m"]
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }.items():
        submit += ["--conf", f"{name}={value}"]
    found = _run([*submit, *_job(tmp_path)], tmp_path, {**environment, "PYSPARK_PYTHON": str(python)})
    assert re.search(r"workers .*cannot import Occurs: No module named 'occurs'", found["before"]), found
    assert "occurs.ship(spark)" in found["before"]
    assert found["found"] == "[4, 5, 6, 7]"
    assert found["rules"] == "True"
    assert occurs.__version__ in found["workers"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.spark
def test_environment_is_shipped_to_a_connect_server(
    tmp_path: Path, environment: dict[str, str], start: Start
) -> None:
    bin = Path(environment["SPARK_HOME"]) / "bin"
    packed = tmp_path / "environment.tar.gz"
    _bare(tmp_path / "packed")
    with tarfile.open(packed, "w:gz") as out:
        out.add(tmp_path / "packed", arcname=".")
    start(
        r"Spark Connect server started at: .*?(\d+)",
        *(str(bin / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--master", "local[2]", "--conf", "spark.connect.grpc.binding.port=15777", "--driver-memory", "512m"),
        *("--conf", "spark.ui.enabled=false", "spark-internal"),
        PYSPARK_PYTHON=str(_bare(tmp_path / "bare")),
    )
    remote = {**environment, "SPARK_REMOTE": "sc://127.0.0.1:15777"}
    found = _run([sys.executable, *_job(tmp_path), str(packed)], tmp_path, remote)
    assert "cannot import Occurs: No module named 'occurs'" in found["before"]
    assert found["found"] == "[4, 5, 6, 7]"
    assert found["rules"] == "True"


def _worker(**changed: object) -> Worker:
    packages = dict.fromkeys(NEEDED, "99.0")
    usual = {"host": "w1", "python": "/usr/bin/python3", "packages": packages, "occurs": occurs.__version__}
    return Worker(**{**usual, "problem": None, "cache": None, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("worker", "message"),
    [
        (_worker(packages={**NEEDED, "numba": None, "lark": None}), "w1 (/usr/bin/python3) lack numba, lark"),
        (_worker(packages={**NEEDED, "pyarrow": "14.0.1"}), "too old: pyarrow 14.0.1 (needs 20)"),
        (_worker(occurs=None, problem="No module named 'occurs'"), "cannot import Occurs: No module named 'occurs'"),
        (_worker(occurs="0.0.1"), f"have Occurs 0.0.1, this process has {occurs.__version__}"),
    ],
)
def test_worker_that_cannot_run_occurs_is_named(worker: Worker, message: str) -> None:
    with pytest.raises(occurs.ResourceProblem, match=re.escape(message)) as caught:
        _judge(worker)
    assert caught.value.kind == "workers"


def test_worker_with_everything_passes() -> None:
    _judge(_worker())


def test_needed_versions_are_those_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["pandas"]]
    least = dict(m.groups() for text in texts if (m := re.match(r"([\w-]+)>=([\d.]+)", text)))
    assert {name: least[name] for name in NEEDED} == NEEDED


def test_missing_package_in_a_task_is_an_error_of_occurs() -> None:
    text = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'occurs.hosts'\n"
    found = translate(RuntimeError(text))
    assert isinstance(found, occurs.ResourceProblem)
    assert "occurs.ship(spark)" in str(found)
    assert translate(RuntimeError("ModuleNotFoundError: No module named 'mine'")) is None


def test_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(occurs.UsageProblem, match=r"nothing\.py: there is no such file"):
        occurs.ship(None, tmp_path / "nothing.py")  # type: ignore[arg-type]
