"""Files of events, and text files whose lines are events, as :class:`~occurs.model.history.Source` tables."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa

from occurs.connect.csvfile import read_csv
from occurs.connect.jsonfile import read_json
from occurs.connect.places import Place, places
from occurs.errors import InputProblem, Problem, UsageProblem
from occurs.model.source import ENCODING, LINE, InputOptions, Source, TextFile
from occurs.model.types import Schema, Type

#: the system's words where there is no memory for a file
_NO_ROOM = os.strerror(errno.ENOMEM)


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
        raise unreadable(place.name, f"it is not {options.encoding.upper()}{told}", ENCODING) from error
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        if _NO_ROOM in str(error):  # Arrow's error of a file that it maps has no number; the file is not to blame
            raise MemoryError(str(error)) from error
        raise unreadable(place.name, str(error)) from error


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
        return Source(file.read(columns=wanted), place.type, place.name)


# --- the lines of text files: ``FILE "f"`` of eSQL (pipes.md, 2.2) ---------------------------------------------------

_INSIDE = "the path must be relative to the folder of the rules and inside it"


def line_sources(files: Mapping[str, TextFile], folders: Mapping[str, Path], options: InputOptions) -> list[Source]:
    """The lines of ``files`` (by type of event) as tables with the times 0, 1, 2 ..

    ``folders``: of the rules that were read of files.  Raises InputProblem (``missing-file``), and UsageProblem if a
    special column is called as the column of the lines.
    """
    if files and LINE in options.special:
        text = f"a special column is called `{LINE}`, which is the name of the column with the lines of FILE"
        raise UsageProblem.of("bad-option", text, hint="rename the column of the tables")
    out = []
    for type, file in files.items():
        lines = pa.array(_lines(file, folders), pa.string())
        out.append(Source(pa.table({options.time: np.arange(len(lines)), LINE: lines}), type, file.path))
    return out


def _lines(file: TextFile, folders: Mapping[str, Path]) -> list[str]:
    """The lines, without what ends them."""
    place = _place(file, folders)
    try:
        lines = place.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise _problem(file, f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise _problem(file, f"it cannot be read: {error.strerror or error}") from error
    return lines if lines[-1] else lines[:-1]


def _place(file: TextFile, folders: Mapping[str, Path]) -> Path:
    """Where a file is.  Raises InputProblem if it is not inside of the folder of its rules, links followed, or if it is
    no file; nothing is opened then."""
    if file.file is None or file.file not in folders:
        hint = "write the rules to a file and use occurs.load(path); paths are relative to the folder of the rules"
        raise _problem(file, "these rules are text, so there is no folder for relative paths", hint)
    folder, path = folders[file.file], PurePath(file.path)
    if path.is_absolute() or ".." in path.parts:
        raise _problem(file, f"this path may be outside {folder}", _INSIDE)
    try:
        found = (folder / path).resolve()
        inside, there, whole = found.is_relative_to(folder.resolve()), found.is_file(), found.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that no file can have
        raise _problem(file, f"it cannot be opened: {error}") from error
    if not inside:
        raise _problem(file, f"a link leads outside {folder}", _INSIDE)
    if not there:
        text = f"{folder / path} is not a file" if whole else f"there is no file {folder / path}"
        raise _problem(file, text, _INSIDE)
    return found


def _problem(file: TextFile, what: str, hint: str | None = None) -> InputProblem:
    """FILE cannot be read, and why."""
    message = f"`{file.definition}` reads FILE {file.path!r}: {what}"
    return InputProblem.of(
        "missing-file", message, file=file.file, span=file.span, hint=hint, value=file.path, definition=file.definition
    )
