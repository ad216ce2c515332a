"""The libraries of tables in a Spark session: which ones an address needs, and what their errors mean."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from occurs.connect.libraries import Library, listed, newest, scala_version, session_with
from occurs.connect.sparkerrors import errors_as
from occurs.connect.sparktables.place import TablePlace
from occurs.errors import InputProblem, OccursError, ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: the releases that the tests run with, used where Maven Central cannot be asked for its list
DELTA_VERSION, ICEBERG_VERSION, POSTGRESQL_VERSION = "4.4.0", "1.12.0", "42.7.13"


#: Maven Central's list of versions, asked for once
_versions = functools.cache(listed)


def _delta() -> str:
    return _by_minor("Delta Lake", "io.delta", "delta-spark_", DELTA_VERSION)


def _iceberg() -> str:
    return _by_minor("Iceberg", "org.apache.iceberg", "iceberg-spark-runtime-", ICEBERG_VERSION)


def _postgresql() -> str:
    version = newest(_versions("org.postgresql", "postgresql") or ()) or POSTGRESQL_VERSION
    return f"org.postgresql:postgresql:{version}"


DELTA = Library(
    "Delta Lake",
    "no-library",
    "OCCURS_DELTA_JARS",
    _delta,
    {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # tasks that read the log of a table: the default, 50, is for clusters
        "spark.databricks.delta.snapshotPartitions": "4",
    },
)
ICEBERG = Library("Iceberg", "no-library", "OCCURS_ICEBERG_JARS", _iceberg)
POSTGRESQL = Library("the JDBC driver of PostgreSQL", "no-library", "OCCURS_JDBC_JARS", _postgresql)
#: drivers by the name of the database in a URL
DRIVERS = {"postgresql": POSTGRESQL}
#: their classes: Java finds a driver that comes with the session only by its name
CLASSES = {"postgresql": "org.postgresql.Driver"}


def _by_minor(title: str, group: str, name: str, known: str) -> str:
    """The coordinate of a library with a module for each minor version of Spark, which ends the module's ``name``."""
    import pyspark

    scala = scala_version()
    spark = ".".join(pyspark.__version__.split(".")[:2])
    versions = _versions(group, f"{name}{spark}_{scala}")
    if versions == frozenset():
        raise unfit(title, pyspark.__version__, _last_minor(group, name, scala, spark))
    return f"{group}:{name}{spark}_{scala}:{newest(versions or ()) or known}"


@functools.cache
def _last_minor(group: str, name: str, scala: str, spark: str) -> str | None:
    """The latest minor version of Spark before ``spark`` that a library has a module for."""
    major, minor = spark.split(".")
    for before in range(int(minor) - 1, -1, -1):
        if _versions(group, f"{name}{major}.{before}_{scala}"):
            return f"{major}.{before}"
    return None


def unfit(title: str, spark: str, last: str | None) -> ResourceProblem:
    """A library has no release for this version of Spark; ``last``: the latest one that it has."""
    hint = f'pip install "pyspark=={last}.*"' if last else "use an earlier version of PySpark"
    known = f"; the latest Spark that it supports is {last}" if last else ""
    return ResourceProblem.of("no-library", f"{title} has no release for Spark {spark}{known}", hint=hint)


def libraries_of(places: Iterable[TablePlace]) -> list[Library]:
    """The libraries that tables need, each once.  A table of a catalog needs none: its session is set up by whoever
    made the catalog."""
    found: list[Library] = []
    for place in places:
        library = {"delta": DELTA, "iceberg": ICEBERG}.get(place.scheme)
        if place.scheme == "jdbc":
            library = DRIVERS.get(place.name.split(":")[1])
            if library is None and os.environ.get(POSTGRESQL.jars):
                library = POSTGRESQL  # the jars say which driver it is
        if library is not None and library not in found:
            found.append(library)
    return found


def table_session(places: Iterable[TablePlace], more: Iterable[Library] = ()) -> SparkSession:
    """The session of this process with the libraries of some tables, and ``more``.

    A session that is running, a server that SPARK_REMOTE names and a session of spark-submit are used as they are.
    Raises ResourceProblem (``no-library``).
    """
    from occurs.connect.spark import local_session, need_pyspark, runs_spark

    need_pyspark()
    wanted = [*libraries_of(places), *more]
    if not wanted or runs_spark() or os.environ.get("SPARK_REMOTE"):
        return local_session()
    return session_with(wanted)


def table_errors(place: TablePlace, option: str = "--events") -> AbstractContextManager[None]:
    """Errors of Spark, of a library and of a driver about one table as ours; ours, and all others, pass unchanged."""
    return errors_as(lambda error, foreign: _translated(str(error), place, option) if foreign else None)


