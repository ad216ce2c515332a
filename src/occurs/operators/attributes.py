"""The attributes of rows as text, so that one column can hold those of rows of all types."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from occurs.model.astext import json_objects
from occurs.operators.rows import Rows

#: columns of rows that are not attributes
_SPECIAL = ("end", "sequence")


def attributes_of(rows: Rows, at: np.ndarray, names: Iterable[str] | None = None) -> pa.Array:
    """The attributes of the rows ``at`` as JSON objects without nulls, or those of them that ``names`` has.

    The text of a row that is asked for several times is made once.
    """
    own, number = np.unique(at, return_inverse=True)
    chosen = rows.columns if names is None else [n for n in rows.columns if n in frozenset(names)]
    columns = {n: rows.columns[n].take(own).output() for n in sorted(chosen) if n not in _SPECIAL}
    return json_objects(columns, len(own)).take(pa.array(number))
