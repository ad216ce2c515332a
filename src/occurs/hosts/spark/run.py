"""One group of definitions over the wide input: repartitioned as its plan says, through engines, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from occurs.connect.sparkcolumns import SPARK
from occurs.errors import InputProblem
from occurs.expr.evaluate import as_threshold
from occurs.expr.tree import Expr, Literal, Ref
from occurs.hosts.spark.read import SparkSource, WideSource
from occurs.hosts.spark.result import Result
from occurs.hosts.spark.task import Share, Tally, make_engine_task
from occurs.hosts.spark.wide import MOST_NUMBERED, Inlet, Wide, type_numbers
from occurs.hosts.windows import Asked
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import Group
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


#: what a change of a table says that takes all its rows away
TRUNCATE = "truncate"


def run_group(
    group: Group,
    source: SparkSource,
    earlier: Sequence[Result],
    partitions: int,
    label: bool,
    because: bool,
    ended: bool = True,
    asked: Asked | None = None,
) -> Result:
    """The detections of definitions that run together: one job for all their types.  ``asked``: in window mode the
    queries; then all definitions are nets, so that they are in one group with all that they read."""
    stage, clock, labelled = group.stage, source.clock, label or because
    inlets = inlets_of(group, source, earlier, labelled)
    frame = _input(group, source, earlier, inlets, labelled)
    shares: list[Share] = []
    if clock is not None:
        shares = [Share(stage, clock, clock[0], asked)]
    if group.mode == "keyed":
        # where all rows are of one type, nobody has to be told
        alone = len(inlets) == 1 and not inlets[0].derived
        frame = frame.drop("__type") if alone else _numbered(frame, inlets)
        keys = key_columns(group, inlets)
        everywhere = [_column_is(c, TRUNCATE) if alone else _is(t, inlets) & _column_is(c, TRUNCATE)
                      for t, c in sweeping(group, inlets).items()]  # fmt: skip
        if everywhere:
            frame = _to_all(frame, _any(everywhere), keys, partitions)
        else:
            frame = frame.repartition(partitions, *keys)
        frame = frame.sortWithinPartitions("__time")
    elif group.mode == "free":
        frame = _numbered(frame, inlets)
        if labelled:  # rows that are equal in everything are told apart by a number: they must come together
            frame = frame.repartition(partitions, "__type", "__time")
        frame = frame.sortWithinPartitions("__time")
    elif clock is not None:
        if group.mode == "slices":
            frame, shares = _sliced(frame, group, clock, partitions)
        elif group.mode == "rules":
            frame, shares = _shared(frame, group, shares[0], partitions)
        marks = [(n, s.clock[0]) for n, s in enumerate(shares) if s.stage.timed]
        if marks:
            frame = _with_marks(frame, marks)
        frame = _numbered(frame, inlets)
        if len(shares) > 1:
            frame = frame.repartitionById(len(shares), "__share").sortWithinPartitions("__share", "__time")
        else:
            frame = frame.repartition(1).sortWithinPartitions("__time")
    wide = Wide.of(stage, label, because, step=None if asked is None else asked.window.step)
    task = make_engine_task(shares, wide, inlets, labelled, ended)

    def tally() -> DataFrame:
        return frame.mapInArrow(make_engine_task(shares, Tally(), inlets, labelled, ended), Tally.ddl)

    return Result(frame.mapInArrow(task, wide.ddl), wide, group, len(earlier), tally)


def inlets_of(group: Group, source: WideSource, earlier: Sequence[Result], labelled: bool) -> tuple[Inlet, ...]:
    """Where the rows of every type come from, and which of their columns cross into Python."""
    out = []
    makers = _makers(group, earlier)
    for t, needed in sorted(group.needs(labelled).items()):
        if t in source.schemas:
            if labelled and t in source.unlabelled:
                n = source.unlabelled[t]
                raise InputProblem.of("bad-value", f"{n:,} rows of type `{t}` have no label, but others have one")
            own = [(n, at) for n, at in source.schemas[t] if needed is None or n in needed]
            columns = tuple((n, at, "" if at is Type.NULL else source.physical.get((t, n), "")) for n, at in own)
            out.append(Inlet(t, False, labelled and t in source.labelled, columns))
        if t in makers:
            out.append(makers[t].inlet(t, needed))
    return tuple(out)


def _makers(group: Group, earlier: Sequence[Result]) -> dict[str, Result]:
    """What a group takes from earlier ones: type to the first that hands it on."""
    return {t: r for r in reversed(earlier) for t in group.takes & r.group.hands}


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
    makers = _makers(group, earlier)
    for result in earlier:
        mine = [t for t in handed if makers[t] is result]
        if mine:
            frame = frame.unionByName(result.handed(mine, labelled), allowMissingColumns=True)
    return frame


def can_matter(
    group: Group, physical: Mapping[tuple[str, str], str], schemas: Mapping[str, Schema], inlets: Sequence[Inlet]
) -> Column:
    """Can a row of the input (its type by name) matter to a group?"""
    from pyspark.sql import functions as F

    whole: list[str] = []
    conditions: list[Column] = []
    for inlet in inlets:
        if inlet.derived:
            continue
        extra = static_filter(group.stage, inlet.type, physical, schemas[inlet.type])
        if extra is None:
            whole.append(inlet.type)
        else:
            conditions.append((F.col("__type") == inlet.type) & extra)
    return _any([F.col("__type").isin(whole), *conditions])


def _numbered(frame: DataFrame, inlets: Sequence[Inlet]) -> DataFrame:
    """Types as small numbers, which cost less to move than text; where they are many, the text costs less to make."""
    from pyspark.sql import functions as F

    numbers = type_numbers(inlets)
    if not 0 < len(numbers) <= MOST_NUMBERED:
        return frame
    cases = [(F.col("__type") == t, F.lit(n)) for t, n in numbers.items()]
    return frame.withColumn("__type", _case(cases).cast("short"))


def sweeping(group: Group, inlets: Sequence[Inlet]) -> dict[str, str]:
    """Per table whose rows may say `truncate` the column of the input that does: such rows are for every part."""
    tables = group.stage.tables
    found = {i.type: c for i in inlets if i.type in tables and not i.derived for n, _, c in i.columns if n == "op"}
    return {t: c for t, c in found.items() if c}


def _column_is(column: str, value: str) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.col(column) == value, F.lit(False))


def _to_all(frame: DataFrame, everywhere: Column, keys: Sequence[Column], partitions: int) -> DataFrame:
    """Rows in the partitions of their keys; those that are for ``everywhere`` in each."""
    from pyspark.sql import functions as F

    own = F.array(F.pmod(F.hash(*keys), F.lit(partitions)))
    share = F.when(everywhere, F.sequence(F.lit(0), F.lit(partitions - 1))).otherwise(own)
    return frame.withColumn("__share", F.explode(share)).repartitionById(partitions, "__share").drop("__share")


def _is(type: str, inlets: Sequence[Inlet]) -> Column:
    """Is a row, after ``_numbered``, of this type?"""
    from pyspark.sql import functions as F

    numbers = type_numbers(inlets)
    return F.col("__type") == (numbers[type] if len(numbers) <= MOST_NUMBERED else type)


def key_columns(group: Group, inlets: Sequence[Inlet], *, named: bool = False) -> list[Column]:
    """Per position of the key one column, whatever the attribute is called in each type.  ``named``: types by name."""
    from pyspark.sql import functions as F

    key = group.stage.key
    derived = any(i.derived for i in inlets)
    out = []
    for position in range(len(next(iter(key.values())))):
        places = []
        for inlet in inlets:
            if inlet.type in key:
                wanted = key[inlet.type][position]
                places += [(inlet, t, c) for n, t, c in inlet.columns if n == wanted and c]
        kinds = {t for _, t, _ in places}
        # texts and numbers are never equal: any common type will do, if equal numbers stay equal
        common = _spark_type(kinds) if all(k.numeric for k in kinds) or len(kinds) == 1 else "string"
        cases = []
        for inlet, kind, name in places:
            own = _spark_type(kinds) if kind.numeric else SPARK[kind]
            value = F.col(name).cast(own)
            # -0.0 and 0.0 are equal, and so must be their buckets
            value = (value + F.lit(0.0) if own == "double" else value).cast(common)
            mine = F.col("__type") == inlet.type if named else _is(inlet.type, inlets)
            if derived:
                mine = mine & (F.col("__derived") == F.lit(inlet.derived))
            cases.append((mine, value))
        if len({name for _, _, name in places}) == 1 and len(places) == len(inlets):
            out.append(cases[0][1])  # the same column in every type
        else:
            out.append(_case(cases).otherwise(F.lit(None).cast(common)) if cases else F.lit(None).cast(common))
    return out


def _spark_type(kinds: Collection[Type]) -> str:
    """One that holds the numbers among values of these kinds."""
    numbers = [k for k in kinds if k.numeric]
    return "double" if len(numbers) > 1 else SPARK[next(iter(numbers or kinds), Type.STRING)]


def _case(cases: Sequence[tuple[Column, Column]]) -> Column:
    """The value of the first condition that holds; one flat expression, however many there are."""
    from pyspark.sql import functions as F

    (condition, value), *more = cases
    out = F.when(condition, value)
    for condition, value in more:
        out = out.when(condition, value)
    return out


def _any(conditions: Sequence[Column]) -> Column:
    """Does one of them hold?  A balanced tree, as Spark walks expressions recursively."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return _any(conditions[:half]) | _any(conditions[half:])


