"""Functions that make pipes: those that are no method of one (pipes.md, 2.3, 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Expr, Param, Ref, rewrite
from occurs.operators.process import grouping, tree
from occurs.operators.process.declared import Processor
from occurs.operators.process.kinds import ANY, Kind, kind_named, of_schema, tuple_of
from occurs.operators.process.tree import Attribute, Input, TupleOf
from occurs.pipes.box import Box, Lifted, Parameter
from occurs.pipes.callables import Function
from occurs.pipes.constants import constant, duration, whole
from occurs.pipes.pipe import Pipe, as_pipe, inner_of


class Lift(Lifted):
    """``Lift(f)``: a box that applies a function to the items at each position.  ``inputs``: the number of inputs, if
    the function takes any number."""

    def __init__(
        self, function: Function, *, early: bool = False, inputs: int | None = None, name: str | None = None
    ) -> None:
        if not isinstance(function, Function):
            hint = 'write fn("..."), fn.add, or decorate a Python function with @pipes.function'
            raise DefinitionProblem.of("sort", f"{function!r} is not a function of pipes", hint=hint)
        many = function.arity if inputs is None else inputs
        results = function.expressions(1 if many is None else many)
        if early and len(results) != 1:
            raise DefinitionProblem.of("arity", "a function that is evaluated early must have one result")
        super().__init__(tree.Lift(results, None, early), 1 if many is None else many, len(results), name=name)


class Mutator(Box):
    """A constant, repeated for every item."""

    def __init__(self, value: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Lift((constant(value),)), name=name)


def lift(function: Function, early: bool = False) -> Callable[..., Any]:
    """The function over pipes, with one pipe per result.  ``early``: emit a result as soon as the present items decide
    it."""

    def apply(*operands: Any) -> Any:
        box = Lift(function, early=early, inputs=len(operands), name=getattr(function, "name", None))
        for port, operand in enumerate(operands):
            box.connect(port, as_pipe(operand))
        box.settle()
        outputs = tuple(box.out(k) for k in range(box.outputs))
        return outputs[0] if len(outputs) == 1 else outputs

    return apply


def source(*types: str, type: Any = None) -> Pipe:
    """The events of one type, or of several types.

    ``type``: the type of an item, if no table defines it: a type (``int``, ``"list<text>"``) or a mapping from columns
    to types.
    """
    if not types:
        raise DefinitionProblem.of("arity", "a source needs an event type")
    return Source(*types, type=type).out()


class Source(Box):
    """A source of events of given types."""

    def __init__(self, *types: str, type: Any = None) -> None:
        super().__init__(tree.Events(types, _item(type)), 0, 1, name=", ".join(types))

    def make(self, inputs: list[Any]) -> list[Any]:
        assert self.processor is not None
        return [tree.Node(self.processor, (), self.name).out()]


def _item(given: Any) -> Kind:
    from occurs.model.types import Schema

    if given is None:
        return ANY
    if isinstance(given, Schema):
        return of_schema(given)
    if isinstance(given, Mapping):
        return tuple_of((n, kind_named(k)) for n, k in given.items())
    return kind_named(given)


def var(name: str) -> Pipe:
    """``$name``: the variable of a quantifier, ``slice``, or a register."""
    return Parameter(Param(name.lstrip("$")), name=f"${name.lstrip('$')}").out()


def window(width: Any, inner: Callable[..., Any], *pipes: Pipe) -> Any:
    """The last item of ``inner`` on every window over one or more pipes, with one pipe per output of ``inner``."""
    box = Window(width, inner, inputs=len(pipes), sources=pipes)
    outputs = tuple(box.out(k) for k in range(box.outputs))
    return outputs[0] if len(outputs) == 1 else outputs


class Window(Box):
    """Windows of ``width`` items, or of a duration."""

    def __init__(
        self,
        width: Any,
        inner: Callable[..., Any],
        *,
        inputs: int = 1,
        name: str | None = None,
        sources: Sequence[Pipe] = (),
    ) -> None:
        size = whole(width, 1, "Window") if isinstance(width, (int, float)) else duration(width)
        phi = inner_of(inner, [p.item_type for p in sources] or [ANY] * inputs, "a window")
        super().__init__(tree.Window(size, phi), inputs, len(phi.outputs), name=name, sources=sources)


def filter(*pipes: Pipe, guard: Pipe) -> Any:
    """The items at the positions where the guard is true, with one pipe per input."""
    box = Box(tree.Filter(), len(pipes) + 1, len(pipes), sources=[*pipes, guard])
    outputs = tuple(box.out(k) for k in range(box.outputs))
    return outputs[0] if len(outputs) == 1 else outputs


def merge(*pipes: Pipe) -> Pipe:
    """The items of all pipes in the order of their steps, then of the pipes."""
    return Box(tree.Merge(), len(pipes), 1, sources=pipes).out()


def select(columns: Any, from_: Any, where: Any = None, group_by: Any = None, having: Any = None) -> Pipe:
    """``SELECT .. FROM .. WHERE .. GROUP BY .. HAVING ..``: joins the i-th items of several pipes, filters them, and
    makes tuples.

    ``columns``: a mapping from names to functions, or one function for a bare value.  ``from_``: a pipe, a list of
    pipes, or a mapping from names to pipes; functions refer to the pipes by these names (``fn("a.v * b.v")``).

    ``group_by``: a function, or several: of one pipe.  Then ``count sum mean minimum maximum all any`` of one argument
    are aggregates of the items of the group so far, and ``having`` chooses among the rows.
    """
    named = from_ if isinstance(from_, Mapping) else {}
    pipes = list(named.values()) if named else [from_] if isinstance(from_, Pipe) else list(from_)
    inputs = {n: Input(k) for k, n in enumerate(named)}

    def of(value: Any) -> Expr:
        if not isinstance(value, Function):
            return constant(value)
        (found,) = value.results([Input(i) for i in range(value.arity or len(pipes))])
        return rewrite(found, lambda n: _of_input(n, inputs))

    if isinstance(columns, Mapping):
        row: Expr = TupleOf(tuple(columns), tuple(of(c) for c in columns.values()))
    else:
        row = of(columns)
    if group_by is not None:
        if len(pipes) != 1:
            raise DefinitionProblem.of("arity", f"GROUP BY takes one source, not {len(pipes)}")
        keys = group_by if isinstance(group_by, (list, tuple)) else [group_by]
        rows = pipes[0] if where is None else _made(tree.Where(of(where)), pipes[0])
        return _grouped(rows, row, grouping.key_of([of(k) for k in keys]), None if having is None else of(having))
    if having is not None:
        raise DefinitionProblem.of("sort", "`having` needs `group_by`")
    processor = tree.Lift((row,), None if where is None else of(where))
    return Box(processor, len(pipes), 1, name="select", sources=pipes).out()


def _made(processor: Processor, *sources: Pipe) -> Pipe:
    return Box(processor, len(sources), sources=sources).out()


def _grouped(rows: Pipe, row: Expr, key: Expr, having: Expr | None) -> Pipe:
    """A slice per key, in which aggregates run."""
    functions = [row] if having is None else [row, having]

    def slice_of(item: Pipe) -> Pipe:
        return grouping.rows(functions, item, lambda p, sources: _made(p, *sources))

    inner = inner_of(slice_of, [rows.item_type], "a group")
    return _made(grouping.ROW, _made(tree.Slice(key, inner, "each", False, None), rows))


def _of_input(node: Expr, inputs: Mapping[str, Input]) -> Expr | None:
    """``t.a`` of a named input."""
    if isinstance(node, Attribute) and isinstance(node.of, Ref) and node.of.name in inputs:
        return Attribute(inputs[node.of.name], node.name)
    if isinstance(node, Ref) and node.scope in inputs:
        return Attribute(inputs[node.scope or ""], node.name)
    return None


class Group:
    """A function from pipes to pipes with a name: it can be used again and again."""

    def __init__(self, build: Callable[..., Any], name: str | None = None) -> None:
        self.build, self.name = build, name or getattr(build, "__name__", "box")

    def __call__(self, *pipes: Pipe) -> Any:
        return self.build(*pipes)

    def __repr__(self) -> str:
        return f"<box {self.name}>"


def box(build: Callable[..., Any], *, name: str | None = None) -> Group:
    """A group of boxes as one box, built by a function of its input pipes."""
    return Group(build, name)
