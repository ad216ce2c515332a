"""Many chains at once: rules that differ in constants and durations alone share every look-up (epl-and-nets.md, 5).

The rules of a group are one :class:`~occurs.operators.sequence.chains.Chain` with a first token per rule; a comparison
of an attribute with a constant is an equality with the rule's own value, so that an event finds its rules by a look-up
and not rule by rule.  Groups share the events of a call: codes, and candidates by type, condition and key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.merging import Stream
from occurs.operators.sequence.chains import MOST, Chain, domains
from occurs.operators.sequence.chains_call import Found
from occurs.operators.sequence.chains_events import Events
from occurs.operators.sequence.chains_shape import Shape
from occurs.operators.sequence.stream import Matches, State
from occurs.operators.sequence.tree import Sequence


@dataclass(frozen=True)
class Chains:
    """``groups``: operators of several rules each; ``members``: of each group, the numbers of its rules among all."""

    groups: tuple[Chain, ...]
    members: tuple[tuple[int, ...], ...]
    domains: Mapping[tuple[str, str], str]
    kind: TimeKind

    @classmethod
    def of(cls, sequences: Many[Sequence], schemas: Mapping[str, Schema], kind: TimeKind, limit: int = MOST) -> Chains:
        """Of patterns all of which are chains (:meth:`Chain.applies`; ValueError for another one)."""
        alike: dict[Shape, list[tuple[int, Shape]]] = {}
        for number, sequence in enumerate(sequences):
            shape = Shape.of(sequence)
            if shape is None:
                raise ValueError(f"`{sequence.name}` is not a chain of steps")
            shape = shape.slotted(schemas)
            alike.setdefault(shape, []).append((number, shape))
        members, shapes = [], []
        for found in alike.values():
            first = found[0][1]
            same = [n for n, c in enumerate(first.constants) if all(s.constants[n] == c for _, s in found)]
            members.append(tuple(number for number, _ in found))
            shapes.append(tuple(s.filled(same) for _, s in found))
        equated = domains([s[0] for s in shapes])
        groups = tuple(
            Chain(tuple(sequences[n] for n in numbers), of, equated, kind, limit)
            for numbers, of in zip(members, shapes)
        )
        return cls(groups, tuple(members), equated, kind)

    def fresh(self) -> list[State]:
        """The states of the groups before the clock has started."""
        return [g.fresh() for g in self.groups]

    def run(self, states: Many[State], stream: Stream) -> tuple[list[State], list[Found]]:
        """One call of all rules: the states of the groups, and what each group found, rule by rule.

        ``stream`` has the events of all types that any of the rules reads.
        """
        events = Events(stream, self.domains, self.kind)
        done = [group.run(state, events) for group, state in zip(self.groups, states)]
        return [state for state, _ in done], [found for _, found in done]

    def advance(self, states: Many[State], stream: Stream) -> tuple[list[State], list[Matches]]:
        """As ``run``, with the matches of every rule by itself."""
        after, done = self.run(states, stream)
        matches: dict[int, Matches] = {}
        for group, numbers, found in zip(self.groups, self.members, done):
            for rule, number in enumerate(numbers):
                matches[number] = group.matches(found, rule)
        return after, [matches[n] for n in range(len(matches))]

    def advance_groups(self, states: Many[Mapping[str, pa.Table]], stream: Stream) -> Advanced:
        """As ``run``, with a state per rule, as :meth:`Chain.advance` has it."""
        after, done = self.run(self.together(states), stream)
        return self.apart(after), done

    # -- states of rules and of groups -------------------------------------------------------------------------------
    def together(self, states: Many[Mapping[str, pa.Table]]) -> list[State]:
        """The states of the groups, made of the states of their rules."""
        return [_together([states[n] for n in numbers]) for numbers in self.members]

    def apart(self, states: Many[State]) -> list[Mapping[str, pa.Table]]:
        """The states of the rules: each is found again with others, or alone."""
        out: dict[int, Mapping[str, pa.Table]] = {}
        for numbers, state in zip(self.members, states):
            whole = Whole(state, len(numbers))
            out |= zip(numbers, whole.parts)
        return [out[n] for n in range(len(out))]


#: states per rule, and what each group found
Advanced = tuple[list[Mapping[str, pa.Table]], list[Found]]


@dataclass(frozen=True, eq=False)
class Whole:
    """The state of a group, which is taken apart when somebody looks into the state of one of its ``rules``."""

    state: State
    rules: int

    @cached_property
    def apart(self) -> list[State]:
        return _apart(self.state, self.rules)

    @property
    def parts(self) -> list[Mapping[str, pa.Table]]:
        """The states of the rules."""
        return [self.state] if self.rules == 1 else [Part(self, rule) for rule in range(self.rules)]


@dataclass(frozen=True, eq=False)
class Part(Mapping[str, pa.Table]):
    """The state of one rule of a group."""

    whole: Whole
    rule: int

    def __getitem__(self, name: str) -> pa.Table:
        return self.whole.apart[self.rule][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole.apart[self.rule])

    def __len__(self) -> int:
        return len(self.whole.apart[self.rule])


def _undivided(states: Many[Mapping[str, pa.Table]]) -> State | None:
    """The state of the group of which these are the parts, all of them and in their order."""
    first = states[0]
    if not isinstance(first, Part) or first.whole.rules != len(states):
        return None
    whole = first.whole
    if all(isinstance(s, Part) and s.whole is whole and s.rule == r for r, s in enumerate(states)):
        return whole.state
    return None


def _together(states: Many[Mapping[str, pa.Table]]) -> State:
    if len(states) == 1:
        return dict(states[0])
    undivided = _undivided(states)
    if undivided is not None:
        return undivided
    if all("seen" not in s for s in states):
        return {}
    out: State = {}
    names = sorted({name for s in states for name in s if name.startswith("step")})
    for name in names:
        parts = []
        for rule, state in enumerate(states):
            if name in state:
                table = state[name]
                parts.append(table.append_column("rule", pa.array(np.full(len(table), rule, np.int64))))
        out[name] = pa.concat_tables(parts, promote_options="default").combine_chunks()
    # places of events are compared within a rule only; those to come are behind all
    out["seen"] = max((s["seen"] for s in states if "seen" in s), key=lambda t: t.column("events")[0].as_py())
    new = [rule for rule, s in enumerate(states) if "seen" not in s]
    if new:
        out["new"] = pa.table({"rule": pa.array(new, pa.int64())})
    return out


def _apart(state: State, rules: int) -> list[State]:
    new = set(state["new"].column("rule").to_pylist()) if "new" in state else set()
    out: list[State] = [{} if rule in new or "seen" not in state else {"seen": state["seen"]} for rule in range(rules)]
    for name, table in state.items():
        if not name.startswith("step"):
            continue
        rule = table.column("rule").to_numpy()
        order = np.argsort(rule, kind="stable")
        start = np.searchsorted(rule[order], np.arange(rules + 1))
        table = table.drop_columns(["rule"]).take(pa.array(order)).combine_chunks()
        for r in range(rules):
            if start[r] < start[r + 1]:
                out[r][name] = table.slice(start[r], start[r + 1] - start[r])
    return out
