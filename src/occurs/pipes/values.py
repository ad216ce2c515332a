"""Values that go into pipes and come out of them, as Python has them (pipes.md, 2.3).

In: None, bool, int, float, str, bytes, lists, sets, dicts (tuples of named columns), datetimes.  Out: the same, bags as
lists, maps and tuples as dicts, Trooleans as the texts ``T F ?``, documents as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.operators.process.columns import Col, Plain, Rec, Troo
from occurs.operators.process.kinds import ANY, TROOLEAN, Kind
from occurs.operators.process.values import Bag, Map, Record, Set, Sharp, Troolean, as_python
from occurs.pipes.constants import ALL, UNKNOWN, constant


class Untaken(Exception):
    """A value that pipes do not know, or of another type than it should be: the words behind it."""


def taken(value: Any, kind: Kind = ANY) -> Any:
    """A value of Python as the engine has it; NaN is a null, as in tables.  Untaken if pipes do not know it."""
    if kind == TROOLEAN and value in ("T", "F", "?"):
        return Troolean(value)
    if value is ALL or value is UNKNOWN:
        return Sharp.ALL if value is ALL else Troolean.UNKNOWN
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, (bool, int, float, str, bytes, Troolean, Record, Map, Set, Bag)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(map(taken, value))
    if isinstance(value, (set, frozenset)):
        return Set(tuple(sorted(map(taken, value), key=repr)))
    if isinstance(value, Mapping):
        return Record(tuple((str(n), taken(v)) for n, v in value.items()))
    if isinstance(value, datetime):
        return constant(value).value  # type: ignore[attr-defined]
    raise Untaken("is not a value that pipes support")


def like(found: Col, sources: Sequence[Any]) -> Any:
    """A column in the form of those that came in: Arrow (a struct of tuples), NumPy (if it has no nulls), else a
    list."""
    array = _arrow(found) if any(isinstance(s, (pa.Array, pa.ChunkedArray)) for s in sources) else None
    if array is not None:
        return array
    if isinstance(found, (Plain, Troo)) and not found.array.null_count and _of_numpy(sources):
        return found.array.to_numpy(zero_copy_only=False)
    return [as_python(v) for v in found.pylist()]


def _of_numpy(sources: Sequence[Any]) -> bool:
    return any(isinstance(s, np.ndarray) for s in sources)


def _arrow(found: Col) -> pa.Array | None:
    """As Arrow has it; None of values that it has no type for."""
    if isinstance(found, (Plain, Troo)):
        return found.array
    if not isinstance(found, Rec) or not found.columns:
        return None
    parts = {n: _arrow(c) for n, c in found.columns.items()}
    if any(p is None for p in parts.values()):
        return None
    missing = None if found.valid is None else pa.array(~found.valid)
    return pa.StructArray.from_arrays(list(parts.values()), list(parts), mask=missing)
