"""What operators keep between calls, in parts that know how to be saved, copied and forgotten.

A *slot* is the code of a trace.  When an instance ends its codes are dropped from all parts, and may be used anew; when
most are free, those in use are numbered anew.
Parts are changed where they stand; whoever needs the old state takes a copy before.  They are saved as Arrow tables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from occurs.operators.process.columns import Col, concat, null_col, read_table
from occurs.operators.process.items import NO_ENDS, NO_ROWS, Items, last_of

Tables = dict[str, pa.Table]


class Part(ABC):
    """A part of a state."""

    @abstractmethod
    def tables(self) -> Tables:
        """Its contents."""

    @abstractmethod
    def load(self, tables: Mapping[str, pa.Table]) -> None:
        """Take over what :meth:`tables` gave."""

    def drop(self, codes: np.ndarray) -> None:
        """Forget these traces."""
        raise AssertionError  # pragma: no cover

    def only(self, codes: np.ndarray) -> None:
        """Keep these traces (ascending), which are numbered anew: 0, 1, ..."""
        raise AssertionError  # pragma: no cover

    def copy(self) -> Self:
        """An independent one."""
        new = object.__new__(type(self))
        for name, v in vars(self).items():
            setattr(new, name, v.copy() if isinstance(v, (Part, np.ndarray, list, dict)) else v)
        return new

    @abstractmethod
    def rows(self) -> int:
        """How many rows it holds."""

    def abouts(self) -> np.ndarray:
        """The numbers of events that what it holds speaks of."""
        return NO_ROWS


def renumbered(codes: np.ndarray, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are of one of the traces ``codes`` (ascending), and the places of theirs in it."""
    if not len(codes):
        return np.zeros(len(mine), np.bool_), NO_ROWS
    at = np.minimum(np.searchsorted(codes, mine), len(codes) - 1)
    there = codes[at] == mine
    return there, at[there]


class Counts(Part):
    """A number per slot.  ``spoken``: they are numbers of events."""

    def __init__(self, start: int | float = 0, dtype: type = np.int64, spoken: bool = False) -> None:
        self.start = start
        self.dtype = dtype
        self.spoken = spoken
        self.values: np.ndarray = np.full(1, start, dtype)

    def upto(self, instances: int) -> np.ndarray:
        """The numbers of so many slots; to be changed where they stand."""
        if len(self.values) < instances:
            size = max(instances, 2 * len(self.values))
            # memory of zeros is not touched before it is used
            grown: np.ndarray = np.full(size, self.start, self.dtype) if self.start else np.zeros(size, self.dtype)
            grown[: len(self.values)] = self.values
            self.values = grown
        return self.values[:instances]

    def _kept(self) -> np.ndarray:
        changed = np.flatnonzero(self.values != self.start)
        return self.values[: changed[-1] + 1] if len(changed) else self.values[:0]

    def tables(self) -> Tables:
        return {"v": pa.table({"v": self._kept()})}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        found = tables["v"].column("v").to_numpy()
        self.values = np.full(max(1, len(found)), self.start, self.dtype)
        self.values[: len(found)] = found

    def drop(self, codes: np.ndarray) -> None:
        self.values[codes[codes < len(self.values)]] = self.start

    def only(self, codes: np.ndarray) -> None:
        found: np.ndarray = np.full(max(1, len(codes)), self.start, self.dtype)
        known = np.flatnonzero(codes < len(self.values))
        found[known] = self.values[codes[known]]
        self.values = found

    def rows(self) -> int:
        return int((self.values != self.start).sum())

    def abouts(self) -> np.ndarray:
        return self.values if self.spoken else NO_ROWS


