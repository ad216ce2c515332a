"""What all calls of a run detected, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from occurs.engine.outputs import in_order, table_of_arrays
from occurs.engine.results import Parts, TypeRows
from occurs.operators.blocks import Block
from occurs.plan.stage import Stage

#: of fewer calls tables are put together
FEW = 3


@dataclass(frozen=True)
class Calls:
    """The calls ``done`` of an engine for ``stage``, in order."""

    stage: Stage
    done: Sequence[TypeRows]

    def count(self, type: str) -> int:
        """How many rows of a type were detected."""
        return sum(d.count(type) for d in self.done)

    def table(
        self, type: str, *, label: bool = False, because: bool = False,
        wanted: Callable[[pa.Table], pa.ChunkedArray] | None = None,
    ) -> pa.Table:  # fmt: skip
        """All reported rows of a type in key order, with the columns and the rows of :meth:`TypeRows.table`."""
        schema = self.stage.schemas[type]
        if not (label or because or wanted) and type in self._gathered:
            return table_of_arrays(type, self._gathered[type](), schema, self.stage.kind)
        parts = [d.table(type, label=label, because=because, wanted=wanted) for d in self.done]
        parts = [p for p in parts if len(p)] or parts[:1]
        if not parts:
            parts = [TypeRows(self.stage, Parts(self.stage, [], ()), {}).table(type, label=label, because=because)]
        table = parts[0] if len(parts) == 1 else pa.concat_tables(parts)
        late = len(self.done) > 1 and type in self.stage.late
        return table.take(in_order(table, schema)) if late else table

    @cached_property
    def _gathered(self) -> Mapping[str, Callable[[], Mapping[str, pa.Array]]]:
        """Types whose rows of all calls their blocks put together, and how."""
        calls = [[found.block for found in d.parts.found] for d in self.done]
        kinds = {type(block) for call in calls for block in call} - {Block}
        if len(self.done) < FEW or self.stage.subscribed:
            return {}
        return {t: rows for kind in kinds for t, rows in kind.gathered(calls).items()}
