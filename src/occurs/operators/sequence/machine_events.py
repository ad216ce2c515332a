"""The events that the machine of patterns looks at, and the words that its compiled code reads of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Self

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import Expr, Ref, conjunction
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.codes import Domain
from occurs.operators.columns import Column
from occurs.operators.frame import own_column, passing
from occurs.operators.growing import behind
from occurs.operators.kernels.pattern_machine import DOUBTFUL
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows
from occurs.operators.sequence.machine_program import Rules, Word
from occurs.operators.sequence.tree import Atom

_NONE = np.zeros(0, np.int64)


class Texts:
    """The numbers of texts.  Where conditions compare texts by their order (``ordered``), those of the ``first`` ones
    are in that order."""

    def __init__(self, first: Many[pa.Array], ordered: bool) -> None:
        self._codes = Domain()
        self._ordered = ordered
        if ordered:
            texts = sorted({text for array in first for text in array.to_pylist() if text is not None})
            self.encode(Column.of(pa.array(texts, pa.string()), Type.STRING))
        self._sorted = len(self)

    def __len__(self) -> int:
        return self._codes.size

    def encode(self, column: Column) -> np.ndarray:
        """The number of each text, -1 for null; new ones get the next numbers."""
        return self._codes.encode(column)

    def number(self, text: str) -> int:
        """The number of a text."""
        return int(self.encode(Column.of(pa.array([text], pa.string()), Type.STRING))[0])

    def fit(self, column: Column) -> bool:
        """Do these texts have numbers that are in order, if order matters?"""
        if not self._ordered:
            return True
        found = self._codes.find(column)
        return bool(((found >= 0) & (found < self._sorted) | ~column.is_valid()).all())

    def all(self) -> pa.Array:
        """All of them, in the order of their numbers."""
        return pa.array(self._codes.texts, pa.string())


class Pool:
    """Events in the total order: those before ``base`` are kept of earlier calls, those from there to ``n`` are the new
    ones of a call that some filter may accept.

    ``types``: names, by number; those of the stream come first.  ``kept``: per type the kept rows, as far as anything
    reads them (``wanted``).  Of each event, in arrays that have room for more than ``n``: ``type``; ``row``, among the
    kept rows of its type or among the new ones of the stream; ``time``; ``values``, int64 (event, word; floats as their
    bits), and ``known``, booleans; ``mask``, uint8 (event, atom).  ``at``: the place of each new event within its
    instant.  ``overflowed``: words in which an overflow hides a value of some event.
    """

    def __init__(
        self, rules: Rules, atoms: list[Atom], wanted: Mapping[str, frozenset[str]], types: tuple[str, ...],
        texts: Texts,
    ) -> None:  # fmt: skip
        self.rules, self.atoms, self.wanted, self.types, self.texts = rules, atoms, wanted, types, texts
        self.kept: dict[str, Rows] = {}
        self.stream: Stream | None = None
        self.overflowed: frozenset[int] = frozenset()
        self._overflowed = self.overflowed
        self.base = self.n = 0
        self.at = _NONE
        self._arrays(64)

    @classmethod
    def of(
        cls, rules: Rules, atoms: list[Atom], wanted: Mapping[str, frozenset[str]], kept: Mapping[str, Rows],
        order: Mapping[str, np.ndarray], stream: Stream, texts: list[pa.Array],
    ) -> Self:  # fmt: skip
        """The pool with the ``kept`` events, whose places among all of them are ``order``.  ``texts``: those that have
        numbers besides; the rows of ``stream`` come next."""
        types = (*stream.types, *(t for t in kept if t not in stream.types))
        ordered, first = rules.coder.orders_texts, [*texts, pa.array([text for _, text in rules.texts], pa.string())]
        if ordered:
            found = [c for t, rows in kept.items() for c in _texts_of(rules, t, rows)]
            found += [c for t, rows in stream.rows.items() for c in _texts_of(rules, t, rows)]
            first += [c.arrow for c in found]
        out = cls(rules, atoms, wanted, types, Texts(first, ordered))
        out.kept = dict(kept)
        n = sum(map(len, kept.values()))
        out._room(n)
        for t, rows in kept.items():
            at = order[t]
            out.type[at], out.row[at], out.time[at] = types.index(t), np.arange(len(rows)), rows.time
            out._fill(t, rows, None, at)
        out.base = out.n = n
        return out

    def __len__(self) -> int:
        return self.n

    def copy(self) -> Self:
        """The same for calls of their own."""
        out = type(self)(self.rules, self.atoms, self.wanted, self.types, self.texts)
        out.kept, out.overflowed, out.base, out.n = dict(self.kept), self.overflowed, self.base, self.n
        for name in _ARRAYS:
            setattr(out, name, getattr(self, name).copy())
        return out

    def _arrays(self, size: int) -> None:
        width, n = max(1, len(self.rules.words)), self.n
        made = {
            "type": np.zeros(size, np.int64),
            "row": np.zeros(size, np.int64),
            "time": np.zeros(size, np.int64),
            "values": np.zeros((size, width), np.int64),
            "known": np.zeros((size, width), np.bool_),
            "mask": np.zeros((size, len(self.atoms)), np.uint8),
        }
        for name, array in made.items():
            if n:
                array[:n] = getattr(self, name)[:n]
            setattr(self, name, array)

    type: np.ndarray
    row: np.ndarray
    time: np.ndarray
    values: np.ndarray
    known: np.ndarray
    mask: np.ndarray

    def _room(self, n: int) -> None:
        """Let there be room for so many events."""
        if n > len(self.time):
            self._arrays(2 * n)

    # -- new events --------------------------------------------------------------------------------------------------
    def fits(self, stream: Stream) -> bool:
        """Can the events of a stream come behind these?"""
        if self.types[: len(stream.types)] != stream.types:
            return False
        if not self.rules.coder.orders_texts:
            return True
        return all(self.texts.fit(c) for t, rows in stream.rows.items() for c in _texts_of(self.rules, t, rows))

    def take(self, stream: Stream) -> None:
        """Take the new events of a call behind the kept ones."""
        self._overflowed = self.overflowed
        masks, wanted = _masks(stream, self.atoms)
        new = np.flatnonzero(wanted)
        first, n = self.n, self.n + len(new)
        self._room(n)
        whole = len(new) == len(wanted)
        for own, all in ((self.type, stream.type), (self.row, stream.row), (self.time, stream.time)):
            own[first:n] = all if whole else all[new]
        for number, one in enumerate(masks):
            self.mask[first:n, number] = one if whole else one[new]
        if len(new):
            self.known[first:n] = False
            for _, t, at in self._apart(self.type[first:n]):
                rows = stream.rows[t]
                self._fill(t, rows, None if len(at) == len(rows) else self.row[first + at], first + at)
        self.at = stream.at if whole else stream.at[new]
        self.stream, self.base, self.n = stream, first, n

    def settle(self) -> None:
        """Keep the new events."""
        stream, first = self.stream, self.base
        assert stream is not None
        for _, t, at in self._apart(self.type[first : self.n]):
            names = self.wanted.get(t, frozenset())
            rows = stream.rows[t]
            columns = {n: rows.columns[n] for n in rows.columns if n in names}
            some = replace(rows, columns=columns, serial=None, cache={}).take(self.row[first + at])
            past = self.kept.get(t)
            self.row[first + at] = np.arange(len(at)) + (0 if past is None else len(past))
            self.kept[t] = some if past is None else one_table([past, some])
        self.cut(self.n)

    def forget(self) -> None:
        """Keep none of the new events."""
        self.overflowed = self._overflowed
        self.cut(self.base)

    def cut(self, n: int) -> None:
        """The first ``n`` events are those that are kept; there are no new ones."""
        self.stream, self.at, self.base, self.n = None, _NONE, n, n

    def _apart(self, types: np.ndarray) -> Iterator[tuple[int, str, np.ndarray]]:
        """Per type of some events its number, its name, and which of them are of it."""
        if len(types) == 1 or (len(types) and (types == types[0]).all()):
            yield int(types[0]), self.types[types[0]], np.arange(len(types))
            return
        for number in np.unique(types).tolist():
            yield number, self.types[number], np.flatnonzero(types == number)

    def _fill(self, type: str, rows: Rows, chosen: np.ndarray | None, at: np.ndarray) -> None:
        """Write the words of rows (None: of all) as those of the events ``at``."""
        for number, word in self.rules.words_of(type):
            column, lost = _word(rows, word, chosen, self.rules.kind)
            if lost:
                self.overflowed |= {number}
            if word.type is Type.STRING:
                codes = self.texts.encode(column)
                self.known[at, number] = codes >= 0
                self.values[at, number] = np.maximum(codes, 0)
            else:
                self.values[at, number], self.known[at, number] = _raw(column, word.type)

    # -- what they say -----------------------------------------------------------------------------------------------
    def gathered(self, rows: np.ndarray) -> tuple[dict[int, Rows], np.ndarray]:
        """Tables of the events ``rows`` (ascending), by number of type, and the place of each in its table."""
        place = np.zeros(len(rows), np.int64)
        out: dict[int, Rows] = {}
        for number, name, here in self._apart(self.type[rows]):
            place[here] = np.arange(len(here))
            mine = rows[here]
            old = int(np.searchsorted(mine, self.base))
            parts = []
            if old:
                parts.append(self.kept[name].take(self.row[mine[:old]]))
            if old < len(mine):
                assert self.stream is not None
                parts.append(self.stream.rows[name].take(self.row[mine[old:]]))
            out[number] = one_table(parts)
        return out, place

    def arrow(self, row: int, name: str) -> pa.Array:
        """An attribute of one event, as a column of length 1."""
        type = self.types[self.type[row]]
        stream = self.stream
        rows = self.kept[type] if stream is None or row < self.base else stream.rows[type]
        return rows.column(name).take(self.row[row : row + 1]).arrow


_ARRAYS = ("type", "row", "time", "values", "known", "mask")


def one_table(parts: list[Rows]) -> Rows:
    """Rows of one type behind one another; what only some of them have is left out."""
    out = parts[0]
    for rows in parts[1:]:
        columns = {}
        for name, past in out.columns.items():
            column = rows.columns.get(name)
            if column is not None:
                same = past.type is column.type
                columns[name] = column.behind(past) if same else Column.widened([past, column])
        out = Rows(
            out.type,
            behind(out.time, rows.time),
            columns,
            labels=_labels(out.labels, rows.labels),
            derived=_numbers(out.derived, rows.derived),
            at=_numbers(out.at, rows.at),
        )
    return out


def _labels(past: Labels | None, new: Labels | None) -> Labels | None:
    return None if past is None or new is None else Labels(behind(past.hi, new.hi), behind(past.lo, new.lo))


def _numbers(past: np.ndarray | None, new: np.ndarray | None) -> np.ndarray | None:
    return None if past is None or new is None else behind(past, new)


# -- filters -----------------------------------------------------------------------------------------------------------


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
            if t not in stream.types or not len(stream.rows[t]):
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
    whole = conjunction(list(conditions))
    assert whole is not None
    passed, undecided = passing(stream.rows[type], whole, stream.kind, EPL)
    out = passed.astype(np.uint8)
    if undecided is not None:
        out[undecided] = DOUBTFUL
    return out


# -- words -------------------------------------------------------------------------------------------------------------


def _word(rows: Rows, word: Word, chosen: np.ndarray | None, kind: TimeKind) -> tuple[Column, bool]:
    """The values of a word on the rows ``chosen`` (None: on all); does an overflow hide one?"""
    if isinstance(word.expr, Ref):
        column = rows.column(word.expr.name)
        return (column if chosen is None else column.take(chosen)), False

    def given(leaf: Expr) -> pa.Array:
        return own_column(rows, leaf) if chosen is None else own_column(rows, leaf).take(pa.array(chosen))

    made = evaluate(word.expr, given, len(rows) if chosen is None else len(chosen), kind=kind, dialect=EPL)
    return Column.of(made.values, word.type), made.overflow is not None


def _texts_of(rules: Rules, type: str, rows: Rows) -> Iterator[Column]:
    """The words of rows that are texts."""
    for _, word in rules.words_of(type):
        if word.type is Type.STRING:
            yield _word(rows, word, None, rules.kind)[0]


def _raw(column: Column, type: Type) -> tuple[np.ndarray, np.ndarray]:
    """Values as words, and which are known; -0.0 is 0.0."""
    if column.type is Type.NULL:
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    known = column.is_valid()
    if type is Type.FLOAT:
        values = column.values.astype(np.float64) + 0.0
        return values.view(np.int64), known & ~np.isnan(values)
    return column.values.astype(np.int64), known
