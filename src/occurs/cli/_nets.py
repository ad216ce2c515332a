"""Nets for the commands: from EPL rules, with the events of an input as tokens, or from a file of a net."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import occurs
from occurs.cli import _input, _options
from occurs.connect.places import user_path
from occurs.errors import DefinitionProblem, UsageProblem
from occurs.nets.net import Net
from occurs.services.net_sources import SUFFIXES, Loaded, in_order, of_file, of_program


def sink_exits(command: Any) -> Any:
    text = "Keep the Exit place below `every` empty; in the paper it collects tokens."
    return click.option("--sink-exits", is_flag=True, help=text)(command)


def max_events(command: Any) -> Any:
    text = "Maximum number of events."
    option = click.option(
        "--max-events", type=click.IntRange(1), default=100_000, show_default=True, metavar="N", help=text
    )
    return option(command)


def load(
    sources: Sequence[str],
    given: _options.Input,
    language: str | None,
    *,
    first: int,
    sink_exits: bool = False,
    max_events: int | None = None,
    start: int | None = None,
    runs: bool = False,
) -> Loaded:
    """The net that ``sources`` say: files of EPL, or one file of a net, into which no events go.

    ``start``: when the clock starts, if there are no events.  ``runs``: will it run?  Then what of a file is not
    supported must not matter: DefinitionProblem.
    """
    nets = [s for s in sources if s.endswith(SUFFIXES)]
    if nets:
        if len(sources) > 1:
            text = f"{nets[0]} is a net and cannot be combined with other files"
            raise UsageProblem.of("bad-option", text, hint="give one net, or EPL rules")
        if given.events:
            text = f"--events cannot be used with {nets[0]}: a net contains its own tokens"
            raise UsageProblem.of("bad-option", text, hint="--events is for EPL rules")
        return Loaded(_read(nets[0], runs))
    program = occurs.load(*sources, language=language)
    # how much a search may keep is no matter here
    _input.warn([p for p in program.problems if p.kind not in ("unbounded-state", "multiplying")])
    history = None
    rows: list[Any] = []
    if given.events:
        with _input.doing("reading"):
            history = program.checked.history(_input.read(program.checked, given), given.options(), declared=True)
        rows = in_order(history, max_events, "raise the limit with --max-events N")
    name = Path(sources[0]).stem
    unit = given.time_unit
    return of_program(program, history, rows, name=name, first=first, sink_exits=sink_exits, start=start, unit=unit)


def _read(path: str, runs: bool) -> Net:
    file = user_path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageProblem.of("missing-file", f"{path}: {error.strerror or error}") from error
    net, notes = of_file(data, path)
    if runs and any(n.severity == "warning" for n in notes):
        raise DefinitionProblem([replace(n, severity="error") for n in notes if n.severity == "warning"])
    _input.warn(notes)
    return net
