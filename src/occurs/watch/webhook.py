"""Firings as HTTP requests: POST of a JSON object, with the label as ``Idempotency-Key``."""

from __future__ import annotations

import http.client
import ssl
from urllib.parse import urlsplit

from occurs.connect.changes.model import ActionFailed
from occurs.errors import UsageProblem

#: seconds that a receiver may take
PATIENCE = 10.0
#: answers after which another try may go well
_TRANSIENT = (408, 425, 429)


class Webhook:
    """A receiver.  UsageProblem if ``url`` is no address of HTTP."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageProblem.of("bad-option", f"--webhook {url}", hint="use http://host/path or https://host/path")
        self.url = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._host, self._port = parts.hostname, parts.port
        self._secure = parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def send(self, content: str, key: str) -> None:
        """One request.  ActionFailed: no connection, no answer, or one that is no 2xx."""
        connection: http.client.HTTPConnection
        if self._secure:
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=PATIENCE, context=context)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", self._path, content.encode(), headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ActionFailed(str(error) or type(error).__name__, transient=True) from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            transient = answer.status >= 500 or answer.status in _TRANSIENT
            raise ActionFailed(f"the server answered {answer.status} {answer.reason}", transient=transient)
