"""The general operator of patterns: any tree, event after event, in compiled code (epl-and-nets.md, 4A)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, LimitProblem, Problem
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Ref
from occurs.kernel import kernel
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.model.zones import changes
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import event_of, run
from occurs.operators.kernels.pattern_timers import next_instant
from occurs.operators.merging import Stream
from occurs.operators.sequence.machine_arrays import Work, fresh
from occurs.operators.sequence.machine_events import Pool
from occurs.operators.sequence.machine_memory import Live, Memory
from occurs.operators.sequence.machine_program import EMPTY, Asked, Layout, Rules
from occurs.operators.sequence.match_rows import Bound, Matches
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import Atom, Repeat, Sequence, Until, Within


class Machine:
    """Evaluates one pattern.

    ``schemas``: the attributes of the types that it reads.  ``kind``: of the times.  ``limit``: how many instances and
    stored results may live at once: LimitProblem beyond.  An overflow of int64 that leaves undecided whether an event
    fits is an InputProblem.
    """

    def __init__(
        self,
        sequence: Sequence,
        schemas: Mapping[str, Mapping[str, Type] | Schema],
        kind: TimeKind,
        limit: int = 10_000_000,
    ) -> None:
        self.sequence = sequence
        self.schemas = schemas
        self.kind = kind
        self.limit = limit
        self.rules = Rules(sequence, schemas, kind)
        self.layout = Layout(sequence, self.rules)
        self.wanted = self._wanted()
        self._nothing: Matches | None = None

    def fresh(self) -> Memory:
        """The state before anything has come."""
        return Memory(self, fresh())

    def restored(self, tables: Mapping[str, pa.Table]) -> Memory:
        """The state that was saved as ``tables``."""
        return Memory(self, dict(tables))

    def advance(self, memory: Memory, stream: Stream) -> Matches:
        """All instants up to ``stream.frontier``: the matches; the state goes on."""
        return self._advance(memory, stream, False)[0]

    def advance_late(self, memory: Memory, stream: Stream) -> tuple[Matches, Matches]:
        """The same, and the partial matches that a `timer:within` ended, in the order in which that happened."""
        return self._advance(memory, stream, True)

    # -- one call ----------------------------------------------------------------------------------------------------
    def _advance(self, memory: Memory, stream: Stream, late: bool) -> tuple[Matches, Matches]:
        with memory.call(stream) as now:
            if stream.start is not None and stream.start <= stream.frontier:
                self.run(now, stream.start, stream.since, stream.frontier, late)
            arrays, reg = now.work.arrays, now.work.reg
            found = self._matches(arrays[11][: reg[T.MATCHES]], arrays[12], now.pool, self.sequence.suppress)
            return found, self._matches(arrays[13][: reg[T.LATE]], arrays[14], now.pool, False)

    def _matches(self, found: np.ndarray, lists: np.ndarray, pool: Pool, suppress: bool) -> Matches:
        if len(found):
            return matches_of(found, lists, self.sequence, self.layout.tag_lists, pool, suppress)
        if self._nothing is None:  # once: most calls with one event find nothing
            self._nothing = matches_of(found, lists, self.sequence, self.layout.tag_lists, pool, suppress)
        return self._nothing

    def run(self, now: Live, start: int, since: int | None, until: int, late: bool) -> None:
        """Go on up to ``until`` with the events from ``base`` on."""
        layout, pool = self.layout, now.pool
        segments = segments_of(layout, start, until)
        next_due(now.work, layout, segments, since, until)
        tree = (
            layout.node_table, layout.children, layout.limits, layout.atom_table, layout.equals, layout.keys,
            layout.tag_lists, layout.calendars, layout.tick, segments,
        )  # fmt: skip
        rules = self.rules.tables(pool.overflowed)
        events = (pool.values, pool.values.view(np.float64), pool.known, pool.time)
        answers = Answers(self.sequence.name, self.rules, layout, pool)
        mask = pool.mask[pool.base : pool.n]
        while True:
            status, arrays = run(
                tree, rules, now.program, events, mask, pool.base, now.work.arrays, start, until, self.limit,
                self.sequence.discard, late,
            )  # fmt: skip
            work = now.work = Work(arrays)
            if status == T.FINISHED:
                return
            if status == T.ASKING:
                answers.condition(work)
            elif status == T.ASKING_KEYS:
                answers.keys(work)
            elif status == T.ASKING_LENGTH:
                answers.length(work)
            elif status == T.UNDECIDED:
                raise overflow(self.sequence.name, int(work.reg[T.NOW]))
            else:
                self._full(int(work.reg[T.ASKED]))

    def _full(self, node: int) -> None:
        word = self.layout.word(node)
        raise LimitProblem.of(
            "max-instances",
            f"`{self.sequence.name}`: more than {self.limit} partial matches at once, the next one of `{word}`",
            hint="limit the pattern with `timer:within`, `-[n]>` or a condition, or increase --max-instances",
            definition=self.sequence.name,
        )

    def _wanted(self) -> dict[str, frozenset[str]]:
        """Per type the columns that are kept of its events: those that anything reads."""
        per_tag = dict(self.sequence.columns)
        out: dict[str, frozenset[str]] = {}
        for node in self.sequence.root.walk():
            if isinstance(node, Atom):
                for t in node.types:
                    out[t] = out.get(t, frozenset()) | per_tag.get(node.tag, frozenset())
        rules = self.rules
        read = [(types, word.expr) for types, word in zip(rules.word_types, rules.words)]
        named = [(asked.own, r) for asked in rules.asked for r in asked.expr.walk() if isinstance(r, Ref)]
        read += [(set(rules.types.get(r.scope or own or "", ())), r) for own, r in named]
        for types, expr in read:
            names = {r.name for r in expr.walk() if isinstance(r, Ref)} - {"time"}
            for t in types:
                out[t] = out.get(t, frozenset()) | names
        return out


# -- expressions that the machine asks for -----------------------------------------------------------------------------
def bad_length(name: str, ticks: float | None, time: int) -> InputProblem:
    text = "null" if ticks is None else f"{ticks} ticks"
    hint = "exclude such values in the filter of the event: `a=A(n > 0)`"
    message = f"a length of time that `{name}` computes at {time} is {text}, but it must be positive"
    return InputProblem(Problem("bad-value", message, definition=name, value=time, hint=hint))


#: repetitions that an instance may count
MOST_REPEATED = 2**31 - 2


def bad_number(name: str, number: int | None, time: int) -> InputProblem:
    text = "null" if number is None else number
    hint = "exclude such values in the filter of the event: `a=A(n > 0)`"
    message = f"a number of repetitions that `{name}` computes at {time} is {text}, but it must be at least 1"
    return InputProblem(Problem("bad-value", message, definition=name, value=time, hint=hint))


def overflow(name: str, time: int) -> InputProblem:
    return InputProblem(
        Problem("overflow", f"overflow of int64 in a condition of `{name}` at time {time}", definition=name, value=time)
    )


class Answers:
    """Answers the questions of one call."""

    def __init__(self, name: str, rules: Rules, layout: Layout, events: Pool) -> None:
        self.name = name
        self.rules = rules
        self.layout = layout
        self.events = events

    def condition(self, work: Work) -> None:
        """Is the condition reg[ASKED] true?"""
        asked = self.rules.asked[work.reg[T.ASKED]]
        passed, undecided = select(
            asked.expr, lambda leaf: self._column(work, asked, leaf), 1, kind=self.rules.kind, dialect=EPL
        )
        if undecided is not None:
            raise overflow(self.name, int(work.reg[T.NOW]))
        work.reg[T.ANSWER] = int(passed[0])
        work.reg[T.ANSWERED] = 1

    def keys(self, work: Work) -> None:
        """The values of the keys of the node reg[ASKED]."""
        node = self.layout.node_table[work.reg[T.ASKED]]
        values = work.arrays[16]
        known = 0
        for k, key in enumerate(range(node[T.ONE], node[T.TWO])):
            asked = self.rules.asked[self.layout.keys[key, 0]]
            found = evaluate(
                asked.expr,
                lambda leaf, asked=asked: self._column(work, asked, leaf),  # type: ignore[misc]
                1,
                kind=self.rules.kind,
                dialect=EPL,
            )
            if found.overflow is not None:
                raise overflow(self.name, int(work.reg[T.NOW]))
            value = found.values[0].as_py()
            values[k] = 0
            if value is None:
                continue
            known |= 1 << k
            if isinstance(value, str):
                values[k] = self.events.texts.number(value)
            elif isinstance(value, float):
                values[k] = np.array([value + 0.0]).view(np.int64)[0]
            else:
                values[k] = int(value)
        work.reg[T.ANSWER] = known
        work.reg[T.ANSWERED] = 1

    def length(self, work: Work) -> None:
        """The ticks of the length of the node reg[ASKED], which begins now."""
        node = self.layout.nodes[work.reg[T.ASKED]]
        if isinstance(node, Until | Repeat):
            self._numbers(node, work)
            return
        assert isinstance(node, Interval | Within)
        now, total = int(work.reg[T.NOW]), Fraction(0)
        for expr, ticks in node.length:
            value = self._value(expr, work)
            if value is None or not math.isfinite(value):
                raise bad_length(self.name, value, now)
            total += Fraction(value) * ticks
        if not 1 <= round(total) < 2**63:
            raise bad_length(self.name, round(total), now)
        work.reg[T.ANSWER] = round(total)
        work.reg[T.ANSWERED] = 1

    def _numbers(self, node: Until | Repeat, work: Work) -> None:
        """The least and the greatest number of the repetition reg[ASKED], which begins now."""
        assert node.bounds is not None
        now = int(work.reg[T.NOW])
        low, high = (None if e is None else self._value(e, work) for e in node.bounds)
        if isinstance(node, Repeat) and low is None:
            raise bad_number(self.name, low, now)
        if low is not None and high is not None and low > high:
            low, high = high, low
        least = 0 if low is None else low
        if not 0 <= least <= MOST_REPEATED or (high is not None and not 1 <= high <= MOST_REPEATED):
            raise bad_number(self.name, low if high is None or high > 0 else high, now)
        work.reg[T.ANSWER] = least * T.NUMBERS + (0 if high is None else high + 1)
        work.reg[T.ANSWERED] = 1

    def _value(self, expr: Expr, work: Work) -> Any:
        """The value that an expression has now."""
        asked = Asked(expr, None)
        found = evaluate(
            expr, lambda leaf: self._column(work, asked, leaf), 1, kind=self.rules.kind, dialect=EPL
        )
        if found.overflow is not None:
            raise overflow(self.name, int(work.reg[T.NOW]))
        return found.values[0].as_py()

    def _column(self, work: Work, asked: Asked, leaf: Expr) -> pa.Array:
        """The one value that a reference has now."""
        assert isinstance(leaf, Ref)
        if leaf.scope is None or (leaf.scope == asked.own and leaf.index is None):
            row = int(work.reg[T.ASKED_ROW])
            types = self.rules.types.get(asked.own or "", ())
        else:
            index = -1 if leaf.index is None else leaf.index
            row = int(event_of(work.bound, work.reg[T.ASKED_BINDING], self.rules.tags[leaf.scope], index))
            types = self.rules.types[leaf.scope]
        if row >= 0:
            return self.events.arrow(row, leaf.name)
        if leaf.name == "time":
            return pa.nulls(1, EMPTY[Type.TIMESTAMP])
        known = {self.rules.schemas[t][leaf.name] for t in types if leaf.name in self.rules.schemas.get(t, ())}
        return pa.nulls(1, EMPTY[known.pop()] if len(known) == 1 else pa.null())


# -- what the machine has found ----------------------------------------------------------------------------------------
_UNBOUND = 2**62


def matches_of(
    found: np.ndarray, lists: np.ndarray, sequence: Sequence, tag_lists: np.ndarray, events: Pool, suppress: bool
) -> Matches:
    """``found``: rows as kernels/pattern_tables.py says, in the order in which the machine found them."""
    found = _sorted(found, lists, tag_lists)
    if suppress and len(found):
        found = found[_without_overlaps(*_ranked(found, lists, tag_lists), tag_lists)]
    row = found[:, T.MATCH_ROW]
    due = row < 0
    at = np.zeros(len(found), np.int64)
    at[~due] = events.at[row[~due] - events.base]
    slots = found[:, T.MATCH_FIELDS : T.MATCH_FIELDS + len(tag_lists)]
    lengths = found[:, T.MATCH_FIELDS + len(tag_lists) :]
    single: dict[int, np.ndarray] = {}
    many: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    used = [np.zeros(0, np.int64)]
    for tag, number in enumerate(tag_lists.tolist()):
        if number < 0:
            single[tag] = slots[:, tag]
            used.append(single[tag][single[tag] >= 0])
        else:
            length = lengths[:, number]
            offsets = np.concatenate([[0], np.cumsum(length)])
            inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
            many[tag] = offsets, lists[np.repeat(slots[:, tag], length) + inside]
            used.append(many[tag][1])
    rows = np.unique(np.concatenate(used))
    tables, place = events.gathered(rows)
    # -1, no event, is before the first one
    places, types = np.append(place, -1), np.append(events.type[rows], -1)

    def named(some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.where(some < 0, -1, np.searchsorted(rows, some))
        return places[at], types[at]

    bound: dict[str, Bound] = {}
    for tag, (name, _) in enumerate(sequence.tags):
        if tag in single:
            bound[name] = Bound(*named(single[tag]))
        else:
            offsets, of_lists = many[tag]
            bound[name] = Bound(*named(of_lists), offsets, offsets[1:] == offsets[:-1])
    return Matches(found[:, T.MATCH_TIME].copy(), at, due, tables, bound, row.copy())


def _sorted(found: np.ndarray, lists: np.ndarray, tag_lists: np.ndarray) -> np.ndarray:
    """Those of one event or timer instant by their constituents, tag by tag: earlier first, unbound last."""
    if len(found) < 2:
        return found
    new = (found[1:, : T.MATCH_FIELDS] != found[:-1, : T.MATCH_FIELDS]).any(axis=1)
    if new.all():
        return found
    group = np.concatenate([[0], np.cumsum(new)])
    several = np.flatnonzero(np.bincount(group)[group] > 1)
    part = found[several]
    keys = [group[several]]
    for tag, number in enumerate(tag_lists.tolist()):
        slot = part[:, T.MATCH_FIELDS + tag]
        if number < 0:
            keys.append(np.where(slot < 0, _UNBOUND, slot))
            continue
        length = part[:, T.MATCH_FIELDS + len(tag_lists) + number]
        values = [tuple(lists[a : a + n].tolist()) for a, n in zip(slot.tolist(), length.tolist())]
        ranks = {v: rank for rank, v in enumerate(sorted(set(values)))}
        keys.append(np.array([ranks[v] if v else _UNBOUND for v in values], np.int64))
    out = found.copy()
    out[several] = part[np.lexsort(keys[::-1])]
    return out


def _ranked(found: np.ndarray, lists: np.ndarray, tag_lists: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with numbers of events that have no gaps; and -1 per event."""
    out = found.copy()
    slots = out[:, T.MATCH_FIELDS : T.MATCH_FIELDS + len(tag_lists)][:, tag_lists < 0]
    rows = np.unique(np.concatenate([slots.ravel(), lists]))
    out[:, T.MATCH_FIELDS + np.flatnonzero(tag_lists < 0)] = np.where(slots < 0, -1, np.searchsorted(rows, slots))
    return out, np.searchsorted(rows, lists), np.full(len(rows), -1, np.int64)


