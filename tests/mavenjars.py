"""Jars from Maven Central for tests: a Kafka broker, Spark's connector, and the libraries of tables
(see :mod:`benchmarks.jars`)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.jars import Unavailable, jars, java

__all__ = ["SPARK", "Unavailable", "broker", "connector", "java", "tables", "tools"]

#: a broker of Kafka 4 needs no ZooKeeper and serves clients from 2.1 on
BROKER = {"org.apache.kafka:kafka_2.13": "4.2.1"}
#: the commands of its `bin`
TOOLS = {"org.apache.kafka:kafka-tools": "4.2.1"}
#: what comes with PySpark, or would be a second Scala
_IN_SPARK = ("scala-library", "slf4j-api", "lz4-java", "snappy-java", "spark-tags", "zstd-jni")
#: the PySpark for which Delta Lake and Iceberg both have a release (``make .venv-tables/.ready``)
SPARK = "4.1"


def broker() -> list[Path]:
    """The class path of a Kafka broker."""
    return jars("kafka-broker-" + "-".join(BROKER.values()), [BROKER])


def tools() -> list[Path]:
    """The class path of Kafka's command line tools."""
    return jars("kafka-tools-" + "-".join(TOOLS.values()), [TOOLS])


def connector() -> list[Path]:
    """The jars of ``spark-sql-kafka-0-10`` for the running PySpark, for ``spark.jars``."""
    from occurs.connect.kafka import packages

    group, name, version = packages().split(":")
    found = jars(f"kafka-connector-{version}", [{f"{group}:{name}": version}])
    return [p for p in found if not p.name.startswith(_IN_SPARK)]


def tables() -> dict[str, list[Path]]:
    """The jars of Delta Lake, Iceberg and PostgreSQL's JDBC driver for the PySpark of ``SPARK``, by the variables that
    name them."""
    from occurs.connect.sparktables.session import DELTA_VERSION, ICEBERG_VERSION, POSTGRESQL_VERSION

    spark = f"{SPARK}_2.13"
    wanted = {
        "OCCURS_DELTA_JARS": ("io.delta:delta-spark_" + spark, DELTA_VERSION),
        "OCCURS_ICEBERG_JARS": ("org.apache.iceberg:iceberg-spark-runtime-" + spark, ICEBERG_VERSION),
        "OCCURS_JDBC_JARS": ("org.postgresql:postgresql", POSTGRESQL_VERSION),
    }
    found = {v: jars(f"{m.split(':')[1]}-{version}", [{m: version}]) for v, (m, version) in wanted.items()}
    inside = (*_IN_SPARK, "jackson-", "log4j-", "parquet-", "RoaringBitmap", "shims", "aircompressor", "javax.")
    return {v: [p for p in paths if not p.name.startswith(inside)] for v, paths in found.items()}
