"""The contract between an operator, the plan that builds it and the engine that runs it (operators.md, section 1).

A definition compiles to an :class:`Operator`.  The plan reads what the operator declares.  The engine calls
:meth:`Operator.advance` once per call with the new rows of every type that the operator reads.  The operator changes
its state and returns blocks of derived rows.  The engine does the rest for all operators: it computes labels and
``because``, brings rows into order, keeps the past of every type, and saves states.

This whole operator counts the rows of a type and emits the count after every row:

>>> from occurs.model.types import Type
>>> class Counter(Operator):
...     def advance(self, state, call):
...         (name,) = self.members
...         before = state.of[name]["n"].column("n")[0].as_py() if name in state.of else 0
...         rows = call.new(self.ports[0].type)
...         count = before + 1 + np.arange(len(rows))
...         state.of[name] = {"n": pa.table({"n": [before + len(rows)]})}
...         identity = lambda: Identity(parts=[rows.labels])
...         return Outcome([Block(self.outs, rows.time, {"n": Column(Type.INT, count, None)}, identity=identity)])
>>> out = Out("Counted", Schema((("n", Type.INT),)), "example/Counted", place=0)
>>> counter = Counter("example/Counted", (Port("Tick"),), (out,))
>>> state = counter.fresh()
>>> for times in ([1, 2, 3], [4, 5]):
...     rows = Rows("Tick", np.array(times), {})
...     call = Call({"Tick": rows}, since=times[0] - 1, frontier=times[-1], start=1, kind=TimeKind(False, None))
...     print(counter.advance(state, call).blocks[0].columns["n"].values)
[1 2 3]
[4 5]

Every operator obeys the laws of operators.md, section 5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, IntEnum
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.rows import Part, Rows
from occurs.operators.states import State, Tables


class Order(IntEnum):
    """The order of rows that an operator depends on: none among rows of one time and sequence number, the total order
    within the type, or the order within an instant over all types (``Rows.at``)."""

    ANY = 0
    TYPE = 1
    PLACE = 2


class Moves(Enum):
    """What makes an operator produce rows besides new rows: an instant of the clock without rows, a later frontier
    (which makes earlier rows final), or the end of the history."""

    CLOCK = "clock"
    FRONTIER = "frontier"
    END = "end"


@dataclass(frozen=True)
class Port:
    """A type that an operator reads.

    ``keep``: for so many ticks a row of the past is shown before the new rows.  ``sequence``: the rows have to bring
    their column ``sequence``.  ``makers``: the operator reads ``Rows.derived``.  ``everywhere``: some rows of the type
    belong to every partition key.
    """

    type: str
    keep: int = 0
    order: Order = Order.TYPE
    sequence: bool = False
    makers: bool = False
    everywhere: bool = False


@dataclass(frozen=True, eq=False)
class Out:
    """An output of an operator.

    ``schema``: of all rows of the type, whichever definition derives them.  ``definition``: the identity of the
    definition, which enters labels.  ``place``: of the definition in the evaluation order of the program.
    """

    type: str
    schema: Schema
    definition: str
    place: int


@dataclass(frozen=True, eq=False)
class Identity:
    """What the labels of n rows are computed from (common.md, section 3).

    ``parts``: one column of labels (n) per constituent.  With ``offsets`` (n + 1) it is one column with the labels of
    all constituents, those of row i from ``offsets[i]`` to before ``offsets[i + 1]``.  ``time``: times that count as a
    constituent; with ``due`` (booleans) only where that is true.  ``values``: attributes that count, by name.
    """

    parts: Sequence[Labels] = ()
    offsets: np.ndarray | None = None
    time: np.ndarray | None = None
    due: np.ndarray | None = None
    values: Mapping[str, pa.Array] = field(default_factory=dict)

    def slice(self, start: int, stop: int) -> Identity:
        """The same for the rows from ``start`` to before ``stop``."""
        rows = inner = slice(start, stop)
        offsets, (time, due) = self.offsets, (None if a is None else a[rows] for a in (self.time, self.due))
        if offsets is not None:
            inner = slice(int(offsets[start]), int(offsets[stop]))
            offsets = offsets[start : stop + 1] - offsets[start]
        parts = [Labels(p.hi[inner], p.lo[inner]) for p in self.parts]
        return Identity(parts, offsets, time, due, {n: v.slice(start, stop - start) for n, v in self.values.items()})


@dataclass(frozen=True, eq=False)
class Reasons:
    """The constituents of n rows, which ``because`` shows: those of row i from ``offsets[i]`` to before
    ``offsets[i + 1]``.

    ``time`` and ``end``: ticks; ``known``: which constituents have a time (None: all); ``ends``: which have an end
    (None: none).  ``label``: text, null for a constituent that is not a row.  ``attributes``: text of JSON objects.
    """

    offsets: np.ndarray
    role: pa.Array
    type: pa.Array
    time: np.ndarray
    label: pa.Array
    attributes: pa.Array
    end: np.ndarray | None = None
    ends: np.ndarray | None = None
    known: np.ndarray | None = None


@dataclass(eq=False, slots=True)
class Block:
    """Derived rows of one output, or of several one behind the other: those of ``outs[i]`` are from ``cuts[i]`` to
    before ``cuts[i + 1]`` (``cuts`` is None if there is one output).

    The rows of one output are in the order of time, place and rank.  ``at``: the place of each row within its instant;
    None: the rows are derived when their instant is complete.  ``columns``: attributes by name (a missing one is null),
    and ``end`` of intervals.  ``final``: booleans, false for provisional rows, which are reported, but which no
    definition reads (None: all are final).  ``identity``: called only if labels are wanted.  ``reasons``: the
    constituents of some rows of one output, by their row numbers in the block; called only for rows whose ``because``
    is wanted; None: the rows have none.  ``labels``: given by an operator that feeds itself, which needs them earlier.

    An operator that returns few rows of many outputs very often may return a subclass, which makes columns when they
    are asked for.
    """

    outs: Sequence[Out]
    time: np.ndarray
    columns: Mapping[str, Column]
    cuts: np.ndarray | None = None
    at: np.ndarray | None = None
    identity: Callable[[], Identity] | None = None
    reasons: Callable[[np.ndarray], Reasons] | None = None
    labels: Labels | None = None
    final: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def rows_of(self, number: int) -> slice:
        """Where the rows of an output stand in the block."""
        cuts = self.cuts
        return slice(0, len(self)) if cuts is None else slice(int(cuts[number]), int(cuts[number + 1]))

    def only(self, number: int) -> tuple[np.ndarray, Mapping[str, Column]]:
        """The times and the columns of the rows of one output."""
        if self.cuts is None:
            return self.time, self.columns
        rows = self.rows_of(number)
        return self.time[rows], {n: c.slice(rows.start, rows.stop) for n, c in self.columns.items()}

    @classmethod
    def gathered(cls, calls: Sequence[Sequence[Block]]) -> Mapping[str, Callable[[], Mapping[str, pa.Array]]]:
        """By type the rows of all ``calls`` in one order of time, as functions that return their columns (``time`` and
        ``end`` as ticks); only of types for which that is faster than to put tables together."""
        return {}


@dataclass(eq=False)
class Outcome:
    """What one call produced.

    ``complete``: per output type up to when its rows are complete, where that is before the frontier.  ``counts``: what
    the operator counted of its input, by name.  ``consumed``: per place of a definition and type which
    rows the definition has consumed: booleans for all rows that it was shown and, of a type that feeds back, for those
    that it derived, in the total order.
    """

    blocks: Sequence[Block] = ()
    complete: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    consumed: Mapping[tuple[int, str], np.ndarray] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """One call: the instants after ``since`` up to ``frontier``, each of them whole.

    ``rows``: per port the new rows, and before them at least the past that the port keeps, in the order that it asks
    for.  ``since``: the frontier of the call before (None: there was none).  ``start``: where the clock starts; None
    until the first row has arrived.  ``closing``: the history ends at ``frontier``.  ``labelled``: rows carry labels.

    ``codes``: one number per value, for all operators; ``domains``: attributes (type, name) that are equated with one
    another have codes of one domain.  ``consumed``: per place of a definition and type the serial numbers of the rows
    that it has consumed in earlier calls.
    """

    rows: Mapping[str, Rows]
    since: int | None
    frontier: int
    start: int | None
    kind: TimeKind
    closing: bool = False
    labelled: bool = False
    codes: KeyCodes = field(default_factory=KeyCodes)
    domains: Mapping[tuple[str, str], str] = field(default_factory=dict)
    consumed: Mapping[tuple[int, str], np.ndarray] = field(default_factory=dict)

    def new(self, type: str) -> Rows:
        """The new rows of a type.  All operators that read no past get the same object, with its cache."""
        rows = self.rows[type]
        return rows.slice(rows.new) if rows.new else rows

    def span(self, type: str) -> tuple[Rows | None, int, int]:
        """The rows among which the new rows of a type stand, from where to before where; None if there are none.  It
        cuts no columns."""
        if isinstance(self.rows, Part):
            return self.rows.span(type)
        rows = self.rows.get(type)
        return (None, 0, 0) if rows is None else (rows, rows.new, len(rows.time))


@dataclass(frozen=True, eq=False)
class Operator(ABC):
    """The unit of execution: a function on batches of rows with a state.

    ``identity``: by which its state is found again within a process.  ``born``: it sees rows after this tick only
    (None: all).  ``moves``: what besides rows makes it produce rows.  ``words``: how it runs, for ``explain``.

    Operators are sent to other processes by their fields.  What an operator compiles from them belongs into cached
    properties: every process makes its own.
    """

    identity: str
    ports: tuple[Port, ...]
    outs: tuple[Out, ...]
    born: int | None = field(default=None, kw_only=True)
    moves: frozenset[Moves] = field(default=frozenset(), kw_only=True)
    words: str = field(default="", kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def parts(self) -> Sequence[Operator]:
        """The operators that were fused into this one, one per definition."""
        return (self,)

    @property
    def line(self) -> str:
        """What ``explain`` prints of it."""
        return f"{self.outs[0].type}: {self.words}"

    @property
    def feeds_back(self) -> frozenset[str]:
        """Types that it derives and reads itself: it is shown the rows that do not come from itself."""
        return frozenset()

    @property
    def equated(self) -> Sequence[tuple[tuple[str, str], tuple[str, str]]]:
        """Pairs of attributes (type, name) whose values it compares by their codes (``Call.domains``)."""
        return ()

    @property
    def stepwise(self) -> bool:
        """Does a detection change what it sees at later instants?  Of definitions that do :meth:`in_steps` makes one
        operator."""
        return False

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The identities of the definitions that it runs: their states are saved and restored one by one."""
        return tuple(part.identity for part in self.parts)

    def unreported(self) -> Self:
        """The same without outputs: others of its family read what it derives."""
        return replace(self, outs=())

    def fresh(self) -> State:
        """The state before the first call."""
        return Tables()

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> State:
        """The state from what :meth:`State.tables` returned for some of the members; the others begin afresh.  Raises
        CheckpointProblem."""
        return Tables(dict(saved))

    @abstractmethod
    def advance(self, state: Any, call: Call) -> Outcome:
        """Take the rows of a call; ``state`` is changed in place.  Raises InputProblem, LimitProblem."""

    @classmethod
    def fuse(cls, run: Sequence[Self]) -> Sequence[Operator]:
        """Operators of this class as few operators that run faster together.  They are in evaluation order, and do not
        read one another, except those of one family (:attr:`occurs.operators.definition.Definition.family`)."""
        return run

    @classmethod
    def in_steps(cls, run: Sequence[Self], types: frozenset[str], key: Mapping[str, tuple[str, ...]]) -> Operator:
        """One operator in place of those that read ``types``, which they derive, or that are ``stepwise``.  ``key``:
        per type the attributes by which they can be split."""
        raise NotImplementedError(f"{cls.__name__} cannot read what it derives")


def joint_identity(members: Iterable[Operator]) -> str:
    """The identity of the operator that runs in place of ``members``."""
    return blake2b("\0".join(one.identity for one in members).encode(), digest_size=16).hexdigest()


def joint_ports(members: Iterable[Operator]) -> tuple[Port, ...]:
    """The ports of the operator that runs in place of ``members``: of each type the one that keeps most."""
    ports: dict[str, Port] = {}
    for port in (p for one in members for p in one.ports):
        if port.type not in ports or port.keep > ports[port.type].keep:
            ports[port.type] = port
    return tuple(ports.values())
