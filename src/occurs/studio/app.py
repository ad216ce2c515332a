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
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from occurs import __version__
from occurs.studio import job_routes, marks, net_routes, programs, samples, shapes
from occurs.studio.files import LANGUAGES, SIDECAR, Folder, image_type, kind_of, language_of
from occurs.studio.http import Refused, answer, body, call, decoded, need_json, problems_refused, raw_body
from occurs.studio.jobs import Jobs
from occurs.studio.languages import Languages
from occurs.studio.limits import LIMITS, listed
from occurs.studio.nets import Nets
from occurs.studio.openapi import described
from occurs.studio.project import Project, Settings, Sidecar, options_described, options_of, split_events
from occurs.studio.security import IMAGE_POLICY, PAGE_POLICY, Guard
from occurs.studio.shapes import Problem
from occurs.studio.spawning import Processes
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
        self.processes = Processes()
        self.languages = Languages(self.folder.root, self.updates, self.processes)
        self.nets = Nets(self.folder.root, self.updates, self.processes)
        self.watcher = Watcher(self.folder, self.updates)

    def program(self, texts: Mapping[str, str]) -> tuple[dict[str, str], list[Problem], Settings]:
        """The texts of the program by path, unsaved ones first, and what is wrong with its files."""
        found = self.read(texts)
        return found.texts, found.problems, found.settings

    def read(self, texts: Mapping[str, str], path: str | None = None) -> programs.Program:
        """The program with its unsaved ``texts``, and the file at ``path``; see :func:`programs.read`."""
        return programs.read(self.folder, self.project, texts, path)

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
    project = studio_of(request).project
    try:
        value, etag = await in_thread(project.read)
    except Refused as error:
        if etag := await in_thread(project.tag):  # of what is wrong, so that it can be replaced
            error.headers = {"ETag": etag}
        raise
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
    program = await in_thread(studio.read, asked.texts)
    paths = await in_thread(studio.folder.events)
    client, options = request.headers.get("occurs-client", "")[:64], program.settings.options
    found = await studio.languages.check(program.texts, client, events=[path for path, _ in paths], options=options)
    if client and any(path.endswith(".epl") for path in program.texts):
        studio.nets.prepare()
    entries = msgspec.json.decode(found["events"], type=list[str])
    found["events"] = [
        shapes.EventFile(path, entry, directory, not directory and "/" not in path)
        for (path, directory), entry in zip(paths, entries, strict=True)
    ]
    return answer(marks.outer({**found, "problems": [*program.problems, *found["problems"]]}, program.marked))


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


@call(body=shapes.Rename, answer=shapes.Renamed)
async def rename(request: Request) -> Response:
    """The edits that give what stands at an offset another name, in all texts of the program."""
    studio = studio_of(request)
    asked = await body(request, shapes.Rename)
    program, found = await _at_place(studio, asked, "rename", to=asked.to)
    if program.marked:
        if asked.path in program.marked and found["span"] is not None:
            found["span"] = marks.behind_mark(found["span"])
        for edit in (e for path in program.marked & found["edits"].keys() for e in found["edits"][path]):
            edit["from"] += 1
            edit["to"] += 1
    return answer(found)


async def _at(request: Request, name: str) -> Response:
    studio = studio_of(request)
    asked = await body(request, shapes.At)
    program, found = await _at_place(studio, asked, name, needs=[asked.path])
    if asked.path in program.marked and name == "complete":
        found["from"] += 1
    if asked.path in program.marked and name == "hover" and found is not None:
        found["span"] = marks.behind_mark(found["span"])
    return answer(found)


async def _at_place(
    studio: Studio, asked: shapes.At | shapes.Rename, name: str, /, **more: Any
) -> tuple[programs.Program, Any]:
    """The answer to a question about a place, and the program that has it."""
    path = _rules(studio, asked.path)
    program = await in_thread(studio.read, asked.texts, path)
    offset = marks.inner(asked.offset, path, program.marked)
    if asked.offset < 0 or offset > len(program.texts[path]):
        raise Refused(400, "bad-request", f"the offset {asked.offset} is not in {path}")
    events = await _events(studio, program.settings, None)
    return program, await _ask(studio, program, name, path=path, offset=offset, **events, **more)


@call(body=shapes.Format, answer=shapes.Formatted)
async def format(request: Request) -> Response:
    """A text in its canonical form."""
    studio = studio_of(request)
    asked = await body(request, shapes.Format)
    path = _rules(studio, asked.path)
    text = asked.text.removeprefix(marks.MARK)
    raw = await studio.languages.ask("format", {path: text}, path=path, text=text)
    if text == asked.text:
        return answer(raw)
    found = marks.outer(raw, {path})
    return answer({**found, "text": marks.MARK + found["text"]})


