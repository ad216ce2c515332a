"""The state of an engine: what outlives a call, and its saved form.

Saved as named pieces of Arrow IPC (never pickle: a checkpoint must not be able to run code): ``meta`` with the version
and the frontier, ``past/<type>`` with the rows that may still be looked at, ``consumed`` with what consuming rules have
used up, by definition, so that it is found again whatever else the program contains.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.errors import CheckpointProblem
from occurs.model.labels import Labels
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.rows import Rows

VERSION = 1


@dataclass
class State:
    """``pasts``: per type the rows that may still be looked at.  ``consumed``: per rule place and type serial numbers
    of rows in ``pasts`` that the rule has consumed.  ``serials``: the next serial number per type.  ``frontier``: all
    instants up to here are done."""

    pasts: dict[str, Rows]
    consumed: dict[tuple[int, str], np.ndarray]
    serials: dict[str, int]
    frontier: int | None = None

    def rows(self) -> int:
        """How many rows the state holds."""
        return sum(len(r) for r in self.pasts.values())


def save(state: State, definitions: Mapping[int, str]) -> dict[str, bytes]:
    """The pieces of a state; ``definitions``: the identity of the rule at each place."""
    out = {f"past/{t}": _ipc(_past(rows)) for t, rows in state.pasts.items()}
    names: list[str] = []
    types: list[str] = []
    serials: list[np.ndarray] = []
    for (place, t), gone in sorted(state.consumed.items()):
        names += [definitions[place]] * len(gone)
        types += [t] * len(gone)
        serials.append(gone)
    numbers = np.concatenate(serials) if serials else np.zeros(0, np.int64)
    consumed = pa.table({"definition": pa.array(names, pa.string()), "type": pa.array(types, pa.string())})
    out["consumed"] = _ipc(consumed.append_column("serial", pa.array(numbers)))
    meta = {"version": VERSION, "frontier": state.frontier, "serials": state.serials}
    out["meta"] = _ipc(pa.table({"meta": [json.dumps(meta)]}))
    return out


def load(pieces: Mapping[str, bytes], definitions: Mapping[int, str]) -> State:
    """The state of the pieces, for rules at these places.  Raises CheckpointProblem."""
    if "meta" not in pieces:
        raise CheckpointProblem.of("bad-state", "the saved state has no `meta` piece", hint="start fresh, or replay")
    meta = json.loads(_table(pieces["meta"]).column("meta")[0].as_py())
    if meta["version"] != VERSION:
        raise CheckpointProblem.of(
            "bad-state",
            f"the saved state has version {meta['version']}, this Occurs reads version {VERSION}",
            hint="start fresh, or replay from history",
        )
    kept = {name: data for name, data in pieces.items() if name.startswith("past/")}
    pasts = {name[len("past/") :]: _rows(name, _table(data)) for name, data in kept.items()}
    places = {d: p for p, d in definitions.items()}
    consumed: dict[tuple[int, str], np.ndarray] = {}
    table = _table(pieces["consumed"])
    names = np.array(table.column("definition").to_pylist(), object)
    types = np.array(table.column("type").to_pylist(), object)
    serials = table.column("serial").to_numpy()
    for definition in dict.fromkeys(names.tolist()):
        for t in dict.fromkeys(types[names == definition].tolist()):
            if definition in places:
                consumed[(places[definition], t)] = serials[(names == definition) & (types == t)]
    return State(pasts, consumed, dict(meta["serials"]), meta["frontier"])


def _past(rows: Rows) -> pa.Table:
    fields = [pa.field("time", pa.int64())]
    arrays = [pa.array(rows.time)]
    if rows.serial is not None:
        fields.append(pa.field("serial", pa.int64()))
        arrays.append(pa.array(rows.serial))
    if rows.labels is not None:
        fields += [pa.field("hi", pa.uint64()), pa.field("lo", pa.uint64())]
        arrays += [pa.array(rows.labels.hi), pa.array(rows.labels.lo)]
    for name, column in rows.columns.items():
        array = column.arrow
        fields.append(pa.field("." + name, array.type, metadata={"type": column.type.value}))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _rows(name: str, table: pa.Table) -> Rows:
    columns = {}
    for f in table.schema:
        if f.name.startswith("."):
            columns[f.name[1:]] = Column.of(table.column(f.name), Type((f.metadata or {})[b"type"].decode()))
    present = table.column_names
    labels = None
    if "hi" in present:
        labels = Labels(table.column("hi").to_numpy(), table.column("lo").to_numpy())
    serial = table.column("serial").to_numpy() if "serial" in present else None
    return Rows(name[len("past/") :], table.column("time").to_numpy(), columns, 0, serial, labels)


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _table(data: bytes) -> pa.Table:
    try:
        return pa.ipc.open_stream(data).read_all()
    except pa.ArrowInvalid as error:
        raise CheckpointProblem.of("bad-state", f"a piece of the saved state is torn: {error}") from error
