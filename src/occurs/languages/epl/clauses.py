"""The clauses of EPL statements and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from occurs.expr.dialect import EPL
from occurs.expr.render import name_text
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal, Ref, Unary, conjuncts
from occurs.languages.epl import syntax
from occurs.languages.epl.define import Epl
from occurs.languages.epl.render.expressions import expr_text
from occurs.languages.kit.clauses import (
    Clause,
    Declaration,
    Edit,
    Evidence,
    Loosening,
    RuleClauses,
    Source,
    Splice,
    Uses,
    Where,
    comparison,
    declarations,
    distinct,
    duration_of,
    of_text,
    span_of,
    spliced,
)
from occurs.model.time import Duration, TimeKind, floor_ticks
from occurs.model.types import Type

#: what ends a statement
ENDING = ";\n"
#: a condition that is always true
TRUE = "0 = 0"
#: the name of a row that is bound only to be shown
BLOCKER = "occurs_blocker"
#: by so much at most a count that may grow is raised
MOST = 40
#: units as EPL spells them
UNITS = {"us": "usec", "ms": "msec", "s": "sec", "min": "min", "h": "hour", "d": "day"}
_GUARD = re.compile(r"timer\s*:\s*within(max)?\s*\(", re.IGNORECASE)
_BOUNDS = re.compile(r"\[[^\[\]]*\]")
_CONSUME = re.compile(r"\s*@consume(\s*\(\s*\d+\s*\))?\s*\Z", re.IGNORECASE)
_LIMIT = re.compile(r"-\[\s*\d+\s*\]>")


def rules(part: Epl, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all statements, in the order of the text."""
    out = []
    for resolved, (text, statement) in zip(part.queries, part.at, strict=True):
        written = part.texts.files[text].statements[statement]
        assert isinstance(written, syntax.Query)
        out.append(_Statement(resolved, written, text, Text(texts[text], None), kind).clauses())
    return out


def declared(part: Epl, texts: Sequence[str]) -> list[Declaration]:
    """Where texts declare the types of their input."""
    files = [file.statements for file in part.texts.files]
    return declarations(files, texts, lambda s: s.name if isinstance(s, syntax.CreateSchema) else None)


