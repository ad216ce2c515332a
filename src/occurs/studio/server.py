"""Running the server: its socket, its one line on stdout, and its end within two seconds."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import uvicorn

from occurs.errors import UsageProblem
from occurs.studio.app import Studio, create

HOST = "127.0.0.1"
#: the port if none is named, and how many are tried from there
PORT, TRIED = 8321, 20
#: characters of a token at least
SHORTEST = 16


class Server(uvicorn.Server):
    """A server that says when it listens, and ends quietly at the first Ctrl-C or SIGTERM."""

    def __init__(self, config: uvicorn.Config, studio: Studio, url: str, *, browser: bool):
        super().__init__(config)
        self._studio = studio
        self._url = url
        self._browser = browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        sys.stdout.write(f"{self._url}\n")
        sys.stdout.flush()
        if self._browser:
            # a browser of the terminal does not return, and must not keep the server from ending
            threading.Thread(target=webbrowser.open, args=[self._url], daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._studio.updates.close()
        self._studio.processes.end()
        await self._studio.languages.close()
        await self._studio.nets.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True  # a second Ctrl-C changes nothing: files are removed, too

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(root: Path, port: int | None, *, browser: bool) -> None:
    """Serve a directory until Ctrl-C or SIGTERM.  ``port`` None: the first free one.  Raises UsageProblem."""
    token = os.environ.get("OCCURS_STUDIO_TOKEN")
    if token is None:
        token = secrets.token_urlsafe(32)
    elif len(token) < SHORTEST:
        raise UsageProblem.of("bad-option", f"OCCURS_STUDIO_TOKEN has fewer than {SHORTEST} characters")
    pages = pages_folder()
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
    if not os.environ.get("OCCURS_TRACEBACK"):
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with listening(port) as listener:
        port = listener.getsockname()[1]
        studio = Studio(root, token, port, pages)
        config = uvicorn.Config(
            create(studio),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_keep_alive=65,
            timeout_graceful_shutdown=1,
        )
        url = f"http://{HOST}:{port}/?token={quote(token, safe='')}"
        Server(config, studio, url, browser=browser).run([listener])


def pages_folder() -> Path:
    """Where the built pages are.  Raises UsageProblem (``missing-pages``)."""
    built = Path(__file__).parent / "static"
    if not (built / "index.html").is_file() and "OCCURS_STUDIO_PAGES" in os.environ:
        built = Path(os.environ["OCCURS_STUDIO_PAGES"])
    if not (built / "index.html").is_file():
        text = "the pages of the studio are not built"
        raise UsageProblem.of("missing-pages", text, hint="run make studio-ui (Node 20.19 or later)")
    return built


def listening(port: int | None) -> socket.socket:
    """A socket of this machine alone.  Raises UsageProblem (``port-taken``)."""
    ports = range(PORT, PORT + TRIED) if port is None else [port]
    for one in ports:
        # asyncio sends at once only on sockets that say that they are TCP; others wait 40 ms with every answer
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name != "nt":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, one))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            why = error.strerror or str(error)
    if port is None:
        text = f"the ports {PORT} to {PORT + TRIED - 1} are taken"
        raise UsageProblem.of("port-taken", text, hint="name a free one, --port 0 takes any")
    raise UsageProblem.of("port-taken", f"port {port}: {why}", hint="--port 0 takes any free port")
