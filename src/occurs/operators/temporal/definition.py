"""The definition of a temporal trigger (temporal-logic.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.blocks import Out
from occurs.operators.contract import Moves, Order, Port
from occurs.operators.definition import Named, Options, Side
from occurs.operators.temporal.trigger import Evaluator, Trigger
from occurs.operators.temporal.vectorised import Columns


@dataclass(frozen=True)
class TriggerDefinition(Named):
    """A temporal trigger: ``evaluator`` evaluates it.

    ``trigger``: its own name; ``generics``: its generic variables.  ``placed``: types whose rows have to say where they
    come from.  ``sequenced``: types whose rows have to bring their sequence numbers.  ``tables``: types whose rows are
    changes of tables.  ``size``: how much it keeps;
    ``timed``: there may be states without rows; ``text``: what it says, and what is known of the types it reads.

    ``future``: it looks ahead, so that there may be instances that can fire no more.  ``never``: if it is not empty,
    the notices of these are a side output of this type, with the columns ``notices``: the generic variables.
    ``thorough``: the evaluator that knows why a trigger fires; ``reasons``: is it asked why?  ``noticing``: the one
    that finds instances that can fire no more.  ``stateful``: does ``evaluator`` go state by state, and not over whole
    columns?

    ``begins``: the types whose rows make instances, with the columns that must not be null; None: a query makes them.

    ``overlap``: how many ticks before a firing the states lie that it depends on; if None, ``whole`` says why that has
    no bound.
    """

    trigger: str
    evaluator: Evaluator
    generics: tuple[tuple[str, Type], ...] = ()
    placed: frozenset[str] = frozenset()
    sequenced: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    timed: bool = False
    text: str = field(default="", compare=False, repr=False)
    size: str = "constant"
    thorough: Evaluator | None = None
    noticing: Evaluator | None = None
    stateful: bool = True
    reasons: bool = False
    future: bool = False
    never: str = ""
    notices: Schema = Schema()
    begins: tuple[tuple[str, tuple[str, ...]], ...] | None = ()
    overlap: int | None = None
    whole: str = field(default="", compare=False)

    @property
    def sides(self) -> Sequence[Side]:
        return [Side(self.never, self.trigger, self.notices, notices=True)] if self.never else []

    @property
    def silent(self) -> frozenset[str] | None:
        return None if self.timed or self.never else frozenset()

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Trigger:
        notices = [Out(s.type, s.schema, s.type, self.at) for s in self.sides]
        return Trigger(
            self.identity,
            tuple(self._port(t) for t in self.reads),
            (self.out(schemas), *notices),
            self.evaluator,
            born=self.born,
            moves=frozenset({Moves.CLOCK}) if self.timed else frozenset(),
            words=f"trigger over {', '.join(sorted(self.reads))}; {self.evaluator.words}",
        )

    def _port(self, type: str) -> Port:
        order = Order.TYPE if type in self.positional else Order.ANY
        return Port(type, 0, order, type in self.sequenced, type in self.placed, type in self.tables)

    @property
    def tells(self) -> bool:
        """May there be notices?  Where the evaluator finds none, a trigger can always fire once more."""
        return bool(self.never) and self.evaluator.tells

    @property
    def implied(self) -> Mapping[str, str]:
        text = "names without a type are columns of rows of type `state`: declare the type of the rows "
        return {"state": f"{text}(`state Temp(v float)`), or pass a table without a type column"}

    @property
    def hint(self) -> tuple[int, str]:
        return 2, "use one generic variable in all that the trigger reads: `for each y in (select ..): T(y) ..`"

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
        kept = (self.evaluator.words, self.text, self.read_types(schemas))
        return (*kept, "because") if self.reasons else kept

    def adapted(self, options: Options) -> TriggerDefinition:
        out = super().adapted(options)
        if options.notices and self.future:
            never, notices = f"never {self.trigger}", Schema(self.generics)
            out = replace(out, evaluator=self.noticing or self.evaluator, never=never, notices=notices)
        if options.reasons is not None:
            out = replace(out, evaluator=self.thorough or self.evaluator, reasons=True)
        if out.evaluator is not self.evaluator:
            out = replace(out, stateful=not isinstance(out.evaluator, Columns))
        return out
