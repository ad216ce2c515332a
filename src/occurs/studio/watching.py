"""Changes of the files that come from outside: another editor, git."""

from __future__ import annotations

import asyncio

from anyio import to_thread

from occurs.studio.files import Folder
from occurs.studio.shapes import File
from occurs.studio.updates import Updates

#: seconds between two looks at the directory
EVERY = 1.0


class Watcher:
    """Looks at the directory while somebody follows the updates, and publishes what differs as ``file``.

    The first look is at the start of the server, so that no change is missed that comes before the first reader.
    """

    def __init__(self, folder: Folder, updates: Updates):
        self._folder = folder
        self._updates = updates
        #: path -> ETag as it was published or seen last
        self._seen: dict[str, str] | None = None

    def changed(self, path: str, etag: str | None) -> None:
        """Publish a change that the studio itself has made; ``etag`` None: the file is gone."""
        if self._seen is not None:
            if etag is None:
                self._seen.pop(path, None)
            else:
                self._seen[path] = etag
        self._updates.publish("file", {"path": path, "etag": etag})

    async def run(self) -> None:
        """Look again and again."""
        while True:
            if self._updates.readers or self._seen is None:
                before = None if self._seen is None else dict(self._seen)
                found = {f.path: f.etag for f in await to_thread.run_sync(self._look)}
                self._compare(before, found)
            await asyncio.sleep(EVERY)

    def _look(self) -> list[File]:
        return self._folder.listing(set())

    def _compare(self, before: dict[str, str] | None, found: dict[str, str]) -> None:
        """Publish what is not as ``before``; what the studio wrote since the look began is looked at the next time."""
        if before is None or self._seen is None:
            self._seen = found
            return
        for path in sorted(before.keys() | found.keys()):
            if before.get(path) != found.get(path) and self._seen.get(path) == before.get(path):
                self.changed(path, found.get(path))
