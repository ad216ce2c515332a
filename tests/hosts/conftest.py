"""What the tests of hosts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hostcases import configured

#: for many small queries, of which each is run once
_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    """The Spark session, without the compilation of queries that takes longer than they do."""
    with configured(spark, _SETTINGS):
        yield spark


@pytest.fixture
def live(quick: Any) -> Iterator[Any]:
    """The session, with as many partitions as there are buckets."""
    with configured(quick, {"spark.sql.shuffle.partitions": "2"}):
        yield quick
