"""Inner processors: callables from pipes to pipes, called once when a pipe is built (pipes.md, 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.operators.process import tree
from occurs.operators.process.kinds import Kind
from occurs.operators.process.tree import Inner, Node, nodes
from occurs.pipes.box import Box, Made
from occurs.pipes.pipe import Pipe

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
