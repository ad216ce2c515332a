"""A worker as the server sees it: a process that answers one JSON line after another, within a limit of time."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from occurs.studio.http import Refused, problems_refused
from occurs.studio.limits import LIMITS
from occurs.studio.shapes import Problem
from occurs.studio.spawning import Process, Processes

#: seconds that a worker may take to load the engine
START = 120.0
#: the longest answer, in bytes
_LONGEST = 256 << 20
#: seconds that the exit status of a process may take once its output has ended
_AT_ONCE = 5.0
#: what a process returns that somebody has killed
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM) if sys.platform != "win32" else ()


class Reply(msgspec.Struct):
    """A line of a worker."""

    id: int = 0
    ready: bool = False
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, Any] | None = None


class Ended(Exception):
    """A worker cannot go on; why."""


class Worker:
    """One process of a module.  ``name``: in messages."""

    def __init__(self, processes: Processes, module: str, name: str, root: Path):
        self._processes = processes
        self._module = module
        self._name = name
        self._root = root
        self._process: Process | None = None
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return self._process.pid if self._process and self._process.returncode is None else None

    @property
    def killed_from_outside(self) -> bool:
        """Did somebody else kill the process that has ended?"""
        return self._process is not None and self._process.returncode in _FROM_OUTSIDE

    async def start(self) -> None:
        """Start a process, and wait until it is ready.  Raises Ended."""
        try:
            async with asyncio.timeout(START):
                self._process = await self._processes.start(
                    self._module, self._root, _LONGEST, OCCURS_STUDIO_MEMORY=str(LIMITS.worker_memory)
                )
                if not (await self._line()).ready:
                    raise ValueError("its first line is not the expected one")
        except (OSError, TimeoutError, EOFError, ValueError, msgspec.MsgspecError) as error:
            raise Ended(f"the {self._name} does not start: {error or type(error).__name__}") from None

    async def ask(self, call: str, args: dict[str, Any], seconds: float) -> Reply:
        """The answer to a call.  ``seconds``: the time that it may take.  Raises Ended."""
        process = self._process
        assert process is not None
        self._number += 1
        line = msgspec.json.encode({"id": self._number, "call": call, "args": args}) + b"\n"
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(line)
                await process.stdin.drain()
                reply = await self._line()
        except TimeoutError:
            raise Ended(f"the call took longer than {seconds:.0f} s") from None
        except (OSError, EOFError):
            with contextlib.suppress(TimeoutError):  # the exit status says who has ended it
                await asyncio.wait_for(process.wait(), _AT_ONCE)
            raise Ended(f"the {self._name} stopped unexpectedly") from None
        except (ValueError, msgspec.MsgspecError):
            raise Ended(f"the {self._name} sent an unreadable answer") from None
        if reply.id != self._number:
            raise Ended(f"the {self._name} answered another call")
        return reply

    def kill(self) -> None:
        """End the process at once; the call that it works on fails."""
        if self._process:
            self._process.kill()

    async def wait(self) -> None:
        """Wait until the process has ended."""
        if self._process:
            await self._process.wait()

    async def _line(self) -> Reply:
        assert self._process is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError("it ended")
        return msgspec.json.decode(line, type=Reply)


def refused(error: dict[str, Any]) -> Refused:
    """What a worker says against a call: problems of the rules, or a bug of ours."""
    problems = msgspec.convert(error.get("problems") or [], list[Problem])
    if problems:
        return problems_refused(problems)
    return Refused(503, "worker", str(error.get("message")), error.get("hint"))
