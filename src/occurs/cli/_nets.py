"""Nets for the commands: from EPL rules, with the events of an input as tokens, or from a file of a net."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

import occurs
from occurs.cli import _input, _options
from occurs.connect.places import user_path
from occurs.errors import DefinitionProblem, LimitProblem, SyntaxProblem, UsageProblem
from occurs.languages.epl.nets import Translation, translate
from occurs.model.history import History
from occurs.model.ticks import time_unit
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.nets.net import Marking, Net
from occurs.nets.transform import to_priority_net
from occurs.nets.validate import violations

if TYPE_CHECKING:
    from occurs.program import Program

#: files that hold a net
SUFFIXES = (".cpn", ".net.json")


@dataclass(frozen=True)
class Loaded:
    """A net; of rules also what its names mean, and the schemas and times of what it derives."""

    net: Net
    translation: Translation | None = None
    schemas: dict[str, Schema] | None = None
    kind: TimeKind | None = None

    def with_encoding(self, encoded: bool) -> Net:
        """The net as it is, or without black transitions (Transformation 1)."""
        return to_priority_net(self.net) if encoded else self.net

    def outputs(self, marking: Marking) -> dict[str, pa.Table]:
        """What has been derived, as tables by type.  Only of a net of rules."""
        assert self.translation is not None
        assert self.schemas is not None
        assert self.kind is not None
        time = pa.timestamp("us", tz="UTC") if self.kind.timestamp else pa.int64()
        found: dict[str, list[dict[str, Any]]] = {q.name: [] for q in self.translation.queries}
        for name, at, values in self.translation.outputs(marking):
            found[name].append({"type": name, "time": at, **values})
        tables = {}
        for name, rows in found.items():
            schema = self.schemas[name]
            plain = [pa.field("type", pa.string()), pa.field("time", pa.int64()), *schema.arrow()]
            table = pa.Table.from_pylist(rows, pa.schema(plain)).sort_by("time")
            tables[name] = table.set_column(1, pa.field("time", time), table["time"].cast(time))
        return tables


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
        rows = in_order(history, max_events)
    name = Path(sources[0]).stem
    unit = given.time_unit
    return of_program(program, history, rows, name=name, first=first, sink_exits=sink_exits, start=start, unit=unit)


def of_program(
    program: Program,
    history: History | None,
    rows: Sequence[Any],
    *,
    name: str,
    first: int,
    sink_exits: bool = False,
    start: int | None = None,
    unit: str | None = None,
) -> Loaded:
    """The net of a program of EPL statements.  DefinitionProblem for what has no translation.

    ``start``, ``unit``: of the clock, where there is no history.
    """
    others = [n for n in program.checked.languages if n != "epl"]
    if others:
        named = ", ".join(n.upper() for n in others)
        text = f"definitions in {named} cannot be translated to nets"
        raise UsageProblem.of("unsupported", text, hint="only EPL statements can")
    if history is not None:
        kind = history.kind
    else:
        # the times of a random stream are numbers; where there are no times at all, nothing says that they are
        kind = TimeKind() if unit is None and start is None else TimeKind(False, time_unit(unit))
    bound = program.checked.bind(None if history is None else history.schemas, kind)
    if "epl" not in bound.parts:
        text = "there is no definition to translate to a net"
        raise UsageProblem.of("unsupported", text, hint="write an EPL statement")
    part: Any = bound.parts["epl"]
    if history is not None and history.clock is not None:
        start = history.clock[0]
    made = translate(part, first, sink_exits, rows, True, inputs=None if history is None else history.schemas,
                     kind=kind, start=start, name=name)  # fmt: skip
    return Loaded(made.net, made, bound.schemas, kind)


def in_order(history: History, most: int | None) -> list[Any]:
    """The rows of an input in the total order.  LimitProblem if there are more than ``most``."""
    from occurs.verify.compare import occurrences_of
    from occurs.verify.nets import rows_in_order

    size = sum(len(t) for t in history.tables.values())
    if most is not None and size > most:
        text = f"{size:,} events are too many for a net (at most {most:,})"
        raise LimitProblem.of("max-events", text, hint="raise the limit with --max-events N")
    rows = []
    for event in occurrences_of(history.tables):
        values = dict(event.attributes)
        sequence = values.pop("sequence", None)
        values.pop("label", None)
        rows.append(type(event)(event.type, event.time, values, sequence))
    return rows_in_order(rows)


def _read(path: str, runs: bool) -> Net:
    file = user_path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageProblem.of("missing-file", f"{path}: {error.strerror or error}") from error
    if path.endswith(".cpn"):
        from occurs.nets import cpn_read

        net, notes = cpn_read.read(data, path)
        if runs and any(n.severity == "warning" for n in notes):
            raise DefinitionProblem([replace(n, severity="error") for n in notes if n.severity == "warning"])
        _input.warn(list(notes))
        return _valid(net, path)
    from occurs.nets import netjson

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SyntaxProblem.of("syntax", f"{path}: byte {error.start} is not valid UTF-8") from error
    return _valid(netjson.read(text, path), path)


def _valid(net: Net, path: str) -> Net:
    """The net that a file holds.  DefinitionProblem names all the rules of nets that it breaks."""
    found = violations(net)
    if found:
        raise DefinitionProblem([replace(v.problem(net), file=path) for v in found])
    return net
