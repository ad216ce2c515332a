"""The operators of patterns over the order of events (epl-and-nets.md, sections 4A and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.blocks import Block, Identity, Out, Reasons
from occurs.operators.contract import Call, Operator, Outcome, joint_identity, joint_ports
from occurs.operators.merging import merged
from occurs.operators.sequence import tree
from occurs.operators.sequence.chain_shape import Shape
from occurs.operators.states import Own, Tables

if TYPE_CHECKING:
    from occurs.operators.sequence.chains import Chain, Chains, Found
    from occurs.operators.sequence.machine import Machine
    from occurs.operators.sequence.match_rows import Bindings, Matches


@dataclass(frozen=True, eq=False)
class Automaton(Operator):
    """One pattern.

    ``schemas``: of the types that it reads; ``limit``: partial matches that may live at a time.  ``ended``: it emits
    the partial matches that guards end, and not the matches.  ``absences``: ``because`` also shows the intervals in
    which a ``not`` looked for events.
    """

    pattern: tree.Sequence
    schemas: Mapping[str, Schema]
    kind: TimeKind
    limit: int
    ended: bool = False
    absences: bool = False

    @cached_property
    def chained(self) -> bool:
        """Is the pattern a chain of steps, so that it can run together with others?"""
        tags = [n.tag for n in self.pattern.root.walk() if isinstance(n, tree.Atom)]
        return not self.ended and len(tags) == len(set(tags)) and Shape.of(self.pattern) is not None

    @cached_property
    def machine(self) -> Machine:
        """The machine of the pattern: compiled code, which only programs with such patterns load."""
        from occurs.operators.sequence.machine import Machine

        return Machine(self.pattern, self.schemas, self.kind, self.limit)

    def fresh(self) -> Own:
        return Own(self.identity, self.machine.fresh())

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> Own:
        return Own(self.identity, self.machine.restored(saved[self.identity]))

    def advance(self, state: Own, call: Call) -> Outcome:
        stream = merged(call)
        if self.ended:
            matches = self.machine.advance_late(state.kept, stream)[1]
        else:
            matches = self.machine.advance(state.kept, stream)
        return Outcome([self.block(matches, stream.types)] if len(matches) else [])

    def block(self, matches: Matches, types: tuple[str, ...]) -> Block:
        """The derived events of matches; ``types``: what the numbers of types stand for."""
        from occurs.operators.sequence.match_rows import Bindings

        found = Bindings(self.pattern, matches, self.kind).where().sorted()
        return Block(
            self.outs,
            matches.time[found.chosen],
            found.outputs(self.outs[0].schema),
            at=matches.at[found.chosen],
            identity=partial(_identity, found),
            reasons=lambda rows: self.reasons(found, rows, types),
        )

    def reasons(self, found: Bindings, rows: np.ndarray, types: tuple[str, ...]) -> Reasons:
        """The constituents of some of the matches: the events, a timer that completed the match behind them, then the
        intervals in which a ``not`` looked for events."""
        from occurs.operators.sequence.match_rows import Bindings, absences, checked

        b = Bindings(found.pattern, found.matches, found.kind, found.chosen[rows])
        events, n = b.constituents, len(b)
        names = pa.array([t for t, _ in b.pattern.tags], pa.string()).take(pa.array(events.tag))
        listed = events.index >= 0
        if listed.any():
            numbers = pa.array(events.index).cast(pa.string())
            names = pc.if_else(pa.array(listed), pc.binary_join_element_wise(names, "[", numbers, "]", ""), names)
        due = np.flatnonzero(b.matches.due[b.chosen])
        number = [np.repeat(np.arange(n), np.diff(events.offsets)), due]
        roles = [names, pa.array(["timer"] * len(due), pa.string())]
        kinds = [pa.array(types, pa.string()).take(pa.array(events.type)), roles[1]]
        times = [b.times_of(events), b.matches.time[b.chosen][due]]
        labels = [b.labels_of(events).hex().cast(pa.string()), pa.nulls(len(due), pa.string())]
        attributes = [b.attributes_of(events), pa.array(["{}"] * len(due), pa.string())]
        bound = len(events.row) + len(due)
        known, end = [np.ones(bound, np.bool_)], [np.zeros(bound, np.int64)]
        for absence in absences(b.pattern) if self.absences else ():
            looked = checked(b, absence)
            size, type = len(looked.number), ", ".join(absence.types)
            number.append(looked.number)
            roles.append(pa.array([f"not {type}"] * size, pa.string()))
            kinds.append(pa.array([type] * size, pa.string()))
            times.append(looked.start)
            labels.append(pa.nulls(size, pa.string()))
            attributes.append(pa.array(['{"rows": 0}'] * size, pa.string()))
            known.append(looked.known)
            end.append(looked.end)
        whose = np.concatenate(number)
        order = np.argsort(whose, kind="stable")
        chosen = pa.array(order)
        return Reasons(
            np.searchsorted(whose[order], np.arange(n + 1)),
            pa.concat_arrays(roles).take(chosen),
            pa.concat_arrays(kinds).take(chosen),
            np.concatenate(times)[order],
            pa.concat_arrays(labels).take(chosen),
            pa.concat_arrays(attributes).take(chosen),
            np.concatenate(end)[order],
            (np.arange(len(whose)) >= bound)[order],
            np.concatenate(known)[order],
        )

    @classmethod
    def fuse(cls, run: Sequence[Self]) -> Sequence[Operator]:
        """Chains of steps that were added at the same time run together."""
        chains: dict[int | None, list[Automaton]] = {}
        alone: list[Operator] = []
        for one in run:
            if one.chained:
                chains.setdefault(one.born, []).append(one)
            else:
                alone.append(one)
        return [*(ChainRules.of(found) for found in chains.values()), *alone]


#: as many pairs of an event and a rule are tried one by one in a call
TRIED = 4_000_000


@dataclass(frozen=True, eq=False)
class Grouped:
    """Chains in groups.  ``groups``: per group its chain, its rules, and whether the derived events of all of them are
    made alike."""

    chains: Chains
    groups: list[tuple[Chain, list[Automaton], bool]]


@dataclass(frozen=True, eq=False)
class ChainRules(Operator):
    """Patterns that are chains of steps, which share the look-ups of a call (:class:`.chains.Chains`)."""

    rules: tuple[Automaton, ...]

    @classmethod
    def of(cls, rules: Sequence[Automaton]) -> ChainRules:
        """Of rules that were added at the same time and do not read one another."""
        moves, outs = frozenset(m for r in rules for m in r.moves), tuple(r.outs[0] for r in rules)
        return cls(joint_identity(rules), joint_ports(rules), outs, tuple(rules), born=rules[0].born, moves=moves)

    @property
    def parts(self) -> Sequence[Operator]:
        return self.rules

    @cached_property
    def few_events(self) -> Grouped:
        """The rules in groups that differ in constants and durations alone, also those that numbers are compared
        with: each rule tries every event of a call, so the call must be small."""
        found = self._grouped(ranged=True)
        # as a rule there are no such constants: then it is one grouping, and states stay as they are
        return self.many_events if found.chains.members == self.many_events.chains.members else found

    @cached_property
    def many_events(self) -> Grouped:
        """The rules in groups that differ in durations, and in constants that something is to be equal to, alone."""
        return self._grouped(ranged=False)

    def _grouped(self, ranged: bool) -> Grouped:
        from occurs.operators.sequence.chains import Chains

        schemas = {t: s for r in self.rules for t, s in r.schemas.items()}
        limit = min(r.limit for r in self.rules)
        patterns = [r.pattern for r in self.rules]
        chains = Chains.of(patterns, dict(sorted(schemas.items())), self.rules[0].kind, limit, ranged=ranged)
        groups = []
        for chain, numbers in zip(chains.groups, chains.members, strict=True):
            mine = [self.rules[n] for n in numbers]
            schema = mine[0].outs[0].schema
            alike = chain.alike and all(r.outs[0].schema == schema and not r.pattern.order for r in mine)
            groups.append((chain, mine, alike))
        return Grouped(chains, groups)

    def advance(self, state: Tables, call: Call) -> Outcome:
        stream = merged(call)
        states = [state.of.get(name, {}) for name in self.members]
        grouped = self.few_events if len(stream.time) * len(self.rules) <= TRIED else self.many_events
        after, done = grouped.chains.advance(states, stream)
        state.of.update(zip(self.members, after, strict=True))
        blocks: list[Block] = []
        for (chain, rules, alike), found in zip(grouped.groups, done, strict=True):
            if not len(found):
                continue
            if alike:
                blocks.append(_together(chain, rules, found, stream.types))
            else:
                blocks += [r.block(chain.matches(found, n), stream.types) for n, r in enumerate(rules)]
        return Outcome(blocks)


def _together(chain: Chain, rules: Sequence[Automaton], found: Found, types: tuple[str, ...]) -> Block:
    """The derived events of rules whose events are made alike."""
    from occurs.operators.sequence.match_rows import Bindings

    bindings = Bindings(chain.sequences[0], chain.matches(found, 0, all=True), chain.kind)
    outs: list[Out] = [r.outs[0] for r in rules]

    def reasons(rows: np.ndarray) -> Reasons:
        rule = int(np.searchsorted(found.offsets, rows[0], "right")) - 1
        own = Bindings(rules[rule].pattern, chain.matches(found, rule), chain.kind)
        return rules[rule].reasons(own, rows - found.offsets[rule], types)

    columns = bindings.outputs(outs[0].schema)
    return Block(outs, found.time, columns, found.offsets, found.at, partial(_identity, bindings), reasons)


def _identity(bindings: Bindings) -> Identity:
    events, chosen = bindings.constituents, bindings.chosen
    time, due = bindings.matches.time[chosen], bindings.matches.due[chosen]
    return Identity([bindings.labels_of(events)], events.offsets, time, due)
