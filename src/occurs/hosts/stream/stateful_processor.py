"""The stateful operator on Spark: a bucket per key, its state in Spark's state store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from occurs.connect.sparkerrors import problems_in_text
from occurs.hosts.spark.shipped import Sent
from occurs.hosts.stream.bucket import Bucket
from occurs.hosts.stream.local_pieces import folder_of
from occurs.hosts.stream.records import NAMES, of_row


class Store:
    """The state of one key: a value for the names of the pieces, a map for the pieces."""

    def __init__(self, handle: StatefulProcessorHandle):
        self._meta = handle.getValueState("meta", "value binary")
        self._pieces = handle.getMapState("pieces", "name string", "value binary")

    def meta(self) -> bytes | None:
        found = self._meta.get()
        return None if found is None else bytes(found[0])

    def set_meta(self, data: bytes) -> None:
        self._meta.update((data,))

    def get(self, name: str) -> bytes:
        found = self._pieces.getValue((name,))
        if found is None:
            raise KeyError(name)
        return bytes(found[0])

    def put(self, name: str, data: bytes) -> None:
        self._pieces.updateValue((name,), (data,))

    def drop(self, name: str) -> None:
        self._pieces.removeKey((name,))


class Operator(StatefulProcessor):
    """What ``transformWithState`` runs for every bucket that gets records, which is all of them.  ``layout``: a
    :class:`~occurs.hosts.stream.layout.Layout`."""

    def __init__(self, layout: Sent, depth: int):
        self.layout = layout
        self.depth = depth

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.store = Store(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        layout = self.layout.value
        bucket = Bucket(layout, self.depth, int(key[0]), self.store, folder_of(layout.token))
        with problems_in_text():
            for record in bucket.step(of_row(row) for row in rows):
                yield Row(**{name: getattr(record, name) for name in NAMES})

    def close(self) -> None:
        pass
