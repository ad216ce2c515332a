"""A Spark that repeats tasks writes to a topic: ``python repeating.py SERVER TOPIC FOLDER``.

The first attempt of one task fails when it has computed a part of its rows, and that of another one while it writes.
"""

import sys
import time
from pathlib import Path

from occurs.connect.kafka import KafkaPlace, KafkaSink, kafka_session, sink


def main(server: str, topic: str, folder: Path) -> None:
    short = {"spark.sql.execution.arrow.maxRecordsPerBatch": "10", "spark.ui.enabled": "false"}
    spark = kafka_session("local[2,4]", **short)

    def failing(batches, name="failed"):
        """After some rows, once."""
        for number, batch in enumerate(batches):
            if number == 5 and not (folder / name).exists():
                (folder / name).touch()
                time.sleep(2)  # what was handed on is sent meanwhile
                raise ValueError("the machine is gone")
            yield batch

    def written(batches):
        """The same while a task writes."""
        yield from failing(first(batches), "failed-writing")

    first = sink.first_attempt
    sink.first_attempt = written

    schema = "key string, value string, type string, label string"
    rows = spark.createDataFrame([(None, str(n), "Fire", f"l{n}") for n in range(200)], schema).repartition(2)
    KafkaSink(KafkaPlace.parse(f"kafka://{server}/{topic}"), "me", folder).write(0, rows.mapInArrow(failing, schema))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