@call(body=shapes.GraphOf, answer=shapes.Graph)
async def graph(request: Request) -> Response:
    """The statements of an EPL text as drawings, and the problems at their nodes."""
    asked = await body(request, shapes.GraphOf)
    return await _drawn(request, "graph", asked.text, asked.path, asked.texts)


@call(body=shapes.CanvasOf, answer=shapes.Edited)
async def canvas(request: Request) -> Response:
    """An EPL text in which a statement is as it is drawn; with errors in the drawing the problems at its nodes."""
    asked = await body(request, shapes.CanvasOf)
    if len(asked.canvas.nodes) > LIMITS.canvas_nodes:
        raise Refused(413, "too-large", f"a drawing has at most {LIMITS.canvas_nodes} nodes")
    drawing = {"statement": asked.statement, "canvas": msgspec.to_builtins(asked.canvas)}
    return await _drawn(request, "draw", asked.text, asked.path, asked.texts, **drawing)


@call(body=shapes.DomainOf, answer=shapes.DomainChanged)
async def domain(request: Request) -> Response:
    """An EPL text after a change of a type that it declares, with every use of it."""
    asked = await body(request, shapes.DomainOf)
    change = msgspec.to_builtins(asked.change)
    return await _drawn(request, "domain", asked.text, asked.path, asked.texts, change=change)


@call(body=shapes.ModelOf, answer=dict[str, Any])
async def model(request: Request) -> Response:
    """The graphical model of a statement of an EPL text, or the text of a graphical model."""
    asked = await body(request, shapes.ModelOf)
    languages = studio_of(request).languages
    given = {name for name in asked.__struct_fields__ if getattr(asked, name) is not None}
    if given == {"model"}:
        return answer(await languages.ask("model_text", {}, model=asked.model))
    if given == {"xml"}:
        return answer(await languages.ask("medit_text", {}, xml=asked.xml))
    if asked.text is not None and asked.statement is not None and given == {"text", "statement"}:
        found = await languages.ask("model", {"drawing.epl": asked.text}, text=asked.text, statement=asked.statement)
        return answer(found)
    raise Refused(400, "bad-request", "give either `model`, `xml`, or `text` and `statement`")


async def _drawn(
    request: Request, call: str, text: str, path: str | None, unsaved: Mapping[str, str], **more: Any
) -> Response:
    """The answer to a call over an EPL text and the program around it."""
    studio = studio_of(request)
    if len(text.encode(errors="surrogatepass")) > LIMITS.rule_text:
        raise Refused(413, "too-large", f"a file of rules has at most {LIMITS.rule_text >> 20} MB")
    if path is not None and language_of(_rules(studio, path)) != "epl":
        raise Refused(400, "bad-request", f"{path} is not a file of EPL")
    program = await in_thread(studio.read, unsaved)
    # without a path it stands alone
    texts = {} if path is None else {one: other for one, other in program.texts.items() if one != path}
    path = path or "drawing.epl"
    inside = text.removeprefix(marks.MARK)
    texts[path] = inside
    of = {"text": inside, "path": path, **await _events(studio, program.settings, None), **more}
    raw = await studio.languages.ask(call, texts, needs=[path], texts=texts, **of)
    return answer(raw if inside == text else marks.drawn(raw, path))


@call(body=shapes.PlanOf, answer=shapes.Plan)
async def plan(request: Request) -> Response:
    """The plan of the program, with the columns of the events where they can be read."""
    studio = studio_of(request)
    asked = await body(request, shapes.PlanOf)
    program = await in_thread(studio.read, asked.texts)
    if program.problems:
        raise problems_refused(program.problems)
    events = await _events(studio, program.settings, asked.events)
    return answer(await _ask(studio, program, "plan", optional=asked.events is None, **events))


@call(body=shapes.Peek, answer=shapes.Peeked)
async def peek(request: Request) -> Response:
    """The types, the first rows and the problems of events."""
    studio = studio_of(request)
    asked = await body(request, shapes.Peek)
    program = await in_thread(studio.read, {})
    events = await _events(studio, program.settings, asked.events)
    if asked.options is not None:
        events["options"] = options_of(asked.options)
    return answer(await _ask(studio, program, "peek", needs=(), rows=asked.rows, **events))


@call(answer=None, text="text/event-stream")
async def updates(request: Request) -> Response:
    """The stream of what happens: ``job``, ``file``, ``worker``, ``bye``, ``reload``."""
    return studio_of(request).updates.stream(request)


