"""``table:NAME``, ``delta:PATH``, ``iceberg:NAME|PATH`` and ``jdbc:URL``: which table, read or written how."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from occurs.connect.places import TABLES, is_table, split_type, user_path
from occurs.connect.properties import read_properties
from occurs.errors import UsageProblem, did_you_mean

#: uses of an option of an address
BATCH, STREAM, WRITE = "batch", "stream", "write"
_VERSIONS = dict.fromkeys(("versionAsOf", "timestampAsOf"), (BATCH,))
_DELTA = {
    **dict.fromkeys(("startingVersion", "startingTimestamp", "maxFilesPerTrigger", "maxBytesPerTrigger"), (STREAM,)),
    **dict.fromkeys(("ignoreDeletes", "skipChangeCommits"), (STREAM,)),
    "failOnDataLoss": (STREAM,),
    "mergeSchema": (WRITE,),
}
_ICEBERG = dict.fromkeys(
    (
        "stream-from-timestamp",
        "streaming-skip-delete-snapshots",
        "streaming-skip-overwrite-snapshots",
        "streaming-max-files-per-micro-batch",
        "streaming-max-rows-per-micro-batch",
    ),
    (STREAM,),
)
_JDBC = (
    "dbtable",
    "query",
    "driver",
    "partitionColumn",
    "lowerBound",
    "upperBound",
    "numPartitions",
    "fetchsize",
    "queryTimeout",
    "sessionInitStatement",
)
#: options of Spark and of the formats that an address may have, and for what; their meaning is theirs
OPTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "table": {**_VERSIONS, **_DELTA, **_ICEBERG},
    "delta": {**_VERSIONS, **_DELTA},
    "iceberg": {**_VERSIONS, **_ICEBERG},
    "jdbc": dict.fromkeys(_JDBC, (BATCH,)),
}
#: an option of ours: what to do with a table that exists
MODE = "mode"
#: an option of ours: in which format a table of the catalog is made
PROVIDER = "provider"
#: an option of ours: a file of further options and settings, so that passwords need not be in a command line
CONFIG = "config"
FORM = "table:NAME, delta:PATH, iceberg:NAME or iceberg:PATH, jdbc:URL; options as in ?NAME=VALUE&NAME=VALUE"
#: stands for the type of a detection, in an address that is written to
TYPE = "{type}"


@dataclass(frozen=True)
class TablePlace:
    """A table.

    Attributes:
        scheme: ``table``, ``delta``, ``iceberg`` or ``jdbc``.
        name: Its name in a catalog, its path, or its JDBC URL.
        options: Options of Spark's reader or writer; may hold passwords.
        mode: ``append`` if rows may be added to a table that exists; None: not said.
        provider: The format in which a table of the catalog is made; None: not said.
    """

    scheme: str
    name: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    mode: str | None = None
    provider: str | None = None

    @classmethod
    def parse(cls, text: str) -> TablePlace:
        """The table that an address names.  Raises UsageProblem (``bad-option``, ``unknown-name``); no message repeats
        the values of options, which may be secret."""
        scheme, _, rest = text.partition(":")
        if scheme not in TABLES:
            raise UsageProblem.of("bad-option", f"{text}: this is not the address of a table", hint=FORM)
        name, _, query = rest.rpartition("?") if "?" in rest else (rest, "", "")
        place = cls(scheme, f"jdbc:{name}" if scheme == "jdbc" else name)
        if not name.strip():
            raise UsageProblem.of("bad-option", f"{scheme}: has no table", hint=FORM)
        if scheme == "delta" or (scheme == "iceberg" and place.by_path):
            place = cls(scheme, str(_absolute(name)))
        return _with_options(place, query)

    @property
    def by_path(self) -> bool:
        """Is it named by a path, not by its name in a catalog?"""
        return self.scheme == "delta" or (self.scheme == "iceberg" and "/" in self.name)

    @property
    def catalog(self) -> tuple[str, dict[str, str]] | None:
        """Of an Iceberg table at a path: the catalog, by name and settings, whose warehouse is the folder around it."""
        if self.scheme != "iceberg" or not self.by_path:
            return None
        folder, _ = _split(self.name)
        name = "occurs_" + hashlib.blake2b(folder.encode(), digest_size=6).hexdigest()
        settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": folder}
        return name, {f"spark.sql.catalog.{name}{k}": v for k, v in {**settings, ".cache-enabled": "false"}.items()}

    @property
    def sql(self) -> str:
        """Its name in Spark SQL; not for JDBC."""
        if self.scheme == "delta":
            return "delta." + _quoted(self.name)
        catalog = self.catalog
        return self.name if catalog is None else f"{catalog[0]}.{_quoted(_split(self.name)[1])}"

    @property
    def many(self) -> bool:
        """Is there a table for each type?"""
        return TYPE in self.name

    def of(self, type: str) -> TablePlace:
        """The table of one type, if the address has ``{type}``."""
        return TablePlace(self.scheme, self.name.replace(TYPE, type), self.options, self.mode, self.provider)

    def options_for(self, use: str, option: str) -> dict[str, str]:
        """The options for a use; ``option``: of the command line, for messages.  Raises UsageProblem (``bad-option``)
        if there are others."""
        known = OPTIONS[self.scheme]
        for name in self.options:
            if use not in known.get(name, (BATCH,)):
                uses = {BATCH: "a history is read", STREAM: "a stream is read", WRITE: "detections are written"}
                when = " or ".join(uses[u] for u in known[name])
                text = f"{option} {self}: option `{name}` only applies when {when}"
                raise UsageProblem.of("bad-option", text, hint="leave it out")
        if use != WRITE and (self.mode or self.provider):
            name = MODE if self.mode else PROVIDER
            text = f"{option} {self}: option `{name}` only applies when detections are written"
            raise UsageProblem.of("bad-option", text, hint="leave it out")
        return dict(self.options)

    def __str__(self) -> str:
        if self.scheme != "jdbc":
            return f"{self.scheme}:{self.name}"
        plain = re.sub(r"[?;].*", "", re.sub(r"//[^/@]*@", "//", self.name))
        return f"{plain} ({self.options['dbtable']})" if "dbtable" in self.options else plain


def table_places(texts: Iterable[str]) -> list[tuple[str | None, TablePlace]]:
    """The tables among ``--events`` arguments, each with its type if ``TYPE=`` says it.

    Raises UsageProblem.
    """
    pairs = [split_type(text) for text in texts]
    return [(name, TablePlace.parse(address)) for name, address in pairs if is_table(address)]


def _absolute(name: str) -> Path | str:
    """A local path from the root; an address such as ``s3a://..`` as it is."""
    return name.rstrip("/") if "://" in name else user_path(name).absolute()


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder or "/", name


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _with_options(place: TablePlace, query: str) -> TablePlace:
    options: dict[str, str] = {}
    ours: dict[str, str] = {}
    rest = []
    known = OPTIONS[place.scheme]
    own = [MODE, PROVIDER] if place.scheme == "table" else [CONFIG] if place.scheme == "jdbc" else [MODE]
    for part in query.split("&") if query else ():
        spelled, equals, raw = part.partition("=")
        name, value = unquote(spelled), unquote(raw)
        if name in options or name in ours:
            raise UsageProblem.of("duplicate-name", f"{place}: option `{name}` is given twice")
        if name in known or name in own:
            if not equals or not value:
                raise UsageProblem.of("bad-option", f"{place}: option `{name}` has no value", hint=FORM)
            (options if name in known else ours)[name] = value
        elif place.scheme == "jdbc":
            rest.append(part)  # the driver's own
        else:
            hint = did_you_mean(name, [*known, *own], "options")
            raise UsageProblem.of("unknown-name", f"{place}: unknown option `{name}`", hint=hint)
    if CONFIG in ours:
        options = {**read_properties(str(place), user_path(ours.pop(CONFIG))), **options}
    if ours.get(MODE, "append") != "append":
        hint = "use mode=append to add rows to a table that exists, or --overwrite to replace it"
        raise UsageProblem.of("bad-option", f"{place}: invalid `{MODE}`: `{ours[MODE]}`", hint=hint)
    if place.scheme == "jdbc" and ("dbtable" in options) == ("query" in options):
        hint = "jdbc:postgresql://HOST/DATABASE?dbtable=NAME, or ?query=SELECT.. with %26 for & and %25 for %"
        raise UsageProblem.of("bad-option", f"{place}: one of `dbtable` and `query` is needed", hint=hint)
    name = place.name + ("?" + "&".join(rest) if rest else "")
    return TablePlace(place.scheme, name, options, ours.get(MODE), ours.get(PROVIDER))
