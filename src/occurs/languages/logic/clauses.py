"""The clauses of temporal triggers (FTL, PTL) and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from occurs.expr.dialect import LOGIC
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Expr, Literal, Ref, Unary, rewrite
from occurs.languages.kit.clauses import (
    Clause,
    Declaration,
    Edit,
    RuleClauses,
    Seen,
    Source,
    Splice,
    Where,
    Whole,
    comparison,
    declarations,
    distinct,
    duration_of,
    of_text,
    reading,
    sign_of,
)
from occurs.languages.logic import syntax
from occurs.languages.logic.checks import ResolvedTrigger
from occurs.languages.logic.define import Logic
from occurs.languages.logic.reading import Read, State, followed
from occurs.languages.logic.render import render
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

#: what ends a statement
ENDING = ";\n"
_STRATEGY = re.compile(r"\b(reactivate|continue)\b", re.IGNORECASE)
_GAP = re.compile(r"\bat\s+most\s+every\b", re.IGNORECASE)
#: between the variable that remembers a value and what it was read from
_AT = "@"
_QUOTED = re.compile(r"\"([^\"\n]|\"\")*\"|'([^'\n]|'')*'|(#|--)[^\n]*")


def rules(part: Logic, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all triggers, in the order of the text."""
    out = []
    for resolved, (text, _), read in zip(part.triggers, part.at, part.nodes, strict=True):
        out.append(_Trigger(part, resolved, text, Text(texts[text], None), kind, read.now).clauses())
    return out


def declared(part: Logic, texts: Sequence[str]) -> list[Declaration]:
    """Where texts declare their input, views and constants."""

    def written(s: syntax.Definition, name: str) -> str:
        return render(replace(s, name=syntax.Name(name))).rstrip().removesuffix(";")

    files = [file.definitions for file in part.texts.files]
    return declarations(files, texts, lambda s: None if isinstance(s, syntax.Trigger) else s.name, written)


