"""Messages that nest too deep, without a broker: as the connector would give them."""

from __future__ import annotations

import pytest

from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.kafka.source import BROKEN, REASON, _object, typed
from occurs.connect.sparkcolumns import PLACE
from occurs.model.types import Type

FLAT = ['{"n": 1, "x": "\\"' + "[" * 500 + '"}', '{"n": 1, "x": [' + ",".join(["[]"] * 500) + "]}"]
DEEP = [
    text
    for depth in (101, 2_000, 100_000)
    for opening, closing in ("[]", ('{"a":', "}"))
    for text in (
        '{"n": 1, "x": ' + opening * depth + "1" + closing * depth + "}",
        '{"n": ' + opening * depth + "1" + closing * depth + "}",
        opening * depth,
    )
]


@pytest.mark.spark
@pytest.mark.slow
def test_a_message_that_nests_too_deep_is_poison_with_its_place(spark):
    rows = [(text.encode(), "t", 0, n) for n, text in enumerate([*FLAT, *DEEP])]
    frame = spark.createDataFrame(rows, "value binary, topic string, partition int, offset long")
    found = typed(frame, KafkaPlace.parse("kafka://h:9092/t"), {"n": Type.INT}).orderBy(*PLACE).collect()
    assert [(r["n"], r[REASON]) for r in found[: len(FLAT)]] == [(1, None)] * len(FLAT)
    for n, r in enumerate(found[len(FLAT) :]):
        assert r[REASON] == "the value is nested more than 100 levels deep"
        assert (r["n"], r[BROKEN], r[PLACE[1]]) == (None, DEEP[n], n + len(FLAT))


def test_a_sample_passes_over_messages_that_nest_too_deep():
    assert [_object(text.encode()) for text in DEEP] == [None] * len(DEEP)
    assert all(_object(text.encode())["n"] == 1 for text in FLAT)
