"""What messages hold, for programs that do not declare their event types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.kafka.session import kafka_errors, reach
from occurs.errors import InputProblem
from occurs.model.nesting import read_json
from occurs.model.types import Type, widen
from occurs.model.values import flattened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: messages of every partition that a schema is inferred from
SAMPLE = 1000


def sample_schema(session: SparkSession, place: KafkaPlace, limit: int = SAMPLE) -> dict[str, Type]:
    """The names in the earliest messages, ``limit`` of each partition, with their types, in order of appearance.

    Integers beside floats are FLOAT; other mixtures, and names that are null throughout, are NULL: text, as ``stream``
    reads it.  Lists and objects are no values of ours and left out, poison messages are passed over.
    Raises what :func:`reach` raises, and InputProblem: ``no-rows`` if there is no message yet, ``bad-value`` if there
    is no JSON object among them.
    """
    reach(session, place)
    options = {**place.connection(), "startingOffsets": "earliest", "subscribe": ",".join(place.topics)}

    def first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = limit
        for batch in batches:
            yield batch.slice(0, left)
            left -= len(batch)
            if left <= 0:  # a partition may hold years: the rest is never read
                return

    with kafka_errors(place):
        messages = session.read.format("kafka").options(**options).load().select("value")
        values = [row.value for row in messages.mapInArrow(first, "value binary").collect()]
    if not values:
        hint = "declare the event types in the rules, or start when there are messages"
        raise InputProblem.of("no-rows", f"{place}: there is no message to infer columns from", hint=hint)
    found: dict[str, Type | None] = {}
    objects = 0
    for value in values:
        item = _object(value)
        objects += item is not None
        for name, inner in flattened(item or {}).items():
            kind = _kind(inner)
            if kind is None:
                continue
            before = found.get(name, Type.NULL)
            found[name] = None if before is None else widen(before, kind)
    if not objects:
        text = f"{place}: none of the first {len(values)} messages is a JSON object"
        raise InputProblem.of(
            "bad-value", text, hint="the value of each message must be one event, as in a line of a .jsonl file"
        )
    return {name: t or Type.NULL for name, t in found.items() if name not in place.exposed.values()}


def _object(value: bytes | bytearray | None) -> dict[str, Any] | None:
    try:
        item = read_json(bytes(value or b""))
    except ValueError:
        return None
    return item if isinstance(item, dict) else None


def _kind(value: object) -> Type | None:
    """The type of a JSON value; None for lists and objects."""
    if value is None:
        return Type.NULL
    if isinstance(value, bool):
        return Type.BOOL
    if isinstance(value, int):
        return Type.INT
    if isinstance(value, float):
        return Type.FLOAT
    return Type.STRING if isinstance(value, str) else None
