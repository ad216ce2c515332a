"""An archive of the classes that Spark loads (class data sharing): a Java that maps it starts, and answers its first
query, in less than half the CPU.  Tests start dozens of them.

``python tests/sparkclasses.py`` makes the archive if there is none for this Java and this PySpark, and
``tests/conftest.py`` names it to every Java of the tests.  A Java for which it is not made leaves it aside.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: Java programs that live for a minute: the second compiler costs a third of their time and they hardly gain by it
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

#: a batch, and a stream from files to files with timers, which has a state store
_WORK = """
import os, sys
from click.testing import CliRunner
import pyarrow as pa
from occurs.cli import main
from occurs.connect.spark import local_session
import occurs

session = local_session("local[2]", spark__sql__shuffle__partitions="4")
rows = pa.table({"type": ["A", "B"] * 5, "time": list(range(10)), "k": [1] * 10})
program = occurs.parse("define P(k) from A(k = $k) and last B(k = $k) within 5 ms from A where k = $k")
found = program.detect(session.createDataFrame(rows), time_unit="ms", partitions=2)["P"]
assert found.count() > 0
os.mkdir("in")
with open("in/a.csv", "w") as file:
    file.write("type,time,k\\n" + "".join(f"{'AB'[n % 2]},{n},1\\n" for n in range(10)))
with open("p.tesla", "w") as file:
    file.write("event A(k: int)\\nevent B(k: int)\\n"
               "define P(k) from A(k = $k) and last B(k = $k) within 5 ms from A where k = $k\\n")
follow = "follow p.tesla --events in --checkpoint cp --out out --time-unit ms --ended"
done = CliRunner().invoke(main, follow.split(), catch_exceptions=False)
assert done.exit_code == 0, done.output
java = session.sparkContext._gateway.proc
session.stop()
java.stdin.close()  # it ends, and writes the archive
assert java.wait(300) == 0
"""


def archive() -> Path | None:
    """Where the archive for this Java and this PySpark is or would be; None if one of them is missing."""
    from occurs import cachefolder

    place, spark = cachefolder.folder("classes-1"), importlib.util.find_spec("pyspark")
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else shutil.which("java")
    if place is None or spark is None or spark.origin is None or java is None or not Path(java).exists():
        return None
    java = Path(java).resolve()
    release = java.parents[1] / "release"
    jars = sorted((Path(spark.origin).parent / "jars").glob("*.jar"))
    key = [str(java), release.read_text() if release.exists() else str(java.stat().st_mtime_ns)]
    key += [f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in jars]
    return place / f"{hashlib.sha256(chr(10).join(key).encode()).hexdigest()[:16]}.jsa"


def options() -> str:
    """The options of Java for tests."""
    found = archive()
    return JAVA if found is None or not found.exists() else f"{JAVA} -XX:SharedArchiveFile={found} -Xlog:disable"


def make() -> None:
    """Make the archive, unless it is there."""
    place = archive()
    if place is None:
        print("no archive of Spark's classes: there is no Java, no PySpark or no folder for it", file=sys.stderr)
        return
    if place.exists():
        return
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder) / "made.jsa"
        done = subprocess.run(
            [sys.executable, "-c", _WORK], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "SPARK_SUBMIT_OPTS": f"{JAVA} -XX:ArchiveClassesAtExit={made} -Xlog:disable"},
        )  # fmt: skip
        if done.returncode or not made.exists():
            print(f"no archive of Spark's classes: Java made none\n{done.stdout}{done.stderr}", file=sys.stderr)
            return
        for old in place.parent.glob("*.jsa"):
            old.unlink()
        os.replace(made, place)


if __name__ == "__main__":
    make()
