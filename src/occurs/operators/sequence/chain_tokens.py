"""Tokens: the partial matches of chains, in a call and between calls (epl-and-nets.md, sections 4A and 5).

State: a table ``step<k>`` per step with the tokens that wait there.  ``begin``: when the step began; ``limit<g>``: when
guard g over this step runs out; ``rule``: the number of the rule, if there are several; of each earlier step t that has
bound an event ``<t>.time``, ``<t>.place`` (its number among all events of the operator), ``<t>.type`` (which one of the
types of the step), ``<t>.hi``, ``<t>.lo`` (the label), ``<t>.derived``, and its attributes as ``<t>:<name>``.
``seen``: how many events there were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.rows import Rows
from occurs.operators.sequence.chain_events import Events
from occurs.operators.sequence.match_rows import Bound, State

NO_ROWS = np.zeros(0, np.int64)


@dataclass
class Tokens:
    """n tokens that wait at one step.

    ``refs``: per earlier step the event it has bound: its place in the stream (of this call), or -1 - r, r being its
    row in ``Past`` (of calls before); None of a step that binds none.  ``low``: the first place of the stream at which
    they look; ``begin``: when the step began; ``limits``: per guard over the step when it runs out; ``rule``: number.
    """

    refs: list[np.ndarray | None]
    low: np.ndarray
    begin: np.ndarray
    limits: dict[int, np.ndarray]
    rule: np.ndarray

    def __len__(self) -> int:
        return len(self.low)

    def take(self, which: np.ndarray) -> Tokens:
        return Tokens(
            [None if r is None else r[which] for r in self.refs],
            self.low[which],
            self.begin[which],
            {g: at[which] for g, at in self.limits.items()},
            self.rule[which],
        )

    @staticmethod
    def concat(parts: Sequence[Tokens]) -> Tokens:
        parts = [p for p in parts if len(p)] or list(parts[:1])
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        refs: list[np.ndarray | None] = []
        for t, r in enumerate(first.refs):
            refs.append(None if r is None else np.concatenate([p.refs[t] for p in parts]))
        return Tokens(
            refs,
            np.concatenate([p.low for p in parts]),
            np.concatenate([p.begin for p in parts]),
            {g: np.concatenate([p.limits[g] for p in parts]) for g in first.limits},
            np.concatenate([p.rule for p in parts]),
        )


@dataclass
class Past:
    """The events of one step that tokens of earlier calls have bound, in the order of the tables."""

    tables: list[pa.Table] = field(default_factory=list)
    n: int = 0

    def array(self, name: str) -> np.ndarray | None:
        """A column of numbers; None if the tables have it not."""
        if not self.tables or name not in self.tables[0].column_names:
            return None
        return np.concatenate([t.column(name).to_numpy() for t in self.tables])

    def column(self, name: str) -> Column:
        parts = []
        for t in self.tables:
            array = t.column(name)
            parts.append(Column.of(array, from_arrow(array.type) or Type.NULL))
        return Column.widened(parts)


class Bindings:
    """The events that tokens have bound, of this call and of earlier ones.

    ``types``: per step the types of its event, None of a step that binds none; ``columns``: per step the attributes
    that are kept.
    """

    def __init__(
        self, state: State, events: Events, types: Sequence[tuple[str, ...] | None], columns: Sequence[Sequence[str]],
        covering: Sequence[Sequence[int]],
    ) -> None:  # fmt: skip
        self.events = events
        self.types = types
        self._columns = columns
        self.seen = int(state["seen"].column("events")[0].as_py()) if "seen" in state else 0
        self.past = [Past() for _ in types]
        self.waiting: list[Tokens | None] = []
        self._cache: dict[object, np.ndarray | Column] = {}
        for k in range(len(types)):
            table = state.get(f"step{k}")
            self.waiting.append(self._loaded(table, k, covering[k]) if table is not None and len(table) else None)

    def _loaded(self, table: pa.Table, step: int, guards: Sequence[int]) -> Tokens:
        n = len(table)
        refs: list[np.ndarray | None] = []
        for t in range(step):
            if self.types[t] is None:
                refs.append(None)
                continue
            past = self.past[t]
            refs.append(-1 - np.arange(past.n, past.n + n, dtype=np.int64))
            past.tables.append(table)
            past.n += n
        # copies: a view would hold on to this table, and the next one would hold on to the view, call by call
        rule = table.column("rule").to_numpy().copy() if "rule" in table.column_names else np.zeros(n, np.int64)
        limits = {g: table.column(f"limit{g}").to_numpy().copy() for g in guards}
        return Tokens(refs, np.zeros(n, np.int64), table.column("begin").to_numpy().copy(), limits, rule)

    # -- values of bound events --------------------------------------------------------------------------------------
    def time(self, step: int, refs: np.ndarray) -> np.ndarray:
        """int64: the times of bound events."""
        return self._numbers(step, refs, "time", self.events.stream.time)

    def order(self, step: int, refs: np.ndarray) -> np.ndarray:
        """int64: their numbers among all events there were."""
        out = refs + self.seen
        old = refs < 0
        if old.any():
            out[old] = self._kept_numbers(step, "place")[-1 - refs[old]]
        return out

    def _numbers(self, step: int, refs: np.ndarray, name: str, new: np.ndarray) -> np.ndarray:
        return _looked_up(refs, lambda: self._kept_numbers(step, name), lambda at: new[at])

    def _kept_numbers(self, step: int, name: str) -> np.ndarray:
        found = self._cache.get((step, name))
        if found is None:
            array = self.past[step].array(f"{step}.{name}")
            found = np.zeros(self.past[step].n, np.int64) if array is None else array
            self._cache[(step, name)] = found
        assert isinstance(found, np.ndarray)
        return found

    def code(self, step: int, attribute: str, refs: np.ndarray) -> np.ndarray:
        """int64: codes of an attribute, -1 for null."""
        types = self.types[step]
        assert types is not None

        def kept() -> np.ndarray:
            found = self._cache.get((step, "code", attribute))
            if found is None:
                column = self._kept_column(step, attribute)
                found = self.events.codes.encode(self.events.domain(types[0], attribute), column)
                self._cache[(step, "code", attribute)] = found
            assert isinstance(found, np.ndarray)
            return found

        return _looked_up(refs, kept, lambda at: self.events.code(types, attribute, at))

    def _kept_column(self, step: int, attribute: str) -> Column:
        if attribute == "time":
            return Column(Type.TIMESTAMP, self._kept_numbers(step, "time"), None)
        found = self._cache.get((step, "column", attribute))
        if found is None:
            found = self._cache[(step, "column", attribute)] = self.past[step].column(f"{step}:{attribute}")
        assert isinstance(found, Column)
        return found

    def column(self, step: int, attribute: str, refs: np.ndarray) -> Column:
        """The values of an attribute of bound events."""
        types = self.types[step]
        assert types is not None
        old = refs < 0
        if not old.any():
            return self.events.column(types, attribute, refs)
        kept = self._kept_column(step, attribute)
        if old.all():
            return kept.take(-1 - refs)
        here, there = np.flatnonzero(old), np.flatnonzero(~old)
        both = Column.widened([kept.take(-1 - refs[here]), self.events.column(types, attribute, refs[there])])
        back = np.empty(len(refs), np.int64)
        back[here] = np.arange(len(here))
        back[there] = len(here) + np.arange(len(there))
        return both.take(back)

    def kind(self, step: int, refs: np.ndarray) -> np.ndarray:
        """int32: the numbers of the types of bound events in the stream."""
        types = self.types[step]
        assert types is not None
        number = np.array([self.events.number(t) for t in types], np.int32)
        new = self.events.stream.type
        return _looked_up(
            refs, lambda: number[self._kept_numbers(step, "type")], lambda at: new[at].astype(np.int32, copy=False)
        )

    # -- what is kept and given --------------------------------------------------------------------------------------
    def table(self, tokens: Tokens, many: bool) -> pa.Table:
        """The tokens of a step as they are kept."""
        made: dict[str, pa.Array | np.ndarray] = {"begin": tokens.begin}
        made |= {f"limit{g}": at for g, at in tokens.limits.items()}
        if many:
            made["rule"] = tokens.rule
        for t, refs in enumerate(tokens.refs):
            types = self.types[t]
            if refs is None or types is None:
                continue
            made[f"{t}.time"] = self.time(t, refs)
            made[f"{t}.place"] = self.order(t, refs)
            if len(types) > 1:
                number = np.array([self.events.number(x) for x in types], np.int64)
                made[f"{t}.type"] = np.argmax(self.kind(t, refs)[:, None] == number[None, :], axis=1)
            labels = self.labels(t, refs)
            if labels is not None:
                made[f"{t}.hi"], made[f"{t}.lo"] = labels.hi, labels.lo
            derived = self.derived(t, refs)
            if derived is not None:
                made[f"{t}.derived"] = derived
            for name in self._columns[t]:
                made[f"{t}:{name}"] = self.column(t, name, refs).arrow
        return pa.table({name: pa.array(v) if isinstance(v, np.ndarray) else v for name, v in made.items()})

    def labels(self, step: int, refs: np.ndarray) -> Labels | None:
        """The labels of bound events; None if there are none."""
        present = self._all_have(step, "labels", "hi")
        if present is None:
            return None
        hi, lo = np.zeros((2, len(self.events.stream.time)), np.uint64)
        for rows in present:
            at = self.events.places(rows.type)
            assert rows.labels is not None
            hi[at], lo[at] = rows.labels.hi, rows.labels.lo
        return Labels(self._numbers(step, refs, "hi", hi), self._numbers(step, refs, "lo", lo))

    def derived(self, step: int, refs: np.ndarray) -> np.ndarray | None:
        """int32: the places of the definitions that bound events come from; None if nothing tells."""
        present = self._all_have(step, "derived", "derived")
        if present is None:
            return None
        new = np.full(len(self.events.stream.time), -1, np.int32)
        for rows in present:
            assert rows.derived is not None
            new[self.events.places(rows.type)] = rows.derived
        return self._numbers(step, refs, "derived", new)

    def _all_have(self, step: int, of_rows: str, of_tables: str) -> list[Rows] | None:
        """The new rows of a step; None unless there are events, new or kept, and all of them have what is named."""
        present, past = [r for r in self._new_rows(step) if len(r)], self.past[step]
        if not present and not past.n:
            return None
        kept = past.n == 0 or all(f"{step}.{of_tables}" in t.column_names for t in past.tables)
        return present if kept and all(getattr(r, of_rows) is not None for r in present) else None

    def _new_rows(self, step: int) -> list[Rows]:
        types = self.types[step] or ()
        return [self.events.rows(t) for t in types if self.events.number(t) >= 0]

    def bound(self, refs: Sequence[np.ndarray | None]) -> tuple[Mapping[int, Rows], dict[int, Bound]]:
        """Tables by the number of their type, and per step its events in them, for matches."""
        numbers = [None if r is None else self.kind(t, r) for t, r in enumerate(refs)]
        tables: dict[int, Rows] = {}
        rows = [None if r is None else np.empty(len(r), np.int64) for r in refs]
        for number in sorted({int(x) for k in numbers if k is not None for x in np.unique(k)}):
            name = self.events.stream.types[number]
            parts = []  # (step, matches, refs) that have events of this type
            for t, r in enumerate(refs):
                if r is not None:
                    mine = np.flatnonzero(numbers[t] == number)
                    if len(mine):
                        parts.append((t, mine, r[mine]))
            if all((r >= 0).all() for _, _, r in parts):
                tables[number] = self.events.rows(name)
                for t, mine, r in parts:
                    rows[t][mine] = self.events.stream.row[r]  # type: ignore[index]
                continue
            tables[number] = self._gathered(name, [(t, r) for t, _, r in parts])
            n = 0
            for t, mine, r in parts:
                rows[t][mine] = np.arange(n, n + len(r))  # type: ignore[index]
                n += len(r)
        out = {}
        for t, r in enumerate(rows):
            if r is not None:
                out[t] = Bound(r, numbers[t])  # type: ignore[arg-type]
        return tables, out

    def _gathered(self, type: str, parts: Sequence[tuple[int, np.ndarray]]) -> Rows:
        """Events of one type that several steps have bound, behind one another."""
        names = dict.fromkeys(n for t, _ in parts for n in self._columns[t])
        columns = {}
        for name in names:
            made = []
            for t, refs in parts:
                known = name in self._columns[t] and name != "time"
                made.append(self.column(t, name, refs) if known else Column.nulls(Type.NULL, len(refs)))
            columns[name] = Column.widened(made)
        labels = [self.labels(t, refs) for t, refs in parts]
        derived = [self.derived(t, refs) for t, refs in parts]
        return Rows(
            type,
            np.concatenate([self.time(t, refs) for t, refs in parts]),
            columns,
            labels=None if any(x is None for x in labels) else Labels.concat([x for x in labels if x is not None]),
            derived=None if any(x is None for x in derived) else np.concatenate([x for x in derived if x is not None]),
        )


def _looked_up(refs: np.ndarray, kept: Callable[[], np.ndarray], new: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What events have: those of earlier calls (negative ``refs``) in ``kept``, those of this call by ``new``."""
    old = refs < 0
    if not old.any():
        return new(refs)
    past = kept()
    if old.all():
        return past[-1 - refs]
    out = np.empty(len(refs), past.dtype)
    out[old], out[~old] = past[-1 - refs[old]], new(refs[~old])
    return out
