"""The graph of a program: who reads whom, which definitions feed themselves, the evaluation order (common.md, 2)."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from occurs.errors import DefinitionProblem
from occurs.model.graphs import components, cyclic, depths
from occurs.operators.definition import Node


@dataclass(frozen=True)
class Order:
    """``places[i]``: position of definition i in the evaluation order.  ``strict[i]``: the types that it sees strictly
    before (its recursive component's), empty if it is not recursive.  ``levels``: definitions that can be evaluated
    together, level after level; a recursive component is one entry."""

    places: tuple[int, ...]
    strict: tuple[frozenset[str], ...]
    levels: tuple[tuple[tuple[int, ...], ...], ...]


def order(nodes: Sequence[Node]) -> Order:
    """Topological, ties by place in the program.

    Raises DefinitionProblem (``cycle``) for a cycle within one instant.
    """
    makers: dict[str, list[int]] = defaultdict(list)
    for i, n in enumerate(nodes):
        makers[n.defines].append(i)
    feeds = [sorted({j for t in n.now | n.back for j in makers.get(t, ())}) for n in nodes]
    component = components(feeds)
    members: dict[int, list[int]] = defaultdict(list)
    for i, c in enumerate(component):
        members[c].append(i)
    recursive = {c for c, m in members.items() if len(m) > 1 or m[0] in feeds[m[0]]}
    strict = tuple(
        frozenset(nodes[j].defines for j in members[component[i]]) if component[i] in recursive else frozenset()
        for i in range(len(nodes))
    )
    places = _places(nodes, makers, strict)
    # levels of components: everything that defines a type read is on a lower level
    behind: list[set[int]] = [set() for _ in members]
    for i, c in enumerate(component):
        behind[c] |= {component[j] for j in feeds[i]} - {c}
    by_level: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for c, depth in enumerate(depths(behind)):
        by_level[depth].append(tuple(sorted(members[c], key=lambda i: places[i])))
    levels = tuple(tuple(sorted(by_level[d], key=lambda u: places[u[0]])) for d in sorted(by_level))
    return Order(places, strict, levels)


def _places(nodes: Sequence[Node], makers: dict[str, list[int]], strict: Sequence[frozenset[str]]) -> tuple[int, ...]:
    waits = [{j for t in n.now | (n.back - s) for j in makers.get(t, ())} for n, s in zip(nodes, strict)]
    readers: dict[int, list[int]] = defaultdict(list)
    for i, w in enumerate(waits):
        for j in w:
            readers[j].append(i)
    left = [len(w) for w in waits]
    ready = [i for i, n in enumerate(left) if n == 0]
    heapq.heapify(ready)
    places = [-1] * len(nodes)
    at = 0
    while ready:
        i = heapq.heappop(ready)
        places[i] = at
        at += 1
        for j in readers[i]:
            left[j] -= 1
            if left[j] == 0:
                heapq.heappush(ready, j)
    if at < len(nodes):  # a language that rejects cycles itself has a place in the text to show
        made_of: dict[str, set[str]] = defaultdict(set)
        for n, s in zip(nodes, strict):
            made_of[n.defines] |= n.now | (n.back - s)
        names = ", ".join(f"`{type}`" for type in sorted(cyclic(made_of)))
        hint = "a definition must not read what it derives, directly or through others"
        raise DefinitionProblem.of("cycle", f"the definitions form a cycle: {names}", hint=hint)
    return tuple(places)