@kernel
def _without_overlaps(found: np.ndarray, lists: np.ndarray, taken: np.ndarray, tag_lists: np.ndarray) -> np.ndarray:
    """Booleans: the matches that share no event with one before that is kept, of the same event or timer instant.

    ``taken``: -1 per event.
    """
    keep = np.ones(len(found), np.bool_)
    tags = len(tag_lists)
    group = 0
    for k in range(len(found)):
        if k and (found[k, 0] != found[k - 1, 0] or found[k, 1] != found[k - 1, 1]):
            group = k
        for noting in range(2):
            if not keep[k]:
                break
            for tag in range(tags):
                slot = found[k, 2 + tag]
                if slot < 0:
                    continue
                size = 1 if tag_lists[tag] < 0 else found[k, 2 + tags + tag_lists[tag]]
                for j in range(size):
                    event = slot if tag_lists[tag] < 0 else lists[slot + j]
                    if noting:
                        taken[event] = group
                    elif taken[event] == group:
                        keep[k] = False
    return keep


# -- calendars ---------------------------------------------------------------------------------------------------------
_LEAST = -(2**62)
_UTC = np.array([[0, _LEAST, 0]], np.int64)
_SECOND = 1_000_000
#: what a calendar can name, in microseconds since 1970: the years 1 to 9999
_FIRST, _LAST = -62_135_596_800 * _SECOND, 253_402_300_799 * _SECOND


