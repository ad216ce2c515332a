"""A started studio for tests: the real server, a client with its token, a reader of its updates."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from occurs.studio import spawning

LABOR = Path(__file__).parents[1] / "src" / "occurs" / "studio" / "examples" / "labor"
_SHARED = Path(__file__).with_name("shared_engine.py")
TOKEN = "a-token-of-the-tests-0123456789"


def server_command(folder: Path, *arguments: str, engine: str = "") -> list[str]:
    """``occurs studio`` on a folder; ``engine``: the socket of the engine that it uses, in the place of its own."""
    occurs = [str(_SHARED), engine] if engine else ["-m", "occurs.cli"]
    return [sys.executable, "-P", *occurs, "studio", str(folder), "--no-browser", *arguments]


@functools.cache
def shared_engine() -> str:
    """The socket of the engine process that studios of this process share; it ends with this process."""
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "engine")
    process = subprocess.Popen(
        [sys.executable, "-P", str(_SHARED), "serve", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=spawning.environment(OCCURS_KERNELS="plain"), text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def end() -> None:
        process.communicate(timeout=60)
        folder.cleanup()

    atexit.register(end)
    return path


class Started:
    """A running studio on ``folder``.  ``url``: of the server; ``api``: a client of ``/api/v1`` with the token.

    ``engine``: the socket of a shared engine; without one the studio has its own, whose processes are below its own.
    """

    def __init__(self, folder: Path, pages: Path, *arguments: str, engine: str = "", **environment: str):
        self.folder = folder
        self.token = TOKEN
        settings = {"OCCURS_STUDIO_TOKEN": TOKEN, "OCCURS_STUDIO_PAGES": str(pages), "OCCURS_KERNELS": "plain"}
        self.process = subprocess.Popen(
            server_command(folder, *(arguments or ("--port", "0")), engine=engine),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **settings, **environment},
            cwd=folder,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"(http://127\.0\.0\.1:(\d+))/\?token=(\S+)\n", line)
        assert found, (line, self.process.communicate(timeout=10))
        self.url, self.port = found[1], int(found[2])
        self.api = self.client()

    def client(self, **settings: Any) -> httpx.Client:
        """Another client; without ``headers`` it has the token."""
        settings = {"headers": {"Authorization": f"Bearer {self.token}"}, "timeout": 60, **settings}
        return httpx.Client(base_url=f"{self.url}/api/v1/", **settings)

    def updates(self, client: httpx.Client | None = None, **headers: str) -> Updates:
        """A reader of the stream of updates; close it after use (it is a context manager)."""
        return Updates(client or self.api, headers)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End the server; returns its exit status, the rest of its output and its errors."""
        self.api.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, out, err


class Updates:
    """The stream of updates as (event, data) with the ids that came."""

    def __init__(self, client: httpx.Client, headers: dict[str, str]):
        self._stream = client.stream("GET", "updates", headers={k.replace("_", "-"): v for k, v in headers.items()})
        self.last_id: str | None = None

    def __enter__(self) -> Updates:
        self.response = self._stream.__enter__()
        self._lines = self.response.iter_lines()
        if self.response.status_code == 200:
            self._block()  # the server has this reader now
        return self

    def __exit__(self, *of: Any) -> None:
        self._stream.__exit__(*of)

    def _block(self) -> dict[str, str]:
        out: dict[str, str] = {}
        for line in self._lines:
            if not line:
                break
            name, _, value = line.partition(":")
            out[name or "comment"] = value.strip()
        else:
            out["comment"] = "end"
        self.last_id = out.get("id", self.last_id)
        return out

    def next(self, *events: str) -> tuple[str, Any]:
        """The next event, of these names if some are given."""
        while True:
            block = self._block()
            if "event" in block and (not events or block["event"] in events):
                return block["event"], json.loads(block["data"])
            assert block.get("comment") != "end", "the stream has ended"

    def tag_of(self, path: str) -> str | None:
        """The ETag that the next change of a file gives it; others are passed over."""
        while (found := self.next("file")[1])["path"] != path:
            pass
        tag: str | None = found["etag"]
        return tag


def named(folder: Path, name: str) -> list[int]:
    """The processes of the studio on a folder that run a module of this name."""
    out = []
    for one in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if one.name.isdigit() and (one / "comm").read_text() == f"{name}\n" and (one / "cwd").samefile(folder):
                out.append(int(one.name))
    return out


def until(true: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it does not become true"
        time.sleep(0.02)
    return found
