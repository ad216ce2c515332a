"""Chains of steps, all tokens of a step at once: ``every a -> b``, ``a -> every b -> c``, absence (epl-and-nets.md, 5).

An event that passes to a later step never makes one wait at an earlier step, so a call goes through the steps once: the
tokens that wait at a step (of calls before, and new ones) look up the first event that fits, or all of them, behind the
event that brought them there; those that found one go on, those whose time is over end, the others wait on.  Places of
events, not times, say what is behind: the snapshot rule.  Only guards and timers compare times, always exclusively.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.errors import LimitProblem
from occurs.expr.tree import Expr, Literal, Ref, rewrite
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.merging import Stream
from occurs.operators.sequence.chains_call import Call, Found
from occurs.operators.sequence.chains_events import Events
from occurs.operators.sequence.chains_shape import RULE, Shape
from occurs.operators.sequence.chains_tokens import NO_ROWS
from occurs.operators.sequence.stream import Bound, Matches, State
from occurs.operators.sequence.tree import Sequence, Whole

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

    @classmethod
    def of(cls, sequence: Sequence, schemas: Mapping[str, Schema], kind: TimeKind, limit: int = MOST) -> Chain | None:
        """The operator of one pattern; None if it is no chain, or one that this operator does not know."""
        shape = Shape.of(sequence)
        return None if shape is None else cls((sequence,), (shape,), domains([shape]), kind, limit)

    @staticmethod
    def applies(sequence: Sequence) -> bool:
        return Shape.of(sequence) is not None

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

    def fresh(self) -> State:
        """The state before the clock has started."""
        return {}

    def live(self, state: State) -> int:
        """How many tokens wait behind the first step."""
        return sum(len(t) for name, t in state.items() if name.startswith("step") and name != "step0")

    def advance(self, state: State, stream: Stream) -> tuple[State, Matches]:
        """One call of a chain with one rule."""
        state, found = self.run(state, Events(stream, self.domains, self.kind))
        return state, self.matches(found, 0)

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

    def run(self, state: State, events: Events) -> tuple[State, Found]:
        """One call of all rules."""
        stream = events.stream
        if "seen" not in state and (stream.start is None or stream.start > stream.frontier):
            return state, self.nothing()
        state, found = Call(self, state, events).run()
        if self.live(state) > self.limit:
            self._refuse(state)
        return state, found

    def _refuse(self, state: State) -> None:
        """LimitProblem if more tokens of one rule wait than may."""
        count = np.zeros(len(self.sequences), np.int64)
        for k in range(1, len(self.shape.steps)):
            table = state.get(f"step{k}")
            if table is None:
                continue
            rule = table.column("rule").to_numpy() if "rule" in table.column_names else np.zeros(len(table), np.int64)
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