def segments_of(layout: Layout, start: int, until: int) -> np.ndarray:
    """int64 (n, 3): the number of a zone, from which second of UTC on its local time is how many seconds ahead."""
    if layout.zones in ([], ["UTC"]):
        return _UTC
    first, last = (min(max(at * layout.tick, _FIRST), _LAST) for at in (start, until))
    out = []
    for number, zone in enumerate(layout.zones):
        if zone == "UTC":
            out.append(np.array([[number, _LEAST, 0]], np.int64))
            continue
        starts, ahead = changes(zone, first, min(last + layout.longest, _LAST))
        out.append(np.column_stack([np.full(len(starts), number), starts // _SECOND, ahead // _SECOND]))
    return np.concatenate(out).astype(np.int64)


def next_due(work: Work, layout: Layout, segments: np.ndarray, since: int | None, until: int) -> None:
    """Of instances of earlier calls no instant is in these: it is the first one of this call, if there is one."""
    if since is None:
        return
    inst = work.arrays[1]
    for number in layout.at_nodes:
        row = layout.node_table[number]
        waiting = np.flatnonzero(inst[: work.reg[T.USED], T.NODE] == number)
        if len(waiting):
            allowed = layout.calendars[row[T.ONE]]
            inst[waiting, T.DUE] = next_instant(allowed, layout.tick, segments, row[T.ZONE], since, until)
            work.reg[T.NEXT_DUE] = _LEAST
