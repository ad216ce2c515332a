"""Ships as they are found, small enough to be counted by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest


@pytest.fixture
def ships() -> dict[str, pa.Table]:
    """Two ships: states, one of them open; phenomena that overlap; an event; a type without ships."""
    return {
        "docked": pa.table({"time": [10, 70, 30], "Vessel": [1, 1, 2], "Port": ["a", "b", None]}),
        "moored": pa.table({"time": [0, 70, 30], "end": [20, None, 50], "Vessel": [1, 1, 2], "Port": ["a", "b", "a"]}),
        "trip": pa.table({"time": [20, 40, 60], "end": [60, 70, 90], "Vessel": [1, 1, 1]}),
        "tide": pa.table({"time": [5, 45], "Height": [1.5, 3.0]}),
    }
