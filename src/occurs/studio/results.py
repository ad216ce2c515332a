"""The result of a run, read from the files of its job: rows as tables show them, why they are there, all as one file.

The files are mapped into memory and read in threads of the server; nothing of the engine is imported, and what reads
columns only when it is needed.
"""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from occurs.studio.limits import LIMITS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: columns of the files that are no attributes; no attribute can be called so
TIME, END, LABEL, BECAUSE = "\0time", "\0end", "\0label", "\0because"
FILE, ROW, LINE = "\0file", "\0row", "\0line"
SPECIAL = (TIME, END, LABEL, BECAUSE, FILE, ROW, LINE)
MANIFEST = "result.json"
#: the file with the repaired texts, in the folder of a question
REPAIRS = "repairs.json"
#: the end of what is still open
OPEN = 2**63 - 1
#: whole numbers beyond it are text, as JavaScript does not tell them apart
EXACT = 2**53 - 1
#: characters of a value that a table shows; why shows all
CUT = LIMITS.shown
#: detections and input rows that one answer of why has, and levels
NODES, DEPTH = LIMITS.why_nodes, LIMITS.why_depth
#: orders of rows that are kept, so that paging does not sort again
KEPT = 4

Value = TypeVar("Value")


def rows_file(number: int) -> str:
    """The file with the rows of a type."""
    return f"{number}.arrow"


def reasons_file(number: int) -> str:
    """The file with their constituents."""
    return f"{number}.because.arrow"


def ends_file(number: int) -> str:
    """The file with their ends, sorted."""
    return f"{number}.ends.npy"


def load() -> None:
    """Import what results are read with: while a job runs there is time for it, and its first answer need not wait."""
    for name in ("numpy", "pyarrow.compute", "occurs.model.astext"):
        import_module(name)


class UnknownNameError(LookupError):
    """A type, a column or a label that the result does not have."""


class Latest:
    """The latest few values that were computed, by their keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        """The value of a key, made if it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Value = self._kept[key]
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


@dataclass(frozen=True)
class Rows:
    """The rows of a type.  ``part``: ``input``, ``derived``, or ``inner``: derived for other rules alone."""

    folder: Path
    number: int
    name: str
    part: str
    size: int
    lasting: bool
    columns: Sequence[dict[str, str]]

    def __hash__(self) -> int:
        return self.number

    @cached_property
    def table(self) -> pa.Table:
        return _mapped(self.folder / rows_file(self.number))

    @cached_property
    def time(self) -> np.ndarray:
        """Ticks, sorted."""
        return self._ints(TIME)

    @cached_property
    def end(self) -> np.ndarray:
        """Ticks; of what does not last its time, and ``OPEN`` of what is open."""
        return self._ints(END) if self.lasting else self.time

    @cached_property
    def ends(self) -> np.ndarray:
        """The ends, sorted."""
        import numpy as np

        if not self.lasting:
            return self.time
        found: np.ndarray = np.load(self.folder / ends_file(self.number), mmap_mode="r")
        return found

    @cached_property
    def reasons(self) -> pa.Table | None:
        """The constituents, in the order in which they were written."""
        path = self.folder / reasons_file(self.number)
        return _mapped(path) if path.exists() else None

    def _ints(self, name: str) -> np.ndarray:
        found: np.ndarray = self.table[name].to_numpy()
        return found

    def labels(self, begin: int, stop: int) -> np.ndarray:
        """Labels as pairs of 64 bits, in the order of the bytes."""
        import numpy as np

        parts = [np.frombuffer(c.buffers()[1], np.uint64)[2 * c.offset : 2 * (c.offset + len(c))]
                 for c in self.table[LABEL].slice(begin, stop - begin).chunks]  # fmt: skip
        return np.concatenate([np.zeros(0, np.uint64), *parts]).reshape(-1, 2)

    def find(self, label: bytes, begin: int = 0, stop: int | None = None) -> int | None:
        """The row with a label, among some."""
        import numpy as np

        wanted = np.frombuffer(label, np.uint64)
        for first in range(begin, self.size if stop is None else stop, 1 << 20):
            last = min(first + (1 << 20), self.size if stop is None else stop)
            labels = self.labels(first, last)
            at = np.flatnonzero((labels[:, 0] == wanted[0]) & (labels[:, 1] == wanted[1]))
            if len(at):
                return first + int(at[0])
        return None

    def find_at(self, label: bytes, ticks: int) -> int | None:
        """The row of a time with a label."""
        import numpy as np

        begin, stop = (int(np.searchsorted(self.time, ticks, side=side)) for side in ("left", "right"))
        return self.find(label, begin, stop)

    def within(self, begin: int | None, stop: int | None) -> np.ndarray:
        """The rows of a range of time, both ends included: an interval is in it if it overlaps it."""
        import numpy as np

        last = self.size if stop is None else int(np.searchsorted(self.time, stop, side="right"))
        if begin is None:
            return np.arange(last)
        if self.lasting:
            return np.flatnonzero(self.end[:last] >= begin)
        return np.arange(int(np.searchsorted(self.time, begin, side="left")), last)


