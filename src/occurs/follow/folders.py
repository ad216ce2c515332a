"""A directory as a stream: files that are moved in are events that have come.

Spark only says which files are new; each is read by the readers that ``occurs run`` has, in a task of Spark.  So a
value, a bad row and its place are the same in a history and live.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from occurs.checked_program import CheckedProgram
from occurs.connect.atomic_files import writing
from occurs.connect.files import read_place, unreadable
from occurs.connect.places import FORMATS, PACKED, Place, format_of, place_of, split_type, user_path
from occurs.connect.sparkerrors import problems_in_text
from occurs.connect.store import Disk, Store
from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.follow.wide import Expected, wide
from occurs.model.source import InputOptions, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming import DataStreamReader

#: rows that cross from a task's reader to Spark at once
ROWS = 50_000
#: bytes of text that a first look at a directory reads at most; as many as `occurs run` reads in this process
LOOK = 1 << 30
#: rows of a Parquet file that a first look reads: its columns are typed anyhow
_HEAD = 1000
_LISTED = "path string, modificationTime timestamp, length bigint, content binary"
#: how Spark reads the files that a follower leaves in its checkpoint: pages are compared with their checksums
PARQUET = {"pathGlobFilter": "*.parquet", "parquet.page.verify-checksum.enabled": "true"}
Batches = Iterator[pa.RecordBatch]
#: of a history or of a stream
Reader = TypeVar("Reader", "DataFrameReader", "DataStreamReader")


@dataclass(frozen=True)
class Folder:
    """``type``: of all events there, None if a column says it."""

    path: Path
    type: str | None

    @classmethod
    def parse(cls, text: str) -> Folder:
        """``DIR`` or ``TYPE=DIR``.  Raises InputProblem (``missing-file``)."""
        name, spelled = split_type(text)
        path = user_path(spelled)
        if not path.is_dir():
            near = [p.name for p in path.parent.iterdir() if p.is_dir()] if path.parent.is_dir() else []
            hint = did_you_mean(path.name, near, "directories beside it") if near else None
            raise InputProblem.of("missing-file", f"there is no directory {path}", file=str(path), hint=hint)
        return cls(path, name)

    def places(self, format: str | None) -> list[Place]:
        """The files that are there, in the order of their names; all are of the ``format``, if one is given."""
        found = [p for p in sorted(self.path.rglob("*")) if counts(p.relative_to(self.path), format) and p.is_file()]
        return [place_of(p, self.type, format) for p in found]


def counts(path: Path, format: str | None = None) -> bool:
    """Is this, below a directory that is followed, a file of events?  Names that begin with . or _ are not, nor are
    suffixes that are not known, such as .tmp, unless the ``format`` of all files is given."""
    return (format or format_of(path)) is not None and not any(p.startswith((".", "_")) for p in path.parts)


def parse_folders(texts: Sequence[str]) -> list[Folder]:
    """All of ``--events``.  Raises InputProblem, and UsageProblem if one directory is named twice."""
    out = [Folder.parse(text) for text in texts]
    seen = [f.path.resolve() for f in out]
    for folder, path in zip(out, seen, strict=True):
        if seen.count(path) > 1:
            raise UsageProblem.of("duplicate-name", f"--events names {folder.path} twice")
    typed = {f.type is None for f in out}
    if len(typed) > 1:
        text = "some --events have a type column, others are given as TYPE=DIR"
        raise UsageProblem.of("bad-option", text, hint="use the same form for all")
    return out


def first_look(folders: Sequence[Folder], program: CheckedProgram, options: InputOptions) -> list[Source]:
    """What is there: to learn what events look like.  Raises InputProblem for files that cannot be read."""
    out: list[Source] = []
    left = LOOK
    for place in (p for folder in folders for p in folder.places(options.format)):
        if place.format == "parquet":
            out.append(_head(place))
            continue
        left -= place.path.stat().st_size
        if left < 0 and out:
            break
        out += read_place(place, program.declared, options)
    return out


def _head(place: Place) -> Source:
    try:
        with pq.ParquetFile(place.path) as file:
            batch = next(file.iter_batches(batch_size=_HEAD), None)
            table = file.schema_arrow.empty_table() if batch is None else pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError, EOFError) as error:
        raise unreadable(place.path, str(error)) from error
    return Source(table, place.type, str(place.path))


def stream(session: SparkSession, folders: Sequence[Folder], expected: Expected, most: int | None) -> DataFrame:
    """The wide rows of all files, those that are there and those that come; a micro-batch takes ``most`` bytes of each
    folder, or one file."""
    from pyspark.sql import functions as F

    reader = new_files(session.readStream, expected.options.format, most)
    frames = []
    for folder in folders:
        # `binaryFile` with no look at the content is a list of files
        paths = reader.load(literal(folder.path.absolute())).select("path")
        frames.append(paths.select("path", F.lit(folder.type).cast("string").alias("type")))
    files = reduce(lambda one, more: one.unionByName(more), frames)
    return files.mapInArrow(make_reader(expected, [str(f.path.absolute()) for f in folders]), expected.ddl)


def new_files(reader: Reader, format: str | None, most: int | None) -> Reader:
    """A reader of files of events, as bytes, in a folder and below it; ``format``: of all files, if one is given."""
    names = "*" if format else _suffixes()
    reader = reader.format("binaryFile").schema(_LISTED).option("pathGlobFilter", names)
    # Spark forgets what it has seen, and passes over what comes, when it is a week older than the newest file
    reader = reader.option("maxFileAge", "36500d").option("recursiveFileLookup", "true")
    return reader if most is None else reader.option("maxBytesPerTrigger", str(most))


def make_reader(expected: Expected, roots: Sequence[str]) -> Callable[[Batches], Batches]:
    """The function that ``mapInArrow`` runs over paths: it reads each file as ``occurs run`` does."""

    def places(row: Mapping[str, Any]) -> Iterator[Place]:
        path = Path(re.sub("^file:/+", "/", row["path"]))
        root = next(r for r in roots if path.is_relative_to(r))
        if counts(path.relative_to(root), expected.options.format):
            yield place_of(path, row["type"], expected.options.format)

    return partial(rows_of, expected, places)


def rows_of(expected: Expected, places: Callable[[Mapping[str, Any]], Iterator[Place]], batches: Batches) -> Batches:
    """The wide rows of files; ``places``: the file that a row of ``batches`` names, unless it has no events."""
    with problems_in_text():
        for batch in batches:
            for place in chain.from_iterable(map(places, batch.to_pylist())):
                sources = read_place(place, expected.pinned.schemas, expected.options)
                yield from wide(sources, expected).combine_chunks().to_batches(max_chunksize=ROWS)


def _suffixes() -> str:
    """A pattern of names, in upper and lower case."""

    def either(text: str) -> str:
        return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in text)

    packed = [f"{s}{p}" for s, kind in FORMATS.items() if kind != "parquet" for p in PACKED]
    return "*{" + ",".join(either(s) for s in (*FORMATS, *packed)) + "}"


def watched(store: Store, folder: str) -> str:
    """A folder of a checkpoint, as a stream of Spark takes it: it must be there, so elsewhere an object is in it."""
    with writing(store.address(folder), "disk"):
        if isinstance(store, Disk):
            (store.path / folder).mkdir(exist_ok=True)
        else:
            store.put_new(f"{folder}/_folder", b"")  # Spark ignores such names
    return literal(store.address(folder))


def literal(path: Path | str) -> str:
    """A path or an address in which nothing is a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))
