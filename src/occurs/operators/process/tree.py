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
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from occurs.errors import Span
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.model.canonical import canonical
from occurs.model.time import Duration
from occurs.operators.process.declared import (
    Call,
    Combination,
    Constant,
    Flag,
    Function,
    Length,
    Names,
    Number,
    OnBad,
    Pattern,
    Phi,
    Pixels,
    Processor,
    Rate,
    Signatures,
    Text,
    Whole,
    Width,
    Word,
    element_of,
    parameter,
)
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    DURATION,
    IMAGE,
    INT,
    JSON,
    NULL,
    NUMBER,
    TEXT,
    TIME,
    TROOLEAN,
    TUPLE,
    XML,
    Kind,
    bag_of,
    goes_into,
    join,
    joined,
    list_of,
    map_of,
    set_of,
    tuple_of,
)

if TYPE_CHECKING:
    from occurs.operators.process.typing import At

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

    @property
    def outputs(self) -> int:
        """How many outputs it has."""
        return self.processor.outputs(len(self.inputs))


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


class Source(Processor):
    """A processor without inputs."""

    ports = ()

    stateless = True


class Events(Source):
    """``EVENTS OF a, b``: the events of these types in the total order.  ``item``: what an item is, if it is known."""

    types: tuple[str, ...]
    item: Kind | None = None


def line_source(path: str) -> str:
    """The type of the events that the lines of a file are."""
    return f"FILE {path}"


class Lines(Source):
    """``FILE "f"``: the lines of a text file, with the times 0, 1, 2 ..  ``file``: the rules in which it stands."""

    path: str
    file: str | None = None
    makes = TEXT

    @property
    def source(self) -> str:
        """The type of the events that the lines are."""
        return line_source(self.path)


class Placeholder(Source):
    """``*``: input ``index`` of the innermost inner processor."""

    index: int = 0


# --- 4.2: processors of the paper -----------------------------------------------------------------------------------


class Lift(Processor):
    """FunctionProcessor, m:n: ``functions``, one per output, of every front for which ``where`` (if any) is true.

    Infix operators, calls, APPLY, SELECT (a ``TupleOf``; ``where`` is its WHERE), CONSTANT over a pipe.  ``early``:
    one output, emitted as soon as the items present decide it.
    """

    functions: tuple[Expr, ...]
    where: Expr | None = None
    early: bool = False

    several = 1

    def outputs(self, inputs: int) -> int:
        return len(self.functions)

    @property
    def functions_within(self) -> list[Expr]:
        return [*self.functions, *([self.where] if self.where is not None else [])]

    def kinds(self, at: At) -> list[Kind]:
        if self.where is not None:
            at.condition(self.where)
        return [at.function(f) for f in self.functions]

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.where is None

    @property
    def stateless(self) -> bool:  # type: ignore[override]
        return not self.early


#: the words of COMBINE .. WITH
CUMULATIVE = (
    "addition", "multiplication", "subtraction", "division", "maximum", "minimum", "conjunction", "disjunction",
    "bag union",
)  # fmt: skip
_IN_A_WINDOW = "collect in a window: GET .. FROM p ON A WINDOW OF n"


class Cumulate(Processor):
    """Combines the items so far: o_i = f(o_{i-1}, x_i) with o_{-1} = start.  ``start`` None: the default of the
    function (4.3)."""

    # a word of CUMULATIVE in lower case, or an expression of Input(0), the value so far, and Input(1), the item.
    # Without a start: that of the word; of an expression the first item that is not null
    function: str | Expr = parameter(Combination())
    start: Expr | None = parameter(Function(0), None)

    calls = ("Cumulate", ".cumulate")
    text = ("COMBINE {pipe} WITH {function} [STARTING AT {start}]",)
    phrases = (
        ("THE SUM OF @P", {"function": "addition"}),
        ("THE MAXIMUM OF @P", {"function": "maximum"}),
        ("THE MINIMUM OF @P", {"function": "minimum"}),
    )
    steady = True

    def kinds(self, at: At) -> list[Kind]:
        word, item = self.function, at.inputs[0]
        start = NULL if self.start is None else at.function(self.start, ())
        if not isinstance(word, str):
            so_far = join(start, item) if self.start is None else start
            return [join(so_far, at.function(word, (so_far, item)))]
        if word in ("conjunction", "disjunction"):
            return [join(at.need(0, TROOLEAN), start)]
        if word == "bag union":
            return [bag_of(at.elements())]
        if word in ("maximum", "minimum"):
            return [join(at.need(0, NUMBER, TEXT, TIME, DURATION), start)]
        found = at.amount()
        return [NUMBER if word == "division" else join(found, start)]

    @property
    def grows(self) -> tuple[str, str | None] | None:  # type: ignore[override]
        return (
            ("unbounded state: the bag grows with every item", _IN_A_WINDOW) if self.function == "bag union" else None
        )


