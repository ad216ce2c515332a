"""The open nets as the server sees them: one worker keeps them, and answers one call after another.

The worker starts with the first net, or before it when a page shows EPL.  If it ends, the nets are gone, and whoever
asks for one is told why.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from occurs.studio.http import Refused
from occurs.studio.limits import LIMITS
from occurs.studio.spawning import Processes
from occurs.studio.updates import Updates
from occurs.studio.workers import Ended, Reply, Worker, refused

#: closed nets of which it is remembered why they are closed
_REMEMBERED = 100
_AGAIN = "open it again"
#: seconds between the first check of a page and the start of the worker: the page has other things to ask at first
_QUIET = 0.5


class Nets:
    """The nets of a project whose directory is ``root``.  All methods belong to one event loop."""

    def __init__(self, root: Path, updates: Updates, processes: Processes):
        self._updates = updates
        self._worker = Worker(processes, "occurs.studio.net_worker", "net worker", root)
        self._turn = asyncio.Lock()
        #: the names of open nets by id, the one that was asked least recently first
        self._open: OrderedDict[str, str] = OrderedDict()
        self._why: OrderedDict[str, str] = OrderedDict()
        self._watching: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process of the worker, while there is one."""
        return self._worker.pid

    def prepare(self) -> None:
        """Start the worker soon, once: a net is likely to be opened, and should not wait for the engine."""
        if self._preparing is None and not self._closed:
            self._preparing = asyncio.create_task(self._prepared())

    async def open(self, call: str, name: str, **args: Any) -> tuple[str, Mapping[str, msgspec.Raw]]:
        """Open a net; returns its id and the members of the answer.  One net too many closes the oldest one."""
        async with self._turn:
            await self._started()
            id = uuid.uuid4().hex[:12]
            raw = await self._asked(call, {"id": id, **args})
            self._open[id] = name
            while len(self._open) > LIMITS.nets:
                oldest = next(iter(self._open))
                await self._asked("close", {"id": oldest})
                self._forget(oldest, f"the net was closed, because {LIMITS.nets} newer ones are open")
        return id, msgspec.json.decode(raw, type=dict[str, msgspec.Raw])

    def name(self, id: str) -> str:
        """The name of an open net.  Refuses others (404)."""
        if id not in self._open:
            raise Refused(404, "unknown-net", self._why.get(id, "there is no such net"), _AGAIN)
        return self._open[id]

    async def ask(self, id: str, call: str, /, **args: Any) -> msgspec.Raw:
        """A call of an open net.  Refuses others (404)."""
        self.name(id)
        async with self._turn:
            self.name(id)
            self._open.move_to_end(id)
            return await self._asked(call, {"id": id, **args})

    async def forget(self, id: str) -> None:
        """Close a net.  Refuses one that is not open (404)."""
        await self.ask(id, "close")
        self._forget(id, "the net was closed")

    async def close(self) -> None:
        """Kill the worker."""
        self._closed = True
        self._worker.kill()
        for task in (self._preparing, self._watching):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        await self._worker.wait()

    # --- inside -------------------------------------------------------------------------------------------------------

    async def _prepared(self) -> None:
        await asyncio.sleep(_QUIET)
        async with self._turn:
            with contextlib.suppress(Refused):  # whoever opens a net is told
                await self._started()

    async def _started(self) -> None:
        if self._closed:
            raise Refused(503, "worker", "the server ends")
        if self._worker.pid is None:
            self._lost("the net worker stopped unexpectedly")
            try:
                await self._worker.start()
            except Ended as error:
                self._worker.kill()
                raise Refused(503, "worker", str(error), "try again") from None
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Tell of an end that no call waits for."""
        await self._worker.wait()
        if not self._turn.locked():
            self._lost("the net worker stopped unexpectedly")

    async def _asked(self, call: str, args: dict[str, Any]) -> msgspec.Raw:
        try:
            reply: Reply = await self._worker.ask(call, args, LIMITS.net_seconds)
        except Ended as error:
            self._worker.kill()
            await self._worker.wait()
            self._lost(str(error))
            raise Refused(503, "worker", f"{error}; all nets are gone", _AGAIN) from None
        except asyncio.CancelledError:
            self._worker.kill()  # its answer would be taken for that of the next call
            raise
        if reply.error is not None:
            raise refused(reply.error)
        return reply.result

    def _lost(self, why: str) -> None:
        """All nets are gone with their process."""
        if self._open and not self._closed:
            text = f"{why}; all nets are gone"
            self._updates.publish("worker", {"worker": "nets", "state": "ended", "message": text})
        for id in list(self._open):
            self._forget(id, f"the net is gone: {why}")

    def _forget(self, id: str, why: str) -> None:
        self._open.pop(id, None)
        self._why[id] = why
        while len(self._why) > _REMEMBERED:
            self._why.popitem(last=False)