def _mapped(path: Path) -> pa.Table:
    import pyarrow as pa

    with pa.ipc.open_file(pa.memory_map(str(path))) as file:
        return file.read_all()


@dataclass
class Results:
    """What a run has found, in the files of ``folder``."""

    folder: Path
    _orders: Latest = field(default_factory=lambda: Latest(KEPT))
    #: what the timeline keeps
    lanes: Latest = field(default_factory=lambda: Latest(KEPT))

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the run tells of itself."""
        found: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        return found

    @cached_property
    def types(self) -> Sequence[Rows]:
        """All types: of the input, then derived ones in the order of evaluation."""
        return [
            Rows(self.folder, number, t["name"], t["part"], t["rows"], t["lasting"], t["columns"])
            for number, t in enumerate(self.told["types"])
        ]

    def of(self, *parts: str) -> list[Rows]:
        """The types of some parts."""
        return [t for t in self.types if t.part in parts]

    def named(self, names: Sequence[str]) -> list[Rows]:
        """Types by their names, a detected one before one of the input; none: all that are detected."""
        if not names:
            return self.of("derived")
        known = {t.name: t for t in (*self.of("input"), *self.of("derived"))}
        for name in names:
            if name not in known:
                raise UnknownNameError(f"the result has no type `{name}`")
        return [known[name] for name in dict.fromkeys(names)]

    # --- rows ---------------------------------------------------------------------------------------------------------

    def rows(
        self, types: Sequence[str] = (), begin: int | None = None, stop: int | None = None, text: str = "",
        sort: str = "time", offset: int = 0, limit: int = 200,
    ) -> dict[str, Any]:  # fmt: skip
        """Some rows of some types, in an order: ``{columns, rows, total}``; a row is the list of its columns' values.

        First are the columns ``ALWAYS``: ``row`` is the number of the row in its type, ``ticks`` and ``end_ticks`` are
        the times as numbers, ``open`` is true of what has no end yet.

        ``begin``, ``stop``: ticks; ``text``: what the type, a value or a time contains, in any case of letters;
        ``sort``: a column, behind ``-`` the greatest first.  Raises UnknownNameError.
        """
        chosen = self.named(types)
        columns = _columns(chosen)
        key = (tuple(t.number for t in chosen), begin, stop, text, sort)
        which, row = self._orders.get(key, lambda: self._order(chosen, begin, stop, text, sort, columns))
        page = slice(offset, offset + limit)
        shown: list[Any] = [None] * len(row[page])
        names = [c["name"] for c in columns[len(ALWAYS) :]]
        for number, one in enumerate(chosen):
            at = (which[page] == number).nonzero()[0]
            for place, found in zip(at.tolist(), self.shown(one, row[page][at], CUT)):
                values = found["values"]
                shown[place] = [*(found[n] for n in ALWAYS), *(values.get(n) for n in names)]
        return {"columns": columns, "rows": shown, "total": len(row)}

    def _order(
        self, chosen: Sequence[Rows], begin: int | None, stop: int | None, text: str, sort: str,
        columns: Sequence[dict[str, str]],
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """The rows as numbers of types and of their rows."""
        import numpy as np

        parts = [self.picked(t, begin, stop, text) for t in chosen]
        which = np.repeat(np.arange(len(chosen), dtype=np.int32), [len(at) for at in parts])
        row = np.concatenate([np.zeros(0, np.int64), *parts])
        name, greatest = sort.removeprefix("-"), sort.startswith("-")
        name = {"ticks": "time", "end_ticks": "end"}.get(name, name)
        if name not in {c["name"] for c in columns} - {"row", "open"}:
            raise UnknownNameError(f"there is no column `{name}` to sort by")
        if len(chosen) == 1 and name == "time" and not greatest:
            return which, row
        order = _sorted([_sort_key(t, at, name) for t, at in zip(chosen, parts)], self._times(chosen, parts), greatest)
        return which[order], row[order]

    @staticmethod
    def _times(chosen: Sequence[Rows], parts: Sequence[np.ndarray]) -> np.ndarray:
        import numpy as np

        return np.concatenate([np.zeros(0, np.int64), *(t.time[at] for t, at in zip(chosen, parts))])

    def _contains(self, one: Rows, at: np.ndarray, text: str) -> np.ndarray:
        """Which of some rows have a text in them."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from occurs.model.astext import plain_text

        if text.casefold() in one.name.casefold():
            return np.ones(len(at), bool)
        found = np.zeros(len(at), bool)
        columns = [one.table[c["name"]].take(pa.array(at)) for c in one.columns]
        if set(text) <= _OF_TIMES:
            columns += [self._as_time(ticks[at]) for ticks in ([one.time, one.end] if one.lasting else [one.time])]
        for column in columns:
            mask = pc.match_substring(plain_text(column), text, ignore_case=True)
            found |= pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
        if len(text) == 32:
            try:
                place = one.find(bytes.fromhex(text))
            except ValueError:
                place = None
            found |= at == (-1 if place is None else place)
        return found

    def _as_time(self, ticks: np.ndarray) -> pa.ChunkedArray:
        """Ticks as times that people see."""
        import pyarrow as pa

        column = pa.array(ticks, mask=ticks == OPEN)
        stamped = self.told["time"]["timestamp"]
        return pa.chunked_array([column.cast(pa.timestamp("us", tz="UTC")) if stamped else column])

    def shown(self, one: Rows, at: np.ndarray, cut: int | None = None) -> list[dict[str, Any]]:
        """Rows of a type as the interface shows them; ``cut``: characters of a value."""
        import pyarrow as pa

        part = one.table.take(pa.array(at))
        values = {c["name"]: cells(part[c["name"]], cut) for c in one.columns}
        ticks, ends = one.time[at].tolist(), one.end[at].tolist()
        time, end = cells(self._as_time(one.time[at])), cells(self._as_time(one.end[at]))
        labels = [label.hex() for label in part[LABEL].to_pylist()]
        return [
            {
                "row": int(row), "type": one.name, "time": time[i], "ticks": exact(ticks[i]),
                "end": end[i] if one.lasting else None,
                "end_ticks": exact(ends[i]) if one.lasting and ends[i] != OPEN else None,
                "open": one.lasting and ends[i] == OPEN, "label": labels[i],
                "values": {name: column[i] for name, column in values.items()},
            }
            for i, row in enumerate(at.tolist())
        ]  # fmt: skip

    # --- why ----------------------------------------------------------------------------------------------------------

    def why(self, label: str, depth: int | None = None) -> dict[str, Any]:
        """A detection with its constituents, down to rows of the input: ``{detection, constituents}``.

        Where there are more than one answer holds, ``more`` says how many are left out below an event.  Raises
        UnknownNameError.
        """
        import numpy as np

        one, row = self._labelled(label)
        top = self.shown(one, np.array([row]))[0]
        detection = {**top, "source": self._source(one, row)}
        constituents: list[dict[str, Any]] = []
        more = self._explain(constituents, one, row, DEPTH if depth is None else min(depth, DEPTH))
        return {"detection": detection, "constituents": constituents, "more": more}

    def ticks(self, label: str) -> int:
        """The time of a detection, in ticks.  Raises UnknownNameError, also for a row of the input."""
        one, row = self._labelled(label)
        if one.part == "input":
            raise UnknownNameError(f"the row with the label {label} is a row of the input: it is given, not detected")
        return int(one.time[row])

    def _labelled(self, label: str) -> tuple[Rows, int]:
        """The type and the number of the row with a label."""
        try:
            wanted = bytes.fromhex(label)
        except ValueError:
            wanted = b""
        if len(wanted) != 16:
            raise UnknownNameError(f"`{label}` is not a label: 32 hexadecimal digits")
        for one in (*self.of("derived", "inner"), *self.of("input")):
            row = one.find(wanted)
            if row is not None:
                return one, row
        raise UnknownNameError(f"the result has no row with the label {label}")

    def _explain(self, into: list[dict[str, Any]], one: Rows, row: int, depth: int) -> int:
        """Put the constituents of a row, and theirs, level by level; returns how many of its own are left out."""
        left, left_out = NODES, 0
        level: list[tuple[list[dict[str, Any]], Rows, int, dict[str, Any] | None]] = [(into, one, row, None)]
        for _ in range(depth):
            below: list[tuple[list[dict[str, Any]], Rows, int, dict[str, Any] | None]] = []
            for target, of, at, event in level:
                found = self._constituents(of, at)
                if len(found) > left:
                    if event is None:
                        left_out = len(found) - left
                    else:
                        event["more"] = len(found) - left
                for part in islice(found, max(left, 0)):
                    left -= 1
                    shown, place = self._constituent(part)
                    target.append(shown)
                    if place is not None:
                        below.append((shown["constituents"], *place, shown))
            level = below
        for _, of, at, event in level:  # those at the greatest depth
            if event is not None:
                event["more"] = len(self._constituents(of, at))
            else:
                left_out = len(self._constituents(of, at))
        return left_out

    @staticmethod
    def _constituents(one: Rows, row: int) -> pa.Array:
        """The constituents of a row, as they were written."""
        if one.reasons is None:
            return []
        at = one.table[BECAUSE][row].as_py() if BECAUSE in one.table.column_names else row
        return one.reasons["because"][at].values or []

    def _constituent(self, part: Any) -> tuple[dict[str, Any], tuple[Rows, int] | None]:
        """A constituent as the interface shows it, and the detection that it is."""
        import numpy as np
        import pyarrow as pa

        given = {name: part[name] for name in ("role", "type", "label", "attributes")}
        role, type, label, attributes = (v.as_py() for v in given.values())
        ticks, end = (part[n].cast(pa.int64()).as_py() for n in ("time", "end"))
        if label is not None and ticks is not None:
            for one in self._called.get(type, ()):
                row = one.find_at(bytes.fromhex(label), ticks)
                if row is not None:
                    shown = self.shown(one, np.array([row]))[0]
                    source = self._source(one, row)
                    event = {"role": role, **shown, "source": source, "constituents": [], "more": 0}
                    return event, None if one.part == "input" else (one, row)
        time, until = cells(pa.chunked_array([pa.array([part[n].as_py() for n in ("time", "end")], part["time"].type)]))
        event = {
            "role": role, "row": None, "type": type, "time": time, "ticks": exact(ticks), "end": until,
            "end_ticks": exact(end), "open": False, "label": label,
            "values": plain(json.loads(attributes or "{}")), "source": None, "constituents": [], "more": 0,
        }  # fmt: skip
        return event, None

    @cached_property
    def _called(self) -> dict[str, list[Rows]]:
        """The types of a name, derived ones first."""
        out: dict[str, list[Rows]] = {}
        for one in (*self.of("derived", "inner"), *self.of("input")):
            out.setdefault(one.name, []).append(one)
        return out

    def _source(self, one: Rows, row: int) -> dict[str, Any] | None:
        """Where a row of the input is from."""
        if one.part != "input":
            return None
        number, place, line = (one.table[n][row].as_py() for n in (FILE, ROW, LINE))
        return {"file": self.told["files"][number], "line": line, "row": place}

    # --- two runs -----------------------------------------------------------------------------------------------------

    def changes(self, other: Results, limit: int = 1_000) -> dict[str, Any]:
        """What this run has detected that ``other`` has not, and the other way round.

        Labels tell detections apart.  The label of an unnamed rule changes with its text, so of the rows that are left,
        those that are equal in time and values are the same, too.  ``types``: counts by type; ``gained`` and ``lost``:
        the first rows in the order of time, at most ``limit`` each.
        """
        mine, theirs = ({t.name: t for t in found.of("derived")} for found in (self, other))
        types, gained, lost = [], [], []
        for name in {**mine, **theirs}:
            one, old = mine.get(name), theirs.get(name)
            new, gone = _unlike(one, old)
            types.append(
                {"type": name, "gained": len(new), "lost": len(gone), "same": (one.size if one else 0) - len(new)}
            )
            gained += self.shown(one, new[:limit], CUT) if one else []
            lost += other.shown(old, gone[:limit], CUT) if old else []
        by_time = [sorted(rows, key=lambda row: int(row["ticks"]))[:limit] for rows in (gained, lost)]
        return {"types": types, "gained": by_time[0], "lost": by_time[1]}

    # --- export -------------------------------------------------------------------------------------------------------

    def export(
        self, types: Sequence[str], format: str, path: Path, begin: int | None = None, stop: int | None = None,
        text: str = "",
    ) -> None:  # fmt: skip
        """Write rows as ``occurs run --out`` does, as ``csv``, ``jsonl`` or ``parquet``.

        ``begin``, ``stop`` and ``text`` choose rows as in :meth:`rows`.  Raises UnknownNameError, and UsageProblem for
        types whose columns cannot be in one file.
        """
        import pyarrow as pa

        from occurs.connect.writers import write_to

        tables = {}
        for one in self.named(types):
            at = self.picked(one, begin, stop, text)
            times = {"time": self._as_time(one.time[at])} | ({"end": self._as_time(one.end[at])} if one.lasting else {})
            part = one.table.select([c["name"] for c in one.columns])
            part = part if len(at) == one.size else part.take(pa.array(at))
            columns = {"type": pa.repeat(pa.scalar(one.name), len(at)), **times}
            tables[one.name] = pa.table({**columns, **{c["name"]: part[c["name"]] for c in one.columns}})
        with path.open("wb") as out:
            write_to(out, {"jsonl": "json"}.get(format, format), tables)

    def picked(self, one: Rows, begin: int | None, stop: int | None, text: str) -> np.ndarray:
        """The rows of a type in a range of ticks, both ends included, that have a text in them."""
        at = one.within(begin, stop)
        return at[self._contains(one, at, text)] if text else at


