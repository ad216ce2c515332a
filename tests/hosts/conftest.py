"""What the tests of hosts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

#: for many small queries, of which each is run once
_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    """The Spark session, without the compilation of queries that takes longer than they do."""
    before = {name: spark.conf.get(name) for name in _SETTINGS}
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture
def live(quick: Any) -> Iterator[Any]:
    """The session, with as many partitions as there are buckets."""
    before = quick.conf.get("spark.sql.shuffle.partitions")
    quick.conf.set("spark.sql.shuffle.partitions", "2")
    yield quick
    quick.conf.set("spark.sql.shuffle.partitions", before)
