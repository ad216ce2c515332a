"""The reorder buffer: rows of a lane that the frontier has not passed yet, and their saved pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.ledger import Drop, Get, Put

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
    """Tables with a column ``__time``, in no order.  ``number``: of the next saved piece."""

    pieces: list[_Piece] = field(default_factory=list)
    number: int = 0
    _gone: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(p.table.num_rows for p in self.pieces)

    @property
    def names(self) -> list[str]:
        """Of the saved pieces."""
        return [*(p.name for p in self.pieces if p.name is not None), *self._gone]

    def add(self, table: pa.Table) -> None:
        if table.num_rows:
            self.pieces.append(_Piece(None, table, int(table.column("__time").to_numpy().max())))

    def take(self, frontier: int) -> pa.Table | None:
        """The rows up to the frontier, by time; None if there are none."""
        ready, left = [], []
        for p in self.pieces:
            if p.last <= frontier:
                ready.append(p.table)
                self._drop(p)
                continue
            time = p.table.column("__time").to_numpy()
            due = time <= frontier
            if due.any():
                ready.append(p.table.filter(pa.array(due)))
                p.table = p.table.filter(pa.array(~due))
            left.append(p)
        self.pieces = left
        if not ready:
            return None
        table = pa.concat_tables(ready, promote_options="permissive")
        return table.take(pa.array(np.argsort(table.column("__time").to_numpy(), kind="stable")))

    def _drop(self, piece: _Piece) -> None:
        if piece.name is not None:
            self._gone.append(piece.name)

    def write(self, put: Put, drop: Drop) -> dict[str, Any]:
        """Save what is new; returns what names the pieces, as plain JSON."""
        fresh = [p for p in self.pieces if p.name is None]
        saved = [p for p in self.pieces if p.name is not None]
        if fresh:
            if len(saved) >= MOST:
                for p in saved:
                    self._drop(p)
                fresh, saved = saved + fresh, []
            table = pa.concat_tables([p.table for p in fresh], promote_options="permissive").combine_chunks()
            name = f"waiting/{self.number}"
            self.number += 1
            put(name, table)
            self.pieces = [*saved, _Piece(name, table, max(p.last for p in fresh))]
        for gone in self._gone:
            drop(gone)
        self._gone.clear()
        return {"pieces": [p.name for p in self.pieces], "number": self.number}

    @classmethod
    def read(cls, entry: dict[str, Any], frontier: int | None, get: Get) -> Waiting:
        """What :meth:`write` has saved; rows up to the frontier of the engine do not wait any more."""
        names: Sequence[str] = entry["pieces"]
        pieces = []
        for name in names:
            table = get(name)
            time = table.column("__time").to_numpy()
            if frontier is not None:
                table = table.filter(pa.array(time > frontier))
            pieces.append(_Piece(name, table, int(time.max())))
        return cls(pieces, entry["number"])
