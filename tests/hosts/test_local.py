"""The local host where little is known of the input."""

from __future__ import annotations

import pyarrow as pa

import occurs


def test_a_type_that_nobody_knows_has_no_rows() -> None:
    program = occurs.parse("define E(K) from B(K = $k) and each A(K = $k) within 4 ms from B where K = $k")
    found = program.detect({"B": pa.table({"time": [1, 2], "K": [1, 2]})}, time_unit="ms")
    assert len(found["E"]) == 0
