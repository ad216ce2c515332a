"""Reading files of events into :class:`~occurs.model.history.Source` tables (common.md, section 1)."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from occurs.connect.csvfile import read_csv
from occurs.connect.jsonfile import read_json
from occurs.connect.places import Place, places
from occurs.errors import InputProblem, Problem
from occurs.model.source import ENCODING, InputOptions, Source
from occurs.model.types import Schema, Type


def read_sources(
    events: Iterable[str],
    *,
    schemas: Mapping[str, Schema] | None = None,
    options: InputOptions | None = None,
    columns: Collection[str] | None = None,
) -> list[Source]:
    """The tables of ``events`` (``PATH``, ``TYPE=PATH``, directories, patterns, ``-``), each with its file.

    ``schemas``: declared types; they keep text as written in columns declared as text.  ``columns``: the only ones
    wanted (Parquet; None: all).  Raises InputProblem: ``missing-file``, ``bad-value`` for a file that cannot be read.
    """
    options = options or InputOptions()
    return read_places(places(events, options.format), schemas=schemas or {}, options=options, columns=columns)


def read_places(
    files: Iterable[Place],
    *,
    schemas: Mapping[str, Schema],
    options: InputOptions,
    columns: Collection[str] | None = None,
) -> list[Source]:
    """The tables of some files, as :func:`read_sources` gives them."""
    out: list[Source] = []
    problems = []
    for place in files:
        try:
            out += read_place(place, schemas, options, columns)
        except InputProblem as error:
            problems += error.problems
    if problems:
        raise InputProblem(problems)
    return out


def read_place(
    place: Place, schemas: Mapping[str, Schema], options: InputOptions, columns: Collection[str] | None = None
) -> list[Source]:
    """One file; JSON lines give one source per event type, as their columns are typed per event type."""
    declared = schemas if place.type is None else {k: v for k, v in schemas.items() if k == place.type}
    try:
        if place.format == "csv":
            texts = {name for schema in declared.values() for name, t in schema if t is Type.STRING}
            return [read_csv(place, texts | options.spelled, options)]
        if place.format == "json":
            return read_json(place, options, declared)
        return [_read_parquet(place, columns)]
    except UnicodeError as error:
        told = f": {error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise unreadable(place.path, f"it is not {options.encoding.upper()}{told}", ENCODING) from error
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise unreadable(place.path, str(error)) from error


def unreadable(path: object, why: str, hint: str | None = None) -> InputProblem:
    """A file that is not what its suffix says."""
    return InputProblem(Problem("bad-value", f"{path} cannot be read: {why}", file=str(path), hint=hint))


def spark_can_read(path: Path) -> bool:
    """Whether Spark reads a Parquet file as it is: no names that differ in case alone, no nanoseconds.

    Raises InputProblem: ``bad-value`` if it is no Parquet file, ``duplicate-name`` for two columns of one name.
    """
    import pyarrow.parquet as pq  # takes a while, and most files are text

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise unreadable(path, str(error)) from error
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise InputProblem.of("duplicate-name", f"two columns are called `{name}`", file=str(path))
    fine = len({n.lower() for n in schema.names}) == len(schema.names)
    return fine and not any(pa.types.is_timestamp(t) and t.unit == "ns" for t in schema.types)


def _read_parquet(place: Place, columns: Collection[str] | None) -> Source:
    import pyarrow.parquet as pq

    with pq.ParquetFile(place.path if place.data is None else pa.BufferReader(place.data)) as file:
        names = file.schema_arrow.names
        wanted = None if columns is None else [n for n in names if n in columns]
        return Source(file.read(columns=wanted), place.type, str(place.path))
