"""Infix operators on pipes: functions of what stands on both sides, item by item (pipes.md, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from occurs.expr.tree import Binary, Call, Expr, IsNull, Unary
from occurs.operators.process import tree
from occurs.operators.process.tree import Input

if TYPE_CHECKING:
    from occurs.pipes.pipe import Pipe


class Infix:
    """What a pipe can do as an operand."""

    __slots__ = ()

    def __add__(self, other: Any) -> Pipe:
        return _infix("+", self, other)

    def __radd__(self, other: Any) -> Pipe:
        return _infix("+", other, self)

    def __sub__(self, other: Any) -> Pipe:
        return _infix("-", self, other)

    def __rsub__(self, other: Any) -> Pipe:
        return _infix("-", other, self)

    def __mul__(self, other: Any) -> Pipe:
        return _infix("*", self, other)

    def __rmul__(self, other: Any) -> Pipe:
        return _infix("*", other, self)

    def __truediv__(self, other: Any) -> Pipe:
        return _infix("/", self, other)

    def __rtruediv__(self, other: Any) -> Pipe:
        return _infix("/", other, self)

    def __floordiv__(self, other: Any) -> Pipe:
        return _infix("div", self, other)

    def __rfloordiv__(self, other: Any) -> Pipe:
        return _infix("div", other, self)

    def __mod__(self, other: Any) -> Pipe:
        return _infix("mod", self, other)

    def __rmod__(self, other: Any) -> Pipe:
        return _infix("mod", other, self)

    def __pow__(self, other: Any) -> Pipe:
        return lifted("^", Call("power", (Input(0), Input(1))), self, other)

    def __rpow__(self, other: Any) -> Pipe:
        return lifted("^", Call("power", (Input(0), Input(1))), other, self)

    def __neg__(self) -> Pipe:
        return lifted("-", Unary("neg", Input(0)), self)

    def __abs__(self) -> Pipe:
        return lifted("abs", Call("abs", (Input(0),)), self)

    def abs(self) -> Pipe:
        """The amount without its sign."""
        return self.__abs__()

    def __eq__(self, other: Any) -> Pipe:  # type: ignore[override]
        return _infix("=", self, other)

    def __ne__(self, other: Any) -> Pipe:  # type: ignore[override]
        return _infix("!=", self, other)

    def __lt__(self, other: Any) -> Pipe:
        return _infix("<", self, other)

    def __le__(self, other: Any) -> Pipe:
        return _infix("<=", self, other)

    def __gt__(self, other: Any) -> Pipe:
        return _infix(">", self, other)

    def __ge__(self, other: Any) -> Pipe:
        return _infix(">=", self, other)

    def __bool__(self) -> NoReturn:
        raise TypeError("a pipe is neither true nor false: combine pipes with & | ~ >>, and compare them two at a time")

    def __and__(self, other: Any) -> Pipe:
        return _logical("and", self, other)

    def __rand__(self, other: Any) -> Pipe:
        return _logical("and", other, self)

    def __or__(self, other: Any) -> Pipe:
        return _logical("or", self, other)

    def __ror__(self, other: Any) -> Pipe:
        return _logical("or", other, self)

    def __rshift__(self, other: Any) -> Pipe:
        return _logical("implies", self, other)

    def __rrshift__(self, other: Any) -> Pipe:
        return _logical("implies", other, self)

    def __invert__(self) -> Pipe:
        from occurs.pipes import ltl
        from occurs.pipes.pipe import as_pipe

        return ltl.not_(self) if ltl.is_formula(as_pipe(self)) else lifted("not", Unary("not", Input(0)), self)

    def is_null(self) -> Pipe:
        """Whether an item is null."""
        return lifted("is null", IsNull(Input(0)), self)


def lifted(name: str, expr: Expr, *operands: Any) -> Pipe:
    """The function ``expr`` over pipes and constants."""
    from occurs.pipes.box import Lifted
    from occurs.pipes.pipe import as_pipe

    pipes = [as_pipe(o) for o in operands]
    return Lifted(tree.Lift((expr,)), len(pipes), 1, name=name, sources=pipes).out()


def _infix(op: str, left: Any, right: Any) -> Pipe:
    return lifted(op, Binary(op, Input(0), Input(1)), left, right)


def _logical(op: str, left: Any, right: Any) -> Pipe:
    """A formula as soon as one side is one; else a function over the items."""
    from occurs.pipes import ltl
    from occurs.pipes.pipe import Pipe

    if any(isinstance(p, Pipe) and ltl.is_formula(p) for p in (left, right)):
        return {"and": ltl.and_, "or": ltl.or_, "implies": ltl.implies}[op](left, right)
    expr = Call(op, (Input(0), Input(1))) if op == "implies" else Binary(op, Input(0), Input(1))
    return lifted(op, expr, left, right)
