"""The clauses of row patterns and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from occurs.expr.dialect import MATCH_RECOGNIZE
from occurs.expr.text import Text
from occurs.expr.tree import DurationLiteral, Expr, Literal, Ref, Unary, conjuncts, rewrite
from occurs.languages.kit.clauses import (
    Clause,
    Declaration,
    Edit,
    RuleClauses,
    Source,
    Splice,
    Where,
    comparison,
    distinct,
    of_text,
    reading,
    sign_of,
    span_of,
)
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.define import RowPatterns
from occurs.languages.match_recognize.render import duration_text, expr_text, pattern_text, word_text
from occurs.model.time import UNIT_MICROSECONDS, Duration, TimeKind
from occurs.model.types import Type

#: what ends a statement
ENDING = ";\n"
#: a condition that is always true
TRUE = "0 = 0"
#: how far the upper bound of a quantifier is raised, one by one, before it is dropped
RAISED = 8
_PATTERN = re.compile(r"\bPATTERN\s*\(", re.IGNORECASE)
_AFTER = re.compile(r"\bAFTER\s+MATCH\s+SKIP\s*\Z", re.IGNORECASE)


def rules(part: RowPatterns, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all statements, in the order of the text."""
    out = []
    for resolved, (text, statement) in zip(part.queries, part.at, strict=True):
        written = part.texts.files[text].statements[statement]
        out.append(_Statement(resolved.name, resolved.source, written, text, Text(texts[text], None), kind).clauses())
    return out


def declared(part: RowPatterns, texts: Sequence[str]) -> list[Declaration]:
    """Row patterns declare no types."""
    return []


