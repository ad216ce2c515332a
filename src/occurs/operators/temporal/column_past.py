"""What triggers over columns keep of rows, apart from their formulas, and how it goes on with the rows of a call.

Triggers that read the same rows alike go the same way: what one has made of the rows of a call is found by the others
in the cache of these rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.rows import Rows
from occurs.operators.temporal.batch import Batch, Carried, Chosen, Seen, Span, chosen
from occurs.operators.temporal.instance_keys import Keys
from occurs.operators.temporal.rows import Ordered, Reader

_NONE = np.zeros(0, np.int64)
_NOTHING = Ordered(_NONE, _NONE, _NONE, np.zeros(0, np.bool_))


@dataclass(frozen=True, eq=False)
class Past:
    """``keys``: instances and their codes; ``carried``: per stream the last rows; ``active``: per code, is the instance
    there?  ``started``: has it had a state?  Of equal ``token`` are only those that have come the same way."""

    keys: Keys
    carried: tuple[Carried, ...]
    active: np.ndarray
    started: np.ndarray
    token: Hashable

    @classmethod
    def fresh(cls, seen: Seen, types: Sequence[Type]) -> Past:
        """Nothing has happened.  Without generic variables the only instance is always there."""
        carried = tuple(Carried(_NONE, {}) for _ in seen.streams)
        there = np.ones(0 if types else 1, np.bool_)
        return cls(Keys(types), carried, there, ~there, "fresh")

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return sum(len(c.code) for c in self.carried)

    def forgetting(self, seen: Seen) -> tuple[Past, np.ndarray | None]:
        """Without the codes of instances that are gone, if these are many; and the new code of each old one (-1: it was
        freed; None: nothing has changed).

        An instance is gone if it has left and no row of it is kept; without a query instances never leave.
        """
        if not self.keys.renewal.due(self.keys.size, lambda: len(self._there(seen))):
            return self, None
        left = self._there(seen)
        code = np.full(self.keys.size, -1, np.int64)
        code[left] = np.arange(len(left))
        carried = tuple(Carried(code[c.code], c.columns) for c in self.carried)
        return Past(self.keys.only(left), carried, self.active[left], self.started[left], object()), code

    def _there(self, seen: Seen) -> np.ndarray:
        """The codes of instances that are not gone, ascending."""
        there = self.active | self.started if seen.query is None else self.active.copy()
        for c in self.carried:
            there[c.code] = True
        return np.flatnonzero(there)

    def saved(self) -> dict[str, pa.Table]:
        """As tables."""
        about = {"active": pa.array(self.active), "started": pa.array(self.started)}
        out = {"keys": self.keys.saved(), "active": pa.table(about)}
        for i, c in enumerate(self.carried):
            out[f"last {i}"] = pa.table({"code": pa.array(c.code), **dict(c.columns)})
        return out

    @classmethod
    def restored(cls, seen: Seen, types: Sequence[Type], tables: Mapping[str, pa.Table]) -> Past:
        """What was saved."""
        mine = {n: t for n, t in tables.items() if n in ("keys", "active") or n.startswith("last ")}
        carried = []
        for i in range(len(seen.streams)):
            one = mine[f"last {i}"]
            columns = {n: _whole(one[n]) for n in one.column_names if n != "code"}
            carried.append(Carried(np.array(one["code"], np.int64), columns))
        active, started = (np.array(mine["active"][n], np.bool_) for n in ("active", "started"))
        return cls(Keys.restored(types, mine["keys"]), tuple(carried), active, started, _digest(mine))


@dataclass(frozen=True, eq=False)
class Step:
    """What the rows of a call lead to: ``past`` afterwards, the ``states`` and what they see; ``keyless``: rows that
    belong to no instance.  ``code``: per code of this call that of the next one, None if they are the same."""

    past: Past
    states: Chosen
    batch: Batch
    keyless: int
    code: np.ndarray | None


def step(
    past: Past,
    seen: Seen,
    names: tuple[str, ...],
    kind: TimeKind,
    given: Mapping[str, Rows],
    since: int | None,
    until: int,
) -> Step:
    """The rows of a call, which is later than ``since`` and reaches ``until``.  Raises InputProblem."""
    types = dict.fromkeys(s.shape.name for s in seen.streams)
    rows = {t: given[t] for t in types if t in given and len(given[t])}
    if not rows:
        return _made(past, seen, names, kind, rows, since, until)
    name = ("columns of triggers", past.token, seen.alike, names, kind, since, until)
    cache = next(iter(rows.values())).cache
    before: tuple[dict[str, Rows], Step] | None = cache.get(name)
    if before is not None and all(before[0].get(t) is r for t, r in rows.items()) and len(before[0]) == len(rows):
        before[1].batch.where.update(seen.leaves)
        return before[1]
    found = _made(past, seen, names, kind, rows, since, until)
    cache[name] = rows, found
    return found


def _made(
    past: Past,
    seen: Seen,
    names: tuple[str, ...],
    kind: TimeKind,
    rows: Mapping[str, Rows],
    since: int | None,
    until: int,
) -> Step:
    keys = past.keys.successor()
    readers: dict[str, Reader] = {}
    for s in seen.streams:
        if s.shape.name in rows and s.shape.name not in readers:
            readers[s.shape.name] = Reader(s.shape, s.kind, rows[s.shape.name], keys, kind)
    # all instances are known before the first rows are put in order: a table that is truncated is so for all
    for s in seen.streams:
        if s.shape.name in readers:
            readers[s.shape.name].codes(s.keyed)
    ordered = [readers[s.shape.name].ordered(s) if s.shape.name in readers else _NOTHING for s in seen.streams]
    keyless = 0
    for number, (s, found) in enumerate(zip(seen.streams, ordered, strict=True)):
        if s.shape.name in readers:
            readers[s.shape.name].agree(found, s)
            begins = number == seen.query or number in seen.split
            keyless += readers[s.shape.name].without_key(s) if begins else 0
    active, started = np.zeros((2, keys.size), np.bool_)
    active[: len(past.active)], started[: len(past.started)] = past.active, past.started
    states = chosen(seen, ordered, active, Span(since, until, started))
    started[states.code] = True
    where = dict(seen.leaves)
    batch = Batch(seen.streams, where, kind, keys, names, readers, ordered, past.carried, states.code, states.time)
    carried = tuple(batch.kept(i, seen.columns(i)) for i in range(len(seen.streams)))
    after, new = Past(keys, carried, states.active, started, object()).forgetting(seen)
    return Step(after, states, batch, keyless, new)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _digest(tables: Mapping[str, pa.Table]) -> bytes:
    """Equal for equal tables."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(tables):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, tables[name].schema) as writer:
            writer.write_table(tables[name].combine_chunks())
        found.update(name.encode() + b"\0" + sink.getvalue())
    return found.digest()
