"""The contract between an operator, the plan that builds it and the engine that runs it (operators.md, section 1).

A definition compiles to an :class:`Operator`.  The plan reads what the operator declares.  The engine calls
:meth:`Operator.advance` once per call with the new rows of every type that the operator reads.  The operator changes
its state and returns blocks of derived rows.  The engine does the rest for all operators: it computes labels and
``because``, brings rows into order, keeps the past of every type, and saves states.

This whole operator counts the rows of a type and emits the count after every row:

>>> from occurs.model.types import Schema, Type
>>> from occurs.operators.blocks import Identity
>>> from occurs.operators.columns import Column
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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, IntEnum
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import pyarrow as pa

from occurs.model.time import TimeKind
from occurs.operators.blocks import Block, Out
from occurs.operators.codes import KeyCodes
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

    @property
    def needs_places(self) -> bool:
        """Does it need the places of rows within their instant even where nobody asks for those of its own rows?"""
        return any(port.order is Order.PLACE or port.makers for port in self.ports)

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