class Decimate(Processor):
    """Every n-th item: x_0, x_n, x_2n ..; ``last``: also the last item of the trace."""

    n: int = parameter(Whole(1))
    last: bool = parameter(Flag(), False)

    calls = ("Decimate", ".decimate")
    text = ("EVERY {n} <ST|ND|RD|TH> OF {pipe} [last: , LAST TOO]",)

    def rate(self, front: Rate, own: Rate) -> Rate:
        return own if self.last else front.slower(self.n)


class Freeze(Processor):
    """The first item, repeated for every item."""

    calls = ("Freeze", ".freeze")
    text = ("FREEZE {pipe}",)
    steady = True


class Trim(Processor):
    """Skips the first n items."""

    n: int = parameter(Whole(0))

    calls = ("Trim", ".trim")
    text = ("TRIM {n} OF {pipe}",)

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(self.n)


class Filter(Processor):
    """The items for which the item of the guard (the last input) at the same position is true."""

    ports = ("pipe", "guard")
    several = 2
    calls = ("Filter", ".filter")
    text = ("FILTER {pipe} WITH {guard}",)

    def outputs(self, inputs: int) -> int:
        return inputs - 1

    def kinds(self, at: At) -> list[Kind]:
        at.need(len(at.inputs) - 1, BOOL)
        return list(at.inputs[:-1])


class Window(Processor):
    """The last item of ``inner`` on every window of ``width`` items, or of a time (one input)."""

    width: int | Duration = parameter(Width("WINDOW"))
    inner: Inner = parameter(Phi("a window", "a window"))

    several = 1
    text = ("GET {inner} FROM {pipe} ON A WINDOW OF {width}", "APPLY {inner} ON {pipe} ON A WINDOW OF {width}")
    bounded = True

    def outputs(self, inputs: int) -> int:
        return len(self.inner.outputs)

    def kinds(self, at: At) -> list[Kind]:
        return at.inner(self.inner)

    def rate(self, front: Rate, own: Rate) -> Rate:
        within = [n.processor for n in nodes(self.inner.outputs)]
        if not all(p.steady or isinstance(p, Placeholder) for p in within):
            return own  # not every window gives an item
        return front.later(self.width - 1) if isinstance(self.width, int) else front

    @property
    def kept(self) -> str:  # type: ignore[override]
        from occurs.operators.process.processors.windows import short_way

        counted = isinstance(self.width, int)
        items = str(self.width) if counted else "those items"
        cost = "" if short_way(self.inner) else f"; its processor runs on every window: O({items}) per item"
        return (f"the last {self.width} items" if counted else "the items of its duration") + cost


_EACH = "A tuple (key, value) for every item that a slice emits."
_LAST = "The list of the newest items of the slices in which an item causes output."