def _unlike(one: Rows | None, other: Rows | None) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a type that only one of two runs has, in the order of time."""
    import numpy as np

    sizes = [0 if rows is None else rows.size for rows in (one, other)]
    left = np.arange(sizes[0]), np.arange(sizes[1])
    if one is None or other is None:
        return left
    left = _alone(one.table[LABEL], other.table[LABEL])
    if one.lasting != other.lasting or [*one.columns] != [*other.columns]:
        return left
    alone = _alone(_content(one, left[0]), _content(other, left[1]))
    return left[0][alone[0]], left[1][alone[1]]


def _alone(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The places of values that have no partner in the other column: each value has one partner at most."""
    import numpy as np
    import pyarrow as pa

    values = pa.chunked_array([*one.chunks, *other.chunks], one.type).combine_chunks().dictionary_encode()
    codes = np.split(values.indices.to_numpy(zero_copy_only=False), [len(one)])
    counts = [np.bincount(part, minlength=len(values.dictionary)) for part in codes]
    out = []
    for part, there in zip(codes, reversed(counts)):
        order = np.argsort(part, kind="stable")
        begins = np.searchsorted(part[order], np.arange(len(there)))
        rank = np.arange(len(part)) - begins[part[order]]
        out.append(np.sort(order[rank >= there[part[order]]]))
    return out[0], out[1]


