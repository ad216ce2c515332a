"""What is said of the input of formulas over instants and intervals (phenesthe.md, section 8)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from occurs.model.history import History
from occurs.model.time import OPEN
from occurs.plan.stage import Stage


def counts(stage: Stage, history: History) -> dict[str, int]:
    """``null: TYPE.ATTRIBUTE``: rows without a value of an attribute that a formula looks at, which bind nothing.
    ``coalesced: TYPE``: rows of a state that overlap or touch an earlier one with the same values."""
    out = {}
    for d in stage.definitions:
        for type, names in d.nulls.items():
            table = history.tables.get(type, pa.table({}))
            for name in sorted(names & set(table.column_names)):
                if table.column(name).null_count:
                    out[f"null: {type}.{name}"] = table.column(name).null_count
    states = {t for d in stage.definitions for t in d.coalesced}
    for type in sorted(states & history.tables.keys()):
        coalesced = _overlapping(history.tables[type])
        if coalesced:
            out[f"coalesced: {type}"] = coalesced
    return out


def _overlapping(table: pa.Table) -> int:
    """Rows that begin at or before the greatest end of those before them that have the same values."""
    if len(table) < 2:
        return 0
    time = table.column("time").to_numpy()
    end = table.column("end").fill_null(OPEN).to_numpy()
    names = [n for n in table.column_names if n not in ("time", "end", "sequence", "label")]
    values = [table.column(n).combine_chunks().dictionary_encode(null_encoding="encode") for n in names]
    codes = [v.indices.to_numpy(zero_copy_only=False) for v in values]
    order = np.lexsort([time, *codes])
    time, end = time[order], end[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = False
    for code in codes:
        first[1:] |= code[order][1:] != code[order][:-1]
    # the greatest end so far in each group: groups far apart, ends by their rank
    ranked, rank = np.unique(end, return_inverse=True)
    base = np.cumsum(first) * len(ranked)
    greatest = ranked[np.maximum.accumulate(base + rank) - base]
    return int((~first[1:] & (time[1:] <= greatest[:-1])).sum())
