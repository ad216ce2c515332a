"""What all calls of a run found, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.engine.outputs import in_order, table_of_arrays
from occurs.engine.results import Parts, TypeRows
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from occurs.operators.lasting.reported import Gathered


@dataclass(frozen=True)
class Calls:
    """The calls ``done`` of an engine for ``stage``, in order."""

    stage: Stage
    done: Sequence[TypeRows]

    def count(self, type: str) -> int:
        """How many rows of a type were found."""
        return sum(d.count(type) for d in self.done)

    def table(self, type: str, *, label: bool = False, because: bool = False) -> pa.Table:
        """All reported rows of a type in key order, with the columns of :meth:`TypeRows.table`."""
        gathered, others = self._gathered
        if gathered is None or label or because or type not in gathered.layout.at:
            gathered, others = None, self.done
        parts = [d.table(type, label=label, because=because) for d in others]
        if gathered is not None:
            whole = table_of_arrays(type, gathered.arrays(type), self.stage.schemas[type], self.stage.kind)
            if not any(map(len, parts)):
                return whole
            parts.append(whole)
        parts = [p for p in parts if len(p)] or parts[:1]
        if not parts:
            nothing = TypeRows(self.stage, Parts(self.stage, [], (type,)), {})
            return nothing.table(type, label=label, because=because)
        if len(self.done) > 1 and type in self.stage.nets:  # what lasts is known when it has ended
            table = pa.concat_tables(parts)
            return table.take(in_order(table, self.stage.schemas[type]))
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts)

    @cached_property
    def _gathered(self) -> tuple[Gathered | None, Sequence[TypeRows]]:
        """The rows of calls in which all definitions ran together (and of others like them), and all other calls."""
        if len(self.done) < 3 or not self.stage.nets:
            return None, self.done
        # kernels take a third of a second to load: programs in which nothing lasts do without
        from occurs.operators.lasting.reported import Gathered

        found = Gathered.of([d.rows for d in self.done])
        if found is None:
            return None, self.done
        return found[0], [d for d, taken in zip(self.done, found[1], strict=True) if not taken]
