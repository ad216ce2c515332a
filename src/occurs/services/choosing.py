"""The events of a project by default, and the types that only its events know."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from occurs.connect.places import Place
from occurs.errors import OccursError
from occurs.model.history import normalise
from occurs.model.types import Schema
from occurs.services.checks import snapshot
from occurs.services.events import RunOptions, files_of
from occurs.services.peeking import FILES, head_of
from occurs.services.scope import types_of

#: path, type, format, time of change, size
_Stamp = tuple[str, str | None, str, int, int]


def offered(paths: Sequence[str], texts: Mapping[str, str], options: Mapping[str, Any] | None = None) -> list[str]:
    """Say how files of events are read if nobody says it.

    Args:
        paths: Files and directories of events, below the working directory.
        texts: The texts of the program by path.
        options: Options of :meth:`occurs.Program.detect` that describe the input.

    Returns:
        For each of the paths `TYPE=PATH` if its name is that of a type of the program and no column has the types of
        its rows, else the path.

    Examples:
        >>> import os, pathlib, tempfile
        >>> here = os.getcwd()
        >>> os.chdir(tempfile.mkdtemp())
        >>> for name, head in {"Temp": "time,value", "Hot": "type,time", "other": "time"}.items():
        ...     _ = pathlib.Path(f"{name}.csv").write_text(head)
        >>> rules = {"hot.tesla": "define Hot() from Temp(value > 45)"}
        >>> found = offered(["Temp.csv", "Hot.csv", "other.csv"], rules)
        >>> os.chdir(here)
        >>> found
        ['Temp=Temp.csv', 'Hot.csv', 'other.csv']
    """
    names = types_of(snapshot(texts)).names
    given = _input(options)
    return [f"{Path(p).stem}={p}" if Path(p).stem in names and _untyped(p, given) else p for p in paths]


def known_types(events: Sequence[str], options: Mapping[str, Any] | None = None) -> dict[str, Schema]:
    """Find the types in the heads of files of events, with their attributes.

    Args:
        events: `PATH` or `TYPE=PATH`, below the working directory.
        options: Options of :meth:`occurs.Program.detect` that describe the input.

    Returns:
        The types by name.  Files that cannot be read have none: :func:`~occurs.services.peek` says why.
    """
    given = _input(options)
    out: dict[str, Schema] = {}
    for text in events:
        for stamp in _stamps(text, given)[:FILES]:
            for name, schema in _schemas(stamp, given):
                out.setdefault(name, schema)
    return out


def _input(options: Mapping[str, Any] | None) -> str:
    """The options that say how events are read, as a key: without facts, which would be read from their files."""
    return json.dumps({name: value for name, value in (options or {}).items() if name != "facts"}, sort_keys=True)


def _untyped(path: str, options: str) -> bool:
    """Whether no column of a file, or of the first file of a directory, has the types of its rows."""
    stamps = _stamps(path, options)
    found = _columns(stamps[0], options) if stamps else frozenset()
    return bool(found) and RunOptions(json.loads(options)).input.type not in found


def _stamps(text: str, options: str) -> list[_Stamp]:
    """The files that an entry names, as they are now; none if they cannot be looked at."""
    try:
        found = files_of([text], RunOptions(json.loads(options)).input)
        states = [place.path.stat() for place in found]
    except (OccursError, OSError):
        return []
    pairs = zip(found, states, strict=True)
    return [(str(p.path), p.type, p.format, s.st_mtime_ns, s.st_size) for p, s in pairs]


@lru_cache(maxsize=500)
def _columns(stamp: _Stamp, options: str) -> frozenset[str]:
    """The columns of the head of a file; none if it cannot be read."""
    path, type, format, *_ = stamp
    try:
        found = head_of(Place(Path(path), format, type), RunOptions(json.loads(options)).input)
    except OccursError:
        return frozenset()
    # JSON lines that have types are a source per type
    names = {name for source in found for name in source.table.column_names}
    column = RunOptions(json.loads(options)).input.type
    return frozenset(names | ({column} if column and any(s.type is not None for s in found) else set()))


@lru_cache(maxsize=500)
def _schemas(stamp: _Stamp, options: str) -> tuple[tuple[str, Schema], ...]:
    """The types in the head of a file; none if it cannot be read."""
    path, type, format, *_ = stamp
    given = RunOptions({**json.loads(options), "bad_rows": "skip"}).input
    try:
        history = normalise(head_of(Place(Path(path), format, type), given), options=given)
    except OccursError:
        return ()
    return tuple((name, schema) for name, schema in history.schemas.items() if len(history.tables[name]))
