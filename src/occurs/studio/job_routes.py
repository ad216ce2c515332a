"""The calls of ``/api/v1/jobs``: starting, following and ending jobs, and what a run found."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from occurs.errors import UsageProblem
from occurs.studio import jobs, net_routes, shapes
from occurs.studio.files import kind_of
from occurs.studio.http import Refused, answer, body, call, problems_refused, query
from occurs.studio.programs import Program
from occurs.studio.project import options_of, split_events
from occurs.studio.results import Results, UnknownNameError, load
from occurs.studio.timeline import timeline as timeline_of
from occurs.studio.timeline_page import write_page

T = TypeVar("T")
_MEDIA = {
    "csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet", "html": "text/html",
}  # fmt: skip


@call(body=shapes.JobRequest, answer=shapes.JobStarted, status=202)
async def start(request: Request) -> Response:
    """Start a run or an analysis of the program."""
    studio, asked = request.app.state.studio, await body(request, shapes.JobRequest)
    options, program, given, net = await to_thread.run_sync(_asked, studio, asked)
    default = asked.events is None and program.settings.default_events
    events = await to_thread.run_sync(studio.events, given, False)
    most = _jobs(request).most.bytes
    size = await to_thread.run_sync(_size, [studio.folder.root / split_events(e)[1] for e in events])
    if size > most:
        text = f"the events have {size:,} bytes, and a job reads at most {most:,}"
        raise Refused(409, "too-large", text, "use `occurs run`, which has no such limit")
    try:
        wanted = jobs.Request(
            asked.kind, program.texts, events, options, marked=program.marked, default=default, net=net
        )
        id = _jobs(request).start(wanted)
    except jobs.BusyError:
        raise _busy(request) from None
    started = answer(shapes.JobStarted(id), 202)
    started.background = BackgroundTask(load)
    return started


def _asked(
    studio: Any, asked: shapes.JobRequest
) -> tuple[Mapping[str, Any], Program, Sequence[str], dict[str, Any]]:
    """The options, the program, the events and the net of a job."""
    net = asked.net or shapes.JobNet()
    if asked.kind == "run" and asked.net is not None:
        raise Refused(400, "bad-request", "a run has no net")
    more = msgspec.to_builtins(net)
    if asked.kind == "space" and net.path is not None and kind_of(studio.folder.check(net.path)) == "net":
        more["data"] = net_routes.net_file(studio, net.path, asked.texts)
        return {}, Program({}, [], studio.project.settings(), frozenset()), (), more
    program = net_routes.program_of(studio, net.path, asked.texts)
    settings = program.settings
    options = settings.options if asked.options is None else options_of(asked.options)
    given = settings.events if asked.events is None else asked.events
    if asked.kind == "random":
        if net.stream is None:
            hint = "name a file that describes the streams, or give its content as an object"
            raise Refused(400, "bad-request", "random streams need `net.stream`", hint)
        if isinstance(net.stream, str):
            more["file"], more["stream"] = net.stream, _text(studio, net.stream, asked.texts)
        given = ()
    return options, program, given, more


def _text(studio: Any, path: str, unsaved: dict[str, str]) -> str:
    if path in unsaved:
        return unsaved[studio.folder.check(path)]
    try:
        found: str = studio.folder.read(path).text
    except UnicodeDecodeError:
        raise Refused(422, "problems", f"{path} is not UTF-8") from None
    return found


@call(answer=shapes.Job)
async def state(request: Request) -> Response:
    """How a job is, and in the end its result."""
    try:
        return answer(_jobs(request).state(_id(request)))
    except jobs.UnknownJobError:
        raise _unknown() from None


@call(answer=shapes.Job)
async def cancel(request: Request) -> Response:
    """End a job, or forget the result of one that is done."""
    try:
        return answer(await _jobs(request).cancel(_id(request)))
    except jobs.UnknownJobError:
        raise _unknown() from None


@call(query=shapes.TimelineQuery, answer=shapes.Timeline)
async def timeline(request: Request) -> Response:
    """The detections and the input events of a range of time, counted by pixel or one by one."""
    asked = query(request, shapes.TimelineQuery)
    found = _results(request)
    if asked.begin is not None and asked.stop is not None and asked.stop < asked.begin:
        raise Refused(400, "bad-request", "`to` is before `from`")
    _ticks(asked.begin, asked.stop)
    types = _types(found, asked.types)
    return answer(
        await _read(timeline_of, found, asked.begin, asked.stop, asked.width, asked.by or None, types)
    )  # fmt: skip


@call(query=shapes.RowsQuery, answer=shapes.Rows)
async def rows(request: Request) -> Response:
    """A page of rows, filtered and sorted."""
    asked = query(request, shapes.RowsQuery)
    found = _results(request)
    _ticks(asked.begin, asked.stop)
    types = _types(found, asked.type)
    return answer(
        await _read(found.rows, types, asked.begin, asked.stop, asked.text, asked.sort, asked.offset, asked.limit)
    )


@call(query=shapes.WhyQuery, answer=shapes.Why)
async def why(request: Request) -> Response:
    """A detection with its constituents, down to rows of files."""
    asked = query(request, shapes.WhyQuery)
    return answer(await _read(_results(request).why, request.path_params["label"], asked.depth, status=404))


@call(body=shapes.WhyRequest, answer=shapes.JobStarted, status=202)
async def ask_why(request: Request) -> Response:
    """Ask what was checked for a detection: a job over the texts and the events of the run."""
    asked = await body(request, shapes.WhyRequest)
    found = _results(request)
    label = asked.label.lower()
    ticks = await _read(found.ticks, label, status=404)
    return _ask(request, "why", {"label": label, "at": ticks})


@call(body=shapes.WhyNotRequest, answer=shapes.JobStarted, status=202)
async def ask_why_not(request: Request) -> Response:
    """Ask why a run does not have a detection: a job over the texts and the events of the run.

    The fields that are wrong are the nodes of its problems: `type`, `from`, `to`, `where.NAME`.
    """
    asked = await body(request, shapes.WhyNotRequest)
    found = _results(request)
    _ticks(*(t for t in (asked.begin, asked.stop) if isinstance(t, int)))
    types = {t.name: t for t in found.of("derived", "inner")}
    if asked.type not in types:
        given = any(t.name == asked.type for t in found.of("input"))
        text = "is an input type: its rows are given, not detected" if given else "is not a type that the rules define"
        raise problems_refused([shapes.Problem("unknown-name", "error", f"`{asked.type}` {text}", node="type")])
    known = [c["name"] for c in types[asked.type].columns]
    wrong = [
        shapes.Problem("unknown-attribute", "error", f"`{asked.type}` has no attribute `{n}`", node=f"where.{n}")
        for n in asked.where
        if n not in known
    ]
    if wrong:
        raise problems_refused(wrong)
    return _ask(request, "why-not", msgspec.to_builtins(asked))


def _ask(request: Request, kind: str, asked: dict[str, Any]) -> Response:
    """Start a job that answers a question about a run."""
    run, result = _jobs(request).request(_id(request)), _jobs(request).state(_id(request))["result"]
    more = {"time": result["time"], "clock": [result["first"] or 0, result["last"] or 0]}
    try:
        id = _jobs(request).start(replace(run, kind=kind, asked={**asked, **more}))
    except jobs.BusyError:
        raise _busy(request) from None
    return answer(shapes.JobStarted(id), 202)


@call(answer=shapes.Repair)
async def repair(request: Request) -> Response:
    """The texts that the repair of a reason changes, as they were run and as they are then."""
    try:
        path, asked = _jobs(request).repairs(_id(request)), _jobs(request).request(_id(request))
    except jobs.UnknownJobError:
        raise _unknown() from None
    if path is None:
        raise Refused(400, "bad-request", "only an answer to why there is no detection has repairs")
    try:
        found = json.loads(await to_thread.run_sync(path.read_text, "utf-8"))
    except FileNotFoundError:
        raise _unknown() from None
    number = _id(request, "number")
    if number not in found:
        raise Refused(404, "unknown-name", f"the answer has no reason {number}")
    marks = {path: "\ufeff" * (path in asked.marked) for path in found[number]}
    texts = [
        shapes.RepairedText(path, marks[path] + asked.texts[path], marks[path] + text)
        for path, text in found[number].items()
    ]
    return answer(shapes.Repair(texts))


@call(query=shapes.ExportQuery, text="text/csv")
async def export(request: Request) -> Response:
    """Rows as a file, as ``occurs run --out`` writes them, or as the page that ``occurs plot`` makes."""
    asked = query(request, shapes.ExportQuery)
    found = _results(request)
    _ticks(asked.begin, asked.stop)
    types = _types(found, asked.type)
    path = found.folder / f"export-{uuid.uuid4().hex}"
    try:
        if asked.format == "html":
            title = request.app.state.studio.folder.root.name
            await _read(write_page, found, types, path, asked.begin, asked.stop, asked.text, title)
        else:
            await _read(found.export, types, asked.format, path, asked.begin, asked.stop, asked.text)
    except UsageProblem as error:
        problems = [shapes.Problem(p.kind, p.severity, p.message, p.hint) for p in error.problems]
        raise problems_refused(problems) from None
    except OSError as error:
        raise Refused(409, "busy", f"the file cannot be written: {error.strerror}") from error
    name = f"{asked.type or ('timeline' if asked.format == 'html' else 'detections')}.{asked.format}"
    remove = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, media_type=_MEDIA[asked.format], filename=name, background=remove)


@call(answer=shapes.Changes)
async def changes(request: Request) -> Response:
    """What a run detected that another one did not, and the other way round."""
    return answer(await _read(_results(request).changes, _results(request, "other")))


routes = [
    Route("/jobs", start, methods=["POST"]),
    Route("/jobs/{id}", state, methods=["GET"]),
    Route("/jobs/{id}", cancel, methods=["DELETE"]),
    Route("/jobs/{id}/timeline", timeline),
    Route("/jobs/{id}/rows", rows),
    Route("/jobs/{id}/why/{label}", why),
    Route("/jobs/{id}/why", ask_why, methods=["POST"]),
    Route("/jobs/{id}/why-not", ask_why_not, methods=["POST"]),
    Route("/jobs/{id}/repairs/{number}", repair),
    Route("/jobs/{id}/changes/{other}", changes),
    Route("/jobs/{id}/export", export),
]


def _jobs(request: Request) -> jobs.Jobs:
    found: jobs.Jobs = request.app.state.jobs
    return found


def _id(request: Request, name: str = "id") -> str:
    return str(request.path_params[name])


def _busy(request: Request) -> Refused:
    text = f"{_jobs(request).most.queued} jobs are waiting already"
    return Refused(409, "busy", text, "wait for one, or cancel one")


def _unknown() -> Refused:
    text = "there is no such job, or its result was given up for newer ones"
    return Refused(404, "unknown-job", text, "run it again")


def _results(request: Request, name: str = "id") -> Results:
    """The result of the run that the address names.  Refuses an unknown job, and one that has none."""
    id = _id(request, name)
    try:
        job, found = _jobs(request).state(id), _jobs(request).results(id)
    except jobs.UnknownJobError:
        raise _unknown() from None
    if found is not None:
        return found
    if job["kind"] != "run" and job["state"] == "done":
        raise Refused(400, "bad-request", f"only runs have rows, and the job is of kind {job['kind']!r}")
    if job["state"] == "failed":
        problems = msgspec.convert(job["problems"], list[shapes.Problem])
        raise problems_refused(problems)
    kind = "cancelled" if job["state"] == "cancelled" else "busy"
    text = {"cancelled": "the job was cancelled", "queued": "the job is waiting", "running": "the job is running"}
    raise Refused(409, kind, text[job["state"]])


def _types(found: Results, given: str) -> Sequence[str]:
    """Names of types with commas between them; a name may have a comma itself."""
    if not given or any(t.name == given for t in found.types):
        return [given] if given else []
    return given.split(",")


def _ticks(*given: int | None) -> None:
    if any(t is not None and not -(2**63) <= t < 2**63 for t in given):
        raise Refused(400, "bad-request", "ticks are whole numbers of 64 bits")


async def _read(work: Callable[..., T], *arguments: Any, status: int = 400) -> T:
    """What reads files, in a thread.  Refuses names that the result does not have."""
    try:
        return await to_thread.run_sync(lambda: work(*arguments))
    except UnknownNameError as error:
        raise Refused(status, "unknown-name", str(error)) from None
    except FileNotFoundError:
        raise Refused(404, "unknown-job", "the result of the job was given up for newer ones", "run it again") from None


def _size(paths: Sequence[Path]) -> int:
    """The bytes of files, and of all files in directories."""
    files = [p for path in paths for p in ([path] if not path.is_dir() else path.rglob("*"))]
    return sum(p.stat().st_size for p in files if p.is_file())
