"""A stream in a Spark of its own, for :mod:`test_local_pieces`: ``python shared_state.py MASTER BATCHES FOLDER``.

Prints, as JSON, the bytes of state that each micro-batch read through Spark's store, and the detections.
"""

import json
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import occurs
from occurs.connect.java import ensure_java

RULES = """
event A(K: int, V: int)
event B(K: int, V: int)
define Pair(K, V, W) from B(K = $k) and last A(K = $k) within 5 s from B where K = $k, V = A.V, W = B.V
"""
ROWS = 400


def events(number: int) -> pa.Table:
    """Those of a micro-batch."""
    n = range(number * ROWS, (number + 1) * ROWS)
    types = ["AB"[i % 7 % 2] for i in n]
    return pa.table({"type": types, "time": [i * 5 for i in n], "K": [i * i % 97 for i in n], "V": [i % 11 for i in n]})


def main(master: str, batches: int, folder: Path) -> None:
    ensure_java()
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .getOrCreate()
    )  # fmt: skip
    source = folder / "events"
    source.mkdir()
    for number in range(batches):
        pq.write_table(events(number), source / f"{number:05}.parquet")
        os.utime(source / f"{number:05}.parquet", (1_700_000_000 + number,) * 2)
    schema = "type string, time long, K long, V long"
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    query = occurs.parse(RULES).detect(stream, time_unit="ms", watermark=1).query()
    read: list[int] = []
    found: list[list[int]] = []

    def take(frame, batch: int) -> None:
        done = query.read(frame.toArrow())
        read.append(done.figures["read"] or 0)
        found.extend([r["time"], r["K"], r["V"], r["W"]] for r in done.found["Pair"].to_pylist())

    writer = query.frame.writeStream.outputMode("append").foreachBatch(take).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    print(json.dumps({"read": read, "found": sorted(found)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
