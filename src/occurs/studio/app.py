"""The server: its calls under ``/api/v1``, and the pages."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import mimetypes
import os
import secrets
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from occurs import __version__
from occurs.studio import job_routes, samples, shapes
from occurs.studio.files import BOM, LANGUAGES, SIDECAR, Folder, image_type, kind_of
from occurs.studio.http import Refused, answer, body, call, decoded, need_json, problems_refused, raw_body
from occurs.studio.jobs import Jobs
from occurs.studio.languages import Languages
from occurs.studio.limits import LIMITS, listed
from occurs.studio.openapi import described
from occurs.studio.project import Project, Settings, Sidecar, options_described, options_of, split_events
from occurs.studio.security import IMAGE_POLICY, PAGE_POLICY, Guard
from occurs.studio.shapes import Problem
from occurs.studio.updates import Updates
from occurs.studio.watching import Watcher

T = TypeVar("T")
#: put into the page in the place of this word: a nonce for the styles that scripts make
NONCE = b"__NONCE__"
_ERRORS = {404: "missing-file", 405: "bad-request", 413: "too-large", 415: "media-type"}
_log = logging.getLogger("occurs.studio")


class Studio:
    """What the calls share: one directory, its project, the workers and the stream of updates."""

    def __init__(self, root: Path, token: str, port: int, pages: Path | None):
        self.token = token
        self.port = port
        self.pages = pages
        self.folder = Folder(root)
        self.project = Project(self.folder)
        self.updates = Updates()
        self.languages = Languages(self.folder.root, self.updates)
        self.watcher = Watcher(self.folder, self.updates)

    def program(self, texts: Mapping[str, str]) -> tuple[dict[str, str], list[Problem], Settings]:
        """The texts of the program by path, unsaved ones first, and what is wrong with its files."""
        settings = self.project.settings()
        out: dict[str, str] = {}
        problems = list(settings.problems)
        for path in settings.rules:
            if path in texts:
                continue
            try:
                out[path] = self.folder.read(path).text
            except UnicodeDecodeError as error:
                text = f"{path} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
                problems.append(Problem("not-utf-8", "error", text, file=path))
            except Refused as error:
                hint = f"program.rules of {SIDECAR} names it" if error.status == 404 else None
                problems += error.error.problems or [Problem(error.error.kind, "error", str(error), hint, path)]
        for path, text in texts.items():
            if kind_of(self.folder.check(path)) == "rules":
                if len(text.encode(errors="surrogatepass")) > LIMITS.rule_text:
                    raise Refused(413, "too-large", f"{path}: a file of rules has at most {LIMITS.rule_text >> 20} MB")
                out[path] = text.removeprefix("\ufeff")
        return dict(sorted(out.items())), problems, settings


    def events(self, given: Sequence[str], optional: bool = False) -> list[str]:
        """Events as ``PATH`` or ``TYPE=PATH``, all of them of the project.

        Refuses others (403) and what is not there (404); ``optional``: leaves out what is not there.
        """
        out = []
        for text in given:
            try:
                self.folder.event_path(split_events(text)[1])
            except Refused as error:
                if not optional or error.status != 404:
                    raise
            else:
                out.append(text)
        return out


class _Anything(Convertor[str]):
    """The rest of an address, line breaks included: it is refused by its content, not by its form."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("anything", _Anything())


async def in_thread(work: Any, *arguments: Any, **more: Any) -> Any:
    """What waits for the disk, in a thread."""
    return await to_thread.run_sync(partial(work, *arguments, **more))


def studio_of(request: Request) -> Studio:
    """What the calls share."""
    found: Studio = request.app.state.studio
    return found


# calls


@call(answer=shapes.About)
async def about(request: Request) -> Response:
    """The version, the languages with their words, and the limits."""
    studio = studio_of(request)
    try:
        words = msgspec.json.decode(await studio.languages.ask("words", {}), type=dict[str, shapes.Words])
        meant = msgspec.json.decode(await studio.languages.ask("options", {}), type=dict[str, tuple[str, str]])
    except Refused:
        words, meant = {}, {}
    names = [shapes.Language(name, [suffix], words.get(name)) for suffix, name in sorted(LANGUAGES.items())]
    options = options_described(meant)
    found = shapes.About(__version__, studio.folder.root.name, names, listed(), options, samples.names())
    return answer(found)


