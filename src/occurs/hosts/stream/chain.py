"""The plan of a stream on Spark: input, packer, stateful operator, stage after stage, in one line.

Whatever a stage finds passes through those behind it, so that one query has it all.  All stages are in one micro-batch:
what one completes, the next has in the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from occurs.hosts.spark.result import Result
from occurs.hosts.spark.run import can_matter, inlets_of, key_columns
from occurs.hosts.spark.wide import MOST_NUMBERED, Wide
from occurs.hosts.stream.layout import Layout, Path, depth_of
from occurs.hosts.stream.pack import make_packer
from occurs.hosts.stream.records import DDL, NAMES
from occurs.hosts.stream.source import StreamSource
from occurs.hosts.stream.unpack import Handed, handed_ddl, make_unpacker
from occurs.plan.lanes import Lane, lanes
from occurs.plan.spread import Group

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def lay_out(
    groups: Sequence[Group],
    source: StreamSource,
    buckets: int,
    token: str,
    *,
    label: bool = False,
    because: bool = False,
    late: bool = False,
    skip: bool = False,
    final: bool = False,
) -> Layout:
    """The layout of a query over ``source``.  ``final``: do rows say whether they are final?"""
    labelled = label or because
    results: list[Result] = []
    found = lanes(groups, buckets)
    paths = []
    for lane in found:
        wide = Wide.of(lane.group.stage, label, because, final)
        inlets = inlets_of(lane.group, source, results, labelled)
        results.append(Result(source.frame, wide, lane.group, lane.number))
        columns = dict.fromkeys(c for i in inlets for _, _, c in i.columns if c)
        special = ["__type", "__time"]
        special += ["__end"] if any(source.lasts(i.type) for i in inlets if not i.derived) else []
        special += ["__sequence"] if source.has_sequence and any(not i.derived for i in inlets) else []
        special += ["__label"] if labelled and any(i.labelled for i in inlets) else []
        special += ["__derived"] if any(i.derived for i in inlets) else []
        special += ["__data"] if late and lane.depth == 0 else []
        paths.append(Path(lane, inlets, wide, (*special, *columns)))
    types = tuple(sorted({i.type for p in paths for i in p.inlets}))
    return Layout(
        tuple(paths),
        buckets,
        depth_of(found),
        source.delay,
        source.start,
        source.until,
        labelled,
        late,
        skip,
        token,
        types if len(types) <= MOST_NUMBERED else (),
    )


def records_of(layout: Layout, source: StreamSource, control: DataFrame | None = None) -> DataFrame:
    """All records that a query gives.  ``control``: a stream of which a row says that nothing comes any more."""
    from occurs.hosts.stream.operator import Operator

    out: DataFrame | None = None
    for depth in range(layout.depth):
        rows = _stage_input(layout, source, depth, out, control)
        packed = rows.mapInArrow(make_packer(layout, depth), DDL)
        out = packed.groupBy("bucket").transformWithState(Operator(layout, depth), DDL, "append", "none")
    assert out is not None
    return out


def _stage_input(
    layout: Layout, source: StreamSource, depth: int, before: DataFrame | None, control: DataFrame | None
) -> DataFrame:
    """The rows of a stage, with a column per lane that says where they go."""
    from pyspark.sql import functions as F

    paths = layout.at(depth)
    matters = {p.lane.number: can_matter(p.lane.group, source.physical, source.schemas, p.inlets) for p in paths}
    frame = source.frame
    if before is None:
        if control is not None:
            frame = frame.unionByName(control.select(F.lit(3).alias("__state")), allowMissingColumns=True)
    else:
        read = reduce(lambda one, more: one | more, matters.values())
        frame = frame.where((F.col("__state") == 0) & read).drop("__state", "__bad", "__data")
        frame = frame.withColumn("__derived", F.lit(False))
        handed = _handed(layout, depth)
        unpacked = before.mapInArrow(make_unpacker(handed, layout.labelled), handed_ddl(handed, layout.labelled))
        frame = frame.unionByName(unpacked, allowMissingColumns=True)
    good = F.col("__state").isin(0, 4) if before is None else F.lit(True)
    buckets = {p.lane.number: F.when(good, _bucket(p, matters[p.lane.number], layout, before)) for p in paths}
    with_buckets = frame.withColumns({f"__b{n}": c.cast("int") for n, c in buckets.items()})
    names = NAMES if before is not None else ["__state", "__bad"]
    columns = dict.fromkeys(c for p in paths for c in p.columns)
    columns.setdefault("__type", None)
    columns.setdefault("__time", None)
    if before is None and source.has_end:  # of any type: the clock goes on to the last end
        columns.setdefault("__end", None)
    # what nobody reads crosses as nulls
    matter = reduce(lambda one, more: one | more, (F.col(f"__b{n}").isNotNull() for n in buckets))
    attributes = [c for c in columns if not c.startswith("__")]
    special = [c for c in columns if c.startswith("__") and c != "__type"]
    chosen = [F.when(matter, F.col(c)).alias(c) for c in attributes]
    places = [f"__b{n}" for n in buckets]
    return with_buckets.select(*names, _numbered(layout).alias("__type"), *special, *chosen, *places)


def _handed(layout: Layout, depth: int) -> list[Handed]:
    """What earlier lanes hand on to the lanes of this stage."""
    takes = {t for p in layout.at(depth) for t in p.lane.group.takes}
    out = []
    for p in layout.paths:
        types = tuple(sorted(takes & p.lane.group.hands))
        if p.lane.depth >= depth or not types:
            continue
        wide, schemas = p.wide, p.lane.group.stage.schemas
        kinds = dict(wide.fields)
        used = dict.fromkeys(wide.physical[(t, n)] for t in types for n in schemas[t].plain)
        out.append(Handed(p, types, tuple((c, f"g{p.lane.number}_{c}", kinds[c]) for c in used)))
    return out


def _bucket(path: Path, matters: Column, layout: Layout, before: DataFrame | None) -> Column:
    """The bucket of a row in a lane; null if it is not for it."""
    from pyspark.sql import functions as F

    lane: Lane = path.lane
    mine = matters
    if before is not None:
        taken = [i.type for i in path.inlets if i.derived]
        derived = F.coalesce(F.col("__derived"), F.lit(False))
        raw = ~derived & matters if any(not i.derived for i in path.inlets) else F.lit(False)
        mine = F.col("__type").isNotNull() & (raw | (derived & F.col("__type").isin(taken)))
    if lane.group.mode == "keyed":
        value = F.pmod(F.hash(*key_columns(lane.group, path.inlets, named=True)), F.lit(layout.buckets))
    elif lane.group.mode == "free":
        value = F.pmod(F.hash("__type", "__time"), F.lit(layout.buckets))
    else:
        value = F.lit(0)
    return F.when(mine, value)


def _numbered(layout: Layout) -> Column:
    from pyspark.sql import functions as F

    if not layout.types:
        return F.col("__type")
    out = F.when(F.col("__type") == layout.types[0], F.lit(0))
    for n, t in enumerate(layout.types[1:], 1):
        out = out.when(F.col("__type") == t, F.lit(n))
    return out.cast("short")