class Slice(Processor):
    """Runs an inner processor separately for every key; ``form``: ``map``, ``each`` or ``last``."""

    # ``until`` is a function of an output of the slice; it and the inner processor see ``$slice``
    key: Expr = parameter(Function())
    inner: Inner = parameter(Phi("a slice", "a slice", sees="slice"))
    form: str = parameter(Word({"EACH": "each", "LAST": "last"}), "map")
    exploded: bool = parameter(Flag(), False, python="explode")
    until: Expr | None = parameter(Function(sees="slice"), None)

    calls = (
        "Slice",
        Call("SliceEach", _EACH, {"form": "each"}),
        Call("SliceLast", _LAST, {"form": "last"}),
        Call(
            ".slice",
            "Runs ``inner`` separately for every key; emits, after every item, the map {key: newest item of "
            "``inner``}.",
            {"form": "map"},
        ),
        Call(".slice_each", _EACH, {"form": "each"}),
        Call(".slice_last", _LAST, {"form": "last"}),
    )
    text = ("SLICE {form?} {pipe} WITH {inner} ON {key} [exploded: EXPLODED] [UNTIL {until}]",)

    def kinds(self, at: At) -> list[Kind]:
        key = at.function(self.key)
        if self.exploded and key.name in ("list", "set"):
            key = key.args[0]
        (value,) = at.inner(self.inner, variables={"slice": key})
        if self.until is not None:
            at.condition(self.until, (value,), {"slice": key})
        if self.form == "each":
            return [tuple_of((("key", key), ("value", value)))]
        return [list_of(value) if self.form == "last" else map_of(key, value)]

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front if self.form == "map" else own

    @property
    def grows(self) -> tuple[str, str | None] | None:  # type: ignore[override]
        if self.until is not None:
            return None
        message = "unbounded state: the slice of every key is kept indefinitely"
        hint = "otherwise end a slice with UNTIL and a condition on the output of its processor"
        return message, f"ignore this if there are few keys; {hint}"

    @property
    def kept(self) -> str:  # type: ignore[override]
        return "the state of the processor of every slice" + (", until it ends" if self.until else "")


# --- 4.3: processors beyond the paper -------------------------------------------------------------------------------


class First(Processor):
    """The first n items; then the trace ends."""

    n: int = parameter(Whole(0), 1)

    calls = ("First", ".first")
    text = ("THE FIRST {n} OF {pipe}",)


class Last(Processor):
    """The last item, emitted at the end of the trace."""

    calls = ("Last", ".last")
    text = ("THE LAST OF {pipe}",)
    grows = "the last item is only known when the history ends, which never happens on a stream", None


class Every(Processor):
    """The first item, then each first item that is at least a duration (``"10 s"``) later than the last one
    kept."""

    width: Duration = parameter(Length())

    calls = ("Every", ".every")
    text = ("EVERY {width} OF {pipe}",)


class Where(Processor):
    """The items for which a function is true."""

    condition: Expr = parameter(Function())

    calls = ("Where", ".where")
    suffix = "WHERE"

    def kinds(self, at: At) -> list[Kind]:
        at.condition(self.condition)
        return [at.inputs[0]]

    stateless = True


class StopWhen(Processor):
    """The items before the first one for which a function is true."""

    condition: Expr = parameter(Function())

    calls = ("StopWhen", ".stop_when")
    suffix = "STOPPING WHEN"

    def kinds(self, at: At) -> list[Kind]:
        at.condition(self.condition)
        return [at.inputs[0]]

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front


class Merge(Processor):
    """The items of n inputs in the order of their steps."""

    several = 1
    calls = ("Merge",)
    text = ("MERGE {pipe, ..}",)
    joins = False

    def kinds(self, at: At) -> list[Kind]:
        return [joined(at.inputs)]


class Insert(Processor):
    """Inserts a constant n times before the first item."""

    n: int = parameter(Whole(0))
    value: Expr = parameter(Constant())

    calls = ("Insert", ".insert")
    text = ("PUT {n} TIMES {value} BEFORE {pipe}",)

    def kinds(self, at: At) -> list[Kind]:
        return [join(at.inputs[0], at.function(self.value, ()))]

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(-self.n)


class Repeat(Processor):
    """Repeats each item n times."""

    n: int = parameter(Whole(0))

    calls = ("Repeat",)
    text = ("REPEAT {pipe} {n} TIMES",)

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.slower(Fraction(1, self.n)) if self.n else own


