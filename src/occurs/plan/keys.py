"""Partition keys: attributes by which definitions can be split without changing their answer (common.md, section 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from occurs.expr.tree import Ref
from occurs.operators.aggregate import Windowed
from occurs.operators.pattern import Absent, Pattern, Select
from occurs.operators.windows import KeyPart


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
        passes = frozenset(
            name
            for name, e, _ in pattern.outputs
            if isinstance(e, Ref) and e.scope is not None and (int(e.scope), e.name) in members
        )
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
    columns: list[dict[str, str]] = []
    first = min(range(len(options)), key=lambda i: len(options[i]))
    order = [first, *(i for i in range(len(options)) if i != first)]
    for choice in options[first]:
        for start in _pick(choice, {}, outputs[first] if outputs[first] in read else None):
            mapping = _extend(start, order[1:], options, outputs, read)
            if mapping is not None and mapping not in columns:
                columns.append(mapping)
                break
    columns.sort(key=lambda m: sorted(m.items()))
    # one attribute may serve once per type
    chosen: list[dict[str, str]] = []
    for m in columns:
        if all(all(m[t] != c[t] for t in m) for c in chosen):
            chosen.append(m)
    if not chosen:
        return {}
    return {t: tuple(m[t] for m in chosen) for t in chosen[0]}


def _pick(choice: Choice, mapping: Mapping[str, str], output: str | None) -> list[dict[str, str]]:
    """Ways to take ``choice`` without contradicting ``mapping``."""
    ways: list[dict[str, str]] = [dict(mapping)]
    for type, attributes in choice.attributes:
        grown = []
        for way in ways:
            if type in way:
                grown += [way] if way[type] in attributes else []
            else:
                grown += [{**way, type: a} for a in attributes]
        ways = grown
    if output is not None:
        grown = []
        for way in ways:
            if output in way:
                grown += [way] if way[output] in choice.passes else []
            else:
                grown += [{**way, output: a} for a in sorted(choice.passes)]
        ways = grown
    return ways


def _extend(
    mapping: dict[str, str],
    rest: Sequence[int],
    options: Sequence[Sequence[Choice]],
    outputs: Sequence[str],
    read: set[str],
) -> dict[str, str] | None:
    """Take one choice of every further definition, those first that share a type with what is settled."""
    left = list(rest)
    while left:
        i = max(left, key=lambda i: len(_types(options[i], outputs[i]) & mapping.keys()))
        left.remove(i)
        output = outputs[i] if outputs[i] in read else None
        ways = [w for c in options[i] for w in _pick(c, mapping, output)]
        if not ways:
            return None
        mapping = ways[0]
    return mapping


def _types(found: Sequence[Choice], output: str) -> set[str]:
    return {output, *(t for c in found for t, _ in c.attributes)}
