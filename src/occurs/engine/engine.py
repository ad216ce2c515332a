"""The engine: one stage of a plan in one process, call by call (operators.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Detected, Part
from occurs.engine.chain import Chain
from occurs.engine.ledger import Ledger
from occurs.engine.nets import Nets
from occurs.engine.order import placed
from occurs.engine.results import Parts, TypeRows, gather, with_begun
from occurs.engine.since import Since
from occurs.engine.state import State, from_ipc, meta_from_ipc, meta_to_ipc, restoring, to_ipc
from occurs.engine.tables import concat_rows, empty_rows
from occurs.errors import CheckpointProblem
from occurs.model.labels import Labels, derived_labels
from occurs.model.types import Schema
from occurs.operators.candidates import FIRST_TICK
from occurs.operators.contract import Call, Operator, Outcome
from occurs.operators.keycodes import KeyCodes
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows
from occurs.operators.timer import TimerSource
from occurs.plan.definition import NetDefinition
from occurs.plan.segments import Segment, segments
from occurs.plan.stage import Stage


class Engine:
    """``advance`` takes the rows of the next instants and gives what they complete; nothing is pending afterwards.

    ``labelled``: compute labels (for ``because``, ``label``).
    """

    def __init__(
        self, stage: Stage, *, labelled: bool = False, state: State | None = None, segment: Segment | None = None
    ):
        """``segment``: the stage is one of a stage that has several; the new rows of the types that it hands on are in
        ``handed`` after every call."""
        self.stage = stage
        self.labelled = labelled
        self.hands = frozenset() if segment is None else segment.hands
        #: types whose rows come in, even where they are derived here for nets that read them so
        self._takes = frozenset() if segment is None else segment.takes
        self.handed: dict[str, Rows] = {}
        #: up to when the types that are handed on are complete
        self.complete: dict[str, int] = {}
        self.codes = KeyCodes()
        self._nets = Nets(stage)
        #: types handed on whose rows need a place within their instant
        self._placed = frozenset() if segment is None else segment.placed
        self._with_place = stage.placed | self._placed
        self._read_types = stage.row_types
        #: the first definition, in evaluation order, of every type
        self._first = {d.output: d.place for d in sorted(stage.definitions, key=lambda d: d.place, reverse=True)}
        #: types that may come in, and those that come from nowhere but the definitions
        self._types = sorted(stage.inputs | set(stage.defined))
        self._made = set(stage.defined) - self._takes
        self._outside = stage.inputs - self._made
        self._empties: dict[str, Rows] = {}
        nets = [u for u in stage.units if isinstance(u, NetDefinition)]
        kept = stage.subscribed or stage.timers or stage.placed or any(stage.retention.values())
        #: the nets, if there is nothing else
        self._nets_alone = [] if segment is not None or kept or len(nets) < len(stage.units) else nets
        self._no_parts = Parts(stage, [], stage.derived)
        self._chain = self._segments(stage, labelled) if segment is None else None
        self.state = state or State({}, {}, {})

    @property
    def state(self) -> State:
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        parts = 0 if self._chain is None else len(self._chain.engines)
        if state.frontier is not None and len(state.later) != parts:
            text = "the state was saved by definitions with other dependencies"
            raise CheckpointProblem.of("changed-program", text, hint="use an empty state, or replay from history")
        state.unload({o.identity for o in self.stage.operators})
        self._state = state
        if self._chain is not None:
            state.later += [State({}, {}, {}) for _ in self._chain.engines[len(state.later) :]]
            for engine, own in zip(self._chain.engines, state.later):
                engine.state = own

    @staticmethod
    def _segments(stage: Stage, labelled: bool) -> Chain | None:
        """The engines of the segments of a stage; None if there is only one."""
        found = segments(stage)
        if len(found) == 1:
            return None
        return Chain(stage, found, [Engine(s.stage, labelled=labelled, segment=s) for s in found])

    # -- saved state -------------------------------------------------------------------------------------------------
    def save(self) -> dict[str, bytes]:
        """The state as named pieces of Arrow IPC; an engine of the same definitions goes on from them."""
        out: dict[str, bytes] = {}

        def put(name: str, table: pa.Table) -> None:
            out[name] = to_ipc(table)

        entry = Ledger().write(self.state, self.definitions, put, lambda name: None)
        return {"meta": meta_to_ipc(entry), **out}

    @classmethod
    def restore(cls, stage: Stage, pieces: Mapping[str, bytes], *, labelled: bool = False) -> Engine:
        """An engine that goes on where the one that saved ``pieces`` stopped.  Raises CheckpointProblem."""
        engine = cls(stage, labelled=labelled)
        if "meta" not in pieces:
            text = "the saved state has no `meta` piece"
            raise CheckpointProblem.of("bad-checkpoint", text, hint="use an empty state, or replay from history")
        entry = meta_from_ipc(pieces["meta"])
        with restoring("the saved state of an engine"):
            _, engine.state = Ledger.read(entry, engine.definitions, lambda name: from_ipc(pieces[name]))
        return engine

    @property
    def definitions(self) -> dict[int, str]:
        """The identity of the definition at each place."""
        return {d.place: d.identity for d in self.stage.definitions}

    # -- one call ----------------------------------------------------------------------------------------------------
    def advance(
        self, new: Mapping[str, Rows], frontier: int, start: int | None = None, *, closing: bool = False
    ) -> TypeRows:
        """All rows of the instants after the last frontier up to ``frontier``, per type in the total order.

        ``start``: where the clock begins, for timers; known from the first call with rows on.  ``closing``: nothing
        comes any more: what still holds is given, too.
        """
        stage = self.stage
        if stage.placed:
            new = self._with_places(new)
        if self._chain is not None:
            self.state.frontier = frontier
            return self._chain.advance(new, frontier, start, closing)
        if self._nets_alone:
            return self._all_nets(new, frontier, closing)
        self.codes = self.codes.for_call(sum(len(past) for past in self.state.pasts.values()))
        tables: dict[str, Rows] = {}
        outside: dict[str, Rows] = {}
        for t in self._types:
            if t in stage.inputs or t in new:
                outside[t] = new.get(t) or self._empty(t)
        for timer in stage.timers:
            outside[timer.name] = self._timer_rows(timer, frontier, start)
        for t, rows in outside.items():
            if t not in self._made:
                tables[t] = self._with_past(t, rows)
        found = Made()
        counts: dict[str, int] = {}
        lasting: dict[str, Rows] = {}
        begun: dict[str, Rows] = {}
        nets = self._nets.call(self.state, frontier, closing)
        consumed: dict[tuple[int, str], np.ndarray] = {}
        cut: dict[int, Since] = {}
        for level, completes in zip(stage.levels, stage.completes):
            made: list[Detected] = []
            for unit in level:
                if isinstance(unit, NetDefinition):
                    lasting[unit.output], open = nets.run(unit, tables, self.labelled)
                    if open is not None:
                        begun[unit.output] = open
                    continue
                given: Mapping[str, Rows] = tables
                if unit.feeds_back:
                    so_far = {t: self._derived_rows(t, found, outside.get(t)) for t in unit.feeds_back}
                    given = {**tables, **{t: self._behind_past(t, rows, None) for t, rows in so_far.items()}}
                if unit.born is not None:
                    # cut once for all that were added at the same time
                    shared = cut.setdefault(unit.born, Since(tables, unit.born))
                    given = Since(given, unit.born) if unit.feeds_back else shared
                outcome = self._operate(unit, given, frontier, start, closing)
                made += [Detected.of(block, self.labelled) for block in outcome.blocks]
                counts |= {what: max(n, counts.get(what, 0)) for what, n in outcome.counts.items()}
                consumed |= outcome.consumed
            found.add(made)
            for t in completes:
                if t in self._read_types and t not in self._takes:
                    rows = lasting[t] if t in lasting else self._derived_rows(t, found, outside.get(t))
                    if t in stage.placed and rows.at is None:
                        rows = self._of_the_instant(t, rows)
                    tables[t] = self._with_past(t, rows)
        for t in self.hands:
            signal = nets.signals.get(t)
            self.complete[t] = frontier if signal is None else min(frontier, signal.complete)
            self.handed[t] = lasting[t] if t in lasting else self._new_rows(t, tables, found, outside)
            if t in self._placed and self.handed[t].at is None:
                self.handed[t] = self._of_the_instant(t, self.handed[t])
        for (rule, t), gone in consumed.items():
            serial = tables[t].serial
            assert serial is not None
            self.state.consumed[(rule, t)] = serial[len(serial) - len(gone) :][gone]
        self._keep(tables, frontier)
        self.state.frontier = frontier
        result = gather(stage, found.all, outside, {t: with_begun(r, begun.get(t)) for t, r in lasting.items()})
        result.counts = counts
        return result

    def _all_nets(self, new: Mapping[str, Rows], frontier: int, closing: bool) -> TypeRows:
        """A call of definitions that are nets, all of them, and look at no row of the past."""
        nets = self._nets.call(self.state, frontier, closing)
        # what is derived here is not read as it comes in by those that run together
        lasting = None if self.labelled else nets.all(self._nets_alone, new)
        if lasting is None:
            tables = {t: rows for t, rows in new.items() if t in self._outside}
            lasting = {u.output: with_begun(*nets.run(u, tables, self.labelled)) for u in self._nets_alone}
        self.state.frontier = frontier
        return TypeRows(self.stage, self._no_parts, {}, lasting)

    def peek(self, frontier: int, start: int | None = None) -> TypeRows:
        """What closing at ``frontier``, the last one, would give; the state stays as it is."""
        kept = self.state
        self.state = kept.copy()
        try:
            return self.advance({}, frontier, start, closing=True)
        finally:
            self.state = kept

    def _new_rows(
        self, type: str, tables: Mapping[str, Rows], found: Made, outside: Mapping[str, Rows]
    ) -> Rows:
        """All rows of a defined type in this call."""
        if type in tables:
            return tables[type].slice(tables[type].new)
        return self._derived_rows(type, found, outside.get(type))

    def _operate(
        self, operator: Operator, tables: Mapping[str, Rows], frontier: int, start: int | None, closing: bool
    ) -> Outcome:
        """A call of an operator."""
        since, born = self.state.frontier, operator.born
        if born is not None:
            start = born if start is None else max(start, born)
            since = born if since is None else max(since, born)
        state, stage = self.state, self.stage
        given = {port.type: tables[port.type] for port in operator.ports}
        call = Call(
            given, since, frontier, start, stage.kind, closing, self.labelled, self.codes, stage.domains, state.consumed
        )
        return operator.advance(state.of(operator), call)

    def _with_places(self, new: Mapping[str, Rows]) -> dict[str, Rows]:
        """The rows that come in, with their places within an instant where those are asked for."""
        asked = {t: r for t, r in new.items() if t in self.stage.placed and r.at is None}
        return {**new, **placed(asked, self.stage.sequenced)}

    def _of_the_instant(self, type: str, rows: Rows) -> Rows:
        """Rows that are derived when their instant is complete."""
        place = self._first.get(type, -1)
        return replace(
            rows, at=np.full(len(rows), INSTANT, np.int64), derived=np.full(len(rows), place, np.int32), cache={}
        )

    def _timer_rows(self, timer: TimerSource, frontier: int, start: int | None) -> Rows:
        done = self.state.frontier
        first = start if done is None else done + 1
        if first is not None and start is not None:
            first = max(first, start)
        times = np.zeros(0, np.int64) if first is None else timer.instants(first, frontier, self.stage.kind)
        return Rows(timer.name, times, {}, labels=timer_labels(times) if self.labelled else None)

    def _empty(self, type: str) -> Rows:
        found = self._empties.get(type)
        if found is None:
            found = empty_rows(type, self.stage.schemas.get(type, Schema()), self.labelled)
            self._empties[type] = found
        return Rows(type, found.time, found.columns, 0, None, found.labels)

    def _with_past(self, type: str, rows: Rows) -> Rows:
        """The past and the new rows of a type, with serial numbers."""
        next_serial = self.state.serials.get(type, 0)
        self.state.serials[type] = next_serial + len(rows)
        return self._behind_past(type, rows, next_serial)

    def _behind_past(self, type: str, rows: Rows, first: int | None) -> Rows:
        """The past and the new rows of a type, these with serial numbers from ``first`` on (None: -1)."""
        serial = np.full(len(rows), -1) if first is None else np.arange(first, first + len(rows))
        # once per type and call: `replace` takes several times as long
        rows = Rows(rows.type, rows.time, rows.columns, rows.new, serial, rows.labels, rows.derived, rows.at)
        past = self.state.pasts.get(type)
        if past is None or len(past) == 0:
            rows.new = 0
            return rows
        return concat_rows([past, rows], len(past))

    def _derived_rows(self, type: str, found: Made, outside: Rows | None) -> Rows:
        """All rows of a defined type in this call: input rows first, then rule by rule; stable by time, and by their
        place within the instant if they have one."""
        parts = [self._rows_of(part) for part in found.parts(type)]
        if outside is not None and len(outside):
            parts.insert(0, outside)
        if not parts:
            return self._empty(type)
        rows = concat_rows(parts, 0)
        if rows.at is not None:
            return rows.take(np.lexsort((rows.at, rows.time)))
        order = np.argsort(rows.time, kind="stable")
        return rows.take(order)

    def _rows_of(self, part: Part) -> Rows:
        """Derived events as rows, with a place within their instant if it is asked for."""
        rows = part.rows()
        if rows.type not in self._with_place or rows.at is not None:
            return rows
        at, derived = np.full(len(rows), INSTANT, np.int64), np.full(len(rows), part.out.place, np.int32)
        return replace(rows, at=at, derived=derived, cache={})

    def _keep(self, tables: Mapping[str, Rows], frontier: int) -> None:
        """Forget what no later terminator can look at (closed windows: ages up to the retention)."""
        for t, rows in tables.items():
            back = self.stage.retention.get(t, 0)
            if back == 0 or t not in self._read_types:
                self.state.pasts.pop(t, None)
                continue
            oldest = max(frontier + 1 - back, FIRST_TICK)
            first = int(np.searchsorted(rows.time, oldest, side="left"))
            self.state.pasts[t] = rows.slice(first)
        for (place, t), serials in list(self.state.consumed.items()):
            past = self.state.pasts.get(t)
            if past is None or past.serial is None or len(past) == 0:
                self.state.consumed.pop((place, t))
            else:
                self.state.consumed[(place, t)] = serials[np.isin(serials, past.serial)]


class Made:
    """What definitions have found in a call so far."""

    def __init__(self) -> None:
        self.all: list[Detected] = []
        self._of_type: dict[str, list[Detected]] = {}

    def add(self, made: Sequence[Detected]) -> None:
        self.all += made
        for f in made:
            for t in {out.type for out in f.block.outs}:
                self._of_type.setdefault(t, []).append(f)

    def parts(self, type: str) -> list[Part]:
        """The rows of ``type``, definition by definition in evaluation order."""
        parts = [part for f in self._of_type.get(type, ()) for part in f.parts(type)]
        return sorted(parts, key=lambda part: part.out.place)


def timer_labels(times: np.ndarray) -> Labels:
    """A firing is identified by its time."""
    return derived_labels("Timer", [], times)
