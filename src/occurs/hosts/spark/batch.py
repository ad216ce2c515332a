"""The Spark batch host: a program over DataFrames, with classic Spark and with Spark Connect.

Only the rows and columns that can matter cross into Python.  A keyed program is split by a hash of its key; each
partition is sorted by time in the JVM and streamed through an engine, which keeps no more than the retention.  Without
a key, history is cut into slices of time that overlap by the retention; consuming and recursive programs without a key
run in one partition.  Definitions that need different keys run as stages, the rows derived by one spread anew for the
next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from occurs.connect.spark import is_remote
from occurs.errors import Problem, UsageProblem
from occurs.hosts.detections import Detections, Timeouts, chosen
from occurs.hosts.spark.read import SparkSource, read, read_here, with_others
from occurs.hosts.spark.result import Result, side_by_side
from occurs.hosts.spark.run import run_group
from occurs.hosts.spark.sample import samples
from occurs.hosts.spark.ship import check_cluster
from occurs.hosts.windows import Asked
from occurs.model.source import InputOptions
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.operators.definition import Definition
from occurs.options import Window
from occurs.plan.notes import placed
from occurs.plan.partitioning import Group, groups
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from occurs.checked_program import CheckedProgram


#: hash buckets, or slices of time, of a run, if nobody says how many; as many rows as one of them may have; and as many
#: as make one more worth a task
PARTITIONS, ROWS, WORTH = 8, 5_000_000, 100_000


def detect(
    program: CheckedProgram,
    events: Any,
    options: InputOptions,
    *,
    because: bool = False,
    with_label: bool = False,
    only: list[str] | None = None,
    partitions: int | None = None,
    ended: bool = True,
    session: SparkSession | None = None,
) -> SparkDetections:
    """Everything that ``program`` finds in a DataFrame, or in a mapping from types to DataFrames.

    ``ended``: nothing comes any more, so what still holds is given, too.  ``session``: ``events`` are tables or sources
    of this process, which are read here and evaluated by this session.
    """
    if partitions is not None and partitions < 1:
        raise UsageProblem.of("bad-option", f"partitions: {partitions}", hint="use at least 1")
    if session is None:
        source = read(program, events, options)
    else:
        source = read_here(session, program.history(events, options))
    check_cluster(source.frame.sparkSession)
    if partitions is None:
        partitions = partitions_of(source.counts["rows"], cores_of(source.frame.sparkSession))
    source = with_others(source, program)
    stage = program.plan(source.schemas, source.kind)
    wanted = chosen(stage.found, only)
    asked = {*wanted, *stage.sides}
    queries = None
    if program.window is not None:
        queries = Asked.over(Window.of(*program.window, source.kind), source.clock, options.start is not None)
    owners, kept, tallied = _run(stage, asked, source, partitions, with_label, because, ended, queries)
    costs = [w for d in stage.definitions for w in d.warnings]
    notices = [*program.warnings(source.schemas, source.kind), *costs, *placed(source.notices, stage)]
    notices += [w for result in tallied for w in result.warnings]
    program.judge(notices)
    look = partial(counts, stage, source, tallied)
    sides = {t: owners[t] for t in stage.sides}
    never = partial(_never, program, source, partitions, ended) if any(d.future for d in stage.definitions) else None
    return SparkDetections(
        {t: owners[t] for t in wanted}, source.counts, look, notices, source.bad, kept, sides, stage.sides, never
    )


def partitions_of(rows: int, cores: int = 0) -> int:
    """How many partitions a history of so many rows gets, if nobody says how many: one for each of the ``cores`` if
    there are rows enough, and more if their rows would not fit into memory."""
    return max(PARTITIONS, min(cores, rows // WORTH), -(-rows // ROWS))


def cores_of(session: SparkSession) -> int:
    """The cores that a session has; 0 with Spark Connect, where only the server knows."""
    if is_remote(session):
        return 0
    return session.sparkContext.defaultParallelism


def _run(
    stage: Stage,
    asked: set[str],
    source: SparkSource,
    partitions: int,
    label: bool,
    because: bool,
    ended: bool,
    queries: Asked | None = None,
) -> tuple[dict[str, Result], list[DataFrame], list[Result]]:
    """What finds every type that is asked for, what is cached, and all results."""
    results: list[Result] = []
    owners: dict[str, Result] = {}
    kept: list[DataFrame] = []
    run = needed(groups(stage.definitions, stage), asked)
    drawn = samples(run, source, partitions, label or because) if queries is None else {}
    for number, group in enumerate(run):
        result = run_group(group, source, results, partitions, label, because, ended, queries, drawn.get(number))
        mine = [t for t in group.stage.reported if t in asked]
        readers = sum(1 for later in run[number + 1 :] if later.takes & group.hands)
        if len(mine) + readers > 1:
            result.frame = result.frame.persist()
            kept.append(result.frame)
        results.append(result)
        owners.update(dict.fromkeys(mine, result))
    return owners, kept, results


def _never(program: CheckedProgram, source: SparkSource, partitions: int, ended: bool) -> DataFrame:
    """The notices that triggers can fire no more: a job of its own, over those that may tell any."""
    from pyspark.sql import functions as F

    stage = program.noticing().plan(source.schemas, source.kind)
    owners, _, results = _run(stage, set(stage.notices), source, partitions, False, False, ended)
    for result in results:
        if not any(d.tells for d in result.group.stage.definitions):
            result.frame = result.frame.where(F.lit(False))
    return by_trigger(side_by_side([(t, owners[t]) for t in stage.notices]))


def by_trigger(frame: DataFrame) -> DataFrame:
    """Notices under the names of their triggers, instead of those of their side outputs."""
    from pyspark.sql import functions as F

    return frame.withColumn("type", F.regexp_replace("type", "^never ", ""))


def needed(all_groups: list[Group], wanted: set[str]) -> list[Group]:
    """Those that find what is wanted, or what they hand on to such."""
    out: list[Group] = []
    asked = set(wanted)
    for group in reversed(all_groups):
        if asked & set(group.stage.reported) or any(group.hands & g.takes for g in out):
            out.insert(0, group)
    return out


class SparkDetections(Detections["DataFrame"]):
    """The detections of a run on Spark: a mapping from each reported type to a DataFrame.

    Spark computes a DataFrame when an action needs it.  The detections of definitions that run together are computed
    once and cached until :meth:`unpersist`.

    Attributes:
        bad: The skipped rows with reasons; None if no row was skipped.
        notices: The warnings and notices of the run.
    """

    def __init__(
        self,
        owners: Mapping[str, Result],
        counted: dict[str, int],
        look: Callable[[], dict[str, int]],
        notices: list[Problem],
        bad: DataFrame | None,
        kept: list[DataFrame],
        ended: Mapping[str, Result],
        sides: Mapping[str, str],
        never: Callable[[], DataFrame] | None = None,
    ):
        self._owners = owners
        self._tables: dict[str, DataFrame] = {}
        self._kept = kept
        self._ended, self._sides = ended, sides
        self._counted = counted
        self._look = look
        self._never = never
        self.notices = notices
        self.bad: DataFrame | None = bad
        self.late: DataFrame | None = None
        #: per statement with a guard the partial matches that it ended; None: they were not asked for
        self.timeouts = Timeouts(sides, lambda type, name: ended[type].table(type, name)) if sides else None

    @cached_property
    def never(self) -> DataFrame | None:
        """Which temporal triggers (``type``) can fire no more, since when (``time``), with their generic variables;
        None if there are no such triggers.  It is evaluated by itself."""
        return None if self._never is None else self._never()

    @cached_property
    def counts(self) -> dict[str, int]:
        """Rows read, bad, outside the clock..; where formulas read what has no value or overlaps, it is looked for when
        this is asked for."""
        return {**self._counted, **self._look()}

    @property
    def types(self) -> Collection[str]:
        return self._owners.keys()

    def table(self, type: str) -> DataFrame:
        if type not in self._tables:
            self._tables[type] = self._owners[type].table(type)
        return self._tables[type]

    def _stages(self) -> Sequence[Stage]:
        return list({id(owner.group): owner.group.stage for owner in self._owners.values()}.values())

    def arrow(self, type: str) -> pa.Table:
        """The detections of a type as an Arrow table of this process; errors of the data are raised as InputProblem."""
        from occurs.connect.tables import to_arrow

        return to_arrow(self[type])

    @property
    def kind(self) -> TimeKind:
        return next((owner.wide.kind for owner in self._owners.values()), TIMESTAMP)

    def together(self, *types: str) -> DataFrame:
        """Return the detections of several types in one DataFrame, which is faster than one DataFrame per type.

        Args:
            types: The types.  Without arguments, all reported types.

        Returns:
            A DataFrame with ``type``, ``time``, ``end`` (if some of the types are intervals) and every attribute of
            these types, null for types that do not have it.

        Raises:
            UsageProblem: If a type is not reported, or if an attribute has different types in two event types.
        """
        chosen(tuple(self._owners), list(types))
        return side_by_side([(t, self._owners[t]) for t in types or self._owners])

    def collected(self, *, detections: bool = True) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
        """Return the detections by type, and the partial matches that ended by statement, as tables of this process.

        Definitions that run together have one job for all their types.

        Args:
            detections: Whether the detections are wanted.  If not, only the partial matches are collected.

        Returns:
            The detections and the partial matches as Arrow tables.

        Raises:
            InputProblem: If rows cannot be used.
            LimitProblem: If a limit is exceeded.
        """
        from occurs.connect.sparkerrors import spark_errors

        owners = self._owners if detections else {}
        found: dict[str, pa.Table] = {}
        with spark_errors():
            for result in {id(r): r for r in (*owners.values(), *self._ended.values())}.values():
                names = {t: t for t, owner in owners.items() if owner is result}
                names |= {t: self._sides[t] for t, owner in self._ended.items() if owner is result}
                found |= result.collected(names)
        return {t: found[t] for t in owners}, {name: found[t] for t, name in self._sides.items()}

    def counted(self) -> dict[str, int]:
        """Return how many detections of each type there are.

        The detections are computed, once, and cached until :meth:`unpersist`: what is written from them afterwards is
        not computed again.

        Raises:
            InputProblem: If rows cannot be used.
            LimitProblem: If a limit is exceeded.
        """
        from occurs.connect.sparkerrors import spark_errors

        out = dict.fromkeys(self._owners, 0)
        with spark_errors():
            for result in {id(r): r for r in self._owners.values()}.values():
                if not any(result.frame is frame for frame in self._kept):
                    result.frame = result.frame.persist()
                    self._kept.append(result.frame)
                out |= {t: n for t, n in result.counted().items() if self._owners.get(t) is result}
        self._tables.clear()
        return out

    def unpersist(self) -> None:
        """Free the cached detections.  The DataFrames stay usable and are computed again when needed."""
        for frame in self._kept:
            frame.unpersist()


# --- counts of the input (see :func:`occurs.hosts.detections.input_counts`) and of triggers ---------------------------

#: what is no row of a table, but takes some away
_GONE = ("delete", "d", "D", "truncate")


def counts(stage: Stage, source: SparkSource, results: Sequence[Result]) -> dict[str, int]:
    """``null: TYPE.ATTRIBUTE`` and ``coalesced: TYPE``, where there are such rows, and what triggers count.  Runs a job
    for each kind."""
    return {**_nulls(stage, source), **_coalesced(stage, source), **_accepted(stage, source, results)}


def _accepted(stage: Stage, source: SparkSource, results: Sequence[Result]) -> dict[str, int]:
    """``rows without a key``; ``deletes of absent rows: TYPE`` and ``inserts of present rows: TYPE`` where triggers go
    state by state.  Only where there may be such are these judged once more."""
    from pyspark.sql import functions as F

    without = _without_key(stage.definitions, source)
    lost = [without.get(d.identity, 0) for d in stage.definitions if not d.stateful]
    out = {"rows without a key": max(lost, default=0)}
    for result in results:
        if result.tally is None or not any(_judged(d, source, without) for d in result.group.stage.definitions):
            continue
        # what several that have all rows count of one table is counted once
        for _, what, n in result.tally().groupBy("who", "what").agg(F.sum("n")).collect():
            out[what] = max(n, out.get(what, 0))
    return {what: n for what, n in sorted(out.items()) if n}


def _judged(d: Definition, source: SparkSource, without: dict[str, int]) -> bool:
    """May a trigger count what no look at single rows tells?"""
    if not d.stateful:
        return False
    return d.begins is None or without.get(d.identity, 0) > 0 or any((t, "op") in source.physical for t in d.sequenced)


def _without_key(triggers: Iterable[Definition], source: SparkSource) -> dict[str, int]:
    """Per trigger the rows that would make an instance, if they had a key."""
    from pyspark.sql import functions as F

    found: dict[str, Column] = {}
    for d in triggers:
        rows = []
        for t, names in d.begins or ():
            lost: Column = F.lit(False)
            for name in names:
                column = source.physical.get((t, name))
                lost = lost | (F.lit(True) if column is None else F.col(column).isNull())
            op = source.physical.get((t, "op"))
            put = F.lit(True) if op is None else F.coalesce(~F.col(op).isin(*_GONE), F.lit(True))
            rows.append(F.count(F.when((F.col("__type") == t) & lost & put, 1)))
        if rows:
            found[d.identity] = sum(rows[1:], rows[0])
    if not found:
        return {}
    row = source.frame.agg(*found.values()).collect()[0]
    return dict(zip(found, row, strict=True))


def _nulls(stage: Stage, source: SparkSource) -> dict[str, int]:
    """Rows without a value of an attribute that a formula looks at."""
    from pyspark.sql import functions as F

    looked = {(t, n) for d in stage.definitions for t, names in d.nulls.items() for n in names}
    found: dict[str, Column] = {}
    for t, n in sorted(looked):
        if t in source.schemas and n in source.schemas[t]:
            column = source.physical.get((t, n))
            lost = F.col("__type") == t
            found[f"null: {t}.{n}"] = F.count(F.when(lost if column is None else lost & F.col(column).isNull(), 1))
    if not found:
        return {}
    row = source.frame.agg(*found.values()).collect()[0]
    return {name: n for name, n in zip(found, row, strict=True) if n}


def _coalesced(stage: Stage, source: SparkSource) -> dict[str, int]:
    """Rows of a state that overlap or touch an earlier one with the same values."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    states = sorted({t for d in stage.definitions for t in d.coalesced if t in source.schemas})
    if not states:
        return {}
    columns = sorted({c for (t, _), c in source.physical.items() if t in states})
    # of other types a column has the values of another attribute of the same table
    mine = {c: [t for (t, _), own in source.physical.items() if own == c and t in states] for c in columns}
    values = [F.when(F.col("__type").isin(mine[c]), F.col(c)) for c in columns]
    before = Window.partitionBy("__type", *values).orderBy("__time").rowsBetween(Window.unboundedPreceding, -1)
    end = F.coalesce(F.col("__end"), F.lit(2**63 - 1))
    rows = source.frame.where(F.col("__type").isin(states))
    touching = rows.select("__type", (F.max(end).over(before) >= F.col("__time")).alias("touches")).where("touches")
    return {f"coalesced: {t}": n for t, n in sorted(touching.groupBy("__type").count().collect())}
