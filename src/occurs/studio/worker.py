"""The language worker: a process that answers what an editor asks of rules, one JSON line after another.

``{"id": 1, "call": "check", "args": {..}}`` -> ``{"id": 1, "result": ..}`` or ``{"id": 1, "error": {kind, message}}``.
It says ``{"ready": true}`` when the engine is loaded, and ends when its standard input does.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

import msgspec

from occurs.lean import postpone_pandas
from occurs.services.answers import Outline, Problem
from occurs.studio import shapes
from occurs.studio.limits import LIMITS
from occurs.studio.memory import limit_memory

Texts = Mapping[str, str]
#: the largest integer that JavaScript holds as it is
_EXACT = 2**53 - 1


class Request(msgspec.Struct):
    """A line that comes in."""

    id: int
    call: str
    args: dict[str, Any]


def main() -> None:
    """Answer the lines of standard input until it ends."""
    serve(_calls)


def serve(make: Callable[[], Mapping[str, Callable[..., Any]]]) -> None:
    """Answer the lines of standard input with the calls that ``make`` returns, by name, until it ends."""
    lines, out = _own_pipes()
    limit_memory(int(os.environ.get("OCCURS_STUDIO_MEMORY", "0")))
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(lines, waiting), daemon=True).start()
    calls = make()
    postpone_pandas()
    _write(out, {"ready": True})
    while True:
        request = msgspec.json.decode(waiting.get(), type=Request)
        try:
            _write(out, {"id": request.id, "result": calls[request.call](**request.args)})
        except MemoryError:
            os._exit(3)
        except Exception as error:
            if os.environ.get("OCCURS_TRACEBACK"):
                traceback.print_exc()
            _write(out, {"id": request.id, "error": _told(error)})


def _calls() -> dict[str, Callable[..., Any]]:
    """The calls by name; this loads the engine."""
    from occurs import services
    from occurs.errors import InputProblem
    from occurs.services.events import RunOptions, described
    from occurs.services.peeking import heads

    def chosen(texts: Texts, events: list[str], options: dict[str, Any], default: bool) -> list[str]:
        return services.offered(events, texts, options) if default else events

    def check(texts: Texts, events: list[str], options: dict[str, Any]) -> Any:
        found = services.check(texts)
        problems = [*too_many(found.outline), *found.problems]
        return {"problems": problems, "outline": found.outline, "events": services.offered(events, texts, options)}

    def complete(texts: Texts, path: str, offset: int, **of: Any) -> Any:
        found = services.complete(path, texts, offset, known(texts, **of))
        return {"from": found.start, "items": found.items}

    def hover(texts: Texts, path: str, offset: int, **of: Any) -> Any:
        return services.hover(path, texts, offset, known(texts, **of))

    def definition(texts: Texts, path: str, offset: int, **of: Any) -> Any:
        return {"places": services.definition(path, texts, offset, known(texts, **of))}

    def rename(texts: Texts, path: str, offset: int, to: str | None, **of: Any) -> Any:
        found = services.rename(path, texts, offset, to, known(texts, **of))
        edits = {p: [shapes.Edit(e.start, e.to, e.insert) for e in made] for p, made in found.edits.items()}
        return shapes.Renamed(found.name, found.kind, found.span, edits, list(found.problems))

    def known(texts: Texts, events: list[str], options: dict[str, Any], default: bool) -> Any:
        return services.known_types(chosen(texts, events, options, default), options)

    def words() -> Any:
        return services.words()

    def options() -> Any:
        return described()

    def format(path: str, text: str) -> Any:
        return services.format_text(path, text)

    def peek(texts: Texts, events: list[str], options: dict[str, Any], default: bool, rows: int) -> Any:
        return plain(services.peek(chosen(texts, events, options, default), options, rows))

    def plan(texts: Texts, events: list[str], options: dict[str, Any], default: bool, optional: bool) -> Any:
        # a plan has no times: one that is wrong is told where the program is run
        options = {name: value for name, value in options.items() if name not in ("start", "until")}
        run = RunOptions({**options, "bad_rows": "skip"}).to_verify()
        try:
            sources = heads(chosen(texts, events, options, default), {**options, "bad_rows": "skip"}) or None
            return plain(services.plan(texts, sources, run))
        except InputProblem:  # what is wrong with the events is told where they are run
            if not optional:
                raise
        return plain(services.plan(texts, None, run))

    def graph(text: str, texts: Texts, path: str, **of: Any) -> Any:
        return plain(services.graph(text, texts, path, known(texts, **of)))

    def draw(text: str, statement: str | None, canvas: dict[str, Any], texts: Texts, path: str, **of: Any) -> Any:
        return edited(services.draw(text, statement, canvas, texts, path, known(texts, **of)))

    def domain(text: str, change: dict[str, Any], texts: Texts, path: str, **of: Any) -> Any:
        return edited(services.change_domain(text, change, texts, path, known(texts, **of)))

    def edited(found: Any) -> Any:
        return {**plain(found), "edits": [{"from": e.start, "to": e.to, "insert": e.insert} for e in found.edits]}

    def model(text: str, statement: str) -> Any:
        return services.model(text, statement)

    def model_text(model: dict[str, Any]) -> Any:
        return {"text": services.model_text(model)}

    def medit_text(xml: str) -> Any:
        return {"text": services.medit_text(xml)}

    services.words()
    services.check({})
    made: list[Callable[..., Any]] = [
        check, complete, hover, definition, rename, words, options, format, peek, plan,
        graph, draw, domain, model, model_text, medit_text,
    ]  # fmt: skip
    return {one.__name__: one for one in made}


def plain(value: Any) -> Any:
    """An answer with values of events as plain data for JSON: integers that JavaScript would round are texts."""
    return _exact(msgspec.to_builtins(value))


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > _EXACT else value


def too_many(outline: Iterable[Outline]) -> list[Problem]:
    """A problem for every file with more statements than are supported."""
    out = []
    for file, n in sorted(Counter(entry.file for entry in outline).items()):
        if n > LIMITS.statements:
            text = f"{file} has {n:,} statements; at most {LIMITS.statements:,} are supported"
            out.append(Problem("too-large", "error", text, "split the file", file))
    return out


def _told(error: Exception) -> dict[str, Any]:
    from occurs.errors import OccursError

    if isinstance(error, OccursError):
        return {"kind": error.kind, "message": error.message, "hint": error.hint, "problems": error.problems}
    hint = "this is a bug in Occurs; start the studio with OCCURS_TRACEBACK=1 to see the traceback"
    return {"kind": "internal", "message": f"{type(error).__name__}: {error}", "hint": hint, "problems": []}


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output for the lines alone: what else reads or prints here gets nothing, or goes to stderr."""
    lines = os.fdopen(os.dup(0), "rb")
    out = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return lines, out


def _read(lines: IO[bytes], waiting: queue.SimpleQueue[bytes]) -> None:
    try:
        for line in lines:
            waiting.put(line)
    finally:  # the server is gone, whatever is computed now
        os._exit(0)


def _write(out: IO[bytes], value: Any) -> None:
    out.write(msgspec.json.encode(value) + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
