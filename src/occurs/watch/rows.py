"""Changes of a database as rows of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from occurs.connect.changes.model import DELETE, INSERT, STATE, TRUNCATE, UPDATE, Change, Commit, Watched


def rows(commit: Commit, tables: Mapping[str, Watched]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(type, attributes) of the rows of a state in their order, ``sequence`` among the attributes.

    Rows of tables have ``op`` and ``old`` (a mapping).  Of events only what is inserted counts, of states what is
    inserted or updated.
    """
    for number, change in enumerate(commit.changes):
        table = tables[change.table]
        if table.keeps:
            yield table.name, {**_of_table(change), "sequence": number}
        elif change.op == INSERT or (change.op == UPDATE and table.role == STATE):
            yield table.name, {**(change.new or {}), "sequence": number}


def _of_table(change: Change) -> dict[str, Any]:
    if change.op == TRUNCATE:
        return {"op": TRUNCATE}
    if change.op == DELETE:
        return {**(change.old or {}), "op": DELETE}
    old = {} if change.old is None else {"old": dict(change.old)}
    return {**(change.new or {}), "op": change.op, **old}
