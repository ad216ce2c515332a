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
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

import occurs
from occurs.connect.java import ensure_java
from occurs.connect.sparkerrors import translate
from occurs.hosts.spark.ship import NEEDED, Worker, _judge

#: the second compiler of Java costs more than it saves in a process that lives for seconds
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
RULE = """
event A(V: int)
define CE(V) from A(V > 3) where V = A.V
"""
#: a job as users write it; it ships Occurs when it has failed without
JOB = """
import sys
from pathlib import Path
sys.path.insert(0, {source!r})
import occurs
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.getOrCreate()
events = spark.createDataFrame([(n, n) for n in range(8)], "time long, V long")
rules, archive = sys.argv[1:]

def detect():
    found = occurs.load(rules).detect({{"A": events}}, time_unit="s", partitions=2)
    return sorted(row.V for row in found["CE"].collect())

def where(_):
    import os
    import occurs
    from pyspark import SparkFiles
    text = Path(SparkFiles.get(Path(rules).name)).read_text()
    return f"{{os.environ['ENVIRONMENT']}} {{'.zip' in occurs.__file__}} {{len(text)}}"

try:
    detect()
except occurs.ResourceProblem as error:
    print("before:", *str(error).split(), flush=True)
print("workers:", *{{w.occurs for w in occurs.ship(spark, rules)}}, flush=True)
print("found:", detect(), flush=True)
where = udf(where, "string", useArrow=False)
print("where:", spark.range(0, 1, 1, 1).select(where("id")).first()[0], flush=True)
occurs.ship(spark, archive=archive)
print("archive:", spark.range(0, 1, 1, 1).select(where("id")).first()[0], flush=True)
spark.stop()
"""


def _bare(folder: Path) -> Path:
    """A Python that has all packages of this one but Occurs: `-S` leaves out what `.pth` files name."""
    script = folder / "bin" / "python"
    script.parent.mkdir(parents=True)
    packages = sysconfig.get_paths()["purelib"]
    lines = [f"export ENVIRONMENT={folder.name}", f'export PYTHONPATH="$PYTHONPATH:{packages}"']
    script.write_text("\n".join(["#!/bin/sh", *lines, f'exec {sys.executable} -S "$@"', ""]))
    script.chmod(0o755)
    return script


class Cluster:
    """A master and two workers of a standalone cluster, each a process; nothing on it has Occurs."""

    def __init__(self, folder: Path) -> None:
        ensure_java()
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        home = Path(pyspark.__file__).parent
        self.bin = home / "bin"
        self.env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_REMOTE")}
        self.env |= {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.env |= {"SPARK_WORKER_DIR": str(folder / "work"), "SPARK_DAEMON_JAVA_OPTS": JAVA}
        self.env |= {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PYTHON": str(_bare(folder / "bare"))}
        self.env |= {"OCCURS_KERNELS": "plain"}
        self.job, self.rules = folder / "job.py", folder / "rule.tesla"
        self.job.write_text(JOB.format(source=str(Path(occurs.__file__).parents[1])))
        self.rules.write_text(RULE)
        _bare(folder / "packed")
        self.archive = folder / "environment.tar.gz"
        with tarfile.open(self.archive, "w:gz") as out:
            out.add(folder / "packed", arcname=".")

    def start(self, pattern: str, *command: str) -> re.Match[str]:
        """Start a process, and wait for a line of its log."""
        log = self.folder / f"process-{len(self.processes)}.log"
        with log.open("wb") as out:
            self.processes.append(subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder, env=self.env))
        for _ in range(600):
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found
            assert self.processes[-1].poll() is None, log.read_text()[-3000:]
            time.sleep(0.1)
        raise AssertionError(log.read_text()[-3000:])

    def begin(self) -> None:
        command = (str(self.bin / "spark-class"), "org.apache.spark.deploy.")
        host = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = self.start(r"Starting Spark master at (spark://\S+)", command[0], command[1] + "master.Master", *host)
        for _ in range(2):
            worker = (command[0], command[1] + "worker.Worker", *host, "-c", "1", "-m", "1g", master[1])
            self.start("Successfully registered", *worker)
        self.submit = [str(self.bin / "spark-submit"), "--master", master[1]]
        self.submit += ["--executor-memory", "512m", "--driver-memory", "512m"]
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.extraJavaOptions": JAVA,
            "spark.executor.extraJavaOptions": JAVA,
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        }.items():
            self.submit += ["--conf", f"{name}={value}"]

    def end(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(30)

    def run(self, *command: str, **env: str) -> dict[str, str]:
        """Run the job; what it prints, by the word before the colon."""
        command = (*command, str(self.job), str(self.rules), str(self.archive))
        env = {**self.env, **env}
        done = subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=120)
        errors = [line for line in done.stderr.splitlines() if " INFO " not in line]
        assert done.returncode == 0, "\n".join([done.stdout, *errors])
        return {name: text for name, _, text in (line.partition(": ") for line in done.stdout.splitlines())}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.begin()
        yield cluster
    finally:
        cluster.end()


def _shipped(found: dict[str, str]) -> None:
    """The job failed with a clear error at first; Occurs, the rules and then the environment reached the workers."""
    assert re.match(r"error\[workers\]: the workers on \S+ \(\S+\) cannot import Occurs: No module", found["before"])
    assert "call occurs.ship(spark)" in found["before"]
    assert found["workers"] == occurs.__version__
    assert found["found"] == "[4, 5, 6, 7]"
    assert found["where"] == f"bare True {len(RULE)}"
    assert found["archive"] == f"packed True {len(RULE)}"


@pytest.mark.slow
def test_occurs_is_shipped_to_the_workers_of_a_cluster(cluster: Cluster) -> None:
    _shipped(cluster.run(*cluster.submit))


@pytest.mark.slow
def test_occurs_is_shipped_from_a_client_of_spark_connect(cluster: Cluster) -> None:
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    port = ("--conf", "spark.connect.grpc.binding.port=0")
    started = cluster.start(r"Spark Connect server started at: \S*?:(\d+)\n", *cluster.submit, *port, *server)
    _shipped(cluster.run(sys.executable, SPARK_REMOTE=f"sc://127.0.0.1:{started[1]}"))


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