class RepeatBy(Processor):
    """Repeats each item of input 0; the item of input 1 is the number of repetitions."""

    ports = ("pipe", "counts")
    calls = ("RepeatBy",)
    text = ("REPEAT {pipe} BY {counts}",)
    takes = ((1, INT),)


class Pack(Processor):
    """Emits the list of the items so far when the guard (input 1) is true; the next list starts with this item."""

    ports = ("pipe", "guard")
    calls = ("Pack", ".pack")
    text = ("PACK {pipe} BY {guard}",)
    grows = (
        "unbounded state: the list grows until the guard is true",
        "use a guard that becomes true after a limited number of items",
    )
    kept = "the items since the guard was last true"

    def kinds(self, at: At) -> list[Kind]:
        at.need(1, BOOL)
        return [list_of(at.inputs[0])]


class Unpack(Processor):
    """The elements of each list."""

    calls = ("Unpack", ".unpack")
    text = ("UNPACK {pipe}",)

    def kinds(self, at: At) -> list[Kind]:
        return [at.elements()]


class Each(Processor):
    """The last item of ``inner`` on the elements of each list."""

    inner: Inner = parameter(Phi("a run on lists", "RUN"))

    calls = ("Each", ".each")
    text = ("RUN {inner} ON {pipe}",)
    bounded = True

    @classmethod
    def inside(cls, inputs: Sequence[Kind]) -> Sequence[Kind]:
        return (element_of(inputs[0]),)

    def kinds(self, at: At) -> list[Kind]:
        if at.inputs[0].collection and at.inputs[0].name != "list":
            raise at.mismatch(0, "a list")
        at.elements(words="a list")
        return at.inner(self.inner)


class Reset(Processor):
    """Emits the last item of ``inner`` when the guard (input 1) is true, and restarts ``inner``."""

    inner: Inner = parameter(Phi("a reset", "RESET"))

    ports = ("pipe", "guard")
    calls = ("Reset", ".reset_by")
    text = ("RESET {inner} ON {pipe} BY {guard}",)

    @classmethod
    def inside(cls, inputs: Sequence[Kind]) -> Sequence[Kind]:
        return inputs[:1]

    def kinds(self, at: At) -> list[Kind]:
        at.need(1, BOOL)
        return at.inner(self.inner)


_COLLECTION_GROWS = "unbounded state: the collection grows with every item", _IN_A_WINDOW


class Collect(Processor):
    """The list, set or bag of the items so far; ``into``: ``list set bag``."""

    into: str = parameter(Word({"LIST": "list", "SET": "set", "BAG": "bag"}), "list")

    calls = (
        "Collect",
        Call(".collect_list", "The list of the items so far.", {"into": "list"}),
        Call(".collect_set", "The set of the items so far.", {"into": "set"}),
        Call(".collect_bag", "The bag of the items so far.", {"into": "bag"}),
    )
    text = ("THE {into} OF {pipe}",)
    steady = True
    grows = _COLLECTION_GROWS
    kept = "all items"

    def kinds(self, at: At) -> list[Kind]:
        return [Kind(self.into, (at.inputs[0],))]


class CollectMap(Processor):
    """The map from the keys (input 0) to the values (input 1) so far."""

    ports = ("keys", "values")
    calls = ("CollectMap", "collect_map")
    text = ("THE MAP OF {keys} TO {values}",)
    grows = _COLLECTION_GROWS
    kept = "all items"

    def kinds(self, at: At) -> list[Kind]:
        return [map_of(at.inputs[0], at.inputs[1])]

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front