class _Trigger:
    def __init__(
        self, part: Logic, resolved: ResolvedTrigger, text: int, source: Text, kind: TimeKind, reads: frozenset[str]
    ) -> None:
        self.part, self.resolved, self.trigger = part, resolved, resolved.trigger
        self.number, self.source, self.kind, self.reads = text, source, kind, reads
        self.text = source.text
        self.start, self.stop = source.offsets(of_text(self.trigger.span))
        formulas = [f for f in _all(self.trigger.formula) if isinstance(f, syntax.Assign)]
        several = Counter(f.variable.text for f in formulas)
        #: the terms of variables that are assigned once
        self.assigned = {f.variable.text: f.term for f in formulas if several[f.variable.text] == 1}

    def clauses(self) -> RuleClauses:
        found = distinct(self._all())
        positive = {c.type for c in found if c.kind == "missing" and c.type is not None} | set(self.reads)
        return RuleClauses(
            self.number, self.start, self.stop, self.resolved.name, self.trigger.name.text, tuple(found),
            frozenset(positive), renamed=self._renamed, named=self._named, durations=tuple(self._durations()),
            constants=tuple(self._constants()), whole=self._whole(), followed=self._followed,
            observes=self.trigger.observing is not None and self.trigger.observing.every is None,
        )  # fmt: skip

    def _whole(self) -> Whole:
        """The conjuncts of the formula; the generic variables, as far as the output has them."""
        trigger = self.trigger
        parts = tuple(self.source.offsets(of_text(p.span)) for p in _conjuncts(trigger.formula))
        generics = [name for name, _ in self.resolved.generics]
        keys = {n: n for n in generics}
        if trigger.emit is not None:
            emitted = {e.name: n.text for n, e in trigger.emit.arguments if isinstance(e, Ref) and e.scope is None}
            keys = {n: emitted[n] for n in generics if n in emitted}
        observed = self.resolved.reads if trigger.observing is None else ()
        apart = trigger.each is not None and trigger.each.sql is None
        return Whole(trigger.name.text, parts, not trigger.past, keys, observed, apart)

    def _followed(
        self, states: Sequence[tuple[int, Mapping[str, Any]]], times: Sequence[int] = ()
    ) -> list[Seen] | None:  # fmt: skip
        """The conditions of the formula at the states of one way to be satisfied."""
        constants = {name: c.value.value for name, c in self.part.analysis.constants.items()}
        read = followed(
            self.trigger.formula, [State(*s) for s in states], self.kind, past=self.trigger.past, constants=constants,
            events=self.part.analysis.events, word=self._word, times=times,
        )  # fmt: skip
        return None if read is None else [self._seen(r) for r in read]

    def _word(self, node: syntax.Formula) -> str:
        """A temporal operator as it is written."""
        name = type(node).__name__.lower()
        if isinstance(node, syntax.Since | syntax.Until | syntax.Release):
            return name
        if isinstance(node, syntax.WeakUntil):
            return "weak until"
        found = re.compile(r"[A-Za-z]+").match(self.text, self.source.offsets(of_text(node.span))[0])
        return name if found is None else found[0].lower()

    def _seen(self, read: Read) -> Seen:
        if read.apart is not None:
            bound: Any = getattr(read.node, "bound", None)
            place = self.source.offsets(of_text(bound.span))
            return Seen("window", place[0], read.state, read.path, right=self.text[slice(*place)], apart=read.apart)
        start, stop = self.source.offsets(of_text(read.node.span))
        if isinstance(read.node, syntax.Exists):
            return Seen("condition", start, read.state, read.path, holds=read.holds, text=self.text[start:stop])
        left, value, op, right, wanted = read.parts(lambda e: self.source.piece(of_text(e.span)))  # type: ignore[attr-defined]
        return Seen("comparison", start, read.state, read.path, left, value, op, right, wanted, holds=read.holds,
                    text=self.text[start:stop])  # fmt: skip

    def _ticks(self, duration: Duration) -> int:
        return math.floor(self.kind.convert(duration) or 0)

    def _durations(self) -> Iterator[int]:
        for node in _all(self.trigger.formula):
            bound = getattr(node, "bound", None)
            if isinstance(bound, syntax.Bound):
                yield self._ticks(bound.first)
                if bound.second is not None:
                    yield self._ticks(bound.second)
        if self.trigger.gap is not None:
            yield self._ticks(self.trigger.gap)

    def _constants(self) -> Iterator[Any]:
        for node in self.trigger.formula.walk():
            if isinstance(node, Literal) and node.type is not Type.NULL:
                yield node.value
            elif isinstance(node, Unary) and isinstance(node.arg, Literal) and isinstance(node.arg.value, int | float):
                yield -node.arg.value

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        yield from self._walk(self.trigger.formula, True)
        yield from self._strategy()

    def _walk(self, node: syntax.Formula, good: bool) -> Iterator[Clause]:
        if good:
            yield from self._node(node)
        if isinstance(node, syntax.Implies):
            yield from self._walk(node.left, not good)
            yield from self._walk(node.right, good)
            return
        for part in node.parts:
            yield from self._walk(part, good != isinstance(node, syntax.Not))

    def _node(self, node: syntax.Formula) -> Iterator[Clause]:
        span: Any = getattr(node, "span", None)
        if isinstance(node, syntax.Compare):
            yield self._comparison(node)
        elif isinstance(node, syntax.Not):
            place = self.source.offsets(of_text(span))
            type = self._event_of(node.operand)
            yield Clause("absence", *place, self.text[slice(*place)], Edit((Splice(*place, "true"),), "true"),
                         needed="none", type=type, detail={"bound": self._bounds(node.operand)})  # fmt: skip
        elif isinstance(node, syntax.Implies):
            place = self.source.offsets(of_text(node.left.span))
            yield Clause("absence", *place, self.text[slice(*place)], Edit((Splice(*place, "false"),), "false"),
                         needed="false", type=self._event_of(node.left),
                         detail={"bound": self._bounds(node.left)})  # fmt: skip
        elif isinstance(node, syntax.Atom):
            yield from self._atom(node)
        bound = getattr(node, "bound", None)
        raised = isinstance(node, syntax.Eventually | syntax.Previously | syntax.Until | syntax.Since)
        if raised and isinstance(bound, syntax.Bound):
            yield from self._bound(bound)
        for apply in self._applied(node):
            name, place = apply
            yield Clause("missing", *place, name, type=name, role="state")

    def _event_of(self, node: syntax.Formula) -> str | None:
        """The type of the event that a formula is, at one state or at some; None if it is another formula."""
        node = _within(node)
        name = getattr(node.term, "name", None) if isinstance(node, syntax.Atom) else None
        return name if name in self.part.analysis.events else None

    def _bounds(self, node: syntax.Formula) -> dict[str, list[tuple[Any, ...]]]:
        """Per attribute of a negated event the values that it is compared with: a constant, what a variable remembers,
        or what the trigger emits."""
        node = _within(node)
        term: Any = node.term if isinstance(node, syntax.Atom) else None
        schema = self.part.schemas.get(str(getattr(term, "name", "")))
        if schema is None or not isinstance(term, syntax.Apply):
            return {}
        emit = self.trigger.emit
        out: dict[str, list[tuple[Any, ...]]] = {}
        for given, argument, at in zip(term.names, term.args, range(len(term.args)), strict=True):
            found: list[tuple[Any, ...]] = []
            if (literal := sign_of(argument)) is not None or isinstance(argument, Literal):
                found.append(("is", (argument if literal is None else literal).value))  # type: ignore[attr-defined]
            elif isinstance(argument, Ref) and argument.scope is None:
                emitted = [] if emit is None else [n.text for n, e in emit.arguments if e == argument]
                found += [("variable", argument.name), *(("out", n) for n in [*emitted, argument.name])]
            out[given or schema.names[at]] = found
        return out

    def _applied(self, node: syntax.Formula) -> Iterator[tuple[str, tuple[int, int]]]:
        """The declared tables with keys whose rows a formula looks up."""
        for term in node.children:
            if isinstance(term, syntax.Formula):
                continue
            for n in term.walk():
                if isinstance(n, syntax.Apply) and n.name in self.part.analysis.tables and n.span is not None:
                    start, _ = self.source.offsets(n.span)
                    yield n.name, (start, start + len(n.name))

    def _atom(self, node: syntax.Atom) -> Iterator[Clause]:
        term: Any = node.term
        name = str(getattr(term, "name", ""))
        if name in self.part.analysis.events or (name in self.reads and name not in self.part.analysis.tables):
            start, _ = self.source.offsets(of_text(term.span))
            tests = []
            if isinstance(term, syntax.Apply):
                tests = [
                    (f"{n} = {self.source.piece(of_text(a.span))}" if n else self.source.piece(of_text(a.span)), None)  # type: ignore[attr-defined]
                    for n, a in zip(term.names, term.args, strict=True)
                ]
            yield Clause("missing", start, start + len(name), name, type=name, role="state", detail={"tests": tests})

    def _comparison(self, node: syntax.Compare) -> Clause:
        span = of_text(node.span)
        part = Binary(node.op, node.left, node.right, span=span)
        drop = Edit((Splice(*self.source.offsets(span), "true"),), "true")

        def where(expr: Expr) -> Where | None:
            if isinstance(expr, Ref):
                return "state", expr.name if expr.scope is None else f"{expr.scope}.{expr.name}"
            return None

        made = comparison(
            self.text, lambda s: self.source.offsets(of_text(s)), part, drop, "state", self.kind, where=where,
            shown=lambda e: self.source.piece(of_text(e.span)),  # type: ignore[attr-defined]
            duration=lambda t: duration_of(t, self.kind),
        )  # fmt: skip
        if made.kind != "threshold":
            return made
        other = node.right if sign_of(node.left) is not None else node.left
        found = reading(self._remembered(other, {}), _source, LOGIC)
        observing = self.trigger.observing
        if found is not None and observing is not None and observing.every is not None:
            found = replace(found, every=self._ticks(observing.every))
        return replace(made, reading=found)

    def _remembered(self, term: Expr, known: Mapping[str, Expr]) -> Expr:
        """A term with constants, and with the terms that variables remember, each of a state of its own, in place of
        their names."""

        def rule(e: Expr) -> Expr | None:
            if not isinstance(e, Ref):
                return None
            if e.scope is None and e.name in self.assigned:
                if e.name in known:
                    return known[e.name]
                inner = self._remembered(self.assigned[e.name], {**known, e.name: e})
                name = e.name
                return rewrite(
                    inner,
                    lambda r: replace(r, scope=f"{name}{_AT}{r.scope or ''}") if isinstance(r, Ref) else None,
                )
            constant = self.part.analysis.constants.get(e.name) if e.scope is None else None
            return None if constant is None else constant.value

        return rewrite(term, rule)

    def _bound(self, bound: syntax.Bound) -> Iterator[Clause]:
        place = self.source.offsets(of_text(bound.span))
        written = self.text[slice(*place)]
        upper = bound.second if bound.op == "in" else bound.first if bound.op in ("<=", "<") else None
        if upper is None:
            return
        found = re.match(r"[-–—‐−]?\s*within\b[\s\-–—‐−]*", written, re.IGNORECASE)
        if found is not None:
            place = place[0] + found.end(), place[1]
            written = self.text[slice(*place)]
        limit, strict = self._ticks(upper), bound.op == "<"
        numbers = list(re.finditer(r"\d+(\.\d+)?([eE][+-]?\d+)?(\s*[A-Za-z]+)?", written))
        at = place[0] + numbers[-1].start(), place[0] + numbers[-1].end()

        def moved(value: Any) -> Edit | None:
            if value is None:
                return None
            ticks = int(value) + strict
            if ticks <= limit:
                return None
            text = str(ticks) if upper.ticks else duration_of(ticks, self.kind)
            splice = Splice(*at, text)
            repair = written[: at[0] - place[0]] + text + written[at[1] - place[0] :]
            return Edit((splice,), repair, ticks - limit)

        needed = f"within {written}" if found is not None else written
        yield Clause("window", *place, written, None, None, moved, role="state", reference="activation",
                     needed=needed, detail={"exact": limit - strict})  # fmt: skip

    def _strategy(self) -> Iterator[Clause]:
        trigger = self.trigger
        behind = self.source.offsets(of_text(trigger.formula.span))[1]
        first = min((self.source.offsets(of_text(a.span))[0] for a in trigger.actions), default=self.stop)
        written = _STRATEGY.search(self.text, behind, first)
        if not trigger.continues:
            if written is not None:
                drop = Edit((Splice(*written.span(), "continue"),), "continue")
                yield Clause("choice", *written.span(), written[0], drop, needed="continue",
                             detail={"message": "the trigger had fired and was not yet active again"})  # fmt: skip
            else:
                place = self.source.offsets(of_text(trigger.name.span))
                end = behind + len(self.text[behind:first]) - len(self.text[behind:first].lstrip(" \t\n)"))
                close = behind
                for i in range(behind, end):
                    if self.text[i] == ")":
                        close = i + 1
                drop = Edit((Splice(close, close, " continue"),), "continue")
                yield Clause("choice", *place, trigger.name.text, drop, needed="continue",
                             detail={"message": "the trigger had fired and was not yet active again"})  # fmt: skip
        if trigger.gap is not None:
            found = _GAP.search(self.text, behind, first)
            assert found is not None
            tail = re.compile(r"\s*[-+]?[\d.]+([eE][+-]?\d+)?(\s*[A-Za-z]+(?=\W|\Z))?").match(
                self.text, found.end(), first
            )
            stop = tail.end() if tail is not None else found.end()
            if (
                tail is not None
                and tail[2] is not None
                and trigger.gap.ticks
                and not tail[2].strip().startswith("tick")
            ):
                stop = tail.start(2)
            drop = Edit((Splice(found.start(), stop, ""),))
            yield Clause(
                "choice", found.start(), stop, self.text[found.start() : stop], drop, needed="removed",
                detail={"gap": self._ticks(trigger.gap)},
            )  # fmt: skip

    # -- other texts of the trigger ----------------------------------------------------------------------------------
    def _named(self, name: str) -> list[Splice]:
        trigger = self.trigger
        out = [Splice(*self.source.offsets(of_text(trigger.name.span)), name)]
        for action in trigger.actions:
            if isinstance(action, syntax.Emit) and not action.never:
                out.append(Splice(*self.source.offsets(of_text(action.type.span)), name))
                out[0] = Splice(out[0].start, out[0].stop, f"{name}__by_{trigger.name.text}")
                break
        return out

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        """Types wherever they are named: in the formula, in queries and in actions."""
        own = self.source.offsets(of_text(self.trigger.name.span))
        emitted = [
            self.source.offsets(of_text(a.type.span)) for a in self.trigger.actions if isinstance(a, syntax.Emit)
        ]
        text = self.text[self.start : self.stop]
        sql = [m.span() for m in re.finditer(r"(?is)\bselect\b.*?(?=\)|;|\Z)", text)]
        hidden = [m.span() for m in _QUOTED.finditer(text) if not any(a <= m.start() < b for a, b in sql)]
        out = []
        for old, new in names.items():
            for m in re.finditer(rf"(?<![\w.$:]){re.escape(old)}(?!\w)", text):
                at = self.start + m.start(), self.start + m.end()
                if at == own or at in emitted or any(a <= m.start() < b for a, b in hidden):
                    continue
                out.append(Splice(*at, new))
        return out


def _source(leaf: Expr) -> Source | None:
    """Where a term has its values from: an attribute of the state, or of its last event of a type."""
    if not isinstance(leaf, Ref):
        return None
    *path, scope = (leaf.scope or "").split(_AT)
    return Source(_AT.join((*path, scope)), scope or None, leaf.name)


def _within(node: syntax.Formula) -> syntax.Formula:
    """What is true at some state, below operators of one operand."""
    while isinstance(node, syntax.Eventually | syntax.Previously | syntax.Nexttime | syntax.Lasttime):
        node = node.parts[0]
    return node


def _conjuncts(node: syntax.Formula) -> Iterator[syntax.Formula]:
    """The parts of a formula that must all hold, also below assignments."""
    if isinstance(node, syntax.And):
        for part in node.operands:
            yield from _conjuncts(part)
    elif isinstance(node, syntax.Assign):
        yield from _conjuncts(node.operand)
    else:
        yield node


def _all(node: syntax.Formula) -> Iterator[syntax.Formula]:
    yield node
    for part in node.parts:
        yield from _all(part)
