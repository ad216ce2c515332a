"""Addresses of Kafka topics, and what a session needs; no broker, no Spark session."""

from __future__ import annotations

import http.client
import io

import pytest

from occurs.connect.kafka import KafkaPlace, KafkaSink, packages, settings
from occurs.connect.kafka.session import fitting, published
from occurs.connect.store import Disk
from occurs.errors import CheckpointProblem, UsageProblem


def test_brokers_topics_and_options():
    place = KafkaPlace.parse(
        "kafka://one:9092,[::1]:9093/smoke,temp.v2?startingOffsets=latest&maxOffsetsPerTrigger=500&key=sensor"
        "&timestamp=time&headers=all&header.trace-id=trace&kafka.security.protocol=SASL_SSL&kafka.ssl.key.password=a%26b+c"
    )
    assert place.servers == ("one:9092", "[::1]:9093")
    assert place.topics == ("smoke", "temp.v2")
    assert place.reading == {"startingOffsets": "latest", "maxOffsetsPerTrigger": "500"}
    assert place.exposed == {"key": "sensor", "timestamp": "time", "headers": "all", "header.trace-id": "trace"}
    assert place.connection() == {
        "kafka.bootstrap.servers": "one:9092,[::1]:9093",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.ssl.key.password": "a&b+c",
    }
    assert "a&b" not in repr(place) + str(place)
    assert str(place) == "kafka://one:9092,[::1]:9093/smoke,temp.v2"


def test_client_settings_may_come_from_a_file(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text(
        "# as Kafka's tools read it\n\nsecurity.protocol=SASL_SSL\n"
        'sasl.jaas.config=org.example.Login required \\\n    password="x=y";\nsasl.mechanism: PLAIN\n'
    )
    place = KafkaPlace.parse(f"kafka://h:1/t?kafka.sasl.mechanism=SCRAM-SHA-512&config={path}")
    assert place.client == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": 'org.example.Login required password="x=y";',
        "kafka.sasl.mechanism": "SCRAM-SHA-512",  # what is written in the address wins
    }


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("http://h:1/t", "bad-option", "does not start with kafka://"),
        ("h:1/t", "bad-option", "does not start with kafka://"),
        ("kafka:///t", "bad-option", "the broker before the topic is missing"),
        ("kafka://h:1", "bad-option", "the topic after the brokers is missing"),
        ("kafka://h:1/", "bad-option", "the topic after the brokers is missing"),
        ("kafka://h/t", "bad-option", "`h` is not HOST:PORT"),
        ("kafka://h:0/t", "bad-option", "`h:0` is not HOST:PORT"),
        ("kafka://h:99999/t", "bad-option", "is not HOST:PORT"),
        ("kafka://h:1,/t", "bad-option", "`` is not HOST:PORT"),
        ("kafka://u:p@h:1/t", "bad-option", "is not HOST:PORT"),
        ("kafka://h:1/a b", "bad-option", "`a b` is not a valid topic name"),
        ("kafka://h:1/a/b", "bad-option", "`a/b` is not a valid topic name"),
        ("kafka://h:1/t,", "bad-option", "`` is not a valid topic name"),
        ("kafka://h:1/..", "bad-option", "`..` is not a valid topic name"),
        ("kafka://h:1/t?key", "bad-option", "`key` has no value"),
        ("kafka://h:1/t?key=a&key=b", "duplicate-name", "`key` is given twice"),
        ("kafka://h:1/t?key=a&headers=a", "duplicate-name", "two columns `a`"),
        ("kafka://h:1/t?startingOffset=latest", "unknown-name", "did you mean `startingOffsets`"),
        ("kafka://h:1/t?header.=a", "unknown-name", "unknown option `header.`"),
        ("kafka://h:1/t?startingOffsets=newest", "bad-option", "invalid `startingOffsets`: `newest`"),
        ('kafka://h:1/t?startingOffsets={"u":{"0":1}}', "bad-option", "for every partition of every topic"),
        ("kafka://h:1/t?maxOffsetsPerTrigger=0", "bad-option", "whole number above 0"),
        ("kafka://h:1/t?startingTimestamp=today", "bad-option", "milliseconds"),
        ("kafka://h:1/t?failOnDataLoss=no", "bad-option", "`true` or `false`"),
        ("kafka://h:1/t?kafka.bootstrap.servers=x:1", "bad-option", "cannot be set"),
        ("kafka://h:1/t?kafka.auto.offset.reset=latest", "bad-option", "cannot be set"),
        ("kafka://h:1/t?config=/no/such/file", "missing-file", "cannot be read"),
    ],
)
def test_malformed_places(text, kind, told):
    with pytest.raises(UsageProblem, match="kafka://") as caught:
        KafkaPlace.parse(text)
    assert caught.value.kind == kind
    assert told in str(caught.value)


def test_offsets_per_partition():
    place = KafkaPlace.parse('kafka://h:1/t?startingOffsets=%7B"t":%7B"0":5,"1":-2%7D%7D')
    assert place.reading["startingOffsets"] == '{"t":{"0":5,"1":-2}}'


def test_secrets_are_not_in_messages():
    with pytest.raises(UsageProblem) as caught:
        KafkaPlace.parse("kafka://h:1/t?kafka.sasl.jaas.config=hush&nosuch=hush2")
    assert "hush" not in str(caught.value)


