"""The matches of a call: the rows that they bind, their attributes as columns, the columns of the derived event, and
the constituents that ``because`` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, OccursError
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.rows import Rows, attributes_of
from occurs.operators.sequence import tree
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Node, Not, Or, Sequence, While, Within

#: the state of an operator: tables by name
State = dict[str, pa.Table]


NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Bound:
    """The events of one tag in every match.  ``rows``: int64, row numbers in the table of ``type`` number
    ``types[i]`` of the same length (-1: none).  Of a tag with lists ``offsets``: int64 (matches + 1) into ``rows``,
    and ``null``: matches in which the list is null."""

    rows: np.ndarray
    types: np.ndarray
    offsets: np.ndarray | None = None
    null: np.ndarray | None = None


@dataclass(frozen=True)
class Matches:
    """What a call found, in the order of emission: (time, ``at``, rank).

    ``time``: int64 ticks; ``at``: int64, that of the row that completed it, 0 if a timer did; ``due``: did one?
    ``tables``: the events that are bound, by the number of their type in
    :attr:`occurs.operators.merging.Stream.types`: those kept of earlier calls and the new ones.  ``bound``: per tag.
    """

    time: np.ndarray
    at: np.ndarray
    due: np.ndarray
    tables: Mapping[int, Rows]
    bound: Mapping[str, Bound]
    #: int64, the number of the event that completed it among all of the call; None: of a chain of steps, the last one's
    event: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Constituents:
    """The events of every match, in the order of the pattern.

    ``offsets``: int64 (matches + 1) into the others; ``tag``: int32, the number of the event's tag; ``index``: its
    number in the list of that tag, -1 of a tag that has one; ``type``: int32, the number of its type; ``row``: its row
    in the table of that type.
    """

    offsets: np.ndarray
    tag: np.ndarray
    index: np.ndarray
    type: np.ndarray
    row: np.ndarray


class Bindings:
    """``matches`` of ``pattern``, of which ``chosen`` (row numbers) count."""

    def __init__(self, pattern: tree.Sequence, matches: Matches, kind: TimeKind, chosen: np.ndarray | None = None):
        self.pattern = pattern
        self.matches = matches
        self.kind = kind
        self.chosen = np.arange(len(matches)) if chosen is None else chosen
        self._all = chosen is None
        self._columns: dict[tuple[str, str, int | None], pa.Array] = {}

    def __len__(self) -> int:
        return len(self.chosen)

    # -- columns -----------------------------------------------------------------------------------------------------
    def column(self, leaf: Expr) -> pa.Array:
        """The attribute that a reference names, null where its event is not there."""
        assert isinstance(leaf, Ref)
        assert leaf.scope is not None
        name = (leaf.scope, leaf.name, leaf.index)
        if name not in self._columns:
            rows, types = self._events(leaf.scope, leaf.index)
            self._columns[name] = self._gathered(leaf.name, rows, types).arrow
        return self._columns[name]

    def _events(self, tag: str, index: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Rows (-1: none) and types of the events of a tag, of the match with this number in the list."""
        bound = self.matches.bound.get(tag)
        if bound is None:  # never there
            return np.full(len(self), -1, np.int64), np.zeros(len(self), np.int64)
        if bound.offsets is None:
            return (bound.rows, bound.types) if self._all else (bound.rows[self.chosen], bound.types[self.chosen])
        at = bound.offsets[self.chosen] + (index or 0)
        there = at < bound.offsets[self.chosen + 1]
        if not len(bound.rows):
            return np.full(len(self), -1, np.int64), np.zeros(len(self), np.int64)
        at = np.where(there, at, 0)
        return np.where(there, bound.rows[at], -1), bound.types[at]

    def _gathered(self, name: str, rows: np.ndarray, types: np.ndarray) -> Column:
        """One attribute of events; where types differ the wider of theirs."""
        found = distinct(types if rows.min(initial=0) >= 0 else types[rows >= 0])
        if not len(found):
            return Column.nulls(Type.NULL, len(rows))
        if len(found) == 1:
            return taken(self.matches.tables[int(found[0])].column(name), rows)
        parts = [self.matches.tables[int(n)].column(name) for n in found]
        first = np.zeros(int(found.max()) + 1, np.int64)
        first[found] = np.cumsum([0, *(len(p) for p in parts[:-1])])
        at = np.where(rows >= 0, rows + first[np.where(rows >= 0, types, found[0])], -1)
        return taken(Column.widened(parts), at)

    # -- the derived event -------------------------------------------------------------------------------------------
    def where(self) -> Bindings:
        """Those of the matches that satisfy the condition of the whole."""
        condition = self.pattern.where
        if condition is None or not len(self):
            return self
        passed, undecided = select(condition, self.column, len(self), kind=self.kind, dialect=EPL)
        if undecided is not None:
            raise self._overflow()
        if passed.all():
            return self
        return Bindings(self.pattern, self.matches, self.kind, self.chosen[passed])

    def sorted(self) -> Bindings:
        """The matches of each event, or timer instant, in the order that the pattern asks for."""
        if not self.pattern.order or not len(self):
            return self
        keys = [self._ranks(e, descending) for e, descending in self.pattern.order]
        rows, m = self.chosen, self.matches
        # one timer instant is one group, whatever events wait for it
        parts = [m.time, m.due.astype(np.int64), *(np.where(m.due, -1, part) for part in self._completing())]
        new = np.zeros(len(rows) - 1, np.bool_)
        for part in parts:
            new |= np.diff(part[rows]) != 0
        group = np.concatenate([[0], np.cumsum(new)])
        by = np.lexsort([*keys[::-1], group])
        return Bindings(self.pattern, m, self.kind, rows[by])

    def _completing(self) -> list[np.ndarray]:
        """Numbers that together stand for the event that completed each match."""
        if self.matches.event is not None:
            return [self.matches.event]
        tags = _tags(self.pattern.root)
        last = self.matches.bound[tags[-1]] if tags else None
        return [self.matches.at] if last is None else [self.matches.at, last.types, last.rows]

    def _ranks(self, e: Expr, descending: bool) -> np.ndarray:
        """Numbers in the order of the values of an expression, which null precedes."""
        if isinstance(e, Literal) and e.value is None:
            return np.zeros(len(self), np.int64)
        got = evaluate(e, self.column, len(self), kind=self.kind, dialect=EPL)
        if got.overflow is not None:
            raise self._overflow()
        values = got.values.combine_chunks() if isinstance(got.values, pa.ChunkedArray) else got.values
        if got.type in (Type.BOOL, Type.NULL):
            values = values.cast(pa.int8())
        ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense").to_numpy(zero_copy_only=False)
        out = np.where(values.is_valid().to_numpy(zero_copy_only=False), ranks.astype(np.int64), 0)
        return -out if descending else out

    def outputs(self, schema: Schema) -> dict[str, Column]:
        """The columns of the derived events, as their schema says."""
        return {name: self._output(e, schema, name) for name, e in self.pattern.outputs if name in schema}

    def _output(self, e: Expr, schema: Schema, name: str) -> Column:
        type = schema[name]
        if isinstance(e, tree.Whole):
            return self._whole(e)
        if isinstance(e, Literal) and e.value is None:
            return Column.nulls(type, len(self))
        if isinstance(e, Ref) and e.scope is not None and e.name != "time":
            return self._gathered(e.name, *self._events(e.scope, e.index)).cast(type)
        got = evaluate(e, self.column, len(self), kind=self.kind, dialect=EPL)
        if got.overflow is not None:
            raise self._overflow()
        return Column.computed(got.values, type)

    def _overflow(self) -> OccursError:
        text = f"a number overflows 64-bit integers in `{self.pattern.name}`"
        return InputProblem.of("overflow", text)

    def _whole(self, e: tree.Whole) -> Column:
        """The events of a tag with all their attributes."""
        bound = self.matches.bound.get(e.tag)
        if bound is None or bound.offsets is None or e.index is not None:
            return Column(Type.RECORD, None, None, self._records(e, *self._events(e.tag, e.index)))
        offsets, at = picked(bound.offsets, self.chosen)
        inner = self._records(e, bound.rows[at], bound.types[at])
        null = None if bound.null is None else pa.array(bound.null[self.chosen])
        lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), inner, mask=null)
        return Column(Type.RECORD, None, None, lists)

    def _records(self, e: tree.Whole, rows: np.ndarray, types: np.ndarray) -> pa.Array:
        arrays = []
        for name, type in e.attributes:
            column = self._gathered(name, rows, types)
            arrays.append((Column.nulls(type, len(rows)) if column.type is Type.NULL else column.cast(type)).output())
        fields = tree.record_of(e.attributes)
        return pa.StructArray.from_arrays(arrays, fields=list(fields), mask=pa.array(rows < 0))

    # -- constituents ------------------------------------------------------------------------------------------------
    @cached_property
    def constituents(self) -> Constituents:
        """All bound events."""
        n, tags = len(self), [t for t, _ in self.pattern.tags]
        bound = [self.matches.bound.get(t) for t in tags]
        counts = [np.zeros(n, np.int64) if b is None else self._count(b) for b in bound]
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.sum(counts, axis=0) if counts else np.zeros(n, np.int64), out=offsets[1:])
        size = int(offsets[-1])
        tag, index = np.zeros(size, np.int32), np.full(size, -1, np.int64)
        type, row = np.zeros(size, np.int32), np.zeros(size, np.int64)
        first = offsets[:-1].copy()
        for number, (b, count) in enumerate(zip(bound, counts, strict=True)):
            if b is None:
                continue
            if b.offsets is None:
                there = count > 0
                at, source = first[there], self.chosen[there]
            else:
                _, source = picked(b.offsets, self.chosen)
                own = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
                at = np.repeat(first, count) + own
                index[at] = own
            tag[at], type[at], row[at] = number, b.types[source], b.rows[source]
            first += count
        return Constituents(offsets, tag, index, type, row)

    def _count(self, bound: Bound) -> np.ndarray:
        if bound.offsets is None:
            return (bound.rows[self.chosen] >= 0).astype(np.int64)
        return bound.offsets[self.chosen + 1] - bound.offsets[self.chosen]

    def labels_of(self, events: Constituents) -> Labels:
        """The labels of constituents."""
        hi, lo = np.zeros(len(events.row), np.uint64), np.zeros(len(events.row), np.uint64)
        for number, table in self.matches.tables.items():
            mine = events.type == number
            assert table.labels is not None
            found = table.labels.take(events.row[mine])
            hi[mine], lo[mine] = found.hi, found.lo
        return Labels(hi, lo)

    def attributes_of(self, events: Constituents) -> pa.Array:
        """The attributes of constituents as JSON objects: those that the pattern keeps of the events of a tag."""
        parts, places, kept = [], [], dict(self.pattern.columns)
        for number, table in self.matches.tables.items():
            for tag, (name, _) in enumerate(self.pattern.tags):
                mine = np.flatnonzero((events.type == number) & (events.tag == tag))
                if len(mine):
                    parts.append(attributes_of(table, events.row[mine], kept.get(name, ())))
                    places.append(mine)
        if not parts:
            return pa.array([], pa.string())
        return pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(places))))

    def times_of(self, events: Constituents) -> np.ndarray:
        """The times of constituents: int64 ticks."""
        out = np.zeros(len(events.row), np.int64)
        for number, table in self.matches.tables.items():
            mine = events.type == number
            out[mine] = table.time[events.row[mine]]
        return out