class Latest(Part):
    """At most one value per slot."""

    def __init__(self) -> None:
        self.code = NO_ROWS
        self.value: Col = null_col(0)

    def find(self, codes: np.ndarray) -> np.ndarray:
        """The rows of ``value`` for codes, -1 where there is none."""
        if not len(self.code):
            return np.full(len(codes), -1, np.int64)
        at = np.minimum(np.searchsorted(self.code, codes), len(self.code) - 1)
        return np.where(self.code[at] == codes, at, -1)

    def of(self, codes: np.ndarray) -> Col:
        """The values of codes, null where there is none."""
        return self.value if np.array_equal(self.code, codes) else self.value.take(self.find(codes))

    def put(self, codes: np.ndarray, value: Col) -> None:
        """New values: the last row of each code counts."""
        if np.array_equal(self.code, codes):
            self.value = value
            return
        last = last_of(codes)
        if not len(last):
            return
        mine = codes[last]
        if np.array_equal(self.code, mine):
            self.value = value.take(last)
            return
        keep = ~np.isin(self.code, mine)
        code = np.concatenate([self.code[keep], mine])
        both = concat([self.value.take(np.flatnonzero(keep)), value.take(last)])
        order = np.argsort(code, kind="stable")
        self.code, self.value = code[order], both.take(order)

    def tables(self) -> Tables:
        what, table = self.value.table()
        return {what: table.append_column("code", pa.array(self.code))}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        what, table = next(iter(tables.items()))
        self.code, self.value = table.column("code").to_numpy(), read_table(what, table)

    def drop(self, codes: np.ndarray) -> None:
        keep = ~np.isin(self.code, codes)
        if not keep.all():
            self.code, self.value = self.code[keep], self.value.filter(keep)

    def only(self, codes: np.ndarray) -> None:
        there, at = renumbered(codes, self.code)
        self.code, self.value = at, self.value.filter(there)

    def rows(self) -> int:
        return len(self.code)


class Queue(Part):
    """Items that wait; ``extra``: names of more columns of ints beside them.

    A queue of one trace without such columns may be used from both ends: :meth:`append`, :meth:`pop`.
    """

    def __init__(self, *extra: str) -> None:
        self.names = extra
        self._parts: list[Items] = []
        self._extra: dict[str, np.ndarray] = dict.fromkeys(extra, NO_ROWS)

    def __len__(self) -> int:
        return sum(len(p) for p in self._parts)

    @property
    def items(self) -> Items:
        """All of them, in one piece."""
        if len(self._parts) != 1:
            self._parts = [Items.join(self._parts) if self._parts else Items.none()]
        return self._parts[0]

    @property
    def extra(self) -> dict[str, np.ndarray]:
        """The columns beside them; numbers from 0 on if nobody has given any."""
        size = len(self)
        return {n: v if len(v) == size else np.arange(size) for n, v in self._extra.items()}

    def put(self, items: Items, **extra: np.ndarray) -> None:
        """What waits from now on."""
        self._parts = [items.with_ends(NO_ENDS)]
        self._extra = extra

    def append(self, items: Items) -> None:
        """More items, behind the others."""
        if len(items):
            self._parts.append(items.with_ends(NO_ENDS))

    def pop(self, count: int) -> Items:
        """The first ``count`` items, which wait no more."""
        taken: list[Items] = []
        while count:
            first = self._parts.pop(0)
            if len(first) > count:
                self._parts.insert(0, first.part(count, len(first)))
                first = first.part(0, count)
            taken.append(first)
            count -= len(first)
        return Items.join(taken) if taken else Items.none()

    def tables(self) -> Tables:
        items = self.items
        what, table = items.value.table()
        table = table.append_column("step", pa.array(items.step))
        table = table.append_column("about", pa.array(items.about))
        for name, values in self.extra.items():
            table = table.append_column("." + name, pa.array(values))
        if items.code is not None:
            table = table.append_column("code", pa.array(items.code))
        return {what: table}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        what, table = next(iter(tables.items()))
        step, about = table.column("step").to_numpy(), table.column("about").to_numpy()
        code = table.column("code").to_numpy() if "code" in table.column_names else None
        self._parts = [Items(read_table(what, table), step, about, code)]
        self._extra = {n: table.column("." + n).to_numpy() for n in self.names}

    def drop(self, codes: np.ndarray) -> None:
        if len(self) and all(p.code is None for p in self._parts):
            if (codes == 0).any():  # there is one trace only
                self._parts, self._extra = [], dict.fromkeys(self.names, NO_ROWS)
        elif len(self):
            items, extra = self.items, self.extra
            keep = ~np.isin(items.codes, codes)
            if not keep.all():
                self._parts = [items.filter(keep)]
                self._extra = {n: v[keep] for n, v in extra.items()}

    def only(self, codes: np.ndarray) -> None:
        items, extra = self.items, self.extra
        if items.code is not None:
            there, at = renumbered(codes, items.code)
            self._parts = [replace(items.filter(there), code=at)]
            self._extra = {n: v[there] for n, v in extra.items()}

    def rows(self) -> int:
        return len(self)

    def abouts(self) -> np.ndarray:
        return self.items.about


