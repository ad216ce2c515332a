"""Chains of steps, all tokens of a step at once: ``every a -> b``, ``a -> every b -> c``, absence (epl-and-nets.md, 5).

An event that passes to a later step never makes one wait at an earlier step, so a call goes through the steps once: the
tokens that wait at a step (of calls before, and new ones) look up the first event that fits, or all of them, behind the
event that brought them there; those that found one go on, those whose time is over end, the others wait on.  Places of
events, not times, say what is behind: the snapshot rule.  Only guards and timers compare times, always exclusively.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, LimitProblem, Problem
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, Literal, Ref, conjunction, rewrite
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.frame import passing
from occurs.operators.kernels.ranges import first_within, ordered_numbers, spread_within
from occurs.operators.kernels.row_index import find_ranges, first_after, group_rows, in_groups, in_order, spread
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows
from occurs.operators.sequence.chain_shape import RULE, Equal, Filter, Shape, Step
from occurs.operators.sequence.match_rows import NO_ROWS, Bound, Matches, distinct
from occurs.operators.sequence.tree import Sequence, Whole
from occurs.operators.sequence.waiting import NEVER, GroupState, Held, Pieces, Sheet, events_of, sheets_of, together

_ALL = np.zeros(0, np.bool_)
#: fewer tokens are looked at one and all
MANY = 1 << 10
#: the keys of at most so many events are compared with those of all tokens
FEW = 4
#: types whose values are equal if their words are
_COMPARED = (Type.INT, Type.STRING, Type.BOOL, Type.TIMESTAMP)
NO_VALUES = np.zeros((0, 0), np.int64)
#: as many partial matches as may live if nobody says how many
MOST = 10_000_000


@dataclass(frozen=True)
class Chain:
    """The operator of rules that differ in the names of their tags, in durations and in constants alone.

    ``sequences``: the rules; ``shapes``: of each, all equal; ``domains``: the name of the domain of values of each
    (type, attribute) that is compared with another's; ``limit``: how many tokens of a rule may wait behind its first
    step after a call (LimitProblem beyond).
    """

    sequences: tuple[Sequence, ...]
    shapes: tuple[Shape, ...]
    domains: Mapping[tuple[str, str], str]
    kind: TimeKind
    limit: int = MOST

    @property
    def shape(self) -> Shape:
        return self.shapes[0]

    @cached_property
    def types(self) -> tuple[tuple[str, ...] | None, ...]:
        return tuple(None if s.event is None else s.event.types for s in self.shape.steps)

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Per step the attributes that are kept of its event, for any of the rules."""
        out = []
        for step in range(len(self.shape.steps)):
            names: set[str] = set()
            for sequence, shape in zip(self.sequences, self.shapes):
                tag = shape.tags[step]
                names |= {n for t, needed in sequence.columns if t == tag for n in needed}
            out.append(tuple(sorted(names - {"time"})))
        return tuple(out)

    @cached_property
    def covering(self) -> tuple[list[int], ...]:
        return tuple(self.shape.covering(k) for k in range(len(self.shape.steps)))

    @cached_property
    def constants(self) -> tuple[Column, ...]:
        """The constants of the rules: per number a column with one row per rule."""
        return tuple(_constants([s.constants[n] for s in self.shapes]) for n in range(len(self.shape.constants)))

    @cached_property
    def alike(self) -> bool:
        """Is the derived event of every rule made in the same way of the events of its steps, and of all matches?"""
        first = _by_step(self.sequences[0], self.shapes[0])
        if first is None or len(self.sequences) == 1:
            return first is not None
        return all(_by_step(s, shape) == first for s, shape in zip(self.sequences, self.shapes))

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest number of each range of each rule: int64 (ranges, rules)."""
        ranges, rules = len(self.shape.ranges), len(self.shapes)
        low = np.array([[s.ranges[n].low for s in self.shapes] for n in range(ranges)], np.int64)
        high = np.array([[s.ranges[n].high for s in self.shapes] for n in range(ranges)], np.int64)
        return low.reshape(ranges, rules), high.reshape(ranges, rules)

    @cached_property
    def durations(self) -> tuple[tuple[int, np.ndarray], ...]:
        """Per number the longest duration of a rule, and that of each rule: int64 (rules), at most the last tick."""
        out = []
        for number in range(len(self.shape.ticks)):
            each = [s.ticks[number] for s in self.shapes]
            out.append((max(each), np.array([min(t, NEVER) for t in each], np.int64)))
        return tuple(out)

    def live(self, state: Held) -> int:
        """How many tokens wait behind the first step."""
        return sum(len(sheet) for k, sheet in state.sheets.items() if k)

    def matches(self, found: Found, rule: int, *, all: bool = False) -> Matches:
        """Those of one rule; or those of all rules, under the tags of that one."""
        lo, hi = (0, len(found)) if all else (int(found.offsets[rule]), int(found.offsets[rule + 1]))
        whole = lo == 0 and hi == len(found)
        part = slice(lo, hi)
        bound: dict[str, Bound] = {}
        for step, tag in enumerate(self.shapes[rule].tags):
            if tag is not None:
                b = found.steps[step]
                bound[tag] = b if whole else Bound(b.rows[part], b.types[part])
        for tag, _ in self.sequences[rule].tags:
            if tag not in bound:  # of a `not`
                bound[tag] = Bound(np.full(hi - lo, -1, np.int64), np.zeros(hi - lo, np.int32))
        if whole:
            return Matches(found.time, found.at, found.due, found.tables, bound)
        return Matches(found.time[part], found.at[part], found.due[part], found.tables, bound)

    def run(self, state: Pieces, events: Events) -> tuple[Pieces, Found]:
        """One call of all rules."""
        stream = events.stream
        if (stream.start is None or stream.start > stream.frontier) and events_of(state) is None:
            return state, self.nothing
        after, found = ChainCall(self, state, events).run()
        if self.live(after) > self.limit:
            self._refuse(after)
        return after, found

    def _refuse(self, state: Held) -> None:
        """LimitProblem if more tokens of one rule wait than may."""
        count = np.zeros(len(self.sequences), np.int64)
        for k in range(1, len(self.shape.steps)):
            sheet = state.sheets.get(k)
            if sheet is None:
                continue
            rule = sheet.numbers("rule")
            rule = np.zeros(len(sheet), np.int64) if rule is None else rule[sheet.waiting]
            count += np.bincount(rule, minlength=len(count))
            if (count > self.limit).any():
                number = int(np.argmax(count > self.limit))
                name, tag = self.sequences[number].name, self.shapes[number].tags[k]
                raise LimitProblem.of(
                    "max-instances",
                    f"`{name}`: more than {self.limit} partial matches at once, the next one waits for "
                    + ("its time" if tag is None else f"`{tag}`"),
                    hint="limit the pattern with `timer:within` or a condition, or increase --max-instances",
                    definition=name,
                )

    @cached_property
    def nothing(self) -> Found:
        """No matches."""
        steps = {k: Bound(NO_ROWS, NO_ROWS.astype(np.int32)) for k, t in enumerate(self.types) if t is not None}
        offsets = np.zeros(len(self.sequences) + 1, np.int64)
        return Found(NO_ROWS, NO_ROWS, np.zeros(0, np.bool_), offsets, {}, steps)


def _by_step(sequence: Sequence, shape: Shape) -> tuple[tuple[str, Expr], ...] | None:
    """The columns of the derived event with the numbers of steps for tags; None if a match may be left out, or if a
    column is a whole event."""
    number = {tag: str(step) for step, tag in enumerate(shape.tags) if tag is not None}
    if sequence.where is not None or any(isinstance(n, Whole) for _, e in sequence.outputs for n in e.walk()):
        return None

    def renamed(node: Expr) -> Expr | None:
        if isinstance(node, Ref) and node.scope is not None:
            return replace(node, scope=number.get(node.scope, node.scope))
        return None

    return tuple((name, rewrite(e, renamed)) for name, e in sequence.outputs)


def domains(shapes: Many[Shape]) -> dict[tuple[str, str], str]:
    """One name per (type, attribute) for all that are equated, directly or by others."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(x: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(x, x) != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for shape in shapes:
        for step in shape.steps:
            for f in (*((step.event,) if step.event else ()), *step.absent):
                for e in f.equal:
                    same = [(t, e.attribute) for t in f.types]
                    other = None if e.step == RULE else shape.steps[e.step].event
                    same += [(t, e.other) for t in other.types] if other is not None else []
                    for x in same[1:]:
                        parent[root(x)] = root(same[0])
    return {x: ".".join(root(x)) for x in list(parent)}


