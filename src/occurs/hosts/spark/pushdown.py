"""What of a program's filters Spark can apply itself, before rows cross into Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from occurs.expr.shape import as_threshold
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.types import Schema, Type
from occurs.operators.lasting.scan import Scan
from occurs.operators.select.pattern import Absent, Keep, Select, Source, Windowed
from occurs.operators.sequence.tree import Atom
from occurs.plan.definition import NetDefinition, PatternDefinition
from occurs.plan.sequences import SequenceDefinition, nodes
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column

    from occurs.operators.lasting.network import Node

#: more alternatives than this are not worth a filter
MOST = 64


def sources(stage: Stage) -> list[Source]:
    """Every place where the definitions of a stage read rows."""
    out = []
    for d in stage.definitions:
        if isinstance(d, NetDefinition):
            out += [_source(d.net.nodes[number], t) for number, t in d.net.sources.items()]
            continue
        if isinstance(d, SequenceDefinition):
            atoms = [n for n in nodes(d.pattern.root) if isinstance(n, Atom)]
            out += [Source(t, a.own) for a in atoms for t in a.types]
            continue
        if not isinstance(d, PatternDefinition):
            out += [Source(t, ()) for t in d.reads]
            continue
        p = d.pattern
        found: list[Expr] = []
        out.append(p.terminator)
        for s in p.steps:
            if isinstance(s, Select | Absent):
                out.append(s.source)
                found += [*s.source.filters, *s.residual]
            elif isinstance(s, Keep):
                found.append(s.condition)
        found += [e for _, e, _ in p.outputs]
        out += [n.source for e in found for n in e.walk() if isinstance(n, Windowed)]
    return out


def _source(node: Node, type: str) -> Source:
    """Where a net reads rows: what does not satisfy the conditions of a scan is as if it were not there."""
    return Source(type, node.conditions) if isinstance(node, Scan) else Source(type, ())


def static_filter(
    stage: Stage, type: str, physical: Mapping[tuple[str, str], str], raw: Schema
) -> Column | None:
    """A condition that every row of ``type`` that can matter satisfies; None if all rows can.

    Built of comparisons of a column with a constant (values are bound, never put into a text).  ``raw``: the types that
    the columns have.
    """
    uses = {s.filters for s in sources(stage) if s.type == type}
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
