"""Programs and events for tests of streams on Spark."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

#: keyed, two stages with different keys, no key (spread rules), row by row, timers, consuming, recursive
EVERYTHING = """
define Same(K, V) from A(K = $k) and each B(K = $k) within 9 ms from A where K = $k, V = B.V
define One(K, G) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G
define Two(G, S) from C(G = $g) and each One(G = $g) within 20 ms from C where G = $g, S = One.K
define Row(V) from B(V > 2) where V = B.V
define Tick(N) from Timer(MS%7 == 0) where N = COUNT(A()) within 12 ms from Timer
define Once(V) from A() and last C() within 9 ms from A where V = C.V consuming C
define Any(V) from B() and last A() within 7 ms from B where V = A.V
define Chain(N) from C() and last Chain() within 15 ms from C where N = Chain.N + 1
define Chain(N) from C() and first B() within 4 ms from C where N = B.V
"""


def events(n: int, seed: int = 0, types: str = "ABC", span: int = 60) -> pa.Table:
    """One table: ``type``, ``time``, ``K``, ``G``, ``V``, with nulls."""
    rng = random.Random(seed)
    columns: dict[str, Any] = {"type": rng.choices(types, k=n), "time": [rng.randint(0, span) for _ in range(n)]}
    columns |= {c: pa.array([rng.choice((None, 0, 1, 2, 3, 4)) for _ in range(n)], pa.int64()) for c in "KGV"}
    return pa.table(columns)
