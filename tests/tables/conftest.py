"""A PySpark that Delta Lake and Iceberg support, with both: one process for all tests, and commands of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import mavenjars
from cli.conftest import EVENTS, RULES, Done

ROOT = Path(__file__).parents[2]
#: for programs that live for a minute
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def _lacks(why: str) -> None:
    """Skip; under CI=true fail."""
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def lacks():
    """``lacks(why)``: skip, or fail in CI."""
    return _lacks


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Variables for a process that has this PySpark and these libraries."""
    site = Path(os.environ.get("OCCURS_TABLES_SITE") or ROOT / ".venv-tables" / "site")
    if not (site / "pyspark").is_dir():
        _lacks("no PySpark for the libraries of tables: make .venv-tables/.ready")
    try:
        jars = mavenjars.tables()
    except mavenjars.Unavailable as error:
        _lacks(str(error))
    path = [str(site), str(ROOT / "src"), str(ROOT / "tests")]
    found = {k: v for k, v in os.environ.items() if k not in ("SPARK_REMOTE", "SPARK_HOME")}
    found |= {name: os.pathsep.join(map(str, paths)) for name, paths in jars.items()}
    return found | {"PYTHONPATH": os.pathsep.join(path), "SPARK_SUBMIT_OPTS": JAVA}


@dataclass
class Console:
    """The process of :mod:`console`, in ``folder``."""

    process: subprocess.Popen[str]
    folder: Path

    def ask(self, question: dict) -> dict:
        """Raises RuntimeError with its log if it has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError((self.folder / "log").read_text(errors="replace")[-6000:])
        return json.loads(line)

    def occurs(self, *arguments: str) -> Done:
        """A command, such as ``run``."""
        found = self.ask({"occurs": list(arguments)})
        assert "Traceback" not in found["err"], found["err"]
        return Done(found["status"], found["out"], found["err"])

    def sql(self, text: str) -> list[dict]:
        """The rows of a query of the session."""
        return self.ask({"sql": text})["rows"]


@pytest.fixture(scope="session")
def console(environment, tmp_path_factory):
    """One process with one session, in a folder with `fire.tesla` and `events.csv`."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "fire.tesla").write_text(RULES)
    (folder / "events.csv").write_text(EVENTS)
    command = [sys.executable, str(Path(__file__).with_name("console.py"))]
    pipe = subprocess.PIPE
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=log, text=True)
    yield Console(process, folder)
    process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
