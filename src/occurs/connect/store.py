"""Named objects under one address, each of which is there whole or not at all: on a disk, or wherever Spark writes.

The operations are those that every file system and every object store has.  There is no rename and no append, and
folders need not be made.  ``put_new`` is the only operation that two processes may compete for.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path

from occurs.connect.atomic_files import Whole


class Store(ABC):
    """Objects by their names, such as ``spark/offsets/3``.

    A method raises OSError if the store cannot be reached or refuses the operation.
    """

    @abstractmethod
    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object if there is none of this name; False: there is one, which stays as it is.

        Of several processes that write one name at once, one gets True.  A store that repeats a request by itself may
        return False for the object that this call wrote: compare the content.
        """

    @abstractmethod
    def put(self, name: str, data: bytes, *, stamp: float | None = None) -> None:
        """Write an object, which replaces the one of this name.

        ``stamp``: its time of change, in seconds since 1970, where the store can set it.
        """

    @abstractmethod
    def get(self, name: str, *, last: int | None = None) -> bytes | None:
        """The content of an object, or its ``last`` bytes; None if there is no such object."""

    @abstractmethod
    def list(self, folder: str = "", *, deep: bool = False) -> list[str]:
        """The names in a folder, in order: of its objects and folders, or if ``deep`` of all objects at any depth.

        A store may show an object for a while after it was deleted.
        """

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete an object; nothing happens if there is none."""

    @abstractmethod
    def address(self, name: str = "") -> str:
        """The path or the address of an object or a folder, as Spark takes it and as messages show it."""


class Disk(Store):
    """The files of a directory of this machine."""

    def __init__(self, path: Path):
        self.path = path

    def put_new(self, name: str, data: bytes) -> bool:
        try:
            with Whole(self._made(name), synced=True, new=True) as out:
                out.write(data)
        except FileExistsError:
            return False
        return True

    def put(self, name: str, data: bytes, *, stamp: float | None = None) -> None:
        with Whole(self._made(name), synced=True, stamp=stamp) as out:
            out.write(data)

    def _made(self, name: str) -> Path:
        """The path of an object, in a directory that is there."""
        target = self.path / name
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def get(self, name: str, *, last: int | None = None) -> bytes | None:
        try:
            with open(self.path / name, "rb") as file:
                if last is not None:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - last))
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def list(self, folder: str = "", *, deep: bool = False) -> list[str]:
        here = self.path / folder
        if deep:
            found = [p for p in here.rglob("*") if p.is_file()]
        else:
            found = list(here.iterdir()) if here.is_dir() else []
        return sorted(p.relative_to(self.path).as_posix() for p in found)

    def delete(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def address(self, name: str = "") -> str:
        return str(self.path / name) if name else str(self.path)
