"""A Spark session on this machine, and files read by Spark.  PySpark is imported when it is asked for, not before."""

from __future__ import annotations

import codecs
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from occurs.connect.java import ensure_java
from occurs.connect.places import Place
from occurs.connect.sparkcolumns import PLACE
from occurs.errors import InputProblem, ResourceProblem, UsageProblem
from occurs.model.source import InputOptions, is_utf8

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession


#: seconds to wait for the server of SPARK_REMOTE before saying so, and before giving up
SILENCE, PATIENCE = 2.0, 30.0
#: what a session of ours is set to, where the user has not set it; times in UTC on both sides
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_WITHOUT = "to run without Spark, use --host local (Python: pass a pandas, Arrow or Polars table)"
_LAUNCH = {
    "spark.app.name": "occurs",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # the line of Python that made a column, for messages: to note it takes most of the time in which a job is described
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def local_session(master: str = "local[*]", *, quiet: bool = True, **settings: str) -> SparkSession:
    """Return the Spark session of this process, or start one with settings that suit Occurs.

    The session is the existing one, a connection to the server of ``SPARK_REMOTE``, or a new one on this machine.

    Args:
        master: The Spark master of a new session, such as ``local[4]``.
        quiet: Discard the log of the Java process.  Its errors still become Python exceptions.
        settings: Spark settings, with ``__`` for ``.``: ``spark__sql__shuffle__partitions="8"``.

    Returns:
        The session.

    Raises:
        ResourceProblem: If PySpark or Java is missing, if Spark does not start, or if the server does not answer.

    Examples:
        ```python
        from occurs.connect.spark import local_session

        spark = local_session(spark__sql__shuffle__partitions="8")
        ```
    """
    need_pyspark()
    ensure_java()
    reach_remote()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers may run another Python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    chosen = _SETTINGS | {k.replace("__", "."): v for k, v in settings.items()}
    if "SPARK_REMOTE" not in os.environ:
        chosen = _LAUNCH | chosen
        if "SPARK_DRIVER_MEMORY" not in os.environ:
            chosen = {"spark.driver.memory": "2g"} | chosen
        if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has started us, and knows where to run
            builder = builder.master(master)
            if os.name == "posix":  # Windows has no fork, and Spark no daemon there
                chosen = {"spark.python.daemon.module": "occurs.hosts.spark.daemon"} | chosen
    for name, value in chosen.items():
        builder = builder.config(name, value)
    with _hushed(quiet) as log:
        try:
            session = builder.getOrCreate()
        except Exception as error:  # Py4J, gRPC and the launcher each raise their own
            told = log().strip().splitlines()[-5:]
            message = "Spark does not start: " + (str(error).splitlines() or [repr(error)])[0]
            raise ResourceProblem.of("no-spark", "\n  ".join([message, *told]), hint=_WITHOUT) from error
    if quiet and "SPARK_REMOTE" not in os.environ:
        session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def set_to(session: SparkSession, wanted: dict[str, str]) -> Iterator[None]:
    """The session's settings while the body runs; then as they were."""
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


def is_remote(session: object) -> bool:
    """Whether a session is one of Spark Connect, which has no ``sparkContext``."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def reach_remote() -> None:
    """Return when the server that SPARK_REMOTE names accepts connections, at once if it names none.

    A session would try for minutes without a word.  Says on stderr what it waits for.  Raises ResourceProblem
    (``unreachable``).
    """
    remote = os.environ.get("SPARK_REMOTE", "")
    if not remote.startswith("sc://"):
        return
    from pyspark.errors import PySparkException

    try:
        from grpc import FutureTimeoutError, channel_ready_future
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return  # the session says which packages are missing
    try:
        channel = DefaultChannelBuilder(remote).toChannel()
    except PySparkException as error:
        raise ResourceProblem.of("no-spark", f"SPARK_REMOTE: {str(error).splitlines()[0]}", hint=_WITHOUT) from error
    server = remote.split("/;")[0].rstrip("/")  # what follows may be a token
    ready = channel_ready_future(channel)
    try:
        try:
            ready.result(timeout=SILENCE)
        except FutureTimeoutError:
            print(f"waiting for the Spark server {server} (SPARK_REMOTE), {PATIENCE:g} s at most", file=sys.stderr)
            ready.result(timeout=PATIENCE - SILENCE)
    except FutureTimeoutError as error:
        text = f"the Spark server {server} (SPARK_REMOTE) did not answer within {PATIENCE:g} s"
        raise ResourceProblem.of("unreachable", text, hint=f"unset SPARK_REMOTE to run here; {_WITHOUT}") from error
    finally:
        ready.cancel()
        channel.close()


@contextmanager
def _hushed(quiet: bool) -> Iterator:
    """Standard error of processes started meanwhile goes to a file without a name; yields a reader of it."""
    if not quiet:
        yield lambda: ""
        return
    with tempfile.TemporaryFile() as file:

        def text() -> str:
            file.seek(0)
            return file.read().decode(errors="replace")

        sys.stderr.flush()
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield text
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def read_frames(
    session: SparkSession,
    files: Iterable[Place],
    options: InputOptions | None = None,
    *,
    skip: bool = False,
    tables: Iterable[tuple[str | None, DataFrame]] = (),
) -> DataFrame | dict:
    """Files as Spark DataFrames: one with a type column, or one per type (then all files must have their type).

    Text types are inferred by Spark.  ``skip`` leaves torn lines out; otherwise reading them fails.  Two columns more,
    named in ``PLACE``, say where a row is from: its file, and its number if the file is Parquet.  ``tables``:
    DataFrames beside the files, with their types.
    """
    groups: dict[tuple[str | None, str], list[str]] = {}
    for place in files:
        if place.packed == ".zst":
            hint = "decompress it, or run without Spark: --host local"
            raise UsageProblem.of("unsupported", f"{place.path}: Spark cannot read .zst files", hint=hint)
        groups.setdefault((place.type, place.format), []).append(str(place.path.absolute()))
    how = options or InputOptions()
    read = [(name, placed(read_files(session, kind, paths, how, skip), kind)) for (name, kind), paths in groups.items()]
    return by_type([*read, *tables])


def by_type(frames: Iterable[tuple[str | None, DataFrame]]) -> DataFrame | dict:
    """DataFrames of a history together: one with a type column, or one per type (then all must have their type)."""
    found: dict[str | None, DataFrame] = {}
    for name, frame in frames:
        found[name] = frame if name not in found else found[name].unionByName(frame, allowMissingColumns=True)
    if None not in found:
        return found
    if len(found) > 1:
        named = ", ".join(f"`{n}`" for n in found if n)
        raise InputProblem.of(
            "missing-column", f"some --events have a type column, others are given as TYPE=PATH: {named}"
        )
    return found[None]


def placed(frame: DataFrame, kind: str) -> DataFrame:
    """With the place of every row, computed where it is asked for; a column that has such a name already is kept."""
    from pyspark.sql import functions as F

    if any(c in frame.columns for c in PLACE):
        return frame
    plain = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
    row = F.col("_metadata.row_index") + 1 if kind == "parquet" else F.lit(None)
    return frame.select("*", F.regexp_replace(plain, "^file:/+", "/").alias(PLACE[0]), row.cast("long").alias(PLACE[1]))


def read_files(session: SparkSession, kind: str, paths: list[str], how: InputOptions, skip: bool) -> DataFrame:
    """Files of one format as Spark reads them; ``skip`` leaves torn lines out."""
    if kind == "parquet":
        return session.read.parquet(*paths)
    mode = "DROPMALFORMED" if skip else "FAILFAST"
    if kind == "csv":
        options = {"header": "true", "inferSchema": "true", "multiLine": "true", "escape": '"', "mode": mode}
        reader = session.read.options(sep=how.delimiter, encoding=_charset(how.encoding), **options)
        return _spelled(reader, reader.csv, paths, how)
    reader = session.read.options(mode=mode)
    if not is_utf8(how.encoding):
        reader = reader.options(encoding=_charset(how.encoding), lineSep="\n")
    return _spelled(reader, reader.json, paths, how)


#: encodings that Spark reads: Python's name to Spark's
_CHARSETS = {
    "utf-8": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16", "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE", "utf-32": "UTF-32",
}  # fmt: skip


def _charset(encoding: str) -> str:
    """An encoding as Spark calls it.  Raises UsageProblem for one that Spark does not read."""
    found = _CHARSETS.get(codecs.lookup(encoding).name)
    if found is None:
        hint = "convert the files to UTF-8 (iconv), or run without Spark: --host local"
        raise UsageProblem.of("unsupported", f"--encoding {encoding}: Spark cannot read this encoding", hint=hint)
    return found


def _spelled(
    reader: DataFrameReader, read: Callable[[list[str]], DataFrame], paths: list[str], how: InputOptions
) -> DataFrame:
    """The files, with the columns that are wanted as they are written as text."""
    found = read(paths)
    wanted = how.spelled & set(found.columns)
    if not wanted:
        return found
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [StructField(f.name, StringType()) if f.name in wanted else f for f in found.schema.fields]
    reader.schema(StructType(fields))
    return read(paths)


#: how to install it; on a cluster it is there already, in the version of the cluster
INSTALL = 'pip install "occurs[spark,java]"'


def has_pyspark() -> bool:
    """Is PySpark installed?  It is not imported."""
    try:
        return find_spec("pyspark") is not None
    except ImportError:  # something in between finds it and does not give it
        return False


def runs_spark() -> bool:
    """Has somebody started a session in this process?"""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def need_pyspark() -> None:
    """Raise ResourceProblem (``no-spark``) if PySpark is not installed."""
    if not has_pyspark():
        hint = f"{INSTALL}; to run without Spark, use --host local (Python: pass a pandas, Arrow or Polars table)"
        raise ResourceProblem.of("no-spark", "PySpark is not installed", hint=hint)
