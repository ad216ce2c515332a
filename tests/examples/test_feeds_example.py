"""The example of sources on the network: an HTTP address and a WebSocket of this machine, pulled by pipes."""

from __future__ import annotations

import base64
import hashlib
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from occurs import pipes

FOLDER = Path(__file__).parents[2] / "examples" / "feeds" / "src"


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(FOLDER)
    yield __import__("feeds")
    sys.modules.pop("feeds", None)


class Answers(BaseHTTPRequestHandler):
    number = 0

    def do_GET(self) -> None:
        Answers.number += 1
        self.send_response(200)
        self.end_headers()
        lines = b'{"price": 2}\r\n{"price": 3}\n' if self.path == "/lines" else b'{"price": %d}' % Answers.number
        self.wfile.write(lines)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    Answers.number = 0
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def prices(texts: Iterator[str]) -> list[object]:
    text = pipes.source("message", type=str)
    return list(pipes.fn.json_path(text.json(), "$.price").pull(texts))


def test_lines_and_polling(feeds: ModuleType, site: str) -> None:
    assert prices(feeds.http_lines(f"{site}/lines")) == [2, 3]
    assert prices(feeds.http_poll(f"{site}/now", 0.01, times=3)) == [2, 3, 4]
    with pytest.raises(ValueError, match="must begin with http"):
        next(feeds.http_lines("file:///etc/hosts"))


def frame(code: int, data: bytes, last: bool = True) -> bytes:
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
    return bytes([(128 if last else 0) | code]) + size + data


def serve(server: socket.socket, frames: list[bytes], got: list[bytes]) -> None:
    line, _ = server.accept()
    with line:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += line.recv(4096)
        key = asked.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        head = b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + base64.b64encode(digest)
        line.sendall(head + b"\r\n\r\n" + b"".join(frames))
        if frames[-1][0] & 15 == 8:
            while data := line.recv(4096):
                got.append(data)


def talk(frames: list[bytes], read: object) -> tuple[object, bytes]:
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server, frames, got), daemon=True)
        thread.start()
        found = read(f"ws://127.0.0.1:{server.getsockname()[1]}/prices?x=1")
        thread.join(5)
    return found, b"".join(got)


def test_messages_of_a_websocket(feeds: ModuleType) -> None:
    long = b'{"price": 5, "note": "' + b"x" * 200 + b'"}'
    frames = [frame(1, b'{"price"', last=False), frame(9, b"hi"), frame(0, b": 4}"), frame(2, b"\xff"),
              frame(1, long), frame(8, b"\x03\xe8")]  # fmt: skip
    found, answers = talk(frames, lambda url: prices(feeds.websocket(url)))
    assert found == [4, 5]
    assert [answers[0] & 15, answers[8] & 15] == [10, 8]  # a pong of two bytes, then the close


def test_a_websocket_that_breaks_off(feeds: ModuleType) -> None:
    def read(url: str) -> None:
        with pytest.raises(ConnectionError, match="broken off"):
            list(feeds.websocket(url))

    talk([frame(1, b"{}")], read)
    with pytest.raises(ValueError, match="must begin with ws"):
        next(feeds.websocket("http://x"))
