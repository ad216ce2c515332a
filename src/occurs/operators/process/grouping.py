"""GROUP BY: one slice per key, in which aggregates run over the items of the group so far.

``SELECT who, sum(n) FROM Op GROUP BY who`` is ``SLICE EACH``: its inner processor makes a row of the item and of the
sum of ``n`` so far.  The rows are those of SQL for the items up to each one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Call, Expr, IsNull, Literal, rewrite
from occurs.model.types import Type
from occurs.operators.process import tree
from occurs.operators.process.declared import Processor
from occurs.operators.process.tree import Attribute, Input, ListOf

P = TypeVar("P")
_ZERO, _ONE = Literal(0, Type.INT), Literal(1, Type.INT)
#: what the aggregates run on the values of their argument
AGGREGATES: dict[str, Processor] = {
    "sum": tree.Cumulate("addition", None),
    "mean": tree.Moment(1),
    "count": tree.Cumulate("addition", None),
    "minimum": tree.Cumulate("minimum", None),
    "maximum": tree.Cumulate("maximum", None),
    "all": tree.Cumulate("conjunction", None),
    "any": tree.Cumulate("disjunction", None),
}
#: the row of a group, of the items that a slicer emits
ROW = tree.Lift((Attribute(Input(0), "value"),))


def key_of(keys: Sequence[Expr]) -> Expr:
    """The key of the groups of some functions."""
    return keys[0] if len(keys) == 1 else ListOf(tuple(keys))


def rows(functions: Sequence[Expr], item: P, make: Callable[[Processor, list[P]], P]) -> P:
    """The rows of one group: of the functions the first makes the row, the second (if any) is the condition of HAVING.

    ``item``: the pipe of the items of the group; ``make``: makes the pipe of a processor over pipes.  Raises
    DefinitionProblem for an aggregate within another.
    """
    (row, *having), chains = _aggregates(functions)
    inputs = [item]
    for chain in chains:
        pipe = item
        for processor in chain:
            pipe = make(processor, [pipe])
        inputs.append(pipe)
    return make(tree.Lift((row,), having[0] if having else None), inputs)


def _aggregates(functions: Sequence[Expr]) -> tuple[list[Expr], list[list[Processor]]]:
    """Functions with inputs 1, 2, .. in the place of their aggregates, and the processors that make these inputs."""
    found: dict[Expr, list[Processor]] = {}

    def replaced(node: Expr) -> Expr | None:
        if not isinstance(node, Call) or node.name not in AGGREGATES or len(node.args) != 1:
            return None
        found.setdefault(node, _processors(node))
        return Input(1 + list(found).index(node), span=node.span)

    return [rewrite(f, replaced) for f in functions], list(found.values())


def _processors(call: Call) -> list[Processor]:
    (argument,) = call.args
    # what stands for an aggregate by now is the only input that is not the item
    if any(isinstance(node, Input) and node.index for node in argument.walk()):
        hint = "compute the inner aggregate in a query of its own"
        raise DefinitionProblem.of("nested-aggregate", f"an aggregate is not allowed inside `{call.name}`", hint=hint)
    if call.name == "count":
        if argument == Input(0):
            return [tree.Count()]
        argument = Call("if", (IsNull(argument), _ZERO, _ONE))
    return [tree.Lift((argument,)), AGGREGATES[call.name]]
