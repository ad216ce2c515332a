"""``--replay-from``: history for rules that are new on a stream, through files in the checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from occurs.connect.files import read_sources
from occurs.connect.whole import durable
from occurs.follow.expected import Expected
from occurs.follow.folders import PARQUET, literal
from occurs.follow.wide import GOOD, wide
from occurs.hosts.stream.source import StreamSource
from occurs.model.canonical import fingerprint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: the state of rows of history, as the streaming host has it
HISTORY = 4


def write_history(paths: Sequence[str], expected: Expected, folder: Path, rules: Mapping[str, str]) -> int:
    """Read recorded events (``PATH`` or ``TYPE=PATH``) and leave them where :func:`history` finds them, once for these
    ``rules``; returns how many.  Raises InputProblem for what cannot be read; nothing is written then."""
    options = expected.options
    sources = read_sources(paths, schemas=expected.pinned.schemas, options=options)
    plain = replace(expected, start=None, until=None, late=False)
    rows = wide(sources, plain)
    rows = rows.filter(pc.equal(rows.column("__state"), GOOD))
    at = rows.schema.get_field_index("__state")
    rows = rows.set_column(at, rows.schema.field(at), pa.array([HISTORY] * len(rows), pa.int32()))
    folder.mkdir(exist_ok=True)
    name = fingerprint(rules, 8)
    with durable(folder / f"history-{name}.parquet") as out:
        pq.write_table(rows, out, write_page_checksum=True)
    return len(rows)


def history(session: SparkSession, expected: Expected, source: StreamSource, folder: Path) -> DataFrame:
    """What was left there as wide rows of ``source``.  Every query has this stream, as a checkpoint counts them."""
    folder.mkdir(exist_ok=True)
    reader = session.readStream.schema(replace(expected, late=False).ddl)
    reader = reader.option("maxFileAge", "36500d").options(**PARQUET)
    frame = reader.parquet(literal(folder))
    names = {column: source.physical[place] for place, column in expected.physical.items() if place in source.physical}
    special = [c for c in frame.columns if c.startswith("__")]
    return frame.selectExpr(*special, *(f"{have} as {wanted}" for have, wanted in names.items()))
