"""The calls of ``/api/v1/nets``: opening, stepping, writing and closing nets."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from anyio import to_thread
from msgspec import UNSET, Raw, json, to_builtins
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from occurs.studio import marks, shapes
from occurs.studio.files import kind_of
from occurs.studio.http import Refused, answer, body, call, problems_refused, query
from occurs.studio.nets import Nets
from occurs.studio.programs import Program
from occurs.studio.project import options_of
from occurs.studio.security import IMAGE_POLICY

_MEDIA = {"cpn": "application/xml", "net.json": "application/json", "svg": "image/svg+xml"}
#: what can be asked for, one at a time
_ASKS = ("steps", "end", "row", "transition", "back", "reset")


@call(body=shapes.NetRequest, answer=shapes.NetOpened)
async def open_net(request: Request) -> Response:
    """Open the net of the program's EPL statements, or of a file."""
    asked = await body(request, shapes.NetRequest)
    studio = request.app.state.studio
    if asked.path is not None and kind_of(studio.folder.check(asked.path)) == "net":
        data = await to_thread.run_sync(net_file, studio, asked.path, asked.texts)
        id, found = await _nets(request).open("file", _stem(asked.path), path=asked.path, data=data, black=asked.black)
        return answer({"id": id, **found})
    program = await to_thread.run_sync(program_of, studio, asked.path, asked.texts)
    settings, default = program.settings, asked.events is None
    options = settings.options if asked.options is None else options_of(asked.options)
    events = await to_thread.run_sync(studio.events, settings.events if default else asked.events, default)
    name = studio.folder.root.name if asked.path is None else _stem(asked.path)
    more = {
        "black": asked.black, "first": asked.first, "sink_exits": asked.sink_exits, "most_rows": asked.rows,
        "name": name,
    }  # fmt: skip
    id, found = await _nets(request).open(
        "rules", name, texts=program.texts, events=events, options=options, default=default and settings.default_events,
        more=more,
    )  # fmt: skip
    return answer(marks.outer({"id": id, **found}, program.marked))


def net_file(studio: Any, path: str, texts: dict[str, str]) -> str:
    """The bytes of a file of a net, as text of one character each."""
    if path not in texts:
        data: bytes = studio.folder.read(path).data
    elif path.endswith(".cpn"):
        data = texts[path].encode("iso-8859-1", "xmlcharrefreplace")
    else:
        data = texts[path].encode(errors="surrogatepass")
    return data.decode("iso-8859-1")


def program_of(studio: Any, path: str | None, unsaved: dict[str, str]) -> Program:
    """A file of rules, or the whole program.  Refuses one with errors (422)."""
    if path is not None and kind_of(path) != "rules":
        raise Refused(400, "bad-request", f"{path} is neither a file of rules nor of a net")
    program: Program = studio.read(unsaved, path)
    if path is not None:
        own = [p for p in program.problems if p.file == path]
        program = replace(program, texts={path: program.texts[path]}, problems=own)
    if wrong := [p for p in program.problems if p.severity == "error"]:
        raise problems_refused(wrong)
    if not program.texts:
        raise Refused(422, "problems", "the program has no rules", "write a file of rules")
    return program


@call(body=shapes.FireRequest, answer=shapes.NetState)
async def fire(request: Request) -> Response:
    """Fire transitions of a net, take firings back, or restart it."""
    asked = await body(request, shapes.FireRequest)
    given = [name for name in _ASKS if getattr(asked, name) is not UNSET]
    if len(given) != 1:
        raise Refused(400, "bad-request", f"ask for one of {', '.join(_ASKS)}", f"found {', '.join(given) or 'none'}")
    (what,) = given
    if asked.binding is not UNSET and what != "transition":
        raise Refused(400, "bad-request", "`binding` needs a `transition`")
    if asked.breaks and what not in ("steps", "end", "row"):
        raise Refused(400, "bad-request", "`breaks` are for runs: steps, end, row")
    args: dict[str, Any]
    match what:
        case "transition":
            args = {"call": "fire", "transition": asked.transition, "binding": asked.binding or None}
        case "back":
            args = {"call": "back", "n": asked.back}
        case "reset":
            args = {"call": "reset", "seed": asked.reset}
        case _:
            breaks = to_builtins(asked.breaks) if asked.breaks else None
            steps, row = (None if x is UNSET else x for x in (asked.steps, asked.row))
            args = {"call": "run", "steps": steps, "row": row, "breaks": breaks}
    return answer(await _nets(request).ask(_id(request), args.pop("call"), **args))


@call(body=shapes.NetEdit, answer=shapes.NetOpened)
async def edit(request: Request) -> Response:
    """Change initial tokens, guards, priorities and inscriptions of a net, and restart it."""
    asked, id = await body(request, shapes.NetEdit), _id(request)
    raw = await _nets(request).ask(id, "edit", changes=to_builtins(asked.changes))
    return answer({"id": id, **json.decode(raw, type=dict[str, Raw])})


@call(query=shapes.NetExportQuery, text="image/svg+xml")
async def export(request: Request) -> Response:
    """A net as a file."""
    asked, nets, id = query(request, shapes.NetExportQuery), _nets(request), _id(request)
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", nets.name(id))
    text = await nets.ask(id, "export", format=asked.format, theme=asked.theme)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{asked.format}"'}
    if asked.format == "svg":
        headers["Content-Security-Policy"] = IMAGE_POLICY
    encoding = "iso-8859-1" if asked.format == "cpn" else "utf-8"
    return Response(json.decode(text, type=str).encode(encoding), 200, headers, _MEDIA[asked.format])


@call(status=204)
async def close(request: Request) -> Response:
    """Close a net."""
    await _nets(request).forget(_id(request))
    return Response(status_code=204)


routes = [
    Route("/nets", open_net, methods=["POST"]),
    Route("/nets/{id}/fire", fire, methods=["POST"]),
    Route("/nets/{id}/edit", edit, methods=["POST"]),
    Route("/nets/{id}/export", export),
    Route("/nets/{id}", close, methods=["DELETE"]),
]


def _nets(request: Request) -> Nets:
    found: Nets = request.app.state.studio.nets
    return found


def _id(request: Request) -> str:
    return str(request.path_params["id"])


def _stem(path: str) -> str:
    name = PurePosixPath(path).name
    return name.removesuffix(".net.json").partition(".")[0] or "net"
