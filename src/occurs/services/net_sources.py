"""Nets of programs, with the events of an input as tokens, and nets of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from occurs.errors import DefinitionProblem, LimitProblem, Problem, SyntaxProblem, UsageProblem
from occurs.languages.epl.nets import Translation, translate
from occurs.model.history import History
from occurs.model.occurrence import Occurrence
from occurs.model.source import source_and_row
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


def of_program(
    program: Program,
    history: History | None,
    rows: Sequence[Occurrence],
    *,
    name: str,
    first: int = 0,
    sink_exits: bool = False,
    start: int | None = None,
    unit: str | None = None,
    partial: bool = False,
) -> Loaded:
    """The net of the EPL statements of a program.

    Args:
        program: The program.
        history: The input that the rows are of; None if there is none.
        rows: The events that become tokens, in order.
        name: The name of the net.
        first: The number at which searches start.
        sink_exits: Whether to keep the Exit places below ``every`` empty.
        start: The time at which the clock starts, where there is no history.
        unit: The unit of times, where there is no history.
        partial: Whether to leave out statements that have no net, and definitions in other languages, if there are
            others.

    Raises:
        DefinitionProblem: A statement has no translation.
        UsageProblem: There are no EPL statements, or definitions in other languages.
        InputProblem: A row has a value that a token cannot hold.
    """
    others = [n for n in program.checked.languages if n != "epl"]
    if others and not partial:
        named = ", ".join(n.upper() for n in others)
        text = f"definitions in {named} cannot be translated to nets"
        raise UsageProblem.of("unsupported", text, hint="only EPL statements can")
    if history is not None:
        kind = history.kind
    else:
        # the times of a random stream are numbers; where there are no times at all, nothing says that they are
        kind = TimeKind() if unit is None and start is None else TimeKind(False, time_unit(unit))
    bound = program.checked.bind(None if history is None else history.schemas, kind)
    part: Any = bound.parts.get("epl")
    if part is None or (partial and not part.nodes):
        text = "there is no definition to translate to a net"
        raise UsageProblem.of("unsupported", text, hint="write an EPL statement")
    if history is not None and history.clock is not None:
        start = history.clock[0]
    made = translate(part, first, sink_exits, rows, True, inputs=None if history is None else history.schemas,
                     kind=kind, start=start, name=name, partial=partial)  # fmt: skip
    return Loaded(made.net, made, bound.schemas, kind)


def size_of(history: History) -> int:
    """The number of rows of an input."""
    return sum(len(t) for t in history.tables.values())


def in_order(history: History, most: int | None, hint: str | None = None) -> list[Occurrence]:
    """The rows of an input in the total order.  LimitProblem, with ``hint``, if there are more than ``most``."""
    size = size_of(history)
    if most is not None and size > most:
        text = f"{size:,} events are too many for a net (at most {most:,})"
        raise LimitProblem.of("max-events", text, hint=hint)
    return _sorted(history.tables, history.places)


def first_in_order(history: History, most: int) -> list[Occurrence]:
    """The first ``most`` rows of an input in the total order.

    If the input was read with places, the label of each is ``(number of its source, number of its row)``.
    """
    tables, places = dict(history.tables), dict(history.places)
    if size_of(history) > most:
        times = {t: table["time"].cast(pa.int64()).to_numpy() for t, table in tables.items()}
        last = int(np.partition(np.concatenate(list(times.values())), most - 1)[most - 1])
        for t, found in times.items():
            early = found <= last
            tables[t] = tables[t].filter(pa.array(early))
            places |= {t: places[t][early]} if t in places else {}
    return _sorted(tables, places)[:most]


def _sorted(tables: Mapping[str, pa.Table], places: Mapping[str, np.ndarray]) -> list[Occurrence]:
    from occurs.verify.compare import occurrences_of
    from occurs.verify.nets import rows_in_order

    rows = []
    for name, table in tables.items():
        labels: list[tuple[Any, ...]] = [()] * len(table)
        if name in places:
            source, row = source_and_row(places[name])
            labels = list(zip(source.tolist(), row.tolist(), strict=True))
        for event, label in zip(occurrences_of({name: table}), labels, strict=True):
            values = dict(event.attributes)
            sequence = values.pop("sequence", None)
            values.pop("label", None)
            rows.append(Occurrence(event.type, event.time, values, sequence, label))
    return rows_in_order(rows)


def of_file(data: bytes, path: str) -> tuple[Net, list[Problem]]:
    """The net that a file holds, and warnings of what in it is not supported.

    Raises:
        SyntaxProblem: The file cannot be read.
        DefinitionProblem: The net breaks rules; all are named.
    """
    if path.endswith(".cpn"):
        from occurs.nets import cpn_read

        net, notes = cpn_read.read(data, path)
        return _valid(net, path), list(notes)
    from occurs.nets import netjson

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SyntaxProblem.of("syntax", f"{path}: byte {error.start} is not valid UTF-8") from error
    return _valid(netjson.read(text, path), path), []


def _valid(net: Net, path: str) -> Net:
    found = violations(net)
    if found:
        raise DefinitionProblem([replace(v.problem(net), file=path) for v in found])
    return net
