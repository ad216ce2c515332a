"""Rows by type: the same for few rows and for many."""

from __future__ import annotations

import numpy as np
import pytest

from occurs.model import grouping
from occurs.model.grouping import count, group


@pytest.mark.parametrize("kind", [np.int16, np.int32])
@pytest.mark.parametrize("rows", [0, 1, 5, grouping._FEW - 1, grouping._FEW, grouping._FEW + 3])
@pytest.mark.parametrize("wanted", [(), (0,), (2, 4), (0, 1, 2, 3, 4, 5)])
def test_groups_are_the_rows_of_each_type(kind: type, rows: int, wanted: tuple[int, ...]) -> None:
    codes = np.random.default_rng(rows).integers(-1, 5, rows).astype(kind)  # the last type has no rows
    found = group(codes, count(codes, 6), wanted)
    expected = {c: np.flatnonzero(codes == c) for c in wanted}
    assert {c: at.tolist() for c, at in found.items()} == {c: at.tolist() for c, at in expected.items() if len(at)}
    assert count(codes, 6).tolist() == [int((codes == c).sum()) for c in range(6)]
    assert count(np.minimum(codes, 0), 1).tolist() == [int((codes >= 0).sum())]
