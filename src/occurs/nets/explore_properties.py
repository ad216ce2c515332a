"""What a state space says of its net: components, bounds, home and dead markings, liveness, fairness.

(epl-and-nets.md, section 4B, Analysis; the properties are those of CPN Tools' report.)  Of a partial space only what
has been seen is known: bounds are bounds so far, and nothing is said of what may lie beyond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from occurs.nets.colours import Value
from occurs.nets.explore import Space

#: node -> the nodes its arcs lead to
Successors = Sequence[Sequence[int]]


def components(successors: Successors) -> list[list[int]]:
    """The strongly connected components (Tarjan 1972), each before those that lead to it; nodes from 0.

    >>> components([[1], [2], [1], [0, 3]])
    [[2, 1], [0], [3]]
    """
    index = [-1] * len(successors)
    low = [0] * len(successors)
    on_stack = [False] * len(successors)
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(len(successors)):
        if index[root] >= 0:
            continue
        # (node, how many of its successors have been looked at): recursion would be too deep for Python
        work = [(root, 0)]
        while work:
            node, seen = work.pop()
            if seen == 0:
                index[node] = low[node] = count
                count += 1
                stack.append(node)
                on_stack[node] = True
            for k in range(seen, len(successors[node])):
                other = successors[node][k]
                if index[other] < 0:
                    work += [(node, k + 1), (other, 0)]
                    break
                if on_stack[other]:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    component = [stack.pop()]
                    while component[-1] != node:
                        component.append(stack.pop())
                    for member in component:
                        on_stack[member] = False
                    found.append(component)
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
    return found


@dataclass(frozen=True)
class Bounds:
    """Best bounds of one holder: of the number of tokens, and of every value by itself."""

    upper: int
    lower: int
    upper_tokens: dict[Value, int]
    lower_tokens: dict[Value, int]


@dataclass(frozen=True)
class Fairness:
    """Names of transitions, each in one list only.

    In every infinite run an *impartial* one fires infinitely often; a *fair* one does if it is enabled infinitely
    often; a *just* one if it is enabled from some point on.
    """

    impartial: list[str]
    fair: list[str]
    just: list[str]
    none: list[str]


class Properties:
    """What is known of a space; nodes from 0."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.transitions = list(space.net.transitions)

    @cached_property
    def successors(self) -> list[list[int]]:
        return _successors(len(self.space.nodes), ((s.source, s.target) for s in self.space.steps))

    @cached_property
    def components(self) -> list[list[int]]:
        return components(self.successors)

    @cached_property
    def component_of(self) -> list[int]:
        of = [0] * len(self.space.nodes)
        for k, component in enumerate(self.components):
            for node in component:
                of[node] = k
        return of

    @property
    def arcs_between(self) -> int:
        """How many arcs lead from one component to another."""
        of = self.component_of
        return sum(of[s.source] != of[s.target] for s in self.space.steps)

    @cached_property
    def bounds(self) -> dict[str, Bounds]:
        """By holder."""
        found = {}
        for place, holder in enumerate(self.space.holders):
            contents = [self.space.contents[c] for c in {node[place] for node in self.space.nodes}]
            upper: dict[Value, int] = {}
            lower = dict(contents[0])
            for content in contents:
                for value, n in content.items():
                    upper[value] = max(n, upper.get(value, 0))
                lower = {v: least for v, n in lower.items() if (least := min(n, content[v]))}
            totals = [c.total() for c in contents]
            found[holder] = Bounds(max(totals), min(totals), upper, lower)
        return found

    @cached_property
    def terminal(self) -> list[list[int]]:
        """The components that nothing leads out of."""
        of, left = self.component_of, set()
        for s in self.space.steps:
            if of[s.source] != of[s.target]:
                left.add(of[s.source])
        return [c for k, c in enumerate(self.components) if k not in left]

    @property
    def home_markings(self) -> list[int] | None:
        """The nodes that can be reached from every node; None if the space is partial."""
        if not self.space.complete:
            return None
        return sorted(self.terminal[0]) if len(self.terminal) == 1 else []

    @cached_property
    def dead_markings(self) -> list[int]:
        """The nodes in which nothing is enabled (known also of a partial space)."""
        return [n for n in range(self.space.expanded) if not self.successors[n]]

    @property
    def dead_transitions(self) -> list[str]:
        """Those that never fire (in a partial space: have not fired so far)."""
        fired = {s.element[0] for s in self.space.steps}
        return [t for t in self.transitions if t not in fired]

    @property
    def live_transitions(self) -> list[str] | None:
        """Those that can fire again whatever has happened; None if the space is partial."""
        if not self.space.complete:
            return None
        inside: dict[int, set[str]] = {}
        for s in self.space.steps:
            inside.setdefault(self.component_of[s.source], set()).add(s.element[0])
        ends = [inside.get(self.component_of[c[0]], set()) for c in self.terminal]
        return [t for t in self.transitions if all(t in end for end in ends)]

    @cached_property
    def endless(self) -> bool:
        """Is there a cycle among the nodes known?"""
        return _cyclic(self.successors)

    @cached_property
    def fairness(self) -> Fairness | None:
        """None if there is no infinite run, or if the space is partial."""
        if not self.space.complete or not self.endless:
            return None
        found = Fairness([], [], [], [])
        for t in self.transitions:
            self._list_of(t, found).append(t)
        return found

    def _list_of(self, t: str, found: Fairness) -> list[str]:
        """Cycles without ``t`` tell: is there one, one that passes where t is enabled, one all of whose nodes do?"""
        enabled = {s.source for s in self.space.steps if s.element[0] == t}
        others = [(s.source, s.target) for s in self.space.steps if s.element[0] != t]
        without = _successors(len(self.space.nodes), others)
        cycles = [c for c in components(without) if len(c) > 1 or c[0] in without[c[0]]]
        if not cycles:
            return found.impartial
        if not any(enabled.intersection(c) for c in cycles):
            return found.fair
        within = _successors(len(self.space.nodes), [(a, b) for a, b in others if a in enabled])
        return found.none if _cyclic(within) else found.just


def _successors(size: int, arcs: Iterable[tuple[int, int]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(size)]
    for source, target in arcs:
        found[source].append(target)
    return found


def _cyclic(successors: Successors) -> bool:
    return any(len(c) > 1 or c[0] in successors[c[0]] for c in components(successors))
