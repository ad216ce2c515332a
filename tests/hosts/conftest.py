"""What the tests of hosts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hostcases import configured


@pytest.fixture
def live(spark: Any) -> Iterator[Any]:
    """The Spark session, with as many partitions as there are buckets."""
    with configured(spark, {"spark.sql.shuffle.partitions": "2"}):
        yield spark
