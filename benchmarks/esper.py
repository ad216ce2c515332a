"""Esper 9 beside ours: `peers/EsperRate.java`, compiled and run with jars from Maven Central.

Nothing of Esper is part of Occurs: who runs the benchmark downloads it (GPL version 2).  Needs a JDK (`javac`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.eplwork import Job, statements_of_esper
from benchmarks.jars import Unavailable, jars, java

VERSION = "9.0.0"
SOURCE = Path(__file__).parent / "peers" / "EsperRate.java"


@dataclass
class Esper:
    """A Java process with the statements of one job compiled and its events in memory.

    ``compiled``: seconds that Esper's compiler took.
    """

    job: Job
    process: subprocess.Popen[str]
    compiled: float

    def run(self) -> tuple[float, float]:
        """(CPU-seconds of the sending thread, seconds) for all events in a new runtime; the matches are checked."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found, cpu, wall = self._line().split()
        self.job.check(int(found))
        return int(cpu) / 1e9, int(wall) / 1e9

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Unavailable(f"Esper's process ended ({self.process.wait()})")
        return line


def classes() -> str:
    """The class path: Esper and our program.  Unavailable if there is no javac, or the jars cannot be had."""
    group = "com.espertech:esper"
    found = jars(f"esper-{VERSION}", [{f"{group}-{part}": VERSION for part in ("common", "compiler", "runtime")}])
    path = os.pathsep.join(map(str, found))
    compiler = _javac()
    if compiler is None:
        raise Unavailable("there is no javac: a JDK is needed, or JAVA_HOME that names one")
    folder = Path(tempfile.mkdtemp(prefix="occurs-esper-"))
    done = subprocess.run(
        [compiler, "-cp", path, "-d", str(folder), str(SOURCE)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"javac: {done.stderr.strip()[-300:]}")
    return f"{folder}{os.pathsep}{path}"


def _javac() -> str | None:
    beside = Path(java()).with_name("javac")
    if beside.is_absolute() and beside.is_file():
        return str(beside)
    return shutil.which("javac")


@contextmanager
def running(job: Job, path: str) -> Iterator[Esper]:
    """Esper with the statements of a job; ``path``: its class path."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "statements.epl"
        module.write_text(statements_of_esper(job.family, job.rules), encoding="utf-8")
        command = [_java(), "-Xmx3g", "-XX:+UseSerialGC", "-cp", path, "EsperRate", str(job.events), str(module)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        esper = Esper(job, process, 0.0)
        try:
            esper.compiled = int(esper._line().split()[1]) / 1e9
            yield esper
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _java() -> str:
    """The Java beside the compiler, so that it knows what that has written."""
    compiler = _javac()
    beside = None if compiler is None else Path(compiler).with_name("java")
    return str(beside) if beside is not None and beside.is_file() else java()
