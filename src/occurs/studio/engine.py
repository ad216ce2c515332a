"""The engine process: it loads the engine once, and the other processes of a studio are forked from it.

``python -m occurs.studio.engine FD`` reads requests from a socket and answers them there, one message of JSON each:
``{"id": 1, "module": .., "folder": .., "environment": {..}}`` with a socket for its standard input and output ->
``{"id": 1, "pid": ..}``, and ``{"id": 1, "ended": status}`` when that process has ended.  ``{"id": 1, "kill": true}``
ends it with all that it has started.  The engine process ends when the server closes the socket.

To load the engine takes seconds, to fork tens of milliseconds.  A process may fork while it has no threads that hold
locks: nothing here starts one, and the only one, of Arrow's allocator, lets go of its locks for a fork.
:mod:`occurs.studio.spawning` is the side of the server, and knows systems without fork.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from occurs.studio.files import LANGUAGES

#: the longest message, in bytes
LONGEST = 1 << 20


def main() -> None:
    """Serve the socket whose number is the argument."""
    serve(socket.socket(fileno=int(sys.argv[1])), load())


def serve(server: socket.socket, loading: Iterator[None]) -> None:
    """Answer requests, also between the steps of ``loading``.  Returns in a forked process at its end."""
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    loaded = False
    while True:
        loaded = loaded or next(loading, True) is True
        ready = select.select([server, woken], [], [], None if loaded else 0)[0]
        if woken in ready:
            woken.recv(LONGEST)
        if server in ready:
            message, sockets, _, _ = socket.recv_fds(server, LONGEST, 1)
            if not message:
                return
            request = json.loads(message)
            if "kill" in request:
                for pid in [pid for pid, id in running.items() if id == request["id"]]:
                    _kill(pid)
            elif pid := fork():
                os.close(sockets[0])
                running[pid] = request["id"]
                _tell(server, {"id": request["id"], "pid": pid})
            else:
                for one in (server, woken, wake):
                    one.close()
                _run(request, sockets[0])
                return
        for pid, status in _ended(running):
            _tell(server, {"id": running.pop(pid), "ended": status})


def fork() -> int:
    """``os.fork``, without Python's warning of threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _tell(server: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):  # the server is gone, which the next read says
        server.send(json.dumps(message).encode())


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # the process has no group of its own yet
        os.kill(pid, signal.SIGKILL)


def _ended(running: dict[int, int]) -> list[tuple[int, int]]:
    """The processes that have ended, with their exit status; negative: the signal that ended it."""
    out = []
    for pid in running:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            _kill(pid)  # what it has started; until the next line no other process can have its number
            out.append((pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    return out


def _run(request: dict[str, Any], pipe: int) -> None:
    """Be the process that was asked for."""
    os.setsid()  # Ctrl-C is for the server
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(pipe, 0)
    os.dup2(pipe, 1)
    os.close(pipe)
    os.environ.clear()
    os.environ.update(request["environment"])
    with suppress(OSError):  # its name among the processes, where the system has such a file
        Path("/proc/self/comm").write_text(request["module"].rpartition(".")[2])
    os.chdir(request["folder"])
    importlib.import_module(request["module"]).main()


def load() -> Iterator[None]:
    """Load the engine in steps: what the language worker needs comes first, then all that runs and nets may need."""
    from occurs import services
    from occurs.lean import postpone_pandas

    services.words()
    services.check({})
    postpone_pandas()
    gc.freeze()  # the collector of a forked process would write into memory that it shares
    yield
    for package in map(importlib.import_module, ("occurs.services", "occurs.languages", "occurs.operators")):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
            yield
    for name in ("occurs.hosts.local", "occurs.studio.job_worker", "occurs.studio.net_worker"):
        importlib.import_module(name)
        yield
    # a parser makes its lexers when it first needs them: the example has texts in the languages
    for file in (Path(__file__).parent / "examples" / "flights").iterdir():
        if file.suffix in LANGUAGES:
            services.check({file.name: file.read_text("utf-8")})
            yield
    gc.freeze()


if __name__ == "__main__":
    main()
