"""The streaming host: a program over streaming DataFrames (Spark Structured Streaming).

Rows wait in a reorder buffer until the frontier, the greatest time seen less the watermark's delay, has passed them;
then each bucket's engine judges their instants.  So the detections are those of the batch host, whatever the order of
arrival within the delay and however the stream is cut into micro-batches.  Rows at or before the frontier are late.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

from occurs.errors import Problem, UsageProblem
from occurs.hosts.detections import Detections, Timeouts, chosen
from occurs.hosts.spark.batch import PARTITIONS, by_trigger, needed
from occurs.hosts.spark.inlets import can_matter, inlets_of, key_columns
from occurs.hosts.spark.read import with_others
from occurs.hosts.spark.result import Result
from occurs.hosts.spark.ship import check_cluster
from occurs.hosts.spark.shipped import Sent
from occurs.hosts.spark.wide import MOST_NUMBERED, Wide, ddl_of
from occurs.hosts.stream.batches import StreamQuery
from occurs.hosts.stream.bucket_rows import (
    Handed,
    Shown,
    handed_ddl,
    late_data,
    make_packer,
    make_reader,
    make_unpacker,
)
from occurs.hosts.stream.grouped import DIRECT, GROUP, SLOTS, make_router
from occurs.hosts.stream.layout import Layout, Path, depth_of
from occurs.hosts.stream.records import BAD, DDL, FIGURES, FOUND, GROUPED, LATE, NAMES
from occurs.hosts.stream.source import StreamSource, read_stream
from occurs.model.source import InputOptions
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.options import Window
from occurs.plan.lanes import Lane, lanes
from occurs.plan.partitioning import Group, groups
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from occurs.checked_program import CheckedProgram


_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def detect(
    program: CheckedProgram,
    events: Any,
    options: InputOptions,
    *,
    because: bool = False,
    with_label: bool = False,
    only: list[str] | None = None,
    partitions: int | None = None,
    watermark: Any = None,
    divide: int = 1,
) -> StreamDetections:
    """Everything that ``program`` finds in a streaming DataFrame, or in a mapping from types to such.

    ``watermark``: how long after one with a greater time a row may come, such as "10 s"; without it that of
    ``withWatermark``.  ``partitions``: hash buckets; ``divide``: buckets that share the rules of one key; both are
    fixed for the life of a checkpoint.
    """

    def read(late: bool) -> StreamSource:
        return read_stream(program, events, options, watermark, late=late)

    skip = options.bad_rows == "skip"
    partitions = PARTITIONS if partitions is None else partitions
    return found_in(
        program, read, because=because, with_label=with_label, only=only, partitions=partitions, skip=skip,
        divide=divide,
    )  # fmt: skip


def found_in(
    program: CheckedProgram,
    read: Callable[[bool], StreamSource],
    *,
    because: bool = False,
    with_label: bool = False,
    only: list[str] | None = None,
    partitions: int = PARTITIONS,
    skip: bool = False,
    even: bool = False,
    one_scan: bool = False,
    divide: int = 1,
) -> StreamDetections:
    """Everything that ``program`` finds in the source that ``read`` gives; it is asked whether late rows are wanted.

    ``even``: deal the buckets evenly to any number of tasks; ``one_scan``: read the source once for all stages, which
    a checkpoint of a query that reads it for each stage cannot continue (see :class:`Layout`); ``divide``: so many
    buckets share the rules of one key.
    """
    for name, number in (("partitions", partitions), ("divide", divide)):
        if number < 1:
            raise UsageProblem.of("bad-option", f"{name}: {number}", hint="use at least 1")
    program.refuse_files("a stream")

    def read_all(late: bool) -> StreamSource:
        return with_others(read(late), program)

    source = read_all(False)
    check_cluster(source.frame.sparkSession)
    stage = program.plan(source.schemas, source.kind)
    reported = chosen(stage.found, only)
    costs = [w for d in stage.definitions for w in d.warnings]
    notices = [*program.warnings(source.schemas, source.kind), *costs, *source.notices]
    notices += _prepare(source.frame, partitions)
    never: Callable[[], StreamDetections] | None = None
    if not program.never and any(d.future for d in stage.definitions):
        never = partial(
            found_in, program.noticing(), read, partitions=partitions, skip=skip, even=even, one_scan=one_scan,
            divide=divide,
        )  # fmt: skip
    return StreamDetections(
        source, partial(read_all, True), stage, reported, notices, partitions, with_label, because, skip,
        program.provisional, never, even, None if program.window is None else Window.of(*program.window, source.kind),
        one_scan, divide,
    )  # fmt: skip


def _prepare(frame: DataFrame, buckets: int) -> list[Problem]:
    """Let the session keep state where the operator needs it; what else it should be set to, as notices."""
    session = frame.sparkSession
    notices = []
    if session.conf.get(_PROVIDER, "") != _ROCKSDB:
        session.conf.set(_PROVIDER, _ROCKSDB)
        text = (
            "stateful operators need RocksDB; Occurs set spark.sql.streaming.stateStore.providerClass for this session"
        )
        notices.append(Problem("session-setting", text, severity="notice"))
    partitions = int(session.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    if partitions > 4 * buckets:
        text = f"every micro-batch starts {partitions} tasks for only {buckets} buckets of state"
        hint = f'call spark.conf.set("spark.sql.shuffle.partitions", {buckets}) before the query starts'
        notices.append(Problem("session-setting", text, severity="notice", hint=hint))
    return notices


class StreamDetections(Detections["DataFrame"]):
    """The detections of a stream: a mapping from each reported type to a streaming DataFrame.

    Start a query with ``writeStream`` of such a DataFrame, in output mode append.  Every query has its own engine and
    checkpoint; the types of one query (:meth:`together`) share them.

    Spark's query progress has the figures ``occurs`` under ``observedMetrics``.  Among them, ``begun_anew`` names the
    definitions whose state in the checkpoint could not be restored; it is null otherwise.

    Attributes:
        late: The rows that arrived too late, with the columns of the input: a separate query.
        bad: The skipped rows with reasons: a separate query; None if bad rows stop the run.

    Examples:
        ```python
        found = program.detect(spark.readStream.schema(schema).json("events"), watermark="10 s")
        query = found["Fire"].writeStream.option("checkpointLocation", "cp").start("fires")
        ```
    """

    def __init__(
        self,
        source: StreamSource,
        late_source: Any,
        stage: Stage,
        reported: tuple[str, ...],
        notices: list[Problem],
        buckets: int,
        label: bool,
        because: bool,
        skip: bool,
        final: bool,
        never: Callable[[], StreamDetections] | None = None,
        even: bool = False,
        window: Window | None = None,
        one_scan: bool = False,
        divide: int = 1,
    ):
        self._source = source
        self._notices, self._never = stage.notices, never
        self._late_source = late_source
        self._reported, self._sides = reported, stage.sides
        self._groups = groups(stage.definitions, stage)
        self._buckets, self._even = buckets, even
        self._label, self._because, self._skip, self._final = label, because, skip, final
        self._window, self._one_scan, self._divide = window, one_scan, divide
        self._tables: dict[str, DataFrame] = {}
        self.notices = notices
        self.counts: dict[str, int] = {}
        #: per statement with a guard the partial matches that it ended; None: they were not asked for
        self.timeouts = Timeouts(stage.sides, self._ended) if stage.sides else None

    def _ended(self, type: str, name: str) -> DataFrame:
        from pyspark.sql import functions as F

        return self._shown((type,)).withColumn("type", F.lit(name))

    @property
    def types(self) -> Collection[str]:
        return dict.fromkeys(self._reported).keys()

    def table(self, type: str) -> DataFrame:
        if type not in self._tables:
            self._tables[type] = self._shown((type,))
        return self._tables[type]

    @property
    def kind(self) -> TimeKind:
        return self._source.kind

    def arrow(self, type: str) -> pa.Table:
        text = "the detections of a stream are unbounded and cannot be collected into a table"
        raise UsageProblem.of(
            "unsupported", text, hint="start a query with found.query(), or with writeStream of found[type]"
        )

    def together(self, *types: str) -> DataFrame:
        """Return the detections of several types in one streaming DataFrame.

        Args:
            types: The types.  Without arguments, all reported types.

        Returns:
            A streaming DataFrame with ``type``, ``time``, ``end`` (if some of the types are intervals) and every
            attribute of these types, null for types that do not have it.

        Raises:
            UsageProblem: If a type is not reported, or if an attribute has different types in two event types.
        """
        chosen(self._reported, list(types))
        return self._shown(types or self._reported)

    @cached_property
    def never(self) -> DataFrame | None:
        """The temporal triggers that can no longer fire: a separate query.

        The columns are ``type``, ``time`` and the generic variables.  None if the program has no such triggers.
        """
        if self._never is not None:
            return self._never().never
        return by_trigger(self._shown(tuple(self._notices), plain=True)) if self._notices else None

    @cached_property
    def late(self) -> DataFrame:
        """The rows that arrived too late, as they arrived: a separate query."""
        from pyspark.sql import functions as F
        from pyspark.sql import types as T

        source: StreamSource = self._late_source()
        found = observed(records_of(self._layout(self._reported, source, late=True), source)).where(f"kind = {LATE}")
        schema = T.StructType([T.StructField(n, t) for n, t in source.fields.items()])
        data = found.select(*NAMES).mapInArrow(late_data, "data string")
        return data.select(F.from_json("data", schema).alias("d")).select("d.*")

    @cached_property
    def bad(self) -> DataFrame | None:
        """The skipped rows (reason, file, row, column, value, data): a separate query."""
        from pyspark.sql import functions as F

        if not self._skip:
            return None
        layout = self._layout(self._reported, self._source)
        found = observed(records_of(layout, self._source)).where(f"kind = {BAD}")
        text = F.explode(F.split(F.col("blob").cast("string"), "\n"))
        schema = "found array<struct<r:string,n:string,v:string>>, file string, row bigint, data string"
        rows = found.select(text.alias("line")).select(F.from_json("line", schema).alias("d")).select("d.*")
        rows = rows.select(F.explode("found").alias("e"), "file", "row", "data")
        reason, column, value = (F.col(f"e.{c}") for c in ("r", "n", "v"))
        return rows.select(reason.alias("reason"), "file", "row", column.alias("column"), value.alias("value"), "data")

    def query(self, *, late: bool = False, control: DataFrame | None = None, sizes: bool = False) -> StreamQuery:
        """Return all detections in one query, for sinks that take whole micro-batches.

        Args:
            late: Include the rows that arrived too late.
            control: A streaming DataFrame; its first row ends the input.
            sizes: Report the rows of state of each definition in every micro-batch.

        Returns:
            The query.  Write its ``frame`` with ``foreachBatch`` in output mode append, and pass each micro-batch to
            its ``read``.
        """
        source: StreamSource = self._late_source() if late else self._source
        layout = self._layout((*self._reported, *self._sides, *self._notices), source, late=late, sizes=sizes)
        frame = observed(records_of(layout, source, control))
        return StreamQuery(
            frame, layout, self._reported, self._label, self._because, self._sides, self._notices
        )  # fmt: skip

    def _layout(
        self, types: tuple[str, ...], source: StreamSource, *, late: bool = False, sizes: bool = False
    ) -> Layout:
        """Of one query that finds these types."""
        run = needed(self._groups, set(types))
        token = uuid.uuid4().hex
        label, because, skip = self._label, self._because, self._skip
        return lay_out(
            run, source, self._buckets, token, label=label, because=because, late=late, skip=skip, final=self._final,
            even=self._even, sizes=sizes, window=self._window, one_scan=self._one_scan,
            divide=self._divide,
        )  # fmt: skip

    def _shown(self, types: tuple[str, ...], plain: bool = False) -> DataFrame:
        """``plain``: without label and constituents."""
        from pyspark.sql import functions as F

        layout = self._layout(types, self._source)
        label, because = self._label and not plain, self._because and not plain
        shown = Shown.of(layout.paths, types, label, because, layout.window is not None)
        records = observed(records_of(layout, self._source)).where(f"kind = {FOUND}")
        rows = records.mapInArrow(make_reader(shown), shown.ddl)
        columns = [F.col("type")]
        for name in ("time", "end") if shown.lasting else ("time",):
            columns.append((F.timestamp_micros(name) if self._source.kind.timestamp else F.col(name)).alias(name))
        for n, (name, t) in enumerate(shown.attributes):
            columns.append((F.timestamp_micros(f"a{n}") if t is Type.TIMESTAMP else F.col(f"a{n}")).alias(name))
        if shown.query:
            query = F.timestamp_micros("query") if self._source.kind.timestamp else F.col("query")
            columns.append(query.alias("query"))
        asked_for = ("final", self._final), ("label", label), ("because", because)
        columns += [F.col(n) for n, asked in asked_for if asked]
        return rows.select(*columns)


def observed(frame: DataFrame) -> DataFrame:
    """Records with their figures in the progress of the query."""
    from pyspark.sql import functions as F

    figures = F.col("kind") == FIGURES
    sums = [F.sum(F.when(figures, F.col(c))).alias(c) for c in ("rows", "bad", "outside", "empty", "late", "found")]
    sums += [F.sum(F.when(figures, F.col(c))).alias(c) for c in ("waiting", "kept", "size", "read")]
    ends = [F.min(F.when(figures, F.col("lo"))).alias("frontier"), F.max(F.when(figures, F.col("hi"))).alias("newest")]
    ends.append(F.max(F.when(figures, F.col("blob").cast("string"))).alias("begun_anew"))
    return frame.observe("occurs", *sums, *ends)


# --- the plan of a stream ---------------------------------------------------------------------------------------------
# Input, packer, stateful operator, stage after stage, in one line.  Whatever a stage finds passes through those behind
# it, so that one query has it all.  All stages are in one micro-batch: what one completes, the next has in the same.


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
    even: bool = False,
    sizes: bool = False,
    window: Window | None = None,
    one_scan: bool = False,
    divide: int = 1,
) -> Layout:
    """The layout of a query over ``source``.  ``final``: do rows say whether they are final?  ``sizes``: is the state
    of each definition reported?  ``window``: in window mode its queries.  ``one_scan``: is the source read once?
    ``divide``: buckets that share the rules of one key."""
    labelled = label or because
    results: list[Result] = []
    found = lanes(groups, buckets, divide)
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
        even,
        sizes,
        window,
        one_scan,
        GROUP if buckets > DIRECT else 0,
    )


def records_of(layout: Layout, source: StreamSource, control: DataFrame | None = None) -> DataFrame:
    """All records that a query gives.  ``control``: a stream of which a row says that nothing comes any more."""
    from occurs.hosts.stream.stateful_processor import Operator

    out: DataFrame | None = None
    sent = Sent(layout, source.frame.sparkSession)
    for depth in range(layout.depth):
        rows = _stage_input(layout, source, depth, out, control)
        packed = rows.mapInArrow(make_packer(layout, depth), DDL)
        if depth == 0 and layout.grouped:
            packed = _routed(packed, layout)
        out = packed.groupBy("bucket").transformWithState(Operator(sent, depth), DDL, "append", "none")
    assert out is not None
    return out


def _routed(packed: DataFrame, layout: Layout) -> DataFrame:
    """Records of groups of buckets as records of buckets."""
    from pyspark.sql import functions as F

    routers = layout.groups * SLOTS
    own = F.col("bucket") * SLOTS + F.col("lane")
    router = F.when(F.col("kind") == GROUPED, own).otherwise(F.pmod(F.col("bucket"), F.lit(routers)))
    spread = packed.withColumn("router", router.cast("int")).repartitionById(routers, F.col("router")).drop("router")
    return spread.mapInArrow(make_router(layout), DDL)


def _stage_input(
    layout: Layout, source: StreamSource, depth: int, before: DataFrame | None, control: DataFrame | None
) -> DataFrame:
    """The rows of a stage, with a column per lane that says where they go: of the first stage also those for lanes of
    later ones, where all stages share one scan."""
    from pyspark.sql import functions as F

    paths = layout.fed(depth)
    matters = {p.lane.number: can_matter(p.lane.group, source.physical, source.schemas, p.inlets) for p in paths}
    frame = source.frame
    if before is None:
        if control is not None:
            frame = frame.unionByName(control.select(F.lit(3).alias("__state")), allowMissingColumns=True)
        if len(paths) > len(layout.at(0)):
            frame = frame.withColumn("__derived", F.lit(False))
    else:
        handed = _handed(layout, depth)
        unpacked = before.mapInArrow(make_unpacker(handed, layout.labelled), handed_ddl(handed, layout.labelled))
        if layout.one_scan:
            frame = _with_nulls(unpacked, {f.name: f.dataType.simpleString() for f in frame.schema.fields})
        else:
            read = reduce(lambda one, more: one | more, matters.values())
            frame = frame.where((F.col("__state") == 0) & read).drop("__state", "__bad", "__data")
            frame = frame.withColumn("__derived", F.lit(False)).unionByName(unpacked, allowMissingColumns=True)
    if before is None:  # rows of lanes that derived rows reach, too, go to the buckets of these
        for path in paths[len(layout.at(0)) :]:
            own = _handed(layout, path.lane.depth)
            frame = _with_nulls(frame, {name: ddl_of(kind) for h in own for _, name, kind in h.columns})
    buckets = {}
    for path in paths:
        if before is None:
            good = F.col("__state").isin(0, 4) if path.lane.depth == 0 else F.col("__state") == 0
        else:
            good = F.lit(True)
        buckets[path.lane.number] = F.when(good, _bucket(path, matters[path.lane.number], layout, before))
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


def _with_nulls(frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """With these columns (name to type), which are null where the frame does not have them."""
    from pyspark.sql import functions as F

    there = set(frame.columns)
    return frame.withColumns({name: F.lit(None).cast(t) for name, t in columns.items() if name not in there})


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
    if before is not None or lane.depth > 0:
        taken = [i.type for i in path.inlets if i.derived]
        derived = F.coalesce(F.col("__derived"), F.lit(False))
        # where all stages share one scan, rows of the input are packed before the first one
        there = any(not i.derived for i in path.inlets) and (before is None or not layout.one_scan)
        raw = ~derived & matters if there else F.lit(False)
        mine = F.col("__type").isNotNull() & (raw | (derived & F.col("__type").isin(taken)))
    if lane.group.mode == "keyed":
        value = F.pmod(F.hash(*key_columns(lane.group, path.inlets, named=True)), F.lit(layout.buckets))
        if lane.part:
            value = F.pmod(value + F.lit(lane.part), F.lit(layout.buckets))
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
