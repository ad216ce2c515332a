"""A definition by a pattern of events (one rule), and the ways to split it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from occurs.errors import Span
from occurs.expr.tree import Ref
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.blocks import Out
from occurs.operators.contract import Port
from occurs.operators.definition import Choice, Definition, Node, Options, Source
from occurs.operators.select.pattern import Absent, Keep, KeyPart, Pattern, Select, Windowed
from occurs.operators.select.templates import Template
from occurs.operators.timer import TimerSource


@dataclass(frozen=True)
class PatternDefinition(Definition):
    """A definition by a pattern of events (of one rule).  ``looks_back``: the types that it reads other than as its
    terminator."""

    pattern: Pattern
    looks_back: frozenset[str]
    clock: TimerSource | None = None

    @property
    def output(self) -> str:
        return self.pattern.rules[0].output

    @property
    def place(self) -> int:
        return self.pattern.rules[0].place

    @property
    def identity(self) -> str:
        return self.pattern.rules[0].definition

    @property
    def node(self) -> Node:
        return Node(self.output, frozenset({self.pattern.terminator.type}), self.looks_back)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(choices(self.pattern, self.timer is not None))

    @property
    def timer(self) -> TimerSource | None:
        return self.clock

    @property
    def born(self) -> int | None:
        return self.pattern.born

    @property
    def where(self) -> tuple[str | None, Span | None]:
        return self.pattern.rules[0].file, self.pattern.rules[0].span

    @property
    def hint(self) -> tuple[int, str]:
        return 4, "equate one attribute across all events of a rule: `A(Key = $k) and last B(Key = $k) ...`"

    @property
    def sources(self) -> Sequence[Source]:
        p = self.pattern
        looks = [s.source for s in p.steps if isinstance(s, Select | Absent)]
        found = [e for s in p.steps if isinstance(s, Select | Absent) for e in (*s.source.filters, *s.residual)]
        found += [s.condition for s in p.steps if isinstance(s, Keep)]
        found += [e for _, e, _ in p.outputs]
        return [p.terminator, *looks, *(n.source for e in found for n in e.walk() if isinstance(n, Windowed))]

    @property
    def endless(self) -> str:
        if self.pattern.consuming or self.pattern.rules[0].recursive:
            return "a consuming or recursive rule depends on all earlier detections"
        return ""

    @property
    def row_by_row(self) -> bool:
        return set(self.reads.values()) <= {0} and not self.timer and not self.looks_back

    @property
    def silent(self) -> frozenset[str] | None:
        """All types but its terminator's."""
        return None if self.timer else frozenset(self.reads) - {self.pattern.terminator.type}

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Template:
        ports = tuple(Port(t, back) for t, back in self.reads.items())
        out = Out(self.output, schemas[self.output], self.identity, self.place)
        return Template(self.identity, ports, (out,), self.pattern, born=self.born)

    def adapted(self, options: Options) -> PatternDefinition:
        born = self.pattern.born if options.born is None else options.born
        reasons = self.pattern.reasons or options.reasons is not None
        return replace(self, pattern=replace(self.pattern, born=born, reasons=reasons))


def choices(pattern: Pattern, timer: bool) -> list[Choice]:
    """All ways to split a definition: the classes of equated attributes that every event it looks at has.

    A Timer (terminator) has no attributes: it goes to every part; then the role that brings in the key must be bound by
    ``each``, as another policy would choose among all keys.
    """
    types = [s.type for s in pattern.role_sources]
    selections = [s for s in pattern.steps if isinstance(s, Select)]
    events: list[tuple[str, tuple[KeyPart, ...]]] = [(types[0], ())]
    events += [(s.source.type, s.keys) for s in selections]
    events += [(s.source.type, s.keys) for s in pattern.steps if isinstance(s, Absent)]
    events += [(n.source.type, n.keys) for n in _windowed(pattern)]
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def find(a: tuple[int, str]) -> tuple[int, str]:
        parent.setdefault(a, a)
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for number, (_, keys) in enumerate(events):
        for k in keys:
            a, b = find((number, k.own)), find((k.role, k.attribute))
            parent[max(a, b)] = min(a, b)
    for f in pattern.terminator.filters if len(events) == 1 else ():
        for n in f.walk():
            if isinstance(n, Ref):
                find((0, n.name))
    if len(events) == 1:
        # a rule over single events can be split by any attribute it hands on
        for _, e, _ in pattern.outputs:
            if isinstance(e, Ref) and e.name != "time":
                find((0, e.name))
    classes: dict[tuple[int, str], set[tuple[int, str]]] = defaultdict(set)
    for a in list(parent):
        classes[find(a)].add(a)
    carried: dict[tuple[int, str], list[str]] = defaultdict(list)
    for name, e, _ in pattern.outputs:
        if isinstance(e, Ref) and e.scope is not None:
            carried[int(e.scope), e.name].append(name)
    out = []
    needed = set(range(1 if timer else 0, len(events)))
    for members in classes.values():
        if {n for n, _ in members} < needed:
            continue
        if timer and not _brought_in_by_each(members, events, selections):
            continue
        per_type: dict[str, set[str]] = {}
        for number in sorted(needed):
            own = {a for n, a in members if n == number}
            type = events[number][0]
            per_type[type] = per_type[type] & own if type in per_type else own
        if not per_type or not all(per_type.values()):
            continue
        passes = frozenset(name for m in members for name in carried.get(m, ()))
        out.append(Choice(tuple((t, tuple(sorted(a))) for t, a in sorted(per_type.items())), passes))
    return out


def _brought_in_by_each(
    members: set[tuple[int, str]], events: Sequence[tuple[str, tuple[KeyPart, ...]]], selections: Sequence[Select]
) -> bool:
    """Every event of the class but ``each`` selections is equated with an earlier one."""
    for number in {n for n, _ in members}:
        linked = any((number, k.own) in members for k in events[number][1])
        chosen_freely = 1 <= number <= len(selections) and selections[number - 1].policy == "each"
        if not linked and not chosen_freely:
            return False
    # two free `each` roles would pair different keys
    free = [n for n in {n for n, _ in members} if not any((n, k.own) in members for k in events[n][1])]
    return len(free) == 1


def _windowed(pattern: Pattern) -> list[Windowed]:
    return [n for e in pattern.expressions for n in e.walk() if isinstance(n, Windowed)]
