"""One call of a row pattern: rows into partitions, the search, and what becomes of the matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.errors import OccursError
from occurs.expr.dialect import MATCH_RECOGNIZE
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Ref
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.kernels import row_tables as T
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.kernels.row_search import search
from occurs.operators.kernels.stackcode import STACK
from occurs.operators.layers import Layers, positions
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.conditions import Conditions, Lost, Masks
from occurs.operators.rowpattern.mapping import Matches, Shared, SharedValues, Table, Values, typed_column
from occurs.operators.rowpattern.operator import RowMatcher, failure, too_long
from occurs.operators.rowpattern.partitions import NO_KEEP, ordered, partitions
from occurs.operators.rowpattern.state import Kept, Waiting, first_that_waits, joined
from occurs.operators.rows import FIRST_TICK, Rows

_SKIPS = {"past": T.PAST, "next": T.NEXT, "first": T.TO_FIRST, "last": T.TO_LAST}
_NONE = np.zeros(0, np.int64)
#: words of 64 bits that the search may take to remember failures
MOST_WORDS = 1 << 26


@dataclass(eq=False)
class Found:
    """The derived rows of a call: ``rows`` are all rows of the call.

    ``time``, ``at``, ``columns``: of the derived rows.  ``matches``: the matches; ``match``: of each derived row, -1:
    it is of a row without a match; ``row``: the row of the call that it stands behind; ``position``: with all rows, the
    position in the match."""

    rows: Rows
    matches: Matches
    time: np.ndarray
    at: np.ndarray | None
    columns: Mapping[str, Column]
    match: np.ndarray
    row: np.ndarray
    position: np.ndarray | None

    def constituents(self, chosen: np.ndarray) -> tuple[np.ndarray, pa.Array, np.ndarray]:
        """Of some derived rows the mapped rows (of the call), the names of their variables, and where those of each
        begin.  Without mapped rows: the row itself, called ``empty match`` or ``unmatched``."""
        matches, match = self.matches.only(self.match[chosen])
        size = np.where(match >= 0, matches.size[match] if len(matches) else 0, 0)
        some = np.maximum(size, 1)
        offsets = np.concatenate([[0], np.cumsum(some)]).astype(np.int64)
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], some)
        mapped = np.repeat(size > 0, some)
        begin = matches.begin[match] if len(matches) else np.zeros(len(match), np.int64)
        place = np.where(mapped, np.repeat(begin, some) + inside, -1)
        rows = np.repeat(self.row[chosen], some)
        names = np.where(np.repeat(match >= 0, some), len(matches.names), len(matches.names) + 1)
        if mapped.any():
            own = matches.row[place[mapped]]
            order = matches.table.order
            rows[mapped] = own if order is None else order[own]
            names[mapped] = matches.variable[place[mapped]]
        known = pa.array([*matches.names, "empty match", "unmatched"], pa.string())
        return rows, known.take(pa.array(names)), offsets


class Run:
    """``kept``: the state after the call; ``complete``: up to when the derived rows are known (None: the frontier)."""

    def __init__(self, operator: RowMatcher, before: Kept, call: Call) -> None:
        self.operator, self.call = operator, call
        self.matching: tree.Matching = operator.matching
        self.conditions: Conditions = operator.conditions
        self.kind = operator.kind
        self.before = self.kept = before
        self.complete: int | None = None
        m = self.matching
        #: is it too early to search, as rows that stand before those that are known may follow?
        self._early = not call.closing and (m.order[0].column != "time" or m.order[0].descending)
        #: do measures wait for rows that are not known yet?
        self._open = not call.closing and any(n.move > 0 for n in m.measured)
        #: is it to be known which rows are gone, and how many matches there were?
        self._counts = m.numbered or self.conditions.program.reads_begin
        self._shares = False
        self._refused: list[tuple[int, OccursError]] = []
        new = self._new()
        self.keys = before.keys.successor()
        code = self.keys.encode([new.column(name) for name in m.partition], len(new))
        #: what is kept of the partitions in which something may be decided
        self.past = self._past(code)
        old, self.old = self.past.rows, len(self.past.of)
        self.rows = new if old is None else joined(old, new)
        self.of = np.concatenate([self.past.of, code])
        columns = [self.rows.column(k.column) for k in m.order]
        order = ordered(m.order, columns, self.rows.time)
        self.partitions = partitions(self.of, self.keys.size, order)
        self.table = Table(len(self.rows), self.partitions.order, self.rows.column, self.kind)
        self.parts = self._parts()

    # -- rows ----------------------------------------------------------------------------------------------------------
    def _past(self, code: np.ndarray) -> Waiting:
        """What is kept of the partitions with new rows, and of those where WITHIN ends an attempt in this call; at the
        end, or when it is too early to search, of all."""
        layers, within, since = self.before.layers, self.matching.within, self.call.since
        if self.call.closing or self._early:
            return layers.whole()
        if layers.below is None:
            return layers.top
        if len(code) > 1:
            there = np.zeros(self.keys.size, np.bool_)
            there[code] = True
            code = np.flatnonzero(there)
        if within is not None:
            after = FIRST_TICK if since is None else since - within
            for layer in (layers.top, layers.below):
                code = np.union1d(code, layer.between(after, self.call.frontier - within))
        return layers.some(code)

    def _new(self) -> Rows:
        """The new rows, with the columns that are read."""
        new, schema = self.call.new(self.operator.ports[0].type), self.operator.schema
        columns = {
            n: new.columns[n] if n in new.columns else Column.nulls(schema.get(n) or Type.NULL, len(new))
            for n in sorted(self.matching.needs)
        }
        serial = np.arange(self.before.arrived, self.before.arrived + len(new))
        return Rows(new.type, new.time, columns, 0, serial, new.labels, new.derived, new.at)

    def _of_table(self, flags: np.ndarray) -> np.ndarray:
        """Flags of the kept rows as flags of the rows of the table."""
        out = np.zeros(len(self.rows), np.bool_)
        out[: self.old] = flags
        order = self.partitions.order
        return out if order is None else out[order]

    def _parts(self) -> np.ndarray:
        low, high = self.partitions.low, self.partitions.high
        parts = np.zeros((len(low), T.PART_FIELDS), np.int64)
        parts[:, T.LOW], parts[:, T.HIGH], parts[:, T.START] = low, high, low
        parts[:, T.CLOSED], parts[:, T.WHOLE] = int(self.call.closing), 1
        if self.old:
            count = np.concatenate([[0], np.cumsum(self._of_table(self.past.before))])
            context = count[high] - count[low]
            parts[:, T.START] += context
            parts[context > 0, T.WHOLE] = 0
        if self._counts and len(self.past.code):
            at = positions(self.past.code, self.partitions.code)
            number = np.where(at >= 0, self.past.number[at], -1)
            parts[:, T.NUMBER] = np.maximum(number, 0)
            parts[number >= 0, T.WHOLE] = 0
        parts[:, T.WAITS] = parts[:, T.START]
        return parts

    # -- the search ----------------------------------------------------------------------------------------------------
    @cached_property
    def time(self) -> np.ndarray:
        """The times of the rows of the table."""
        order = self.partitions.order
        return self.rows.time if order is None else self.rows.time[order]

    def search(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Evaluate the conditions of rows and run the search: the partitions that were searched, what became of each
        row, and what the search has filled."""
        rows = len(self.rows) if self.matching.rows == tree.UNMATCHED else 0
        fate = np.zeros(rows, np.uint8)
        if rows and self.old:
            fate[self._of_table(self.past.covered)] = T.COVERED
        active = np.flatnonzero(self._active())
        return active, fate, self._search(active, fate)

    def found(self) -> Found:
        """Run the search; the rows that it derives."""
        if self._early:
            return self._later()
        active, fate, work = self.search()
        reg, labels, _, _, table, ended, ended_labels, _, _, nodes = work
        table = table[: reg[T.R_MATCHES]]
        if self._shares:
            matches: Matches = self._shared(table, nodes[: reg[T.R_NODES]], active)
        else:
            matches = self._matches(table, labels, active, numbered=True)
        if self._open:
            matches = self._known(matches, fate)
        self._keep(fate)
        if self.operator.ended:
            ends = self._matches(ended[: reg[T.R_ENDED]], ended_labels, active, numbered=False)
            return self._derived(self._before(ends), _NONE)
        unmatched = np.flatnonzero(fate == T.UNMATCHED) if len(fate) else _NONE
        return self._derived(matches, unmatched)

    def _later(self) -> Found:
        """Keep all rows; nothing is derived."""
        nothing = np.zeros(len(self.rows), np.bool_)
        rows = self.rows if len(self.rows) else None
        code = self.partitions.code
        self._goes_on(Waiting(code, np.full(len(code), -1), rows, self.of, nothing, nothing))
        if rows is not None:
            self.complete = int(rows.time[0]) - 1
        none = np.zeros((0, T.MATCH_FIELDS), np.int64)
        active = np.arange(len(self.parts))
        return self._derived(self._matches(none, np.zeros(0, np.int16), active, numbered=True), active[:0])

    def _active(self) -> np.ndarray:
        """Booleans: the partitions in which something may have been decided."""
        parts, call = self.parts, self.call
        if call.closing or not self.old:
            return np.ones(len(parts), np.bool_)
        new = np.ones(len(self.rows), np.bool_)
        new[: self.old] = False
        order = self.partitions.order
        count = np.concatenate([[0], np.cumsum(new if order is None else new[order])])
        active: np.ndarray = count[parts[:, T.HIGH]] > count[parts[:, T.LOW]]
        if self.matching.within is not None:
            active |= True
        return active

    def _search(self, active: np.ndarray, fate: np.ndarray) -> list[np.ndarray]:
        """Run the search over some partitions; what it has filled."""
        m, conditions, call = self.matching, self.conditions, self.call
        parts = self.parts[active]
        low, high, closed = parts[:, T.LOW], parts[:, T.HIGH], parts[:, T.CLOSED] != 0
        n = len(self.rows)
        masks = self._mask(low, high, closed)
        variables, uses, running = masks.variables, conditions.tables[1], conditions.tables[2]
        values, known = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.bool_)
        coded = conditions.coded
        try:
            if coded is None:
                running = running[:0]  # nobody reads these
            else:
                values, known = conditions.pool(self.table, low, high)
        except Lost:
            variables[:, T.ASKS] |= coded
            running = running[:0]
        size = n + len(parts)
        memory = conditions.within_memory(MOST_WORDS // max(1, size))
        code, splits, words = memory.code, memory.splits, memory.words
        always, attempt = (np.zeros((size if w else 0, w), np.uint64) for w in words)
        epoch = np.zeros(size if words[1] else 0, np.int64)
        self._shares = memory.shares and not (self.operator.ended or self._open) and size * splits <= MOST_WORDS
        ends = np.zeros((size, splits) if self._shares else (0, 0), np.int32)
        limits = np.array(
            [
                -1 if m.within is None else m.within, call.frontier, self.operator.limit, _SKIPS[m.skip.to],
                int(self.operator.ended),
            ],
            np.int64,
        )  # fmt: skip
        skip_to = conditions.skip_to
        roles = np.zeros(len(conditions.roles) + 1, np.int64)
        roles[0] = len(values) - 1
        slots = conditions.members
        width = T.SLOT_FIELDS * len(slots) + T.RUN_FIELDS * len(running)
        reg = np.zeros(T.REGISTERS, np.int64)
        reg[T.R_CUT] = reg[T.R_ANSWER] = -1
        work: list[np.ndarray] = [
            reg, np.zeros(max(16, n), np.int16), np.zeros((64, 4), np.int64), np.zeros((64, 2), np.int64),
            np.zeros((64 + n // 4, T.MATCH_FIELDS), np.int64), np.zeros((16, T.MATCH_FIELDS), np.int64),
            np.zeros(16, np.int16),
            np.zeros((64, width), np.int64), np.zeros((64, 2 * len(running)), np.float64),
            np.zeros((64 + n if self._shares else 0, T.NODE_FIELDS), np.int64),
        ]  # fmt: skip
        # what is known before the first row
        known_first = work[7][0, : T.SLOT_FIELDS * len(slots)].reshape(len(slots), T.SLOT_FIELDS)
        known_first[:, [T.SLOT_LAST, T.SLOT_FIRST]] = -1
        calc = (np.zeros(STACK, np.int64), np.zeros(STACK, np.float64), np.zeros(STACK, np.bool_))
        # a copy, as kernels are compiled for arrays that can be written to
        times = np.zeros(1, np.int64) if m.within is None else self.time.copy()
        pool = (values, values.view(np.float64), known, times)
        program = conditions.stack_code
        while True:
            status = search(
                code, conditions.first, variables, uses, slots, running, program, pool, masks.bits, masks.masks, parts,
                limits, skip_to, fate, always, attempt, epoch, ends, calc, roles, tuple(work),
            )  # fmt: skip
            if status == T.FINISHED:
                self.parts[active] = parts
                return work
            if status == T.FULL:
                _enlarge(work, parts)
            elif status == T.ASKING:
                self._answer(parts, work)
            elif status != T.TOO_LONG and self._open:
                # the measures of this match, or of one before, may have to wait: so nobody skips yet
                self._refused.append((int(work[0][T.R_MATCHES]) - 1, self._problem(status, parts, work)))
                _leave(parts, work)
            else:
                raise self._problem(status, parts, work)

    def _mask(self, low: np.ndarray, high: np.ndarray, closed: np.ndarray) -> Masks:
        try:
            return self.conditions.masks(self.table, low, high, closed)
        except Lost:
            return self.conditions.all_lost(len(self.rows))  # somebody asks at every row

    def _sought(self, parts: np.ndarray, work: list[np.ndarray], size: int) -> Values:
        """The match that is sought, with ``size`` rows."""
        reg, labels = work[0], work[1]
        part = parts[reg[T.R_PART]]
        used = int(reg[T.R_USED])
        found = Matches(
            self.table, self.matching.variables, reg[[T.R_FIRST]], np.array([size]), part[[T.LOW]], part[[T.HIGH]],
            part[[T.NUMBER]] + 1, np.zeros(1, np.int64), labels[used : used + size],
        )  # fmt: skip
        return Values(found, np.zeros(1, np.int64), np.array([size - 1]))

    def _answer(self, parts: np.ndarray, work: list[np.ndarray]) -> None:
        """Evaluate the condition that is asked for."""
        reg = work[0]
        condition = self.conditions.by_variable[reg[T.R_ASKED]]
        assert condition is not None
        row, size = int(reg[T.R_ROW]), int(reg[T.R_ROW] - reg[T.R_FIRST]) + 1
        name = self.matching.variables[reg[T.R_ASKED]]

        def overflow(at: int) -> None:
            time = int(self.time[row])
            text = f"overflow of int64 in the condition of `{name}` at time {time}"
            raise failure("overflow", text, self.matching, time)

        passed, undecided = self._sought(parts, work, size).true(condition.whole, overflow)
        if undecided is not None:
            overflow(0)
        reg[T.R_ANSWER] = int(passed[0])

    def _problem(self, status: int, parts: np.ndarray, work: list[np.ndarray]) -> OccursError:
        m, reg = self.matching, work[0]
        first = int(reg[T.R_FIRST])
        place = [f"{n} {self.table.column(n).output()[first].as_py()}" for n in m.partition]
        at = int(self.time[first])
        where = f"from time {at} on" + (f" ({', '.join(place)})" if place else "")
        if status == T.TOO_LONG:
            name = m.variables[reg[T.R_ASKED]]
            condition = dict(m.conditions).get(name)
            return too_long(m, self.operator.limit, where, name, condition)
        what = "no row is mapped to it" if status == T.NO_ROW else "that is the first row of the match"
        text = f"`{m.name}`: AFTER MATCH SKIP TO `{m.skip.name}`, but in the match {where} {what}"
        return failure("bad-skip", text, m, at)

    def _matches(self, table: np.ndarray, labels: np.ndarray, active: np.ndarray, *, numbered: bool) -> Matches:
        part, size = active[table[:, T.PART]], table[:, T.SIZE].copy()
        begin = np.cumsum(size) - size
        number = table[:, T.NR].copy() if numbered else np.zeros(len(table), np.int64)
        return Matches(
            self.table, self.matching.variables, table[:, T.FROM].copy(), size, self.parts[part, T.LOW],
            self.parts[part, T.HIGH], number, begin, labels[: int(size.sum())],
        )  # fmt: skip

    def _shared(self, table: np.ndarray, nodes: np.ndarray, active: np.ndarray) -> Shared:
        part, nothing = active[table[:, T.PART]], np.zeros(len(table), np.int64)
        return Shared(
            self.table, self.matching.variables, table[:, T.FROM].copy(), table[:, T.SIZE].copy(),
            self.parts[part, T.LOW], self.parts[part, T.HIGH], table[:, T.NR].copy(), nothing, np.zeros(0, np.int16),
            nodes, table[:, T.LABELS].copy(),
        )  # fmt: skip

    # -- what is known -------------------------------------------------------------------------------------------------
    def _known(self, matches: Matches, fate: np.ndarray) -> Matches:
        """The matches before the first one of each partition whose measures read rows that are not known yet."""
        if self.matching.all_rows:
            match, at = matches.match, np.arange(len(matches.label))
        else:
            match, at = self._shown(matches)
        values = Values(matches, match, at)
        open = np.zeros(len(matches), np.bool_)
        for node in self.matching.measured:
            if node.move > 0:
                open[match[values.beyond(node)]] = True
        part = np.searchsorted(self.parts[:, T.LOW], matches.low)
        at_first = np.full(len(self.parts), len(matches))
        np.minimum.at(at_first, part[open], np.flatnonzero(open))
        waits = np.flatnonzero(at_first < len(matches))
        first = at_first[waits]
        self.parts[waits, T.WAITS] = matches.first[first]
        self.parts[waits, T.NUMBER] = matches.number[first] - 1
        kept = np.arange(len(matches)) < at_first[part]
        for number, problem in self._refused:
            if kept[number]:
                raise problem
        out = matches.kept(kept)
        if len(fate):
            self._again(fate, waits, out)
        return out

    def _before(self, ends: Matches) -> Matches:
        """The attempts before the one that waits in each partition: a match whose measures wait lets nothing behind it
        be decided."""
        kept = ends.first < self.parts[np.searchsorted(self.parts[:, T.LOW], ends.low), T.WAITS]
        return ends if kept.all() else ends.kept(kept)

    def _again(self, fate: np.ndarray, waits: np.ndarray, matches: Matches) -> None:
        """What became of the rows of some partitions, by the matches that are left."""
        begun = self._of_table(self.past.covered) if self.old else np.zeros(len(fate), np.bool_)
        for low, high, wait in self.parts[waits][:, [T.LOW, T.HIGH, T.WAITS]].tolist():
            here = fate[low:high]
            alone = (here == T.UNMATCHED) & (np.arange(low, high) < wait)
            here[:] = np.where(begun[low:high], T.COVERED, np.where(alone, T.UNMATCHED, T.FREE))
        fate[matches.row] = T.COVERED
        fate[matches.first] = T.COVERED

    # -- the state -----------------------------------------------------------------------------------------------------
    def _keep(self, fate: np.ndarray) -> None:
        parts = self.parts
        if self.call.closing:
            self.kept = Kept.fresh(self.before.names)
            return
        low, high, waits = parts[:, T.LOW], parts[:, T.HIGH], parts[:, T.WAITS]
        begin = np.maximum(low, waits - self.matching.back)
        size = high - begin
        stop = np.cumsum(size)
        chosen = np.arange(stop[-1] if len(stop) else 0) + np.repeat(begin - stop + size, size)
        before = chosen < np.repeat(waits, size)
        covered = (fate[chosen] == T.COVERED) & ~before if len(fate) else np.zeros(len(chosen), np.bool_)
        order = self.partitions.order
        if order is not None:
            own = order[chosen]
            place = np.full(len(self.rows), -1)
            place[own] = np.arange(len(own))
            by = place[place >= 0]
            chosen, before, covered = own[by], before[by], covered[by]
        rows = self.rows.take(chosen) if len(chosen) else None
        code, number = self._numbered(begin, size)
        self._goes_on(Waiting(code, number, rows, self.of[chosen], before, covered))
        time = first_that_waits(self.kept.layers)
        if time is not None:
            self.complete = min(self.call.frontier, time - 1)

    def _numbered(self, begin: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The partitions of which something is to be kept, and the numbers of their matches where rows are gone."""
        parts, past, code = self.parts, self.past, self.partitions.code
        if not self._counts:
            code = code[size > 0]
            return code, np.full(len(code), -1)
        gone = (begin > parts[:, T.LOW]) | (parts[:, T.WHOLE] == 0) | (parts[:, T.NUMBER] > 0)
        some = gone | (size > 0)
        code, number = code[some], np.where(gone, parts[:, T.NUMBER], -1)[some]
        idle = np.flatnonzero(positions(self.partitions.code, past.code) < 0)
        if len(idle):
            code, number = np.concatenate([past.code[idle], code]), np.concatenate([past.number[idle], number])
            by = np.argsort(code, kind="stable")
            code, number = code[by], number[by]
        return code, number

    def _goes_on(self, now: Waiting) -> None:
        """Make the state after the call: ``now`` replaces the state of the partitions that the call looked at."""
        before, past = self.before, self.past
        layers = before.layers
        if len(past.code) == layers.count:
            layers = Layers.of(now)
        else:
            layers = layers.without(past.code[positions(now.code, past.code) < 0]).put(now)
        arrived = before.arrived + len(self.rows) - self.old
        self.kept = Kept(before.names, self.keys, layers, arrived).renewed()

    # -- derived rows --------------------------------------------------------------------------------------------------
    def _shown(self, matches: Matches) -> tuple[np.ndarray, np.ndarray]:
        """The derived rows of matches: the match, and the place of the mapped row (-1: it has none)."""
        m, size = self.matching, matches.size
        if not m.all_rows:
            return np.arange(len(matches)), np.where(size > 0, matches.begin + size - 1, -1)
        shown = np.flatnonzero(matches.label & 1 == 0)
        match = matches.match[shown]
        if m.rows == tree.OMIT or (size > 0).all():
            return match, shown
        empty = np.flatnonzero(size == 0)
        match, at = np.concatenate([match, empty]), np.concatenate([shown, np.full(len(empty), -1)])
        by = np.argsort(match, kind="stable")
        return match[by], at[by]

    def _derived(self, matches: Matches, unmatched: np.ndarray) -> Found:
        if len(matches) or len(unmatched):
            return self._shaped(matches, unmatched)
        known, types = self.operator.nothing, tuple(c.type for c in self.rows.columns.values())
        if types not in known:
            known[types] = self._shaped(matches, unmatched).columns
        at = None if self.rows.at is None or self.operator.ended else _NONE
        position = _NONE if self.matching.all_rows else None
        return Found(self.rows, matches, _NONE, at, known[types], _NONE, _NONE, position)

    def _shaped(self, matches: Matches, unmatched: np.ndarray) -> Found:
        ended, m = self.operator.ended, self.matching
        if ended:
            match, at = np.arange(len(matches)), matches.begin + matches.size - 1
            matches = replace(matches, high=self._due(matches))
        else:
            match, at = self._shown(matches)
        values = SharedValues(matches, match, at) if isinstance(matches, Shared) else Values(matches, match, at)
        row = np.where(at >= 0, at + values.shift, values.first)
        position = np.where(at >= 0, at - values.begin, 0) if m.all_rows else None
        if len(unmatched):
            row = np.concatenate([row, unmatched])
            match = np.concatenate([match, np.full(len(unmatched), -1)])
            position = np.concatenate([position, np.zeros(len(unmatched), np.int64)])
        order = self.partitions.order
        own = row if order is None else order[row]
        due = self.time[values.first] + (m.within or 0) if ended else None
        by: np.ndarray | None = None
        key = own if due is None else due
        if len(key) > 1 and (key[1:] < key[:-1]).any():
            by = group_rows(own, len(self.rows), NO_KEEP)[0] if due is None else np.argsort(due, kind="stable")
        clause = _Clause(self, values, own, due, len(unmatched))
        chosen = by
        if m.where is not None and len(own):
            passed, undecided = select(m.where, clause.leaf, len(own), kind=self.kind, dialect=MATCH_RECOGNIZE)
            if undecided is not None:
                self.overflow("WHERE", int(clause.time[undecided[0]]))
            chosen = np.flatnonzero(passed) if by is None else by[passed[by]]
        columns = {}
        for value in m.outputs:
            column = clause.value(value)
            columns[value.name] = column if chosen is None else column.take(chosen)
        if chosen is not None:
            match = chosen if values.once and not len(unmatched) else match[chosen]
            own = own[chosen]
            due = None if due is None else due[chosen]
            position = None if position is None else position[chosen]
        time = self.rows.time[own] if due is None else due
        places = self.rows.at
        where = None if places is None or ended else places[own]
        return Found(self.rows, matches, time, where, columns, match, own, position)

    def _due(self, matches: Matches) -> np.ndarray:
        """Behind the last row of the partition that is not later than the time at which WITHIN ends an attempt."""
        time = self.time
        bound = time[matches.first] + (self.matching.within or 0)
        low, high = matches.first.copy(), matches.high.copy()
        while (low < high).any():
            middle = (low + high) // 2
            early = (time[np.minimum(middle, len(time) - 1)] <= bound) & (low < high)
            low, high = np.where(early, middle + 1, low), np.where(early | (low >= high), high, middle)
        return low

    def overflow(self, name: str, time: int) -> None:
        """Raise the error of an overflow in a value of the output."""
        text = f"overflow of int64 in `{name}` at time {time}"
        raise failure("overflow", text, self.matching, time)


class _Clause:
    """What the clause puts out, column by column, when it is asked for.

    ``values``: of the derived rows that have a match; behind these stand ``alone`` ones without.  ``own``: the row of
    the call that each stands behind; ``due``: their times, None: those of the rows."""

    def __init__(self, run: Run, values: Values, own: np.ndarray, due: np.ndarray | None, alone: int) -> None:
        self.run, self.values, self.own, self.due, self.alone = run, values, own, due, alone
        self.measures = {v.name: v for v in run.matching.measures}
        self._made: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """A column of the clause."""
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._column(name)
        return found

    def _column(self, name: str) -> Column:
        run = self.run
        if name in self.measures:
            found = self.values.column(self.measures[name], self._overflow)
            return found if not self.alone else Column.widened([found, _nulls_like(found, self.alone)])
        if name == "time":
            return Column(Type.TIMESTAMP if run.kind.timestamp else Type.INT, self.time, None)
        return run.rows.column(name).take(self.own)

    @cached_property
    def time(self) -> np.ndarray:
        """The times of the derived rows."""
        return self.run.rows.time[self.own] if self.due is None else self.due

    def _overflow(self, name: str, at: int) -> None:
        self.run.overflow(name, int(self.time[min(at, len(self.time) - 1)]))

    def leaf(self, node: Expr) -> pa.Array:
        """A column as a leaf of an expression."""
        assert isinstance(node, Ref)
        return self.column(node.name).arrow

    def value(self, value: tree.Value) -> Column:
        """A column of the derived rows."""
        if isinstance(value.expr, Ref):
            found = self.column(value.expr.name)
            return found if value.type in (Type.NULL, Type.RECORD, found.type) else found.cast(value.type)
        kind = self.run.kind
        done = evaluate(value.expr, self.leaf, len(self.own), kind=kind, dialect=MATCH_RECOGNIZE)
        if done.overflow is not None:
            self._overflow(value.name, int(np.flatnonzero(done.overflow)[0]))
        return typed_column(done, value.type)


def _nulls_like(column: Column, n: int) -> Column:
    if column.type is Type.RECORD:
        return Column(column.type, None, None, pa.nulls(n, column.arrow.type))
    return Column.nulls(column.type, n)


def _enlarge(work: list[np.ndarray], parts: np.ndarray) -> None:
    """Give every array that may be full more room."""
    reg, labels, stack, trail, matches, ended, ended_labels, ints, reals, nodes = work
    part = parts[reg[T.R_PART]]
    most = int(reg[T.R_USED] + part[T.HIGH] - part[T.START])
    if most > len(labels):
        work[1] = np.resize(labels, max(most, 2 * len(labels)))
    for k, array, used in (
        (2, stack, reg[T.R_TOP]), (3, trail, reg[T.R_TRAIL]), (4, matches, reg[T.R_MATCHES]),
        (5, ended, reg[T.R_ENDED]), (7, ints, reg[T.R_KNOWN] + 1), (8, reals, reg[T.R_KNOWN] + 1),
    ):  # fmt: skip
        if used == len(array):
            work[k] = np.concatenate([array, np.zeros_like(array)])
    rows = int(reg[T.R_NODES] + reg[T.R_ROW] - reg[T.R_FIRST])
    if rows > len(nodes) > 0:
        work[9] = np.concatenate([nodes, np.zeros((max(rows, len(nodes)), T.NODE_FIELDS), np.int64)])
    more = int(reg[T.R_ENDED_USED] + reg[T.R_ROW] - reg[T.R_FIRST])
    if more > len(ended_labels):
        work[6] = np.concatenate([ended_labels, np.zeros(max(more, len(ended_labels)), np.int16)])


def _leave(parts: np.ndarray, work: list[np.ndarray]) -> None:
    """Let the search go on in the next partition, behind a match that it has found."""
    reg, matches = work[0], work[4]
    parts[reg[T.R_PART], T.WAITS] = reg[T.R_FIRST]
    reg[T.R_USED] += matches[reg[T.R_MATCHES] - 1, T.SIZE]
    reg[T.R_PART] += 1
    reg[T.R_BEGUN] = 0
