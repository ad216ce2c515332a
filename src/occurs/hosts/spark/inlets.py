"""What a group of definitions reads of the wide input: types, columns, key, and the rows that can matter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from occurs.connect.sparkcolumns import SPARK
from occurs.errors import InputProblem
from occurs.expr.evaluate import as_threshold
from occurs.expr.tree import Expr, Literal, Ref
from occurs.hosts.spark.parts import any_of
from occurs.hosts.spark.read import WideSource
from occurs.hosts.spark.result import Result
from occurs.hosts.spark.wide import MOST_NUMBERED, Inlet, type_numbers
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import Group
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


#: what a change of a table says that takes all its rows away
TRUNCATE = "truncate"


def inlets_of(group: Group, source: WideSource, earlier: Sequence[Result], labelled: bool) -> tuple[Inlet, ...]:
    """Where the rows of every type come from, and which of their columns cross into Python."""
    out = []
    makers = makers_of(group, earlier)
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


def makers_of(group: Group, earlier: Sequence[Result]) -> dict[str, Result]:
    """What a group takes from earlier ones: type to the first that hands it on."""
    return {t: r for r in reversed(earlier) for t in group.takes & r.group.hands}


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
    return any_of([F.col("__type").isin(whole), *conditions])


def numbered(frame: DataFrame, inlets: Sequence[Inlet]) -> DataFrame:
    """Types as small numbers, which cost less to move than text; where they are many, the text costs less to make."""
    from pyspark.sql import functions as F

    numbers = type_numbers(inlets)
    if not 0 < len(numbers) <= MOST_NUMBERED:
        return frame
    cases = [(F.col("__type") == t, F.lit(n)) for t, n in numbers.items()]
    return frame.withColumn("__type", one_of(cases).cast("short"))


def sweeping(group: Group, inlets: Sequence[Inlet]) -> dict[str, str]:
    """Per table whose rows may say `truncate` the column of the input that does: such rows are for every part."""
    tables = group.stage.tables
    found = {i.type: c for i in inlets if i.type in tables and not i.derived for n, _, c in i.columns if n == "op"}
    return {t: c for t, c in found.items() if c}


def column_is(column: str, value: str) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.col(column) == value, F.lit(False))


def is_of(type: str, inlets: Sequence[Inlet]) -> Column:
    """Is a row, after ``numbered``, of this type?"""
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
            mine = F.col("__type") == inlet.type if named else is_of(inlet.type, inlets)
            if derived:
                mine = mine & (F.col("__derived") == F.lit(inlet.derived))
            cases.append((mine, value))
        if len({name for _, _, name in places}) == 1 and len(places) == len(inlets):
            out.append(cases[0][1])  # the same column in every type
        else:
            out.append(one_of(cases).otherwise(F.lit(None).cast(common)) if cases else F.lit(None).cast(common))
    return out


def _spark_type(kinds: Collection[Type]) -> str:
    """One that holds the numbers among values of these kinds."""
    numbers = [k for k in kinds if k.numeric]
    return "double" if len(numbers) > 1 else SPARK[next(iter(numbers or kinds), Type.STRING)]


def one_of(cases: Sequence[tuple[Column, Column]]) -> Column:
    """The value of the first condition that holds; one flat expression, however many there are."""
    from pyspark.sql import functions as F

    (condition, value), *more = cases
    out = F.when(condition, value)
    for condition, value in more:
        out = out.when(condition, value)
    return out


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
