"""What the items of a pipe are made of, as far as the graph says it: the items of one window, or all so far."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.model.time import Duration
from occurs.operators.process import tree
from occurs.operators.process.tree import Pipe

#: boxes whose items depend on all items before
RUNNING = (tree.Cumulate, tree.Moment, tree.Deviation, tree.Count, tree.Collect)
#: boxes whose items depend on one front each
_PASSING = (tree.Lift, tree.Where)


@dataclass(frozen=True)
class Reading:
    """An item depends on the items of ``pipe`` up to its step: the last ``width`` (an int), those of the last ``width``
    of time, or all of them (None)."""

    pipe: Pipe
    width: int | Duration | None


def reading_of(pipe: Pipe) -> Reading | None:
    """What the items of ``pipe`` depend on; None if they depend on one event each, or on more than one such pipe."""
    node = pipe.node
    while isinstance(node.processor, _PASSING) and len({id(i.node) for i in node.inputs}) == 1:
        node = node.inputs[0].node
    if isinstance(node.processor, tree.Window) and len(node.inputs) == 1:
        return Reading(node.inputs[0], node.processor.width)
    if isinstance(node.processor, RUNNING):
        return Reading(node.inputs[0], None)
    return None
