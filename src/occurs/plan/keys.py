"""Partition keys: attributes by which definitions can be split without changing their answer (common.md, section 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

from occurs.expr.tree import Ref
from occurs.operators.select.pattern import Absent, KeyPart, Pattern, Select, Windowed


@dataclass(frozen=True)
class Choice:
    """One way to split a definition by one attribute per type it reads; ``passes``: output attributes that carry it."""

    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    passes: frozenset[str]


class Splittable(Protocol):
    """What is asked of a definition here."""

    @property
    def output(self) -> str: ...

    @property
    def reads(self) -> Mapping[str, int]: ...

    @property
    def choices(self) -> tuple[Choice, ...]: ...


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


def common_key(definitions: Sequence[Splittable]) -> dict[str, tuple[str, ...]]:
    """The longest choice of attributes per type by which all of ``definitions`` can be split.

    Empty if there is none.  A type that is both defined and read must carry its key through the definition.
    """
    options: list[tuple[Choice, ...]] = []
    outputs: list[str] = []
    seen: set[tuple[object, ...]] = set()
    read = {t for d in definitions for t in d.reads}
    for d in definitions:
        found = d.choices
        output = d.output
        # thousands of rules, but few ways to split them
        name = (output if output in read else None, found)
        if name not in seen:
            seen.add(name)
            options.append(found)
            outputs.append(output)
    if not options or not all(options):
        return {}
    # definitions with shared types next to one another, so that one choice leads to the next
    columns: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    first = min(range(len(options)), key=lambda i: len(options[i]))
    linked = Linked([_types(found, output) for found, output in zip(options, outputs, strict=True)])
    for choice in options[first]:
        for start in _pick(choice, {}, outputs[first] if outputs[first] in read else None):
            mapping = _extend(start, first, linked, options, outputs, read)
            if mapping is not None and (name_of := tuple(sorted(mapping.items()))) not in columns:
                columns[name_of] = mapping
                break
    # one attribute may serve once per type
    chosen: list[dict[str, str]] = []
    used: set[tuple[str, str]] = set()
    for _, m in sorted(columns.items()):
        if used.isdisjoint(m.items()):
            used.update(m.items())
            chosen.append(m)
    if not chosen:
        return {}
    return {t: tuple(m[t] for m in chosen) for t in chosen[0]}


def _pick(choice: Choice, mapping: Mapping[str, str], output: str | None) -> list[dict[str, str]]:
    """Ways to take ``choice`` without contradicting ``mapping``: what each adds to it."""
    wanted = list(choice.attributes)
    if output is not None:
        wanted.append((output, tuple(sorted(choice.passes))))
    ways: list[dict[str, str]] = [{}]
    for type, attributes in wanted:
        grown = []
        for way in ways:
            settled = way.get(type, mapping.get(type))
            if settled is None:
                grown += [{**way, type: a} for a in attributes]
            elif settled in attributes:
                grown.append(way)
        ways = grown
    return ways


class Linked:
    """Definitions by the types that they have in common; ``types``: of each."""

    def __init__(self, types: Sequence[set[str]]):
        self.types = types
        self.having: dict[str, list[int]] = defaultdict(list)
        for i, own in enumerate(types):
            for t in own:
                self.having[t].append(i)

    def walk(self, first: int, settled: Sequence[str]) -> Iterator[int]:
        """All but ``first``, next always the one that has most of the ``settled`` types, which may become more
        meanwhile."""
        shared = [0] * len(self.types)
        waiting = [(0, i) for i in range(len(self.types))]
        done = {first}
        seen = 0
        while waiting:
            for t in settled[seen:]:
                for i in self.having.get(t, ()):
                    shared[i] -= 1
                    heappush(waiting, (shared[i], i))
            seen = len(settled)
            n, i = heappop(waiting)
            if i not in done and n == shared[i]:
                done.add(i)
                yield i


def _extend(
    start: Mapping[str, str],
    first: int,
    linked: Linked,
    options: Sequence[Sequence[Choice]],
    outputs: Sequence[str],
    read: set[str],
) -> dict[str, str] | None:
    """Take one choice of every further definition, those first that share a type with what is settled."""
    mapping, settled = dict(start), list(start)
    for i in linked.walk(first, settled):
        output = outputs[i] if outputs[i] in read else None
        added = next((w for c in options[i] for w in _pick(c, mapping, output)), None)
        if added is None:
            return None
        mapping.update(added)
        settled += added
    return mapping


def _types(found: Sequence[Choice], output: str) -> set[str]:
    return {output, *(t for c in found for t, _ in c.attributes)}
