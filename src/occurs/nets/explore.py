"""The state space of a net: every marking that can be reached, every binding element that leads from one to another.

(epl-and-nets.md, section 4B, Analysis.)  The same answers as :func:`occurs.nets.firing.enabled` at every node, at less
cost: what stands on one place is kept once and called by a number, so a marking is a tuple of ints, and what a
transition can do is found once per contents of its input places.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, OccursError, Problem, UsageProblem
from occurs.model import graphs
from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding
from occurs.nets.firing import (
    Element,
    Plan,
    advanced,
    bindings,
    changes,
    fire,
    flows,
    later,
    number_of,
    plans,
    where,
    wrong_token,
)
from occurs.nets.net import Marking, Net
from occurs.nets.timing import Time, world

#: the number of what stands on every holder; of a net with time, the model time besides
Node = tuple[Any, ...]
#: what one binding does: holders with the number of a change; None if it puts what its place cannot hold
Effect = tuple[tuple[int, int], ...] | None
#: told now and then: nodes found, nodes expanded
Progress = Callable[[int, int], None]

DEFAULT_LIMIT = 100_000
_TELL_EVERY = 500


@dataclass(frozen=True, slots=True)
class Step:
    """An arc of a state space.

    Attributes:
        source: The number of the node in which the transition fires.
        element: The transition's name and the values of its variables.
        target: The number of the node that the firing leads to.
    """

    source: int
    element: Element
    target: int


@dataclass
class Space:
    """The state space of a net, or the part of it that was explored.

    Nodes are numbered from 0 (in reports from 1) in the order of a breadth-first search.

    Attributes:
        net: The net.
        steps: The arcs, ordered by source.
        found_by: For each node the arc by which the search reached it first; None for the initial node.
        expanded: The number of nodes, counted from the first, whose arcs are all known.
    """

    net: Net
    holders: tuple[str, ...]
    contents: list[Counter[Value]]
    nodes: list[Node] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    found_by: list[Step | None] = field(default_factory=list)
    expanded: int = 0

    @property
    def complete(self) -> bool:
        """Whether all reachable markings are known."""
        return self.expanded == len(self.nodes)

    def marking(self, node: int) -> Marking:
        """Return the marking of a node."""
        contents = self.nodes[node][: len(self.holders)]
        tokens = {h: Counter(self.contents[c]) for h, c in zip(self.holders, contents, strict=True)}
        return Marking(tokens, self.time(node))

    def time(self, node: int) -> Time:
        """Return the model time of a node; 0 in nets without time."""
        found: Time = self.nodes[node][-1] if self.net.timed else 0
        return found

    def path(self, node: int) -> list[Element]:
        """Return the firings of a shortest run from the initial marking to ``node``."""
        found: list[Element] = []
        step = self.found_by[node]
        while step is not None:
            found.append(step.element)
            step = self.found_by[step.source]
        return found[::-1]


def explore(
    net: Net, limit: int | None = DEFAULT_LIMIT, marking: Marking | None = None, progress: Progress | None = None
) -> Space:
    """Compute the state space of a net: all reachable markings and the firings between them.

    Args:
        net: The net.
        limit: The number of nodes at which the search stops; None for no limit.
        marking: The marking to start from; by default the initial marking of the net.
        progress: A function that is called from time to time with the numbers of known and of expanded nodes.

    Returns:
        The state space.  It is partial (``complete`` is False) if the search reached the limit or the memory was full.
        It then has at most as many nodes beyond the limit as the last expanded node has successors.

    Raises:
        UsageProblem: The limit is below 1.
        DefinitionProblem: A transition draws random values, so that its effect is not known.
    """
    if limit is not None and limit < 1:
        raise UsageProblem.of("bad-bound", f"the limit of states is {limit}, but must be at least 1")
    for plan in plans(net):
        if plan.chance is not None:
            message = f"{where(net, plan.transition.name)} uses the random function `{plan.chance}`"
            hint = "a state space has no random values: simulate the net, or use a variable of a finite colour"
            raise DefinitionProblem(Problem("unsupported", message, hint=hint))
    return _Explorer(net).explore(net.initial if marking is None else marking, limit, progress)


class _Explorer:
    def __init__(self, net: Net) -> None:
        self.net = net
        self.holders = tuple(net.initial.tokens)
        self.place = {h: k for k, h in enumerate(self.holders)}
        #: the number of contents and of changes by their hashable form; and the other way round
        self.content_number: dict[frozenset[tuple[Value, int]], int] = {}
        self.contents: list[Counter[Value]] = []
        self.change_number: dict[frozenset[tuple[Value, int]], int] = {}
        self.changes: list[list[tuple[Value, int]]] = []
        self.changed: dict[tuple[int, int, int], int] = {}
        self.flows = {self.place[h] for h in flows(net)}
        levels = sorted({t.priority for t in net.transitions.values()})
        self.classes = [[_Local(self, p) for p in plans(net) if p.transition.priority == level] for level in levels]

    def explore(self, marking: Marking, limit: int | None, progress: Progress | None) -> Space:
        space = Space(self.net, self.holders, self.contents)
        first: Node = tuple(
            self.number(Counter({v: n for v, n in marking.tokens[h].items() if n})) for h in self.holders
        )
        first = (*first, marking.time) if self.net.timed else first
        numbers = {first: 0}
        space.nodes.append(first)
        space.found_by.append(None)
        waiting = deque([first])
        while waiting and (limit is None or len(space.nodes) < limit):
            try:
                self._expand(space, waiting.popleft(), numbers, waiting)
                if progress is not None and space.expanded % _TELL_EVERY == 0:
                    progress(len(space.nodes), space.expanded)
            except MemoryError:
                # what has been found so far is worth a report
                break
        return space

    def _expand(self, space: Space, node: Node, numbers: dict[Node, int], waiting: deque[Node]) -> None:
        """Finds the arcs of the first node that has none yet."""
        source, steps = space.expanded, list[Step]()
        node, found = self.ready(node)
        for element, effect in found:
            after = self.after(node, effect)
            if after is None:
                raise self._refused(space, source, element)
            target = numbers.setdefault(after, len(space.nodes))
            step = Step(source, element, target)
            steps.append(step)
            if target == len(space.nodes):
                space.nodes.append(after)
                space.found_by.append(step)
                waiting.append(after)
        space.steps += steps
        space.expanded += 1

    def ready(self, node: Node) -> tuple[Node, list[tuple[Element, Effect]]]:
        """The node at the time at which something is enabled, and what is."""
        found = self.enabled(node)
        if found or not self.net.timed:
            return node, found
        tokens = [(h, self.contents[node[self.place[h]]]) for h in self.net.timed]
        for time in later(self.net, tokens, node[-1]):
            now = (*node[:-1], time)
            found = self.enabled(now)
            if found:
                return now, found
        return node, []

    def enabled(self, node: Node) -> list[tuple[Element, Effect]]:
        """What is enabled, in the order of :func:`occurs.nets.firing.enabled`."""
        for level in self.classes:
            found = [e for local in level for e in local.enabled(node)]
            if found:
                return found
        return []

    def after(self, node: Node, effect: Effect) -> Node | None:
        """The node that an effect leads to; None if it is refused."""
        if effect is None:
            return None
        new = list(node)
        for place, change in effect:
            key = (place, new[place], change)
            number = self.changed.get(key)
            if number is None:
                number = self.changed[key] = self._change(*key)
            if number < 0:
                return None
            new[place] = number
        return tuple(new)

    def _change(self, place: int, content: int, change: int) -> int:
        after = Counter(self.contents[content])
        for value, n in self.changes[change]:
            if n > 0 and place in self.flows and not _fresh(after, value, n):
                return -1
            after[value] += n
            if not after[value]:
                del after[value]
        return self.number(after)

    def number(self, content: Counter[Value]) -> int:
        key = frozenset(content.items())
        found = self.content_number.setdefault(key, len(self.contents))
        if found == len(self.contents):
            self.contents.append(content)
        return found

    def change(self, delta: Counter[Value]) -> int:
        key = frozenset((v, n) for v, n in delta.items() if n)
        found = self.change_number.setdefault(key, len(self.changes))
        if found == len(self.changes):
            # what is taken goes first: its number may be given back
            self.changes.append(sorted(key, key=itemgetter(1)))
        return found

    def _refused(self, space: Space, source: int, element: Element) -> OccursError:
        """Firing says what is wrong."""
        try:
            marking = space.marking(source)
            fire(self.net, (advanced(self.net, marking) or marking) if self.net.timed else marking, element)
        except OccursError as problem:
            return problem
        raise AssertionError(f"exploration rejects an element that can fire: {element}")


def _fresh(content: Counter[Value], value: Value, n: int) -> bool:
    return n == 1 and all(number_of(v) != number_of(value) for v in content)


class _Local:
    """One transition: its bindings once per contents of its input places, the effect of each once."""

    def __init__(self, work: _Explorer, plan: Plan) -> None:
        self.work, self.plan = work, plan
        self.wanted = plan.wanted
        self.places = tuple(work.place[t.holder] for t in self.wanted)
        #: whether the time matters to what is enabled, and to what it does
        self.timed = bool(work.net.timed)
        self.known: dict[Any, list[tuple[Element, Effect]]] = {}
        self.effects: dict[tuple[Value, ...], Effect] = {}
        #: of each token taken: by contents, those that fit
        self.pools: list[dict[int, Counter[Value]]] = [{} for _ in plan.takings]
        inputs = [*dict.fromkeys(self.places), *([-1] if self.timed else [])]
        self.key: Callable[[Node], Any] = itemgetter(*inputs) if inputs else lambda node: None

    def enabled(self, node: Node) -> list[tuple[Element, Effect]]:
        key = self.key(node)
        found = self.known.get(key)
        if found is None:
            name = self.plan.transition.name
            now = node[-1] if self.timed else 0
            pools = [self._pool(k, node[p], now) for k, p in enumerate(self.places)]
            with world(now):
                found = self.known[key] = [((name, b), self._effect(b, node, now)) for b in bindings(self.plan, pools)]
        return found

    def _pool(self, k: int, content: int, now: Time) -> Counter[Value]:
        if k >= len(self.pools) or self.wanted[k].holder in self.work.net.timed:
            return self.plan.pool(self.wanted[k], self.work.contents[content], now)
        found = self.pools[k].get(content)
        if found is None:
            fits = self.plan.takings[k].fits
            found = Counter({v: n for v, n in self.work.contents[content].items() if fits(v)})
            self.pools[k][content] = found
        return found

    def _effect(self, binding: Binding, node: Node, now: Time) -> Effect:
        if self.timed:  # what is taken depends on the times of the tokens
            return self._found(binding, node, now)
        # a binding has its variables in the order of the plan, so the values are enough
        key = tuple(binding.values())
        if key not in self.effects:
            self.effects[key] = self._found(binding, node, now)
        return self.effects[key]

    def _found(self, binding: Binding, node: Node, now: Time) -> Effect:
        work = self.work
        tokens = {h: work.contents[node[work.place[h]]] for h in work.net.timed}
        deltas: dict[int, Counter[Value]] = {}
        try:
            taken, given = changes(work.net, self.plan, binding, tokens, now)
        except InputProblem:
            return None  # firing says what is wrong, with the path to it
        for holder, token in taken:
            deltas.setdefault(work.place[holder], Counter())[token] -= 1
        for arc, holder, token in given:
            if wrong_token(work.net, arc, token) is not None:
                return None
            deltas.setdefault(work.place[holder], Counter())[token] += 1
        return tuple((place, work.change(delta)) for place, delta in deltas.items() if any(delta.values()))


# --- what a state space says of its net -------------------------------------------------------------------------------
# The properties are those of CPN Tools' report.  Of a partial space only what has been seen is known: bounds are bounds
# so far, and nothing is said of what may lie beyond.


#: node -> the nodes its arcs lead to
Successors = Sequence[Sequence[int]]


def components(successors: Successors) -> list[list[int]]:
    """The strongly connected components, each before those that lead to it; nodes from 0.

    >>> components([[1], [2], [1], [0, 3]])
    [[1, 2], [0], [3]]
    """
    number = graphs.components(successors)
    found: list[list[int]] = [[] for _ in range(max(number, default=-1) + 1)]
    for node, k in enumerate(number):
        found[k].append(node)
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
