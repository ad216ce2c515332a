"""What the plan knows of a pattern over the order of events (epl-and-nets.md, section 4A)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from occurs.errors import Problem, Span
from occurs.model.types import Schema
from occurs.operators.sequences import tree
from occurs.plan.definition import Definition
from occurs.plan.graph import Node
from occurs.plan.keys import Choice

#: live partial matches that a definition may have, if nobody says how many
MOST_INSTANCES = 10_000_000


@dataclass(frozen=True)
class SequenceDefinition(Definition):
    """A definition by a pattern over the order of events: ``pattern``.

    ``name``: the type it defines; ``at``: its place; ``definition``: its identity; ``single``: it looks at one row
    only; ``splits``: the ways to split it; ``kept``: what it keeps, in words; ``costs``: what is to be said of it;
    ``limit``: partial matches that may live at a time; ``since``: it sees rows after this tick only.

    ``ended``: if it is not empty, this gives the partial matches that the guards of ``pattern`` have ended, under this
    name, and not the matches: a side output.  ``schema``: then its columns.
    """

    name: str
    at: int
    definition: str
    pattern: tree.Sequence
    single: bool = False
    splits: tuple[Choice, ...] = ()
    kept: tuple[str, ...] = ()
    costs: tuple[Problem, ...] = ()
    limit: int = MOST_INSTANCES
    since: int | None = None
    file: str | None = None
    span: Span | None = None
    ended: str = ""
    schema: Schema = Schema()

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
        return "" if self.single else "what a pattern waits for depends on all that came before"

    @property
    def row_by_row(self) -> bool:
        return self.single

    @cached_property
    def timed(self) -> bool:
        """Can something happen where no row is?"""
        return any(isinstance(n, tree.Interval | tree.At | tree.Within) for n in nodes(self.pattern.root))

    @property
    def warnings(self) -> Sequence[Problem]:
        return self.costs

    def after(self, born: int) -> SequenceDefinition:
        return replace(self, since=born)

    def at_most(self, instances: int) -> SequenceDefinition:
        return replace(self, limit=instances)


def nodes(root: tree.Node) -> Iterator[tree.Node]:
    """A pattern and all below it, parents first."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)
