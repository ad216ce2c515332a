"""The operator of row patterns: the matches of contiguous rows of partitions (match-recognize.md, sections 4 to 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, LimitProblem, Problem
from occurs.expr.tree import Expr
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.blocks import Block, Identity, Reasons
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.state import Kept, restored
from occurs.operators.rows import attributes_of
from occurs.operators.states import Own

if TYPE_CHECKING:
    from occurs.operators.rowpattern.conditions import Conditions
    from occurs.operators.rowpattern.run import Found

#: steps of one attempt, if nobody says how many
MOST_STEPS = 100_000_000
#: what the conditions of a definition read, by its class
_CLASSES = {
    1: "conditions of the row (class 1): failures are remembered",
    2: "conditions of settled rows (class 2): failures are remembered within an attempt",
    3: "conditions of the mapping (class 3): not all failures can be remembered, `--max-steps` limits the search",
}


@dataclass(frozen=True, eq=False)
class RowMatcher(Operator):
    """One row pattern.

    ``schema``: of the type that it reads; ``limit``: steps that one attempt may take.  ``ended``: it emits the attempts
    that WITHIN ends, and not the matches.  ``delayed``: its rows may be known later than their time.
    """

    matching: tree.Matching
    schema: Schema
    kind: TimeKind
    limit: int = MOST_STEPS
    ended: bool = False
    delayed: bool = True

    @cached_property
    def conditions(self) -> Conditions:
        """The program of the search, and the conditions in the forms that it takes."""
        from occurs.operators.rowpattern.conditions import Conditions

        types = dict(self.schema) | {"time": Type.TIMESTAMP if self.kind.timestamp else Type.INT}
        return Conditions(self.matching, types, self.kind)

    @cached_property
    def nothing(self) -> dict[tuple[Type, ...], Mapping[str, Column]]:
        """The columns of no derived rows, by the types of the columns that are read."""
        return {}

    @property
    def line(self) -> str:
        return f"{super().line}; {_CLASSES[self.conditions.highest]}"

    def fresh(self) -> Own:
        return Own(self.identity, Kept.fresh(self.matching.partition))

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> Own:
        tables = saved.get(self.identity)
        if tables is None:
            return self.fresh()
        return Own(self.identity, restored(tables, self.matching.source, self.matching.partition, self.schema))

    def advance(self, state: Own, call: Call) -> Outcome:
        from occurs.operators.rowpattern.run import Run

        run = Run(self, state.kept, call)
        found = run.found()
        state.kept = run.kept
        complete = {} if run.complete is None else {self.outs[0].type: run.complete}
        return Outcome([self.block(found)], complete if self.delayed else {})

    def block(self, found: Found) -> Block:
        """The derived rows."""
        return Block(
            self.outs,
            found.time,
            found.columns,
            at=found.at,
            identity=lambda: _identity(found),
            reasons=lambda rows: _reasons(found, rows),
        )


# -- identity and constituents -----------------------------------------------------------------------------------------


def _identity(found: Found) -> Identity:
    """The variable and the label of each mapped row, with all rows the position, too; else the kind and the row's
    label."""
    rows, names, offsets = found.constituents(np.arange(len(found.time)))
    assert found.rows.labels is not None
    own = found.rows.labels.take(rows)
    named = Labels.from_column(names)
    hi, lo = np.empty(2 * len(rows), np.uint64), np.empty(2 * len(rows), np.uint64)
    hi[0::2], hi[1::2], lo[0::2], lo[1::2] = named.hi, own.hi, named.lo, own.lo
    position = found.position
    due = np.full(len(found.time), position is not None)
    time = np.zeros(len(found.time), np.int64) if position is None else position
    return Identity([Labels(hi, lo)], 2 * offsets, time, due)


def _reasons(found: Found, chosen: np.ndarray) -> Reasons:
    rows, names, offsets = found.constituents(chosen)
    source = found.rows
    assert source.labels is not None
    return Reasons(
        offsets,
        names,
        pa.array([source.type] * len(rows), pa.string()),
        source.time[rows],
        source.labels.take(rows).hex().cast(pa.string()),
        attributes_of(source, rows),
    )


# -- errors ------------------------------------------------------------------------------------------------------------


def failure(kind: str, text: str, matching: tree.Matching, time: int) -> InputProblem:
    """An error of the data at a time."""
    return InputProblem(Problem(kind, text, definition=matching.name, value=time))


def too_long(matching: tree.Matching, limit: int, where: str, variable: str, condition: Expr | None) -> LimitProblem:
    """The error of a search that takes too many steps; ``variable`` was looked for last."""
    said = "" if condition is None else ", whose condition depends on the rows that are mapped"
    return LimitProblem.of(
        "max-steps",
        f"`{matching.name}`: the search for a match took more than {limit} steps {where}; it looked for "
        f"`{variable}`{said}",
        hint="limit the quantifiers, or increase --max-steps",
        definition=matching.name,
    )
