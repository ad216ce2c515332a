"""Workers of our sessions begin with Occurs imported."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def test_workers_need_not_import(spark):
    import pyarrow as pa

    def there(batches):
        import sys

        for b in batches:
            yield pa.record_batch({"there": ["occurs.engine.engine" in sys.modules] * len(b)})

    assert {row.there for row in spark.range(4).mapInArrow(there, "there boolean").collect()} == {True}
