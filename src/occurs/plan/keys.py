"""Partition keys: attributes by which definitions can be split without changing their answer (common.md, section 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

from occurs.operators.definition import Choice, Definition


def common_key(definitions: Sequence[Definition]) -> dict[str, tuple[str, ...]]:
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
