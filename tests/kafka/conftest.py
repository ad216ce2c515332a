"""The broker of a run, topics of its own for each test, and messages written by Spark."""

from __future__ import annotations

import os
import uuid

import pytest

import broker
import mavenjars
from occurs.connect.kafka import KafkaPlace


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What the broker has to say of a test that failed."""
    report = (yield).get_result()
    if report.failed and "kafka" in getattr(item, "funcargs", {}):
        report.sections.append(("the broker's log", item.funcargs["kafka"].told()))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """A running broker.  Without its jars, or Spark's connector, tests are skipped; under CI=true they fail."""
    try:
        mavenjars.connector()
        server = broker.Broker(tmp_path_factory.mktemp("broker"))
    except mavenjars.Unavailable as error:
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def impatient(monkeypatch):
    """Brokers are given up after two seconds."""
    monkeypatch.setattr("occurs.connect.kafka.session.PATIENCE", 2000)


@pytest.fixture
def topic():
    """A name; the topic comes into being when it is written to."""
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def made(spark, kafka, topic):
    """The name of a topic that is there before anything is written to it, as where people run Kafka."""
    jvm = spark._jvm
    settings = jvm.java.util.Properties()
    settings.put("bootstrap.servers", kafka.server)
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
    try:
        new = jvm.org.apache.kafka.clients.admin.NewTopic(topic, 2, 1)
        admin.createTopics(jvm.java.util.List.of(new)).all().get()
    finally:
        admin.close()
    return topic


@pytest.fixture
def place(kafka, topic):
    return KafkaPlace.parse(f"kafka://{kafka.server}/{topic}")


@pytest.fixture
def send(kafka, spark, topic):
    """``send(value, ..)``: messages as text, bytes, None, or dicts with key, value, partition, headers; in order."""

    def bytes_of(text):
        return text.encode() if isinstance(text, str) else text

    def sent(*messages, to=topic):
        rows = []
        for m in messages:
            m = m if isinstance(m, dict) else {"value": m}
            headers = [(k, bytes_of(v)) for k, v in m.get("headers", [])] or None
            rows.append((bytes_of(m.get("key")), bytes_of(m.get("value")), m.get("partition", 0), headers))
        schema = "key binary, value binary, partition int, headers array<struct<key string, value binary>>"
        frame = spark.createDataFrame(rows, schema).coalesce(1)
        frame.write.format("kafka").option("kafka.bootstrap.servers", kafka.server).option("topic", to).save()

    return sent
