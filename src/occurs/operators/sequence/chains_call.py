"""One call of a chain: its tokens go through the steps (epl-and-nets.md, sections 4A and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.operators.kernels.chain_lookups import first_after, in_order, spread
from occurs.operators.kernels.sorting import find_ranges
from occurs.operators.rows import Rows
from occurs.operators.sequence.chains_events import Candidates, Events
from occurs.operators.sequence.chains_judge import Judge, doubt
from occurs.operators.sequence.chains_shape import RULE, Filter, Step
from occurs.operators.sequence.chains_tokens import NO_ROWS, Bindings, Tokens
from occurs.operators.sequence.stream import Bound, State

if TYPE_CHECKING:
    from occurs.operators.sequence.chains import Chain

#: no guard, or one that never runs out
NEVER = 2**63 - 1


@dataclass(frozen=True)
class Found:
    """Matches of several rules: rule by rule, those of each in the order of emission.  ``offsets``: int64 (rules + 1),
    where the matches of each rule lie.  ``steps``: the events of each step, None of one that waits for a time."""

    time: np.ndarray
    at: np.ndarray
    due: np.ndarray
    offsets: np.ndarray
    tables: Mapping[int, Rows]
    steps: Mapping[int, Bound]

    def __len__(self) -> int:
        return len(self.time)


class Call:
    """One call of a chain."""

    def __init__(self, chain: Chain, state: State, events: Events) -> None:
        self.chain, self.events, self.stream = chain, events, events.stream
        self.steps = chain.shape.steps
        #: the rules that begin in this call
        self.new = np.arange(len(chain.sequences), dtype=np.int64)
        if "seen" in state:
            self.new = state["new"].column("rule").to_numpy() if "new" in state else NO_ROWS
        self.bindings = Bindings(state, events, chain.types, chain.columns, chain.covering)
        self.judge = Judge(self.bindings, chain.sequences, chain.kind)
        self.kept: State = {}

    def run(self) -> tuple[State, Found]:
        tokens = self.bindings.waiting[0]
        if len(self.new):
            begun = self._root(self.new)
            tokens = begun if tokens is None else Tokens.concat([tokens, begun])
        rest: np.ndarray | None
        last = len(self.steps) - 1
        for k, step in enumerate(self.steps):
            if k:
                old = self.bindings.waiting[k]
                parts = [t for t in (old, tokens) if t is not None and len(t)]
                tokens = Tokens.concat(parts) if parts else None
            if tokens is None or not len(tokens):
                tokens = None
                continue
            if step.event is None:
                which, due, rest = self._timed(tokens, step)
                low = np.searchsorted(self.stream.time, due, "left").astype(np.int64)
                done = self._gone_on(tokens, which, None, due, low, k)
            else:
                which, at, rest = self._looked_up(tokens, step)
                done = self._gone_on(tokens, which, at, self.stream.time[at], at + 1, k)
            if rest is None or len(rest):
                self.kept[f"step{k}"] = self.bindings.table(
                    tokens if rest is None else tokens.take(rest), len(self.chain.sequences) > 1
                )
            tokens = done
        state: State = {"seen": pa.table({"events": pa.array([self.bindings.seen + len(self.stream.time)])})}
        state |= self.kept
        return state, self._found(tokens, last)

    # -- tokens ------------------------------------------------------------------------------------------------------
    def _root(self, rule: np.ndarray) -> Tokens:
        """The tokens of the first step: one per rule."""
        n = len(rule)
        assert self.stream.start is not None
        begin = np.full(n, self.stream.start, np.int64)
        return Tokens([], np.zeros(n, np.int64), begin, self._begun(0, {}, begin, rule), rule)

    def _begun(
        self, step: int, limits: dict[int, np.ndarray], begin: np.ndarray, rule: np.ndarray
    ) -> dict[int, np.ndarray]:
        """The guards over a step that begins at ``begin``: those of the step before, and those that begin with it."""
        out = {}
        for g in self.chain.covering[step]:
            guard = self.chain.shape.guards[g]
            out[g] = self._after(begin, guard.ticks, rule) if guard.first == step else limits[g]
        return out

    def _after(self, time: np.ndarray, number: int, rule: np.ndarray) -> np.ndarray:
        """``time`` and duration ``number``, at most the last tick there is."""
        each = [s.ticks[number] for s in self.chain.shapes]
        most = max(each)
        ticks = np.int64(min(most, NEVER)) if min(each) == most else np.array(each, np.int64)[rule]
        if int(time.max(initial=0)) <= NEVER - most:
            return time + ticks
        return np.where(time > NEVER - ticks, NEVER, time + ticks)

    def _gone_on(
        self,
        tokens: Tokens,
        which: np.ndarray,
        place: np.ndarray | None,
        begin: np.ndarray,
        low: np.ndarray,
        step: int,
    ) -> Tokens:
        """The tokens ``which`` have done a step, by the events at ``place`` or (None) by time: they begin the next."""
        refs = [None if r is None else r[which] for r in tokens.refs] + [place]
        rule = tokens.rule[which]
        if step + 1 == len(self.steps):
            return Tokens(refs, low, begin, {}, rule)
        limits = {g: at[which] for g, at in tokens.limits.items() if g in self.chain.covering[step + 1]}
        return Tokens(refs, low, begin, self._begun(step + 1, limits, begin, rule), rule)

    # -- one step ----------------------------------------------------------------------------------------------------
    def _limit(self, tokens: Tokens) -> np.ndarray:
        """When the first guard over the step runs out; no entries: there is none."""
        out = NO_ROWS
        for at in tokens.limits.values():
            out = at if out is NO_ROWS else np.minimum(out, at)
        return out

    def _candidates(self, tokens: Tokens, f: Filter) -> tuple[Candidates, np.ndarray]:
        """The events that may fit a filter, and the group of them that each token looks at (-1: none)."""
        by = tuple(e.attribute for e in f.equal)
        found = self.events.candidates(f.types, f.own, by)
        if not by:
            return found, np.zeros(len(tokens), np.int64)
        codes = []
        for e in f.equal:
            if e.step == RULE:
                domain = self.events.domain(f.types[0], e.attribute)
                codes.append(self.events.codes.encode(domain, self.chain.constants[e.constant])[tokens.rule])
            else:
                refs = tokens.refs[e.step]
                assert refs is not None
                codes.append(self.bindings.code(e.step, e.other, refs))
        domains = [self.events.domain(f.types[0], a) for a in by]
        return found, self.events.codes.join(domains, codes, len(tokens))

    def _first(self, tokens: Tokens, f: Filter, limit: np.ndarray, found: Candidates, code: np.ndarray) -> np.ndarray:
        """int64: the place of the first event that fits before ``limit``; -1: there is none."""
        if f.others:
            lo, hi = self._ranges(found, code, tokens.low, self._before(limit))
            place = self.judge.first(tokens.refs, f, found.at, lo, hi)
        else:
            place = first_after(code, tokens.low, limit, found.start, found.at, self.stream.time)
        if len(found.doubtful):
            doubt(found.doubtful, place, tokens.rule, self.chain.sequences, self.stream)
        return place

    def _before(self, limit: np.ndarray) -> np.ndarray:
        """int64: the first place that is not before ``limit``; no entries: there is no limit."""
        return NO_ROWS if not len(limit) else np.searchsorted(self.stream.time, limit, "left").astype(np.int64)

    def _ranges(
        self, found: Candidates, code: np.ndarray, low: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ranges of ``found.at`` with places from ``low`` on and before ``end`` (no entries: all)."""
        high = np.full(len(code), len(self.stream.time), np.int64) if not len(end) else end
        return find_ranges(code, low, high - 1, found.start, found.at)

    def _stopped(self, tokens: Tokens, step: Step, limit: np.ndarray) -> np.ndarray:
        """int64: the place of the first event of ``absent`` before ``limit``; behind all places: there is none."""
        n = len(self.stream.time)
        out = np.full(len(tokens), n, np.int64)
        for f in step.absent:
            place = self._first(tokens, f, limit, *self._candidates(tokens, f))
            out = np.minimum(out, np.where(place < 0, n, place))
        return out

    def _looked_up(self, tokens: Tokens, step: Step) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Tokens that go on and the places of their events, in the order of tokens; those that wait on (None: all)."""
        assert step.event is not None
        limit = self._limit(tokens)
        stop = self._stopped(tokens, step, limit) if step.absent else None
        alive = None if stop is None else stop == len(self.stream.time)
        if len(limit):
            open = limit > self.stream.frontier
            alive = open if alive is None else alive & open
        found, code = self._candidates(tokens, step.event)
        if step.event.equal:
            known = code >= 0  # else a null is to be equal to something: never
            alive = known if alive is None else alive & known
        if step.every:
            end = self._before(limit)
            if stop is not None:
                end = stop if not len(end) else np.minimum(end, stop)
            lo, hi = self._ranges(found, code, tokens.low, end)
            if step.event.others:
                which, place = self.judge.all(tokens.refs, step.event, found.at, lo, hi)
            else:
                which, place = spread(lo, hi, found.at)
            if len(found.doubtful):
                doubt(found.doubtful, place, tokens.rule[which], self.chain.sequences, self.stream)
            return which, place, None if alive is None or alive.all() else np.flatnonzero(alive)
        place = self._first(tokens, step.event, limit, found, code)
        hit = place >= 0
        if stop is not None:
            hit &= place < stop
        which = np.flatnonzero(hit)
        wait = ~hit if alive is None else ~hit & alive
        return which, place[which], np.flatnonzero(wait)

    def _timed(self, tokens: Tokens, step: Step) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens whose time has come, when, and those that wait on."""
        assert step.timed is not None
        due = self._after(tokens.begin, step.timed, tokens.rule)
        limit = self._limit(tokens)
        alive = np.ones(len(tokens), np.bool_) if not len(limit) else due < limit  # else its guard always comes first
        if step.absent:
            alive &= self._stopped(tokens, step, due) == len(self.stream.time)
        over = due <= self.stream.frontier
        which = np.flatnonzero(alive & over)
        return which, due[which], np.flatnonzero(alive & ~over)

    # -- what was found ----------------------------------------------------------------------------------------------
    def _found(self, tokens: Tokens | None, last: int) -> Found:
        if tokens is None or not len(tokens):
            return self.chain.nothing()
        due = self.steps[last].event is None
        n = len(tokens)
        order = self._emission(tokens)
        if order is not None:
            tokens = tokens.take(order)
        rules = len(self.chain.sequences)
        offsets = np.array([0, n], np.int64)
        if rules > 1:
            offsets = np.searchsorted(tokens.rule, np.arange(rules + 1)).astype(np.int64)
        tables, steps = self.bindings.bound(tokens.refs)
        place = tokens.refs[last]
        at = np.zeros(n, np.int64) if place is None else self.stream.at[place]
        return Found(tokens.begin, at, np.full(n, due), offsets, tables, steps)

    def _emission(self, tokens: Tokens) -> np.ndarray | None:
        """The order by rule, completion and constituents; None if they are in it."""
        first = tokens.begin if tokens.refs[-1] is None else tokens.refs[-1]
        keys = [first] if len(self.chain.sequences) == 1 else [tokens.rule, first]
        keys += [self.bindings.order(t, r) for t, r in enumerate(tokens.refs[:-1]) if r is not None]
        if in_order(np.stack(keys)):
            return None
        return np.lexsort(keys[::-1])
