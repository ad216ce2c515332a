"""The saved pieces of a bucket once more, as files of the executor, which all its Python processes can map.

Spark gives a bucket to any of these processes, and one that does not remember it would read the whole state through
Spark's state store.  Here it finds the pieces in files.  They are a copy: what is not here, or does not belong to the
version of the state that Spark names, is read from Spark.

A step of a bucket writes one file, which has the small pieces of the step and, at its end, the index: where each piece
of this version of the state is.  Large pieces have files of their own.  A file is complete before an index names it,
and it is deleted one step after the last index that names it, as Spark may repeat a step.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

#: a piece of so many bytes has a file of its own: it would keep others alive
LARGE = 1 << 16
#: behind the index, the bytes of its length
_LENGTH = 8


@dataclass(frozen=True)
class Place:
    """Where a piece is: in ``file``, from byte ``first`` on."""

    file: str
    first: int
    length: int


def folder_of(token: str) -> Path | None:
    """The directory for a query in the first local directory of this executor, which Spark deletes when the executor
    ends; None outside of executors."""
    found = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(found) / f"occurs-{token}" if found else None


@dataclass
class LocalPieces:
    """The files of one bucket.  ``folder``: None if there are none; ``bucket``: begins the names of its files."""

    folder: Path | None
    bucket: str
    #: where the pieces are
    places: dict[str, Place] = field(default_factory=dict)
    #: files of the version that is open, and all that are not deleted
    current: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    #: pieces that wait for :meth:`close`
    waiting: dict[str, bytes] = field(default_factory=dict)

    def open(self, version: str) -> None:
        """Look for the pieces of this version of the state."""
        data = self._map(self._name(version))
        if data is None:
            return
        end = len(data) - _LENGTH
        first = end - int.from_bytes(data.slice(end).to_pybytes(), "little")
        index = json.loads(data.slice(first, end - first).to_pybytes())
        self.places = {piece: Place(*place) for piece, place in index["places"].items()}
        self.files = set(index["files"])
        self.current = {self._name(version), *(place.file for place in self.places.values())}

    def get(self, piece: str) -> pa.Buffer | None:
        """The bytes of a piece, mapped; None if it is not here."""
        place = self.places.get(piece)
        data = None if place is None else self._map(place.file)
        return None if place is None or data is None else data.slice(place.first, place.length)

    def put(self, piece: str, data: bytes) -> None:
        """Keep a piece for the version that :meth:`close` names."""
        if self.folder is not None:
            self.waiting[piece] = data

    def drop(self, piece: str) -> None:
        """Forget a piece."""
        self.waiting.pop(piece, None)
        self.places.pop(piece, None)

    def close(self, version: str) -> None:
        """Write what was put, and the index of this version.

        If the disk does not take it, this bucket has no files any more: its state is in Spark's store.
        """
        if self.folder is not None:
            try:
                self._write(self.folder, version)
            except OSError:
                self.folder = None
        self.waiting.clear()

    def _write(self, folder: Path, version: str) -> None:
        folder.mkdir(exist_ok=True)
        pack = self._name(version)
        small = []
        size = 0
        for piece, data in self.waiting.items():
            if len(data) < LARGE:
                self.places[piece] = Place(pack, size, len(data))
                small.append(data)
                size += len(data)
            else:
                own = self._name(uuid.uuid4().hex)
                (folder / own).write_bytes(data)
                self.places[piece] = Place(own, 0, len(data))
        now = {pack, *(place.file for place in self.places.values())}
        alive = now | self.current
        index = {"places": {n: [p.file, p.first, p.length] for n, p in self.places.items()}, "files": sorted(alive)}
        tail = json.dumps(index).encode()
        (folder / f"{pack}.new").write_bytes(b"".join([*small, tail, len(tail).to_bytes(_LENGTH, "little")]))
        (folder / f"{pack}.new").rename(folder / pack)
        for gone in self.files - alive:
            (folder / gone).unlink(missing_ok=True)
        self.current, self.files = now, alive

    def _name(self, version: str) -> str:
        return f"{self.bucket}-{version}"

    def _map(self, name: str) -> pa.Buffer | None:
        """A file, mapped; None if there is none."""
        if self.folder is None:
            return None
        try:
            with pa.memory_map(str(self.folder / name)) as file:
                return file.read_buffer()
        except FileNotFoundError:
            return None
