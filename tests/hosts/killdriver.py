"""A driver that is killed: follows a directory and writes one file per micro-batch, whole or not at all.

``python killdriver.py PLACE``: PLACE has ``in`` (Parquet files) and ``rules.tesla``; it gets ``out``, ``checkpoint``.
Ends when everything is done, and nothing comes any more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filestream import Folder

import occurs

OPTIONS: dict[str, Any] = {"time_unit": "ms", "because": True}
DELAY = 10


def lines(found: Mapping[str, pa.Table]) -> Iterable[str]:
    """Detections as JSON, with their labels and constituents."""
    for t, table in found.items():
        for row in table.to_pylist():
            yield json.dumps({**row, "type": t}, sort_keys=True)


def write(out: Path, number: int, texts: Iterable[str]) -> None:
    """The file of a micro-batch: one that is run again writes the same."""
    text = "".join(f"{t}\n" for t in sorted(texts))
    final, hidden = out / f"{number:05}.jsonl", out / f".{number}"
    if final.exists() and final.read_text() != text:
        (out / f"{number:05}.differs").write_text(text)
    hidden.write_text(text)
    os.replace(hidden, final)


def main(place: Path) -> None:
    from occurs.connect.spark import local_session

    spark = local_session("local[2]", spark__sql__shuffle__partitions="2")
    folder, ends, out = Folder(place / "in"), Folder(place / "ends"), place / "out"
    for path in (ends.path, out):
        path.mkdir(exist_ok=True)
    schema = pq.read_schema(next(folder.path.glob("*.parquet")))
    program = occurs.load(str(place / "rules.tesla"))

    def run() -> None:
        control = ends.stream(spark, pa.schema([("end", pa.int64())]))
        found = program.detect(folder.stream(spark, schema), partitions=2, watermark=DELAY, **OPTIONS)
        asked = found.query(control=control)

        def keep(rows: Any, number: int) -> None:
            write(out, number, lines(asked.read(rows.toArrow()).found))

        writer = asked.frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(place / "checkpoint"))
        query = writer.outputMode("append").trigger(availableNow=True).start()
        (place / "started").touch()
        query.awaitTermination()

    run()
    ends.put(pa.table({"end": [1]}))
    run()
    spark.stop()
    (place / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
