"""Functions lifted over pipes (pipes.md, 2.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.operators.process import tree
from occurs.pipes.box import Lifted
from occurs.pipes.callables import Function
from occurs.pipes.pipe import as_pipe


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
