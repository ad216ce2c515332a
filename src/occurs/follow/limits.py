"""How much of its source a micro-batch takes, and how much it leaves there.

After an outage a source holds more than fits into memory at once.  So a micro-batch has a limit for each bucket, and
the next one takes the next part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from occurs.connect.store import Store
from occurs.follow.checkpoint import SPARK, numbers
from occurs.follow.folders import Folder, counts
from occurs.follow.wide import Expected

#: megabytes of rows in memory for a bucket, if nothing is said
MEGABYTES = 256
#: bytes of rows in memory for a byte of a file, which may be packed
UNPACKED = 4
#: bytes of a value: of a number, of a text; and of the columns that every row has
_NUMBER, _TEXT, _SPECIAL = 8, 32, 40


@dataclass(frozen=True)
class Limit:
    """What a micro-batch may take: ``rows`` of a topic, ``bytes`` of files."""

    rows: int
    bytes: int

    @classmethod
    def of(cls, megabytes: int, buckets: int, expected: Expected) -> Limit:
        """Rows of the columns that the rules read, that need so many ``megabytes`` for each bucket."""
        total = megabytes * 1_000_000 * buckets
        width = _SPECIAL + sum(_NUMBER if _fixed(f.type) else _TEXT for f in expected.schema if f.name[:2] != "__")
        return cls(max(1, total // width), max(1, total // UNPACKED))

    def shared(self, sources: int) -> Limit:
        """For each of several sources."""
        return Limit(max(1, self.rows // sources), max(1, self.bytes // sources))


def _fixed(type: Any) -> bool:
    try:
        return bool(type.bit_width)
    except ValueError:
        return False


@dataclass
class Untaken:
    """The files of directories that no micro-batch has taken; ``format``: of all files, if one is given."""

    folders: Sequence[Folder]
    format: str | None = None
    _taken: set[str] = field(default_factory=set)
    _last: dict[str, int] = field(default_factory=dict)

    def bytes(self, store: Store) -> int:
        """Their size, by the logs of a query's sources in the ``store`` of its checkpoint."""
        for log in store.list(f"{SPARK}/sources"):
            self._read(store, log)
        return sum(size for path, size in self._there() if path not in self._taken)

    def _read(self, store: Store, log: str) -> None:
        """What is new in a log: numbered files, now and then put together in one."""
        last = self._last.get(log, -1)
        whole = [n for n in numbers(store, log, ".compact") if n > last][-1:]
        single = [n for n in numbers(store, log) if n > max([last, *whole])]
        for path in [*(f"{log}/{n}.compact" for n in whole), *(f"{log}/{n}" for n in single)]:
            for line in (store.get(path) or b"").decode().splitlines()[1:]:
                entry = json.loads(line)
                if "path" in entry:
                    self._taken.add(unquote(urlparse(entry["path"]).path))
        self._last[log] = max([last, *whole, *single])

    def _there(self) -> Iterator[tuple[str, int]]:
        for folder in self.folders:
            root = folder.path.absolute()
            for directory, _, names in os.walk(root):
                for path in (Path(directory) / name for name in names):
                    if counts(path.relative_to(root), self.format):
                        try:
                            yield str(path), path.stat().st_size
                        except FileNotFoundError:  # it was moved away meanwhile
                            continue


def behind(progress: Any) -> int | None:
    """The rows of topics that Spark had not read, by the progress of a micro-batch; None if it does not say."""
    if progress is None:
        return None
    found = [_rows(source) for source in progress["sources"] if "kafka" in str(source["description"]).lower()]
    known = [n for n in found if n is not None]
    return sum(known) if known else None


def _rows(source: Any) -> int | None:
    latest, end = (_offsets(source[name]) for name in ("latestOffset", "endOffset"))
    if latest is None or end is None:
        return None
    return sum(max(0, n - end.get(place, 0)) for place, n in latest.items())


def _offsets(text: Any) -> dict[tuple[str, str], int] | None:
    found = json.loads(text) if isinstance(text, str) and text else text
    if not isinstance(found, dict):
        return None
    return {(topic, part): int(n) for topic, parts in found.items() for part, n in parts.items()}