THERE = ["3.5.8", "4.0.0", "4.1.1", "4.2.0", "4.2.0-preview4", "4.4.0", "5.0.0"]


@pytest.mark.parametrize(
    ("running", "chosen"),
    [
        ("4.2.0", "4.2.0"),
        ("4.3.0", "4.2.0"),
        ("4.1.0", "4.1.1"),
        ("4.1.3", "4.1.1"),
        ("4.10.0", "4.4.0"),
        ("3.4.0", "3.4.0"),
        ("4.3.0.dev1", "4.3.0.dev1"),
    ],
)
def test_the_connector_is_of_a_version_that_there_is_and_that_fits(running, chosen):
    assert fitting(running, THERE) == chosen
    assert fitting(running, []) == running


def test_the_package_is_one_that_maven_central_lists_with_all_it_needs(monkeypatch):
    import pyspark

    lists = {"spark-sql": THERE, "spark-token": ["4.0.0", "4.1.1", "4.2.0"]}
    asked = []

    def answer(url, timeout):
        asked.append(url)
        found = next(versions for name, versions in lists.items() if name in url)
        versions = "".join(f"<version>{v}</version>" for v in found)
        return io.BytesIO(f"<metadata><versioning><versions>{versions}</versions></versioning></metadata>".encode())

    published.cache_clear()
    monkeypatch.setattr("urllib.request.urlopen", answer)
    monkeypatch.setattr(pyspark, "__version__", "4.3.0")
    assert packages() == "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
    lists["spark-token"] = ["4.0.0"]
    assert packages().endswith(":4.2.0")  # it is asked once
    published.cache_clear()
    assert packages().endswith(":4.0.0")
    assert len(asked) == 4
    assert packages("4.1.1").endswith(":4.1.1")
    published.cache_clear()


@pytest.mark.parametrize("why", [OSError("no route"), http.client.BadStatusLine("?"), b"<html", b"<a/>"])
def test_without_a_list_spark_is_asked_for_its_own_version(monkeypatch, why):
    import pyspark

    def answer(url, timeout):
        if isinstance(why, bytes):
            return io.BytesIO(why)
        raise why

    published.cache_clear()
    monkeypatch.setattr("urllib.request.urlopen", answer)
    assert packages().endswith(f":{pyspark.__version__}")
    published.cache_clear()


def test_settings_name_the_package_or_local_jars(monkeypatch, tmp_path):
    monkeypatch.delenv("OCCURS_KAFKA_JARS", raising=False)
    monkeypatch.setattr("occurs.connect.kafka.session.published", lambda scala: frozenset())
    assert settings() == {"spark__jars__packages": packages()}
    (tmp_path / "jars").mkdir()
    for name in ("jars/a.jar", "jars/b.jar", "jars/notes.txt", "c.jar"):
        (tmp_path / name).touch()
    monkeypatch.setenv("OCCURS_KAFKA_JARS", f"{tmp_path / 'jars'}:{tmp_path / 'c.jar'}")
    names = [tmp_path / "jars" / "a.jar", tmp_path / "jars" / "b.jar", tmp_path / "c.jar"]
    assert settings() == {"spark__jars": ",".join(map(str, names))}
    monkeypatch.setenv("OCCURS_KAFKA_JARS", str(tmp_path / "nothing"))
    with pytest.raises(UsageProblem, match="OCCURS_KAFKA_JARS"):
        settings()


@pytest.mark.parametrize("text", ["kafka://h:1/a,b", "kafka://h:1/t?key=k", "kafka://h:1/t?startingOffsets=latest"])
def test_a_sink_has_one_topic_and_no_options_for_reading(text, tmp_path):
    with pytest.raises(UsageProblem):
        KafkaSink(KafkaPlace.parse(text), "me", tmp_path)


def test_a_writer_has_a_name_that_can_be_a_file(tmp_path):
    with pytest.raises(UsageProblem, match="is not a valid writer name"):
        KafkaSink(KafkaPlace.parse("kafka://h:1/t"), "../me", tmp_path)


def test_notes_say_whether_a_batch_was_begun(tmp_path):
    from occurs.connect.kafka.sink import KEPT, Notes

    notes = Notes(Disk(tmp_path / "new"), "kafka-sink-me.json")
    assert notes.begin(0, 1000) is None
    assert Notes(Disk(tmp_path / "new"), "kafka-sink-me.json").begin(0, 2000) == 1000
    assert notes.begin(1, 3000) is None
    assert notes.begin(0, 4000) == 1000
    for batch in range(2, KEPT + 2):
        assert notes.begin(batch, batch) is None
    assert notes.begin(0, 5000) == 0  # forgotten: the whole topic is looked through
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["kafka-sink-me.json"]


DAMAGED = [
    b"",
    b"{}",
    b"[]",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"version": 2, "started": {}}',
    b'{"version": 1, "started": {"x": 1}}',
    b'{"version": 1, "started": {"3": 1}, "digest": "x"}',
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_note_is_not_taken_for_none(tmp_path, text):
    from occurs.connect.kafka.sink import Notes

    (tmp_path / "kafka-sink-me.json").write_bytes(text)
    with pytest.raises(CheckpointProblem, match="new checkpoint"):
        Notes(Disk(tmp_path), "kafka-sink-me.json").begin(0, 1)
