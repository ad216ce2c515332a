"""Jars from Maven Central for tests: a Kafka broker and Spark's connector (see :mod:`benchmarks.jars`)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.jars import Unavailable, jars, java

__all__ = ["Unavailable", "broker", "connector", "java", "tools"]

#: a broker of Kafka 4 needs no ZooKeeper and serves clients from 2.1 on
BROKER = {"org.apache.kafka:kafka_2.13": "4.2.1"}
#: the commands of its `bin`
TOOLS = {"org.apache.kafka:kafka-tools": "4.2.1"}
#: what comes with PySpark, or would be a second Scala
_IN_SPARK = ("scala-library", "slf4j-api", "lz4-java", "snappy-java", "spark-tags", "zstd-jni")


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