def distinct(numbers: np.ndarray) -> np.ndarray:
    """The numbers of types, each once, ascending.  Most are one number that stands for every row (stride 0)."""
    if not len(numbers):
        return NO_ROWS
    return numbers[:1] if numbers.strides == (0,) else np.flatnonzero(np.bincount(numbers))


def taken(column: Column, rows: np.ndarray) -> Column:
    """The values of these rows; null where there is none (-1)."""
    if rows.min(initial=0) >= 0:
        return column.take(rows)
    none = rows < 0
    if not len(column):
        return Column.nulls(column.type, len(rows))
    there = column.take(np.where(none, 0, rows))
    if there.numeric:
        return Column(column.type, there.values, there.is_valid() & ~none)
    return Column(column.type, None, None, column.arrow.take(pa.array(rows, mask=none)))


def picked(offsets: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lists ``chosen``: their offsets, and the places of their items."""
    count = offsets[chosen + 1] - offsets[chosen]
    new = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(count, out=new[1:])
    at = np.arange(int(new[-1])) + np.repeat(offsets[chosen] - new[:-1], count)
    return new, at


# -- where the not of a pattern were open ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Absence:
    """A ``not`` beside other operands of an ``and``.

    ``types``: of the events that must not come.  ``before``: the tags of the step before it; empty where it is not
    known when it began to look.  ``beside``: the tags of the other operands; ``wait``: ticks of a timer among them.
    ``last``: nothing comes behind it, so that the time of the match is its end.  ``branch``: it is in one of the
    operands of an ``or``, which matches need not have taken.
    """

    types: tuple[str, ...]
    before: tuple[str, ...]
    beside: tuple[str, ...]
    wait: int | None
    last: bool
    branch: bool = False


def absences(pattern: Sequence) -> list[Absence]:
    """Those of a pattern in its order, but those inside of repetitions, of which there may be many."""
    return list(_below(pattern.root, (), True))


def _below(node: Node, before: tuple[str, ...], last: bool, branch: bool = False) -> Iterator[Absence]:
    match node:
        case Every():
            yield from _below(node.operand, (), last, branch)
        case Within() | While():
            yield from _below(node.operand, before, last, branch)
        case Or():
            for operand in node.operands:
                yield from _below(operand, before, last, True)
        case Followed():
            for k, operand in enumerate(node.operands):
                behind = before if k == 0 else _tags(node.operands[k - 1])
                yield from _below(operand, behind, last and k == len(node.operands) - 1, branch)
        case And():
            others = [o for o in node.operands if not isinstance(o, Not)]
            beside = tuple(t for o in others for t in _tags(o))
            timers = [o for o in others if isinstance(o, Interval)]
            wait = None if not all(t.fixed for t in timers) else max((t.ticks for t in timers), default=None)
            for operand in node.operands:
                if isinstance(operand, Not):
                    atoms = [n for n in operand.operand.walk() if isinstance(n, Atom)]
                    types = tuple(dict.fromkeys(t for a in atoms for t in a.types))
                    yield Absence(types, before, beside, wait, last, branch)
                else:
                    yield from _below(operand, before, False, branch)


def _tags(node: Node) -> tuple[str, ...]:
    """The tags that a node binds."""
    if isinstance(node, Not):
        return ()
    own = (node.tag,) if isinstance(node, Atom) else ()
    return (*own, *(t for child in node.children for t in _tags(child)))


@dataclass(frozen=True)
class Checked:
    """Per match that has looked for an absence its ``number``, and the ticks from ``start`` to ``end`` at which an
    event would have prevented it; ``known``: is it known where that begins?"""

    absence: Absence
    number: np.ndarray
    start: np.ndarray
    known: np.ndarray
    end: np.ndarray


def checked(bindings: Bindings, absence: Absence) -> Checked:
    """Where an absence was looked for.  Ticks at which it depends on the order of an instant do not belong to it."""
    start, known = _latest(bindings, absence.before)
    end, taken = _latest(bindings, absence.beside)
    some = taken
    if absence.wait is not None:
        due = start + absence.wait
        end, some = np.where(known & (~some | (due > end)), due, end), some | known
    if absence.last:
        end, some = bindings.matches.time[bindings.chosen], some | (absence.wait is not None) | (not absence.beside)
    some = some & taken if absence.branch else some
    looked = np.flatnonzero(some & ~(known & (start + 1 > end - 1)))
    return Checked(absence, looked, start[looked] + 1, known[looked], end[looked] - 1)


def _latest(bindings: Bindings, tags: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Per match the time of the last event of these tags, and whether there is one."""
    events, n = bindings.constituents, len(bindings)
    numbers = [k for k, (tag, _) in enumerate(bindings.pattern.tags) if tag in tags]
    mine = np.flatnonzero(np.isin(events.tag, numbers))
    match = np.repeat(np.arange(n), np.diff(events.offsets))[mine]
    time, there = np.full(n, np.iinfo(np.int64).min, np.int64), np.zeros(n, np.bool_)
    np.maximum.at(time, match, bindings.times_of(events)[mine])
    there[match] = True
    return np.where(there, time, 0), there
