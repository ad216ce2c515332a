"""What the plan knows of a definition over pipes (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from occurs.errors import Problem, Span
from occurs.pipes.graph import Pipe
from occurs.pipes.kinds import Kind
from occurs.plan.definition import Definition
from occurs.plan.graph import Node
from occurs.plan.keys import Choice


@dataclass(frozen=True)
class PipesDefinition(Definition):
    """A definition over pipes: ``pipe`` gives its items, of the type ``item``.

    ``name``: the type that it defines; ``at``: its place; ``definition``: its identity; ``about``: its rows say what
    event they speak of; ``splits``: the ways to split it; ``kept``: what it keeps, in words; ``single``: it looks at
    one row only; ``ordered``: the processor that needs the whole order; ``boxes``: its processors; ``since``: it sees
    rows after this tick only.
    """

    name: str
    at: int
    definition: str
    pipe: Pipe
    item: Kind
    about: bool = False
    splits: tuple[Choice, ...] = ()
    kept: tuple[str, ...] = ()
    single: bool = False
    ordered: str = ""
    boxes: tuple[str, ...] = ()
    costs: tuple[Problem, ...] = ()
    since: int | None = None
    file: str | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def output(self) -> str:
        return self.name

    @property
    def place(self) -> int:
        return self.at

    @property
    def identity(self) -> str:
        return self.definition

    @property
    def node(self) -> Node:
        return Node(self.name, frozenset(self.reads), frozenset())

    @property
    def choices(self) -> tuple[Choice, ...]:
        return self.splits

    @property
    def born(self) -> int | None:
        return self.since

    @property
    def endless(self) -> str:
        return "" if self.single else f"{self.ordered} needs all items in their order"

    @property
    def row_by_row(self) -> bool:
        return self.single

    @property
    def warnings(self) -> Sequence[Problem]:
        return self.costs

    def after(self, born: int) -> PipesDefinition:
        return replace(self, since=born)
