"""The events of one call as the machine reads them: those kept of earlier calls, then the new ones that matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Ref, conjunction
from occurs.model.labels import Labels
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.pattern_machine import DOUBTFUL
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows
from occurs.operators.sequence.machine_program import Rules, Word
from occurs.operators.sequence.tree import Atom


@dataclass
class Events:
    """The pool: rows in the total order, ``base`` of them kept.

    ``type``: the number of each one's type in ``types`` (those of the stream come first); ``row``: its row in the kept
    rows of that type if it is kept, else in the new ones.  ``mask``: uint8 (new rows in the pool, atoms).  ``event``:
    the number of each new one in the stream.
    """

    types: tuple[str, ...]
    kept: Mapping[str, Rows]
    stream: Stream
    base: int
    type: np.ndarray
    row: np.ndarray
    time: np.ndarray
    event: np.ndarray
    mask: np.ndarray
    texts: Texts = field(default_factory=lambda: Texts())

    def __len__(self) -> int:
        return len(self.time)

    def gathered(self, rows: np.ndarray) -> tuple[dict[int, Rows], np.ndarray]:
        """Tables of the pool's rows ``rows`` (ascending), by number of type, and the place of each in its table."""
        place = np.zeros(len(rows), np.int64)
        out: dict[int, Rows] = {}
        types = self.type[rows]
        for number in np.unique(types).tolist():
            here = np.flatnonzero(types == number)
            place[here] = np.arange(len(here))
            mine = rows[here]
            old = int(np.searchsorted(mine, self.base))
            name = self.types[number]
            parts = []
            if old:
                parts.append(self.kept[name].take(self.row[mine[:old]]))
            if old < len(mine):
                parts.append(self.stream.rows[name].take(self.row[mine[old:]]))
            out[number] = one_table(parts)
        return out, place

    def arrow(self, row: int, name: str) -> pa.Array:
        """An attribute of one row of the pool, as a column of length 1."""
        type = self.types[self.type[row]]
        rows = self.kept[type] if row < self.base else self.stream.rows[type]
        return rows.column(name).take(self.row[row : row + 1]).arrow


def one_table(parts: list[Rows]) -> Rows:
    """Rows of one type behind one another; what only some of them have is left out."""
    first = parts[0]
    if len(parts) == 1:
        return first
    names = [n for n in first.columns if all(n in p.columns for p in parts)]
    columns = {n: Column.widened([p.columns[n] for p in parts]) for n in names}
    return Rows(
        first.type,
        np.concatenate([p.time for p in parts]),
        columns,
        labels=_joined([p.labels for p in parts]),
        derived=_concatenated([p.derived for p in parts]),
        at=_concatenated([p.at for p in parts]),
    )


def _joined(parts: list[Labels | None]) -> Labels | None:
    found = [p for p in parts if p is not None]
    return Labels.concat(found) if len(found) == len(parts) else None


def _concatenated(parts: list[np.ndarray | None]) -> np.ndarray | None:
    found = [p for p in parts if p is not None]
    return np.concatenate(found) if len(found) == len(parts) else None


def events_of(stream: Stream, kept: Mapping[str, Rows], order: Mapping[str, np.ndarray], atoms: list[Atom]) -> Events:
    """The pool of a call.  ``order``: per type the place of its kept rows among all kept ones."""
    types = (*stream.types, *(t for t in kept if t not in stream.types))
    masks, wanted = _masks(stream, atoms)
    new = np.flatnonzero(wanted)
    base = sum(len(kept[t]) for t in kept)
    type = np.zeros(base + len(new), np.int64)
    row = np.zeros(base + len(new), np.int64)
    time = np.zeros(base + len(new), np.int64)
    for t, rows in kept.items():
        at = order[t]
        type[at] = types.index(t)
        row[at] = np.arange(len(rows))
        time[at] = rows.time
    whole = len(new) == len(wanted)
    type[base:] = stream.type if whole else stream.type[new]
    row[base:] = stream.row if whole else stream.row[new]
    time[base:] = stream.time if whole else stream.time[new]
    mask = np.zeros((len(new), len(atoms)), np.uint8)
    for number, one in enumerate(masks):
        mask[:, number] = one if whole else one[new]
    return Events(types, kept, stream, base, type, row, time, new, mask)


def _masks(stream: Stream, atoms: list[Atom]) -> tuple[list[np.ndarray], np.ndarray]:
    """Per atom, uint8 over the events of the stream: may it be one for it?  And which are for any."""
    n = len(stream.time)
    wanted = np.zeros(n, np.bool_)
    out = []
    places: dict[str, np.ndarray] = {}
    found: dict[tuple[str, tuple[Expr, ...]], np.ndarray] = {}
    for atom in atoms:
        mask = np.zeros(n, np.uint8)
        for t in atom.types:
            if t not in stream.types:
                continue
            if t not in places:
                places[t] = np.flatnonzero(stream.type == stream.types.index(t))
            here = places[t]
            if atom.own:
                if (t, atom.own) not in found:
                    found[t, atom.own] = _passed(stream, t, atom.own)
                mask[here] = found[t, atom.own][stream.row[here]]
            else:
                mask[here] = 1
        wanted |= mask != 0
        out.append(mask)
    return out, wanted