class Predicates(Processor):
    """The predicates that the items so far assert, as a tuple: the set of every domain, then of every predicate.

    An item is a list or a tuple: the name of a predicate, then its arguments.
    """

    # the set of a predicate is that of its arguments, as lists
    predicates: tuple[str, ...] = parameter(Signatures("predicates"))

    calls = ("Predicates", ".predicates")
    text = ("THE PREDICATES {predicates} OF {pipe}",)
    steady = True
    grows = _COLLECTION_GROWS
    kept = "all arguments of predicates"

    @property
    def signatures(self) -> dict[str, tuple[str, ...]]:
        """The domains of every predicate, by its name."""
        return dict(parts for parts in map(Signatures.parts, self.predicates) if parts is not None)

    def kinds(self, at: At) -> list[Kind]:
        if at.inputs[0] not in (ANY, NULL) and at.inputs[0].name not in ("list", "tuple"):
            raise at.mismatch(0, "a list or a tuple")
        domains = dict.fromkeys(d for of in self.signatures.values() for d in of)
        columns = [(d, set_of(ANY)) for d in domains] + [(p, set_of(list_of(ANY))) for p in self.signatures]
        return [tuple_of(columns)]


class Moment(Processor):
    """The mean of x^n of the items so far; nulls are ignored."""

    n: int = parameter(Whole(0), 1)

    calls = (
        "Moment",
        Call("stats.mean", "The mean of the items so far.", {"n": 1}),
        Call("stats.moment", "The mean of x^n over the items so far.", needed=("n",)),
    )
    phrases = (("THE AVERAGE OF @P", {"n": 1}), ("THE MOMENT @N OF @P", {}))
    steady = True
    takes, makes = ((0, NUMBER),), NUMBER


class Deviation(Processor):
    """The population standard deviation of the items so far."""

    calls = ("StandardDeviation", "stats.standard_deviation")
    phrases = (("THE STANDARD DEVIATION OF @P", {}),)
    steady = True
    takes, makes = ((0, NUMBER),), NUMBER


class Count(Processor):
    """The number of items so far, including nulls."""

    calls = ("Count", "stats.count")
    phrases = (("THE COUNT OF @P", {}),)
    steady = True
    makes = INT


# --- pipes.signal ---------------------------------------------------------------------------------------------------


class Threshold(Processor):
    """Each item that is greater than the limit; otherwise 0."""

    limit: int | float = parameter(Number())

    calls = ("Threshold", "signal.threshold")
    suffix = "THRESHOLD"
    steady = True

    def kinds(self, at: At) -> list[Kind]:
        return [join(at.amount(), INT)]


class Smooth(Processor):
    """The mean of the last n items, starting with item n-1."""

    n: int = parameter(Whole(1))

    calls = ("Smooth", "signal.smooth")
    takes, makes = ((0, NUMBER),), NUMBER

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(self.n - 1)


class Peaks(Processor):
    """Each item that is greater than the r items before it and not less than the r items after it; otherwise 0."""

    reach: int = parameter(Whole(1, "THE PEAK .. WITHIN"), 1, python="r")

    calls = ("Peaks", "signal.peaks")
    alike = "PEAK|PLATEAU"
    text = ("THE PEAK OF {pipe} [WITHIN {reach}]",)

    def kinds(self, at: At) -> list[Kind]:
        return [join(at.amount(), INT)]

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(self.reach)


class Plateaus(Processor):
    """The mean of the last n items if they differ by at most the tolerance; otherwise 0."""

    n: int = parameter(
        Whole(1, "THE PLATEAU .. WITHIN", ("a plateau needs a number of items", "write for example `WITHIN 5`"))
    )
    tolerance: int | float = parameter(Number(), 0)

    calls = ("Plateaus", "signal.plateaus")
    alike = "PEAK|PLATEAU"
    text = ("THE PLATEAU OF {pipe} [WITHIN {n}]",)
    takes, makes = ((0, NUMBER),), NUMBER

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(self.n - 1)


class DeadTime(Processor):
    """Sets the next n items to 0 after every item that is not zero."""

    n: int = parameter(Whole(0))

    calls = ("DeadTime", "signal.dead_time")
    steady = True

    def kinds(self, at: At) -> list[Kind]:
        return [join(at.amount(), INT)]


class TravelRise(Processor):
    """The signed height of the last n items if they travel further than they rise (a peak or a dip); otherwise 0."""

    n: int = parameter(Whole(2))
    slack: int | float = parameter(Number(), 1)

    calls = ("TravelRise", "signal.travel_rise")
    takes, makes = ((0, NUMBER),), NUMBER

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front.later(self.n - 1)