class _Statement:
    def __init__(self, resolved: Any, query: syntax.Query, text: int, source: Text, kind: TimeKind):
        self.resolved, self.query, self.number, self.source, self.kind = resolved, query, text, source, kind
        self.text = source.text
        self.start, self.stop = source.offsets(of_text(query.span))
        filters = [n for n in query.pattern.walk() if isinstance(n, syntax.Filter)]
        self.roles = {id(f): f.tag.text if f.tag else f"#{i}" for i, f in enumerate(filters, 1)}
        self.types = {self.roles[id(f)]: f.type.text for f in filters}

    def clauses(self) -> RuleClauses:
        found = distinct(self._all())
        positive: set[str] = set()
        negative: set[str] = set()
        for node, good in _signed(self.query.pattern, True):
            if isinstance(node, syntax.Filter):
                (positive if good else negative).add(node.type.text)
        negative |= set(self.resolved.reads) - positive
        return RuleClauses(
            self.number, self.start, self.stop, self.resolved.name, self.resolved.title or None, tuple(found),
            frozenset(positive), frozenset(negative), renamed=self._renamed, named=self._named,
            loosened=self._loosened(found), chooses=True, counts=not self._independent,
            durations=tuple(self._durations()), constants=tuple(self._constants()),
            reach=self._reach(), fixed=self._fixed(), uses=self._uses(),
            ends=self._completing(self.query.pattern, None),
        )  # fmt: skip

    # -- facts -------------------------------------------------------------------------------------------------------
    def _ticks(self, duration: Duration) -> int:
        if isinstance(duration, syntax.Computed):
            return 0
        return floor_ticks(self.kind.convert(duration) or 0)  # type: ignore[arg-type]

    def _reach(self) -> int | None:
        """How far back a match reaches, if a guard or the pattern itself bounds it."""

        def length(p: syntax.Pattern) -> int | None:
            if isinstance(p, syntax.Within | syntax.Interval) and isinstance(p.duration, syntax.Computed):
                return None
            if isinstance(p, syntax.Within):
                return self._ticks(p.duration)
            if isinstance(p, syntax.Filter | syntax.Every | syntax.EveryDistinct):
                below = [length(c) for c in p.children]
                return 0 if not below else below[0]
            if isinstance(p, syntax.Interval):
                return self._ticks(p.duration)
            return None

        every = isinstance(self.query.pattern, syntax.Every) or self.query.simple
        return length(self.query.pattern) if every else None

    @property
    def _steps(self) -> tuple[syntax.Pattern, ...] | None:
        """The steps of `every p1 -> p2 ..`, `every (p1 -> p2 ..)` and `p1 -> p2 ..` of which each binds one row or
        none; None: the pattern is another."""
        root = self.query.pattern
        inner = root.operand if isinstance(root, syntax.Every) else root
        steps = inner.operands if isinstance(inner, syntax.Followed) else (inner,)
        first, rest = steps[0], steps[1:]
        first = first.operand if isinstance(first, syntax.Every) and inner is root else first
        if self.query.simple or not isinstance(first, syntax.Filter):
            return None
        return (first, *rest) if all(_one_row(p) for p in rest) else None

    @property
    def _independent(self) -> bool:
        """Whether each row of the first step begins a search of its own, which no other search decides."""
        root = self.query.pattern
        first = root.operands[0] if isinstance(root, syntax.Followed) else root
        limited = isinstance(root, syntax.Followed) and any(n is not None for n in root.limits)
        taken = any(isinstance(n, syntax.Filter) and n.consume for n in root.walk())
        alone = isinstance(first, syntax.Every) and isinstance(first.operand, syntax.Filter)
        return alone and not (limited or taken or self.query.suppress or self.query.discard)

    def _loosened(self, found: Sequence[Clause]) -> tuple[Loosening, ...] | None:
        """Every choice, restart and absence dropped, and a search for each row of the later steps, too."""
        steps = self._steps
        if steps is None:
            return None
        edits = [c.drop for c in found if c.kind in ("choice", "restart", "absence") and c.drop is not None]
        for step in steps[1:]:
            for node, good in _signed(step, True):
                if good and isinstance(node, syntax.Filter):
                    at = self.source.offsets(of_text(node.span))[0]
                    edits.append(Edit((Splice(at, at, "every "),)))
        return tuple(Loosening(e, always=True) for e in edits)

    def _completing(
        self, node: syntax.Pattern, before: frozenset[tuple[str, int]] | None
    ) -> frozenset[tuple[str, int]] | None:
        """The types of the rows that complete a part of the pattern, and how long before; ``before``: those that
        complete the part before it; None: another time completes it, too."""
        if isinstance(node, syntax.Filter):
            return frozenset({(node.type.text, 0)})
        if isinstance(node, syntax.Interval):
            if before is None or isinstance(node.duration, syntax.Period | syntax.Computed):
                return None
            return frozenset((t, lag + self._ticks(node.duration)) for t, lag in before)
        if isinstance(node, syntax.Followed):
            for operand in node.operands:
                before = self._completing(operand, before)
            return before
        if isinstance(node, syntax.Every | syntax.EveryDistinct | syntax.Repeat):
            if any(isinstance(n, syntax.Interval) for n in node.walk()) and before is not None:
                return None  # an interval begins again when it has passed
            return self._completing(node.operand, None)
        if isinstance(node, syntax.Within | syntax.While):
            return self._completing(node.operand, before)
        if isinstance(node, syntax.And | syntax.Or | syntax.Until):
            absent = syntax.Not if isinstance(node, syntax.And) else ()
            parts = [self._completing(p, before) for p in node.children if not isinstance(p, absent)]
            known = [p for p in parts if p is not None]
            return frozenset().union(*known) if known and len(known) == len(parts) else None
        return None

    def _uses(self) -> Uses:
        """The names that the pattern and the columns use; `*` keeps names."""
        named = {i.name.text: i.expr for i in self.query.items if i.name is not None}
        unnamed = [i.expr for i in self.query.items if i.name is None]
        return Uses.of((self.query.pattern, self.query.where, self.query.order, *unnamed), named)

    def _durations(self) -> Iterator[int]:
        for n in self.query.pattern.walk():
            if isinstance(n, syntax.Within | syntax.Interval) and not isinstance(n.duration, syntax.Computed):
                yield self._ticks(n.duration)
            elif isinstance(n, syntax.EveryDistinct) and n.expiry is not None:
                yield self._ticks(n.expiry)

    def _expressions(self) -> Iterator[Expr]:
        for n in self.query.pattern.walk():
            if isinstance(n, syntax.Filter):
                yield from n.conditions
            elif isinstance(n, syntax.While):
                yield n.condition
        if self.query.where is not None:
            yield self.query.where

    def _constants(self) -> Iterator[Any]:
        for e in self._expressions():
            for n in e.walk():
                if isinstance(n, Literal) and n.type is not Type.NULL:
                    yield n.value
                elif isinstance(n, Unary) and isinstance(n.arg, Literal) and isinstance(n.arg.value, int | float):
                    yield -n.arg.value

    def _fixed(self) -> dict[str, tuple[Any, int]]:
        """The columns that are constants, and where they are assigned."""
        out = {}
        for item in self.query.items:
            if isinstance(item.expr, Literal) and item.name is not None:
                out[item.name.text] = item.expr.value, self.source.offsets(of_text(item.span))[0]
        return out

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        for node, good in _signed(self.query.pattern, True):
            if good:
                yield from self._node(node)
        yield from self._root()
        if self.query.where is not None:
            for part in conjuncts(self.query.where):
                yield self._condition(part, None)

    def _node(self, node: syntax.Pattern) -> Iterator[Clause]:
        if isinstance(node, syntax.Filter):
            yield from self._filter(node)
        elif isinstance(node, syntax.While):
            for part in conjuncts(node.condition):
                yield self._condition(part, None)
        elif isinstance(node, syntax.Within):
            yield from self._within(node)
        elif isinstance(node, syntax.Repeat | syntax.Until):
            yield from self._counted(node)
        elif isinstance(node, syntax.And):
            yield from self._absences(node)
        elif isinstance(node, syntax.EveryDistinct):
            start, _ = self.source.offsets(of_text(node.span))
            stop = self._closing(self.text.index("(", start)) + 1
            drop = Edit((Splice(start, stop, "every"),), "every")
            written = self.text[start:stop]
            message = f"`{written}` leaves it out: a row with the same values was matched before"
            yield Clause("choice", start, stop, written, drop, needed="every", detail={"message": message})
        elif isinstance(node, syntax.Followed):
            for i, limit in enumerate(node.limits):
                if limit is not None:
                    low, high = self._extent(node.operands[i])[1], self._extent(node.operands[i + 1])[0]
                    found = _LIMIT.search(self.text, low, high)
                    assert found is not None
                    drop = Edit((Splice(*found.span(), "->"),), "->")
                    message = f"`{found[0]}` leaves it out: {limit} partial matches were already open"
                    yield Clause("choice", *found.span(), found[0], drop, needed="->", detail={"message": message})

    def _filter(self, node: syntax.Filter) -> Iterator[Clause]:
        role = self.roles[id(node)]
        start, stop = self.source.offsets(of_text(node.type.span))
        parts = [p for c in node.conditions for p in conjuncts(c)]
        tests = [(self.source.piece(of_text(span_of(p))), None) for p in parts]
        yield Clause("missing", start, stop, node.type.text, role=role, type=node.type.text, detail={"tests": tests})
        for part in parts:
            yield self._condition(part, node)
        if node.consume:
            first, last = self.source.offsets(of_text(node.span))
            found = _CONSUME.search(self.text, first, last)
            if found is not None:
                at = found.start() + len(found[0]) - len(found[0].lstrip())
                drop = Edit((Splice(at, found.end(), ""),))
                message = "a filter with a higher level of `@consume` took the row"
                yield Clause("choice", at, found.end(), self.text[at : found.end()], drop, role=role,
                             needed="removed", detail={"message": message})  # fmt: skip

    def _condition(self, part: Expr, node: syntax.Filter | None) -> Clause:
        drop = Edit((Splice(*self.source.offsets(of_text(span_of(part))), TRUE),))
        role = None if node is None else self.roles[id(node)]
        if role is None:
            tags = [n.scope for n in part.walk() if isinstance(n, Ref) and n.scope is not None]
            role = tags[-1] if tags else next(iter(self.roles.values())) if self.query.simple else None

        def where(expr: Expr) -> Where | None:
            if not isinstance(expr, Ref):
                return None
            scope = role if expr.scope is None else expr.scope
            return (f"{scope}[{expr.index}]" if expr.index is not None else scope), expr.name

        def source(expr: Expr) -> Source | None:
            if not isinstance(expr, Ref):
                return None
            own = node if node is not None else self.only
            scope = self.roles[id(own)] if expr.scope is None and own is not None else expr.scope
            type = self.types.get(str(scope))
            return None if type is None else Source(f"{scope}[{expr.index}]", type, expr.name)

        def shown(expr: Expr) -> str:
            if isinstance(expr, Ref) and expr.scope is None and node is not None:
                return f"{node.type.text}.{expr.name}"
            return expr_text(expr)

        return comparison(
            self.text, lambda s: self.source.offsets(of_text(s)), part, drop, role, self.kind, where=where, shown=shown,
            duration=lambda t: duration_of(t, self.kind, UNITS), source=source, dialect=EPL,
        )  # fmt: skip

    @property
    def only(self) -> syntax.Filter | None:
        """The filter of a statement without a pattern."""
        found = (n for n in self.query.pattern.walk() if isinstance(n, syntax.Filter))
        return next(found) if self.query.simple else None

    def _within(self, node: syntax.Within) -> Iterator[Clause]:
        start, stop = self.source.offsets(of_text(node.span))
        guard = list(_GUARD.finditer(self.text, start, stop))[-1]
        close = self._closing(guard.end() - 1)
        inside = self.text[guard.end() : close]
        length = inside.rsplit(",", 1)[0] if node.count is not None else inside
        at = guard.end() + len(length) - len(length.lstrip()), guard.end() + len(length.rstrip())
        limit = self._ticks(node.duration)

        def moved(ticks: Any) -> Edit | None:
            if ticks is None or ticks < limit:  # the bound is exclusive
                return None
            text = duration_of(int(ticks) + 1, self.kind, UNITS)
            return Edit((Splice(*at, text),), text, int(ticks) + 1 - limit)

        first, last = self._ends(node.operand)
        if isinstance(node.duration, syntax.Period | syntax.Computed):
            return  # no row is known to be too late by so much
        steps = [*self.roles.values()]
        before = [
            n.operands[i - 1] for n in self.query.pattern.walk() if isinstance(n, syntax.Followed)
            for i, p in enumerate(n.operands) if p is node and i
        ]  # fmt: skip
        if before:  # the guard begins when the step before it has matched
            first = self._ends(before[0])[1]
        elif first == last and first is not None and steps.index(first):
            first = steps[steps.index(first) - 1]
        yield Clause(
            "window", *at, self.text[slice(*at)], None, None, moved, role=last, reference=first,
            needed=f"within {self.text[slice(*at)]}", detail={"limit": limit, "backwards": True, "exact": limit - 1},
        )  # fmt: skip
        if node.count is not None:
            low = guard.end() + len(length) + 1
            written = self.text[low:close]
            place = low + len(written) - len(written.lstrip()), low + len(written.rstrip())
            edits = tuple(
                Edit((Splice(*place, str(n)),), str(n), n - node.count)
                for n in range(node.count + 1, node.count + MOST)
            )
            yield Clause("count", *place, self.text[slice(*place)], others=edits, subject="matches")

    def _ends(self, node: syntax.Pattern) -> tuple[str | None, str | None]:
        filters = [n for n in node.walk() if isinstance(n, syntax.Filter)]
        good = [n for n, sign in _signed(node, True) if isinstance(n, syntax.Filter) and sign]
        chosen = good or filters
        return (self.roles[id(chosen[0])], self.roles[id(chosen[-1])]) if chosen else (None, None)

    def _counted(self, node: syntax.Repeat | syntax.Until) -> Iterator[Clause]:
        low = node.count if isinstance(node, syntax.Repeat) else node.low
        if not isinstance(low, int) or syntax.computed(node):
            return
        start, stop = self.source.offsets(of_text(node.span))
        at = self.text.rfind("[", max(self.start, start - 20), start + 1) if self.text[start] != "[" else start
        found = _BOUNDS.search(self.text, at if at >= 0 else start, stop)
        if found is None:
            return
        both = isinstance(node, syntax.Repeat) or node.low == node.high
        high = "" if isinstance(node, syntax.Repeat) or node.high is None else str(node.high)
        edits = []
        for n in range(low - 1, 0, -1):
            text = f"[{n}]" if both and ":" not in found[0] else f"[{n}:{n}]" if both else f"[{n}:{high}]"
            edits.append(Edit((Splice(*found.span(), text),), text, low - n))
        if not both:
            text = f"[:{high}]" if high else ""
            edits.append(Edit((Splice(*found.span(), text),), text, low))
        role = self._ends(node.children[0])[0]
        what = " ".join(self.text[slice(*self._extent(node.children[0]))].split())
        yield Clause("count", *found.span(), found[0], others=tuple(edits), role=role, subject=what,
                     detail={"needed": low})  # fmt: skip

    def _absences(self, node: syntax.And) -> Iterator[Clause]:
        extents = [self._extent(p) for p in node.operands]
        for i, operand in enumerate(node.operands):
            if not isinstance(operand, syntax.Not):
                continue
            start, stop = self.source.offsets(of_text(operand.span))
            splice = Splice(extents[i - 1][1], extents[i][1], "") if i else Splice(extents[0][0], extents[1][0], "")
            inner = operand.operand
            evidence = None
            type = inner.type.text if isinstance(inner, syntax.Filter) else None
            if isinstance(inner, syntax.Filter):
                first = self.source.offsets(of_text(inner.span))[0]
                role = inner.tag.text if inner.tag else BLOCKER
                shown = Edit((Splice(start, first, "" if inner.tag else f"{role}="),))
                evidence = Evidence(lambda names, shown=shown: shown, role)  # type: ignore[misc]
            yield Clause("absence", start, stop, self.text[start:stop], Edit((splice,)), needed="none",
                         evidence=evidence, type=type)  # fmt: skip

    def _root(self) -> Iterator[Clause]:
        query, root = self.query, self.query.pattern
        head = self.text[self.start : self.source.offsets(of_text(root.span))[0]]
        for flag, word in ((query.suppress, "@SuppressOverlappingMatches"), (query.discard, "@DiscardPartialsOnMatch")):
            if flag:
                at = self.start + head.lower().index(word.lower())
                drop = Edit((Splice(at, at + len(word), ""),))
                yield Clause("choice", at, at + len(word), word, drop, needed="removed",
                             detail={"suppresses": query.suppress and word.startswith("@Sup"),
                                     "message": f"the match was dropped by `{word}`"})  # fmt: skip
        if query.simple:
            return
        start, stop = self.source.offsets(of_text(root.span))
        if isinstance(root, syntax.Every) and isinstance(root.operand, syntax.Followed):
            whole = self._extent(root.operand)
            first = root.operand.operands[0]
            inner = self.source.offsets(of_text(root.operand.span))
            low, high = self._extent(first)
            one = self.text[low:high]
            simple = isinstance(first, syntax.Filter) or (one.startswith("(") and self._closing(low) == high - 1)
            splices = [
                Splice(whole[0], inner[0], ""), Splice(inner[1], whole[1], ""),
                *(() if simple else (Splice(low, low, "("), Splice(high, high, ")"))),
            ]  # fmt: skip
            repair = spliced(self.text, splices, start, max(stop, whole[1]))
            edit = Edit(tuple(splices), repair)
            word = "every"
            yield Clause("restart", start, start + len(word), word, edit, needed="a new search", detail={"busy": True})
            return
        step = _first(root)
        if step is not None:
            low, high = self._extent(step)
            one = self.text[low:high]
            simple = isinstance(step, syntax.Filter) or (one.startswith("(") and self._closing(low) == high - 1)
            splices = [
                Splice(low, low, "every " if simple else "every ("),
                *(() if simple else (Splice(high, high, ")"),)),
            ]
            repair = spliced(self.text, splices, min(start, low), max(stop, high))
            yield Clause(
                "restart", start, stop, self.text[start:stop], Edit(tuple(splices), repair), needed="a new search"
            )

    # -- places ------------------------------------------------------------------------------------------------------
    def _extent(self, node: syntax.Pattern) -> tuple[int, int]:
        """The place of a pattern with the parentheses around it."""
        start, stop = self.source.offsets(of_text(node.span))
        while True:
            before = len(self.text[:start].rstrip())
            after = stop + len(self.text[stop:]) - len(self.text[stop:].lstrip())
            if before == 0 or self.text[before - 1] != "(" or after >= len(self.text) or self.text[after] != ")":
                return start, stop
            if re.search(r"(every-distinct|timer\s*:\s*\w+|while)\s*\Z", self.text[: before - 1], re.IGNORECASE):
                return start, stop
            start, stop = before - 1, after + 1

    def _closing(self, at: int) -> int:
        """Where the parenthesis that opens at a place is closed."""
        depth, quote = 0, ""
        for i in range(at, len(self.text)):
            c = self.text[i]
            if quote:
                quote = "" if c == quote and self.text[i - 1] != "\\" else quote
            elif c in "'\"`":
                quote = c
            elif c in "([":
                depth += 1
            elif c in ")]":
                depth -= 1
                if depth == 0:
                    return i
        return len(self.text)

    # -- other texts of the statement --------------------------------------------------------------------------------
    def _named(self, name: str) -> list[Splice]:
        """The output under a name, without a title that another copy has, too."""
        query = self.query
        out = [
            Splice(*self.source.offsets(of_text(a.span)), "")
            for a in query.annotations
            if a.name.text.lower() == "name"
        ]
        if query.into is not None:
            return [*out, Splice(*self.source.offsets(of_text(query.into.span)), name_text(name))]
        marks = [self.source.offsets(of_text(a.span))[1] for a in query.annotations]
        found = re.compile(r"\bselect\b", re.IGNORECASE).search(self.text, max([self.start, *marks]), self.stop)
        assert found is not None
        return [*out, Splice(found.start(), found.start(), f"insert into {name_text(name)} ")]

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        out = []
        for node in self.query.pattern.walk():
            if isinstance(node, syntax.Filter) and node.type.text in names:
                out.append(Splice(*self.source.offsets(of_text(node.type.span)), name_text(names[node.type.text])))
        return out


