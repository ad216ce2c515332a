"""Topics of Kafka as a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occurs.checked_program import CheckedProgram
from occurs.connect.kafka import KafkaPlace, sample_schema, stream
from occurs.connect.places import split_type
from occurs.connect.store import Store
from occurs.errors import InputProblem, UsageProblem
from occurs.follow.limits import Limit, behind
from occurs.follow.sources import Source
from occurs.follow.wide import Expected, Pinned
from occurs.hosts.stream.source import StreamSource, read_stream
from occurs.model.source import InputOptions, is_utf8
from occurs.model.ticks import time_unit
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import RESERVED_INPUT, Schema, Type, widen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Topics(Source):
    """``kafka://..``, or ``TYPE=kafka://..`` with the events of one type each."""

    name = "kafka"
    trigger = "0 s"
    needs_session = True

    def __init__(self, texts: Sequence[str]):
        pairs = [split_type(text) for text in texts]
        self._places = [(name, KafkaPlace.parse(place)) for name, place in pairs]
        names = [name for name, _ in self._places]
        if len(names) > 1 and (None in names or len(set(names)) < len(names)):
            hint = "use one address for several topics, kafka://HOST:PORT/ONE,TWO; or TYPE=kafka://.., each type once"
            raise UsageProblem.of("bad-option", f"--events has {len(names)} Kafka addresses", hint=hint)

    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        """From declarations, and for the rest from the first messages."""
        assert session is not None
        if options.format not in (None, "json", "jsonl") or options.delimiter != "," or not is_utf8(options.encoding):
            text = "--format, --delimiter and --encoding are for files; Kafka messages are JSON in UTF-8"
            raise UsageProblem.of("bad-option", text, hint="remove these options")
        schemas: dict[str, Schema] = {}
        stamped: set[bool] = set()
        seen: set[str] = set()
        for name, place in self._places:
            mine = program.external if name is None else program.external & {name}
            open_ = [t for t in mine if t not in program.declared or Type.NULL in dict(program.declared[t]).values()]
            try:
                found = sample_schema(session, place)
            except InputProblem as error:
                if error.kind != "no-rows" or open_:
                    raise
                found = {}
            exposed = {c: Type.TIMESTAMP if o == "timestamp" else Type.STRING for o, c in place.exposed.items()}
            found = {**found, **exposed}
            seen |= set(found)
            if found.get(options.time) in (Type.INT, Type.FLOAT) and options.time_format is None:
                stamped.add(False)
            elif options.time in found and options.time_unit is None:
                stamped.add(True)
            special = {*options.special, *RESERVED_INPUT}
            attributes = {n: t for n, t in found.items() if n not in special}
            for t in mine:
                own = program.declared.get(t)
                schemas[t] = Schema(tuple(attributes.items()), False) if own is None else own.completed(attributes)
        if len(stamped) > 1:
            raise InputProblem.of(
                "bad-time", "all topics must have the same kind of time: some have timestamps, others integers"
            )
        unit = time_unit(options.time_unit)
        kind = TIMESTAMP if True in stamped or (not stamped and unit is None) else TimeKind(False, unit)
        if kind.timestamp and unit is not None:
            raise UsageProblem.of("bad-option", f"time unit `{unit}` is for integer times; the topics have timestamps")
        sequence, label, end = (c in seen for c in (options.sequence, options.label, options.end))
        unread = program.unread((name, str(place)) for name, place in self._places)
        return Pinned(schemas, kind, sequence, label, end, tuple(unread))

    def taken(self, limit: Limit) -> int | None:
        return limit.rows

    def backlog(self, store: Store, progress: Any) -> int | None:
        return behind(progress)

    def identity(self) -> list[str]:
        return [f"{name}={place}" if name else str(place) for name, place in self._places]

    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        most = None if limit is None else limit.shared(len(self._places)).rows
        frames = {n: stream(session, place, self._fields(n, place, expected), most) for n, place in self._places}
        found = read_stream(program, frames.get(None, frames), expected.options, delay=delay, late=expected.late)
        found.schemas |= {t: s for t, s in expected.pinned.schemas.items() if t not in found.schemas}
        return found

    def _fields(self, name: str | None, place: KafkaPlace, expected: Expected) -> dict[str, Type]:
        """What is read of a message."""
        options, pinned = expected.options, expected.pinned
        time = Type.TIMESTAMP if place.exposed.get("timestamp") == options.time else Type.NULL
        if not pinned.kind.timestamp:
            time = Type.INT
        fields = {options.time: time}
        if name is None and options.type is not None:
            fields[options.type] = Type.STRING
        lasting = pinned.end or any(s.lasting for t, s in pinned.schemas.items() if name in (None, t))
        for column, wanted, there in (
            (options.end, Type.NULL if pinned.kind.timestamp else Type.INT, lasting),
            (options.sequence, Type.INT, pinned.sequence),
            (options.label, Type.STRING, pinned.label),
        ):
            if column is not None and there:
                fields[column] = wanted
        owner: dict[str, str] = {}
        for t, schema in sorted(pinned.schemas.items()):
            for attribute, kind in schema if name in (None, t) else ():
                both = widen(fields.get(attribute, kind), kind)
                if both is None:
                    text = f"`{attribute}` is {kind} in `{t}` but {fields[attribute]} in `{owner[attribute]}`"
                    hint = "within one topic, an attribute has one type; use one topic per event type, TYPE=kafka://.."
                    raise UsageProblem.of("schema-conflict", text, hint=hint)
                fields[attribute] = both
                owner.setdefault(attribute, t)
        return fields