class Persist(Processor):
    """Holds the item with the greatest absolute value for n more items, until a greater one comes; then 0."""

    n: int = parameter(Whole(0))

    calls = ("Persist", "signal.persist")
    takes, makes = ((0, NUMBER),), NUMBER
    steady = True


class Noise(Processor):
    """Adds pseudo-random noise between -spread/2 and spread/2 to each item; the same seed gives the same noise."""

    spread: int | float = parameter(Number())
    seed: int = parameter(Whole(0), 0)

    calls = ("Noise", "signal.noise")
    takes, makes = ((0, NUMBER),), NUMBER
    steady = True


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


class Formula(Processor):
    """A whole formula over its atoms and quantifiers' pipes, which are the inputs of its node.

    ``troolean``: the flavour.  ``at_end``: ``nothing``, ``finite`` or ``null``.
    """

    root: Part
    troolean: bool = False
    at_end: str = "nothing"

    several = 1
    kept = "the undecided positions"

    @property
    def inners(self) -> tuple[Inner, ...]:
        return tuple(p.body for p in self.root.walk() if isinstance(p, Quantified))

    @property
    def functions_within(self) -> list[Expr]:
        return [p.domain for p in self.root.walk() if isinstance(p, Quantified)]

    def kinds(self, at: At) -> list[Kind]:
        wanted = (BOOL, TROOLEAN) if self.troolean else (BOOL,)
        for part in self.root.walk():
            if isinstance(part, Atom):
                at.need(part.index, *wanted)
            elif isinstance(part, Given):
                at.condition(part.value, ()) if not self.troolean else at.function(part.value, ())
            elif isinstance(part, Quantified):
                self._quantified(at, part, wanted)
        return [wanted[-1]]

    @staticmethod
    def _quantified(at: At, part: Quantified, wanted: tuple[Kind, ...]) -> None:
        over = at.inputs[part.input]
        domain = at.function(part.domain, (over,))
        if domain not in (ANY, NULL) and domain.name not in ("list", "set"):
            raise at.mismatch(part.input, "a list or a set as the domain of a quantifier", domain)
        (body,) = at.inner(part.body, (over,), {part.variable: element_of(domain)})
        if not any(goes_into(body, w) for w in wanted):
            raise at.mismatch(part.input, "a body of " + " or ".join(map(str, wanted)), body)

    @property
    def pending(self) -> bool:
        """Whether verdicts may wait for long: there is a G, F, U or a quantifier."""
        waits = (Globally, Eventually, Until, Quantified)
        many = len([p for p in self.root.walk() if isinstance(p, waits)])
        one = isinstance(self.root, (Globally, Eventually)) and not any(isinstance(p, Next) for p in self.root.walk())
        # of a Troolean G or F one verdict so far is enough
        return many > 0 and not (self.troolean and many == 1 and one)

    def rate(self, front: Rate, own: Rate) -> Rate:
        return front if self.troolean or not self.pending else replace(front, offset=None)

    @property
    def grows(self) -> tuple[str, str | None] | None:  # type: ignore[override]
        message = "unbounded state: undecided verdicts are kept, and their number depends on the items"
        return (message, None) if self.pending else None


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


class Machine(Processor):
    """A Moore machine over fronts of m inputs; the starts of the registers are of constants and variables."""

    start: str
    states: tuple[State, ...]
    registers: tuple[tuple[str, Expr], ...] = ()

    several = 1

    @property
    def functions_within(self) -> list[Expr]:
        found: list[Expr] = []
        for state in self.states:
            found += [state.output] if state.output is not None else []
            for t in state.transitions:
                found += [t.condition] if t.condition is not None else []
                found += [e for _, e in t.sets]
        return found

    def kinds(self, at: At) -> list[Kind]:
        registers = {n: at.function(e, ()) for n, e in self.registers}
        transitions = [t for s in self.states for t in s.transitions]
        for _ in range(len(registers) + 1):
            # what is set widens a register, and what depends on it in turn
            for t in transitions:
                for name, new in t.sets:
                    registers[name] = join(registers.get(name, NULL), at.function(new, None, registers))
        for t in transitions:
            if t.condition is not None:
                at.condition(t.condition, None, registers)
        return [joined([at.function(s.output, None, registers) for s in self.states if s.output is not None])]

    def rate(self, front: Rate, own: Rate) -> Rate:
        always = all(s.output is not None and any(t.condition is None for t in s.transitions) for s in self.states)
        return front if always else own