@call(answer=list[shapes.File])
async def files(request: Request) -> Response:
    """The files of the project."""
    studio = studio_of(request)
    settings = await in_thread(studio.project.settings)
    found = await in_thread(studio.folder.listing, settings.paths)
    # tells projects of the same name apart, for what a browser keeps of each
    mark = hashlib.blake2b(os.fsencode(studio.folder.root), digest_size=8).hexdigest()
    return answer(found, headers={"Occurs-Project": mark})


@call(text="text/plain")
async def get_file(request: Request) -> Response:
    """A file as it is, with its ETag."""
    path = request.path_params["path"]
    content = await in_thread(studio_of(request).folder.read, path)
    headers = {"ETag": content.etag}
    kind = image_type(path)
    if kind is not None:
        if len(content.data) > LIMITS.icon:
            raise Refused(413, "too-large", f"{path}: an image has at most {LIMITS.icon >> 10} KB")
        headers["Content-Security-Policy"] = IMAGE_POLICY
    elif path.lower().endswith(".parquet"):
        kind = "application/octet-stream"
    if request.headers.get("if-none-match") == content.etag:
        return Response(status_code=304, headers=headers)
    return Response(content.data, 200, headers, kind or "text/plain; charset=utf-8")


@call(body=str, text="text/plain")
async def put_file(request: Request) -> Response:
    """Replace a file whose ETag is that of ``If-Match``, or make one (``If-None-Match: *``)."""
    studio, path = studio_of(request), request.path_params["path"]
    data = await raw_body(request)
    if path == SIDECAR:
        _, etag = await in_thread(studio.project.write, data, **_conditions(request))
    else:
        etag = await in_thread(studio.folder.write, path, data, **_conditions(request))
    studio.watcher.changed(path, etag)
    return Response(data, 200, {"ETag": etag}, "text/plain; charset=utf-8")


@call(text="text/plain", status=204)
async def delete_file(request: Request) -> Response:
    """Remove a file whose ETag is that of ``If-Match``."""
    studio, path = studio_of(request), request.path_params["path"]
    await in_thread(studio.folder.delete, path, if_match=request.headers.get("if-match"))
    studio.watcher.changed(path, None)
    return Response(status_code=204)


@call(answer=Sidecar)
async def get_project(request: Request) -> Response:
    """The content of ``studio.json``, with its ETag."""
    value, etag = await in_thread(studio_of(request).project.read)
    return answer(value, headers={"ETag": etag})


@call(body=Sidecar, answer=Sidecar)
async def put_project(request: Request) -> Response:
    """Replace ``studio.json``; members that are not known are kept."""
    studio = studio_of(request)
    need_json(request)
    data = await raw_body(request)
    decoded(data, Any)
    value, etag = await in_thread(studio.project.write, data, **_conditions(request))
    studio.watcher.changed(SIDECAR, etag)
    return answer(value, headers={"ETag": etag})


@call(body=shapes.Texts, answer=shapes.Checked)
async def check(request: Request) -> Response:
    """The problems and the outline of the whole program.  A newer call of the same client overtakes an older one."""
    studio = studio_of(request)
    asked = await body(request, shapes.Texts)
    texts, problems, _ = await in_thread(studio.program, asked.texts)
    found = await studio.languages.check(texts, request.headers.get("occurs-client", "")[:64])
    return answer({**found, "problems": [*problems, *found["problems"]]})


@call(body=shapes.At, answer=shapes.Completions)
async def complete(request: Request) -> Response:
    """What may stand at an offset of a text."""
    return await _at(request, "complete")


@call(body=shapes.At, answer=shapes.Hover | None)
async def hover(request: Request) -> Response:
    """What is to be said of the word at an offset."""
    return await _at(request, "hover")


@call(body=shapes.At, answer=shapes.Places)
async def definition(request: Request) -> Response:
    """The places where the name at an offset is defined."""
    return await _at(request, "definition")


