"""The connector in a Spark session: which package it is, whether it is there, whether the brokers answer."""

from __future__ import annotations

import functools
import http.client
import os
import re
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException, ElementTree

from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.places import user_path
from occurs.errors import InputProblem, OccursError, ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: files and directories of jars, separated as in PATH: the connector and what it needs, where Maven is out of reach
JARS = "OCCURS_KAFKA_JARS"
#: how long :func:`reach` lets the clients try, in milliseconds
PATIENCE = 10_000


def packages(version: str | None = None) -> str:
    """The connector's Maven coordinate, for ``spark.jars.packages``, in ``version``.

    None: the version that Maven Central has and that fits the running PySpark (see ``versions``); it is asked once.
    """
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    found = [m[1] for p in (home / "jars").glob("spark-core_*.jar") if (m := re.match(r"spark-core_([\d.]+)-", p.name))]
    scala = found[0] if found else "2.13"  # a client of Spark Connect has no jars; Spark 4 is built for one Scala
    if version is None:
        version = fitting(pyspark.__version__, published(scala))
    return f"{GROUP}:{CONNECTOR}_{scala}:{version}"


def settings() -> dict[str, str]:
    """What :func:`~occurs.connect.spark.local_session` needs for a session with the connector.

    ``spark.jars`` if the variable OCCURS_KAFKA_JARS names files, else ``spark.jars.packages``: Spark downloads them
    from Maven Central when it starts, or from where its settings (``spark.jars.ivySettings``) say, and keeps them.
    Raises UsageProblem (``missing-file``) if there are no jars where the variable points.
    """
    named = os.environ.get(JARS)
    if not named:
        return {"spark__jars__packages": packages()}
    jars: list[Path] = []
    for text in named.split(os.pathsep):
        path = user_path(text).absolute()
        found = sorted(path.glob("*.jar")) if path.is_dir() else [path] if path.is_file() else []
        if not found:
            raise UsageProblem.of("missing-file", f"{JARS}: there are no jars at {path}", file=str(path))
        jars += found
    return {"spark__jars": ",".join(map(str, jars))}


def kafka_session(master: str = "local[*]", **more: str) -> SparkSession:
    """A session of this process that has the connector; ``more`` as for ``local_session``.

    Raises ResourceProblem (``no-kafka``) if the connector cannot be downloaded, or if this process has a session
    without it already: jars are looked at only when a session starts.
    """
    from occurs.connect.spark import _hushed, local_session, reach_remote

    reach_remote()  # what it says must be seen
    with _hushed(True) as log:  # what Ivy says stands far above the last lines, which the error shows
        try:
            session = local_session(master, quiet=False, **(settings() | more))
        except ResourceProblem as error:
            if not re.search(r"unresolved dependency|download failed", log()):
                raise
            raise ResourceProblem.of("no-kafka", f"{packages()} cannot be downloaded", hint=_hint()) from error
    if "SPARK_REMOTE" not in os.environ:
        session.sparkContext.setLogLevel("OFF")
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


@contextmanager
def kafka_errors(place: KafkaPlace | None) -> Iterator[None]:
    """Errors of the connector and of Kafka's clients as ours; ours, and what is neither, pass unchanged."""
    from pyspark.errors import PySparkException

    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        if not isinstance(error, PySparkException) and not type(error).__module__.startswith(("py4j", "grpc")):
            raise
        ours = _translated(str(error), place)
        if ours is None:
            raise
        raise ours from error


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
    return (
        f"create a session with occurs.connect.kafka.kafka_session(), or pass --packages {packages()} to spark-submit; "
        f"without Maven Central, put the jars into a folder and set {JARS} to it"
    )


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
_LISTS = "https://repo1.maven.org/maven2/org/apache/spark/{module}_{scala}/maven-metadata.xml"
#: seconds to wait for Maven Central's list of versions
DOWNLOAD_PATIENCE = 5.0


def fitting(running: str, there: Iterable[str]) -> str:
    """The version to use with Spark ``running``: the same if it is ``there``, else the newest release of the same major
    version that is not of a later minor one; ``running`` if there is none.

    >>> fitting("4.3.0", ["4.0.0", "4.2.0", "4.4.0-preview1"])
    '4.2.0'
    """
    found = {_parts(version): version for version in there}
    now = _parts(running)
    if now is None or now in found:
        return running
    fit = [parts for parts in found if parts is not None and parts[0] == now[0] and parts[1] <= now[1]]
    return found[max(fit)] if fit else running


@functools.cache
def published(scala: str) -> frozenset[str]:
    """The versions that Maven Central lists of every module of the connector; none if it cannot be asked."""
    lists = [_listed(_LISTS.format(module=module, scala=scala)) for module in _MODULES]
    return frozenset.intersection(*lists)


def _listed(url: str) -> frozenset[str]:
    try:
        with urllib.request.urlopen(url, timeout=DOWNLOAD_PATIENCE) as answer:
            found = ElementTree.fromstring(answer.read())
    except (OSError, http.client.HTTPException, ParseError, DefusedXmlException):
        return frozenset()  # behind a mirror the list may be out of reach, and the download is not: Spark tries
    return frozenset(e.text for e in found.iter("version") if e.text)


def _parts(version: str) -> tuple[int, int, int] | None:
    """The numbers of a release; None for a preview."""
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
