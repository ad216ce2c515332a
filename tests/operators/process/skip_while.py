"""``SKIP p WHILE f``: the items from the first one on for which a function is not true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs.expr.tree import Expr
from occurs.operators.process.declared import Function, Processor, parameter
from occurs.operators.process.functions import Function as Computed
from occurs.operators.process.items import CallSteps, Items
from occurs.operators.process.kinds import Kind
from occurs.operators.process.operator import Operator, operator
from occurs.operators.process.state import Counts, Part, State

if TYPE_CHECKING:
    from occurs.operators.process.typing import At


class SkipWhile(Processor):
    """Skips items as long as a function is true of them."""

    condition: Expr = parameter(Function())

    calls = ("SkipWhile", ".skip_while")
    text = ("SKIP {pipe} WHILE {condition}",)

    def kinds(self, at: At) -> list[Kind]:
        at.condition(self.condition)
        return [at.inputs[0]]

    @staticmethod
    def meaning(p: Any, inputs: Sequence[Any], scope: Any) -> list[Any]:
        (x,) = inputs
        n = next((i for i, item in enumerate(x.items) if not scope.selects(p.condition, (item.value,))), len(x))
        return [type(x)(x.items[n:], x.end)]


@operator(SkipWhile)
class _Skipping(Operator):
    def fresh(self) -> dict[str, Part]:
        return {"begun": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        begun = state["begun"].upto(call.instances)
        skipped = Computed(self.p.condition).true(self.env([x.value], x.code, len(x), call))
        there = ~skipped
        codes = x.codes
        first = np.full(call.instances, len(x), np.int64)
        np.minimum.at(first, codes[there], np.flatnonzero(there))
        first[begun > 0] = 0
        begun[codes[there]] = 1
        return x.filter(np.arange(len(x)) >= first[codes])
