"""``kafka://host:port[,host:port..]/topic[,topic..][?name=value&..]``: which brokers, which topics, how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from occurs.connect.places import user_path
from occurs.connect.properties import read_properties
from occurs.errors import OccursError, UsageProblem, did_you_mean
from occurs.model.nesting import read_json

#: the connector's options for reading that a place may set; their meaning is Spark's
READING = (
    "startingOffsets",
    "startingTimestamp",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "failOnDataLoss",
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
#: what of a message beside its value becomes a column of that name; ``header.X`` stands for one header
EXPOSED = ("key", "timestamp", "headers")
#: client settings that the connector keeps for itself; the brokers are in the address
_REFUSED = frozenset(
    f"kafka.{name}"
    for name in (
        "bootstrap.servers",
        "auto.offset.reset",
        "enable.auto.commit",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "value.deserializer",
        "value.serializer",
    )
)
#: the option names a file of client settings, so that passwords need not be in a command line
CONFIG = "config"
_NUMBERS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "minPartitions", "maxRecordsPerPartition")
_SERVER = re.compile(r"^(\[[0-9A-Fa-f:.%]+\]|[^\s:/?#\[\]]+):(\d{1,5})$")
_TOPIC = re.compile(r"^[A-Za-z0-9._-]{1,249}$")
_FORM = "kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC][?NAME=VALUE&NAME=VALUE]"


@dataclass(frozen=True, slots=True)
class KafkaPlace:
    """Topics on the brokers of one cluster.

    ``servers``: ``host:port``; ``reading``: options of Spark's connector for a source; ``client``: settings of the
    Kafka clients, named with ``kafka.``, also those of a ``config`` file; ``exposed``: ``key``, ``timestamp``,
    ``headers`` or ``header.NAME`` to the name of the column it becomes.
    """

    servers: tuple[str, ...]
    topics: tuple[str, ...]
    reading: Mapping[str, str] = field(default_factory=dict)
    #: may hold passwords: never shown
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    exposed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> KafkaPlace:
        """The place that ``text`` names.  Raises UsageProblem (``bad-option``, ``unknown-name``, ``duplicate-name``);
        a message never repeats the values of options, which may be secret."""
        scheme, found, rest = text.partition("://")
        address, _, query = rest.partition("?")
        if not found or scheme.lower() != "kafka":
            raise _bad(address, "it does not start with kafka://")
        servers, slash, topics = address.partition("/")
        if not servers:
            raise _bad(address, "the broker before the topic is missing")
        if not slash or not topics:
            raise _bad(address, "the topic after the brokers is missing")
        place = cls(_servers(address, servers), _topics(address, topics))
        return _with_options(place, query) if query else place

    @property
    def topic(self) -> str:
        """The only topic.  Raises UsageProblem if there are several."""
        if len(self.topics) > 1:
            raise UsageProblem.of("bad-option", f"{self}: only one topic is allowed here")
        return self.topics[0]

    def connection(self) -> dict[str, str]:
        """The options of Spark's connector by which it finds the brokers."""
        return {"kafka.bootstrap.servers": ",".join(self.servers), **self.client}

    def __str__(self) -> str:
        return f"kafka://{','.join(self.servers)}/{','.join(self.topics)}"


def _servers(address: str, text: str) -> tuple[str, ...]:
    for server in text.split(","):
        match = _SERVER.match(server)
        if match is None or not 0 < int(match[2]) < 65536:
            raise _bad(address, f"`{server}` is not HOST:PORT")
    return tuple(dict.fromkeys(text.split(",")))


def _topics(address: str, text: str) -> tuple[str, ...]:
    for topic in text.split(","):
        if not _TOPIC.match(topic) or topic in (".", ".."):
            hint = "use letters, digits, `.`, `_` and `-`, at most 249 characters"
            raise UsageProblem.of("bad-option", f"kafka://{address}: `{topic}` is not a valid topic name", hint=hint)
    return tuple(dict.fromkeys(text.split(",")))


def _with_options(place: KafkaPlace, query: str) -> KafkaPlace:
    reading: dict[str, str] = {}
    client: dict[str, str] = {}
    exposed: dict[str, str] = {}
    seen = set()
    for part in query.split("&"):
        spelled, equals, raw = part.partition("=")
        name, value = unquote(spelled), unquote(raw)  # a plus is a plus: base64 in passwords
        if not name or not equals or not value:
            raise UsageProblem.of("bad-option", f"{place}: option `{name}` has no value", hint=_FORM)
        if name in seen:
            raise UsageProblem.of("duplicate-name", f"{place}: option `{name}` is given twice")
        seen.add(name)
        if name == CONFIG:
            found = read_properties(str(place), user_path(value))
            client = {**{f"kafka.{n}": v for n, v in found.items()}, **client}
        elif name.startswith("kafka."):
            client[name] = value
        elif name in EXPOSED or (name.startswith("header.") and name != "header."):
            exposed[name] = value
        elif name in READING:
            _check_value(place, name, value)
            reading[name] = value
        else:
            hint = did_you_mean(name, [*READING, *EXPOSED, "header.NAME", CONFIG, "kafka.NAME"], "options")
            raise UsageProblem.of("unknown-name", f"{place}: unknown option `{name}`", hint=hint)
    for name in client:
        if name.lower() in _REFUSED:
            hint = "brokers are part of the address, keys and values are bytes, offsets are stored in the checkpoint"
            raise UsageProblem.of("bad-option", f"{place}: `{name}` cannot be set", hint=hint)
    columns = list(exposed.values())
    for column in columns:
        if columns.count(column) > 1 or column.startswith("__occurs_"):
            raise UsageProblem.of("duplicate-name", f"{place}: there are two columns `{column}`")
    return KafkaPlace(place.servers, place.topics, reading, client, exposed)


def _check_value(place: KafkaPlace, name: str, value: str) -> None:
    if name in _NUMBERS and not (value.isascii() and value.isdigit() and int(value) > 0):
        raise UsageProblem.of("bad-option", f"{place}: `{name}` must be a whole number above 0, not `{value}`")
    if name == "startingTimestamp" and not (value.isascii() and value.isdigit()):
        raise UsageProblem.of("bad-option", f"{place}: `{name}` must be milliseconds since 1970, not `{value}`")
    if name == "failOnDataLoss" and value not in ("true", "false"):
        raise UsageProblem.of("bad-option", f"{place}: `{name}` must be `true` or `false`, not `{value}`")
    if name == "startingOffsets" and value not in ("earliest", "latest"):
        hint = 'use `earliest`, `latest`, or for every partition of every topic {"topic": {"0": 23, "1": -2}}'
        try:
            offsets = read_json(value)
        except ValueError:
            offsets = None
        whole = isinstance(offsets, dict) and set(offsets) == set(place.topics)
        if not whole or not all(isinstance(v, dict) and v for v in offsets.values()):
            raise UsageProblem.of("bad-option", f"{place}: invalid `{name}`: `{value}`", hint=hint)


def _bad(address: str, why: str) -> OccursError:
    return UsageProblem.of("bad-option", f"kafka://{address}: {why}", hint=_FORM)
