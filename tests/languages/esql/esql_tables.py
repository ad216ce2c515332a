"""The events of text cases of pipes as tables."""

from typing import Any

import pyarrow as pa

from occurs.testing.pipes import PipesCase


def tables(case: PipesCase) -> dict[str, pa.Table]:
    """A table per type."""
    out: dict[str, pa.Table] = {}
    for t in dict.fromkeys(e.type for e in case.events):
        mine = [e for e in case.events if e.type == t]
        columns: dict[str, Any] = {"time": pa.array([e.time for e in mine], pa.int64())}
        if any(e.sequence is not None for e in mine):
            columns["sequence"] = pa.array([e.sequence for e in mine], pa.int64())
        for name in dict.fromkeys(n for e in mine for n in e.attributes):
            columns[name] = pa.array([e.attributes.get(name) for e in mine])
        out[t] = pa.table(columns)
    return out
