"""What the plan knows of a compiled definition, whatever its language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from occurs.operators.pattern import Pattern
from occurs.operators.timer import TimerSource
from occurs.plan.graph import Node
from occurs.plan.keys import Choice, choices


@dataclass(frozen=True)
class Definition(ABC):
    """One compiled definition.

    ``reads``: every type it reads to the ticks of its past that the engine keeps for it; ``positional``: the types
    whose order within an instant matters to it; ``columns``: the attributes it needs of each type.
    """

    reads: Mapping[str, int]
    positional: frozenset[str]
    columns: Mapping[str, frozenset[str]]

    @property
    @abstractmethod
    def output(self) -> str:
        """The type it defines."""

    @property
    @abstractmethod
    def place(self) -> int:
        """Its place in the evaluation order of the program."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What it is found again by, whatever else a program contains."""

    @property
    @abstractmethod
    def node(self) -> Node:
        """What it reads, as the graph of the program sees it."""

    @property
    @abstractmethod
    def choices(self) -> tuple[Choice, ...]:
        """The ways to split it by an attribute of each type it reads."""

    @property
    def timer(self) -> TimerSource | None:
        """The timer it begins with, if any."""
        return None

    @property
    def born(self) -> int | None:
        """It sees rows after this tick only (None: all)."""
        return None

    @property
    @abstractmethod
    def endless(self) -> str:
        """Why its answer may depend on everything before, so that slices of time cannot find it; empty if not."""

    @property
    @abstractmethod
    def row_by_row(self) -> bool:
        """Does it look at one row only?"""

    @property
    def delay(self) -> int | None:
        """Its events of an instant are known so many ticks later; None: that has no bound."""
        return 0

    @abstractmethod
    def after(self, born: int) -> Definition:
        """The same, seeing rows after the tick ``born`` only."""


@dataclass(frozen=True)
class PatternDefinition(Definition):
    """A definition by a pattern of events (of one rule).  ``looks_back``: the types that it reads other than as its
    terminator."""

    pattern: Pattern
    looks_back: frozenset[str]
    begins: TimerSource | None = None

    @property
    def output(self) -> str:
        return self.pattern.rules[0].output

    @property
    def place(self) -> int:
        return self.pattern.rules[0].place

    @property
    def identity(self) -> str:
        return self.pattern.rules[0].definition

    @property
    def node(self) -> Node:
        return Node(self.output, frozenset({self.pattern.terminator.type}), self.looks_back)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(choices(self.pattern, self.timer is not None))

    @property
    def timer(self) -> TimerSource | None:
        return self.begins

    @property
    def born(self) -> int | None:
        return self.pattern.born

    @property
    def endless(self) -> str:
        if self.pattern.consuming or self.pattern.rules[0].recursive:
            return "a consuming or recursive rule depends on all that was found before"
        return ""

    @property
    def row_by_row(self) -> bool:
        return set(self.reads.values()) <= {0} and not self.timer and not self.looks_back

    def after(self, born: int) -> PatternDefinition:
        return replace(self, pattern=replace(self.pattern, born=born))
