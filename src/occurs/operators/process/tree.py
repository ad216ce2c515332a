"""Graphs of processors: what the Python API and eSQL build, the reference evaluates and the operator runs (pipes.md,
sections 2.2 and 4).

A :class:`Node` is a box that stands in a graph: a *processor* (a value that says what it does, one class per row of the
tables in pipes.md, 4.2 and 4.3) and the pipes on its inputs.  A :class:`Pipe` is one output of a node.  Using a pipe
twice forks it: there is no processor for that.  Nodes are compared by identity, processors and functions by value.

**Functions** are expressions of :mod:`occurs.expr.tree`, read for one front of inputs:

* ``Input(k)`` is ``$k`` (``Input(0)`` also ``*``), an ``AS $x`` and an ``AS t`` are resolved to it;
  ``Ref(None, name)``: the attribute of the first input that has one of this name; ``Attribute(of, name)``: ``t.a``.
  Of an event, ``type`` and ``time`` are attributes as well.
* ``Param(name)``: ``$name``, a register, a quantifier's variable or ``slice``; names are unique along a path, so the
  innermost one needs no search (phrases are substituted with fresh names).
* ``Literal``: null, bool, int, float, text, a timestamp; ``TrooleanLiteral("?")``; ``EverySlice``: ``#``.
* ``Unary`` of ``neg not``; ``Binary`` of ``+ - * / mod div = != < <= > >= and or``; ``IsNull``; ``Call`` of a function
  of pipes.md 2.2 by its lower-case name, and of the operators without a class: ``implies(a, b)``, ``power(a, b)``
  (``a ^ b``), ``in(a, list)``, ``element(list, i)`` (``a[i]``); ``ListOf``, ``SetOf``, ``TupleOf``; ``Foreign``: a
  user's function.

**Inner processors** (window, slice, quantifier, run-on) are graphs of their own whose sources are ``Placeholder(k)``:
``*`` is ``Placeholder(0)`` of the innermost :class:`Inner`.  They see no outer pipe, only variables and constants.

**Constants and variables** among the operands of an infix operator or a call over pipes are part of the function
(``x + 1`` is one Lift of one input), so no node is without inputs but the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from occurs.errors import Span
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.model.canonical import canonical
from occurs.model.time import Duration
from occurs.operators.process.kinds import ANY, Kind

# --- functions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Input(_Leaf):
    """``$index``: the item of an input."""

    index: int
    span: Span | None = _span()


@dataclass(frozen=True)
class Attribute(Expr):
    """``of.name``: an attribute of a tuple; null if it has none."""

    of: Expr
    name: str
    span: Span | None = _span()


@dataclass(frozen=True)
class TrooleanLiteral(_Leaf):
    """``T``, ``F`` or ``?``; TRUE and FALSE are bools, which go into Trooleans."""

    value: str
    span: Span | None = _span()


@dataclass(frozen=True)
class EverySlice(_Leaf):
    """``#``: in the key of a slicer, all slices that exist."""

    span: Span | None = _span()


@dataclass(frozen=True)
class ListOf(Expr):
    """``[a, b]``."""

    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class SetOf(Expr):
    """``{a, b}``."""

    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class TupleOf(Expr):
    """``SELECT a AS x, b AS y``: a tuple of named columns."""

    names: tuple[str, ...]
    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class UserFunction:
    """A function in Python: m arguments, n results.

    ``vectorised``: it takes arrays and gives arrays (a tuple of n, if n is not 1); else it is called row by row.
    """

    name: str
    run: Callable[..., Any]
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...] = (ANY,)
    vectorised: bool = False


@dataclass(frozen=True)
class Foreign(Expr):
    """Result number ``output`` of a user's function."""

    function: UserFunction
    args: tuple[Expr, ...]
    output: int = 0
    span: Span | None = _span()


# --- the graph ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Processor:
    """What a box does.  ``inputs``, ``outputs``: how many ports; None: the node says how many (at least one)."""

    inputs: ClassVar[int | None] = 1
    outputs: ClassVar[int | None] = 1

    @property
    def kind_name(self) -> str:
        """The name of its class, for messages: ``Trim``."""
        return type(self).__name__

    @property
    def inners(self) -> tuple[Inner, ...]:
        """The inner processors it has."""
        inner = getattr(self, "inner", None)
        return () if inner is None else (inner,)


