"""A compiled definition as the plan sees it: facts that hold whatever its family and language are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from occurs.errors import Problem, Span
from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.blocks import Out
from occurs.operators.contract import Operator
from occurs.operators.timer import TimerSource


@dataclass(frozen=True)
class Node:
    """One definition: the type it defines, its terminator's types (``now``: seen at the same instant always) and the
    types it looks back at (seen at the same instant, or strictly before inside a recursive component)."""

    defines: str
    now: frozenset[str]
    back: frozenset[str]


@dataclass(frozen=True)
class Choice:
    """One way to split a definition by one attribute per type it reads; ``passes``: output attributes that carry it."""

    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    passes: frozenset[str]


@dataclass(frozen=True)
class Source:
    """Rows of ``type`` that pass ``filters``, which speak of the row alone (``Ref(None, attribute)``).

    ``strict``: only rows of strictly earlier instants (inside a recursive component).
    """

    type: str
    filters: tuple[Expr, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Side:
    """A side output: rows of ``type``, which users find under ``name``.  ``notices``: they report that an instance can
    fire no more; otherwise they are partial matches that a guard ended."""

    type: str
    name: str
    schema: Schema
    notices: bool = False


@dataclass(frozen=True)
class Options:
    """What is asked of definitions besides the rows that they derive.

    ``reasons``: ``because`` shall show the constituents with all their attributes; the schemas of all types (None: it
    is not asked for).  ``provisional``: rows that still hold are derived before they have ended.  ``notices``: rows
    that report what can be found no more.  ``instances``: at most so many partial matches at a time (None: the default
    of the family).  ``born``: rows after this tick only (None: all).  ``steps``: the search for a match of rows
    takes at most so many steps (None: the default).
    """

    reasons: Mapping[str, Schema] | None = None
    provisional: bool = False
    notices: bool = False
    instances: int | None = None
    born: int | None = None
    steps: int | None = None


@dataclass(frozen=True)
class Subscribed:
    """External or derived events of ``type`` that pass ``filter`` are reported."""

    type: str
    filter: Expr | None


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
    def sides(self) -> Sequence[Side]:
        """Its side outputs; one of them may be the type that it defines."""
        return ()

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

    def back(self, type: str) -> int:
        """How many ticks before what it finds the rows of a type may lie that it depends on, if it is not endless."""
        return self.reads[type]

    @property
    def delay(self) -> int | None:
        """Its events of an instant are known so many ticks later; None: that has no bound."""
        return 0

    @property
    def silent(self) -> frozenset[str] | None:
        """Types whose rows complete nothing: it derives rows only when a row of another type comes, or at the end of
        the history.  None: it may derive rows at any time, as the clock moves it."""
        return None

    @property
    def lasting(self) -> bool:
        """Does it derive intervals, whose rows are final when they have ended?"""
        return False

    @property
    def family(self) -> str:
        """Definitions of one family that read one another run in one operator, as they pass on more than rows; empty if
        it reads all others as rows."""
        return ""

    @property
    def warnings(self) -> Sequence[Problem]:
        """What its execution costs."""
        return ()

    @property
    def nulls(self) -> Mapping[str, frozenset[str]]:
        """Attributes of the types it reads: rows without a value of these are counted, as they match nothing."""
        return {}

    @property
    def coalesced(self) -> frozenset[str]:
        """Types of which it joins rows that overlap or touch and have the same values; they are counted."""
        return frozenset()

    @property
    def future(self) -> bool:
        """Does it look ahead, so that there may be notices of instances that can fire no more?"""
        return False

    @property
    def tells(self) -> bool:
        """May there be such notices as it is now?"""
        return False

    @property
    def begins(self) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        """The types whose rows make instances of it, with the columns that must not be null; None: it is not known."""
        return ()

    @property
    def stateful(self) -> bool:
        """Does it count what cannot be told from single rows, such as deletes of rows that a table does not have?"""
        return False

    @property
    def sequenced(self) -> frozenset[str]:
        """Types whose rows have to bring their sequence numbers."""
        return frozenset()

    @property
    def where(self) -> tuple[str | None, Span | None]:
        """The file and the place of its text, where these are known."""
        return None, None

    @property
    def kept(self) -> tuple[str, ...]:
        """What it keeps beside the rows that it reads, in words."""
        return ()

    @property
    def size(self) -> str:
        """How much it keeps beside the rows that it reads: ``constant``, ``bindings`` (for each combination of values),
        ``window`` (bounded by the windows of its text) or ``grows``."""
        return "constant"

    @property
    def lines(self) -> frozenset[str]:
        """The files whose lines it reads: they can only be read as a history."""
        return frozenset()

    @property
    def implied(self) -> Mapping[str, str]:
        """The types that it reads without naming them, each with what to write so that it reads others."""
        return {}

    @property
    def hint(self) -> tuple[int, str]:
        """How to write it so that it has a partition key.  The number ranks the hint: of definitions that run in one
        partition the hint with the smallest number is shown."""
        return 9, "compare one attribute of all that it reads for equality"

    @property
    def sources(self) -> Sequence[Source]:
        """Every place where it reads rows, with the conditions that rows must satisfy there to matter."""
        return [Source(t, ()) for t in self.reads]

    @property
    def offer(self) -> str:
        """Another form of it that can be partitioned, in words; empty if there is none."""
        return ""

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        """What its saved tables mean, as a value for :func:`occurs.model.canonical.canonical`: tables saved under one
        form must not be read under another.  ``schemas``: of the types that it reads.  None: it keeps rows only."""
        return None

    @abstractmethod
    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Operator:
        """What runs it over data of these schemas and this kind of time."""

    def timeouts(self, place: int) -> Definition | None:
        """The definition, at ``place``, of the partial matches that the guards of this one end; None: it has none."""
        return None

    def adapted(self, options: Options) -> Definition:
        """The same, as the options ask for it; options that do not concern it change nothing."""
        return self


@dataclass(frozen=True)
class Named(Definition):
    """A definition of one type, compiled as a whole.

    ``name``: the type it defines; ``at``: its place; ``definition``: its identity; ``splits``: the ways to split it;
    ``kept``: what it keeps, in words; ``costs``: what is to be said of it; ``since``: it sees rows after this tick
    only; ``file`` and ``span``: where it stands.
    """

    name: str
    at: int
    definition: str
    splits: tuple[Choice, ...] = field(default=(), kw_only=True)
    kept: tuple[str, ...] = field(default=(), kw_only=True)
    costs: tuple[Problem, ...] = field(default=(), kw_only=True)
    since: int | None = field(default=None, kw_only=True)
    file: str | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, kw_only=True, compare=False)

    @property
    def output(self) -> str:
        return self.name

    @property
    def where(self) -> tuple[str | None, Span | None]:
        return self.file, self.span

    @property
    def size(self) -> str:
        return "bindings" if self.kept else "constant"

    @property
    def place(self) -> int:
        return self.at

    @property
    def identity(self) -> str:
        return self.definition

    @property
    def node(self) -> Node:
        return Node(self.name, frozenset(self.reads), frozenset())

    @property
    def choices(self) -> tuple[Choice, ...]:
        return self.splits

    @property
    def born(self) -> int | None:
        return self.since

    @property
    def warnings(self) -> Sequence[Problem]:
        return self.costs

    def adapted(self, options: Options) -> Self:
        return self if options.born is None else replace(self, since=options.born)

    def out(self, schemas: Mapping[str, Schema]) -> Out:
        """Its output."""
        return Out(self.name, schemas[self.name], self.definition, self.at)

    def read_types(self, schemas: Mapping[str, Schema]) -> dict[str, list[tuple[str, str]]]:
        """The attributes of the types it reads."""
        return {t: [(n, at.value) for n, at in schemas.get(t, Schema())] for t in sorted(self.reads)}