async def _at(request: Request, name: str) -> Response:
    studio = studio_of(request)
    asked = await body(request, shapes.At)
    texts, _, _ = await in_thread(studio.program, asked.texts)
    path, offset = _rules(studio, asked.path), asked.offset
    if path not in texts:
        try:
            texts[path] = (await in_thread(studio.folder.read, path)).text
        except UnicodeDecodeError:
            raise Refused(422, "problems", f"{path} is not UTF-8") from None
    if asked.texts.get(path, "").startswith("\ufeff"):
        offset -= 1
    if not 0 <= offset <= len(texts[path]):
        raise Refused(400, "bad-request", f"the offset {asked.offset} is not in {path}")
    found = await studio.languages.ask(name, texts, texts=texts, path=path, offset=offset)
    return answer(found)


@call(body=shapes.Format, answer=shapes.Formatted)
async def format(request: Request) -> Response:
    """A text in its canonical form."""
    studio = studio_of(request)
    asked = await body(request, shapes.Format)
    path = _rules(studio, asked.path)
    mark = BOM.decode() if asked.text.startswith(BOM.decode()) else ""
    text = asked.text.removeprefix(mark)
    found = msgspec.json.decode(await studio.languages.ask("format", {path: text}, path=path, text=text))
    return answer({**found, "text": mark + found["text"]})


@call(body=shapes.PlanOf, answer=shapes.Plan)
async def plan(request: Request) -> Response:
    """The plan of the program, with the columns of the events where they can be read."""
    studio = studio_of(request)
    asked = await body(request, shapes.PlanOf)
    texts, problems, settings = await in_thread(studio.program, asked.texts)
    if problems:
        raise problems_refused(problems)
    optional = asked.events is None
    events = await in_thread(studio.events, settings.events if asked.events is None else asked.events, optional)
    options = settings.options
    found = await studio.languages.ask("plan", texts, texts=texts, events=events, options=options, optional=optional)
    return answer(found)


@call(body=shapes.Peek, answer=shapes.Peeked)
async def peek(request: Request) -> Response:
    """The types, the first rows and the problems of events."""
    studio = studio_of(request)
    asked = await body(request, shapes.Peek)
    settings = await in_thread(studio.project.settings)
    given = settings.events if asked.events is None else asked.events
    events = await in_thread(studio.events, given, asked.events is None)
    options = settings.options if asked.options is None else options_of(asked.options)
    return answer(await studio.languages.ask("peek", {}, events=events, options=options, rows=asked.rows))


@call(answer=None, text="text/event-stream")
async def updates(request: Request) -> Response:
    """The stream of what happens: ``job``, ``file``, ``worker``, ``bye``, ``reload``."""
    return studio_of(request).updates.stream(request)


@call(body=shapes.Example, answer=shapes.Opened, status=201)
async def open_example(request: Request) -> Response:
    """Copy an example into a new directory of the project."""
    studio = studio_of(request)
    name = (await body(request, shapes.Example)).name
    if name not in samples.names():
        raise Refused(404, "missing-file", f"there is no example {name!r}", f"examples: {', '.join(samples.names())}")
    try:
        paths = await in_thread(samples.copy, name, studio.folder.root)
    except FileExistsError:
        raise Refused(409, "busy", f"{name} exists already", "remove it or rename it") from None
    except OSError as error:
        text = f"{name} cannot be created: {error.strerror}"
        raise problems_refused([Problem("cannot-write", "error", text, file=name)]) from error
    return answer(shapes.Opened(paths), 201)


@call(answer=dict[str, Any])
async def openapi(request: Request) -> Response:
    """This description."""
    return answer(described(request.app.state.calls))


def _rules(studio: Studio, path: str) -> str:
    if kind_of(studio.folder.check(path)) != "rules":
        raise Refused(400, "bad-request", f"{path} is not a file of rules")
    return path


def _conditions(request: Request) -> dict[str, str | None]:
    return {
        "if_match": request.headers.get("if-match"),
        "if_none_match": request.headers.get("if-none-match"),
    }


# pages


