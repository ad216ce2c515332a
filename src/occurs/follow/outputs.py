"""All that a micro-batch is written to: detections, late rows, bad rows."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pyarrow as pa

from occurs.connect.writers import in_order, write_to
from occurs.follow.sinks import SUFFIXES, SideSink, Sink
from occurs.hosts.stream.batches import MicroBatch


@dataclass
class Outputs:
    """``found``: detections; ``late``: rows that came too late, as they came; ``bad``: rows left out, with reasons."""

    found: Sink
    late: SideSink | None = None
    bad: SideSink | None = None
    #: of the files of detections, if it is files
    suffix: str | None = None

    def check(self, tables: dict[str, pa.Table]) -> None:
        """Raises UsageProblem (``schema-conflict``) if the types cannot be in one file; ``tables`` are empty."""
        if self.suffix is not None:
            write_to(io.BytesIO(), SUFFIXES[self.suffix], tables)

    def write(self, batch: int, done: MicroBatch) -> None:
        """Raises ResourceProblem."""
        if self.late is not None:
            self.late.lines(batch, done.late)
        if self.bad is not None:
            self.bad.rows(batch, done.bad.select(["reason", "file", "row", "column", "value", "data"]))
        self.found.write(batch, {t: in_order(table) for t, table in done.found.items()})
