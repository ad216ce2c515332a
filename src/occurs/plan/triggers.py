"""What the plan knows of a temporal trigger (temporal-logic.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.errors import Span
from occurs.model.types import Schema, Type
from occurs.operators.logic.triggering import Operator
from occurs.plan.definition import Named


@dataclass(frozen=True)
class TriggerDefinition(Named):
    """A temporal trigger: ``operator`` evaluates it.

    ``trigger``: its own name; ``generics``: its generic variables.  ``placed``: types whose rows have to say where they
    come from.  ``sequenced``: types whose rows have to bring their sequence numbers.  ``tables``: types whose rows are
    changes of tables.  ``size``: how much it keeps;
    ``timed``: there may be states without rows; ``text``: what it says, and what is known of the types it reads.

    ``future``: it looks ahead, so that there may be instances that can fire no more.  ``never``: if it is not empty,
    the notices of these are a side output of this type, with the columns ``notices``: the generic variables.
    ``thorough``: the operator that knows why a trigger fires; ``reasons``: is it asked why?  ``stateful``: does
    ``operator`` go state by state, and not over whole columns?

    ``begins``: the types whose rows make instances, with the columns that must not be null; None: a query makes them.

    ``overlap``: how many ticks before a firing the states lie that it depends on; if None, ``whole`` says why that has
    no bound.
    """

    trigger: str
    operator: Operator
    generics: tuple[tuple[str, Type], ...] = ()
    placed: frozenset[str] = frozenset()
    sequenced: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    timed: bool = False
    text: str = field(default="", compare=False, repr=False)
    file: str | None = None
    span: Span | None = None
    size: str = "constant"
    thorough: Operator | None = None
    stateful: bool = True
    reasons: bool = False
    future: bool = False
    never: str = ""
    notices: Schema = Schema()
    begins: tuple[tuple[str, tuple[str, ...]], ...] | None = ()
    overlap: int | None = None
    whole: str = field(default="", compare=False)

    @property
    def tells(self) -> bool:
        """May there be notices?  What is evaluated over whole columns can always fire once more."""
        return bool(self.never) and self.stateful

    @property
    def endless(self) -> str:
        if self.reasons or self.never:
            return "the trigger reads all states since its activation"
        return self.whole if self.overlap is None else ""

    def back(self, type: str) -> int:
        return self.overlap or 0

    @property
    def row_by_row(self) -> bool:
        return False

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        kept = (type(self.operator).__name__, self.text, self.read_types(schemas))
        return (*kept, "because") if self.reasons else kept

    def reasoning(self, schemas: Mapping[str, Schema]) -> TriggerDefinition:
        return replace(self, operator=self.thorough or self.operator, stateful=True, reasons=True)

    def noticing(self) -> TriggerDefinition:
        return replace(self, never=f"never {self.trigger}", notices=Schema(self.generics)) if self.future else self