async def page(request: Request) -> Response:
    """The page, with a new nonce."""
    pages = studio_of(request).pages
    try:
        text = await in_thread((pages / "index.html").read_bytes) if pages else b""
    except OSError:
        text = b""
    if not text:
        return HTMLResponse("<!doctype html><title>Occurs Studio</title><p>The pages are not built.</p>", 503)
    nonce = secrets.token_urlsafe(16)
    headers = {"Content-Security-Policy": PAGE_POLICY.format(nonce=nonce), "Cache-Control": "no-store"}
    return HTMLResponse(text.replace(NONCE, nonce.encode()), 200, headers)


class _Pages(StaticFiles):
    """The files of the build.  Those with a hash in their name never change."""

    def file_response(self, full_path: Any, *arguments: Any, **more: Any) -> Response:
        found = super().file_response(full_path, *arguments, **more)
        hashed = Path(full_path).parent.name == "assets"
        found.headers["Cache-Control"] = "max-age=31536000, immutable" if hashed else "no-cache"
        return found


for _suffix, _type in {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}.items():
    mimetypes.add_type(_type, _suffix)  # what a system says otherwise, `nosniff` would not forgive


# errors


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return error.response()


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _ERRORS.get(error.status_code, "bad-request")
    text = {404: "this address does not exist", 405: f"{request.method} is not supported at this address"}
    refused = Refused(error.status_code, kind, text.get(error.status_code, error.detail), headers=error.headers)
    return refused.response()


async def _bug(request: Request, error: Exception) -> Response:
    if os.environ.get("OCCURS_TRACEBACK"):
        _log.error("".join(traceback.format_exception(error)))
    else:
        _log.error("%s %s: %s: %s", request.method, request.url.path, type(error).__name__, error)
    hint = "this is a bug in Occurs; start the studio with OCCURS_TRACEBACK=1 to see the traceback in its log"
    return Refused(500, "internal", "the server failed to answer this request", hint).response()


# the application


def _calls() -> list[Route]:
    """The calls, below ``/api/v1``."""
    file = "/files/{path:anything}"
    return [
        Route("/about", about),
        Route("/files", files),
        Route(file, get_file, methods=["GET"]),
        Route(file, put_file, methods=["PUT"]),
        Route(file, delete_file, methods=["DELETE"]),
        Route("/project", get_project, methods=["GET"]),
        Route("/project", put_project, methods=["PUT"]),
        Route("/check", check, methods=["POST"]),
        Route("/complete", complete, methods=["POST"]),
        Route("/hover", hover, methods=["POST"]),
        Route("/definition", definition, methods=["POST"]),
        Route("/format", format, methods=["POST"]),
        Route("/plan", plan, methods=["POST"]),
        Route("/events/peek", peek, methods=["POST"]),
        Route("/examples", open_example, methods=["POST"]),
        Route("/updates", updates),
        Route("/openapi.json", openapi),
        *job_routes.routes,
    ]


class _Api(BaseRoute):
    """Everything below ``/api``; a Mount has no addresses with a line break."""

    def __init__(self, routes: Sequence[BaseRoute]):
        self._router = Router(routes, redirect_slashes=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        inside = scope["type"] == "http" and f"{scope['path']}/".startswith("/api/")
        return (Match.FULL if inside else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)


def create(studio: Studio) -> Starlette:
    """The application of a studio; its workers live as long as its lifespan."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        studio.updates.started()
        studio.languages.start()
        app.state.jobs = Jobs(studio.folder.root, studio.updates.publish)
        watching = asyncio.create_task(studio.watcher.run())
        try:
            yield
        finally:
            watching.cancel()
            studio.updates.close()
            await studio.languages.close()
            await app.state.jobs.close()

    calls = _calls()
    routes: Sequence[BaseRoute] = [
        _Api([Route(f"/api/v1{c.path}", c.endpoint, methods=c.methods, name=c.name) for c in calls]),
        Route("/", page),
        *([Mount("/", _Pages(directory=studio.pages))] if studio.pages else []),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, token=studio.token, port=studio.port)],
        exception_handlers={Refused: _refused, HTTPException: _http_error, Exception: _bug},
    )
    app.router.redirect_slashes = False
    app.state.studio = studio
    app.state.calls = calls
    return app
