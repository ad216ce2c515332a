"""What of a program's filters Spark can apply itself, before rows cross into Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from occurs.expr.shape import as_threshold
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.types import Schema, Type
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column


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
