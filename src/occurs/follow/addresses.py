"""Folders at addresses, such as ``s3a://bucket/events``, as a stream: files that are put there are events that came.

Spark lists and fetches the files, in any file system that the session reaches.  Each is read by the readers that
``occurs run`` has, in a task of Spark.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occurs.checked_program import CheckedProgram
from occurs.connect.files import read_places, unreadable
from occurs.connect.places import Place, format_of, here, is_address, place_of, split_type
from occurs.connect.sparktables.address import reached
from occurs.errors import UsageProblem
from occurs.follow.folders import counts, literal, new_files, rows_of
from occurs.follow.limits import Limit
from occurs.follow.sources import Source, pinned, stream_source
from occurs.follow.wide import Expected, Pinned
from occurs.hosts.stream.source import StreamSource
from occurs.model.source import InputOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: bytes of files that a first look fetches at most; one file of each address is always fetched
LOOK = 1 << 26


class Addresses(Source):
    """``ADDRESS`` or ``TYPE=ADDRESS``, each a folder, or a pattern of folders."""

    name = "address"
    needs_session = True

    def __init__(self, texts: Sequence[str]):
        self._places = [(name, text.rstrip("/")) for name, text in map(split_type, texts)]
        addresses = [address for _, address in self._places]
        for address in addresses:
            if addresses.count(address) > 1:
                raise UsageProblem.of("duplicate-name", f"--events names {address} twice")
            if format_of(Path(address)) is not None:
                hint = "name its folder, or use `occurs run` for a file"
                text = f"--events {address} is a file; `occurs follow` reads the files of a folder"
                raise UsageProblem.of("bad-option", text, hint=hint)
        if len({name is None for name, _ in self._places}) > 1:
            text = "some --events have a type column, others are given as TYPE=ADDRESS"
            raise UsageProblem.of("bad-option", text, hint="use the same form for all")

    def refuse_inside(self, option: str, target: str) -> None:
        for _, address in self._places:
            if f"{_whole(target)}/".startswith(f"{_whole(address)}/"):
                text = f"{option} {target} is inside the folder {address} and would be read as events"
                raise UsageProblem.of("bad-option", text, hint="use an address outside of --events")

    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        """By the first files of each address, in the order of their names."""
        assert session is not None
        reader = new_files(session.read, options.format, None)
        found: list[Place] = []
        for type, address in self._places:
            with reached(address, "files"):
                sizes = reader.load(address).select("path", "length").collect()
                chosen = _first(sorted((row["path"], row["length"]) for row in sizes), LOOK // len(self._places))
                # Spark would fetch all files to filter them by their paths: those that are wanted are named to it
                named = list(map(literal, chosen))
                rows = reader.load(named).select("path", "content").collect() if named else []
            for row in sorted(rows, key=itemgetter("path")):
                found += fetched(type, options.format, row.asDict())
        return pinned(program, read_places(found, schemas=program.declared, options=options), options)

    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        most = None if limit is None else limit.shared(len(self._places)).bytes
        frames = [self._rows(session, type, address, expected, most) for type, address in self._places]
        return stream_source(reduce(lambda one, more: one.unionByName(more), frames), expected, delay)

    def _rows(
        self, session: SparkSession, type: str | None, address: str, expected: Expected, most: int | None
    ) -> DataFrame:
        with reached(address, "files"):
            files = new_files(session.readStream, expected.options.format, most).load(address)
        places = partial(fetched, type, expected.options.format)
        return files.select("path", "content").mapInArrow(partial(rows_of, expected, places), expected.ddl)

    @property
    def limited(self) -> bool:
        return len(self._places) == 1

    def taken(self, limit: Limit) -> int | None:
        return limit.bytes

    def identity(self) -> list[str]:
        return [f"{name}={address}" if name else address for name, address in self._places]


def _whole(text: str) -> str:
    """An address, or the whole path that it or a text names."""
    spelled = here(text).rstrip("/")
    return spelled if is_address(spelled) else str(Path(spelled).resolve())


def _first(files: Sequence[tuple[str, int]], most: int) -> list[str]:
    """The first files that have ``most`` bytes together; at least one."""
    ends = accumulate(size for _, size in files)
    return [path for n, ((path, _), end) in enumerate(zip(files, ends, strict=True)) if end <= most or n == 0]


def fetched(type: str | None, format: str | None, row: Mapping[str, Any]) -> Iterator[Place]:
    """The file of a row of ``path`` and ``content``, unless its name or its suffix says that it has no events."""
    path = Path(row["path"])
    if counts(Path(path.name), format):
        place = replace(place_of(path, type, format), address=row["path"])
        try:
            yield replace(place, data=place.unpacked(row["content"]))
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(place.name, str(error)) from error
