"""One engine process for the studios of many tests: to load the engine takes longer than most of them.

``python shared_engine.py serve PATH`` listens at a socket until its standard input ends; each connection gets a fork of
the loaded engine, which serves it as the engine process of one studio.  ``python shared_engine.py PATH ...`` is the
command ``occurs ...``, whose studio connects there.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import signal
import socket
import sys
from typing import Any

from occurs.studio import engine, spawning


def serve(path: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    for _ in engine.load():
        pass
    listener.listen(64)
    print("ready", flush=True)
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            return
        server, _ = listener.accept()
        if engine.fork() == 0:
            listener.close()
            engine.serve(server, iter(()))
            return
        server.close()


class Shared:
    """Stands for the process of the engine, which ends when nobody is connected."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)

    async def wait(self) -> None:
        """It has ended for us."""


def command(path: str, arguments: list[str]) -> None:
    async def start(cls: Any) -> Any:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        await asyncio.to_thread(server.connect, path)
        server.setblocking(False)
        return cls(Shared(server), server)

    spawning.Engine.start = classmethod(start)  # type: ignore[assignment]
    from occurs.cli import main

    main(arguments)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        command(sys.argv[1], sys.argv[2:])
