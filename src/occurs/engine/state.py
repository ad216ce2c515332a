"""The state of an engine: what outlives a call, and its saved form.

Saved as named pieces of Arrow IPC (never pickle: a checkpoint must not be able to run code); which ones, says
:mod:`occurs.engine.saved_pieces`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import CheckpointProblem, OccursError
from occurs.model.labels import Labels
from occurs.model.types import Type
from occurs.operators import states
from occurs.operators.columns import Column
from occurs.operators.contract import Operator
from occurs.operators.rows import Rows

#: of the format that is written; :data:`READ` are those that are read
VERSION = 4
READ = (2, 3, 4)
#: before the checksum of a piece.  Pieces that were written before there were checksums begin as Arrow streams do.
_CHECKED, _ARROW = b"OCCR", b"\xff\xff\xff\xff"


@dataclass
class State:
    """``pasts``: per type the rows that may still be looked at.  ``consumed``: per rule place and type serial numbers
    of rows in ``pasts`` that the rule has consumed.  ``serials``: the next serial number per type.  ``frontier``: all
    instants up to here are done.  ``waiting``: rows that are later than the frontier; ``later``: the states of the
    segments of a stage that has several.  ``kept``: the states of operators, by the identity of the operator;
    ``loaded``: tables by definition, which no operator has taken."""

    pasts: dict[str, Rows]
    consumed: dict[tuple[int, str], np.ndarray]
    serials: dict[str, int]
    frontier: int | None = None
    waiting: dict[str, Rows] = field(default_factory=dict)
    later: list[State] = field(default_factory=list)
    kept: dict[str, states.State] = field(default_factory=dict)
    loaded: dict[str, Mapping[str, pa.Table]] = field(default_factory=dict)

    def copy(self) -> State:
        """The same state, which a call may go on from while this one stays as it is (rows and tables never change)."""
        return State(
            dict(self.pasts), dict(self.consumed), dict(self.serials), self.frontier, dict(self.waiting),
            [s.copy() for s in self.later], {o: kept.copy() for o, kept in self.kept.items()}, dict(self.loaded),
        )  # fmt: skip

    def rows(self) -> int:
        """How many rows the state holds."""
        return self.held + self._others()

    def _others(self) -> int:
        """How many rows there are that no operator keeps."""
        loaded = sum(len(t) for tables in self.loaded.values() for t in tables.values())
        rows = sum(len(r) for r in (*self.pasts.values(), *self.waiting.values()))
        return loaded + rows + sum(s._others() for s in self.later)

    @property
    def held(self) -> int:
        """How many rows, values and partial matches operators keep."""
        return sum(state.size for state in self.kept.values()) + sum(s.held for s in self.later)

    def sizes(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many rows the state holds by definition (its identity), and of the past by type."""
        own = {d: sum(map(len, tables.values())) for d, tables in self.tables().items()}
        pasts = {t: len(rows) for t, rows in self.pasts.items()}
        for state in self.later:
            for into, more in zip((own, pasts), state.sizes()):
                for name, n in more.items():
                    into[name] = into.get(name, 0) + n
        return own, pasts

    def tables(self) -> dict[str, Mapping[str, pa.Table]]:
        """What operators keep, as tables by definition."""
        return self.loaded | {d: tables for kept in self.kept.values() for d, tables in kept.tables().items()}

    def adopt(self, operators: Sequence[Operator]) -> None:
        """Restore the states of ``operators``; the definitions of other operators run in one of these now."""
        names = {operator.identity for operator in operators}
        for identity in [o for o in self.kept if o not in names]:
            self.loaded |= self.kept.pop(identity).tables()
        if self.loaded:
            for operator in operators:
                saved = {d: self.loaded[d] for d in operator.members if d in self.loaded}
                if saved and operator.identity not in self.kept:
                    self.kept[operator.identity] = operator.restored(saved)
            members = {d for operator in operators for d in operator.members}
            self.loaded = {d: tables for d, tables in self.loaded.items() if d not in members}

    def of(self, operator: Operator) -> states.State:
        """What an operator keeps."""
        kept = self.kept.get(operator.identity)
        if kept is None:
            kept = self.kept[operator.identity] = operator.fresh()
        return kept


