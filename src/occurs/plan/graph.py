"""The graph of a program: who reads whom, which definitions feed themselves, the evaluation order (common.md, 2)."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """One definition: the type it defines, its terminator's types (``now``: seen at the same instant always) and the
    types it looks back at (seen at the same instant, or strictly before inside a recursive component)."""

    defines: str
    now: frozenset[str]
    back: frozenset[str]


@dataclass(frozen=True)
class Order:
    """``places[i]``: position of definition i in the evaluation order.  ``strict[i]``: the types that it sees strictly
    before (its recursive component's), empty if it is not recursive.  ``levels``: definitions that can be evaluated
    together, level after level; a recursive component is one entry."""

    places: tuple[int, ...]
    strict: tuple[frozenset[str], ...]
    levels: tuple[tuple[tuple[int, ...], ...], ...]


def order(nodes: Sequence[Node]) -> Order:
    """Topological, ties by place in the program.  The caller has refused cycles through ``now`` alone."""
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


def depths(behind: Sequence[Collection[int]]) -> list[int]:
    """Per node one more than the deepest of those that it is ``behind`` (0: it is behind none); there is no circle.  An
    explicit stack, as chains can be long."""
    out = [-1] * len(behind)
    for node in range(len(behind)):
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [b for b in behind[top] if out[b] < 0]
            stack += missing
            if not missing:
                out[stack.pop()] = 1 + max((out[b] for b in behind[top]), default=-1)
    return out


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
    assert at == len(nodes), "a cycle of references within one instant was not rejected"
    return tuple(places)


def cyclic(made_of: Mapping[str, Iterable[str]]) -> set[str]:
    """The types that are made of themselves, at once or through others; what is no key is made of nothing."""
    number = {t: i for i, t in enumerate(made_of)}
    feeds = [[number[t] for t in made if t in number] for made in made_of.values()]
    component = components(feeds)
    size = Counter(component)
    return {t for t, i in number.items() if size[component[i]] > 1 or i in feeds[i]}


def components(feeds: Sequence[Sequence[int]]) -> list[int]:
    """The number of the strongly connected component of every node (Tarjan's algorithm without recursion)."""
    n = len(feeds)
    index = [-1] * n
    low = [0] * n
    on_stack = [False] * n
    component = [-1] * n
    stack: list[int] = []
    counter = 0
    found = 0
    for root in range(n):
        if index[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            v, at = work[-1]
            if at == 0:
                index[v] = low[v] = counter
                counter += 1
                stack.append(v)
                on_stack[v] = True
            descended = False
            for k in range(at, len(feeds[v])):
                w = feeds[v][k]
                if index[w] < 0:
                    work[-1] = (v, k + 1)
                    work.append((w, 0))
                    descended = True
                    break
                if on_stack[w]:
                    low[v] = min(low[v], index[w])
            if descended:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[v])
            if low[v] == index[v]:
                while True:
                    w = stack.pop()
                    on_stack[w] = False
                    component[w] = found
                    if w == v:
                        break
                found += 1
    return component
