"""How many transactions were committed to an SQLite database: what no statement tells.

With a rollback journal the header of the file counts them; with a write-ahead log every transaction ends with a frame
that says so.  To be asked while nobody else can write.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

_HEADER, _FRAME = 32, 24


class Commits:
    """Of the database at ``path``.  It keeps the file open until :meth:`close`, which has to come after that of the
    connection: closing a file lets go of the locks that this process has on it."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = open(path, "rb", buffering=0)  # noqa: SIM115  it stays open
        self._wal = path.with_name(f"{path.name}-wal")
        self._counter = self._count()
        self._salt, self._frames = b"", 0
        self._of_wal()

    def since(self) -> int:
        """How many since this was asked last."""
        counter = self._count()
        before, self._counter = self._counter, counter
        return (counter - before) % 2**32 + self._of_wal()

    def close(self) -> None:
        self._file.close()

    def _count(self) -> int:
        self._file.seek(24)
        return int.from_bytes(self._file.read(4), "big")

    def _of_wal(self) -> int:
        """The commits among the frames that were not seen yet."""
        try:
            log = open(self._wal, "rb", buffering=0)  # noqa: SIM115  locks are on another file
        except FileNotFoundError:
            self._salt, self._frames = b"", 0
            return 0
        with log:
            header = log.read(_HEADER)
            if len(header) < _HEADER:
                return 0
            (page,) = struct.unpack(">I", header[8:12])
            if header[16:24] != self._salt:
                self._salt, self._frames = header[16:24], 0
            found = 0
            while True:
                log.seek(_HEADER + self._frames * (_FRAME + page))
                frame = log.read(_FRAME)
                if len(frame) < _FRAME or frame[8:16] != self._salt:
                    return found
                found += frame[4:8] != b"\0\0\0\0"
                self._frames += 1
