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
from occurs.pipes.constants import constant, whole
from occurs.pipes.processors import Methods

if TYPE_CHECKING:
    from occurs.pipes.running import Pull, Push


AT_END = ("nothing", "finite", "null")


def _infix(op: str, turned: bool = False) -> Callable[[Pipe, Any], Pipe]:
    """The method of an infix operator; ``turned``: the pipe is on the right."""

    def method(self: Pipe, other: Any) -> Pipe:
        return combined(op, other, self) if turned else combined(op, self, other)

    return method


class Pipe(Methods):
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

    # --- processors that are not declared as methods ----------------------------------------------------------------

    def constant(self, value: Any) -> Pipe:
        """A constant, repeated for every item (Mutator)."""
        return Box(tree.Lift((constant(value),)), sources=[self]).out()

    def window(self, width: Any, inner: Callable[..., Any]) -> Any:
        """The last item of ``inner`` on every ``width`` items, or on the items of a duration (``"10 s"``)."""
        from occurs.pipes.operators import window

        return window(width, inner, self)

    def repeat(self, times: int | Pipe) -> Pipe:
        """Repeats each item n times; if n is a pipe, its items are the numbers of repetitions."""
        if isinstance(times, Pipe):
            return Box(tree.RepeatBy(), 2, 1, sources=[self, times]).out()
        return Box(tree.Repeat(whole(times, 0, "Repeat")), sources=[self]).out()

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


def operand(value: Any) -> Expr:
    """A constant or a variable."""
    found = value.parameter if isinstance(value, Pipe) else constant(value)
    if found is None:
        raise DefinitionProblem.of("sort", "this argument must be a constant or a variable, not a pipe")
    return found


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
