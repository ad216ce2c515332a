"""The column ``because``: per detection the list of its constituents (common.md, section 3).

A constituent has its role in the definition, its type, time and end, its label, and its attributes as the text of a
JSON object: so one column holds constituents of all types, on every host.  Attributes without a value are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import because_type, time_array
from occurs.model.time import TimeKind


@dataclass(frozen=True)
class Constituents:
    """The constituents of n detections, one behind the other: those of detection i are from ``offsets[i]`` to before
    ``offsets[i + 1]``.

    ``time`` and ``end``: ticks; ``known``: which of them have a time, None: all; ``ends``: which have an end, None:
    none.  ``label``: null of what is not a row.
    """

    offsets: np.ndarray
    role: pa.Array
    type: pa.Array
    time: np.ndarray
    label: pa.Array
    attributes: pa.Array
    end: np.ndarray | None = None
    ends: np.ndarray | None = None
    known: np.ndarray | None = None

    def column(self, kind: TimeKind) -> pa.ListArray:
        """The column ``because``."""
        time = time_array(self.time, kind, None if self.known is None else ~self.known)
        if self.end is None or self.ends is None:
            end = pa.nulls(len(self.time), time.type)
        else:
            end = time_array(self.end, kind, ~self.ends)
        fields = list(because_type(kind).value_type)
        arrays = [self.role, self.type, time, end, self.label, self.attributes]
        struct = pa.StructArray.from_arrays([a.cast(f.type) for a, f in zip(arrays, fields)], fields=fields)
        return pa.ListArray.from_arrays(pa.array(self.offsets.astype(np.int32)), struct)
