"""Patterns event by event, as epl-and-nets.md, section 4A, describes their instances; slow, for tests only.

An event is a dict with ``type``, ``time`` and attributes.  Conditions are read from the trees by :func:`holds`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Node, Not, Within

Event = dict[str, Any]
Binding = dict[str, int]
Up = Callable[[Binding, bool], None]
Down = Callable[[], None]


def value(e: Expr, own: Event, bound: Callable[[str], Event]) -> Any:
    """Numbers, texts, sums and comparisons; null in, null out."""
    if isinstance(e, Literal):
        return e.value
    if isinstance(e, Ref):
        return (own if e.scope is None else bound(e.scope))[e.name]
    assert isinstance(e, Binary)
    a, b = value(e.left, own, bound), value(e.right, own, bound)
    if a is None or b is None:
        return None
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "=": lambda: a == b,
        "!=": lambda: a != b,
        "<": lambda: a < b,
        "<=": lambda: a <= b,
        ">": lambda: a > b,
    }[e.op]()


@dataclass
class Instance:
    """A started pattern; ``quit`` ends it from above."""

    on: bool = True
    children: list[Instance] = field(default_factory=list)

    def quit(self) -> None:
        self.on = False
        for c in self.children:
            c.quit()


@dataclass
class Oracle:
    """Runs one pattern over events in their total order."""

    events: list[Event]
    start: int
    until: int
    found: list[tuple[int, int | None, Binding]] = field(default_factory=list)

    def run(self, root: Node) -> list[tuple[int, int | None, Binding]]:
        """(time, number of the completing event or None, tag to number of event), in the order of emission."""
        self.now, self.at, self.count = self.start, None, 0
        self.waiting: list[tuple[bool, int, Atom, Binding, Instance, Up, bool]] = []
        self.timers: list[tuple[int, int, Instance, Callable[[], None]]] = []
        self.begin(root, {}, self.report, lambda: None)
        for number, event in enumerate(self.events):
            self.clock(event["time"])
            self.now, self.at = event["time"], number
            fit = [w for w in self.waiting if w[4].on and self.fits(w[2], event, w[3])]
            fit.sort(key=lambda w: (not w[0], w[1]))
            for below_not, _, atom, binding, instance, up, stays in fit:
                if instance.on:
                    if not stays:
                        instance.on = False
                    up(binding if below_not else {**binding, atom.tag: number}, not stays)
            self.waiting = [w for w in self.waiting if w[4].on]
        self.clock(self.until)
        order = list({t: None for m in self.found for t in m[2]}) and self.tags(root)
        late = len(self.events)
        self.found.sort(key=lambda m: (m[0], -1 if m[1] is None else m[1], [m[2].get(t, late) for t in order]))
        return self.found

    def tags(self, node: Node) -> list[str]:
        return [node.tag] if isinstance(node, Atom) else [t for c in node.children for t in self.tags(c)]

    def report(self, binding: Binding, over: bool) -> None:
        self.found.append((self.now, self.at, binding))

    def clock(self, time: int) -> None:
        while self.timers and self.timers[0][0] <= time:
            due, _, instance, fire = heapq.heappop(self.timers)
            if instance.on:
                self.now, self.at = due, None
                fire()

    def fits(self, atom: Atom, event: Event, binding: Binding) -> bool:
        if event["type"] not in atom.types:
            return False
        for attribute, tag, other in atom.equal:
            a, b = event[attribute], self.events[binding[tag]][other]
            if a is None or b is None or a != b:
                return False
        return all(value(c, event, lambda t: self.events[binding[t]]) is True for c in (*atom.own, *atom.others))

    def timer(self, ticks: int, instance: Instance, fire: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.timers, (self.now + ticks, self.count, instance, fire))

    def begin(
        self, node: Node, b: Binding, up: Up, down: Down, *, stays: bool = False, below_not: bool = False
    ) -> Instance:
        made = Instance()
        if isinstance(node, Atom):
            self.count += 1
            self.waiting.append((below_not, self.count, node, b, made, up, stays))
        elif isinstance(node, Interval):

            def over() -> None:
                made.on = False
                up(b, True)

            self.timer(node.ticks, made, over)
        elif isinstance(node, Within):
            self.within(node, b, up, down, made)
        elif isinstance(node, Every):
            self.every(node, b, up, made)
        elif isinstance(node, Followed):
            self.followed(node, b, up, down, made)
        elif isinstance(node, And):
            self.both(node, b, up, down, made)
        else:
            raise AssertionError(node)
        return made

    def within(self, node: Within, b: Binding, up: Up, down: Down, made: Instance) -> None:
        def passed(m: Binding, over: bool) -> None:
            if over:
                made.on = False
            up(m, over)

        def failed() -> None:
            made.on = False
            down()

        def ended() -> None:
            made.quit()
            down()

        self.timer(node.ticks, made, ended)
        made.children.append(self.begin(node.operand, b, passed, failed))

    def every(self, node: Every, b: Binding, up: Up, made: Instance) -> None:
        if isinstance(node.operand, Atom):
            made.children = [self.begin(node.operand, b, lambda m, over: up(m, False), lambda: None, stays=True)]
            return

        def again() -> None:
            made.children = [self.begin(node.operand, b, passed, again)]

        def passed(m: Binding, over: bool) -> None:
            if over:
                again()
            up(m, False)

        again()

    def followed(self, node: Followed, b: Binding, up: Up, down: Down, made: Instance) -> None:
        last = len(node.operands) - 1

        def enter(i: int, m: Binding) -> None:
            child: list[Instance] = []

            def passed(n: Binding, over: bool) -> None:
                if over and child:
                    made.children.remove(child[0])
                if i < last:
                    enter(i + 1, n)
                else:
                    gone = not made.children
                    made.on = made.on and not gone
                    up(n, gone)

            def failed() -> None:
                made.children.remove(child[0])
                if not made.children:
                    made.on = False
                    down()

            child.append(self.begin(node.operands[i], m, passed, failed))
            made.children.append(child[0])

        enter(0, b)

    def both(self, node: And, b: Binding, up: Up, down: Down, made: Instance) -> None:
        positive = [c for c in node.operands if not isinstance(c, Not)]
        stored: list[list[Binding]] = [[] for _ in positive]
        live = set(range(len(positive)))

        def failed() -> None:
            made.quit()
            down()

        for c in node.operands:
            if isinstance(c, Not):
                made.children.append(
                    self.begin(c.operand, b, lambda m, over: failed() if over else None, lambda: None, below_not=True)
                )
        for i, c in enumerate(positive):

            def passed(m: Binding, over: bool, i: int = i) -> None:
                stored[i].append(m)
                if over:
                    live.discard(i)
                sides = [[m] if j == i else s for j, s in enumerate(stored)]
                done = not live
                if done:
                    made.quit()
                for combination in product(*sides):
                    joint: Binding = {}
                    for part in combination:
                        joint |= part
                    up(joint, done)

            made.children.append(self.begin(c, b, passed, failed))
