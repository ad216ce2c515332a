"""Tables as DataFrames, of a history or as streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from occurs.connect.sparkerrors import own_errors
from occurs.connect.sparktables.place import BATCH, STREAM, TablePlace
from occurs.connect.sparktables.session import CLASSES, table_errors
from occurs.errors import UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(session: SparkSession, place: TablePlace) -> DataFrame:
    """A table as it is now.

    Raises:
        UsageProblem: If an option does not apply (``bad-option``).
        InputProblem: If there is no such table (``missing-table``).
        ResourceProblem: If the session does not have its library (``no-library``), or a database does not answer.
    """
    options = place.options_for(BATCH, "--events")
    with own_errors(), table_errors(place):
        reader = session.read.options(**options)
        if place.scheme == "jdbc":
            driver = CLASSES.get(place.name.split(":")[1])
            if driver is not None and "driver" not in options:
                reader = reader.option("driver", driver)
            found = reader.format("jdbc").option("url", place.name).load()
        elif place.scheme == "delta":
            found = reader.format("delta").load(place.name)
        else:
            configure(session, place)
            found = reader.table(place.sql)
        found.schema  # noqa: B018  a client of Spark Connect asks the server here
    return found


def stream_of(session: SparkSession, place: TablePlace, limits: Mapping[str, str]) -> DataFrame:
    """The rows of a table as a stream: those that it has, then those that are appended.

    Args:
        session: The session.
        place: The table.
        limits: Options that limit a micro-batch, for places that do not have such an option themselves.

    Raises:
        UsageProblem: If the table cannot be read as a stream (``unsupported``), or an option does not apply.
        InputProblem: If there is no such table (``missing-table``).
        ResourceProblem: If the session does not have its library (``no-library``).
    """
    if place.scheme == "jdbc":
        hint = "use `occurs run` for what the table has now, or `occurs watch` to follow the changes of a database"
        raise UsageProblem.of("unsupported", f"--events {place}: a JDBC table cannot be followed", hint=hint)
    options = place.options_for(STREAM, "--events")
    with own_errors(), table_errors(place):
        reader = session.readStream.options(**{**limits, **options})
        if place.scheme == "delta":
            found = reader.format("delta").load(place.name)
        else:
            configure(session, place)
            found = reader.table(place.sql)
        found.schema  # noqa: B018
    return found


def configure(session: SparkSession, place: TablePlace) -> None:
    """Give the session the catalog of a table that is named by its path."""
    catalog = place.catalog
    if catalog is not None:
        for name, value in catalog[1].items():
            session.conf.set(name, value)
