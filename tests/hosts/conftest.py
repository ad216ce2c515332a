"""What the tests of hosts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hostcases import configured

from occurs.engine import saved_pieces, table_pieces


@pytest.fixture
def live(spark: Any) -> Iterator[Any]:
    """The Spark session, with as many partitions as there are buckets."""
    with configured(spark, {"spark.sql.shuffle.partitions": "2"}):
        yield spark


@pytest.fixture(autouse=True)
def changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What operators keep is saved as changes, however short the tables are (in this process)."""
    monkeypatch.setattr(table_pieces, "FEW", 2)
    monkeypatch.setattr(saved_pieces, "CHANGES", 3)
