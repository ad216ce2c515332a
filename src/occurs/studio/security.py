"""Who may call: the host, the origin, the token; and the headers that every answer has."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import deque
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from occurs.studio.http import Refused
from occurs.studio.limits import LIMITS

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: of what is not a page
_POLICY = "default-src 'none'; frame-ancestors 'none'"
#: of images of the project, which may be SVG with a style
IMAGE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_WRONG_TOKEN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Occurs Studio</title>
<h1>Occurs Studio</h1>
<p>The token in this address is wrong.</p>
<p>The command <code>occurs studio</code> prints the address of this page, including its token, in the terminal where it
was started.  Open that address.</p>
</html>
"""


class Guard:
    """The middleware in front of everything.

    ``port``: of the server, which names the cookie where the ``Host`` has none.
    """

    def __init__(self, app: ASGIApp, token: str, port: int):
        self.app = app
        self._token = token
        self._port = port
        #: times of the wrong tokens of the last minute
        self._wrong: deque[float] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        api = scope["path"] == "/api" or scope["path"].startswith("/api/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    out.setdefault(name, value)
                out.setdefault("Content-Security-Policy", _POLICY)
                if api:
                    out.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope, headers)
            if api:
                await self._check_token(headers)
            elif scope["path"] == "/" and b"token=" in scope["query_string"]:
                await self._enter(scope, receive, send_with_headers)
                return
        except Refused as refused:
            await refused.response()(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Refuse names of this machine that somebody else may have given it, other sites, and other methods."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            raise Refused(421, "host", "the Host header does not name this machine", "use 127.0.0.1 or localhost")
        if scope["method"] == "OPTIONS":
            text = "OPTIONS is not supported: requests from other sites are not allowed"
            raise Refused(405, "bad-request", text, headers={"Allow": "GET"})
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{hosts[0]}"]:
            raise Refused(403, "origin", "requests from other sites are not allowed")
        if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
            raise Refused(403, "origin", "requests from other sites are not allowed", "open the address in a new tab")

    async def _check_token(self, headers: Headers) -> None:
        given = headers.getlist("authorization")
        if given:
            scheme, _, found = given[0].partition(" ")
            tokens = [found.strip()] if scheme.lower() == "bearer" and len(given) == 1 else [""]
        else:
            tokens = _cookies(headers)
        if any(self._right(token) for token in tokens):
            return
        if tokens:
            await self._told_wrong()
        hint = "send Authorization: Bearer TOKEN; `occurs studio` prints the token when it starts"
        raise Refused(401, "token", "the token is wrong" if tokens else "the request has no token", hint,
                      headers={"WWW-Authenticate": "Bearer"})  # fmt: skip

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """``GET /?token=T``: the token goes into a cookie, and out of the address."""
        if scope["method"] not in ("GET", "HEAD"):
            text = f"{scope['method']} is not supported at this address"
            raise Refused(405, "bad-request", text, headers={"Allow": "GET"})
        fields = [f.partition(b"=") for f in scope["query_string"].split(b"&")]
        tokens = [unquote(value.decode("latin-1")) for name, _, value in fields if name == b"token"]
        if len(tokens) != 1 or not self._right(tokens[0]):
            await self._told_wrong()
            page = HTMLResponse(_WRONG_TOKEN, 401, {"Cache-Control": "no-store", "WWW-Authenticate": "Bearer"})
            await page(scope, receive, send)
            return
        port = Headers(scope=scope)["host"].rpartition(":")[2]
        name = f"occurs-{port if port.isdecimal() else self._port}"
        cookie = f"{name}={quote(self._token, safe='')}; HttpOnly; SameSite=Strict; Path=/"
        found = RedirectResponse("/", 303, {"Set-Cookie": cookie, "Cache-Control": "no-store"})
        await found(scope, receive, send)

    def _right(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(errors="replace"), self._token.encode())

    async def _told_wrong(self) -> None:
        """Note a wrong token; after too many of them in a minute, wait."""
        now = time.monotonic()
        while self._wrong and self._wrong[0] < now - 60:
            self._wrong.popleft()
        late = len(self._wrong) >= LIMITS.wrong_tokens
        self._wrong.append(now)
        if len(self._wrong) > 10 * LIMITS.wrong_tokens:
            self._wrong.popleft()
        if late:
            await asyncio.sleep(LIMITS.token_delay)


def _cookies(headers: Headers) -> list[str]:
    """The tokens in cookies of this server; those of other ports are sent along by browsers."""
    out = []
    for line in headers.getlist("cookie"):
        for part in line.split(";"):
            name, _, value = part.strip().partition("=")
            if re.fullmatch(r"occurs-[0-9]{1,5}", name):
                out.append(unquote(value))
    return out