_ABSENT = r"TABLE_OR_VIEW_NOT_FOUND|PATH_NOT_FOUND|MISSING_DELTA_TABLE|DELTA_SCHEMA_NOT_SET|DELTA_TABLE_NOT_FOUND"
_ABSENT += r"|NoSuchTableException|does not exist|doesn't exist|DELTA_PATH_DOES_NOT_EXIST"
_LACKING = r"DATA_SOURCE_NOT_FOUND|Failed to find (the )?data source|Cannot find catalog plugin class"
_LACKING += r"|ClassNotFoundException: (io\.delta|org\.apache\.(iceberg|spark\.sql\.delta))|No suitable driver"
_LACKING += r"|DELTA_CONFIGURE_SPARK_SESSION|ClassNotFoundException: \S*Driver"
_LINKAGE = r"NoSuchMethodError|NoSuchFieldError|IncompatibleClassChangeError|AbstractMethodError|NoClassDefFoundError"
_MISFIT = r"METADATA_MISMATCH|FAILED_TO_MERGE_FIELDS|INCOMPATIBLE_DATA_FOR_TABLE|INSERT_COLUMN_ARITY_MISMATCH"
_MISFIT += r"|column number of the existing table|doesn't match the (specified|data)"


def _translated(text: str, place: TablePlace, option: str) -> OccursError | None:
    first = next((line for line in text.splitlines() if line.strip()), text)
    if re.search(_LINKAGE, text):
        return _linkage(place)
    if re.search(_LACKING, text):
        return _lacking(place)
    if re.search(_MISFIT, text):
        hint = "write to another table, or change this one; option mergeSchema=true lets Delta Lake add columns"
        return UsageProblem.of("schema-conflict", f"{option} {place}: {_shown(first)}", hint=hint)
    if place.scheme == "jdbc":
        return _database(text, place)
    if re.search(_ABSENT, text):
        hint = "check the name or the path; a name may need its catalog and schema: CATALOG.SCHEMA.TABLE"
        return InputProblem.of("missing-table", f"{option} {place}: there is no such table", file=str(place), hint=hint)
    if "PARSE_SYNTAX_ERROR" in text or "INVALID_IDENTIFIER" in text:
        hint = "quote a part with other characters than letters, digits and _ in backquotes"
        return UsageProblem.of("bad-option", f"{option} {place}: this is not the name of a table", hint=hint)
    return None


def _shown(line: str) -> str:
    """The first line of a message of Spark without its codes."""
    return re.sub(r"^An error occurred while calling \S+|^\[[\w.]+\]\s*|\s*SQLSTATE: \w+$", "", line).strip()


def _linkage(place: TablePlace) -> ResourceProblem:
    import pyspark

    library = next(iter(libraries_of([place])), None)
    title = "a library of this session" if library is None else library.title
    text = f"{place}: {title} was built for another version of Spark than this one, {pyspark.__version__}"
    hint = "use the library's release for this Spark, or another PySpark"
    if library is not None:
        try:
            hint = f"for this Spark use {library.coordinate()}"
        except ResourceProblem as error:
            hint = f"{error.message}: {error.first.hint}"
    return ResourceProblem.of("no-library", text, hint=hint)


def _lacking(place: TablePlace) -> OccursError:
    if place.scheme == "jdbc":
        kind = place.name.split(":")[1]
        text = f"{place}: this Spark session has no JDBC driver for `{kind}`"
        hint = f"set {POSTGRESQL.jars} to the jar of the driver, or pass it to spark-submit with --jars"
        return ResourceProblem.of("no-library", text, hint=hint)
    library = {"delta": DELTA, "iceberg": ICEBERG}.get(place.scheme)
    if library is None:
        text = f"{place}: this Spark session has no library for the format or the catalog of the table"
        return ResourceProblem.of("no-library", text, hint="pass --packages and the settings of the catalog to Spark")
    try:
        hint = library.hint
    except ResourceProblem as error:
        return error
    settings = " ".join(f"--conf {k}={v}" for k, v in library.settings.items() if k.startswith("spark.sql"))
    more = f"; settings: {settings}" if settings else ""
    return ResourceProblem.of("no-library", f"{place}: this Spark session has no {library.title}", hint=hint + more)


def _database(text: str, place: TablePlace) -> OccursError | None:
    """What a database has said."""
    if re.search(r"java\.net\.\w*(Connect|UnknownHost|SocketTimeout|NoRouteToHost)Exception|attempt failed", text):
        return ResourceProblem.of("unreachable", f"{place}: the database does not answer", hint="is it running?")
    if re.search(r"authentication failed|no password|Access denied|permission denied|[Ll]ogin failed", text):
        hint = "put user and password into a file, and name it with config=PATH"
        return ResourceProblem.of("no-right", f"{place}: the database rejected this client", hint=hint)
    said = re.search(r"(?:SQL\w*|PSQL)Exception: (?:ERROR: )?([^\n]+)", text)
    if said is not None:
        return InputProblem.of("missing-table", f"{place}: {said[1]}", file=str(place))
    return None
