"""How a call reads its request and answers it: JSON both ways, and every refusal in one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from occurs.studio.limits import LIMITS
from occurs.studio.shapes import ErrorAnswer, Problem, Refusal

T = TypeVar("T")
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

#: of a body that is too large, so much is read before the answer, which a client that still sends would miss
_DRAINED = 4 * LIMITS.body


class Refused(Exception):
    """A call that cannot be done, with the status and the ``kind`` that programs test."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        hint: str | None = None,
        problems: Sequence[Problem] = (),
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.error = Refusal(kind, message, hint, list(problems))

    def response(self) -> Response:
        """The answer, in the shape of every error."""
        return answer(ErrorAnswer(self.error), self.status, self.headers)


def problems_refused(problems: Sequence[Problem]) -> Refused:
    """422 with these problems; the first error is the message."""
    first = next((p for p in problems if p.severity == "error"), problems[0])
    return Refused(422, "problems", first.message, first.hint, problems)


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """``value`` (a shape, a :class:`msgspec.Raw`, plain data) as JSON."""
    return Response(msgspec.json.encode(value), status, headers, "application/json")


async def raw_body(request: Request) -> bytes:
    """All bytes of the body.  Refuses those beyond the limit (413)."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= LIMITS.body:
            parts.append(part)
        elif size > _DRAINED:
            break
    if size > LIMITS.body:
        raise Refused(413, "too-large", f"the request body is larger than {LIMITS.body >> 20} MB")
    return b"".join(parts)


async def body(request: Request, shape: type[T]) -> T:
    """The JSON body, checked against its ``shape``.  Refuses other types of content (415) and wrong bodies (400)."""
    need_json(request)
    return decoded(await raw_body(request), shape)


def need_json(request: Request) -> None:
    """Refuse a body that does not say that it is JSON (415), as a form of another site cannot."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != "application/json":
        hint = "send JSON with Content-Type: application/json"
        text = f"unsupported content type {given[:100]!r}" if given else "the request has no content type"
        raise Refused(415, "media-type", text, hint)


def decoded(data: bytes, shape: type[T]) -> T:
    """JSON as a shape.  Refuses what does not fit (400)."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(400, "bad-request", f"invalid request body: {error}") from error


def query(request: Request, shape: type[T]) -> T:
    """The query, checked against its ``shape``; numbers are read from their text.  Refuses what does not fit (400)."""
    try:
        return msgspec.convert(dict(request.query_params), shape, strict=False)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Refused(400, "bad-request", f"invalid query: {error}") from error


@dataclass(frozen=True)
class Call:
    """What openapi.json says of an endpoint: the shapes of its body, query and answer.

    ``text``: the answer is text, not JSON; ``status``: of a success.
    """

    body: Any = None
    query: Any = None
    answer: Any = None
    text: str | None = None
    status: int = 200


def call(**of: Any) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint with its :class:`Call`."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.call = Call(**of)  # type: ignore[attr-defined]
        return endpoint

    return mark
