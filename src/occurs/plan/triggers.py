"""What the plan knows of a temporal trigger (temporal-logic.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from occurs.errors import Problem, Span
from occurs.model.types import Schema, Type
from occurs.operators.logic.triggering import Operator
from occurs.plan.definition import Definition
from occurs.plan.graph import Node
from occurs.plan.keys import Choice


@dataclass(frozen=True)
class TriggerDefinition(Definition):
    """A temporal trigger: ``operator`` evaluates it.

    ``name``: the type of event that it makes; ``at``: its place; ``definition``: its identity; ``trigger``: its own
    name; ``generics``: its generic variables.  ``placed``: types whose rows have to say where they come from.
    ``sequenced``: types whose rows have to bring their sequence numbers.  ``splits``: the ways to split it; ``kept``:
    what it keeps, in words, ``size`` how much that is; ``timed``: there may be states without rows; ``text``: what it
    says; ``since``: it sees rows after this tick only.

    ``future``: it looks ahead, so that there may be instances that can fire no more.  ``never``: if it is not empty,
    the notices of these are a side output of this type, with the columns ``notices``: the generic variables.
    ``thorough``: an operator that knows why a trigger fires, if ``operator`` does not; ``reasons``: is it asked why?
    """

    name: str
    at: int
    definition: str
    trigger: str
    operator: Operator
    generics: tuple[tuple[str, Type], ...] = ()
    placed: frozenset[str] = frozenset()
    sequenced: frozenset[str] = frozenset()
    splits: tuple[Choice, ...] = ()
    kept: tuple[str, ...] = ()
    timed: bool = False
    text: str = field(default="", compare=False, repr=False)
    costs: tuple[Problem, ...] = ()
    since: int | None = None
    file: str | None = None
    span: Span | None = None
    size: str = "constant"
    thorough: Operator | None = None
    reasons: bool = False
    future: bool = False
    never: str = ""
    notices: Schema = Schema()

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
        return "what a trigger waits for depends on all states since it was activated"

    @property
    def row_by_row(self) -> bool:
        return False

    @property
    def warnings(self) -> Sequence[Problem]:
        return self.costs

    def after(self, born: int) -> TriggerDefinition:
        return replace(self, since=born)

    def reasoning(self) -> TriggerDefinition:
        return replace(self, operator=self.thorough or self.operator, thorough=None, reasons=True)

    def noticing(self) -> TriggerDefinition:
        return replace(self, never=f"never {self.trigger}", notices=Schema(self.generics)) if self.future else self