class Table(Part):
    """Columns of ints of one length, one of which may name the slot (``code``).  ``spoken``: ``about`` are numbers of
    events."""

    def __init__(self, *names: str, spoken: bool = False) -> None:
        self._parts: list[dict[str, np.ndarray]] = [dict.fromkeys(names, NO_ROWS)]
        self.spoken = spoken

    def __len__(self) -> int:
        return sum(len(next(iter(p.values()), NO_ROWS)) for p in self._parts)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """All columns."""
        if len(self._parts) > 1:
            self._parts = [{n: self[n] for n in self._parts[0]}]
        return self._parts[0]

    def __getitem__(self, name: str) -> np.ndarray:
        if len(self._parts) == 1:
            return self._parts[0][name]
        return np.concatenate([p[name] for p in self._parts])

    def last_part(self) -> dict[str, np.ndarray]:
        """The rows that were put or appended last."""
        return self._parts[-1]

    def put(self, **columns: np.ndarray) -> None:
        """What is kept from now on."""
        self._parts = [columns]

    def append(self, **columns: np.ndarray) -> None:
        """More rows."""
        self._parts.append(columns)

    def tables(self) -> Tables:
        return {"v": pa.table(self.columns)}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        self.put(**{n: tables["v"].column(n).to_numpy() for n in tables["v"].column_names})

    def drop(self, codes: np.ndarray) -> None:
        if "code" in self._parts[0] and len(self):
            columns = self.columns
            keep = ~np.isin(columns["code"], codes)
            self.put(**{n: v[keep] for n, v in columns.items()})

    def only(self, codes: np.ndarray) -> None:
        if "code" in self._parts[0]:
            columns = self.columns
            there, at = renumbered(codes, columns["code"])
            self.put(**{n: at if n == "code" else v[there] for n, v in columns.items()})

    def copy(self) -> Self:
        new = super().copy()
        new._parts = [dict(p) for p in self._parts]
        return new

    def rows(self) -> int:
        return len(self)

    def abouts(self) -> np.ndarray:
        return self["about"] if self.spoken else NO_ROWS


class State(Part):
    """Parts by name; of an operator, or (by the numbers of its operators) of a graph."""

    def __init__(self, **parts: Part) -> None:
        self.parts: dict[str, Part] = parts

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]

    def tables(self) -> Tables:
        return {f"{n}/{m}": t for n, part in self.parts.items() for m, t in part.tables().items()}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        inside: dict[str, dict[str, pa.Table]] = {}
        for name, table in tables.items():
            first, _, rest = name.partition("/")
            inside.setdefault(first, {})[rest] = table
        for name, part in self.parts.items():
            if name in inside:
                part.load(inside[name])

    def drop(self, codes: np.ndarray) -> None:
        for part in self.parts.values():
            part.drop(codes)

    def only(self, codes: np.ndarray) -> None:
        for part in self.parts.values():
            part.only(codes)

    def copy(self) -> Self:
        return type(self)(**{n: p.copy() for n, p in self.parts.items()})

    def rows(self) -> int:
        return sum(p.rows() for p in self.parts.values())

    def abouts(self) -> np.ndarray:
        found = [p.abouts() for p in self.parts.values()]
        return np.concatenate(found) if found else NO_ROWS


class Compound(Part):
    """Its parts are those of its attributes that are such, in the order in which they were set."""

    def parts(self) -> State:
        """The parts by name."""
        return State(**{n: v for n, v in vars(self).items() if isinstance(v, Part)})

    def tables(self) -> Tables:
        return self.parts().tables()

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        self.parts().load(tables)