@dataclass(frozen=True, eq=False)
class Node:
    """A processor in a graph, with the pipes on its inputs in their order.

    ``name``, and the place in a text (``source`` is the line that ``span`` starts in), are only for messages.
    """

    processor: Processor
    inputs: tuple[Pipe, ...] = ()
    name: str | None = None
    span: Span | None = None
    file: str | None = None
    source: str | None = None

    @property
    def place(self) -> dict[str, Any]:
        """Where it stands, for a problem."""
        return {"span": self.span, "file": self.file, "source": self.source}

    def out(self, port: int = 0) -> Pipe:
        return Pipe(self, port)


@dataclass(frozen=True, slots=True)
class Pipe:
    """Output ``port`` of a node."""

    node: Node
    port: int = 0


@dataclass(frozen=True, eq=False)
class Inner:
    """An inner processor φ: ``outputs`` over the sources ``Placeholder(0)`` .. ``Placeholder(inputs - 1)``."""

    inputs: int
    outputs: tuple[Pipe, ...]


@dataclass(frozen=True)
class Definition:
    """``DEFINE name [WITH ABOUT] AS pipe``: an output type.

    Its name in another definition of the same program stands for this very pipe: steps and abouts are kept.
    """

    name: str
    pipe: Pipe
    about: bool = False
    file: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


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
    "addition", "multiplication", "subtraction", "division", "maximum", "minimum", "conjunction", "disjunction",
    "bag union",
)  # fmt: skip


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


@dataclass(frozen=True)
class Slice(Processor):
    """``SLICE p WITH inner ON key [EXPLODED] [UNTIL until]``; ``form``: ``map``, ``each`` (rows {key, value}) or
    ``last`` (a list).  ``until`` is a function of an output of the slice; both see ``$slice`` but in the key."""

    key: Expr
    inner: Inner
    form: str = "map"
    exploded: bool = False
    until: Expr | None = None


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


@dataclass(frozen=True)
class Reset(Processor):
    """``RESET inner ON p BY guard``: the second input is the guard."""

    inner: Inner
    inputs: ClassVar[int | None] = 2


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


# --- 4.5, 4.6: formulas, which are one processor each -----------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A part of a formula."""

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

    def map(self, change: Callable[[Part], Part]) -> Self:
        """With its parts changed."""
        names = (n for n in ("operand", "left", "right") if hasattr(self, n))
        changes: dict[str, Any] = {n: change(getattr(self, n)) for n in names}
        return replace(self, **changes) if changes else self

    def walk(self) -> Iterator[Part]:
        """This part and all below, parents first; bodies of quantifiers are graphs of their own."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Atom(Part):
    """The pipe on input ``index`` of the formula's node, of bool (or Troolean)."""

    index: int


@dataclass(frozen=True)
class Given(Part):
    """A constant or a variable of the context: true, false (or a Troolean) at every position that exists."""

    value: Expr


@dataclass(frozen=True)
class _One(Part):
    operand: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class _Two(Part):
    left: Part
    right: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class Not(_One):
    pass


@dataclass(frozen=True)
class And(_Two):
    pass


@dataclass(frozen=True)
class Or(_Two):
    pass


@dataclass(frozen=True)
class Implies(_Two):
    pass


@dataclass(frozen=True)
class Next(_One):
    """``X``, ``AFTER``."""


@dataclass(frozen=True)
class Globally(_One):
    """``G``, ``ALWAYS``."""


@dataclass(frozen=True)
class Eventually(_One):
    """``F``, ``SOMETIME``."""


@dataclass(frozen=True)
class Until(_Two):
    """``U``, ``UPTO``."""


@dataclass(frozen=True)
class Quantified(Part):
    """``FOR ALL $variable IN domain ON p : body``; ``input``: the input of the formula's node that p is on.

    ``body`` has one input and one output: the node of a Formula of the same flavour, or any other pipe.
    """

    universal: bool
    variable: str
    domain: Expr
    input: int
    body: Inner


