"""Pipes: what flows out of boxes, composed like expressions (pipes.md, 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Binary, Call, Expr, IsNull, Unary
from occurs.operators.process import tree
from occurs.operators.process.kinds import Kind
from occurs.operators.process.tree import Attribute, Inner, Input, Node, nodes
from occurs.operators.process.tree import Pipe as GraphPipe
from occurs.pipes.box import AtEnd, Box, Lifted, Made, Parameter
from occurs.pipes.callables import CUMULATIVE, Function, as_function
from occurs.pipes.constants import constant, duration, whole

if TYPE_CHECKING:
    from occurs.pipes.running import Pull, Push


AT_END = ("nothing", "finite", "null")


def _infix(op: str, turned: bool = False) -> Callable[[Pipe, Any], Pipe]:
    """The method of an infix operator; ``turned``: the pipe is on the right."""

    def method(self: Pipe, other: Any) -> Pipe:
        return combined(op, other, self) if turned else combined(op, self, other)

    return method


class Pipe:
    """An output of a box.  A pipe is immutable: every operation returns a new pipe, and a pipe can be used several
    times.

    ``x.price`` selects an attribute of tuples; ``x["price"]`` also works for attributes with the name of a method.
    """

    __slots__ = ("_box", "_port")
    _box: Box
    _port: int

    def __init__(self, box: Box, port: int = 0) -> None:
        object.__setattr__(self, "_box", box)
        object.__setattr__(self, "_port", port)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a pipe cannot be changed")

    def __repr__(self) -> str:
        return f"<pipe of {self.item_type}: output {self._port} of {self._box}>"

    @property
    def item_type(self) -> Kind:
        """The type of the items of this pipe; ``any`` while it is unknown."""
        return self._box.kinds[self._port]

    @property
    def parameter(self) -> Expr | None:
        """The constant or variable of a pipe without events; None for other pipes."""
        found = None if self._box._made is None else self._box._made[self._port]
        return found if isinstance(found, Expr) else None

    @property
    def graph(self) -> GraphPipe:
        """The pipe in the graph of all boxes; raises DefinitionProblem for a constant, ConnectionProblem for an open
        input."""
        found = self._box.made[self._port]
        if isinstance(found, Expr):
            raise DefinitionProblem.of("sort", f"{self._box} is a constant, which has no events of its own")
        return found

    # --- parts ------------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Pipe:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, at: Any) -> Pipe:
        """``x["a"]``: an attribute, or what a map has at this key; ``x[1]``: an element of a list, from 0."""
        if isinstance(at, str) and self.item_type.name != "map":
            return lifted(f".{at}", Attribute(Input(0), at), self)
        return lifted("[]", Call("element", (Input(0), Input(1))), self, at)

    def __hash__(self) -> int:
        return hash((id(self._box), self._port))

    def __iter__(self) -> NoReturn:
        raise TypeError("a pipe is not iterable: use pull() or run()")

    # --- 4.2 --------------------------------------------------------------------------------------------------------

    def constant(self, value: Any) -> Pipe:
        """A constant, repeated for every item (Mutator)."""
        return Box(tree.Lift((constant(value),)), sources=[self]).out()

    def cumulate(self, function: Any, start: Any = None) -> Pipe:
        """Combines the items so far: o_i = f(o_{i-1}, x_i) with o_{-1} = start.  ``start`` None: the default of the
        function (4.3)."""
        return Box(cumulative(function, start), sources=[self]).out()

    def decimate(self, n: int, last: bool = False) -> Pipe:
        """Every n-th item: x_0, x_n, x_2n ..; ``last``: also the last item of the trace."""
        return self._through(tree.Decimate(whole(n, 1, "Decimate"), last))

    def freeze(self) -> Pipe:
        """The first item, repeated for every item."""
        return self._through(tree.Freeze())

    def trim(self, n: int) -> Pipe:
        """Skips the first n items."""
        return self._through(tree.Trim(whole(n, 0, "Trim")))

    def filter(self, guard: Pipe) -> Pipe:
        """The items for which the item of the guard at the same position is true."""
        return Box(tree.Filter(), 2, 1, sources=[self, guard]).out()

    def window(self, width: Any, inner: Callable[..., Any]) -> Any:
        """The last item of ``inner`` on every ``width`` items, or on the items of a duration (``"10 s"``)."""
        from occurs.pipes.operators import window

        return window(width, inner, self)

    def slice(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """Runs ``inner`` separately for every key; emits, after every item, the map {key: newest item of ``inner``}."""
        return self._slice("map", key, inner, explode, until)

    def slice_each(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """A tuple (key, value) for every item that a slice emits."""
        return self._slice("each", key, inner, explode, until)

    def slice_last(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """The list of the newest items of the slices in which an item causes output."""
        return self._slice("last", key, inner, explode, until)

    def _slice(self, form: str, key: Any, inner: Callable[..., Any], explode: bool, until: Any) -> Pipe:
        end = None if until is None else as_function(until)
        phi = inner_of(inner, [self.item_type], "a slice")
        return self._through(tree.Slice(as_function(key), phi, form, explode, end))

    # --- 4.3 --------------------------------------------------------------------------------------------------------

    def first(self, n: int = 1) -> Pipe:
        """The first n items; then the trace ends."""
        return self._through(tree.First(whole(n, 0, "First")))

    def last(self) -> Pipe:
        """The last item, emitted at the end of the trace."""
        return self._through(tree.Last())

    def every(self, width: Any) -> Pipe:
        """The first item, then each first item that is at least a duration (``"10 s"``) later than the last one
        kept."""
        return self._through(tree.Every(duration(width)))

    def where(self, condition: Any) -> Pipe:
        """The items for which a function is true."""
        return self._through(tree.Where(as_function(condition)))

    def stop_when(self, condition: Any) -> Pipe:
        """The items before the first one for which a function is true."""
        return self._through(tree.StopWhen(as_function(condition)))

    def insert(self, n: int, value: Any) -> Pipe:
        """Inserts a constant n times before the first item."""
        return self._through(tree.Insert(whole(n, 0, "Insert"), _operand(value)))

    def repeat(self, times: int | Pipe) -> Pipe:
        """Repeats each item n times; if n is a pipe, its items are the numbers of repetitions."""
        if isinstance(times, Pipe):
            return Box(tree.RepeatBy(), 2, 1, sources=[self, times]).out()
        return self._through(tree.Repeat(whole(times, 0, "Repeat")))

    def pack(self, guard: Pipe) -> Pipe:
        """Emits the list of the items so far when the guard is true; the next list starts with this item."""
        return Box(tree.Pack(), 2, 1, sources=[self, guard]).out()

    def unpack(self) -> Pipe:
        """The elements of each list."""
        return self._through(tree.Unpack())

    def each(self, inner: Callable[..., Any]) -> Pipe:
        """The last item of ``inner`` on the elements of each list."""
        from occurs.operators.process.kinds import ANY

        element = self.item_type.args[0] if self.item_type.args else ANY
        return self._through(tree.Each(inner_of(inner, [element], "a run on lists")))

    def reset_by(self, guard: Pipe, inner: Callable[..., Any]) -> Pipe:
        """Emits the last item of ``inner`` when the guard is true, and restarts ``inner``."""
        return Box(tree.Reset(inner_of(inner, [self.item_type], "a reset")), 2, 1, sources=[self, guard]).out()

    def collect_list(self) -> Pipe:
        """The list of the items so far."""
        return self._through(tree.Collect("list"))

    def collect_set(self) -> Pipe:
        """The set of the items so far."""
        return self._through(tree.Collect("set"))

    def collect_bag(self) -> Pipe:
        """The bag of the items so far."""
        return self._through(tree.Collect("bag"))

    # --- 4.8 --------------------------------------------------------------------------------------------------------

    def xml(self, on_bad: str = "error") -> Pipe:
        """Parses texts as XML documents; ``on_bad="null"``: null for malformed texts instead of an error."""
        return self._through(tree.Xml(on_bad_named(on_bad)))

    def json(self, on_bad: str = "error") -> Pipe:
        """Parses texts as JSON documents; ``on_bad="null"``: null for malformed texts instead of an error."""
        return self._through(tree.Json(on_bad_named(on_bad)))

    def tuples(self) -> Pipe:
        """Parses lines of CSV as tuples; the first line names the columns."""
        return self._through(tree.Tuples())

    def regex(self, pattern: str, *names: str) -> Pipe:
        """A tuple with the groups of the first match of a regular expression."""
        return self._through(tree.Regex(pattern, names))

    def print(self) -> Pipe:
        """Passes the items through and writes them to stderr."""
        return self._through(tree.Print())

    # --- the end and the run ----------------------------------------------------------------------------------------

    def at_end(self, policy: str) -> Pipe:
        """Sets the verdict of undecided formulas at the end of the trace: ``nothing``, ``finite`` or ``null``."""
        if policy not in AT_END:
            raise DefinitionProblem.of("unknown-name", f"at_end must be one of {', '.join(AT_END)}, not {policy!r}")
        return AtEnd(policy, self).out()

    def named(self, name: str, *, about: bool = False) -> Any:
        """Makes a definition of the pipe: its items are events of the type ``name``."""
        from occurs.pipes.programs import Named

        return Named(name, self, about)

    def open(self, *, time_unit: str | None = None) -> Push:
        """Opens a run for pushing values; ``time_unit``: the unit of integer times (``"s"``), for durations with
        units."""
        from occurs.pipes.running import Push

        return Push(self, time_unit)

    def pull(self, sources: Mapping[str, Iterable[Any]] | Iterable[Any], *, time_unit: str | None = None) -> Pull:
        """An iterator over the output, given the items of the sources."""
        from occurs.pipes.running import Pull

        return Pull(self, sources, time_unit)

    def run(self, sources: Any, ended: bool = True, *, time_unit: str | None = None) -> Any:
        """The values of the output for complete sources: ``{name: values}`` or a table."""
        from occurs.pipes.running import run

        return run(self, sources, ended, time_unit)

    # --- infix operators ----------------------------------------------------------------------------------------------

    __add__, __radd__ = _infix("+"), _infix("+", turned=True)
    __sub__, __rsub__ = _infix("-"), _infix("-", turned=True)
    __mul__, __rmul__ = _infix("*"), _infix("*", turned=True)
    __truediv__, __rtruediv__ = _infix("/"), _infix("/", turned=True)
    __floordiv__, __rfloordiv__ = _infix("div"), _infix("div", turned=True)
    __mod__, __rmod__ = _infix("mod"), _infix("mod", turned=True)
    __pow__, __rpow__ = _infix("^"), _infix("^", turned=True)
    __eq__ = _infix("=")  # type: ignore[assignment]
    __ne__ = _infix("!=")  # type: ignore[assignment]
    __lt__, __le__, __gt__, __ge__ = _infix("<"), _infix("<="), _infix(">"), _infix(">=")
    __and__, __rand__ = _infix("and"), _infix("and", turned=True)
    __or__, __ror__ = _infix("or"), _infix("or", turned=True)
    __rshift__, __rrshift__ = _infix("implies"), _infix("implies", turned=True)

    def __neg__(self) -> Pipe:
        return lifted("-", Unary("neg", Input(0)), self)

    def __abs__(self) -> Pipe:
        return lifted("abs", Call("abs", (Input(0),)), self)

    def abs(self) -> Pipe:
        """The amount without its sign."""
        return self.__abs__()

    def __bool__(self) -> NoReturn:
        raise TypeError("a pipe is neither true nor false: combine pipes with & | ~ >>, and compare them two at a time")

    def __invert__(self) -> Pipe:
        from occurs.pipes import ltl

        return ltl.not_(self) if ltl.is_formula(as_pipe(self)) else lifted("not", Unary("not", Input(0)), self)

    def is_null(self) -> Pipe:
        """Whether an item is null."""
        return lifted("is null", IsNull(Input(0)), self)

    def _through(self, processor: tree.Processor) -> Pipe:
        return Box(processor, sources=[self]).out()


def as_pipe(value: Any) -> Pipe:
    """A pipe, or the constant that a value is."""
    return value if isinstance(value, Pipe) else Pipe(Constant(value), 0)


class Constant(Parameter):
    """A constant that functions can take as input."""

    def __init__(self, value: Any, *, name: str | None = None) -> None:
        super().__init__(constant(value), name=name)


def lifted(name: str, expr: Expr, *operands: Any) -> Pipe:
    """The function ``expr`` over pipes and constants."""
    pipes = [as_pipe(o) for o in operands]
    return Lifted(tree.Lift((expr,)), len(pipes), 1, name=name, sources=pipes).out()


#: operators that are written as calls of functions, or as formulas if one side is one
_CALLS, _LOGICAL = {"^": "power", "implies": "implies"}, ("and", "or", "implies")


def combined(op: str, left: Any, right: Any) -> Pipe:
    """The function of an infix operator over the items, or a formula."""
    from occurs.pipes import ltl

    if op in _LOGICAL and any(isinstance(p, Pipe) and ltl.is_formula(p) for p in (left, right)):
        return {"and": ltl.and_, "or": ltl.or_, "implies": ltl.implies}[op](left, right)
    both = (Input(0), Input(1))
    return lifted(op, Call(_CALLS[op], both) if op in _CALLS else Binary(op, *both), left, right)


def _operand(value: Any) -> Expr:
    """A constant or a variable."""
    found = value.parameter if isinstance(value, Pipe) else constant(value)
    if found is None:
        raise DefinitionProblem.of("sort", "this argument must be a constant or a variable, not a pipe")
    return found


def on_bad_named(on_bad: str) -> str:
    """``error`` or ``null``; DefinitionProblem if it is neither."""
    if on_bad not in ("error", "null"):
        raise DefinitionProblem.of("unknown-name", f"on_bad must be error or null, not {on_bad!r}")
    return on_bad


def cumulative(function: Any, start: Any) -> tree.Cumulate:
    """Σ of a function of two arguments, or of a word of eSQL in lower case (``"bag union"``)."""
    word = CUMULATIVE.get(function.name) if isinstance(function, Function) and function.arity == 2 else None
    if isinstance(function, str) and function in tree.CUMULATIVE:
        word = function
    first = None if start is None else _operand(start)
    return tree.Cumulate(as_function(function, 2) if word is None else word, first)


# --- inner processors

Phi = Callable[..., Any]


class _Here(Box):
    """Input ``index`` of an inner processor."""

    def __init__(self, index: int, kind: Kind) -> None:
        self.kind = kind
        super().__init__(tree.Placeholder(index), 0, 1)

    def kinds_for(self, given: Sequence[Kind]) -> list[Kind]:
        return [self.kind]

    def make(self, inputs: list[Made]) -> list[Made]:
        assert self.processor is not None
        return [Node(self.processor).out()]


def inner_of(phi: Phi, kinds: Sequence[Kind], what: str) -> Inner:
    """The inner processor that a callable builds from as many pipes as there are ``kinds``.

    DefinitionProblem if it gives no pipe, or one that needs anything but its parameters, variables and constants.
    """
    if not callable(phi):
        raise DefinitionProblem.of("sort", f"the inner processor of {what} must be a function from pipes to pipes")
    here = [Pipe(_Here(k, kind), 0) for k, kind in enumerate(kinds)]
    given = phi(*here)
    outputs = [_made(p, what) for p in (given if isinstance(given, tuple) else (given,))]
    own = {id(p._box.made[0].node) for p in here if isinstance(p._box.made[0], tree.Pipe)}
    for node in nodes(outputs):
        if not node.inputs and id(node) not in own:
            raise DefinitionProblem.of(
                "sort", f"the inner processor of {what} can only use its parameter, $variables and constants"
            )
    return Inner(len(kinds), tuple(outputs))


def _made(pipe: Any, what: str) -> tree.Pipe:
    found = pipe.graph if isinstance(pipe, Pipe) else None
    if found is None:
        raise DefinitionProblem.of("sort", f"the inner processor of {what} returned {pipe!r}, which is not a pipe")
    return found
