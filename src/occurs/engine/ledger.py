"""An engine's state in pieces that are written once: a past adds pieces and drops old ones, it is never rewritten.

The pieces are kept by whoever saves them, as bytes by name.  What names them, the *entry*, is plain JSON and is saved
with every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.state import State, past_table, rows_of_table
from occurs.operators.rows import Rows

#: more pieces of one past than these are put together
MOST = 16

Put = Callable[[str, pa.Table], None]
Drop = Callable[[str], None]
Get = Callable[[str], pa.Table]


@dataclass
class Piece:
    """Rows ``first`` to ``last`` (serial numbers) of a past, ``rows`` of them."""

    name: str
    first: int
    last: int
    rows: int


@dataclass
class Ledger:
    """Which pieces hold a state.  ``number``: of the next piece; ``consumed``: is there a piece of that name?"""

    pasts: dict[str, list[Piece]] = field(default_factory=dict)
    number: int = 0
    consumed: bool = False

    @property
    def names(self) -> list[str]:
        """Of all pieces."""
        return [*(p.name for found in self.pasts.values() for p in found), *(["consumed"] if self.consumed else [])]

    def write(self, state: State, definitions: Mapping[int, str], put: Put, drop: Drop) -> dict[str, Any]:
        """Save what has changed; returns the entry."""
        for t in list(self.pasts):
            if t not in state.pasts:
                for piece in self.pasts.pop(t):
                    drop(piece.name)
        least = {t: self._past(t, rows, put, drop) for t, rows in state.pasts.items()}
        names, types, serials = [], [], []
        for (place, t), gone in sorted(state.consumed.items()):
            names += [definitions[place]] * len(gone)
            types += [t] * len(gone)
            serials.append(gone)
        if names:
            table = pa.table({"definition": pa.array(names, pa.string()), "type": pa.array(types, pa.string())})
            put("consumed", table.append_column("serial", pa.array(np.concatenate(serials))))
        elif self.consumed:
            drop("consumed")
        self.consumed = bool(names)
        pieces = {t: [[p.name, p.first, p.last, p.rows] for p in found] for t, found in self.pasts.items()}
        return {
            "pasts": pieces,
            "least": least,
            "number": self.number,
            "consumed": self.consumed,
            "serials": state.serials,
            "frontier": state.frontier,
        }

    def _past(self, type: str, rows: Rows, put: Put, drop: Drop) -> int:
        """Write the rows of a past that no piece holds; returns its least serial number."""
        serial = rows.serial
        assert serial is not None
        pieces = self.pasts.setdefault(type, [])
        least = int(serial[0]) if len(serial) else 0
        while pieces and (not len(serial) or pieces[0].last < least):
            drop(pieces.pop(0).name)
        first = int(np.searchsorted(serial, pieces[-1].last, side="right")) if pieces else 0
        if first == len(serial):
            return least
        if len(pieces) >= MOST:  # young pieces are small: put together those that are not much larger than the new rows
            while pieces and pieces[-1].rows <= 2 * (len(serial) - first):
                last = pieces.pop()
                drop(last.name)
                first = int(np.searchsorted(serial, last.first, side="left"))
        part = rows.slice(first)
        name = f"past/{type}/{self.number}"
        self.number += 1
        pieces.append(Piece(name, int(serial[first]), int(serial[-1]), len(part)))
        put(name, past_table(part))
        return least

    @classmethod
    def read(cls, entry: Mapping[str, Any], definitions: Mapping[int, str], get: Get) -> tuple[Ledger, State]:
        """The ledger and the state that :meth:`write` has saved, for rules at these places."""
        pasts = {t: [Piece(*p) for p in found] for t, found in entry["pasts"].items()}
        ledger = cls(pasts, entry["number"], entry["consumed"])
        rows: dict[str, Rows] = {}
        for t, found in pasts.items():
            if found:
                whole = rows_of_table(t, pa.concat_tables([get(p.name) for p in found]).combine_chunks())
                assert whole.serial is not None
                rows[t] = whole.slice(int(np.searchsorted(whole.serial, entry["least"][t])))
        consumed: dict[tuple[int, str], np.ndarray] = {}
        if entry["consumed"]:
            places = {d: p for p, d in definitions.items()}
            table = get("consumed")
            names = np.array(table.column("definition").to_pylist(), object)
            types = np.array(table.column("type").to_pylist(), object)
            serials = table.column("serial").to_numpy()
            for name in dict.fromkeys(names.tolist()):
                for t in dict.fromkeys(types[names == name].tolist()):
                    if name in places:
                        consumed[(places[name], t)] = serials[(names == name) & (types == t)]
        return ledger, State(rows, consumed, dict(entry["serials"]), entry["frontier"])
