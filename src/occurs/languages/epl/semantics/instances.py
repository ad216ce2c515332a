"""The state-node semantics of EPL's patterns: a tree of operator instances (epl-and-nets.md section 4A).

An instance is started with a binding, reports **true(binding, over)** any number of times and at most once **false**,
and can be quit from above.  A binding maps the names of filters to an event, or to several below a repetition; what is
not bound is not in it.

Readings where the specification is silent (those of Esper, unless said otherwise):

- ``or``, ``and``, ``until``, guards: a false of an operand is a false of ``until`` (of either operand), of ``within``
  and of ``while``.
- The results of one cross product of ``and`` go up one by one, operands from left to right, the leftmost varying
  slowest, each operand's in order of arrival; only the last is over, and if somebody above quits the ``and`` meanwhile,
  the rest is not reported.
- Below ``until`` and ``[n]`` every event of a tag is appended to the tag's list, nested lists element by element; a
  repetition does not leave anything for a tag that was not bound (an ``or`` branch not taken).  Repeated operands start
  with the binding of the repetition.
- ``every-distinct`` has one set of keys per instance of it; null is a key like others, 1 and 1.0 are one key.
- A guard is started before its operand, so that its end comes before timers of the operand due at the same time.
- What a guard ends (`partial`): of every waiting filter or timer below it what it was started with, of ``until`` what
  it has collected, of ``and`` what had to wait for other operands that are no ``not``; nothing of what is below a
  ``not`` or the end of an ``until``.
- Discarding also reaches an ``until`` that has collected an event of a match; it goes from the root down, and what is
  started by it is not looked at.  Each timer instant counts as an event of its own here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from occurs.languages.epl import syntax
from occurs.model.occurrence import Occurrence

if TYPE_CHECKING:
    from occurs.languages.epl.semantics.machine import Machine


Bound = Occurrence | tuple[Occurrence, ...]
Binding = Mapping[str, Bound]

#: filters are informed in this order: below a ``not``, below the end of an ``until``, all others
BELOW_NOT, BELOW_END, OTHER = 0, 1, 2


def events_of(binding: Binding) -> Iterable[Occurrence]:
    """All events of a binding."""
    for bound in binding.values():
        yield from bound if isinstance(bound, tuple) else (bound,)


class Parent(ABC):
    """Whatever hears reports: an instance, or what holds the root."""

    @abstractmethod
    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        """An instance below is true; ``over``: it ends with this report."""

    @abstractmethod
    def child_false(self, child: Instance) -> None:
        """An instance below has ended without a result."""


class Instance(ABC):
    """An operator instance; ``group`` is the place of its filters in the order inside one event."""

    def __init__(self, machine: Machine, parent: Parent, pattern: Any, binding: Binding, group: int) -> None:
        self.machine, self.parent, self.pattern, self.group = machine, parent, pattern, group
        self.binding = binding
        self.number = machine.next_number()
        self.live = True
        self.children: list[Instance] = []

    @abstractmethod
    def start(self) -> None:
        """What is done once, when it has its place below its parent."""

    @abstractmethod
    def partial(self) -> Binding:
        """What it knows of a match that is not complete; empty if only those below it know."""

    def true(self, binding: Binding, over: bool) -> None:
        if over:
            self.quit()
        self.parent.child_true(self, binding, over)

    def false(self) -> None:
        self.quit()
        self.parent.child_false(self)

    def quit(self) -> None:
        self.live = False
        for child in self.children:
            child.quit()
        self.children = []

    def has(self, events: set[int]) -> bool:
        """Does the binding it was started with, or what it has stored, contain one of these events?"""
        return any(id(e) in events for e in events_of(self.binding))

    def discard(self, events: set[int]) -> None:
        if self.has(events):
            self.false()
            return
        for child in list(self.children):
            if child.live:
                child.discard(events)


class Leaf(Instance):
    """An instance that waits for an event or an instant."""

    def partial(self) -> Binding:
        return self.binding


class Branch(Instance, Parent):
    """An instance with others below it."""

    def begin(self, pattern: syntax.Pattern, binding: Binding, group: int | None = None) -> Instance:
        """Starts an instance below this one."""
        child = self.added(pattern, binding, group)
        child.start()
        return child

    def added(self, pattern: syntax.Pattern, binding: Binding, group: int | None = None) -> Instance:
        """An instance below this one, not started yet."""
        child = KINDS[type(pattern)](self.machine, self, pattern, binding, self.group if group is None else group)
        self.children.append(child)
        return child

    def drop(self, child: Instance) -> None:
        self.children = [c for c in self.children if c is not child]

    def partial(self) -> Binding:
        return {}


#: the instances of every kind of pattern
KINDS: dict[type, Callable[..., Instance]] = {}
_Kind = TypeVar("_Kind", bound=type[Instance])


def instance_of(*patterns: type[syntax.Pattern]) -> Callable[[_Kind], _Kind]:
    """Enters a class of instances for kinds of patterns."""

    def enter(kind: _Kind) -> _Kind:
        KINDS.update(dict.fromkeys(patterns, kind))
        return kind

    return enter


# --- operators --------------------------------------------------------------------------------------------------------


@instance_of(syntax.Filter)
class Filter(Leaf):
    """``tag=Type(conditions)``; directly under ``every`` or ``every-distinct`` it stays."""

    pattern: syntax.Filter

    def start(self) -> None:
        self.machine.filters.append(self)

    def accepts(self, event: Occurrence) -> bool:
        return self.machine.accepts(self.pattern, self.binding, event)

    def inform(self, event: Occurrence) -> None:
        assert self.pattern.tag is not None
        self.true({**self.binding, self.pattern.tag.text: event}, over=not isinstance(self.parent, Every))


class Timer(Instance):
    """Whatever has something to do at an instant."""

    due: int | None = None

    def start(self) -> None:
        if self.due is not None:
            self.machine.timers.append(self)

    @abstractmethod
    def fire(self) -> None:
        """What it does then."""


class Wait(Timer, Leaf):
    """Whatever is true at an instant."""

    def fire(self) -> None:
        self.true(self.binding, over=True)


@instance_of(syntax.Interval)
class Interval(Wait):
    """``timer:interval(duration)``."""

    def start(self) -> None:
        if self.pattern.duration.amount == 0:
            self.fire()
            return
        self.due = self.machine.later(self.pattern.duration, self.binding)
        super().start()


@instance_of(syntax.At)
class At(Wait):
    """``timer:at(..)``."""

    def start(self) -> None:
        self.due = self.machine.next_instant(self.pattern)
        super().start()


@instance_of(syntax.Schedule)
class Schedule(Wait):
    """``timer:schedule(..)``; directly under ``every`` or ``every-distinct`` it stays."""

    pattern: syntax.Schedule

    def start(self) -> None:
        self.instants = self.machine.instants(self.pattern, self.machine.now)
        self.due = next(self.instants, None)
        super().start()

    def fire(self) -> None:
        self.due = next(self.instants, None)
        self.true(self.binding, over=not isinstance(self.parent, Every))


@instance_of(syntax.Within)
class Within(Timer, Branch):
    """``p where timer:within(duration)``, ``timer:withinmax(duration, count)``."""

    pattern: syntax.Within

    def start(self) -> None:
        self.due = self.machine.later(self.pattern.duration, self.binding)
        self.passed = 0
        super().start()
        self.begin(self.pattern.operand, self.binding)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if self.passed == self.pattern.count:
            self.false()
            return
        self.passed += 1
        self.true(binding, over)

    def child_false(self, child: Instance) -> None:
        self.false()

    def fire(self) -> None:
        self.machine.timed_out(self)
        self.false()


@instance_of(syntax.While)
class While(Branch):
    """``p while (condition)``."""

    def start(self) -> None:
        self.begin(self.pattern.operand, self.binding)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if self.machine.holds(self.pattern.condition, binding):
            self.true(binding, over)
        else:
            self.false()

    def child_false(self, child: Instance) -> None:
        self.false()


@instance_of(syntax.Every)
class Every(Branch):
    """``every p``."""

    def start(self) -> None:
        self.begin(self.pattern.operand, self.binding)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if over:
            self.drop(child)
        if not isinstance(child, Filter | Schedule):
            self.begin(self.pattern.operand, self.binding)
        if self.passes(binding):
            self.true(binding, over=False)

    def child_false(self, child: Instance) -> None:
        self.drop(child)
        self.begin(self.pattern.operand, self.binding)

    def passes(self, binding: Binding) -> bool:
        return True


@instance_of(syntax.EveryDistinct)
class EveryDistinct(Every):
    """``every-distinct(keys, expiry) p``."""

    def start(self) -> None:
        #: when each key was accepted
        self.accepted: dict[tuple[Any, ...], int] = {}
        super().start()

    def child_false(self, child: Instance) -> None:
        self.accepted.clear()
        super().child_false(child)

    def passes(self, binding: Binding) -> bool:
        key = tuple(self.machine.key(k, binding) for k in self.pattern.keys)
        now, expiry = self.machine.now, self.pattern.expiry
        if key in self.accepted and (expiry is None or now < self.machine.later_than(self.accepted[key], expiry)):
            return False
        self.accepted[key] = now
        return True


@instance_of(syntax.Not)
class Not(Branch):
    """``not p``: true at once; false when p is true and over."""

    def start(self) -> None:
        self.begin(self.pattern.operand, self.binding, BELOW_NOT)
        self.true(self.binding, over=False)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if over:
            self.false()

    def child_false(self, child: Instance) -> None:
        self.drop(child)


@instance_of(syntax.And)
class And(Branch):
    """``p and q ..``."""

    def start(self) -> None:
        self.operands: list[Instance] = []
        #: what each operand has reported, in order
        self.stored: list[list[Binding]] = [[] for _ in self.pattern.operands]
        #: in the order in which it came, what had to wait for others
        self.waiting: list[Binding] = []
        for p in self.pattern.operands:
            if self.live:
                self.operands.append(self.added(p, self.binding))
                self.operands[-1].start()

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if over:
            self.drop(child)
        at = next(i for i, c in enumerate(self.operands) if c is child)
        self.stored[at].append(binding)
        if any(c is not child and not isinstance(c, Not) for c in self.children):
            self.waiting.append(binding)
        if not all(self.stored):
            return
        lists = [[binding] if i == at else stored for i, stored in enumerate(self.stored)]
        merged = [{k: v for one in choice for k, v in one.items()} for choice in product(*lists)]
        # over when all operands that are no ``not`` are
        ends = all(isinstance(c, Not) for c in self.children)
        for i, one in enumerate(merged):
            if self.live:
                self.true(one, over=ends and i == len(merged) - 1)

    def child_false(self, child: Instance) -> None:
        self.false()

    def partial(self) -> Binding:
        """All that had to wait: of several events of one tag the latest, of several lists all their events."""
        out = dict(self.binding) if self.waiting else {}
        for tag, bound in ((t, b) for one in self.waiting for t, b in one.items() if t not in self.binding):
            before = out.get(tag, ())
            out[tag] = (*before, *bound) if isinstance(bound, tuple) and isinstance(before, tuple) else bound
        return out

    def has(self, events: set[int]) -> bool:
        stored = (e for some in self.stored for one in some for e in events_of(one))
        return super().has(events) or any(id(e) in events for e in stored)


@instance_of(syntax.Or)
class Or(Branch):
    """``p or q ..``."""

    def start(self) -> None:
        for p in self.pattern.operands:
            # one that is true at once may end it
            if self.live:
                self.begin(p, self.binding)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        self.true(binding, over)

    def child_false(self, child: Instance) -> None:
        self.drop(child)
        if not self.children:
            self.false()


@instance_of(syntax.Followed)
class Followed(Branch):
    """``p -> q -[k]> r ..``."""

    def start(self) -> None:
        #: the step that each live instance below is of
        self.step: dict[int, int] = {}
        self.enter(0, self.binding)

    def enter(self, step: int, binding: Binding) -> None:
        p = self.pattern.operands[step]
        child = self.added(p, binding)
        self.step[id(child)] = step
        child.start()

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        step = self.step[id(child)]
        if over:
            self.drop(child)
        if step == len(self.pattern.operands) - 1:
            self.true(binding, over=not self.children)
            return
        limit = self.pattern.limits[step]
        waiting = sum(self.step[id(c)] == step + 1 for c in self.children)
        if limit is None or waiting < limit:
            self.enter(step + 1, binding)

    def child_false(self, child: Instance) -> None:
        self.drop(child)
        if not self.children:
            self.false()


@instance_of(syntax.Until, syntax.Repeat)
class Until(Branch):
    """``[low:high] p until q``, and ``[n] p``."""

    def start(self) -> None:
        self.low, self.high = self.machine.repetitions(self.pattern, self.binding)
        self.end: Instance | None = None
        if isinstance(self.pattern, syntax.Until):
            self.end = self.added(self.pattern.end, self.binding, min(self.group, BELOW_END))
        self.exact = self.high is not None and self.high == self.low
        self.count = 0
        self.lists: dict[str, tuple[Occurrence, ...]] = {}
        if self.end is not None:
            # before p, so that an event that fits both ends the loop
            self.end.start()
        if self.live:
            self.begin(self.pattern.operand, self.binding)

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        if child is self.end:
            if self.count < self.low:
                self.false()
            else:
                self.true({**binding, **self.lists}, over=True)
            return
        self.count += 1
        for name, bound in binding.items():
            if name not in self.binding:
                more = bound if isinstance(bound, tuple) else (bound,)
                self.lists[name] = (*self.lists.get(name, ()), *more)
        if over:
            self.drop(child)
        if self.count == self.high:
            if self.exact:
                self.true({**self.binding, **self.lists}, over=True)
                return
            if not over:
                child.quit()
                self.drop(child)
        elif over:
            self.begin(self.pattern.operand, self.binding)

    def child_false(self, child: Instance) -> None:
        self.false()

    def partial(self) -> Binding:
        return {**self.binding, **self.lists} if self.lists else {}

    def has(self, events: set[int]) -> bool:
        return super().has(events) or any(id(e) in events for e in events_of(self.lists))
