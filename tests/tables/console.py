"""Commands of Occurs in one process with one Spark session, under a PySpark that libraries of tables support.

Reads one JSON object a line on stdin, ``{"occurs": [arguments]}`` or ``{"sql": text}``, and answers each with one.
"""

from __future__ import annotations

import json
import os
import sys


def answer(question: dict) -> dict:
    """Run a command, or a query of the session."""
    if "sql" in question:
        from pyspark.sql import SparkSession

        session = SparkSession.active()
        rows = [r.asDict(recursive=True) for r in session.sql(question["sql"]).collect()]
        return {"rows": json.loads(json.dumps(rows, default=str))}
    from click.testing import CliRunner

    from occurs.cli import main

    done = CliRunner().invoke(main, question["occurs"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return {"status": done.exit_code, "out": done.stdout, "err": done.stderr}


def settle() -> None:
    """Start the session with all libraries, so that no command starts one with fewer."""
    from occurs.connect.libraries import session_with
    from occurs.connect.sparktables.session import DELTA, ICEBERG, POSTGRESQL

    folder = os.getcwd()
    catalog = {"spark__sql__catalog__lake": "org.apache.iceberg.spark.SparkCatalog"}
    catalog |= {"spark__sql__catalog__lake__type": "hadoop", "spark__sql__catalog__lake__warehouse": f"{folder}/lake"}
    # Delta Lake reads the log of a table in 50 tasks
    few = {"spark__sql__shuffle__partitions": "2", "spark__databricks__delta__snapshotPartitions": "2"}
    session_with([DELTA, ICEBERG, POSTGRESQL], "local[2]", **catalog, **few)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints is no answer
    settle()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
