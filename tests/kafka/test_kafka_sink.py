"""Micro-batches written to a real broker, once and again."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import mavenjars
from occurs.connect.kafka import KafkaPlace, KafkaSink, letters, sink, stream
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.types import Type

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("made")]

SCHEMA = "key string, value string, type string, label string"


def records(spark, place):
    """(key, value, headers) of all records of a topic, sorted."""
    options = {**place.connection(), "subscribe": place.topic, "includeHeaders": "true"}
    rows = spark.read.format("kafka").options(**options).load().collect()
    text = [(r.key and r.key.decode(), r.value.decode(), {h.key: h.value.decode() for h in r.headers}) for r in rows]
    return sorted(text, key=repr)


def rows_of(spark, *rows):
    return spark.createDataFrame(list(rows), SCHEMA)


def headers(batch, label=None, type="Fire", writer="me"):
    given = {"occurs-type": type, "occurs-label": label, "occurs-batch": str(batch), "occurs-writer": writer}
    return {k: v for k, v in given.items() if v is not None}


def test_records_say_what_they_are(spark, place, tmp_path):
    sink = KafkaSink(place, "me", tmp_path)
    sink.write(0, rows_of(spark, ("k", '{"é": 1}', "Fire", "a1"), (None, "{}", None, None)))
    sink.write(1, rows_of(spark))
    sink.write(2, rows_of(spark, ("k", '{"é": 1}', "Fire", "a1")))
    assert records(spark, place) == [
        ("k", '{"é": 1}', headers(0, "a1")),
        ("k", '{"é": 1}', headers(2, "a1")),
        (None, "{}", headers(0, type=None)),
    ]


def test_a_batch_written_again_leaves_each_record_once(spark, place, tmp_path):
    rows = [(str(i % 3), f'{{"n": {i}}}', "Fire", f"label{i}") for i in range(40)]
    KafkaSink(place, "me", tmp_path).write(7, rows_of(spark, *rows))
    KafkaSink(place, "me", tmp_path).write(7, rows_of(spark, *reversed(rows)))
    KafkaSink(place, "me", tmp_path).write(7, rows_of(spark, *rows))
    assert records(spark, place) == sorted(((k, v, headers(7, label)) for k, v, _, label in rows), key=repr)


@pytest.mark.long
def test_a_task_that_spark_repeats_writes_nothing_twice(spark, place, tmp_path):
    """In a Spark of its own, which repeats tasks that fail."""
    script = os.path.join(os.path.dirname(__file__), "repeating.py")
    server = place.connection()["kafka.bootstrap.servers"]
    command = [sys.executable, script, server, place.topic, str(tmp_path)]
    env = {**os.environ, "OCCURS_KAFKA_JARS": os.pathsep.join(map(str, mavenjars.connector()))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "failed").exists()
    assert (tmp_path / "failed-writing").exists()
    found = records(spark, place)
    assert len(found) == 200
    assert {value for _, value, _ in found} == {str(n) for n in range(200)}


def test_what_tasks_left_out_is_made_up_for_in_the_same_run(spark, place, tmp_path, monkeypatch):
    monkeypatch.setattr(sink, "SETTLED", 0)
    append, failures = KafkaSink._append, iter([0.3, 0.6])

    def fails(self, batch_id, rows):
        part = next(failures, None)
        if part is None:
            return append(self, batch_id, rows)
        append(self, batch_id, rows.where(f"rand(1) < {part}"))
        raise RuntimeError(f"Job aborted: RuntimeError: {sink._REPEATED}")

    monkeypatch.setattr(KafkaSink, "_append", fails)
    rows = [(None, str(i), "Fire", f"label{i}") for i in range(40)]
    KafkaSink(place, "me", tmp_path).write(0, rows_of(spark, *rows))
    assert [value for _, value, _ in records(spark, place)] == sorted((str(i) for i in range(40)), key=repr)
    failures = iter([0.3] * 4)
    with pytest.raises(ResourceProblem, match="Spark's tasks failed 3 times while they wrote a micro-batch"):
        KafkaSink(place, "me", tmp_path).write(1, rows_of(spark, *rows))


@pytest.mark.parametrize(("number", "rows"), [(0, 1), (1, None)])
def test_only_the_first_attempt_hands_rows_on(monkeypatch, number, rows):
    import pyspark

    class Attempt:
        def attemptNumber(self):
            return number

    monkeypatch.setattr(pyspark.TaskContext, "get", classmethod(lambda cls: Attempt()))
    if rows is None:
        with pytest.raises(RuntimeError, match="is repeated"):
            list(sink.first_attempt(iter([1])))
    else:
        assert list(sink.first_attempt(iter([1]))) == [1]


def test_only_what_is_missing_is_written(spark, place, tmp_path):
    """As a crash leaves it: the batch is noted, some of its records have arrived."""
    rows = [(None, str(i), "Fire", f"label{i}") for i in range(6)]
    alike = [("x", "a"), ("x", "a"), ("y", "a"), ("z", None), ("z", None), ("new", "b")]
    rows += [(None, value, "Fire", label) for value, label in alike]
    arrived = [*rows[:3], rows[7], rows[8], rows[9], (None, "old", "Fire", "b")]  # a label stands for its row
    KafkaSink(place, "me", tmp_path).write(3, rows_of(spark, *arrived))
    KafkaSink(place, "me", tmp_path).write(3, rows_of(spark, *rows))
    assert [r[1] for r in records(spark, place)] == ["0", "1", "2", "3", "4", "5", "old", "x", "x", "y", "z", "z"]


def test_records_of_other_batches_and_writers_do_not_count(spark, place, tmp_path):
    row = (None, "{}", "Fire", "a")
    KafkaSink(place, "me", tmp_path).write(0, rows_of(spark, row))
    KafkaSink(place, "you", tmp_path).write(1, rows_of(spark, row))
    (tmp_path / "kafka-sink-you.json").rename(tmp_path / "kafka-sink-me.json")  # batch 1 is noted, none of it arrived
    KafkaSink(place, "me", tmp_path).write(1, rows_of(spark, row))
    assert [r[2] for r in records(spark, place)] == [headers(0, "a"), headers(1, "a"), headers(1, "a", writer="you")]


def test_the_rows_of_a_batch_are_computed_once(spark, place, tmp_path):
    counter = spark.sparkContext.accumulator(0)
    rows = [(None, str(i), "Fire", str(i)) for i in range(20)]

    def counted(batches):
        for b in batches:
            counter.add(len(b))
            yield b

    for times in (1, 2):  # first written, then compared
        KafkaSink(place, "me", tmp_path).write(0, rows_of(spark, *rows).coalesce(1).mapInArrow(counted, SCHEMA))
        assert counter.value == 20 * times
    assert len(records(spark, place)) == 20


def test_rows_without_a_label_column_are_refused(spark, place, tmp_path):
    with pytest.raises(UsageProblem, match="no `label`"):
        KafkaSink(place, "me", tmp_path).write(0, rows_of(spark).drop("label"))


def test_a_broker_that_is_not_there(spark, kafka, impatient, tmp_path):
    sink = KafkaSink(KafkaPlace.parse("kafka://127.0.0.1:1/t"), "me", tmp_path)
    with pytest.raises(ResourceProblem, match="do not answer"):
        sink.write(0, rows_of(spark, (None, "{}", "Fire", "a")))
    assert not list(tmp_path.iterdir())  # nothing was begun


@pytest.mark.slow
def test_from_topic_to_topic_with_dead_letters(spark, kafka, place, send, topic, tmp_path):
    """A query with its checkpoint: some messages, a stop, more messages, a restart that loses its last commit."""
    out, dead = (KafkaPlace.parse(f"kafka://{kafka.server}/{topic}-{name}") for name in ("out", "dead"))
    checkpoint = tmp_path / "checkpoint"

    def follow():
        good, bad = (KafkaSink(p, "q", checkpoint / n) for p, n in ((out, "good"), (dead, "bad")))

        def write(frame, batch):
            n = "cast(n as string)"
            good.write(
                batch,
                frame.where("__occurs_broken is null").selectExpr(
                    f"{n} key", "to_json(struct(n)) value", "'N' type", f"{n} label"
                ),
            )
            bad.write(batch, letters(frame))

        frame = stream(spark, KafkaPlace.parse(f"{place}?maxOffsetsPerTrigger=4"), {"n": Type.INT})
        query = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint))
        query.trigger(availableNow=True).start().awaitTermination()

    send(*(f'{{"n": {i}}}' for i in range(6)), "poison")
    follow()
    last = max((p for p in (checkpoint / "commits").iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    send(*(f'{{"n": {i}}}' for i in range(6, 9)))
    follow()
    assert [r[1] for r in records(spark, out)] == [f'{{"n":{i}}}' for i in range(9)]
    ((_, value, told),) = records(spark, dead)
    assert value == "poison"
    assert told["occurs-reason"] == "the value is not JSON"
    assert told["occurs-place"] == f"kafka://{topic}[0]@6"


@pytest.mark.slow
@pytest.mark.long
def test_a_session_without_the_connector_says_what_to_do(tmp_path):
    nowhere = tmp_path / "ivysettings.xml"
    nowhere.write_text(
        f'''<ivysettings><settings defaultResolver="none"/><caches defaultCacheDir="{tmp_path}/ivy"/><resolvers>
        <filesystem name="none"><artifact pattern="{tmp_path}/none/[artifact].[ext]"/></filesystem>
        </resolvers></ivysettings>'''
    )
    code = """
        import sys
        from occurs.connect.kafka import KafkaPlace, kafka_session, stream
        from occurs.connect.spark import local_session
        from occurs.errors import ResourceProblem

        def download():
            kafka_session("local[1]", spark__jars__ivySettings=sys.argv[1], spark__jars__ivy=sys.argv[2])

        def read():
            stream(local_session("local[1]"), KafkaPlace.parse("kafka://h:1/t"), {})

        for call in (download, read, kafka_session):
            try:
                call()
            except ResourceProblem as error:
                print(error.kind, error.message, error.hint, sep="; ")
    """
    # a cache of its own: that of the user may have the connector
    command = [sys.executable, "-c", textwrap.dedent(code), str(nowhere), str(tmp_path / "ivy")]
    env = {k: v for k, v in os.environ.items() if k != "OCCURS_KAFKA_JARS"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("no-kafka; ")]
    assert len(lines) == 3
    assert "cannot be downloaded" in lines[0]
    assert all("has no connector" in line for line in lines[1:])
    assert all("OCCURS_KAFKA_JARS" in line for line in lines)
