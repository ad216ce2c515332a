"""From resolved queries to row patterns as their operator sees them (match-recognize.md, sections 4 to 9)."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from occurs.errors import Problem
from occurs.expr.tree import Annotated, Expr, Ref, rewrite
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks.analysis import ResolvedQuery
from occurs.model.time import TimeKind
from occurs.model.time import duration as in_words
from occurs.model.types import Schema, Type, arrow_type
from occurs.operators.definition import Choice
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.definition import RowPatternDefinition
from occurs.operators.rowpattern.program import least, longest


def compile_query(query: ResolvedQuery, kind: TimeKind) -> tree.Matching:
    """The row pattern of a query without problems; times are counted as ``kind`` says."""
    within = None if query.within is None else kind.convert(query.within)
    return tree.Matching(
        query.name,
        query.source,
        query.partition,
        query.order,
        query.pattern,
        tuple((name, value(condition)) for name, condition in query.conditions.items()),
        tuple(replace(m, expr=value(m.expr)) for m in query.measures),
        query.outputs,
        query.rows,
        query.skip,
        None if within is None else int(within),
        query.where,
        query.others,
        query.needs | frozenset(query.partition),
    )


def value(expr: Expr) -> Expr:
    """An expression of a clause as its operator sees it: it says which values of rows are durations."""

    def plain(node: Expr) -> Expr | None:
        duration = isinstance(node, tree.At | tree.Aggregate) and node.type is Type.DURATION
        return Annotated(Type.DURATION, node) if duration else None

    return rewrite(expr, plain)


# -- what is said of a query -------------------------------------------------------------------------------------------


def delay(query: ResolvedQuery, matching: tree.Matching) -> int | None:
    """How many ticks after their time its rows are known at the latest; None: there is no bound."""
    ahead = any(isinstance(n, tree.At) and n.move > 0 for e in matching.values for n in e.walk())
    ends = any(isinstance(n, tree.Anchor) and n.end for n in matching.pattern.walk())
    if ahead or ends:
        return None
    if not matching.all_rows and least(matching.pattern) == longest(matching.pattern):
        return 0
    return matching.within


def unbounded(query: ResolvedQuery) -> syntax.Repeat | None:
    """The first quantifier without a bound."""
    for node in query.pattern.walk():
        if isinstance(node, syntax.Repeat) and node.high is None:
            return node
    return None


def choices(matching: tree.Matching) -> tuple[Choice, ...]:
    """The ways to split it: by every column of PARTITION BY."""
    if not matching.partition:
        return ()
    carried = {o.expr.name: o.name for o in matching.outputs if isinstance(o.expr, Ref)}
    chosen = tuple(sorted(matching.partition))
    every = [chosen, *((name,) for name in chosen if len(chosen) > 1)]
    passes = frozenset(carried[name] for name in chosen if name in carried)
    return tuple(Choice(((matching.source, names),), passes) for names in every)


def kept(query: ResolvedQuery, matching: tree.Matching, kind: TimeKind) -> tuple[tuple[str, ...], str]:
    """What it keeps, in words, and how much that is."""
    by = f"per ({', '.join(matching.partition)}): " if matching.partition else ""
    before, numbered = matching.back, matching.numbered
    begins = any(isinstance(n, tree.Anchor) and not n.end for n in matching.pattern.walk())
    more = f" + {before} before" if before else ""
    more += ", the number of its matches" if numbered else ""
    more += ", whether its first row has gone" if begins else ""
    size = longest(matching.pattern)
    if matching.within is not None:
        length = in_words(matching.within, kind)
        if not (before or numbered or begins):
            return (f"window {length}",), "window"
        return (f"{by}rows of {length}{more}",), "bindings"
    if size is not None:
        return (f"{by}at most {size} rows{more}",), "bindings"
    return (f"{by}rows until a match is decided{more} [unbounded]",), "grows"


def costs(query: ResolvedQuery, matching: tree.Matching, file: str | None) -> tuple[Problem, ...]:
    """What its execution costs."""
    out = []
    node = unbounded(query)
    if delay(query, matching) is None:
        text = f"the rows of `{query.name}` may be known any time after their own time"
        hint = "add `WITHIN`"
        if matching.within is not None or (node is None and longest(matching.pattern) is not None):
            hint = "NEXT and `$` wait for rows that may arrive much later: use PREV, or conditions on the last variable"
        out.append(_cost("unbounded-delay", text, hint, file, node or query.pattern))
    return tuple(out)


def _cost(kind: str, text: str, hint: str, file: str | None, node: syntax.Pattern) -> Problem:
    return Problem(kind, text, severity="warning", hint=hint, file=file, span=node.span)


def timeouts(found: RowPatternDefinition, query: ResolvedQuery, name: str) -> RowPatternDefinition:
    """The definition of the attempts that WITHIN ends: the layout of ONE ROW PER MATCH, found under ``name``."""
    m = found.matching
    types = dict(query.columns)
    outputs = [tree.Value(n, Ref(None, n), types.get(n, Type.NULL)) for n in m.partition]
    outputs += [tree.Value(v.name, Ref(None, v.name), v.type) for v in m.measures]
    lists = tuple((v.name, pa.list_(arrow_type(v.element))) for v in query.measures if v.type is Type.RECORD)
    schema = Schema(tuple((v.name, v.type) for v in outputs), records=lists)
    side = f"timeouts of {name}"
    matching = replace(m, name=side, rows=tree.ONE, where=None, outputs=tuple(outputs))
    return replace(
        found, name=side, definition=f"{found.definition}/timeouts", matching=matching, splits=choices(matching),
        kept=(), costs=(), ended=name, schema=schema, delays=None,
    )  # fmt: skip
