"""Sources on the network for pipes: texts from an HTTP address and from a WebSocket.

A source is an iterator of texts, one per item, which ``pipe.pull`` takes::

    from occurs import pipes
    from feeds import websocket

    text = pipes.source("message", type=str)
    price = pipes.fn.json_path(text.json(), "$.price")
    for value in price.pull(websocket("ws://localhost:8080/prices")):
        print(value)

They are not part of Occurs: a program that reads the network decides itself about retries, credentials and limits.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import time
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from occurs import pipes

#: the most bytes of a message or of a line
MOST = 1 << 20
_KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10


def http_lines(url: str, timeout: float = 30) -> Iterator[str]:
    """The lines of the answer of an HTTP address, as they arrive.

    Raises ValueError for another scheme than http and https, and if a line is longer than ``MOST`` bytes.
    """
    _scheme(url, "http", "https")
    with urlopen(Request(url), timeout=timeout) as answer:
        while line := answer.readline(MOST + 1):
            if len(line) > MOST:
                raise ValueError(f"{url}: a line has more than {MOST} bytes")
            yield line.decode("utf-8").rstrip("\r\n")


def http_poll(url: str, every: float, times: int | None = None, timeout: float = 30) -> Iterator[str]:
    """The body of an HTTP address, fetched every so many seconds, ``times`` times (None: without end)."""
    _scheme(url, "http", "https")
    number = 0
    while times is None or number < times:
        if number:
            time.sleep(every)
        with urlopen(Request(url), timeout=timeout) as answer:
            body = answer.read(MOST + 1)
        if len(body) > MOST:
            raise ValueError(f"{url}: the answer has more than {MOST} bytes")
        yield body.decode("utf-8")
        number += 1


def websocket(url: str, timeout: float = 30) -> Iterator[str]:
    """The text messages of a WebSocket (RFC 6455), until it is closed; messages of bytes are passed over.

    Raises ConnectionError if the server refuses the connection or breaks it off.
    """
    place = _scheme(url, "ws", "wss")
    secure = place.scheme == "wss"
    with socket.create_connection((place.hostname or "", place.port or (443 if secure else 80)), timeout) as plain:
        line = ssl.create_default_context().wrap_socket(plain, server_hostname=place.hostname) if secure else plain
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        reader = _Reader(line)
        _shake_hands(line, reader, place.netloc, path)
        yield from _messages(line, reader)


def _scheme(url: str, *allowed: str):
    place = urlsplit(url)
    if place.scheme not in allowed:
        raise ValueError(f"{url}: the address must begin with {' or '.join(f'{a}://' for a in allowed)}")
    return place


class _Reader:
    def __init__(self, line: socket.socket) -> None:
        self._file = line.makefile("rb")

    def exactly(self, n: int) -> bytes:
        found = self._file.read(n)
        if len(found) < n:
            raise ConnectionError("the WebSocket was broken off")
        return found

    def line(self) -> str:
        return self._file.readline(MOST).decode("latin-1").strip()


def _shake_hands(line: socket.socket, reader: _Reader, host: str, path: str) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]  # fmt: skip
    line.sendall("\r\n".join(lines).encode())
    status = reader.line()
    headers = {}
    while text := reader.line():
        name, _, value = text.partition(":")
        headers[name.strip().lower()] = value.strip()
    accepted = base64.b64encode(hashlib.sha1((key + _KEY).encode()).digest()).decode()
    if " 101" not in status or headers.get("sec-websocket-accept") != accepted:
        raise ConnectionError(f"the server does not open a WebSocket: {status}")


def _messages(line: socket.socket, reader: _Reader) -> Iterator[str]:
    parts, kind = b"", _TEXT
    while True:
        first, second = reader.exactly(2)
        code, size = first & 15, second & 127
        if size > 125:
            size = int.from_bytes(reader.exactly(2 if size == 126 else 8), "big")
        if size + len(parts) > MOST:
            raise ConnectionError(f"a message has more than {MOST} bytes")
        data = reader.exactly(size)
        if code == _CLOSE:
            line.sendall(_frame(_CLOSE, data[:2]))
            return
        if code == _PING:
            line.sendall(_frame(_PONG, data))
        elif code in (0, _TEXT, _BINARY):
            kind = code or kind
            parts += data
            if first & 128:
                if kind == _TEXT:
                    yield parts.decode("utf-8")
                parts = b""


def _frame(code: int, data: bytes) -> bytes:
    """A short frame of a client, which masks its bytes."""
    mask = os.urandom(4)
    return bytes([128 | code, 128 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


PALETTE = pipes.Palette(
    phrases="""
    WHEN @P IS A PROCESSOR: THE PRICES OF @P IS THE PROCESSOR APPLY json_path($0, '$.price') WITH (THE JSON OF @P).
    """
)