def _content(one: Rows, at: np.ndarray) -> pa.ChunkedArray:
    """Time, end and values of some rows, as one text each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from occurs.model.astext import plain_text

    part = one.table.select([TIME, *([END] if one.lasting else []), *(c["name"] for c in one.columns)])
    part = part.take(pa.array(at))
    texts = [pc.fill_null(plain_text(column), "\0").cast(pa.string()) for column in part.columns]
    joined: pa.ChunkedArray = pc.binary_join_element_wise(*texts, "\0\0")
    return joined


#: the columns that all rows have, and their types
ALWAYS = {
    "row": "int", "type": "string", "time": "time", "ticks": "int", "end": "time", "end_ticks": "int", "open": "bool",
    "label": "string",
}  # fmt: skip
#: characters of times as they are shown
_OF_TIMES = set("0123456789-:.TZtz")


def _columns(types: Sequence[Rows]) -> list[dict[str, str]]:
    """The columns of some types, each once."""
    found: dict[str, str] = {}
    for one in types:
        for column in one.columns:
            found.setdefault(column["name"], column["type"])
    return [{"name": name, "type": type} for name, type in (*ALWAYS.items(), *found.items())]


def _sort_key(one: Rows, at: np.ndarray, name: str) -> pa.ChunkedArray:
    """What rows are sorted by."""
    import pyarrow as pa

    if name == "type":
        return pa.chunked_array([pa.repeat(pa.scalar(one.name), len(at))])
    if name in ("time", "end"):
        ticks = (one.time if name == "time" else one.end)[at]
        return pa.chunked_array([pa.array(ticks, mask=None if name == "time" or one.lasting else ticks == ticks)])
    index = pa.array(at)
    if name == "label":
        return one.table[LABEL].take(index)
    if name not in one.table.column_names:
        return pa.chunked_array([pa.nulls(len(at))])
    return one.table[name].take(index)


def _sorted(keys: Sequence[pa.ChunkedArray], time: np.ndarray, greatest: bool) -> np.ndarray:
    """The order of rows by their keys, null last, then by time and type."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from occurs.model.astext import plain_text

    there = [k for k in keys if not pa.types.is_null(k.type)]
    kinds = {k.type for k in there}
    number = pa.types.is_integer, pa.types.is_floating
    if len(kinds) > 1 and all(any(is_(t) for is_ in number) for t in kinds):
        keys = [k.cast(pa.float64(), safe=False) for k in keys]
    elif len(kinds) > 1 or any(pa.types.is_nested(t) for t in kinds):
        keys = [plain_text(k) for k in keys]
    target = next((k.type for k in keys if not pa.types.is_null(k.type)), pa.int64())
    column = pa.chunked_array([c for k in keys for c in k.cast(target).chunks], target)
    none = column.is_null(nan_is_null=True)
    table = pa.table({"none": none, "key": column, "time": time, "number": np.arange(len(time))})
    by = [("none", "ascending"), ("key", "descending" if greatest else "ascending")]
    by += [("time", "ascending"), ("number", "ascending")]
    found: np.ndarray = pc.sort_indices(table, sort_keys=by).to_numpy()
    return found


def exact(value: int | None) -> int | str | None:
    """A whole number, as text if JavaScript does not tell it from its neighbours."""
    return str(value) if value is not None and abs(value) > EXACT else value


def cells(column: pa.ChunkedArray, cut: int | None = None) -> list[Any]:
    """Values as JSON has them: times as text, large whole numbers as text, NaN null; text cut after some characters."""
    import pyarrow as pa

    from occurs.model.astext import plain_text

    t = column.type
    if pa.types.is_timestamp(t) or pa.types.is_binary(t) or pa.types.is_decimal(t) or pa.types.is_union(t):
        column = plain_text(column)
    return [plain(v, cut) for v in column.to_pylist()]


def plain(value: Any, cut: int | None = None) -> Any:
    """A value as JSON has it, see :func:`cells`."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return exact(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if cut is None or len(value) <= cut else value[:cut] + "\u2026"
    if isinstance(value, dict):
        return {str(name): plain(v, cut) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, cut) for v in value]
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
