"""Messages of a real broker as typed columns, good ones and poison."""

from __future__ import annotations

import datetime as dt
import json
import uuid

import pytest

from occurs.connect.kafka import BROKEN, REASON, KafkaPlace, letters, reach, sample_schema, stream
from occurs.connect.kafka.source import typed
from occurs.connect.sparkcolumns import PLACE
from occurs.errors import InputProblem, ResourceProblem, UsageProblem
from occurs.model.types import Type

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FIELDS = {
    "type": Type.STRING,
    "time": Type.NULL,
    "n": Type.INT,
    "x": Type.FLOAT,
    "ok": Type.BOOL,
    "at": Type.TIMESTAMP,
}


def drained(frame):
    """All rows that a stream gives until nothing is left, by place."""
    name = f"m{uuid.uuid4().hex}"
    query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    query.awaitTermination()
    return frame.sparkSession.table(name).orderBy(*PLACE).collect()


def batch(spark, place, fields):
    """The same as one DataFrame, read once."""
    options = {**place.connection(), "subscribe": ",".join(place.topics), "includeHeaders": "true"}
    frame = spark.read.format("kafka").options(**options).load()
    return typed(frame, place, fields).orderBy(*PLACE).collect()


def with_options(place, query):
    return KafkaPlace.parse(f"{place}?{query}")


def test_a_stream_of_typed_rows_with_their_places(spark, place, send, topic):
    send(
        json.dumps({"type": "Temp", "time": "2024-05-01T12:00:00Z", "n": 1, "x": 2, "ok": True, "at": "2024-05-01"}),
        {"value": '{"type": "Temp", "time": 17, "n": 3.0, "x": 0.5, "more": [1]}', "partition": 1},
        '{"type": null, "n": null}',
        "not JSON",
        {"value": None, "key": "gone"},
    )
    frame = stream(spark, place, FIELDS)
    assert frame.isStreaming
    assert dict(frame.dtypes) == {
        **dict(zip(FIELDS, ["string", "string", "bigint", "double", "boolean", "timestamp"])),
        **dict(zip([*PLACE, BROKEN, REASON], ["string", "bigint", "string", "string"])),
    }
    rows = drained(frame)
    first = f"kafka://{topic}[0]"
    midnight = dt.datetime(2024, 5, 1, tzinfo=dt.UTC).astimezone().replace(tzinfo=None)
    assert [tuple(r) for r in rows] == [
        ("Temp", "2024-05-01T12:00:00Z", 1, 2.0, True, midnight, first, 0, None, None),
        (None, None, None, None, None, None, first, 1, None, None),
        (None, None, None, None, None, None, first, 2, "not JSON", "the value is not JSON"),
        (None, None, None, None, None, None, first, 3, "", "the message has no value"),
        ("Temp", "17", 3, 0.5, None, None, f"kafka://{topic}[1]", 0, None, None),
    ]


POISON = [
    "",
    " ",
    "[]",
    "[1]",
    "1",
    "null",
    '"text"',
    "{",
    '{"n": 1',
    '{"n": 1} x',
    '{"n": 1}{"n": 2}',
    '{"n": 1}\n{"n": 2}',
    '{"n": 1},{"n": 2}',
    '{"n": 1}] x',
    "{'n': 1}",
    '{"n": 1, "n": 2}',
    '{"x": NaN}',
    b'{"type": "\xff\xfe"}',
    b"\x00\x01\x02",
]
MISFITS = [
    ('{"n": "1"}', "n"),
    ('{"n": 1.5}', "n"),
    ('{"n": true}', "n"),
    ('{"n": 9223372036854775808}', "n"),
    ('{"n": [1]}', "n"),
    ('{"x": "1.5"}', "x"),
    ('{"x": 9007199254740993}', "x"),
    ('{"ok": 1}', "ok"),
    ('{"ok": "true"}', "ok"),
    ('{"at": "yesterday"}', "at"),
    ('{"at": 17}', "at"),
    ('{"type": 5}', "type"),
    ('{"type": {}}', "type"),
    ('{"n": "a", "ok": 3}', "n"),
]
GOOD = [
    ('{"n": -9223372036854775808}', {"n": -(2**63)}),
    ('{"n": 1e3}', {"n": 1000}),
    ('{"x": 9007199254740992}', {"x": 2.0**53}),
    ('{"x": 0.1}', {"x": 0.1}),
    ('{"x": 1e-300}', {"x": 1e-300}),
    (' {"type": "a\\u00e9\\n\\"b\\""}\n', {"type": 'aé\n"b"'}),
    ('{"type": "5"}', {"type": "5"}),
    ('{"type": "NaN"}', {"type": "NaN"}),
    ('{"time": {"a": 1}}', {"time": '{"a":1}'}),
    ('{"time": 1714564800000000}', {"time": "1714564800000000"}),
    ('{"other": {"n": "deep"}}', {}),
    ("{}", {}),
]


