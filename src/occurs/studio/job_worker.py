"""The process of one job: it checks the rules, reads the events, runs or analyses, and writes what it found.

``python -m occurs.studio.job_worker`` reads one line of JSON from standard input, what is to be done, and writes lines
of JSON to standard output: ``{"progress": ..}`` from time to time, and at the end ``{"done": .., "problems": ..}`` or
``{"failed": problems}``.  Nothing else can reach that output.  It ends when its input does, as its server is gone then.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occurs.errors import DefinitionProblem, LimitProblem, OccursError, Problem
from occurs.lean import postpone_pandas
from occurs.studio.limits import LIMITS
from occurs.studio.memory import limit_memory

if TYPE_CHECKING:
    from occurs.checked_program import CheckedProgram
    from occurs.model.source import Source
    from occurs.program import Program
    from occurs.progress import Progress
    from occurs.services.events import RunOptions

#: seconds between two lines that say how far a job is
EVERY = 0.2

#: the system's words where a library finds no room in the memory that the job may have
_NO_ROOM = "failed to map segment"
_ELSEWHERE = "use `occurs run`, which has no such limit"

Tell = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """One job."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anybody prints does not get between the lines

    def tell(line: Mapping[str, Any]) -> None:
        told.write(json.dumps(line) + "\n")
        told.flush()

    given = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, args=(Path(given["folder"]),), daemon=True).start()
    # all that an end without memory needs is loaded; a library that does not fit would not be a MemoryError
    as_data(Problem("", ""))
    import occurs.services.events  # noqa: F401
    from occurs.languages.kit.language import suffixes

    suffixes()  # a directory that cannot be listed for want of memory looks like an empty one
    postpone_pandas()
    limit_memory(given["memory"])
    try:
        tell(done(given, tell))
    except OccursError as error:
        tell({"failed": [as_data(p) for p in error.problems]})
    except MemoryError:
        _traceback()
        tell({"failed": [as_data(_too_large(given["memory"]))]})
    except OSError as error:  # a full disk, most often
        _traceback()
        text = f"the result of the job cannot be written: {error.strerror or error}"
        hint = "make room in the directory for temporary files, or name another one in TMPDIR"
        tell({"failed": [as_data(Problem("cannot-write", text, hint=hint))]})
    except Exception as error:
        _traceback()
        text = f"the job broke off: {type(error).__name__}: {error}"
        bug = Problem("internal", text, hint="please report it")
        tell({"failed": [as_data(_too_large(given["memory"]) if _NO_ROOM in text else bug)]})
    told.close()
    os._exit(0)  # no time is lost with taking a large heap apart


def _too_large(memory: int) -> Problem:
    text = f"the job needs more than {memory >> 20:,} MB of memory"
    return Problem("memory", text, hint="run it on fewer events, or with `occurs run`, which has no such limit")


def _end_with_server(folder: Path) -> None:
    # not through sys.stdin, whose lock the end of the process would wait for
    with contextlib.suppress(ConnectionError):
        while os.read(0, 1024):
            pass
    shutil.rmtree(folder, ignore_errors=True)  # nobody else does, where the server was killed
    with contextlib.suppress(OSError):
        folder.parent.rmdir()
    os._exit(1)


def _traceback() -> None:
    if os.environ.get("OCCURS_TRACEBACK"):
        traceback.print_exc()


def as_data(problem: Problem) -> dict[str, Any]:
    """A problem as the interface shows it."""
    from occurs.services.checks import told

    return asdict(told([replace(problem, value=None)])[0])  # a value may be a list, which cannot be compared


# --- what is asked for ------------------------------------------------------------------------------------------------


