"""The connector in a Spark session: which package it is, whether it is there, whether the brokers answer."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.libraries import Library, listed, release, scala_version, session_with, settings_of
from occurs.connect.sparkerrors import errors_as
from occurs.errors import InputProblem, OccursError, ResourceProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: how long :func:`reach` lets the clients try, in milliseconds
PATIENCE = 10_000


def packages(version: str | None = None) -> str:
    """The connector's Maven coordinate, for ``spark.jars.packages``, in ``version``.

    None: the version that Maven Central has and that fits the running PySpark (see ``versions``); it is asked once.
    """
    import pyspark

    scala = scala_version()
    if version is None:
        version = fitting(pyspark.__version__, published(scala))
    return f"{GROUP}:{CONNECTOR}_{scala}:{version}"


def settings() -> dict[str, str]:
    """What :func:`~occurs.connect.spark.local_session` needs for a session with the connector.

    ``spark.jars`` if the variable OCCURS_KAFKA_JARS names files, else ``spark.jars.packages``: Spark downloads them
    from Maven Central when it starts, or from where its settings (``spark.jars.ivySettings``) say, and keeps them.
    Raises UsageProblem (``missing-file``) if there are no jars where the variable points.
    """
    return settings_of([KAFKA])


def kafka_session(master: str = "local[*]", **more: str) -> SparkSession:
    """A session of this process that has the connector; ``more`` as for ``local_session``.

    Raises ResourceProblem (``no-kafka``) if the connector cannot be downloaded, or if this process has a session
    without it already: jars are looked at only when a session starts.
    """
    session = session_with([KAFKA], master, **more)
    require(session)
    return session


def require(session: SparkSession) -> None:
    """Raises ResourceProblem (``no-kafka``) if the session cannot read from Kafka."""
    frame = session.read.format("kafka").option("kafka.bootstrap.servers", "localhost:9").option("subscribe", "none")
    with kafka_errors(None):
        frame.load().schema  # noqa: B018  a client of Spark Connect asks the server here


def reach(session: SparkSession, place: KafkaPlace) -> None:
    """Ask the brokers for the topics; returns if they are there, in about ten seconds at most else.

    Raises ResourceProblem (``no-kafka``; ``unreachable``) and InputProblem (``missing-topic``).  Runs one small job.
    """
    require(session)
    options = {
        **place.connection(),
        "kafka.default.api.timeout.ms": str(PATIENCE),
        "kafka.request.timeout.ms": str(PATIENCE // 2),
        "kafkaConsumer.pollTimeoutMs": str(PATIENCE),
        "fetchOffset.numRetries": "1",
        "fetchOffset.retryIntervalMs": "200",
    }
    frame = session.read.format("kafka").options(**options).option("subscribe", ",".join(place.topics)).load()
    with kafka_errors(place):
        # the offsets of all topics are asked for when the job is planned; a row need not come
        frame.select("offset").limit(1).collect()


def kafka_errors(place: KafkaPlace | None) -> AbstractContextManager[None]:
    """Errors of the connector and of Kafka's clients as ours; ours, and what is neither, pass unchanged."""
    return errors_as(lambda error, foreign: _translated(str(error), place) if foreign else None)


def _translated(text: str, place: KafkaPlace | None) -> OccursError | None:
    if "DATA_SOURCE_NOT_FOUND" in text or "Failed to find data source: kafka" in text or "NoClassDefFound" in text:
        return ResourceProblem.of("no-kafka", "this Spark session has no connector for Kafka", hint=_hint())
    topic = re.search(r"UnknownTopicOrPartition|not present in metadata|InvalidTopic", text)
    if topic and place is not None:
        hint = "create the topic with kafka-topics.sh --create"
        return InputProblem.of("missing-topic", f"{place}: there is no such topic", file=str(place), hint=hint)
    for pattern, kind, why, advice in _FAILURES:
        if re.search(pattern, text):
            where = str(place) if place is not None else "Kafka"
            return ResourceProblem.of(kind, f"{where}: {why}", hint=advice)
    return None


def _hint() -> str:
    return f"create a session with occurs.connect.kafka.kafka_session(), or {KAFKA.hint}"


_FAILURES: tuple[tuple[str, str, str, str | None], ...] = (
    (
        r"Authentication|SaslException|SslHandshake|AuthorizationException",
        "no-right",
        "the brokers rejected this client",
        "client settings such as kafka.security.protocol are options of the place, or in the file config=PATH names",
    ),
    (
        r"No resolvable bootstrap urls|Failed to construct kafka consumer|Failed to create new KafkaAdminClient",
        "unreachable",
        "these settings are invalid, or the broker names cannot be resolved",
        None,
    ),
    (
        r"TimeoutException|Timed out|timed out|DisconnectException|[Nn]ode assignment",
        "unreachable",
        "the brokers do not answer",
        "is it running, and does it advertise an address (advertised.listeners) that this machine can reach?",
    ),
)


# --- the version of the connector -------------------------------------------------------------------------------------
# A release of Spark may reach PyPI before its connector reaches Maven Central, and some patch releases of the connector
# need a module that was never published.  So the version is chosen among those that Maven Central lists.

GROUP = "org.apache.spark"
CONNECTOR = "spark-sql-kafka-0-10"
#: the connector and the module of Spark that it needs in the same version
_MODULES = (CONNECTOR, "spark-token-provider-kafka-0-10")


def fitting(running: str, there: Iterable[str]) -> str:
    """The version to use with Spark ``running``: the same if it is ``there``, else the newest release of the same major
    version that is not of a later minor one; ``running`` if there is none.

    >>> fitting("4.3.0", ["4.0.0", "4.2.0", "4.4.0-preview1"])
    '4.2.0'
    """
    found = {release(version): version for version in there}
    now = release(running)
    if now is None or now in found:
        return running
    fit = [parts for parts in found if parts is not None and parts[0] == now[0] and parts[1] <= now[1]]
    return found[max(fit)] if fit else running


@functools.cache
def published(scala: str) -> frozenset[str]:
    """The versions that Maven Central lists of every module of the connector; none if it cannot be asked."""
    lists = [listed(GROUP, f"{module}_{scala}") or frozenset() for module in _MODULES]
    return frozenset.intersection(*lists)


KAFKA = Library("the connector for Kafka", "no-kafka", "OCCURS_KAFKA_JARS", packages)
