"""An engine's state in pieces that are written once: a past adds pieces and drops old ones, it is never rewritten.

The pieces are kept by whoever saves them, as bytes by name.  What names them, the *entry*, is plain JSON and is saved
with every call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.state import State, past_table, rows_of_table
from occurs.engine.table_pieces import assembled, change, numbers
from occurs.operators.rows import Rows

#: more pieces of one past than these are put together
MOST = 16
#: a table with so many changes is written whole
CHANGES = 64
#: before the type of rows that wait; no type has such a name
WAITING = "\0waiting "

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
class Saved:
    """A table of an operator, which was ``written``, and its ``pieces``: the first one, of ``rows`` rows, and changes,
    with ``changed`` rows in all.  ``written`` is None of a table that no operator has taken; ``numbers``: of its rows,
    None if they are not known yet."""

    written: pa.Table | None
    pieces: list[str]
    rows: int
    changed: int = 0
    numbers: np.ndarray | None = None


@dataclass
class Ledger:
    """Which pieces hold a state.  ``number``: of the next piece; ``consumed``: is there a piece of that name?
    ``states``: per definition the tables of its operator."""

    pasts: dict[str, list[Piece]] = field(default_factory=dict)
    number: int = 0
    consumed: bool = False
    later: list[Ledger] = field(default_factory=list)
    states: dict[str, dict[str, Saved]] = field(default_factory=dict)

    @property
    def tables(self) -> int:
        """How many tables of operators were written."""
        return sum(map(len, self.states.values())) + sum(own.tables for own in self.later)

    @property
    def names(self) -> list[str]:
        """Of all pieces."""
        out = [p.name for found in self.pasts.values() for p in found] + (["consumed"] if self.consumed else [])
        out += [name for found in self.states.values() for saved in found.values() for name in saved.pieces]
        return out + [f"{n}/{name}" for n, own in enumerate(self.later) for name in own.names]

    def write(self, state: State, definitions: Mapping[int, str], put: Put, drop: Drop) -> dict[str, Any]:
        """Save what has changed; returns the entry."""
        # rows that wait have a name that no type has
        held = {**state.pasts, **{f"{WAITING}{t}": rows for t, rows in state.waiting.items()}}
        for t in list(self.pasts):
            if t not in held:
                for piece in self.pasts.pop(t):
                    drop(piece.name)
        least = {t: self._past(t, rows, put, drop) for t, rows in held.items()}
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
        self._states(state.tables(), put, drop)
        pieces = {t: [[p.name, p.first, p.last, p.rows] for p in found] for t, found in self.pasts.items()}
        return {
            "pasts": pieces,
            "least": least,
            "number": self.number,
            "consumed": self.consumed,
            "serials": dict(state.serials),  # the entry outlives the next calls
            "frontier": state.frontier,
            **({"states": {d: _entries(found) for d, found in self.states.items()}} if self.states else {}),
            **({"later": self._later(state, definitions, put, drop)} if state.later else {}),
        }

    def _later(self, state: State, definitions: Mapping[int, str], put: Put, drop: Drop) -> list[dict[str, Any]]:
        """Save the states of segments."""
        self.later += [Ledger() for _ in state.later[len(self.later) :]]
        out = []
        for number, (ledger, own) in enumerate(zip(self.later, state.later)):

            def put_own(name: str, table: pa.Table, prefix: str = f"{number}/") -> None:
                put(prefix + name, table)

            def drop_own(name: str, prefix: str = f"{number}/") -> None:
                drop(prefix + name)

            out.append(ledger.write(own, definitions, put_own, drop_own))
        return out

    def _states(self, now: Mapping[str, Mapping[str, pa.Table]], put: Put, drop: Drop) -> None:
        """Write what has changed of the tables of operators."""
        for definition in set(self.states) - set(now):
            for saved in self.states.pop(definition).values():
                for name in saved.pieces:
                    drop(name)
        for definition, tables in now.items():
            written = self.states.setdefault(definition, {})
            for gone in written.keys() - tables.keys():
                for name in written.pop(gone).pieces:
                    drop(name)
            for name, table in tables.items():
                known = written.get(name)
                if known is None or known.written is not table:
                    written[name] = self._table(state_piece(definition, name), known, table, put, drop)

    def _table(self, name: str, known: Saved | None, table: pa.Table, put: Put, drop: Drop) -> Saved:
        """Write a table, or its change if this is smaller.  There are at most ``CHANGES`` changes, with at most as many
        rows as the first piece has."""
        now = numbers(table)
        if known is not None and known.written is not None and len(known.pieces) <= CHANGES:
            was = numbers(known.written) if known.numbers is None else known.numbers
            small = change(known.written, table, was, now)
            if small is not None and known.changed + len(small) <= known.rows:
                piece = f"{name}/{self.number}"
                self.number += 1
                put(piece, small)
                return Saved(table, [*known.pieces, piece], known.rows, known.changed + len(small), now)
        for piece in () if known is None else known.pieces:
            if piece != name:
                drop(piece)
        put(name, table)
        return Saved(table, [name], len(table), 0, now)

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
                table = pa.concat_tables([get(p.name) for p in found]).combine_chunks()
                whole = rows_of_table(t.removeprefix(WAITING), table)
                assert whole.serial is not None
                rows[t] = whole.slice(int(np.searchsorted(whole.serial, entry["least"][t])))
        waiting = {t.removeprefix(WAITING): rows.pop(t) for t in list(rows) if t.startswith(WAITING)}
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
        known = set(definitions.values())
        loaded: dict[str, Mapping[str, pa.Table]] = {}
        for d, entries in entry.get("states", {}).items():
            ledger.states[d] = own = {n: Saved(None, _pieces(d, n, more), 0) for n, *more in _lists(entries)}
            if d in known:
                for saved in own.values():
                    first, *changes = map(get, saved.pieces)
                    saved.written = assembled([first, *changes])
                    saved.rows, saved.changed = len(first), sum(map(len, changes))
                loaded[d] = {n: saved.written for n, saved in own.items() if saved.written is not None}
        state = State(rows, consumed, dict(entry["serials"]), entry["frontier"], waiting, loaded=loaded)
        for number, own in enumerate(entry.get("later", ())):

            def get_own(name: str, prefix: str = f"{number}/") -> pa.Table:
                return get(prefix + name)

            below, there = Ledger.read(own, definitions, get_own)
            ledger.later.append(below)
            state.later.append(there)
        return ledger, state


def pieces(entry: Mapping[str, Any]) -> list[str]:
    """The names of all pieces that an entry speaks of."""
    out = [piece[0] for found in entry["pasts"].values() for piece in found]
    out += ["consumed"] if entry["consumed"] else []
    for d, entries in entry.get("states", {}).items():
        out += [piece for n, *more in _lists(entries) for piece in _pieces(d, n, more)]
    return out + [f"{n}/{name}" for n, own in enumerate(entry.get("later", ())) for name in pieces(own)]


def _entries(found: Mapping[str, Saved]) -> list[list[str | int]]:
    """Per table its name and the numbers of its changes."""
    return [[name, *(int(p.rsplit("/", 1)[1]) for p in saved.pieces[1:])] for name, saved in sorted(found.items())]


def _lists(entries: Iterable[str | list[Any]]) -> Iterator[list[Any]]:
    """Entries as :func:`_entries` writes them; version 2 of the format has the name of a table alone."""
    return ([entry] if isinstance(entry, str) else entry for entry in entries)


def _pieces(definition: str, table: str, changes: Sequence[int]) -> list[str]:
    """The names of the pieces of a table."""
    first = state_piece(definition, table)
    return [first, *(f"{first}/{number}" for number in changes)]


def state_piece(definition: str, table: str) -> str:
    """The name of the piece with a table of a definition that an operator runs."""
    return f"state/{blake2b(definition.encode(), digest_size=12).hexdigest()}/{table}"