def meta_to_ipc(meta: Mapping[str, Any]) -> bytes:
    """Plain JSON with the version of the format, as Arrow IPC."""
    return to_ipc(pa.table({"meta": [json.dumps({"version": VERSION, **meta})]}))


def meta_from_ipc(data: bytes) -> dict[str, Any]:
    """Raises CheckpointProblem for torn bytes and for another version."""
    with restoring("the entry of the saved state"):
        meta: dict[str, Any] = json.loads(from_ipc(data).column("meta")[0].as_py())
        version = meta["version"]
    if version not in READ:
        known = f"this Occurs reads the versions {READ[0]} to {READ[-1]}"
        text = f"the saved state has version {version}, but {known}"
        if version == 1:
            text = f"Occurs 0.1 wrote the saved state (version 1), but {known}"
        hint = "use an empty state, or replay from history"
        raise CheckpointProblem.of("bad-checkpoint", text, hint=hint)
    return meta


def past_table(rows: Rows) -> pa.Table:
    """Rows with all that outlives a call."""
    fields = [pa.field("time", pa.int64())]
    arrays = [pa.array(rows.time)]
    if rows.serial is not None:
        fields.append(pa.field("serial", pa.int64()))
        arrays.append(pa.array(rows.serial))
    if rows.labels is not None:
        fields += [pa.field("hi", pa.uint64()), pa.field("lo", pa.uint64())]
        arrays += [pa.array(rows.labels.hi), pa.array(rows.labels.lo)]
    if rows.at is not None and rows.derived is not None:
        fields += [pa.field("at", pa.int64()), pa.field("derived", pa.int32())]
        arrays += [pa.array(rows.at), pa.array(rows.derived)]
    for name, column in rows.columns.items():
        array = column.arrow
        fields.append(pa.field("." + name, array.type, metadata={"type": column.type.value}))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def rows_of_table(type: str, table: pa.Table) -> Rows:
    """What :func:`past_table` has made a table."""
    columns = {}
    for f in table.schema:
        if f.name.startswith("."):
            columns[f.name[1:]] = Column.of(table.column(f.name), Type((f.metadata or {})[b"type"].decode()))
    present = table.column_names
    labels = None
    if "hi" in present:
        labels = Labels(table.column("hi").to_numpy(), table.column("lo").to_numpy())
    serial = table.column("serial").to_numpy() if "serial" in present else None
    at = table.column("at").to_numpy() if "at" in present else None
    derived = table.column("derived").to_numpy() if "derived" in present else None
    return Rows(type, table.column("time").to_numpy(), columns, 0, serial, labels, derived, at)


#: a piece with more bytes is compressed
SMALL = 4096
_PACKED, _PLAIN = pa.ipc.IpcWriteOptions(compression="lz4"), pa.ipc.IpcWriteOptions()


def to_ipc(table: pa.Table) -> bytes:
    """A checksum and an Arrow stream, whose buffers are compressed unless there are few bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_PACKED if table.nbytes > SMALL else _PLAIN) as writer:
        writer.write_table(table)
    stream = sink.getvalue().to_pybytes()
    return _CHECKED + zlib.crc32(stream).to_bytes(4, "little") + stream


def from_ipc(data: bytes | pa.Buffer) -> pa.Table:
    """What :func:`to_ipc` has written.  Raises CheckpointProblem (``bad-checkpoint``) for any other bytes."""
    with restoring("a piece of the saved state"):
        stream = pa.py_buffer(data)
        head = stream.slice(0, 8).to_pybytes()
        if head[:4] == _CHECKED:
            stream = stream.slice(8)
            if head[4:] != zlib.crc32(stream).to_bytes(4, "little"):
                raise ValueError("its checksum is wrong")
        elif head[:4] != _ARROW:
            raise ValueError("it does not start like a saved piece")
        return pa.ipc.open_stream(stream).read_all()


@contextmanager
def restoring(what: str, hint: str | None = None) -> Iterator[None]:
    """The body reads saved state: what goes wrong there is a CheckpointProblem that says ``what`` is damaged."""
    try:
        yield
    except OccursError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, AssertionError, pa.ArrowException) as error:
        missing = f"there is no {error}" if isinstance(error, KeyError) else str(error) or repr(error)
        raise CheckpointProblem.damaged(what, missing, hint) from error
