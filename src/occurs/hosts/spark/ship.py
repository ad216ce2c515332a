"""Occurs, rules and environments for the workers of a cluster, on classic Spark and on Spark Connect.

A definition travels inside the plan of a task, so workers need no rule files.  They need the package itself, the same
version as in the driver, and the packages that it imports.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from occurs.connect.spark import is_remote
from occurs.connect.sparkerrors import own_errors
from occurs.errors import ResourceProblem, UsageProblem
from occurs.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: packages that a worker imports, and the least version of each (pyproject.toml has the same)
NEEDED = {"numpy": "2.0", "pyarrow": "20", "pandas": "2.2", "numba": "0.61", "lark": "1.2"}
#: folders of the package that workers never import
_APART = ("studio", "cli", "__pycache__")
_ARCHIVES = (".tar.gz", ".tgz", ".tar", ".jar")
_PYTHON = (".py", ".zip", ".egg")
#: sessions whose workers have been checked
_checked: WeakSet[SparkSession] = WeakSet()


@dataclass(frozen=True)
class Worker:
    """What a Python worker of a cluster runs.

    Attributes:
        host: The name of its machine.
        python: The path of its interpreter.
        packages: The version of each package that Occurs needs; None where it is missing.
        occurs: The version of Occurs, or None if the worker cannot import it.
        problem: Why it cannot.
        cache: The folder in which it keeps compiled kernels; None if every new process compiles them again.
    """

    host: str
    python: str
    packages: dict[str, str | None]
    occurs: str | None
    problem: str | None
    cache: str | None


def ship(session: SparkSession, *files: str | Path, archive: str | Path | None = None) -> list[Worker]:
    """Send Occurs to the workers of a Spark session, and check that they can run it.

    It works alike on classic Spark and Spark Connect (spark.md 3).  Workers that have Occurs installed do not need it.
    Call it before the first job that uses Occurs: a worker that has failed to import a package may not look again.

    Args:
        session: The session, on a cluster or on this machine.
        files: Further files for the workers: Python modules (``.py``, ``.zip``), archives (``.tar.gz``), and others
            such as rules, which ``pyspark.SparkFiles.get`` finds by their names.
        archive: A packed environment with its interpreter in ``bin/python``, as ``venv-pack`` and ``conda-pack`` make
            it.  Workers of this session run that interpreter from now on.

    Returns:
        The workers that answered, one for each machine and interpreter.

    Raises:
        UsageProblem: If a file does not exist.
        ResourceProblem: If workers lack a package, have one that is too old, or have another version of Occurs.

    Examples:
        ```python
        import occurs

        occurs.ship(spark)
        detections = occurs.load("fire.tesla").detect(events)
        ```
    """
    for file in (*files, *([] if archive is None else [archive])):
        if not Path(file).exists():
            raise UsageProblem.of("missing-file", f"{file}: there is no such file")
    with own_errors():
        if archive is not None:
            session.addArtifacts(f"{archive}#environment", archive=True)
            session.conf.set("spark.sql.execution.pyspark.python", "environment/bin/python")
        session.addArtifacts(str(_packed()), pyfile=True)
        for file in map(str, files):
            if file.endswith(_PYTHON):
                session.addArtifacts(file, pyfile=True)
            else:
                session.addArtifacts(file, **{"archive" if file.endswith(_ARCHIVES) else "file": True})
    return check(session)


def check(session: SparkSession) -> list[Worker]:
    """Ask the Python workers of a session for their packages.  Runs one small job.

    Raises ResourceProblem (``workers``) that names the machine, the interpreter and what is missing there.
    """
    found = sorted(set(_ask(session)))
    seen = [Worker(**json.loads(text)) for text in found]
    for worker in seen:
        _judge(worker)
    _checked.add(session)
    return seen


def check_cluster(session: SparkSession) -> None:
    """Check the workers of a session once, if they are on a cluster: those on this machine run our interpreter."""
    if session in _checked:
        return
    master = session.conf.get("spark.master", "local") or "local"
    if master.startswith("local") and not is_remote(session):
        return
    check(session)


def _judge(worker: Worker) -> None:
    """Raise ResourceProblem if a worker cannot run Occurs."""
    where = f"the workers on {worker.host} ({worker.python})"
    lacking = [name for name, version in worker.packages.items() if version is None]
    install = f"install them there, or send an environment: occurs.ship(spark, archive={'environment.tar.gz'!r})"
    if lacking:
        raise ResourceProblem.of("workers", f"{where} lack {', '.join(lacking)}", hint=install)
    old = [f"{n} {v} (needs {NEEDED[n]})" for n, v in worker.packages.items() if _number(v) < _number(NEEDED[n])]
    if old:
        raise ResourceProblem.of("workers", f"{where} have packages that are too old: {', '.join(old)}", hint=install)
    if worker.problem is not None:
        hint = "call occurs.ship(spark) before the first job, or install Occurs there"
        raise ResourceProblem.of("workers", f"{where} cannot import Occurs: {worker.problem}", hint=hint)
    if worker.occurs != __version__:
        text = f"{where} have Occurs {worker.occurs}, this process has {__version__}"
        raise ResourceProblem.of("workers", text, hint="install the same version in both places")


def _number(version: str | None) -> tuple[int, ...]:
    parts = (version or "0").split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)


def _ask(session: SparkSession) -> Iterator[str]:
    """What every worker that takes a part of a small job says of itself, as JSON."""
    from pyspark.sql.functions import col, udf

    # Workers without PyArrow have to answer, too; so the function is not one over Arrow.
    look = udf(_looking(tuple(NEEDED)), "string", useArrow=False).asNondeterministic()
    tasks = 4 if is_remote(session) else 2 * max(2, session.sparkContext.defaultParallelism)
    with own_errors():
        for row in session.range(0, tasks, 1, tasks).select(look(col("id"))).collect():
            yield row[0]


def _looking(needed: Sequence[str]) -> Callable[[Any], str]:
    """A function that travels whole: a worker that lacks Occurs could not import it."""

    def look(_: Any) -> str:
        import importlib
        import importlib.metadata
        import importlib.util
        import json
        import platform
        import sys
        import time

        packages: dict[str, str | None] = {}
        for name in needed:
            packages[name] = importlib.metadata.version(name) if importlib.util.find_spec(name) else None
        version = problem = cache = None
        if None not in packages.values():
            try:
                importlib.import_module("occurs.hosts.spark.task")
                version = importlib.import_module("occurs.version").__version__
                folder = importlib.import_module("occurs.kernel.cache").folder()
                cache = None if folder is None else str(folder)
            except ImportError as error:
                problem = str(error)
        time.sleep(0.2)  # so that the tasks go to more than one worker
        found = {"host": platform.node(), "python": sys.executable, "packages": packages}
        return json.dumps({**found, "occurs": version, "problem": problem, "cache": cache}, sort_keys=True)

    return look


@cache
def _packed() -> Path:
    """The package as a zip file, the same in every call: Spark rejects another path for a name that it knows."""
    root = Path(__file__).parents[2]
    made = hashlib.sha256()
    contents = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root.parent)
        if path.is_file() and not set(name.parts) & set(_APART) and path.suffix != ".pyi":
            content = path.read_bytes()
            made.update(str(name).encode() + b"\0" + hashlib.sha256(content).digest())
            contents.append((name, content))
    folder = Path(tempfile.mkdtemp(prefix="occurs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / f"occurs-{__version__}-{made.hexdigest()[:12]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in contents:
            out.writestr(zipfile.ZipInfo(name.as_posix()), content, zipfile.ZIP_DEFLATED)
    return target
