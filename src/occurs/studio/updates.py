"""The one stream of server-sent events: what happened to files, jobs and workers, resumed by ``Last-Event-ID``."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import StreamingResponse

from occurs.studio.http import Refused
from occurs.studio.limits import LIMITS

#: seconds between two comments
BEAT = 15.0


class Updates:
    """Events with numbers, the newest remembered, and the readers that wait for more.

    ``beat``: seconds between two comments, which keep a connection open.
    """

    def __init__(self, beat: float = BEAT) -> None:
        self._beat = beat
        #: of this start of the server: numbers of another one mean nothing
        self._start = secrets.token_hex(4)
        self._events: deque[tuple[int, bytes]] = deque(maxlen=LIMITS.updates)
        self._last = 0
        self._waiting: set[asyncio.Event] = set()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def started(self) -> None:
        """Called in the event loop that readers will run in."""
        self._loop = asyncio.get_running_loop()

    @property
    def readers(self) -> int:
        """How many readers there are now."""
        return len(self._waiting)

    def publish(self, event: str, data: Any) -> None:
        """Send ``data`` (plain data or a shape) to all readers.  May be called from any thread."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if self._loop is None or here is self._loop:
            self._add(event, data)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._add, event, data)

    def close(self) -> None:
        """Say ``bye`` to all readers and end their streams."""
        if not self._closed:
            self.publish("bye", {})
            self._closed = True
            self._wake()

    def stream(self, request: Request) -> StreamingResponse:
        """The answer to ``GET updates``.  Refuses a reader beyond the limit (409)."""
        if self.readers >= LIMITS.readers:
            raise Refused(409, "busy", f"there are already {LIMITS.readers} readers of updates", "close other tabs")
        return StreamingResponse(self._lines(request.headers.get("last-event-id")), media_type="text/event-stream")

    async def _lines(self, after: str | None) -> AsyncIterator[bytes]:
        signal = asyncio.Event()
        self._waiting.add(signal)
        try:
            # the number of now, so that a reader whose line is cut before the first event misses nothing
            at = self._last
            yield f"id: {self._start}-{at}\n: connected\n\n".encode()
            if after is not None:
                start, _, number = after.rpartition("-")
                if start == self._start and number.isdecimal() and self._oldest <= int(number) + 1 <= at + 1:
                    at = int(number)
                else:
                    yield self._reload(at)
            while True:
                if at + 1 < self._oldest:  # this reader is too slow
                    at = self._last
                    yield self._reload(at)
                for last, line in [e for e in self._events if e[0] > at]:
                    at = last
                    yield line
                if self._closed:
                    return
                signal.clear()
                if at < self._last:
                    continue
                try:
                    async with asyncio.timeout(self._beat):
                        await signal.wait()
                except TimeoutError:
                    yield b": beat\n\n"
        finally:
            self._waiting.discard(signal)

    @property
    def _oldest(self) -> int:
        """The number of the oldest event that is remembered, or of the next one."""
        return self._events[0][0] if self._events else self._last + 1

    def _reload(self, at: int) -> bytes:
        return f"id: {self._start}-{at}\nevent: reload\ndata: {{}}\n\n".encode()

    def _add(self, event: str, data: Any) -> None:
        if self._closed:
            return
        self._last += 1
        text = msgspec.json.encode(data).decode()
        line = f"id: {self._start}-{self._last}\nevent: {event}\ndata: {text}\n\n"
        self._events.append((self._last, line.encode()))
        self._wake()

    def _wake(self) -> None:
        for signal in self._waiting:
            signal.set()