@dataclass(frozen=True)
class Formula(Processor):
    """A whole formula over its atoms and quantifiers' pipes, which are the inputs of its node.

    ``troolean``: the flavour.  ``at_end``: ``nothing``, ``finite`` or ``null``.
    """

    root: Part
    troolean: bool = False
    at_end: str = "nothing"
    inputs: ClassVar[int | None] = None

    @property
    def inners(self) -> tuple[Inner, ...]:
        return tuple(p.body for p in self.root.walk() if isinstance(p, Quantified))


# --- 4.7: Moore machines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transition:
    """``WHEN condition GO TO target SET ..``; ``condition`` None: OTHERWISE."""

    condition: Expr | None
    target: str
    sets: tuple[tuple[str, Expr], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class State:
    """``output`` None: the state is silent.  Without transitions it is final."""

    name: str
    output: Expr | None = None
    transitions: tuple[Transition, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Machine(Processor):
    """A Moore machine over fronts of m inputs; the starts of the registers are of constants and variables."""

    start: str
    states: tuple[State, ...]
    registers: tuple[tuple[str, Expr], ...] = ()
    inputs: ClassVar[int | None] = None


# --- 4.8: documents, plots, and what is printed -----------------------------------------------------------------------


@dataclass(frozen=True)
class Xml(Processor):
    """``THE XML OF p``; ``bad``: ``error`` or ``null``."""

    bad: str = "error"


@dataclass(frozen=True)
class Json(Processor):
    """``THE JSON OF p``."""

    bad: str = "error"


@dataclass(frozen=True)
class Tuples(Processor):
    """``THE TUPLES OF p``: the first line names the columns."""


@dataclass(frozen=True)
class Regex(Processor):
    """``REGEX pattern WITH NAMES ..``: a tuple of the groups, in their order; null if nothing matches."""

    pattern: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Plot(Processor):
    """One PNG per item; ``what``: ``scatter heatmap histogram``; ``size`` in pixels; ``bins`` of a histogram."""

    what: str
    title: str = ""
    size: tuple[int, int] = (640, 480)
    bins: int = 10


@dataclass(frozen=True)
class Print(Processor):
    """``PRINT p``: passes the items through and writes them to stderr."""


# --- walks ----------------------------------------------------------------------------------------------------------


def nodes(pipes: Sequence[Pipe]) -> list[Node]:
    """All nodes that these pipes need, each once, after those on its inputs; inner graphs are not entered."""
    done: dict[int, Node] = {}
    stack = [(p.node, False) for p in reversed(pipes)]
    while stack:
        node, ready = stack.pop()
        if id(node) in done:
            continue
        if ready:
            done[id(node)] = node
        else:
            stack.append((node, True))
            stack += [(p.node, False) for p in reversed(node.inputs)]
    return list(done.values())


def every_node(pipes: Sequence[Pipe]) -> Iterator[Node]:
    """All nodes that these pipes need, those of inner graphs before the node that has them."""
    for node in nodes(pipes):
        for inner in node.processor.inners:
            yield from every_node(inner.outputs)
        yield node


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


def functions_of(processor: Processor) -> list[Expr]:
    """All functions of a processor, but for those of inner ones."""
    found: list[Expr] = []
    if isinstance(processor, Lift):
        found += processor.functions
    if isinstance(processor, Machine):
        for state in processor.states:
            found += [state.output] if state.output is not None else []
            for t in state.transitions:
                found += [t.condition] if t.condition is not None else []
                found += [e for _, e in t.sets]
    if isinstance(processor, Formula):
        found += [d for d in (getattr(p, "domain", None) for p in processor.root.walk()) if d is not None]
    return found + [v for v in vars(processor).values() if isinstance(v, Expr)]


def spelling(pipes: tuple[Pipe, ...]) -> str:
    """The nodes in their order, each with its processor and its inputs; functions of Python by name."""
    place = {id(n): i for i, n in enumerate(nodes(pipes))}
    lines = [
        f"{canonical(n.processor, _own)}({' '.join(f'{place[id(p.node)]}.{p.port}' for p in n.inputs)})"
        for n in nodes(pipes)
    ]
    return "; ".join([*lines, " ".join(f"{place[id(p.node)]}.{p.port}" for p in pipes)])


def _own(value: Any) -> str | None:
    """Inner graphs are spelled as graphs; a function of Python has nothing but its name that lasts."""
    if isinstance(value, Inner):
        return spelling(value.outputs)
    return value.name if isinstance(value, UserFunction) else None
