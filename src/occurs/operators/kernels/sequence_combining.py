"""What an ``and`` reports: the new true with all that its other children have stored."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_bindings import joined, longer


@kernel
def combinations(
    reg: np.ndarray,
    inst: np.ndarray,
    bound: np.ndarray,
    store: np.ndarray,
    nodes: np.ndarray,
    p: int,
    position: int,
    binding: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Child ``position`` of the ``and`` ``p`` has become true with ``binding``: (bound, which may have grown, bindings,
    their number), in the order of the children."""
    above = inst[p, T.NODE]
    root = inst[p, T.BINDING]
    parts = np.zeros(4, np.int64)
    more = np.zeros(4, np.int64)
    parts[0] = root
    n = 1
    for k in range(nodes[above, T.N_KIDS]):
        if not (nodes[above, T.ONE] >> k) & 1:
            continue  # a `not` binds nothing
        size = 0
        for j in range(n):
            if k == position:
                if size == len(more):
                    more = longer(more, 2 * size)
                bound, more[size] = joined(bound, reg, parts[j], binding, root)
                size += 1
                continue
            s = inst[p, T.STORED]
            while s >= 0:
                if store[s, T.STORED_POSITION] == k:
                    if size == len(more):
                        more = longer(more, 2 * size)
                    bound, more[size] = joined(bound, reg, parts[j], store[s, T.STORED_BINDING], root)
                    size += 1
                s = store[s, T.STORED_NEXT]
        parts, more, n = more, parts, size
    return bound, parts, n
