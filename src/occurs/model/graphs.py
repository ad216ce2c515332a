"""Directed graphs: strongly connected components, cycles, levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence


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