def _signed(node: syntax.Pattern, good: bool) -> Iterator[tuple[syntax.Pattern, bool]]:
    """All parts of a pattern, and whether each stands positively."""
    yield node, good
    if isinstance(node, syntax.Not):
        yield from _signed(node.operand, not good)
    elif isinstance(node, syntax.Until):
        yield from _signed(node.operand, good)
        yield from _signed(node.end, not good)
    else:
        for child in node.children:
            yield from _signed(child, good)


def _one_row(step: syntax.Pattern) -> bool:
    """Whether a step of a pattern binds one row, or waits for an interval; guards and absences aside."""
    if isinstance(step, syntax.Within | syntax.While):
        return (not isinstance(step, syntax.Within) or step.count is None) and _one_row(step.operand)
    if isinstance(step, syntax.And):
        present = [p for p in step.operands if not isinstance(p, syntax.Not)]
        return len(present) == 1 and _one_row(present[0])
    return isinstance(step, syntax.Filter | syntax.Interval)


def _first(node: syntax.Pattern) -> syntax.Pattern | None:
    """The first step of a pattern; None if it is under `every`, or no search begins with it."""
    if isinstance(node, syntax.Every | syntax.EveryDistinct):
        return None
    if isinstance(node, syntax.Followed):
        return _first(node.operands[0])
    if isinstance(node, syntax.Within | syntax.While):
        return _first(node.operand)
    if any(isinstance(n, syntax.Every | syntax.EveryDistinct) for n in node.walk()):
        return None
    return node


