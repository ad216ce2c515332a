"""What a run in this process found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from occurs.connect.tables import like
from occurs.engine.results import Parts, TypeRows
from occurs.errors import UsageProblem, did_you_mean
from occurs.model.history import History
from occurs.plan.stage import Stage


class Detections(Mapping[str, Any]):
    """What was found: type -> table, in evaluation order; types without detections are there with their schema.

    ``counts``: rows read, bad, outside the clock..; ``bad``: the rows left out, with reasons; ``notices``.
    """

    def __init__(
        self,
        stage: Stage,
        done: list[TypeRows],
        history: History,
        sample: Any,
        label: bool,
        because: bool,
        only: list[str] | None,
    ):
        self._stage = stage
        self._done = done
        self._sample = sample
        self._label = label
        self._because = because
        self._types = chosen(stage.reported, only)
        self._tables: dict[str, Any] = {}
        self.counts = dict(history.counts)
        self.bad = None if history.bad is None else self._like(history.bad)
        self.late = None
        self.notices = list(history.notices)

    def _like(self, table: pa.Table) -> Any:
        return table if self._sample is None else like(self._sample, table)

    def __getitem__(self, type: str) -> Any:
        if type not in self._types:
            raise KeyError(type)
        if type not in self._tables:
            self._tables[type] = self._like(self.arrow(type))
        return self._tables[type]

    def arrow(self, type: str) -> pa.Table:
        """The detections of a type as an Arrow table."""
        parts = [d.table(type, label=self._label, because=self._because) for d in self._done]
        parts = [p for p in parts if len(p)] or parts[:1]
        if not parts:
            nothing = TypeRows(self._stage, Parts(self._stage, [], self._types), {})
            return nothing.table(type, label=self._label, because=self._because)
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts)

    def count(self, type: str) -> int:
        """How many detections of a type there are."""
        return sum(d.count(type) for d in self._done)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        return f"Detections({', '.join(f'{t}: {self.count(t)}' for t in self)})"


def chosen(reported: tuple[str, ...], only: list[str] | None) -> tuple[str, ...]:
    """The reported types, or those of them that ``only`` names; UsageProblem for one that is not reported."""
    for name in only or ():
        if name not in reported:
            hint = did_you_mean(name, reported, "types")
            raise UsageProblem.of("unknown-name", f"`{name}` is not reported", hint=hint)
    return reported if only is None else tuple(t for t in reported if t in only)