def _passed(stream: Stream, type: str, conditions: tuple[Expr, ...]) -> np.ndarray:
    rows = stream.rows[type]
    whole = conjunction(list(conditions))
    assert whole is not None

    def column(leaf: Expr) -> pa.Array:
        assert isinstance(leaf, Ref)
        return rows.column(leaf.name).arrow

    passed, undecided = select(whole, column, len(rows), kind=stream.kind, dialect=EPL)
    out = passed.astype(np.uint8)
    if undecided is not None:
        out[undecided] = DOUBTFUL
    return out


# --- words ----------------------------------------------------------------------------------------------------------


@dataclass
class Texts:
    """The texts of one call, numbered in their order; ``more``: texts that turn up later, behind them."""

    sorted: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    more: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        at = pc.index(self.sorted, text).as_py()
        return at if at >= 0 else self.more.setdefault(text, len(self.sorted) + len(self.more))

    def all(self) -> pa.Array:
        return pa.concat_arrays([self.sorted, pa.array(list(self.more), pa.string())])


def fill_words(events: Events, rules: Rules, more: list[pa.Array]) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """The pool's columns: values int64 (rows, words; floats as their bits), known booleans, and the numbers of the
    words in which an overflow hides a value.  ``more``: further texts that get numbers."""
    n = max(1, len(events))
    width = max(1, len(rules.words))
    values = np.zeros((n, width), np.int64)
    known = np.zeros((n, width), np.bool_)
    overflowed: set[int] = set()
    texts: list[tuple[int, np.ndarray, pa.Array]] = []
    new = events.type[events.base :]
    for number, word in enumerate(rules.words):
        for t in sorted(rules.word_types[number]):
            if t not in events.types:
                continue
            kind = events.types.index(t)
            old = np.flatnonzero(events.type[: events.base] == kind)
            fresh = events.base + np.flatnonzero(new == kind)
            for rows, at in ((events.kept.get(t), old), (events.stream.rows.get(t), fresh)):
                if rows is None or len(at) == 0:
                    continue
                column, lost = _word(rows, word, events.row[at], events.stream)
                if lost:
                    overflowed.add(number)
                if word.type is Type.STRING:
                    texts.append((number, at, column.arrow))
                else:
                    values[at, number], known[at, number] = _raw(column, word.type)
    literals = pa.array([text for _, text in rules.texts], pa.string())
    if texts or more or len(literals):
        _number_texts(events, values, known, texts, [literals, *more])
    return values, known, overflowed


def _word(rows: Rows, word: Word, at: np.ndarray, stream: Stream) -> tuple[Column, bool]:
    """The values of a word on the rows ``at``; does an overflow hide one?"""
    whole = len(at) == len(rows)
    if isinstance(word.expr, Ref):
        column = rows.column(word.expr.name)
        return (column if whole else column.take(at)), False

    def given(leaf: Expr) -> pa.Array:
        assert isinstance(leaf, Ref)
        found = rows.column(leaf.name)
        return (found if whole else found.take(at)).arrow

    made = evaluate(word.expr, given, len(at), kind=stream.kind, dialect=EPL)
    return Column.of(made.values, word.type), made.overflow is not None


def _raw(column: Column, type: Type) -> tuple[np.ndarray, np.ndarray]:
    """Values as words, and which are known; -0.0 is 0.0."""
    if column.type is Type.NULL:
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    known = column.is_valid()
    if type is Type.FLOAT:
        values = column.values.astype(np.float64) + 0.0
        return values.view(np.int64), known & ~np.isnan(values)
    return column.values.astype(np.int64), known


def _number_texts(
    events: Events,
    values: np.ndarray,
    known: np.ndarray,
    texts: list[tuple[int, np.ndarray, pa.Array]],
    more: list[pa.Array],
) -> None:
    """Number all texts in their order, by code point, and write the numbers."""
    parts = [a if a.type == pa.string() else a.cast(pa.string()) for a in (*(a for _, _, a in texts), *more)]
    encoded = pa.concat_arrays(parts).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    events.texts = Texts(encoded.dictionary.take(pa.array(order)))
    numbers = np.zeros(len(order) + 1, np.int64)
    numbers[order] = np.arange(len(order))
    valid = encoded.is_valid().to_numpy(zero_copy_only=False)
    codes = numbers[pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)]
    begin = 0
    for word, at, array in texts:
        end = begin + len(array)
        values[at, word], known[at, word] = codes[begin:end], valid[begin:end]
        begin = end
