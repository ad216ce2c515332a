"""The general operator of temporal triggers: state by state, one monitor per instance (temporal-logic.md 4, 5.1).

Takes every trigger.  A state is made of the rows of one time; the instances that read one of them are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.temporal.instances import Compiled, Instance
from occurs.operators.temporal.kept import Kept
from occurs.operators.temporal.rule import Rule
from occurs.operators.temporal.tables import Change, Read, State, Written, changed, last_of, written
from occurs.operators.temporal.trigger import Firings, Reason

#: the rows of one time by type
Group = dict[str, list[Written]]


@dataclass(frozen=True)
class General:
    """An evaluator (:class:`.trigger.Evaluator`) for any trigger.  ``reasons``: it tells why."""

    rule: Rule
    reasons: bool = False

    @property
    def words(self) -> str:
        """For ``explain``."""
        return "state by state"

    @cached_property
    def compiled(self) -> Compiled:
        """The closures; made where they are needed."""
        return Compiled.of(self.rule, self.reasons)

    def __getstate__(self) -> dict[str, Any]:
        return {"trigger": self.rule, "reasons": self.reasons}

    def fresh(self) -> Kept:
        """Nothing has happened."""
        return Kept(self.compiled)

    def restored(self, tables: Mapping[str, pa.Table]) -> Kept:
        """From what :meth:`Kept.saved` gave."""
        return Kept.restored(self.compiled, tables)

    def advance(self, kept: Kept, call: Call) -> Firings:
        """The rows of a call, time by time."""
        run = _Run(self.compiled, kept, call, self.reasons)
        plain = self.rule.plain
        for time, group in _by_time(self.rule, call):
            if plain:
                run.plain(time, group)
            else:
                run.tick(time - 1)
                run.state(time, group)
        run.tick(call.frontier)
        return run.firings()


def _by_time(rule: Rule, call: Call) -> Iterator[tuple[int, Group]]:
    """(time, the rows of it by type), in order."""
    some = [(name, rows) for name, rows in call.rows.items() if len(rows)]
    if len(some) == 1:
        ((name, rows),) = some
        own, times = written(rows, rule.sources.shape(name)), rows.time
        # most states are one row
        begin = np.flatnonzero(np.concatenate(([True], times[1:] != times[:-1]))).tolist()
        if len(begin) == len(own):
            for time, one in zip(times.tolist(), own, strict=True):
                yield time, {name: [one]}
        else:
            for start, stop in pairwise([*begin, len(own)]):
                yield int(times[start]), {name: own[start:stop]}
        return
    found: dict[int, Group] = {}
    for name, rows in some:
        own = written(rows, rule.sources.shape(name))
        for time, one in zip(rows.time.tolist(), own, strict=True):
            group = found.setdefault(time, {})
            if name in group:
                group[name].append(one)
            else:
                group[name] = [one]
    for time in sorted(found):
        yield time, found[time]


class _Run:
    """One call."""

    def __init__(self, compiled: Compiled, kept: Kept, call: Call, reasons: bool) -> None:
        self.compiled, self.rule, self.kept, self.call = compiled, compiled.rule, kept, call
        self.reasons = reasons
        self.found: list[tuple[int, Instance, tuple[Any, ...], int, Sequence[Reason]]] = []
        self.over: list[tuple[int, tuple[Any, ...]]] = []
        #: rows of tables that are written at the time at hand, if reasons are asked for
        self.wrote: dict[str, list[Any]] = {}
        reads: dict[str, list[Read]] = {}
        for one in self.rule.readings:
            columns = self.rule.sources.shape(one.type).columns
            fixed = tuple((columns.index(c), v) for c, v in one.fixed)
            keyed = tuple((columns.index(c), n) for c, n in one.keyed)
            reads.setdefault(one.type, []).append(Read(columns, fixed, keyed))
        #: one for all, one after the other
        self.s = State(0, kept.variables, kept.tables, {}, kept.sql, reads)

    # --- a state ------------------------------------------------------------------------------------------------------

    def plain(self, time: int, group: Group) -> None:
        """The rows of one time, where there is one instance, which any row wakes."""
        kept, sources = self.kept, self.rule.sources
        events: dict[str, Sequence[Any]] = {}
        for name, rows in group.items():
            if name in sources.states:
                kept.write(name, rows[0].row if len(rows) == 1 else last_of(sources.states[name], rows, time))
            else:
                events[name] = [w.row for w in rows]
        for instance in kept.instances.values():
            if not instance.over:
                self.evaluate(instance, time, events)

    def state(self, time: int, group: Group) -> None:
        """The rows of one time."""
        kept, rule = self.kept, self.rule
        changes: list[Change] = []
        touched: dict[Instance, None] = {}
        events: dict[str, Sequence[Any]] = {}
        if self.reasons:
            self.wrote = {t: [w.row for w in rows] for t, rows in group.items() if t in kept.tables}
        of_input = not rule.asks_who or any(not w.derived for rows in group.values() for w in rows)
        for name, rows in group.items():
            if name in kept.tables:
                changes += changed(kept.tables[name], rows, time)
                kept.touched.add(name)
            elif name in rule.split:
                self.split(name, rows, time, touched)
            elif name in rule.sources.states:
                kept.write(name, last_of(rule.sources.states[name], rows, time))
                changes.append((name, [w.row for w in rows]))
            else:
                events[name] = [w.row for w in rows]
                changes.append((name, events[name]))
        entered: list[Instance] = []
        if rule.query is not None and of_input:
            entered = self.choose(time, group)
        for instance in kept.touched_by(changes):
            touched[instance] = None
        if rule.observes_all and of_input:
            touched |= dict.fromkeys(kept.instances.values())
        touched |= dict.fromkeys(entered)
        for instance in touched:
            if not instance.over:
                self.evaluate(instance, time, events)
        if rule.every is not None:
            self.tick(time)

    def split(self, name: str, rows: Sequence[Written], time: int, touched: dict[Instance, None]) -> None:
        """Rows of a state type, of which every instance has its own."""
        shape, places = self.rule.sources.states[name], self.rule.split[name]
        by_key: dict[tuple[Any, ...], list[Written]] = {}
        for w in rows:
            by_key.setdefault(tuple(w.row[i] for i in places), []).append(w)
        for key, own in by_key.items():
            if None in key:
                self.kept.count("rows without a key", len(own))
                continue
            instance = self.kept.instances.get(key) or self.kept.enter(key)
            if instance.over:
                continue
            instance.variables.update(zip(shape.columns, last_of(shape, own, time), strict=True))
            if name in self.rule.waking:
                touched[instance] = None

    def choose(self, time: int, group: Group) -> list[Instance]:
        """The instances that the query asks for now; returns those that enter."""
        kept, query = self.kept, self.rule.query
        assert query is not None
        if kept.members is not None:
            table = kept.members.plain.table
            if table not in group:
                return []
            come, go = kept.members.change(kept.tables[table], group[table], time)
            kept.count("rows without a key", kept.members.without)
            kept.members.without = 0
            for key in go:
                kept.leave(key)
            return [kept.enter(key) for key in come]
        if kept.asked and not query.clocked and not any(name in group for name in query.tables):
            return []
        kept.asked = True
        found = kept.sql.select(query.sql, {**query.constants, "time": time}, kept.tables)
        keys = dict.fromkeys(k for k in found.rows if None not in k)
        kept.without_key(len(set(found.rows)) - len(keys))
        for key in [k for k in kept.instances if k not in keys]:
            kept.leave(key)
        return [kept.enter(key) for key in keys if key not in kept.instances]

    def evaluate(self, instance: Instance, time: int, events: Mapping[str, Sequence[Any]]) -> None:
        """An instance at a state of its history."""
        kept, every = self.kept, self.rule.every
        kept.dirty.add(instance)
        s = self.s
        s.time, s.events, s.past, s.record = time, events, (), None
        s.wrote, s.generics = self.wrote, instance.values
        if self.rule.split:
            s.variables = {**kept.variables, **instance.variables}
        if every is not None:
            if instance.next_tick is None:
                instance.next_tick = (time // every + 1) * every
            if instance.next_tick == time:
                instance.next_tick += every
        since = time if instance.since is None else instance.since
        fired = self.compiled.advance(instance, s, self.reasons)
        if fired:
            reasons = self.compiled.reasons(instance, s) if self.reasons else ()
            self.found.append((time, instance, self.compiled.given(instance, s), since, reasons))
        if instance.over:
            self.over.append((time, instance.generics))

    def tick(self, until: int) -> None:
        """The states of `observing every` up to a time, of all instances."""
        if self.rule.every is None:
            return
        waiting = [(i.next_tick, n, i) for n, i in enumerate(self.kept.instances.values())
                   if i.next_tick is not None and i.next_tick <= until and not i.over]  # fmt: skip
        while waiting:
            for time, _, instance in sorted(waiting, key=lambda w: w[:2]):
                assert time is not None
                self.wrote = {}
                self.evaluate(instance, time, {})
            waiting = [(i.next_tick, n, i) for _, n, i in waiting
                       if i.next_tick is not None and i.next_tick <= until and not i.over]  # fmt: skip

    # --- what was found -----------------------------------------------------------------------------------------------

    def firings(self) -> Firings:
        """In the order of time and values."""
        rule = self.rule
        names = [n for n, _ in rule.outputs]
        order = [names.index(n) for n in sorted(names)]
        found = sorted(self.found, key=lambda f: (f[0], [_ascending(f[2][i]) for i in order]))
        over = sorted(self.over, key=lambda o: (o[0], [_ascending(v) for v in o[1]]))
        generics = [f[1].generics for f in found]
        return Firings(
            np.array([f[0] for f in found], np.int64),
            columns_of(rule.outputs, [f[2] for f in found]),
            columns_of(rule.generics, generics),
            np.array([f[3] for f in found], np.int64),
            np.array([t for t, _ in over], np.int64),
            columns_of(rule.generics, [g for _, g in over]),
            [f[4] for f in found] if self.reasons else None,
            self.kept.counted(),
        )


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, booleans before numbers, numbers by value, text by code point."""
    if value is None:
        return ()
    return (0 if isinstance(value, bool) else 1 if isinstance(value, int | float) else 2, value)


def columns_of(types: Sequence[tuple[str, Type]], rows: Sequence[tuple[Any, ...]]) -> dict[str, Column]:
    """Values as columns of these types."""
    return {name: column_of(kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(types)}


def column_of(kind: Type, values: list[Any]) -> Column:
    """Values as a column."""
    if kind is Type.NULL:
        return Column.nulls(kind, len(values))
    if kind is Type.STRING:
        return Column(kind, None, None, pa.array([None if v is None else str(v) for v in values], pa.string()))
    empty = Column.nulls(kind, len(values))
    valid = np.array([v is not None for v in values], np.bool_)
    for i in np.flatnonzero(valid).tolist():
        empty.values[i] = values[i]
    return Column(kind, empty.values, None if valid.all() else valid)