def _constants(values: Many[Literal]) -> Column:
    made = [v.value for v in values]
    if values[0].type is Type.STRING:
        return Column.of(pa.array(made, pa.string()), Type.STRING)
    return Column.of(pa.array(made, pa.int64()), Type.INT)


# -- one call ----------------------------------------------------------------------------------------------------------
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


class ChainCall:
    """One call of a chain: its tokens go through the steps."""

    def __init__(self, chain: Chain, state: Pieces, events: Events) -> None:
        self.chain, self.events, self.stream = chain, events, events.stream
        self.steps = chain.shape.steps
        self.waiting, seen = sheets_of(state), events_of(state)
        #: the rules that begin in this call
        self.new = np.arange(len(chain.sequences), dtype=np.int64)
        if seen is not None:
            self.new = state["new"].column("rule").to_numpy() if "new" in state else NO_ROWS
        self.many = len(chain.sequences) > 1
        self.bindings = Bindings(seen or 0, events, chain.types, chain.columns, chain.covering)
        self.judge = Judge(self.bindings, chain)
        self.kept: dict[int, Sheet] = {}

    def run(self) -> tuple[Held, Found]:
        tokens = self._root(self.new) if len(self.new) else None
        last = len(self.steps) - 1
        for k, step in enumerate(self.steps):
            old = self.waiting.get(k)
            if old is not None and not len(old):
                old = None
            if tokens is not None and not len(tokens):
                tokens = None
            if tokens is None and old is None:
                continue
            if self._still(step, old):
                kept = old if tokens is None else self._joined(old, tokens, step)
                if kept is not None:
                    if len(kept):
                        self.kept[k] = kept
                    tokens = None
                    continue
            tokens = self._advanced(old, tokens, k, step)
        return Held(self.bindings.seen + len(self.stream.time), self.kept), self._found(tokens, last)

    def _still(self, step: Step, old: Sheet | None) -> bool:
        """Does nothing happen in this call to the tokens that wait at a step?"""
        if not self.events.present.isdisjoint(step.read):
            return False
        if old is None:
            return True
        frontier = self.stream.frontier
        if step.timed is not None and old.begins + int(self.chain.durations[step.timed][1].min()) <= frontier:
            return False
        return old.ends > frontier

    def _joined(self, old: Sheet | None, tokens: Tokens, step: Step) -> Sheet | None:
        """Tokens that have come to a step at which nothing happens, behind those that wait; None if something might
        happen to them."""
        frontier, limit = self.stream.frontier, self._limit(tokens)
        if step.event is None:
            assert step.timed is not None
            due = self._after(tokens.begin, step.timed, tokens.rule)
            if int(due.min()) <= frontier or len(limit):
                return None
        elif len(limit) and int(limit.min()) <= frontier:
            tokens = tokens.take(np.flatnonzero(limit > frontier))
        for e in () if step.event is None else step.event.equal:
            if e.step == RULE:
                continue
            refs = tokens.refs[e.step]
            assert refs is not None
            column = self.bindings.column(e.step, e.other, refs)
            if column.valid is not None or not column.numeric:
                valid = column.is_valid()
                # a null is equal to nothing
                tokens = tokens if valid.all() else tokens.take(np.flatnonzero(valid))
        if old is not None and not len(tokens):
            return old
        made = self.bindings.sheet(tokens, self.many)
        return made if old is None else old.before(made)

    def _advanced(self, old: Sheet | None, begun: Tokens | None, k: int, step: Step) -> Tokens | None:
        """The tokens that have done a step, of those that waited there and those that come to it; the rest waits."""
        concerned = None if old is None or len(old) < MANY else self._concerned(old, k, step)
        if old is None or concerned is None:
            mine = old = None if old is None else old.packed
            looked_at = np.arange(0 if old is None else len(old))
        else:
            looked_at = np.flatnonzero(concerned)
            mine = old.take(concerned) if len(looked_at) else None
        parts = [*([] if mine is None else [self.bindings.loaded(mine, k)]), *([] if begun is None else [begun])]
        if not parts:
            self._wait(k, old)
            return None
        tokens = Tokens.concat(parts)
        rest: np.ndarray | None
        if step.event is None:
            which, due, rest = self._timed(tokens, step)
            low = np.searchsorted(self.stream.time, due, "left").astype(np.int64)
            done = self._gone_on(tokens, which, None, due, low, k)
        else:
            which, at, rest = self._looked_up(tokens, step)
            done = self._gone_on(tokens, which, at, self.stream.time[at], at + 1, k)
        rest = np.arange(len(tokens)) if rest is None else rest
        n = 0 if mine is None else len(mine)
        if old is not None:
            leave = np.ones(n, np.bool_)
            leave[rest[rest < n]] = False
            old = old.without(looked_at[leave])
        self._wait(k, old, tokens.take(rest[rest >= n]))
        return done

    def _concerned(self, sheet: Sheet, k: int, step: Step) -> np.ndarray | None:
        """Booleans (rows): to which of the tokens that wait at a step may something happen in this call?  None: to all.

        A guard over them or their own time runs out, or there is an event with their keys.  Most of many tokens wait
        for a key that no new event has, and cost a look-up among the few keys of this call.
        """
        frontier = self.stream.frontier
        out = np.zeros(sheet.rows, np.bool_)
        for g in self.chain.covering[k]:
            out |= sheet.known(f"limit{g}") <= frontier
        rule = sheet.numbers("rule")
        if step.timed is not None:
            none = np.zeros(1 if rule is None else 0, np.int64)
            out |= self._after(sheet.known("begin"), step.timed, none if rule is None else rule) <= frontier
        for f in ((step.event,) if step.event else ()) + step.absent:
            found = self.events.candidates(
                f.types, f.own, tuple(e.attribute for e in f.equal), tuple(r.attribute for r in f.ranges)
            )
            if not len(found.at):
                continue
            if not f.equal:
                return None
            if len(found.at) <= FEW and self._alike(sheet, f, found.at, out):
                continue
            codes = []
            for e in f.equal:
                if e.step == RULE:
                    codes.append(self._rule_codes(f, e)[np.zeros(sheet.rows, np.int64) if rule is None else rule])
                    continue
                types, name = self.chain.types[e.step], f"{e.step}:{e.other}"
                assert types is not None
                timed = e.other == "time"
                column = Column(Type.TIMESTAMP, sheet.known(f"{e.step}.time"), None) if timed else sheet.attribute(name)
                codes.append(self.events.codes.find(self.events.domain(types[0], e.other), column))
            code = self.events.codes.find_joined([self.events.domain(f.types[0], e.attribute) for e in f.equal], codes)
            in_groups(code, found.start, out)
        return out if not len(sheet.gone) else out & sheet.waiting

    def _alike(self, sheet: Sheet, f: Filter, at: np.ndarray, out: np.ndarray) -> bool:
        """Note in ``out`` the tokens that have the keys of one of few events, by comparing values, which is faster than
        to look up the keys of all tokens.  False: the types of these values differ, or are none for it."""
        pairs = []
        for e in f.equal:
            if e.step == RULE or e.other == "time":
                return False
            mine, theirs = sheet.attribute(f"{e.step}:{e.other}"), self.events.column(f.types, e.attribute, at)
            if mine.type is not theirs.type or mine.type not in _COMPARED:
                return False
            pairs.append((mine, theirs))
        for i in range(len(at)):
            rows: np.ndarray | None = None
            for mine, theirs in pairs:
                some = mine if rows is None else mine.take(rows)
                equal = _equal(some, theirs, i)
                rows = np.flatnonzero(equal) if rows is None else rows[equal]
            out[rows] = True
        return True

    def _wait(self, k: int, old: Sheet | None, begun: Tokens | None = None) -> None:
        """Keep tokens of earlier calls, and behind them those that came to a step in this one."""
        kept = old if old is not None and len(old) else None
        if begun is not None and len(begun):
            made = self.bindings.sheet(begun, self.many)
            kept = made if kept is None else kept.before(made) or self._sheet_of(kept, begun, k)
        if kept is not None:
            self.kept[k] = kept

    def _sheet_of(self, old: Sheet, begun: Tokens, k: int) -> Sheet:
        """The same, where the two have different columns."""
        return self.bindings.sheet(Tokens.concat([self.bindings.loaded(old, k), begun]), self.many)

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
        most, each = self.chain.durations[number]
        ticks = each if len(each) == 1 else each[rule]
        if int(time.max(initial=0)) <= NEVER - most:
            return time + ticks
        return np.where(time > NEVER - ticks, NEVER, time + ticks)

    def _gone_on(
        self, tokens: Tokens, which: np.ndarray, place: np.ndarray | None, begin: np.ndarray, low: np.ndarray,
        step: int,
    ) -> Tokens:  # fmt: skip
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
        found = self.events.candidates(f.types, f.own, by, tuple(r.attribute for r in f.ranges))
        if not by:
            return found, np.zeros(len(tokens), np.int64)
        codes = []
        for e in f.equal:
            if e.step == RULE:
                codes.append(self._rule_codes(f, e)[tokens.rule])
            else:
                refs = tokens.refs[e.step]
                assert refs is not None
                codes.append(self.bindings.code(e.step, e.other, refs))
        domains = [self.events.domain(f.types[0], a) for a in by]
        return found, self.events.codes.join(domains, codes, len(tokens))

    def _rule_codes(self, f: Filter, e: Equal) -> np.ndarray:
        """Per rule the code of the constant that an attribute of the filter's events is equal to."""
        return self.events.codes.encode(self.events.domain(f.types[0], e.attribute), self.chain.constants[e.constant])

    def _first(self, tokens: Tokens, f: Filter, limit: np.ndarray, found: Candidates, code: np.ndarray) -> np.ndarray:
        """int64: the place of the first event that fits before ``limit``; -1: there is none."""
        if f.others or f.ranges:
            lo, hi = self._ranges(found, code, tokens.low, self._before(limit))
            place = self.judge.first(tokens, f, found, lo, hi)
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
        return find_ranges(code, low, high - 1, found.start[:-1], found.start[1:], found.at)

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
            if step.event.others or step.event.ranges:
                which, place = self.judge.all(tokens, step.event, found, lo, hi)
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
            return self.chain.nothing
        due = self.steps[last].event is None
        n = len(tokens)
        order = self._emission(tokens)
        refs, time, rules = tokens.refs, tokens.begin, len(self.chain.sequences)
        if order is not None:
            refs, time = [None if r is None else r[order] for r in refs], time[order]
        offsets = np.array([0, n], np.int64)
        if rules > 1:
            rule = tokens.rule if order is None else tokens.rule[order]
            offsets = np.searchsorted(rule, np.arange(rules + 1)).astype(np.int64)
        tables, steps = self.bindings.bound(refs)
        place = refs[last]
        at = np.zeros(n, np.int64) if place is None else self.stream.at[place]
        return Found(time, at, np.full(n, due), offsets, tables, steps)

    def _emission(self, tokens: Tokens) -> np.ndarray | None:
        """The order by rule, completion and constituents; None if they are in it."""
        place = tokens.refs[-1]
        first = tokens.begin if place is None else place
        before = [self.bindings.order(t, r) for t, r in enumerate(tokens.refs[:-1]) if r is not None]
        keys = [first, *before] if len(self.chain.sequences) == 1 else [tokens.rule, first, *before]
        if sorted_by(keys):
            return None
        places = len(self.stream.time)
        if place is not None and len(keys) == 1 + len(before) and places <= len(place) and sorted_by(before):
            return group_rows(place, places, _ALL)[0]
        return np.lexsort(keys[::-1])


