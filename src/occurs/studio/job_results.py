"""What a run writes into the folder of its job: a table per type as files of Arrow, and what these are.

Rows are in the order of time.  The constituents of detections have a file of their own per type: whoever looks at times
and attributes does not read them.  :mod:`occurs.studio.results` reads it all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import InputRows, labelled_input
from occurs.model.history import History
from occurs.model.labels import Labels
from occurs.model.source import Source, source_and_row
from occurs.model.time import OPEN
from occurs.model.types import from_arrow
from occurs.plan.stage import Stage
from occurs.studio import results
from occurs.studio.results import BECAUSE, END, FILE, LABEL, LINE, MANIFEST, ROW, TIME

#: detections whose constituents are in memory at the same time
PIECE = 50_000


@dataclass
class Writer:
    """Writes into ``folder`` what was ``found`` by ``stage`` in a history.

    ``sources``: what the history was read of, the first of them with the ``lines`` on which their rows stand.
    """

    folder: Path
    history: History
    stage: Stage
    sources: Sequence[Source]
    lines: Sequence[np.ndarray | None]
    _types: list[dict[str, Any]] = field(default_factory=list)

    def write(self, found: LocalDetections) -> dict[str, Any]:
        """Everything; returns what the job tells of it."""
        for rows in labelled_input(self.stage, self.history):
            self._input(rows)
        reported = list(found)
        for type in (*reported, *(t for t in found.made if t not in reported)):
            self._derived(type, found, "derived" if type in reported else "inner")
        kind, clock = self.history.kind, self.history.clock
        told = {
            "time": {"timestamp": kind.timestamp, "unit": kind.unit},
            "files": [source.file for source in self.sources],
            "types": self._types,
        }
        (self.folder / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
        types = {part: [t for t in self._types if t["part"] == part] for part in ("input", "derived")}
        counted = {part: [{"name": t["name"], "count": t["rows"]} for t in some] for part, some in types.items()}
        schemas = [
            {"name": t["name"], "attributes": [c["name"] for c in t["columns"]], "lasting": t["lasting"]}
            for t in types["derived"]
        ]
        first, last = (None, None) if clock is None else clock
        return {
            "time": told["time"], "first": results.exact(first), "last": results.exact(last), "counts": found.counts,
            "inputs": counted["input"], "types": counted["derived"], "schemas": schemas,
            "total": sum(t["rows"] for t in types["derived"]),
        }  # fmt: skip

    def _input(self, rows: InputRows) -> None:
        table = rows.table
        source, row = source_and_row(rows.places)
        number, line = self._numbers(source, row)
        columns = {TIME: table["time"], **self._ends(table), LABEL: _octets(rows.labels)}
        columns |= {FILE: pa.array(source.astype(np.int32)), ROW: pa.array(number), LINE: line}
        self._put(rows.type, "input", columns, table, ("time", "end", "label", "sequence"))

    def _numbers(self, source: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, pa.Array]:
        """The number of each row in its file, and its line."""
        number, line = row + 1, np.zeros(len(row), np.int64)
        for s in np.unique(source).tolist():
            mine = source == s
            rows, lines = self.sources[s].rows, self.lines[s] if s < len(self.lines) else None
            if rows is not None:
                number[mine] = rows[row[mine]]
            if s >= len(self.lines):  # a text file, whose lines are the rows
                line[mine] = number[mine]
            elif lines is not None:
                line[mine] = lines[row[mine]]
        return number, pa.array(line, mask=line == 0)

    def _derived(self, type: str, found: LocalDetections, part: str) -> None:
        tables: list[pa.Table] = []
        path = self.folder / results.reasons_file(len(self._types))
        writer: pa.RecordBatchFileWriter | None = None
        for piece in found.pieces(type, PIECE):
            if writer is None:
                writer = pa.ipc.new_file(path, pa.schema([("because", piece.schema.field("because").type)]))
            writer.write_table(piece.select(["because"]).combine_chunks())
            tables.append(piece.drop_columns(["type", "because"]))
        if writer is None:
            if part == "inner":
                return
            tables = [found.arrow(type).drop_columns(["type", "because"])]
        else:
            writer.close()
        table = pa.concat_tables(tables, promote_options="permissive")
        more: dict[str, Any] = {}
        order = found.order(type, table)
        if order is not None:
            table, more = table.take(pa.array(order)), {BECAUSE: pa.array(order)}
        columns = {TIME: table["time"].cast(pa.int64()), **self._ends(table), **more}
        columns[LABEL] = _octets(Labels.from_column(table["label"]))
        self._put(type, part, columns, table, ("time", "end", "label"))

    @staticmethod
    def _ends(table: pa.Table) -> dict[str, pa.ChunkedArray]:
        if "end" not in table.column_names:
            return {}
        return {END: pc.fill_null(table["end"].cast(pa.int64()), OPEN)}

    def _put(
        self, type: str, part: str, special: Mapping[str, Any], table: pa.Table, without: Sequence[str]
    ) -> None:
        """The rows of a type, as one batch if Arrow can address it."""
        names = [n for n in table.column_names if n not in without]
        whole = pa.table({**special, **{n: _flat(table[n]) for n in names}}).combine_chunks()
        number = len(self._types)
        with pa.ipc.new_file(self.folder / results.rows_file(number), whole.schema) as writer:
            writer.write_table(whole)
        if END in special:
            np.save(self.folder / results.ends_file(number), np.sort(whole[END].to_numpy()))
        columns = [{"name": n, "type": _name(table.schema.field(n).type)} for n in names]
        self._types.append(
            {"name": type, "part": part, "input": part == "input", "rows": len(whole), "lasting": END in special,
             "columns": columns}
        )  # fmt: skip


def _flat(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary, of which a file may have one only."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _name(type: pa.DataType) -> str:
    found = from_arrow(type.value_type if pa.types.is_dictionary(type) else type)
    return str(type) if found is None else str(found)


def _octets(labels: Labels) -> pa.Array:
    """Labels as 16 bytes each."""
    raw = np.empty((len(labels), 2), ">u8")
    raw[:, 0], raw[:, 1] = labels.hi, labels.lo
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(labels), [None, pa.py_buffer(raw.tobytes())])