def test_what_fits_and_what_is_poison(spark, place, send):
    send(*POISON, *(text for text, _ in MISFITS), *(text for text, _ in GOOD))
    rows = batch(spark, place, FIELDS)
    poison, misfits, good = rows[: len(POISON)], rows[len(POISON) : -len(GOOD)], rows[-len(GOOD) :]
    texts = [p if isinstance(p, str) else p.decode(errors="replace") for p in POISON]
    assert [r[BROKEN] for r in poison] == texts
    assert [r[REASON] for r in poison if not r[REASON].startswith("the value is not ")] == []
    told = [f"the value of `{name}` is not of type {FIELDS[name]}" for _, name in MISFITS]
    assert [(r[BROKEN], r[REASON]) for r in misfits] == list(zip([text for text, _ in MISFITS], told))
    assert [r[BROKEN] for r in good] == [None] * len(GOOD)
    assert [{n: r[n] for n in FIELDS if r[n] is not None} for r in good] == [found for _, found in GOOD]


def test_names_are_taken_as_they_are(spark, place, send):
    names = ["a.b", "it's", 'say "x"', "a b", "$", "é", "N", "n"]
    send(json.dumps({name: i for i, name in enumerate(names)}))
    (row,) = batch(spark, place, dict.fromkeys(names, Type.INT))
    assert list(row)[: len(names)] == list(range(len(names)))
    assert row[BROKEN] is None


def test_keys_headers_and_timestamps_as_columns(spark, place, send):
    send(
        {"key": "s1", "value": '{"who": "json", "n": 1}', "headers": [("id", "a"), ("id", "b"), ("é", None)]},
        {"key": None, "value": '{"n": 2}'},
        {"key": b"7\xff", "value": '{"n": 3}'},
    )
    seen = with_options(place, "key=who&timestamp=when&headers=all&header.id=trace")
    rows = drained(stream(spark, seen, {"who": Type.STRING, "n": Type.INT}))
    assert [(r.who, r.n, r["all"], r.trace) for r in rows] == [
        ("s1", 1, '{"id":"b","é":null}', "b"),
        (None, 2, None, None),
        ("7�", 3, None, None),
    ]
    assert all(abs(dt.datetime.now() - r.when) < dt.timedelta(hours=1) for r in rows)


def test_a_key_may_be_declared_an_integer(spark, place, send):
    send({"key": "42", "value": "{}"}, {"key": "x", "value": "{}"})
    rows = batch(spark, with_options(place, "key=id"), {"id": Type.INT})
    assert [(r.id, r[REASON]) for r in rows] == [(42, None), (None, "the value of `id` is not of type int")]
    for option, wrong in (("key", Type.FLOAT), ("timestamp", Type.INT), ("headers", Type.INT)):
        with pytest.raises(UsageProblem, match="is declared as"):
            stream(spark, with_options(place, f"{option}=id"), {"id": wrong})


def test_where_to_start(spark, place, send, topic):
    send('{"n": 0}', '{"n": 1}', '{"n": 2}', {"value": '{"n": 10}', "partition": 1})
    offsets = json.dumps({topic: {"0": 2, "1": -1}})
    rows = drained(stream(spark, with_options(place, f"startingOffsets={offsets}"), {"n": Type.INT}))
    assert [r.n for r in rows] == [2]


def test_a_sample_of_the_messages_says_what_they_hold(spark, place, send):
    send(
        '{"type": "Temp", "time": "2024-05-01T12:00:00Z", "value": 20, "mixed": 1, "list": [1], "none": null}',
        "poison",
        '{"type": "Smoke", "time": "2024-05-01T12:00:01Z", "value": 20.5, "mixed": "a", "on": true, "sensor": "k"}',
        {"value": '{"second": 1}', "partition": 1},
        None,
        '{"late": 1}',
    )
    found = sample_schema(spark, with_options(place, "key=sensor"), limit=4)
    assert found == {
        "type": Type.STRING,
        "time": Type.STRING,
        "value": Type.FLOAT,
        "mixed": Type.NULL,
        "none": Type.NULL,
        "on": Type.BOOL,
        "second": Type.INT,
    }


def test_nothing_to_sample(spark, place, send, kafka):
    with pytest.raises(InputProblem, match="no such topic") as caught:
        sample_schema(spark, place)
    assert caught.value.kind == "missing-topic"
    with pytest.raises(InputProblem, match="no such topic"):
        stream(spark, place, FIELDS)
    send("poison")
    with pytest.raises(InputProblem, match="none of the first 1 messages is a JSON object"):
        sample_schema(spark, place)


def test_a_broker_that_is_not_there(spark, kafka, impatient):
    place = KafkaPlace.parse("kafka://127.0.0.1:1/t")
    with pytest.raises(ResourceProblem, match="do not answer") as caught:
        reach(spark, place)
    assert caught.value.kind == "unreachable"
    with pytest.raises(ResourceProblem, match="kafka://no-such-host"):
        stream(spark, KafkaPlace.parse("kafka://no-such-host.invalid:9092/t"), FIELDS)


def test_dead_letters_say_what_was_wrong_and_where(spark, place, send, topic):
    send("poison", '{"n": 1}', '{"n": "x"}')
    options = {**place.connection(), "subscribe": topic}
    frame = typed(spark.read.format("kafka").options(**options).load(), place, {"n": Type.INT})
    rows = letters(frame).orderBy("label").collect()
    assert [(r.key, r.value, r.reason) for r in rows] == [
        (None, "poison", "the value is not JSON"),
        (None, '{"n": "x"}', "the value of `n` is not of type int"),
    ]
    assert [r.place for r in rows] == [r.label for r in rows] == [f"kafka://{topic}[0]@0", f"kafka://{topic}[0]@2"]
