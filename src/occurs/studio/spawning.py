"""How the processes of the studio are started: nothing of the project is imported, and one thread for numbers.

On Linux they are forked from the engine process (:mod:`occurs.studio.engine`), elsewhere each loads what it needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from occurs.studio.engine import LONGEST

#: on other systems there is no fork, or libraries of the system do not survive one
FORKS = sys.platform == "linux"
_ONE_THREAD = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def command(module: str, *arguments: str) -> list[str]:
    """The command of a module; ``-P``: the working directory, which may be the project, is not a place of modules."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """The environment of this process without the token; paths of modules are those of this working directory."""
    out = {k: v for k, v in os.environ.items() if k != "OCCURS_STUDIO_TOKEN"}
    if "PYTHONPATH" in out:
        paths = filter(None, out["PYTHONPATH"].split(os.pathsep))
        out["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths))
    return {**out, **dict.fromkeys(_ONE_THREAD, "1"), **more}


class Process:
    """A process: streams from and to it.  ``end`` kills it with all that it has started."""

    def __init__(self, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.stdout, self.stdin = stdout, stdin
        self.pid = 0
        #: its exit status once it has ended; negative: the signal that ended it
        self.returncode: int | None = None
        self.end: Callable[[], None] = lambda: None
        self._ended = asyncio.Event()

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        if self.returncode is None:
            self.end()

    async def wait(self) -> int:
        """Wait until it has ended; returns its exit status."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def ended(self, status: int) -> None:
        """It has ended."""
        self.returncode = status
        self.stdin.close()
        self._ended.set()


class Processes:
    """The processes of one studio.  All methods belong to one event loop."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._starting = asyncio.Lock()
        self._over = False

    async def start(self, module: str, folder: Path, longest: int, **more: str) -> Process:
        """Start a module in a folder, with ``more`` in its environment.  ``longest``: of its lines.  Raises OSError."""
        if not FORKS:
            return await _started(module, folder, longest, more)
        async with self._starting:
            if self._over:
                raise OSError("the server ends")
            if self._engine is None or self._engine.gone:
                self._engine = await Engine.start()
        return await self._engine.fork(module, folder, longest, environment(**more))

    def end(self) -> None:
        """End those that were forked; nothing starts any more."""
        self._over = True
        if self._engine is not None:
            self._engine.kill()

    async def close(self) -> None:
        """End those that were forked, and wait until they have ended."""
        async with self._starting:
            self.end()
        if self._engine is not None:
            await self._engine.wait()


def _errors() -> int | None:
    """Where errors of a process go: to those of the server if tracebacks are wanted."""
    return None if os.environ.get("OCCURS_TRACEBACK") else asyncio.subprocess.DEVNULL


def _kill(pid: int) -> None:
    """End a process that leads a group, with its group."""
    with contextlib.suppress(OSError):  # it has ended
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


async def _started(module: str, folder: Path, longest: int, more: dict[str, str]) -> Process:
    """A process that loads what it needs itself."""
    found = await asyncio.create_subprocess_exec(
        *command(module), cwd=folder, env=environment(**more), limit=longest, start_new_session=True,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=_errors(),
    )  # fmt: skip
    assert found.stdout is not None
    assert found.stdin is not None
    process = Process(found.stdout, found.stdin)
    process.pid, process.end = found.pid, lambda: _kill(found.pid)

    async def waited() -> None:
        status = await found.wait()
        _kill(found.pid)  # what it has started
        process.ended(status)

    task = asyncio.ensure_future(waited())
    _WAITING.add(task)
    task.add_done_callback(_WAITING.discard)
    return process


#: tasks that nobody else holds
_WAITING: set[asyncio.Task[None]] = set()


class Engine:
    """The engine process as the server sees it.  What it has forked ends with it: nobody else would see their end."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket) -> None:
        self._process, self._socket = process, ours
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[int]] = {}
        self._running: dict[int, Process] = {}
        self.gone = False
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls) -> Engine:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with its:
            process = await asyncio.create_subprocess_exec(
                *command("occurs.studio.engine", str(its.fileno())), env=environment(), pass_fds=[its.fileno()],
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=_errors(),
                start_new_session=True,
            )  # fmt: skip
        return cls(process, ours)

    async def fork(self, module: str, folder: Path, longest: int, environment: dict[str, str]) -> Process:
        id = next(self._ids)
        ours, its = socket.socketpair()
        with its:
            process = Process(*await asyncio.open_unix_connection(sock=ours, limit=longest))
            process.end = partial(self._end, id)
            self._running[id] = process
            started = self._asked[id] = asyncio.get_running_loop().create_future()
            try:
                request = {"id": id, "module": module, "folder": str(folder), "environment": environment}
                self._send(request, its.fileno())
                process.pid = await started
            except BaseException:
                process.stdin.close()  # if it starts after all, its input has ended
                raise
            finally:
                del self._asked[id]
        return process

    def _end(self, id: int) -> None:
        with contextlib.suppress(OSError):  # the engine process has ended, and so has what it forked
            self._send({"id": id, "kill": True})

    def _send(self, message: dict[str, Any], *files: int) -> None:
        if self.gone:
            raise OSError("the engine has ended")
        socket.send_fds(self._socket, [json.dumps(message).encode()], files)

    async def _read(self) -> None:
        with contextlib.suppress(ConnectionError):
            while message := await asyncio.get_running_loop().sock_recv(self._socket, LONGEST):
                told = json.loads(message)
                if "ended" in told:
                    self._running.pop(told["id"]).ended(told["ended"])
                elif told["id"] in self._asked and not self._asked[told["id"]].done():
                    self._asked[told["id"]].set_result(told["pid"])
        self.gone = True
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(OSError("the engine does not load"))
        for process in self._running.values():
            if process.pid:
                _kill(process.pid)
            process.ended(-signal.SIGKILL)
        self._running.clear()
        self._socket.close()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()  # it may be loading, and read nothing

    async def wait(self) -> None:
        await self._process.wait()
        await self._reading