def slices(clock: tuple[int, int], overlap: int, partitions: int) -> list[tuple[int, int]]:
    """[first, last] of each slice of the clock: not so many that the overlaps are most of the work."""
    first, last = clock
    span = last - first + 1
    n = max(1, min(partitions, span // max(1, overlap))) if span < 2**62 else 1
    width = -(-span // n)
    return [(first + i * width, min(last, first + (i + 1) * width - 1)) for i in range(n) if first + i * width <= last]


def _sliced(frame: DataFrame, group: Group, clock: tuple[int, int], partitions: int) -> tuple[DataFrame, list[Share]]:
    """Every row in each slice of time (``__share``) that can look back at it."""
    from pyspark.sql import functions as F

    found = slices(clock, group.overlap, partitions)
    # timers before the overlap concern nobody
    shares = [Share(group.stage, (max(clock[0], first - group.overlap), last), first) for first, last in found]
    if len(found) == 1:
        return frame, shares
    start, width = F.lit(found[0][0]), F.lit(found[0][1] - found[0][0] + 1)
    time = F.col("__time")
    low = F.call_function("div", time - start, width)
    # the last instant that looks back at it
    later = F.least(time, F.lit(clock[1] - group.overlap)) + F.lit(group.overlap)
    high = F.call_function("div", F.greatest(later, time) - start, width)
    return frame.withColumn("__share", F.explode(F.sequence(low.cast("int"), high.cast("int")))), shares


def _shared(frame: DataFrame, group: Group, whole: Share, partitions: int) -> tuple[DataFrame, list[Share]]:
    """Every row in each share (``__share``) of the rules that reads its type."""
    from pyspark.sql import functions as F

    shares = [replace(whole, stage=stage) for stage in group.spread(partitions)]
    if len(shares) == 1:
        return frame, shares
    readers = {t: [F.lit(n) for n, s in enumerate(shares) if t in s.stage.inputs] for t in group.stage.inputs}
    cases = [(F.col("__type") == t, F.array(*own)) for t, own in sorted(readers.items())]
    if not cases:
        return frame.withColumn("__share", F.lit(0)), shares
    return frame.withColumn("__share", F.explode(_case(cases))), shares


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

#: more alternatives than this are not worth a filter
MOST = 64


def static_filter(stage: Stage, type: str, physical: Mapping[tuple[str, str], str], raw: Schema) -> Column | None:
    """A condition that every row of ``type`` that can matter satisfies; None if all rows can.

    Built of comparisons of a column with a constant (values are bound, never put into a text).  ``raw``: the types that
    the columns have.
    """
    uses = {s.filters for d in stage.definitions for s in d.sources if s.type == type}
    if not uses or any(s.type == type for s in stage.subscribed) or len(uses) > MOST:
        return None
    out: Column | None = None
    for filters in sorted(uses, key=repr):
        use = _conjunction(type, filters, physical, raw)
        if use is None:
            return None
        out = use if out is None else out | use
    return out


def _conjunction(
    type: str, filters: tuple[Expr, ...], physical: Mapping[tuple[str, str], str], raw: Schema
) -> Column | None:
    from pyspark.sql import functions as F

    out: Column | None = None
    for f in filters:
        found = as_threshold(f)
        if found is None:
            continue
        ref, op, bound = found
        name = physical.get((type, ref.name)) if isinstance(ref, Ref) else None
        if name is None or not isinstance(bound, Literal) or bound.value is None:
            continue
        t = raw.get(ref.name)
        if t not in (Type.INT, Type.FLOAT, Type.STRING) or t is not bound.type:
            continue  # mixed kinds compare by exact value: left to the engine
        column, value = F.col(name), F.lit(bound.value)
        test = {
            "=": column == value,
            "!=": column != value,
            "<": column < value,
            "<=": column <= value,
            ">": column > value,
            ">=": column >= value,
        }[op]
        out = test if out is None else out & test
    return out
