"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any

from occurs.connect.places import user_path
from occurs.errors import OccursError, ResourceProblem, UsageProblem
from occurs.model.nesting import read_json


class Whole:
    """A file that takes its name only when it is complete; if ``synced``, when it is on the disk.

    ``stamp``: its time of change, in seconds since 1970.  ``new``: raise FileExistsError if there is a file of this
    name when it is complete.
    """

    def __init__(self, path: Path, *, synced: bool = False, stamp: float | None = None, new: bool = False):
        self._path = path
        self._synced = synced
        self._stamp = stamp
        self._new = new

    def __enter__(self) -> IO[bytes]:
        handle, self._name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name[:100]}.")
        os.chmod(self._name, 0o666 & ~_umask())
        self._file = os.fdopen(handle, "wb")
        return self._file

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            try:
                if kind is None and self._synced:
                    self._file.flush()
                    os.fsync(self._file.fileno())
            finally:
                self._file.close()  # may write, and so fail, too
            if kind is None:
                if self._stamp is not None:
                    os.utime(self._name, (self._stamp, self._stamp))
                if self._new:
                    _name_new(self._name, self._path)
                else:
                    os.replace(self._name, self._path)
                if self._synced:
                    _sync(self._path.parent)
        finally:
            if os.path.exists(self._name):
                os.unlink(self._name)


#: how file systems refuse a second name of a file, which some do not have
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def _name_new(written: str, path: Path) -> None:
    """Give a file its name.  Raises FileExistsError if there is a file of this name: of two processes one fails."""
    try:
        os.link(written, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists():  # in two steps: whoever writes here has a lock, too
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        os.replace(written, path)


def _sync(folder: Path) -> None:
    """The names in a directory are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sealed(entry: Mapping[str, Any]) -> bytes:
    """A JSON object with a digest of itself: damage to it is seen by :func:`unsealed`."""
    return json.dumps({**entry, "digest": _digest(entry)}, indent=1).encode()


def unsealed(data: bytes) -> Any:
    """The JSON value that was sealed; one without a digest is taken as it is, as there was none at first.

    Raises ValueError for any other bytes.
    """
    found = read_json(data)
    if isinstance(found, dict) and "digest" in found and found.pop("digest") != _digest(found):
        raise ValueError("its checksum is wrong")
    return found


def _digest(entry: Mapping[str, Any]) -> str:
    """Equal for equal entries."""
    return hashlib.blake2b(json.dumps(entry, sort_keys=True).encode(), digest_size=16).hexdigest()


def refuse_existing(path: Path, named: str) -> None:
    """Raise UsageProblem (``exists``) if there is a file at ``path``, or Parquet files in the directory ``path``.

    ``named``: the path as the message shows it.  For every place that writes what a user has asked for: nothing there
    is replaced unless the user says so.
    """
    hint = "use another name, or replace it with --overwrite (Python: overwrite=True)"
    if path.is_dir():
        if any(path.glob("*.parquet")):
            raise UsageProblem.of("exists", f"{named}: the directory already has Parquet files", hint=hint)
    elif os.path.lexists(path):
        raise UsageProblem.of("exists", f"{named}: the file already exists", hint=hint)


def new_file(text: str, option: str, overwrite: bool) -> Path:
    """The path of a file that an ``option`` names and that can be written.  Raises UsageProblem before any work:
    ``missing-file`` if there is no such directory, ``exists``."""
    target = user_path(text, option)
    if not target.parent.is_dir():
        raise UsageProblem.of("missing-file", f"{option} {text}: there is no directory {target.parent}")
    if not overwrite:
        refuse_existing(target, f"{option} {text}")
    return target


def write_whole(path: Path, data: bytes, named: str) -> None:
    """Write a file that is there whole or not at all; ``named``: its path as messages show it.  Raises
    ResourceProblem."""
    with writing(named), Whole(path) as out:
        out.write(data)


@contextmanager
def writing(named: object, kind: str = "cannot-write") -> Iterator[None]:
    """Errors of the disk in the body are a ResourceProblem of this ``kind``; ``named``: what is written, for its
    message."""
    try:
        yield
    except OccursError:
        raise
    except OSError as error:
        raise ResourceProblem.of(kind, f"{named}: {error.strerror or error}") from error


class Appended:
    """A file to which lines are appended; a line is on its way to the disk when :meth:`write` returns.

    Raises ResourceProblem.  ``option``: what names the file.
    """

    def __init__(self, path: str, option: str):
        self._named = f"{option} {path}"
        with writing(self._named):
            self._file = open(user_path(path, option), "a", encoding="utf-8")  # noqa: SIM115  it stays open

    def write(self, line: str) -> None:
        with writing(self._named):
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()


def durable(path: Path, *, stamp: float | None = None) -> AbstractContextManager[IO[bytes]]:
    """A file that is whole and on the disk before it takes its name, and then cannot be lost."""
    return Whole(path, synced=True, stamp=stamp)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