def copied(file: syntax.File, name: str, output: str | None, names: Mapping[str, str]) -> syntax.File:
    """A file with other names: its own ``name``, the ``output`` of its statement, the types that it reads."""

    def pattern(p: Any) -> Any:
        if isinstance(p, syntax.Filter):
            return replace(p, type=replace(p.type, text=names[p.type.text])) if p.type.text in names else p
        if isinstance(p, syntax.Until):
            return replace(p, operand=pattern(p.operand), end=pattern(p.end))
        if hasattr(p, "operands"):
            return replace(p, operands=tuple(map(pattern, p.operands)))
        return replace(p, operand=pattern(p.operand)) if hasattr(p, "operand") else p

    def statement(s: syntax.Statement) -> syntax.Statement:
        if isinstance(s, syntax.CreateSchema):
            return replace(s, name=replace(s.name, text=names.get(s.name.text, s.name.text)))
        if isinstance(s, syntax.CreateVariable):
            return s
        marks = tuple(a for a in s.annotations if a.name.text.lower() != "name")
        into = s.into if output is None else syntax.Name(output, s.span if s.into is None else s.into.span)
        return replace(s, pattern=pattern(s.pattern), into=into, annotations=marks)

    return replace(file, file=name, statements=tuple(map(statement, file.statements)))