def done(given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    os.chdir(given["root"])
    if given["kind"] == "space":
        return _space(given, tell)
    from occurs.loading import language_of
    from occurs.program import Program
    from occurs.services.events import Reader, RunOptions, sources_of

    texts = [(text.removeprefix("\ufeff"), path, language_of(path)) for path, text in given["texts"].items()]
    program = Program(texts, folders={path: Path(path).parent.absolute() for path in given["texts"]})
    options = RunOptions(given["options"])
    if given["kind"] == "random":
        return _random(program, options, given["net"], tell)
    if given.get("default"):
        from occurs.services import offered

        given = {**given, "events": offered(given["events"], given["texts"], given["options"])}

    def reading(path: str, done: int, total: int) -> None:
        tell({"progress": {"done": done, "total": total, "at": None, "ticks": None, "found": 0, "reading": path}})

    reader = Reader("a job", given["most_bytes"], _ELSEWHERE, reading)
    sources, lines = sources_of(given["events"], program.declared, options.input, reader)
    rows = sum(len(s.table) for s in sources)
    if rows > given["most_rows"]:
        text = f"the events have {rows:,} rows, and a job reads at most {given['most_rows']:,}"
        raise LimitProblem.of("too-many-rows", text, hint=_ELSEWHERE)
    if given["kind"] == "verify":
        return _verify(program, sources, options, given["net"], tell)
    if given["kind"] in ("why", "why-not"):
        from occurs.studio import questions

        tell({"progress": {"done": 0, "total": rows, "at": None, "ticks": None, "found": 0}})
        asked = questions.Asked(program, sources, options, given["texts"])
        if given["kind"] == "why":
            return {"done": {"why": asked.why(given["asked"])}, "problems": []}
        return {"done": {"why_not": asked.why_not(given["asked"], Path(given["folder"]))}, "problems": []}
    tell({"progress": {"done": 0, "total": rows, "at": None, "ticks": None, "found": 0}})
    checked = program.checked.adjusted(**options.plan)
    return _run(checked, sources, lines, options, given, tell)


def _shown(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    return [as_data(p) for p in problems]


def _teller(tell: Tell, found: Callable[[int, int], int] = lambda done, total: 0) -> Callable[[int, int], None]:
    """Tells from time to time how many of how many are done."""
    last = 0.0

    def told(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY or done == total:
            last = now
            tell(
                {"progress": {"done": done, "total": total, "at": None, "ticks": None, "found": found(done, total)}}
            )  # fmt: skip

    return told


# --- nets -------------------------------------------------------------------------------------------------------------


def _verify(
    program: Program, sources: list[Source], options: RunOptions, net: Mapping[str, Any], tell: Tell
) -> dict[str, Any]:
    from occurs.services.events import time_text
    from occurs.studio.results import exact

    tell({"progress": {"done": 0, "total": 4, "at": None, "ticks": None, "found": 0}})
    most = {} if net["rows"] is None else {"max_events": net["rows"]}
    try:
        result = program.verify(sources, first=net["first"], progress=_teller(tell), **most, **options.to_verify())
    except LimitProblem as error:  # its hint is an option of the command
        hint = "choose fewer events; the reference semantics and the nets are slow"
        raise LimitProblem([replace(p, hint=hint) for p in error.problems]) from None
    kind = program.checked.history(sources, options.input).kind if result.differences else None
    return {
        "done": {
            "equal": result.equal, "report": result.report, "sides": list(result.sides),
            "table": [{"type": t, "counts": list(counts)} for t, counts in result.counts.items()],
            "differences": [
                {
                    "type": d.type, "side": d.side, "time": time_text(d.time, kind), "ticks": exact(d.time),
                    "text": d.text, "why": list(d.why),
                }
                for d in result.differences
                if kind is not None
            ],
            "firings": dict(result.firings), "without": result.without,
        },
        "problems": _shown(program.problems),
    }  # fmt: skip


def _space(given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    from occurs.services import net_analysis, nets

    net, limits = given["net"], nets.Limits(LIMITS.net_nodes, LIMITS.net_events)
    if "data" in net:
        opened = nets.of_net_file(
            net["path"], net["data"].encode("iso-8859-1"), black=net["black"], limits=limits
        )
        if not opened.runs:
            raise DefinitionProblem([replace(p, severity="error") for p in opened.problems])
    else:
        options = {name: net[name] for name in ("black", "first", "sink_exits")}
        opened = nets.of_rules(
            given["texts"], given["events"], given["options"], most_rows=net["rows"] or 1_000, limits=limits, **options
        )
    told = _teller(tell, lambda expanded, known: known)
    told(0, 1)
    found = net_analysis.space(opened.net, net["max_states"], told)
    return {"done": asdict(found), "problems": _shown(opened.problems)}


def _random(program: Program, options: RunOptions, net: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    from occurs.services import net_analysis

    stream = net_analysis.stream(net["stream"], net.get("file"))
    more = {name: net[name] for name in ("runs", "seed", "steps", "black", "first", "sink_exits")}
    found = net_analysis.random_runs(
        program, stream, unit=options.input.time_unit, progress=_teller(tell), **more
    )
    return {"done": asdict(found), "problems": []}


# --- a run ------------------------------------------------------------------------------------------------------------


def _run(
    program: CheckedProgram, sources: list[Source], lines: list[Any], options: RunOptions, given: Mapping[str, Any],
    tell: Tell,
) -> dict[str, Any]:  # fmt: skip
    from occurs.hosts.local import detect
    from occurs.services.events import time_text
    from occurs.studio.job_results import Writer

    program = program.reasoning().noticing()
    history = program.history(sources, replace(options.input, places=True))
    most, last = given["most_found"], 0.0

    def told(so_far: Progress) -> None:
        nonlocal last
        if so_far.found > most:
            text = f"there are more than {most:,} detections, and a job keeps no more"
            raise LimitProblem.of("too-many-detections", text, hint=_ELSEWHERE)
        now = time.monotonic()
        if now - last >= EVERY or so_far.done == so_far.total:
            last = now
            at = time_text(so_far.at, history.kind)
            tell({"progress": {**asdict(so_far), "at": at, "ticks": so_far.at}})

    started = options.input.start is not None
    found = detect(
        program, history, started=started, ended=options.ended, because=True, only=options.only, progress=told
    )  # fmt: skip
    stage = program.plan(history.schemas, history.kind)
    result = Writer(Path(given["folder"]), history, stage, sources, lines).write(found)
    return {"done": result, "problems": _shown([*program.problems, *found.notices])}


if __name__ == "__main__":
    main()