class _Statement:
    def __init__(self, name: str, table: str, query: syntax.Query, text: int, source: Text, kind: TimeKind):
        self.name, self.table, self.query, self.number = name, table, query, text
        self.source, self.kind, self.text, self.clause = source, kind, source.text, query.clause
        self.start, self.stop = source.offsets(of_text(query.span))

    def clauses(self) -> RuleClauses:
        return RuleClauses(
            self.number, self.start, self.stop, self.name, None, tuple(distinct(self._all())),
            frozenset((self.table,)), renamed=self._renamed, named=self._named,
            durations=() if self.clause.within is None else (self._ticks(self.clause.within),),
            constants=tuple(self._constants()),
        )  # fmt: skip

    def _ticks(self, duration: Duration) -> int:
        return math.floor(self.kind.convert(duration) or 0)

    def _constants(self) -> Iterator[Any]:
        conditions = [d.condition for d in self.clause.defines] + ([self.query.where] if self.query.where else [])
        for e in (n for c in conditions for n in c.walk()):
            if isinstance(e, Literal) and e.type is not Type.NULL:
                yield e.value
            elif isinstance(e, Unary) and isinstance(e.arg, Literal) and isinstance(e.arg.value, int | float):
                yield -e.arg.value

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        start, stop = self.source.offsets(of_text(self.query.table.span))
        yield Clause("missing", start, stop, self.text[start:stop], type=self.table, role=self.table)
        for define in self.clause.defines:
            for part in conjuncts(define.condition):
                yield self._condition(part, define.variable.canonical)
        for part in () if self.query.where is None else conjuncts(self.query.where):
            yield self._condition(part, None)
        for node in self.clause.pattern.walk():
            if isinstance(node, syntax.Repeat):
                yield from self._count(node)
        if self.clause.within is not None:
            yield self._within(self.clause.within)
        if self.clause.skip.to != "next":
            yield self._skip()

    def _condition(self, part: Expr, variable: str | None) -> Clause:
        """A conjunct of the condition of a variable; without one, of WHERE."""
        start, stop = self.source.offsets(of_text(span_of(part)))
        drop = Edit((Splice(start, stop, TRUE),))

        def leaf(e: Expr) -> Expr | None:
            """A value of one row as a reference, whose scope is how the row is reached."""
            if isinstance(e, syntax.Navigation) and isinstance(e.arg, syntax.Column):
                return Ref(expr_text(replace(e, arg=replace(e.arg, name=syntax.Word("_")))), e.arg.name.text)
            if isinstance(e, syntax.Column):
                return Ref(variable if e.qualifier is None else e.qualifier.canonical, e.name.text)
            return None

        def plain(e: Expr) -> Expr:
            return rewrite(e, leaf)

        def where(e: Expr) -> Where | None:
            found = leaf(e) if isinstance(e, syntax.Column) else None
            return (found.scope, found.name) if isinstance(found, Ref) else None

        def shown(e: Expr) -> str:
            """An attribute of the row of the variable with its name."""
            text = expr_text(e)
            alone = isinstance(e, syntax.Column) and e.qualifier is None and variable is not None
            return f"{variable}.{text}" if alone else text

        def source(e: Expr) -> Source | None:
            if variable is None or not isinstance(e, Ref):
                return None
            return Source(str(e.scope), self.table, e.name)

        found = comparison(
            self.text, lambda span: self.source.offsets(of_text(span)), part, drop, variable, self.kind,
            where=where, shown=shown, duration=self._written, stamp=lambda t: expr_text(Literal(t, Type.TIMESTAMP)),
            source=source, dialect=MATCH_RECOGNIZE,
        )  # fmt: skip
        if found.kind != "threshold" or found.moved is None:
            return found
        other = _side(part)
        return replace(found, reading=_reading(plain(other), source))

    def _written(self, ticks: int) -> str:
        """A duration as the language writes it."""
        if self.kind.tick is None:
            return duration_text(Duration(Fraction(ticks), ticks=True))
        return duration_text(Duration(Fraction(ticks * self.kind.tick)))

    def _within(self, within: Duration) -> Clause:
        start, stop = self.source.offsets(of_text(self.clause.within_span))
        limit = self._ticks(within)

        def moved(ticks: Any) -> Edit | None:
            if ticks is None or ticks <= limit:
                return None
            text = self._written(int(ticks))
            return Edit((Splice(start, stop, text),), text, int(ticks) - limit)

        longest = self._written(2**40 if self.kind.tick is None else UNIT_MICROSECONDS["d"] // self.kind.tick * 100_000)
        return Clause(
            "window", start, stop, self.text[start:stop], None, Edit((Splice(start, stop, longest),)), moved,
            needed=f"WITHIN {self.text[start:stop]}", detail={"exact": limit},
        )  # fmt: skip

    def _count(self, node: syntax.Repeat) -> Iterator[Clause]:
        """The bounds of a quantifier: fewer rows at least, more at most."""
        stop = self.source.offsets(of_text(node.span))[1]
        inner = self.source.offsets(of_text(node.part.span))[1]
        at = inner + len(self.text[inner:stop]) - len(self.text[inner:stop].lstrip(" \t\n)"))
        bounds = [(low, node.high) for low in range(node.low - 1, -1, -1)]
        if node.high is not None:
            bounds += [(node.low, high) for high in range(node.high + 1, node.high + RAISED + 1)] + [(node.low, None)]
        edits = []
        for low, high in bounds:
            text = _quantifier(low, high, node.greedy)
            away = (node.low - low) + (0 if node.high is None else RAISED + 1 if high is None else high - node.high)
            edits.append(Edit((Splice(at, stop, text),), text, away))
        if edits:
            edits.sort(key=lambda e: e.shift)
            of = pattern_text(node.part)
            detail = {"of": of, "low": node.low, "high": node.high}
            yield Clause("count", at, stop, self.text[at:stop], others=tuple(edits), needed=self.text[at:stop],
                         role=of if isinstance(node.part, syntax.Variable) else None, detail=detail)  # fmt: skip

    def _skip(self) -> Clause:
        """Where the search goes on after a match; not written: behind its last row."""
        skip = self.clause.skip
        if skip.span is not None:
            start, stop = self.source.offsets(skip.span)
            before = _AFTER.search(self.text, 0, start)
            written = self.text[start:stop] if before is None else self.text[before.start() : stop]
            first = start if before is None else before.start()
            edit = Edit((Splice(first, stop, "AFTER MATCH SKIP TO NEXT ROW"),), "AFTER MATCH SKIP TO NEXT ROW")
        else:
            found = _PATTERN.search(self.text, self.start, self.stop)
            assert found is not None
            first, stop, written = found.start(), found.start() + len("PATTERN"), "AFTER MATCH SKIP PAST LAST ROW"
            edit = Edit((Splice(first, first, "AFTER MATCH SKIP TO NEXT ROW "),), "AFTER MATCH SKIP TO NEXT ROW")
        return Clause("choice", first, stop, written, edit, needed="SKIP TO NEXT ROW", detail={"skips": True})

    # -- other texts of the statement --------------------------------------------------------------------------------
    def _named(self, name: str) -> list[Splice]:
        if self.query.name is None:
            return [Splice(self.start, self.start, f"CREATE VIEW {word_text(syntax.Word(name))} AS ")]
        return [Splice(*self.source.offsets(of_text(self.query.name.span)), word_text(syntax.Word(name)))]

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        if self.table not in names:
            return []
        start, stop = self.source.offsets(of_text(self.query.table.span))
        alias = f" AS {self.text[start:stop]}" if self.query.table_alias is None else ""
        return [Splice(start, stop, word_text(syntax.Word(names[self.table])) + alias)]


def _side(part: Expr) -> Expr:
    """The side of a comparison that is not a constant."""
    left, right = part.children
    return left if sign_of(right) is not None else right


def _reading(expression: Expr, source: Any) -> Any:
    """An expression whose values are those of rows; None if it takes more than rows to know them."""
    known = all(isinstance(n, Ref | Literal | DurationLiteral) or n.children for n in expression.walk())
    computed = any(isinstance(n, syntax.Aggregate | syntax.Navigation) for n in expression.walk())
    return reading(expression, source, MATCH_RECOGNIZE) if known and not computed else None


def _quantifier(low: int, high: int | None, greedy: bool) -> str:
    """Bounds as text."""
    text = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    if text is None:
        text = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return text if greedy else f"{text}?"