def _equal(column: Column, other: Column, i: int) -> np.ndarray:
    """Booleans: which values of a column are equal to value ``i`` of another one of its type?"""
    if not other.is_valid()[i]:
        return np.zeros(len(column), np.bool_)
    if column.type is Type.STRING:
        out: np.ndarray = pc.fill_null(pc.equal(column.arrow, other.arrow[i]), False).to_numpy(zero_copy_only=False)
        return out
    same: np.ndarray = column.values == other.values[i]
    return same if column.valid is None else same & column.valid


def sorted_by(keys: Many[np.ndarray]) -> bool:
    """Whether rows are in lexicographic order of these keys, the first key first; looks at ``PIECE`` rows at a time."""
    n = len(keys[0]) if keys else 0
    return all(in_order(np.stack([k[max(at - 1, 0) : at + PIECE] for k in keys])) for at in range(0, n, PIECE))


#: rows that are copied at a time to be looked at
PIECE = 1 << 16


# -- conditions on two events that are no equalities -------------------------------------------------------------------
#: the most pairs that are held at once
BLOCK = 1_000_000


def overflow(sequence: Sequence, time: int) -> InputProblem:
    """A condition is undecided for an event of this time."""
    return InputProblem(
        Problem(
            "overflow",
            f"a number overflows 64-bit integers in a condition of `{sequence.name}`, at an event at time {time}",
            definition=sequence.name,
            value=time,
            hint="use floats (multiply by 1.0), or a condition that excludes such values",
        )
    )