@call(body=shapes.Example, answer=shapes.Opened, status=201)
async def open_example(request: Request) -> Response:
    """Copy an example into a new directory of the project, which takes in its program if it has no rules itself."""
    studio = studio_of(request)
    name = (await body(request, shapes.Example)).name
    if name not in samples.names():
        raise Refused(404, "missing-file", f"there is no example {name!r}", f"examples: {', '.join(samples.names())}")
    paths, etag = await in_thread(_opened, studio, name)
    if etag is not None:
        studio.watcher.changed(SIDECAR, etag)
    return answer(shapes.Opened(paths, etag is not None, f"occurs studio {name}" if etag is None else None), 201)


def _opened(studio: Studio, name: str) -> tuple[list[str], str | None]:
    """Copy an example; the ETag of the project that has taken in its program, None if it has one itself."""
    before = studio.project.settings()
    try:
        paths = samples.copy(name, studio.folder.root)
    except FileExistsError:
        raise Refused(409, "busy", f"{name} exists already", "remove it or rename it") from None
    except OSError as error:
        text = f"{name} cannot be created: {error.strerror}"
        raise problems_refused([Problem("cannot-write", "error", text, file=name)]) from error
    if before.rules or before.problems:
        return paths, None
    value, etag = studio.project.read()
    data = msgspec.json.encode(samples.taken_in(value, name))
    return paths, studio.project.write(data, if_match=etag, if_none_match=None)[1]


@call(answer=dict[str, Any])
async def openapi(request: Request) -> Response:
    """This description."""
    return answer(described(request.app.state.calls))


async def _events(studio: Studio, settings: Settings, given: Sequence[str] | None) -> dict[str, Any]:
    """The events of a call, or of the project, as the language worker is told; those of a project need not be there."""
    events = await in_thread(studio.events, settings.events if given is None else given, given is None)
    return {"events": events, "options": settings.options, "default": given is None and settings.default_events}


async def _ask(studio: Studio, program: programs.Program, name: str, /, **args: Any) -> Any:
    """A call of the language worker over a program, whose answer counts byte order marks."""
    try:
        raw = await studio.languages.ask(name, program.texts, texts=program.texts, **args)
    except Refused as error:
        error.error.problems = msgspec.convert(marks.outer(error.error.problems, program.marked), list[Problem])
        raise
    return marks.outer(raw, program.marked)


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


class _Bugs:
    """The middleware that answers for what fails, within those that set headers."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            if started or scope["type"] != "http":
                raise
            if os.environ.get("OCCURS_TRACEBACK"):
                _log.error("".join(traceback.format_exception(error)))
            else:
                _log.error("%s %s: %s: %s", scope["method"], scope["path"], type(error).__name__, error)
            hint = "this is a bug in Occurs; start the studio with OCCURS_TRACEBACK=1 to see the traceback in its log"
            refused = Refused(500, "internal", "the server failed to answer this request", hint)
            await refused.response()(scope, receive, send)


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
        Route("/rename", rename, methods=["POST"]),
        Route("/format", format, methods=["POST"]),
        Route("/plan", plan, methods=["POST"]),
        Route("/epl/graph", graph, methods=["POST"]),
        Route("/epl/canvas", canvas, methods=["POST"]),
        Route("/epl/domain", domain, methods=["POST"]),
        Route("/epl/model", model, methods=["POST"]),
        Route("/events/peek", peek, methods=["POST"]),
        Route("/examples", open_example, methods=["POST"]),
        Route("/updates", updates),
        Route("/openapi.json", openapi),
        *job_routes.routes,
        *net_routes.routes,
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
        app.state.jobs = Jobs(studio.folder.root, studio.updates.publish, studio.processes)
        watching = asyncio.create_task(studio.watcher.run())
        try:
            yield
        finally:
            watching.cancel()
            studio.updates.close()
            studio.processes.end()
            await studio.languages.close()
            await studio.nets.close()
            await app.state.jobs.close()
            await studio.processes.close()

    calls = _calls()
    routes: Sequence[BaseRoute] = [
        _Api([Route(f"/api/v1{c.path}", c.endpoint, methods=c.methods, name=c.name) for c in calls]),
        Route("/", page),
        *([Mount("/", _Pages(directory=studio.pages))] if studio.pages else []),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, token=studio.token, port=studio.port), Middleware(_Bugs)],
        exception_handlers={Refused: _refused, HTTPException: _http_error},
    )
    app.router.redirect_slashes = False
    app.state.studio = studio
    app.state.calls = calls
    return app
