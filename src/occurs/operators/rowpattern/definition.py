"""A definition by a row pattern (match-recognize.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.contract import Moves, Order, Port
from occurs.operators.definition import Named, Options, Side
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.operator import MOST_STEPS, RowMatcher


@dataclass(frozen=True)
class RowPatternDefinition(Named):
    """A definition by a row pattern: ``matching``.

    ``delays``: its rows are known so many ticks later (None: no bound).  ``limit``: steps that one attempt may take.
    ``bound``: how much it keeps, as ``size`` says it.  ``timed``: the definition of the attempts that WITHIN ends.
    ``ended``: if it is not empty, this is that definition, under this name, with the columns ``schema``.
    """

    matching: tree.Matching
    delays: int | None = None
    limit: int = MOST_STEPS
    bound: str = "bindings"
    ended: str = ""
    schema: Schema = Schema()
    timed: RowPatternDefinition | None = None

    @property
    def hint(self) -> tuple[int, str]:
        return 1, "add PARTITION BY"

    @property
    def size(self) -> str:
        return self.bound

    @property
    def endless(self) -> str:
        return "where a match begins depends on all matches before"

    @property
    def row_by_row(self) -> bool:
        return False

    @property
    def delay(self) -> int | None:
        return self.delays

    @property
    def sides(self) -> Sequence[Side]:
        return [Side(self.name, self.ended, self.schema)] if self.ended else []

    @property
    def silent(self) -> frozenset[str] | None:
        return frozenset() if self.matching.within is None else None

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> RowMatcher:
        m = self.matching
        moves = {Moves.END} if m.within is None else {Moves.END, Moves.FRONTIER}
        by = f" by ({', '.join(m.partition)})" if m.partition else ""
        return RowMatcher(
            self.identity,
            (Port(m.source, order=Order.PLACE),),
            (self.out(schemas),),
            m,
            schemas.get(m.source, Schema()),
            kind,
            self.limit,
            bool(self.ended),
            self.delays != 0,
            born=self.born,
            moves=frozenset(moves),
            words=f"row pattern over {m.source}{by}",
        )

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        return self.matching, self.read_types(schemas)

    def timeouts(self, place: int) -> RowPatternDefinition | None:
        return None if self.timed is None else replace(self.timed, at=place)

    def adapted(self, options: Options) -> RowPatternDefinition:
        out = super().adapted(options)
        if options.steps is not None:
            out = replace(out, limit=options.steps)
        if options.reasons is not None and not self.ended:
            known = options.reasons.get(self.matching.source, Schema())
            every = frozenset(n for n, t in known if t is not Type.RECORD)
            out = replace(out, matching=replace(self.matching, needs=self.matching.needs | every))
        return out
