"""Rows that wait, and their saved pieces: the reorder buffer of a lane, whose rows wait until a clock has passed them;
the rows that an engine has taken since its state was written; and those that later queries of window mode may give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from occurs.engine.saved_pieces import Drop, Get, Put

#: more pieces than these are put together
MOST = 16


@dataclass
class _Piece:
    """``table``: the rows that still wait; ``name``: of the saved piece, which may hold others; None: not saved."""

    name: str | None
    table: pa.Table
    last: int


@dataclass
class Waiting:
    """Tables with a column of ticks (``column``), in no order.

    ``number``: of the next saved piece; ``prefix``: of the names of saved pieces.
    """

    pieces: list[_Piece] = field(default_factory=list)
    number: int = 0
    column: str = "__time"
    prefix: str = "waiting"
    _gone: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(p.table.num_rows for p in self.pieces)

    @property
    def names(self) -> list[str]:
        """Of the saved pieces."""
        return [*(p.name for p in self.pieces if p.name is not None), *self._gone]

    @property
    def tables(self) -> list[pa.Table]:
        """The rows that wait."""
        return [p.table for p in self.pieces if p.table.num_rows]

    def add(self, table: pa.Table) -> None:
        if table.num_rows:
            self.pieces.append(_Piece(None, table, int(table.column(self.column).to_numpy().max())))

    def take(self, frontier: int) -> list[pa.Table]:
        """The rows up to the frontier, in no order."""
        ready, left = [], []
        for p in self.pieces:
            if p.last <= frontier:
                ready.append(p.table)
                self._drop(p)
                continue
            time = p.table.column(self.column).to_numpy()
            due = time <= frontier
            if due.any():
                ready.append(p.table.filter(pa.array(due)))
                p.table = p.table.filter(pa.array(~due))
            left.append(p)
        self.pieces = left
        return ready

    def clear(self) -> None:
        """No row waits any more."""
        for piece in self.pieces:
            self._drop(piece)
        self.pieces = []

    def _drop(self, piece: _Piece) -> None:
        if piece.name is not None:
            self._gone.append(piece.name)

    def write(self, put: Put, drop: Drop) -> dict[str, Any]:
        """Save what is new; returns what names the pieces, as plain JSON.

        Where there are many pieces, the young ones that are not much larger than the new rows are written again with
        them, so that a row that waits through n calls is written about log(n) times.
        """
        fresh = [p for p in self.pieces if p.name is None]
        saved = [p for p in self.pieces if p.name is not None]
        if fresh:
            rows = sum(p.table.num_rows for p in fresh)
            while len(saved) >= MOST and saved[-1].table.num_rows <= 2 * rows:
                young = saved.pop()
                self._drop(young)
                fresh.insert(0, young)
                rows += young.table.num_rows
            table = pa.concat_tables([p.table for p in fresh], promote_options="permissive").combine_chunks()
            name = f"{self.prefix}/{self.number}"
            self.number += 1
            put(name, table)
            self.pieces = [*saved, _Piece(name, table, max(p.last for p in fresh))]
        for gone in self._gone:
            drop(gone)
        self._gone.clear()
        return {"pieces": [p.name for p in self.pieces], "number": self.number}

    def read(self, entry: Mapping[str, Any], frontier: int | None, get: Get) -> Waiting:
        """What :meth:`write` has saved; rows up to the frontier of the engine do not wait any more."""
        names: Sequence[str] = entry["pieces"]
        pieces = []
        for name in names:
            table = get(name)
            time = table.column(self.column).to_numpy()
            if frontier is not None:
                table = table.filter(pa.array(time > frontier))
            pieces.append(_Piece(name, table, int(time.max())))
        return replace(self, pieces=pieces, number=entry["number"])
