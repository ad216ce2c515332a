"""One group of definitions over the wide input: repartitioned as its plan says, through engines, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from occurs.hosts.spark.inlets import (
    TRUNCATE,
    Inlet,
    can_matter,
    column_is,
    inlets_of,
    is_of,
    key_columns,
    makers_of,
    numbered,
    sweeping,
)
from occurs.hosts.spark.parts import any_of
from occurs.hosts.spark.read import SparkSource
from occurs.hosts.spark.result import Result
from occurs.hosts.spark.sample import Sample
from occurs.hosts.spark.shares import by_rules, divided, sliced
from occurs.hosts.spark.task import Share, Tally, make_engine_task
from occurs.hosts.spark.wide import Wide
from occurs.hosts.windows import Asked
from occurs.plan.partitioning import Group

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def run_group(
    group: Group,
    source: SparkSource,
    earlier: Sequence[Result],
    partitions: int,
    label: bool,
    because: bool,
    ended: bool = True,
    asked: Asked | None = None,
    sample: Sample | None = None,
) -> Result:
    """The detections of definitions that run together: one job for all their types.  ``asked``: in window mode the
    queries; then all definitions are nets, so that they are in one group with all that they read.  ``sample``: of the
    rows, if the history is long."""
    labelled = label or because
    inlets = inlets_of(group, source, earlier, labelled)
    rows = _input(group, source, earlier, inlets, labelled)
    frame, shares = distributed(rows, group, source.clock, inlets, partitions, labelled, asked, sample)
    warnings = () if sample is None or len(shares) > 1 else tuple(sample.heavy(group, partitions))
    wide = Wide.of(group.stage, label, because, step=None if asked is None else asked.window.step)
    task = make_engine_task(shares, wide, inlets, labelled, ended)

    def tally() -> DataFrame:
        return frame.mapInArrow(make_engine_task(shares, Tally(), inlets, labelled, ended), Tally.ddl)

    return Result(frame.mapInArrow(task, wide.ddl), wide, group, len(earlier), tally, warnings)


def distributed(
    frame: DataFrame,
    group: Group,
    clock: tuple[int, int] | None,
    inlets: Sequence[Inlet],
    partitions: int,
    labelled: bool = False,
    asked: Asked | None = None,
    sample: Sample | None = None,
) -> tuple[DataFrame, list[Share]]:
    """The rows in the partitions and in the order of :func:`make_engine_task`, and its shares."""
    from pyspark.sql import functions as F

    stage = group.stage
    shares = [] if clock is None else [Share(stage, clock, clock[0], asked)]
    if group.mode == "keyed":
        # where all rows are of one type, nobody has to be told
        alone = len(inlets) == 1 and not inlets[0].derived
        frame = frame.drop("__type") if alone else numbered(frame, inlets)
        keys = key_columns(group, inlets)
        everywhere = [column_is(c, TRUNCATE) if alone else is_of(t, inlets) & column_is(c, TRUNCATE)
                      for t, c in sweeping(group, inlets).items()]  # fmt: skip
        if everywhere:
            frame = _to_all(frame, any_of(everywhere), keys, partitions)
        elif shares and asked is None and sample is not None and sample.keys:
            types = {i.type: F.lit(True) if alone else is_of(i.type, inlets) for i in inlets}
            frame, shares = divided(frame, group, shares[0], partitions, sample, keys, types)
        else:
            frame = frame.repartition(partitions, *keys)
    elif group.mode == "free":
        frame = numbered(frame, inlets)
        if labelled:  # rows that are equal in everything are told apart by a number: they must come together
            frame = frame.repartition(partitions, "__type", "__time")
    elif clock is not None:
        if group.mode == "slices":
            frame, shares = sliced(frame, group, clock, partitions, sample)
        elif group.mode == "rules":
            frame, shares = by_rules(frame, group, shares[0], partitions)
        marks = [(n, s.clock[0]) for n, s in enumerate(shares) if s.stage.timed]
        if marks:
            frame = _with_marks(frame, marks)
        frame = numbered(frame, inlets)
        frame = frame.repartitionById(len(shares), "__share") if len(shares) > 1 else frame.repartition(1)
    else:
        return frame, shares
    return frame.sortWithinPartitions(*(["__share"] if len(shares) > 1 else []), "__time"), shares


def _input(
    group: Group, source: SparkSource, earlier: Sequence[Result], inlets: Sequence[Inlet], labelled: bool
) -> DataFrame:
    """The rows that can matter, with the columns that are needed."""
    from pyspark.sql import functions as F

    columns = dict.fromkeys(c for inlet in inlets if not inlet.derived for _, _, c in inlet.columns if c)
    handed = [inlet.type for inlet in inlets if inlet.derived]
    special = ["__type", "__time"]
    special += ["__sequence"] if source.has_sequence else []
    special += ["__end"] if any(source.schemas[i.type].lasting for i in inlets if not i.derived) else []
    special += ["__label"] if labelled and (handed or any(i.labelled for i in inlets)) else []
    frame = source.frame.where(can_matter(group, source.physical, source.schemas, inlets)).select(*special, *columns)
    if not handed:
        return frame
    frame = frame.withColumn("__derived", F.lit(False))
    makers = makers_of(group, earlier)
    for result in earlier:
        mine = [t for t in handed if makers[t] is result]
        if mine:
            frame = frame.unionByName(result.handed(mine, labelled), allowMissingColumns=True)
    return frame


def _to_all(frame: DataFrame, everywhere: Column, keys: Sequence[Column], partitions: int) -> DataFrame:
    """Rows in the partitions of their keys; those that are for ``everywhere`` in each."""
    from pyspark.sql import functions as F

    own = F.array(F.pmod(F.hash(*keys), F.lit(partitions)))
    share = F.when(everywhere, F.sequence(F.lit(0), F.lit(partitions - 1))).otherwise(own)
    return frame.withColumn("__share", F.explode(share)).repartitionById(partitions, "__share").drop("__share")


def _with_marks(frame: DataFrame, marks: list[tuple[int, int]]) -> DataFrame:
    """Rows of no type, one per (share, time), so that something happens where there are no events at all."""
    from pyspark.sql import functions as F

    session = frame.sparkSession
    out = frame
    for number, time in marks:
        values = {"__type": F.lit(""), "__time": F.lit(time).cast("long")}
        if "__share" in frame.columns:
            values["__share"] = F.lit(number)
        mark = session.range(1).select(*(c.alias(n) for n, c in values.items()))
        out = out.unionByName(mark, allowMissingColumns=True)
    return out


# --- which rows of the input can matter: static filters, pushed into the plan of Spark -------------------------------