def doubt(doubtful: np.ndarray, place: np.ndarray, rule: np.ndarray, rules: Many[Sequence], stream: Stream) -> None:
    """An InputProblem if one of the events chosen (-1: none) is among those of which it is hidden whether they fit."""
    hidden = np.flatnonzero((place >= 0) & np.isin(place, doubtful))
    if len(hidden):
        at = int(hidden[0])
        raise overflow(rules[int(rule[at])], int(stream.time[place[at]]))


class Judge:
    """Tries candidates, pair by pair with their tokens (common.md, section 6): of token i those with numbers
    [lo[i], hi[i]) of ``at``, in this order."""

    def __init__(self, bindings: Bindings, chain: Chain) -> None:
        self._bindings, self._chain = bindings, chain

    def _limits(self, f: Filter) -> tuple[np.ndarray, np.ndarray]:
        """The ranges of a filter: the least and the greatest numbers, int64 (ranges, rules)."""
        low, high = self._chain.limits
        numbers = [r.number for r in f.ranges]
        return (low, high) if numbers == list(range(len(low))) else (low[numbers], high[numbers])

    def first(self, tokens: Tokens, f: Filter, found: Candidates, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """int64: the first candidate that fits, -1 if none does.

        Twice as many candidates are tried in each round, so that at most twice as many as need be.
        """
        at = found.at
        if not f.others:
            return first_within(lo, hi, at, found.values, *self._limits(f), tokens.rule)
        out = np.full(len(lo), -1, np.int64)
        left = np.flatnonzero(lo < hi)
        begin, width = lo[left], 1
        while len(left):
            per = max(1, BLOCK // width)
            for part in range(0, len(left), per):
                mine = left[part : part + per]
                frm = begin[part : part + per]
                which, place = self._tried(tokens, f, found, mine, frm, np.minimum(hi[mine], frm + width))
                passed, undecided = self._judged(tokens.refs, f, mine[which], place)
                if undecided is not None:
                    passed[undecided] = True
                good = np.flatnonzero(passed)
                first = good[np.diff(which[good], prepend=-1) != 0]
                if undecided is not None:
                    self._refuse(np.intersect1d(first, undecided), place)
                out[mine[which[first]]] = place[first]
            on = (out[left] < 0) & (begin + width < hi[left])
            left, begin = left[on], begin[on] + width
            width = min(2 * width, BLOCK)
        return out

    def _tried(
        self, tokens: Tokens, f: Filter, found: Candidates, mine: np.ndarray | None, lo: np.ndarray, hi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(token, place) of the candidates in the ranges of the rules of tokens ``mine`` (None: all), in order."""
        if not f.ranges:
            return spread(lo, hi, found.at)
        rule = tokens.rule if mine is None else tokens.rule[mine]
        return spread_within(lo, hi, found.at, found.values, *self._limits(f), rule)

    def all(
        self, tokens: Tokens, f: Filter, found: Candidates, lo: np.ndarray, hi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(token, place) of all candidates that fit, in order."""
        if not f.others:
            return self._tried(tokens, f, found, None, lo, hi)
        total = np.cumsum(np.maximum(hi - lo, 0))
        whiches, places = [], []
        begin = 0
        while begin < len(lo):
            base = total[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(total, base + BLOCK, side="right")))
            mine = np.arange(begin, end)
            which, place = self._tried(tokens, f, found, mine, lo[begin:end], hi[begin:end])
            which = which + begin
            passed, undecided = self._judged(tokens.refs, f, which, place)
            if undecided is not None:
                self._refuse(undecided, place)
            whiches.append(which[passed])
            places.append(place[passed])
            begin = end
        if not whiches:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(whiches), np.concatenate(places)

    def _judged(
        self, refs: Many[np.ndarray | None], f: Filter, which: np.ndarray, place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """As :func:`select`, for tokens ``which`` and events at ``place``."""

        def columns(leaf: Expr) -> pa.Array:
            assert isinstance(leaf, Ref)
            if leaf.scope is None:
                return self._bindings.events.column(f.types, leaf.name, place).arrow
            of = refs[int(leaf.scope)]
            assert of is not None
            return self._bindings.column(int(leaf.scope), leaf.name, of[which]).arrow

        joint = conjunction(list(f.others))
        assert joint is not None
        return select(joint, columns, len(which), kind=self._chain.kind, dialect=EPL)

    def _refuse(self, undecided: np.ndarray, place: np.ndarray) -> None:
        if len(undecided):
            raise overflow(self._chain.sequences[0], int(self._bindings.events.stream.time[place[undecided[0]]]))


# -- many chains at once -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Chains:
    """Many chains at once: rules that differ in constants and durations alone share every look-up.

    The rules of a group are one :class:`Chain` with a first token per rule; a comparison of an attribute with a
    constant is an equality with the rule's own value, so that an event finds its rules by a look-up and not rule by
    rule.  Groups share the events of a call: codes, and candidates by type, condition and key.

    ``groups``: operators of several rules each; ``members``: of each group, the numbers of its rules among all.
    """

    groups: tuple[Chain, ...]
    members: tuple[tuple[int, ...], ...]
    domains: Mapping[tuple[str, str], str]
    kind: TimeKind

    @classmethod
    def of(
        cls, sequences: Many[Sequence], schemas: Mapping[str, Schema], kind: TimeKind, limit: int = MOST, *,
        ranged: bool = False,
    ) -> Chains:  # fmt: skip
        """Of patterns all of which are chains of steps (ValueError for another one).

        ``ranged``: rules that compare numbers with other constants are in one group, too.
        """
        alike: dict[Shape, list[tuple[int, Shape]]] = {}
        for number, sequence in enumerate(sequences):
            shape = Shape.of(sequence)
            if shape is None:
                raise ValueError(f"`{sequence.name}` is not a chain of steps")
            shape = shape.slotted(schemas)
            shape = shape.ranged(schemas) if ranged else shape
            alike.setdefault(shape, []).append((number, shape))
        members, shapes = [], []
        for found in alike.values():
            first = found[0][1]
            same = [n for n, c in enumerate(first.constants) if all(s.constants[n] == c for _, s in found)]
            members.append(tuple(number for number, _ in found))
            own = [n for n, r in enumerate(first.ranges) if all(s.ranges[n] == r for _, s in found)]
            shapes.append(tuple(s.filled(same).unranged(own) for _, s in found))
        equated = domains([s[0] for s in shapes])
        groups = tuple(
            Chain(tuple(sequences[n] for n in numbers), of, equated, kind, limit)
            for numbers, of in zip(members, shapes)
        )
        return cls(groups, tuple(members), equated, kind)

    def advance(self, states: Many[Pieces], stream: Stream) -> tuple[list[Pieces], list[Found]]:
        """One call of all rules: the state of each rule, and what each group found, rule by rule.

        ``stream`` has the events of all types that any of the rules reads.
        """
        events = Events(stream, self.domains, self.kind)
        after: dict[int, Pieces] = {}
        done = []
        for group, numbers in zip(self.groups, self.members):
            state, found = group.run(together([states[n] for n in numbers]), events)
            after |= zip(numbers, GroupState(state, len(numbers)).parts)
            done.append(found)
        return [after[n] for n in range(len(after))], done


# -- the events of a call: candidates grouped by key, codes of values; shared by many rules ----------------------------
Own = TypeVar("Own")
Given = ParamSpec("Given")
Made = TypeVar("Made")


def once(method: Callable[Concatenate[Own, Given], Made]) -> Callable[Concatenate[Own, Given], Made]:
    """A method that is run once per object and arguments; what it returned is returned again."""

    @wraps(method)
    def found(self: Own, *given: Given.args, **named: Given.kwargs) -> Made:
        made: dict[object, Made] = self.__dict__.setdefault("_made", {})
        name = (method.__name__, *given, *named.items())
        if name not in made:
            made[name] = method(self, *given, **named)
        return made[name]

    return found


@dataclass(frozen=True)
class Candidates:
    """Events that may fit a filter: ``at``, their places in the stream, group by group (``start``: groups + 1) and
    ascending in each.  ``doubtful``: those of which an overflow hides whether they fit, ascending.  ``values``: int64
    (ranges, n), the numbers of each of ``at`` that are compared with ranges."""

    at: np.ndarray
    start: np.ndarray
    doubtful: np.ndarray
    values: np.ndarray


class Events:
    """The events of one call.  ``domains``: the name of the domain of values of (type, attribute) that are equated."""

    def __init__(self, stream: Stream, domains: Mapping[tuple[str, str], str], kind: TimeKind) -> None:
        self.stream = stream
        self.codes = KeyCodes()
        self._domains = domains
        self._kind = kind
        self._numbers = {name: n for n, name in enumerate(stream.types)}
        #: the types of the events
        self.present = frozenset(t for t in stream.types if len(stream.rows[t]))

    def number(self, type: str) -> int:
        """The number of a type in the stream; -1 if it has none."""
        return self._numbers.get(type, -1)

    def rows(self, type: str) -> Rows:
        return self.stream.rows[type]

    def domain(self, type: str, attribute: str) -> str:
        return self._domains.get((type, attribute), f"{type}.{attribute}")

    # -- which events ------------------------------------------------------------------------------------------------
    @once
    def candidates(
        self, types: tuple[str, ...], own: tuple[Expr, ...], by: tuple[str, ...], ranged: tuple[str, ...]
    ) -> Candidates:
        """The events of these types that pass their own conditions, grouped by the codes of the attributes ``by``; none
        with nulls in the attributes ``ranged``."""
        at, doubtful = self._fit(types, own)
        values = NO_VALUES
        if ranged:
            found = [self.column(types, a, at) for a in ranged]
            columns = [c if c.numeric else Column.nulls(Type.INT, len(at)) for c in found]
            values = np.stack([ordered_numbers(c.values) for c in columns])
            known = np.logical_and.reduce([_numbers_in(c) for c in columns])
            if not known.all():
                at, values = at[known], np.ascontiguousarray(values[:, known])
        if not by:
            return Candidates(at, np.array([0, len(at)], np.int64), doubtful, values)
        domains = [self.domain(types[0], a) for a in by]
        code = self.codes.join(domains, [self.code(types, a, at) for a in by], len(at))
        order, start = group_rows(code, self.codes.size(domains), _ALL)
        return Candidates(at[order], start, doubtful, values.take(order, 1) if ranged else values)

    @once
    def _fit(self, types: tuple[str, ...], own: tuple[Expr, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The places of the events that pass, ascending, those in doubt among them; and those in doubt."""
        places, doubtful = [], []
        for t in types:
            if self.number(t) < 0:
                continue
            of, rows = self.places(t), self.rows(t)
            joint = conjunction(list(own))
            if joint is not None and len(rows):
                passed, undecided = passing(rows, joint, self._kind, EPL)
                if undecided is not None:
                    doubtful.append(of[undecided])
                    passed = passed.copy()
                    passed[undecided] = True
                of = of[passed]
            places.append(of)
        return _merged(places), _merged(doubtful)

    @once
    def places(self, type: str) -> np.ndarray:
        """int64: by row of a type its place in the stream."""
        at = np.flatnonzero(self.stream.type == self.number(type))
        found = np.empty(len(self.rows(type)), np.int64)
        found[self.stream.row[at]] = at
        return found

    # -- their values ------------------------------------------------------------------------------------------------
    def code(self, types: tuple[str, ...], attribute: str, at: np.ndarray) -> np.ndarray:
        """int64: the codes of an attribute of events of ``types`` at places ``at``, -1 for null."""
        known = [t for t in types if self.number(t) >= 0 and len(self.rows(t))]
        if len(known) == 1:
            return self._code_of(known[0], attribute)[self.stream.row[at]]
        out = np.full(len(at), -1, np.int64)
        for t in known:
            here = np.flatnonzero(self.stream.type[at] == self.number(t))
            out[here] = self._code_of(t, attribute)[self.stream.row[at[here]]]
        return out

    @once
    def _code_of(self, type: str, attribute: str) -> np.ndarray:
        return self.codes.encode(self.domain(type, attribute), self.rows(type).column(attribute))

    def _values(self, type: str, attribute: str) -> Column:
        """An attribute of all events of a type; nulls if only types that inherit from it have it."""
        rows = self.rows(type)
        there = attribute == "time" or attribute in rows.columns
        return rows.column(attribute) if there else Column.nulls(Type.NULL, len(rows))

    def column(self, types: tuple[str, ...], attribute: str, at: np.ndarray) -> Column:
        """The values of an attribute of events of ``types`` at places ``at``."""
        known = [t for t in types if self.number(t) >= 0 and len(self.rows(t))]
        if len(known) == 1:
            return self._values(known[0], attribute).take(self.stream.row[at])
        if not known:
            return Column.nulls(Type.NULL, len(at))
        base, parts, n = np.zeros(len(self.stream.types), np.int64), [], 0
        for t in known:
            base[self.number(t)] = n
            parts.append(self._values(t, attribute))
            n += len(self.rows(t))
        return Column.widened(parts).take(base[self.stream.type[at]] + self.stream.row[at])


def _numbers_in(column: Column) -> np.ndarray:
    """Booleans (n): is there a number?"""
    known = column.is_valid()
    return known if column.type is not Type.FLOAT else known & ~np.isnan(column.values)


def _merged(parts: Many[np.ndarray]) -> np.ndarray:
    if not parts:
        return NO_ROWS
    return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))


# -- tokens: partial matches, in a call and between calls --------------------------------------------------------------
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
    def concat(parts: Many[Tokens]) -> Tokens:
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
    """The events of one step that tokens of earlier calls have bound, in the order of the sheets."""

    sheets: list[Sheet] = field(default_factory=list)
    n: int = 0

    def array(self, name: str) -> np.ndarray | None:
        """A column of numbers; None if the sheets have it not."""
        if not self.sheets or name not in self.sheets[0].columns:
            return None
        if len(self.sheets) == 1:
            return self.sheets[0].numbers(name)
        return np.concatenate([s.numbers(name) for s in self.sheets])

    def column(self, name: str) -> Column:
        return Column.widened([s.attribute(name) for s in self.sheets])


class Bindings:
    """The events that tokens have bound, of this call and of earlier ones.

    ``types``: per step the types of its event, None of a step that binds none; ``columns``: per step the attributes
    that are kept.
    """

    def __init__(
        self, seen: int, events: Events, types: Many[tuple[str, ...] | None], columns: Many[Many[str]],
        covering: Many[Many[int]],
    ) -> None:  # fmt: skip
        self.seen = seen
        self.events = events
        self.types = types
        self._columns, self._covering = columns, covering
        self.past = [Past() for _ in types]
        #: what was found in the past; what is loaded later makes the names others
        self._made: dict[tuple[int, str, int], np.ndarray | Column] = {}

    def loaded(self, sheet: Sheet, step: int) -> Tokens:
        """The tokens that wait at a step."""
        sheet = sheet.packed
        n = len(sheet)
        refs: list[np.ndarray | None] = []
        for t in range(step):
            if self.types[t] is None:
                refs.append(None)
                continue
            past = self.past[t]
            refs.append(-1 - np.arange(past.n, past.n + n, dtype=np.int64))
            past.sheets.append(sheet)
            past.n += n
        rule, begin = sheet.numbers("rule"), sheet.numbers("begin")
        assert begin is not None
        limits = {}
        for g in self._covering[step]:
            found = sheet.numbers(f"limit{g}")
            assert found is not None
            limits[g] = found
        return Tokens(refs, np.zeros(n, np.int64), begin, limits, np.zeros(n, np.int64) if rule is None else rule)

    # -- values of bound events --------------------------------------------------------------------------------------
    def time(self, step: int, refs: np.ndarray) -> np.ndarray:
        """int64: the times of bound events."""
        return self._numbers(step, refs, "time", self.events.stream.time)

    def order(self, step: int, refs: np.ndarray) -> np.ndarray:
        """int64: their numbers among all events there were."""
        out = refs + self.seen
        if refs.min(initial=0) < 0:
            old = refs < 0
            out[old] = self._kept_numbers(step, "place")[-1 - refs[old]]
        return out

    def _numbers(self, step: int, refs: np.ndarray, name: str, new: np.ndarray) -> np.ndarray:
        return _looked_up(refs, lambda: self._kept_numbers(step, name), lambda at: new[at])

    def _kept_numbers(self, step: int, name: str) -> np.ndarray:
        past = self.past[step]
        key = step, f".{name}", past.n
        found = self._made.get(key)
        if found is None:
            array = past.array(f"{step}.{name}")
            found = self._made[key] = np.zeros(past.n, np.int64) if array is None else array
        assert isinstance(found, np.ndarray)
        return found

    def code(self, step: int, attribute: str, refs: np.ndarray) -> np.ndarray:
        """int64: codes of an attribute, -1 for null."""
        types = self.types[step]
        assert types is not None

        kept = lambda: self._kept_code(step, attribute)  # noqa: E731
        return _looked_up(refs, kept, lambda at: self.events.code(types, attribute, at))

    def _kept_code(self, step: int, attribute: str) -> np.ndarray:
        types = self.types[step]
        assert types is not None
        key = step, f"={attribute}", self.past[step].n
        found = self._made.get(key)
        if found is None:
            domain = self.events.domain(types[0], attribute)
            found = self._made[key] = self.events.codes.encode(domain, self._kept_column(step, attribute))
        assert isinstance(found, np.ndarray)
        return found

    def _kept_column(self, step: int, attribute: str) -> Column:
        if attribute == "time":
            return Column(Type.TIMESTAMP, self._kept_numbers(step, "time"), None)
        key = step, f":{attribute}", self.past[step].n
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self.past[step].column(f"{step}:{attribute}")
        assert isinstance(found, Column)
        return found

    def column(self, step: int, attribute: str, refs: np.ndarray) -> Column:
        """The values of an attribute of bound events."""
        types = self.types[step]
        assert types is not None
        if refs.min(initial=0) >= 0:
            return self.events.column(types, attribute, refs)
        old, kept = refs < 0, self._kept_column(step, attribute)
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
        if len(types) == 1:
            return np.broadcast_to(np.int32(self.events.number(types[0])), len(refs))
        number = np.array([self.events.number(t) for t in types], np.int32)
        new = self.events.stream.type
        return _looked_up(
            refs, lambda: number[self._kept_numbers(step, "type")], lambda at: new[at].astype(np.int32, copy=False)
        )

    # -- what is kept and given --------------------------------------------------------------------------------------
    def sheet(self, tokens: Tokens, many: bool) -> Sheet:
        """The tokens of a step as they are kept."""
        made: dict[str, np.ndarray | Column] = {"begin": tokens.begin}
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
                column = self.column(t, name, refs)
                # a dictionary of texts would keep all texts of a call
                made[f"{t}:{name}"] = column if column.numeric else Column(column.type, None, None, column.arrow)
        return Sheet(made, len(tokens))

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
        kept = past.n == 0 or all(f"{step}.{of_tables}" in s.columns for s in past.sheets)
        return present if kept and all(getattr(r, of_rows) is not None for r in present) else None

    def _new_rows(self, step: int) -> list[Rows]:
        types = self.types[step] or ()
        return [self.events.rows(t) for t in types if self.events.number(t) >= 0]

    def bound(self, refs: Many[np.ndarray | None]) -> tuple[Mapping[int, Rows], dict[int, Bound]]:
        """Tables by the number of their type, and per step its events in them, for matches."""
        numbers = [None if r is None else self.kind(t, r) for t, r in enumerate(refs)]
        tables: dict[int, Rows] = {}
        rows: list[np.ndarray | None] = [None] * len(refs)
        seen = [NO_ROWS if k is None else distinct(k) for k in numbers]
        for number in sorted({int(x) for some in seen for x in some}):
            name = self.events.stream.types[number]
            parts: list[tuple[int, np.ndarray | slice, np.ndarray]] = []  # step, its matches with this type, refs
            for t, (r, k) in enumerate(zip(refs, numbers, strict=True)):
                if r is None or k is None or number not in seen[t]:
                    continue
                mine = slice(None) if len(seen[t]) == 1 else np.flatnonzero(k == number)
                parts.append((t, mine, r[mine]))
            if all(r.min(initial=0) >= 0 for _, _, r in parts):
                tables[number], found = self.events.rows(name), [self.events.stream.row[r] for _, _, r in parts]
            else:
                tables[number] = self._gathered(name, [(t, r) for t, _, r in parts])
                ends = np.cumsum([len(r) for _, _, r in parts])
                found = [np.arange(end - len(r), end) for end, (_, _, r) in zip(ends, parts, strict=True)]
            for (t, mine, _), at in zip(parts, found, strict=True):
                if len(seen[t]) == 1:
                    rows[t] = at
                else:
                    mixed = rows[t]
                    rows[t] = mixed = np.empty(len(numbers[t]), np.int64) if mixed is None else mixed  # type: ignore[arg-type]
                    mixed[mine] = at
        out = {}
        for t, (r, k) in enumerate(zip(rows, numbers, strict=True)):
            if k is not None:
                out[t] = Bound(NO_ROWS if r is None else r, k)
        return tables, out

    def _gathered(self, type: str, parts: Many[tuple[int, np.ndarray]]) -> Rows:
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
    if refs.min(initial=0) >= 0:
        return new(refs)
    past, old = kept(), refs < 0
    if old.all():
        return past[-1 - refs]
    out = np.empty(len(refs), past.dtype)
    out[old], out[~old] = past[-1 - refs[old]], new(refs[~old])
    return out