# --- 4.8: documents, plots, and what is printed -----------------------------------------------------------------------


class Xml(Processor):
    """Parses texts as XML documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    bad: str = parameter(OnBad(), "error", python="on_bad")

    calls = ("Xml", ".xml")
    text = ("THE XML OF {pipe}",)
    alike = "TUPLES|XML|JSON"
    takes, makes = ((0, TEXT),), XML
    steady = stateless = True


class Json(Processor):
    """Parses texts as JSON documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    bad: str = parameter(OnBad(), "error", python="on_bad")

    calls = ("Json", ".json")
    text = ("THE JSON OF {pipe}",)
    alike = "TUPLES|XML|JSON"
    takes, makes = ((0, TEXT),), JSON
    steady = stateless = True


class Tuples(Processor):
    """Parses lines of CSV as tuples; the first line names the columns."""

    calls = ("Tuples", ".tuples")
    text = ("THE TUPLES OF {pipe}",)
    alike = "TUPLES|XML|JSON"
    takes, makes = ((0, TEXT),), TUPLE


class Regex(Processor):
    """A tuple with the groups of the first match of a regular expression."""

    # null if nothing matches
    pattern: str = parameter(Pattern())
    names: tuple[str, ...] = parameter(Names("groups"))

    calls = ("Regex", ".regex")
    text = ("REGEX {pattern} WITH NAMES {names} IN {pipe}",)
    steady = stateless = True

    def kinds(self, at: At) -> list[Kind]:
        at.need(0, TEXT)
        return [tuple_of((n, TEXT) for n in self.names)]


#: what plots are of, by what they are
_PLOTTED = {
    "scatter": (("list", "set", "bag", "map"), "a collection of (x, y)"),
    "heatmap": (("list", "set", "bag", "map"), "rows of numbers or a map"),
    "histogram": (("list", "set", "bag"), "a collection of numbers"),
    "pie": (("map",), "a map of numbers"),
}


class Plot(Processor):
    """One PNG per item; ``what``: ``scatter heatmap histogram pie``; ``size`` in pixels; ``bins`` of a histogram."""

    what: str = parameter(
        Word({"SCATTERPLOT": "scatter", "HEATMAP": "heatmap", "HISTOGRAM": "histogram", "PIECHART": "pie"})
    )
    title: str = parameter(Text(), "")
    size: tuple[int, int] = parameter(Pixels(), (640, 480))
    bins: int = parameter(Whole(1), 10)

    calls = (
        Call(
            "plot.scatter",
            "A scatter plot; each item is a collection of (x, y).",
            {"what": "scatter", "bins": 10},
            port="p",
        ),
        Call(
            "plot.heatmap",
            "A heat map; each item is a list of rows of numbers, or a map (x, y) -> z.",
            {"what": "heatmap", "bins": 10},
            port="p",
        ),
        Call("plot.histogram", "A histogram; each item is a collection of numbers.", {"what": "histogram"}, port="p"),
        Call("plot.pie", "A pie chart; each item is a map of names to numbers.", {"what": "pie", "bins": 10}, port="p"),
    )
    text = ("THE {what} OF {pipe} [TITLED {title}] [SIZED {width:number} BY {height:number}]",)

    steady = stateless = True

    def kinds(self, at: At) -> list[Kind]:
        names, words = _PLOTTED[self.what]
        if at.inputs[0].name not in (*names, "any", "null"):
            raise at.mismatch(0, words)
        return [IMAGE]


class Print(Processor):
    """Passes the items through and writes them to stderr."""

    calls = ("Print", ".print")
    text = ("PRINT {pipe}",)
    steady = True


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
