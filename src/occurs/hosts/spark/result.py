"""What a group of definitions found on Spark: the DataFrames that users see, and the rows for later stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.connect.sparkcolumns import SPARK
from occurs.errors import Problem
from occurs.hosts.spark.wide import Inlet, Kind, Wide, by_type, ddl_of, joint_kinds
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import Group

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass
class Result:
    """What a group found, all its types side by side; ``number`` tells the columns of several groups apart.

    ``tally``: what it counts of its input (who, what, n), which is a job of its own; None: nobody can ask.
    ``warnings``: of how the rows are distributed.
    """

    frame: DataFrame
    wide: Wide
    group: Group
    number: int
    tally: Callable[[], DataFrame] | None = None
    warnings: tuple[Problem, ...] = ()

    def table(self, type: str, name: str | None = None) -> DataFrame:
        """The detections of one type as users see them, called ``name`` if it is given."""
        from pyspark.sql import functions as F

        chosen = self.frame.where(F.col("__type") == self.wide.reported.index(type))
        return chosen.select(*_output(self.wide, self.group.stage.schemas[type], type, name or type))

    def collected(self, types: Mapping[str, str]) -> dict[str, pa.Table]:
        """The detections of some types as tables of this process, as :meth:`table` has them, by one job.

        Args:
            types: The types, each with the name that its rows get.

        Returns:
            The rows of each type, with the columns of that type.
        """
        from pyspark.sql import functions as F

        wide, schemas = self.wide, self.group.stage.schemas
        values = [F.timestamp_micros(c).alias(c) if t is Type.TIMESTAMP else F.col(c) for c, t in wide.fields]
        frame = self.frame
        if set(types) != set(wide.reported):
            frame = frame.where(self._is_one_of(list(types)))
        frame = frame.select("__type", *_times(wide, wide.lasting), *values, *_added(wide))
        asked = ("query", wide.step is not None), ("label", wide.label), ("because", wide.because)
        added = [name for name, there in asked if there]
        columns: dict[str, dict[str, str]] = {}
        for t in types:
            own = {"time": "time", **({"end": "end"} if schemas[t].lasting else {})}
            own |= {name: wide.physical[(t, name)] for name in schemas[t].names}
            columns[t] = own | {name: name for name in added}
        rows = frame.toArrow()
        found = dict(by_type(rows, rows.column("__type"), wide.reported)) if len(rows) else {}
        out = {}
        for t, own in columns.items():
            table = found.get(t, rows.slice(0, 0))
            name = pa.repeat(pa.scalar(types[t]), len(table))
            out[t] = pa.table({"type": name, **{name: table.column(c) for name, c in own.items()}})
        return out

    def counted(self) -> dict[str, int]:
        """How many detections of each type there are, without those of which there are none."""
        from pyspark.sql import functions as F

        rows = F.count(F.lit(1)) if self.wide.step is None else F.sum("__times")
        return {self.wide.reported[t]: n for t, n in self.frame.groupBy("__type").agg(rows).collect()}

    def several(self, types: Sequence[str], kinds: Mapping[str, Kind], lasting: bool) -> DataFrame:
        """The detections of some types, with the attributes ``kinds``, and with their ends if some are ``lasting``."""
        from pyspark.sql import functions as F

        sources, columns = self.wide.sources(types), []
        for name, kind in kinds.items():
            own = SPARK[kind] if isinstance(kind, Type) else ddl_of(kind)
            values = []
            for c, of in sources.get(name, {}).items():
                value = F.col(c).cast(own)
                values.append(value if of is None else F.when(self._is_one_of(of), value))
            value = F.coalesce(*values) if values else F.lit(None).cast(own)
            columns.append((F.timestamp_micros(value) if kind is Type.TIMESTAMP else value).alias(name))
        chosen = self.frame
        if set(types) != set(self.wide.reported):
            chosen = chosen.where(self._is_one_of(types))
        times = _times(self.wide, lasting)
        return chosen.select(self._names().alias("type"), *times, *columns, *_added(self.wide))

    def handed(self, types: Sequence[str], labelled: bool) -> DataFrame:
        """The rows of ``types`` as input of a later stage."""
        from pyspark.sql import functions as F

        columns = [self._names().alias("__type"), F.col("__time"), *([F.col("__label")] if labelled else [])]
        used = dict.fromkeys(self.wide.physical[(t, n)] for t in types for n in self.group.stage.schemas[t].plain)
        columns += [F.col(c).alias(self._name(c)) for c in used]
        return self.frame.where(self._is_one_of(types)).select(*columns, F.lit(True).alias("__derived"))

    def inlet(self, type: str, needed: set[str] | None) -> Inlet:
        schema = self.group.stage.schemas[type]
        columns = tuple(
            (n, schema[n], self._name(self.wide.physical[(type, n)]))
            for n in schema.plain
            if needed is None or n in needed
        )
        return Inlet(type, True, True, columns)

    def _is_one_of(self, types: Sequence[str]) -> Column:
        from pyspark.sql import functions as F

        numbers = {t: n for n, t in enumerate(self.wide.reported)}
        return F.col("__type").isin([numbers[t] for t in types])

    def _names(self) -> Column:
        """The types of rows by name."""
        from pyspark.sql import functions as F

        return F.element_at(F.array(*(F.lit(t) for t in self.wide.reported)), F.col("__type") + 1)

    def _name(self, column: str) -> str:
        return f"g{self.number}_{column}"


def side_by_side(found: Sequence[tuple[str, Result]]) -> DataFrame:
    """The detections of several types in one DataFrame.  Raises UsageProblem if attributes of one name differ."""
    kinds = joint_kinds((type, result.group.stage.schemas[type]) for type, result in found)
    lasting = any(r.group.stage.schemas[t].lasting for t, r in found)
    frames = []
    for number in dict.fromkeys(r.number for _, r in found):
        own = [(t, r) for t, r in found if r.number == number]
        frames.append(own[0][1].several([t for t, _ in own], kinds, lasting))
    return reduce(lambda one, more: one.unionByName(more), frames)


def _output(wide: Wide, schema: Schema, type: str, name: str) -> list[Column]:
    from pyspark.sql import functions as F

    out = [F.lit(name).alias("type"), *_times(wide, schema.lasting)]
    for attribute, t in schema:
        column = F.col(wide.physical[(type, attribute)])
        out.append((F.timestamp_micros(column) if t is Type.TIMESTAMP else column).alias(attribute))
    return out + _added(wide)


def _times(wide: Wide, lasting: bool) -> list[Column]:
    """The time, and the end if rows may have one."""
    from pyspark.sql import functions as F

    found = {"time": F.col("__time")}
    if lasting:
        found["end"] = F.col("__end") if wide.lasting else F.lit(None).cast("long")
    return [(F.timestamp_micros(c) if wide.kind.timestamp else c).alias(n) for n, c in found.items()]


def _added(wide: Wide) -> list[Column]:
    """The query in window mode: a row for each that gives it; label and constituents, if they are asked for."""
    from pyspark.sql import functions as F

    own = [F.col(f"__{n}").alias(n) for n, asked in (("label", wide.label), ("because", wide.because)) if asked]
    return own if wide.step is None else [_queries(wide, wide.step).alias("query"), *own]


def _queries(wide: Wide, step: int) -> Column:
    """The queries that give a row, each in a row of its own."""
    from pyspark.sql import functions as F

    ticks = F.lit(min(step, 2**63 - 1)).cast("long")  # a longer one is that of a single query

    def at(number: Column) -> Column:
        # in two halves: from the first query to the last there may be more ticks than a long has room for
        half = F.shiftright(number, 1)
        tick = F.col("__query") + half * ticks + (number - half) * ticks
        return F.timestamp_micros(tick) if wide.kind.timestamp else tick

    return F.explode(F.transform(F.sequence(F.lit(0).cast("long"), F.col("__times") - 1), at))
