"""What only a whole program shows: cycles, and the order of computation (phenesthe.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush

from occurs.errors import Place
from occurs.languages.phenesthe import syntax
from occurs.languages.text import Text
from occurs.plan.graph import cyclic

Defined = tuple[Text, syntax.Definition]


def reads(definition: syntax.Definition) -> tuple[str, ...]:
    """The names of the phenomena and facts that a definition reads, in the order in which they stand."""
    parts = [definition.body, *([definition.where] if definition.where is not None else [])]
    atoms = [n for p in parts for n in p.walk() if isinstance(n, syntax.Atom)]
    return tuple(dict.fromkeys(a.name.text for a in (*atoms, *definition.measured)))


def check_cycles(definitions: Sequence[Defined], foreign: Mapping[str, Collection[str]]) -> None:
    """Report each definition that leads back to itself, once per cycle, at its first definition in the file.

    ``foreign``: what each type of another language reads.
    """
    edges: dict[str, Sequence[str]] = {name: tuple(sorted(read)) for name, read in foreign.items()}
    for _, definition in reversed(definitions):
        edges[definition.name.text] = reads(definition)
    first = {d.name.text: (s, d) for s, d in reversed(definitions)}
    told: set[str] = set()
    knotted = cyclic(edges)
    for source, definition in definitions:
        name = definition.name.text
        if name in told or name not in knotted:
            continue
        ring = _way_back(name, edges)
        if not ring or told & set(ring):
            continue
        told |= set(ring)
        places = tuple(
            Place(f"`{n}` is defined here", first[n][0].file, first[n][1].name.span) for n in ring[1:-1] if n in first
        )
        message = f"the definitions form a cycle: {' -> '.join(f'`{n}`' for n in ring)}"
        hint = "a definition cannot depend on itself: start from inputs and define each step"
        source.report("cycle", message, definition.name.span, hint, "error", places)


def _way_back(start: str, edges: Mapping[str, Sequence[str]]) -> list[str]:
    """A shortest way from a name to itself, each reads the next; empty if there is none."""
    came: dict[str, str] = {}
    waiting = [start]
    for name in waiting:
        for step in edges.get(name, ()):
            if step == start:
                ring = [start, name]
                while ring[-1] != start:
                    ring.append(came[ring[-1]])
                return ring[::-1]
            if step in edges and step not in came:
                came[step] = name
                waiting.append(step)
    return []


def in_order(definitions: Sequence[Defined]) -> list[Defined]:
    """The definitions, each behind those it reads; else as they stand.  Those of a cycle come last."""
    number = {d.name.text: i for i, (_, d) in reversed(list(enumerate(definitions)))}
    needs = [{number[n] for n in reads(d) if n in number} for _, d in definitions]
    readers: dict[int, list[int]] = {}
    for i, needed in enumerate(needs):
        for n in needed:
            readers.setdefault(n, []).append(i)
    done: list[int] = []
    ready = [i for i, needed in enumerate(needs) if not needed]
    while ready:
        at = heappop(ready)
        done.append(at)
        for i in readers.get(at, ()):
            needs[i].discard(at)
            if not needs[i]:
                heappush(ready, i)
    ordered = set(done)
    return [definitions[i] for i in [*done, *(i for i in range(len(definitions)) if i not in ordered)]]
