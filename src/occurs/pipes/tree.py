"""The processors of pipes: what the Python API and eSQL build, the reference means and the engine runs.

One class per row of the tables in pipes.md, 4.2 and 4.3: its parameters and how many ports it has.  What the graphs are
made of is in :mod:`occurs.pipes.graph`; all its names are found here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from occurs.expr.tree import Expr
from occurs.model.time import Duration
from occurs.pipes.documents import Json as Json
from occurs.pipes.documents import Plot as Plot
from occurs.pipes.documents import Print as Print
from occurs.pipes.documents import Regex as Regex
from occurs.pipes.documents import Tuples as Tuples
from occurs.pipes.documents import Xml as Xml
from occurs.pipes.formulas import And as And
from occurs.pipes.formulas import Atom as Atom
from occurs.pipes.formulas import Eventually as Eventually
from occurs.pipes.formulas import Formula as Formula
from occurs.pipes.formulas import Given as Given
from occurs.pipes.formulas import Globally as Globally
from occurs.pipes.formulas import Implies as Implies
from occurs.pipes.formulas import Next as Next
from occurs.pipes.formulas import Not as Not
from occurs.pipes.formulas import Or as Or
from occurs.pipes.formulas import Part as Part
from occurs.pipes.formulas import Quantified as Quantified
from occurs.pipes.formulas import Until as Until
from occurs.pipes.graph import Attribute as Attribute
from occurs.pipes.graph import Definition as Definition
from occurs.pipes.graph import EverySlice as EverySlice
from occurs.pipes.graph import Foreign as Foreign
from occurs.pipes.graph import Inner as Inner
from occurs.pipes.graph import Input as Input
from occurs.pipes.graph import ListOf as ListOf
from occurs.pipes.graph import Node as Node
from occurs.pipes.graph import Pipe as Pipe
from occurs.pipes.graph import Processor as Processor
from occurs.pipes.graph import SetOf as SetOf
from occurs.pipes.graph import TrooleanLiteral as TrooleanLiteral
from occurs.pipes.graph import TupleOf as TupleOf
from occurs.pipes.graph import UserFunction as UserFunction
from occurs.pipes.graph import every_node as every_node
from occurs.pipes.graph import nodes as nodes
from occurs.pipes.kinds import Kind
from occurs.pipes.machines import Machine as Machine
from occurs.pipes.machines import State as State
from occurs.pipes.machines import Transition as Transition

# --- sources --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Events(Processor):
    """``EVENTS OF a, b``: the events of these types in the total order.  ``item``: what an item is, if it is known."""

    types: tuple[str, ...]
    item: Kind | None = None
    inputs: ClassVar[int | None] = 0


def line_source(path: str) -> str:
    """The type of the events that the lines of a file are."""
    return f"FILE {path}"


@dataclass(frozen=True)
class Lines(Processor):
    """``FILE "f"``: the lines of a text file, with the times 0, 1, 2 ..  ``file``: the rules in which it stands."""

    path: str
    file: str | None = None
    inputs: ClassVar[int | None] = 0

    @property
    def source(self) -> str:
        """The type of the events that the lines are."""
        return line_source(self.path)


@dataclass(frozen=True)
class Placeholder(Processor):
    """``*``: input ``index`` of the innermost inner processor."""

    index: int = 0
    inputs: ClassVar[int | None] = 0


# --- 4.2: processors of the paper -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lift(Processor):
    """FunctionProcessor, m:n: ``functions``, one per output, of every front for which ``where`` (if any) is true.

    Infix operators, calls, APPLY, SELECT (a ``TupleOf``; ``where`` is its WHERE), CONSTANT over a pipe.  ``early``:
    one output, emitted as soon as the items present decide it.
    """

    functions: tuple[Expr, ...]
    where: Expr | None = None
    early: bool = False
    inputs: ClassVar[int | None] = None
    outputs: ClassVar[int | None] = None


@dataclass(frozen=True)
class Cumulate(Processor):
    """Σ.  ``function``: a word of :data:`CUMULATIVE` in lower case, or an expression of ``Input(0)``, the value so far,
    and ``Input(1)``, the item.  ``start`` None: that of the word; of an expression: the first item that is not null."""

    function: str | Expr
    start: Expr | None = None


#: the words of COMBINE .. WITH
CUMULATIVE = (
    "addition",
    "multiplication",
    "subtraction",
    "division",
    "maximum",
    "minimum",
    "conjunction",
    "disjunction",
    "bag union",
)


@dataclass(frozen=True)
class Decimate(Processor):
    """``EVERY n TH OF p [, LAST TOO]``."""

    n: int
    last: bool = False


@dataclass(frozen=True)
class Freeze(Processor):
    """``FREEZE p``."""


@dataclass(frozen=True)
class Trim(Processor):
    """``TRIM n OF p``."""

    n: int


@dataclass(frozen=True)
class Filter(Processor):
    """n:n-1; the guard is the last input."""

    inputs: ClassVar[int | None] = None
    outputs: ClassVar[int | None] = None


@dataclass(frozen=True)
class Window(Processor):
    """``GET inner FROM p ON A WINDOW OF width``: an int counts items, a Duration is of time (one input)."""

    width: int | Duration
    inner: Inner
    inputs: ClassVar[int | None] = None
    outputs: ClassVar[int | None] = None

    @property
    def inners(self) -> tuple[Inner, ...]:
        return (self.inner,)


@dataclass(frozen=True)
class Slice(Processor):
    """``SLICE p WITH inner ON key [EXPLODED] [UNTIL until]``; ``form``: ``map``, ``each`` (rows {key, value}) or
    ``last`` (a list).  ``until`` is a function of an output of the slice; both see ``$slice`` but in the key."""

    key: Expr
    inner: Inner
    form: str = "map"
    exploded: bool = False
    until: Expr | None = None

    @property
    def inners(self) -> tuple[Inner, ...]:
        return (self.inner,)


# --- 4.3: processors beyond the paper -------------------------------------------------------------------------------


@dataclass(frozen=True)
class First(Processor):
    """``THE FIRST n OF p``."""

    n: int


@dataclass(frozen=True)
class Last(Processor):
    """``THE LAST OF p``."""


@dataclass(frozen=True)
class Every(Processor):
    """``EVERY width OF p`` by time."""

    width: Duration


@dataclass(frozen=True)
class Where(Processor):
    """``p WHERE condition``."""

    condition: Expr


@dataclass(frozen=True)
class StopWhen(Processor):
    """``p STOPPING WHEN condition``."""

    condition: Expr


@dataclass(frozen=True)
class Merge(Processor):
    """``MERGE p, q``."""

    inputs: ClassVar[int | None] = None


@dataclass(frozen=True)
class Insert(Processor):
    """``PUT n TIMES value BEFORE p``; ``value`` is of constants and variables."""

    n: int
    value: Expr


@dataclass(frozen=True)
class Repeat(Processor):
    """``REPEAT p n TIMES``."""

    n: int


@dataclass(frozen=True)
class RepeatBy(Processor):
    """``REPEAT p BY q``: the second input has the numbers."""

    inputs: ClassVar[int | None] = 2


@dataclass(frozen=True)
class Pack(Processor):
    """``PACK p BY guard``: the second input is the guard."""

    inputs: ClassVar[int | None] = 2


@dataclass(frozen=True)
class Unpack(Processor):
    """``UNPACK p``."""


@dataclass(frozen=True)
class Each(Processor):
    """``RUN inner ON p``: on the elements of each list as a complete trace."""

    inner: Inner

    @property
    def inners(self) -> tuple[Inner, ...]:
        return (self.inner,)


@dataclass(frozen=True)
class Reset(Processor):
    """``RESET inner ON p BY guard``: the second input is the guard."""

    inner: Inner
    inputs: ClassVar[int | None] = 2

    @property
    def inners(self) -> tuple[Inner, ...]:
        return (self.inner,)


@dataclass(frozen=True)
class Collect(Processor):
    """``THE LIST OF p``; ``into``: ``list set bag``."""

    into: str


@dataclass(frozen=True)
class CollectMap(Processor):
    """``THE MAP OF k TO v``: keys on input 0, values on input 1."""

    inputs: ClassVar[int | None] = 2


@dataclass(frozen=True)
class Moment(Processor):
    """The mean of x^n of the items so far; ``THE AVERAGE OF p`` is the first one.  Nulls are ignored."""

    n: int = 1


@dataclass(frozen=True)
class Deviation(Processor):
    """The population standard deviation of the items so far.  Nulls are ignored."""


@dataclass(frozen=True)
class Count(Processor):
    """``THE COUNT OF p``: how many items there were, nulls included."""


# --- pipes.signal ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threshold(Processor):
    """``p THRESHOLD limit``: x if x > limit, else 0."""

    limit: int | float


@dataclass(frozen=True)
class Smooth(Processor):
    """The mean of the last n, from item n-1 on."""

    n: int


@dataclass(frozen=True)
class Peaks(Processor):
    """``THE PEAK OF p WITHIN reach``."""

    reach: int = 1


@dataclass(frozen=True)
class Plateaus(Processor):
    """``THE PLATEAU OF p WITHIN n``."""

    n: int
    tolerance: int | float = 0


@dataclass(frozen=True)
class DeadTime(Processor):
    """After an item that is not zero the next n are 0."""

    n: int


def outputs(node: Node) -> int:
    """How many outputs a node has."""
    processor = node.processor
    if isinstance(processor, Lift):
        return len(processor.functions)
    if isinstance(processor, Filter):
        return len(node.inputs) - 1
    if isinstance(processor, Window):
        return len(processor.inner.outputs)
    return processor.outputs or 1
