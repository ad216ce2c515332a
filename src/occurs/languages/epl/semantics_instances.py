"""What all operator instances of the state-node semantics share (epl-and-nets.md section 4A, Instances)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from occurs.languages.epl import syntax
from occurs.model.occurrence import Occurrence

if TYPE_CHECKING:
    from occurs.languages.epl.semantics_machine import Machine

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
        child = KINDS[type(pattern)](self.machine, self, pattern, binding, self.group if group is None else group)
        self.children.append(child)
        child.start()
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
