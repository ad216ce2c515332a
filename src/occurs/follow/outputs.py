"""All that a micro-batch is written to: detections, late rows, bad rows, partial matches that guards ended."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from occurs.connect.writers import in_order, write_to
from occurs.follow.sinks import SUFFIXES, SideSink, Sink
from occurs.hosts.stream.batches import MicroBatch


@dataclass
class Outputs:
    """``found``: detections; ``late``: rows that came too late, as they came; ``bad``: rows left out, with reasons;
    ``timeouts``: partial matches that guards ended; ``never``: notices of triggers that can fire no more."""

    found: Sink
    late: SideSink | None = None
    bad: SideSink | None = None
    #: of the files of detections, if it is files
    suffix: str | None = None
    timeouts: Sink | None = None
    #: of the files of partial matches, if it is files
    timeouts_suffix: str | None = None
    never: Sink | None = None

    def check(self, nothing: MicroBatch) -> None:
        """Raises UsageProblem (``schema-conflict``) if the types cannot be in one file; the micro-batch is empty."""
        for suffix, tables in ((self.suffix, nothing.found), (self.timeouts_suffix, nothing.timeouts)):
            if suffix is not None:
                write_to(io.BytesIO(), SUFFIXES[suffix], tables)

    def write(self, batch: int, done: MicroBatch) -> None:
        """Raises ResourceProblem."""
        if self.late is not None:
            self.late.lines(batch, done.late)
        if self.bad is not None:
            self.bad.rows(batch, done.bad.select(["reason", "file", "row", "column", "value", "data"]))
        if self.timeouts is not None:
            self.timeouts.write(batch, _in_order(done.timeouts))
        if self.never is not None:
            self.never.write(batch, _in_order(done.never))
        self.found.write(batch, _in_order(done.found))


def _in_order(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {t: in_order(table) for t, table in tables.items()}
