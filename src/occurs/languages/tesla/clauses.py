"""The clauses of TESLA rules and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from occurs.expr.render import duration_text, name_text
from occurs.expr.text import Text
from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Param, Ref, Unary, conjuncts, rewrite
from occurs.languages.kit.clauses import (
    Clause,
    Declaration,
    Edit,
    Evidence,
    Loosening,
    RuleClauses,
    Splice,
    Uses,
    comparison_edit,
    declarations,
    distinct,
    duration_of,
    number_of,
    of_text,
    sign_of,
    span_of,
    turned,
)
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks import bindings
from occurs.languages.tesla.checks.catalogue import TIMER
from occurs.languages.tesla.define import Tesla
from occurs.languages.tesla.render import render
from occurs.model.time import Duration, TimeKind, ceil_ticks, floor_ticks
from occurs.model.types import Type

#: what ends a statement
ENDING = "\n;\n"
#: a condition that is always true
TRUE = "0 = 0"
_ORDER = ("<", "<=", ">", ">=")
_AND_BEFORE = re.compile(r"(?:\band\b|∧)\s*\Z", re.IGNORECASE)
_WITHIN = re.compile(r"within\s+(.+?)\s+from\b", re.IGNORECASE | re.DOTALL)


def rules(part: Tesla, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all rules, in program order."""
    out = []
    for resolved, (text, statement) in zip(part.analysis.rules, part.at, strict=True):
        written = part.texts.files[text].statements[statement]
        assert isinstance(written, syntax.Rule)
        out.append(_Rule(resolved.rule, written, text, Text(texts[text], None), kind).clauses())
    return out


def declared(part: Tesla, texts: Sequence[str]) -> list[Declaration]:
    """Where texts declare the types of their input."""
    files = [file.statements for file in part.texts.files]
    return declarations(files, texts, lambda s: s.type if isinstance(s, syntax.EventSchema) else None)


class _Rule:
    """One rule: ``rule`` in its plain form, ``written`` as parsed."""

    def __init__(self, rule: syntax.Rule, written: syntax.Rule, text: int, source: Text, kind: TimeKind):
        self.rule, self.written, self.number, self.source, self.kind = rule, written, text, source, kind
        self.text = source.text
        self.roles = [e.role for e in rule.roles]
        self.params = bindings(rule)
        self.start, self.stop = source.offsets(of_text(rule.span))
        self.binders = self._binders()

    def clauses(self) -> RuleClauses:
        rule = self.rule
        positive = frozenset(e.type.text for e in rule.roles) - {TIMER}
        negative = frozenset(i.event.type.text for i in rule.items if isinstance(i, syntax.Negation))
        found = distinct(self._all())
        return RuleClauses(
            self.number, self.start, self.stop, rule.type.text, rule.name.text if rule.name else None, tuple(found),
            positive, negative, rule.looked_back - positive - negative | self._aggregated(),
            loosened=tuple(self._loosened(found)), renamed=self._renamed, named=self._named, probed=self._probed,
            opaque=self._opaque(), consumes=tuple(n.text for n in rule.consuming), reach=self._reach(),
            durations=tuple(self._durations()), constants=tuple(self._constants()), fixed=self._fixed(),
            gathered=tuple(self._gathered()), roles=tuple(self.roles),
            chooses=any(s.policy != "each" for s in rule.selections), counts=any(s.k > 1 for s in rule.selections),
            anchors=self._anchors(), ends=self._completing(),
            uses=Uses.of((rule.terminator, *rule.items), {a.name.text: a.expr for a in rule.where}),
        )  # fmt: skip

    # -- facts -------------------------------------------------------------------------------------------------------
    def _aggregated(self) -> frozenset[str]:
        return frozenset(n.event.type.text for n in self.rule.aggregates)

    def _anchors(self) -> frozenset[str]:
        """The type of the terminator, if nothing else reads it, and if detections do not use up rows of others."""
        own = self.rule.terminator.type.text
        return frozenset() if self.rule.consuming else frozenset({own}) - {TIMER} - self.rule.looked_back

    def _completing(self) -> frozenset[tuple[str, int]] | None:
        """The type of the terminator; None if that is a timer."""
        own = self.rule.terminator.type.text
        return None if own == TIMER else frozenset({(own, 0)})

    def _opaque(self) -> frozenset[str]:
        return frozenset(a.name.text for a in self.rule.where if _aggregates(a.expr))

    def _fixed(self) -> dict[str, tuple[Any, int]]:
        """The attributes to which constants are assigned, and where."""
        out = {}
        for a in self.rule.where:
            literal = sign_of(a.expr)
            value = literal.value if isinstance(literal, Literal) else None
            if isinstance(a.expr, Literal):
                value = a.expr.value
            if value is not None or (isinstance(a.expr, Literal) and a.expr.type is Type.NULL):
                out[a.name.text] = value, self.source.offsets(of_text(a.name.span))[0]
        return out

    def _ticks(self, duration: Duration, *, opened: bool = False) -> int:
        exact = self.kind.convert(duration) or Fraction(0)
        return ceil_ticks(exact) if opened else floor_ticks(exact)

    def _reach(self) -> int:
        depth = {self.roles[0]: 0}
        for s in self.rule.selections:
            depth[s.event.role] = depth.get(s.within.role.text, 0) + self._ticks(s.within.duration)
        most = max(depth.values())
        intervals = [i.interval for i in self.rule.items if isinstance(i, syntax.Negation)]
        intervals += [n.interval for n in self.rule.aggregates]
        for interval in intervals:
            if isinstance(interval, syntax.Within):
                most = max(most, depth.get(interval.role.text, 0) + self._ticks(interval.duration, opened=True))
        return most

    def _durations(self) -> Iterator[int]:
        for i in self.rule.items:
            within: syntax.Interval | None = None
            if isinstance(i, syntax.Selection | syntax.ExtraWithin):
                within = i.within
            elif isinstance(i, syntax.Negation):
                within = i.interval
            if isinstance(within, syntax.Within):
                yield self._ticks(within.duration)
        for e in self.rule.expressions:
            for n in e.walk():
                if isinstance(n, DurationLiteral):
                    yield self._ticks(n.value)
                elif isinstance(n, syntax.Aggregate) and isinstance(n.interval, syntax.Within):
                    yield self._ticks(n.interval.duration)

    def _constants(self) -> Iterator[Any]:
        for e in self.rule.expressions:
            for n in e.walk():
                if isinstance(n, Literal) and n.type is not Type.NULL:
                    yield n.value
                elif isinstance(n, Unary) and isinstance(n.arg, Literal) and isinstance(n.arg.value, int | float):
                    yield -n.arg.value

    def _binders(self) -> list[Expr]:
        """The constraints that bind a parameter, which test nothing."""
        out, seen = [], set()
        for event in self.rule.roles:
            for part in (p for c in event.constraints for p in conjuncts(c)):
                for name in _equated(part, (None, event.role)):
                    if name not in seen and event.type.text != TIMER:
                        seen.add(name)
                        out.append(part)
        for item in self.rule.items:
            if isinstance(item, syntax.Condition):
                for name in _equated(item.expr, self.roles):
                    if name not in seen:
                        seen.add(name)
                        out.append(item.expr)
        return out

    def _binds(self, part: Expr) -> bool:
        return any(part is b for b in self.binders)

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        rule = self.rule
        yield from self._event(rule.terminator)
        for item in rule.items:
            if isinstance(item, syntax.Selection):
                yield from self._event(item.event)
                if item.policy != "each":
                    yield self._policy(item)
                yield self._within(item.within, item.event.role)
                for part in () if item.having is None else conjuncts(item.having):
                    yield self._condition(part, item.event.role, None)
            elif isinstance(item, syntax.Negation):
                yield self._negation(item)
            elif isinstance(item, syntax.ExtraWithin):
                yield self._within(item.within, item.role.text)
            else:
                for part in conjuncts(item.expr):
                    if not self._binds(part):
                        yield self._condition(part, self._latest(part), None)
        if rule.consuming:
            yield self._consuming()

    def _event(self, event: syntax.Event) -> Iterator[Clause]:
        start, stop = self.source.offsets(of_text(event.type.span))
        if event.type.text != TIMER:
            tests = [self._test(p, event) for c in event.constraints for p in conjuncts(c) if not self._binds(p)]
            tests += [(self.source.piece(of_text(span_of(p))), None) for p in self._conditions(event.role)]
            yield Clause(
                "missing", start, stop, event.type.text, role=event.role, type=event.type.text,
                detail={"tests": tests}, reference=self._reference(event.role),
            )  # fmt: skip
        parts = [p for c in event.constraints for p in conjuncts(c)]
        for part in parts:
            zone = event.type.text == TIMER and any(isinstance(n, Ref) and n.name == "TZ" for n in part.walk())
            if not self._binds(part) and not zone:
                yield self._condition(part, event.role, event)

    def _conditions(self, role: str) -> Iterator[Expr]:
        """The conditions outside parentheses that speak of a role last."""
        for item in self.rule.items:
            if isinstance(item, syntax.Condition):
                for part in conjuncts(item.expr):
                    if not self._binds(part) and self._latest(part) == role:
                        yield part

    def _test(self, part: Expr, event: syntax.Event) -> tuple[str, str | None]:
        """A constraint as text; if it is an equation, its left side, and the other side as an expression."""
        if isinstance(part, Binary) and part.op == "=" and not isinstance(part.right, Literal):
            own, other = (part.left, part.right) if isinstance(part.left, Ref) else (part.right, part.left)
            if isinstance(own, Ref):
                return render(own), self._value(other, event)
        return self.source.piece(of_text(span_of(part))), None

    def _reference(self, role: str) -> str | None:
        return next((s.within.role.text for s in self.rule.selections if s.event.role == role), None)

    def _condition(self, part: Expr, role: str, event: syntax.Event | None) -> Clause:
        """A constraint of ``event``, or a condition that speaks of ``role`` last."""
        start, stop = self.source.offsets(of_text(span_of(part)))
        written = self.text[start:stop]
        positional = isinstance(part, Binary) and span_of(part.left) == part.span
        drop = Edit((Splice(start, stop, "_" if positional else TRUE),))
        timer = event is not None and event.type.text == TIMER
        if isinstance(part, Binary) and part.op in (*_ORDER, "=", "!=") and not timer:
            left, right = (self._value(e, event) for e in (part.left, part.right))
            literal = sign_of(part.right) or sign_of(part.left)
            if (
                part.op in _ORDER
                and literal is not None
                and (sign_of(part.left) is None or sign_of(part.right) is None)
            ):
                return self._threshold(part, role, event, start, stop, drop)
            own, other = part.left, right
            if isinstance(part.left, Literal | Param) and not isinstance(part.right, Literal | Param):
                own, left, other = part.right, right, left
            op = part.op if own is part.left else turned(part.op)
            return Clause(
                "equality", start, stop, written, drop, value=left, wanted=other, role=role,
                subject=self._subject(own, event), needed=op,
                detail={"other_subject": self._other(part.right if own is part.left else part.left, event)},
            )  # fmt: skip
        return Clause("equality", start, stop, written, drop, role=role, needed=written)

    def _threshold(
        self, part: Binary, role: str, event: syntax.Event | None, start: int, stop: int, drop: Edit
    ) -> Clause:
        """A comparison with a constant."""
        right = sign_of(part.right) is not None
        other, written = (part.left, part.right) if right else (part.right, part.left)
        literal = sign_of(written)
        assert literal is not None
        at = self.source.offsets(of_text(span_of(written)))
        left, right_side = (self.source.offsets(of_text(span_of(side))) for side in (part.left, part.right))
        between = left[1], right_side[0]
        greater = (part.op in (">", ">=")) == right  # the other side has to be great
        limit = self._ticks(literal.value) if isinstance(literal, DurationLiteral) else literal.value

        def text_of(value: Any) -> str:
            if isinstance(literal, DurationLiteral):
                text = duration_text(Duration(Fraction(value), ticks=True))
                return f"{text} tick" if self.kind.tick is None else duration_of(value, self.kind)
            if literal.type is Type.TIMESTAMP:
                return render(Literal(int(value), Type.TIMESTAMP))
            return number_of(value)

        moved = comparison_edit(self.text, (start, stop), at, between, limit, greater, right, text_of)
        needed = f"{part.op if right else turned(part.op)} {self.text[at[0] : at[1]]}"
        return Clause(
            "threshold", start, stop, self.text[start:stop], drop, None, moved, self._value(other, event), role=role,
            subject=self._subject(other, event), needed=needed,
            detail={"duration": isinstance(literal, DurationLiteral), "attribute_of": self._attribute_of(other, event)},
        )  # fmt: skip

    def _attribute_of(self, expr: Expr, event: syntax.Event | None) -> tuple[str, str] | None:
        """The type and the name of the attribute that an expression is; None if it is not one."""
        role = event.role if event is not None and isinstance(expr, Ref) and expr.scope is None else None
        name = expr.name if isinstance(expr, Ref) else ""
        if isinstance(expr, Ref) and expr.scope in self.roles:
            role = expr.scope
        elif isinstance(expr, Param) and expr.name in self.params:
            number, name = self.params[expr.name]
            role = self.roles[number]
        return next(((e.type.text, name) for e in self.rule.roles if e.role == role), None)

    def _within(self, within: syntax.Within, role: str) -> Clause:
        start, _ = self.source.offsets(of_text(within.span))
        found = _WITHIN.match(self.text, start)
        assert found is not None
        at = found.span(1)
        limit = self._ticks(within.duration)

        def moved(ticks: Any) -> Edit | None:
            if ticks is None or ticks <= limit:
                return None
            text = str(int(ticks)) if within.duration.ticks else duration_of(int(ticks), self.kind)
            return Edit((Splice(*at, text),), text, int(ticks) - limit)

        a, e = name_text(within.role.text), name_text(role)
        return Clause(
            "window", *at, found[1], None, Edit((Splice(*at, self.longest),)), moved,
            f"{a}.time - {e}.time", role=role, reference=within.role.text,
            needed=f"within {found[1]}", detail={"limit": limit},
        )  # fmt: skip

    def _policy(self, item: syntax.Selection) -> Clause:
        start, _ = self.source.offsets(of_text(item.span))
        word = re.compile(r"[\w-]+").match(self.text, start)
        assert word is not None
        drop = Edit((Splice(*word.span(), "each"),), "each")
        end = self.source.offsets(of_text(item.span))[1]
        policy = item.policy if item.k == 1 else f"{item.k}-{item.policy}"

        def shown(names: Mapping[str, str]) -> Edit:
            return Edit((*drop.splices, Splice(end, end, self._again(item, names))), "each")

        return Clause(
            "choice", *word.span(), word[0], drop, role=item.event.role, needed=policy,
            evidence=Evidence(shown, CHOSEN), detail={"policy": policy},
        )  # fmt: skip

    def _again(self, item: syntax.Selection, names: Mapping[str, str]) -> str:
        """The selection once more under another name, so that it shows the row that was chosen."""
        role = item.event.role
        own = {p for p, (number, _) in self.params.items() if self.roles[number] == role}

        def other(node: Expr) -> Expr | None:
            if isinstance(node, Ref) and node.scope == role:
                return replace(node, scope=CHOSEN)
            if isinstance(node, Param) and node.name in own:
                return Ref(CHOSEN, self.params[node.name][1])
            return None

        kept = [p for c in item.event.constraints for p in conjuncts(c) if not self._binds(p)]
        tests = tuple(rewrite(p, lambda n: _bare(other(n), CHOSEN)) for p in kept)
        renamed = syntax.Name(names.get(item.event.type.text, item.event.type.text))
        event = syntax.Event(renamed, tests, syntax.Name(CHOSEN))
        lines = [f" and {render(replace(item, event=event, having=None))}"]
        for i in self.rule.items:
            if not isinstance(i, syntax.Condition) or self._binds(i.expr) or _aggregates(i.expr):
                continue
            if self._latest(i.expr) == role:
                lines.append(f" and ({render(rewrite(i.expr, other))}) = true")
        return "".join(lines)

    def _negation(self, item: syntax.Negation) -> Clause:
        start, stop = self.source.offsets(of_text(item.span))
        before = _AND_BEFORE.search(self.text, 0, start)
        splice = Splice(start, stop, TRUE) if before is None else Splice(before.start(), stop, "")
        if before is not None and before.start() > 0 and self.text[before.start() - 1].strip():
            splice = Splice(before.start(), stop, " ")
        interval = item.interval

        def shown(names: Mapping[str, str]) -> Edit:
            renamed = syntax.Name(names.get(item.event.type.text, item.event.type.text))
            event = replace(item.event, type=renamed, alias=syntax.Name(BLOCKER))
            late, lower = self._ends(interval)
            text = f"first {render(event)} within {self.longest} from {name_text(late)} and {BLOCKER}.time > {lower}"
            return Edit((Splice(start, stop, text),))

        return Clause(
            "absence", start, stop, self.text[start:stop], Edit((splice,)), role=None, needed="none",
            evidence=Evidence(shown, BLOCKER), type=item.event.type.text,
            detail={"interval": self._described(interval)},
        )  # fmt: skip

    def _ends(self, interval: syntax.Interval) -> tuple[str, str]:
        """The later role of an interval, and its lower end as an expression."""
        if isinstance(interval, syntax.Within):
            role = interval.role.text
            return role, f"{name_text(role)}.time - {render(DurationLiteral(interval.duration))}"
        late, early = sorted((interval.one.text, interval.other.text), key=self.roles.index)
        return late, f"{name_text(early)}.time"

    def _described(self, interval: syntax.Interval) -> tuple[str, ...]:
        """The roles at the ends: (early, late), or (text of the duration, role)."""
        if isinstance(interval, syntax.Within):
            return duration_text(interval.duration), interval.role.text
        late, early = sorted((interval.one.text, interval.other.text), key=self.roles.index)
        return early, late

    @property
    def longest(self) -> str:
        """A duration that covers every history."""
        return "1e15" if self.kind.tick is None else "100000 d"

    def _consuming(self) -> Clause:
        first = self.source.offsets(of_text(self.written.consuming[0].span))[0]
        stop = self.source.offsets(of_text(self.written.consuming[-1].span))[1]
        start = self.text.lower().rindex("consuming", self.start, first)
        drop = Edit((Splice(start, stop, ""),))
        return Clause("choice", start, stop, self.text[start:stop], drop, needed="consuming",
                      detail={"consumes": [n.text for n in self.rule.consuming]})  # fmt: skip

    # -- expressions -------------------------------------------------------------------------------------------------
    def _latest(self, expr: Expr) -> str:
        """The latest role that an expression mentions; the terminator's if it mentions none."""
        most = 0
        for n in expr.walk():
            if isinstance(n, Param) and n.name in self.params:
                most = max(most, self.params[n.name][0])
            elif isinstance(n, Ref) and n.scope in self.roles:
                most = max(most, self.roles.index(n.scope))
            elif isinstance(n, syntax.Aggregate):
                names = (
                    [n.interval.role] if isinstance(n.interval, syntax.Within) else [n.interval.one, n.interval.other]
                )
                most = max(most, *(self.roles.index(x.text) for x in names))
        return self.roles[most]

    def _qualified(self, expr: Expr, event: syntax.Event | None) -> Expr:
        """An expression of an event's parentheses as one of ``where``."""
        if event is None or isinstance(expr, syntax.Aggregate):
            return expr
        if isinstance(expr, Ref):
            return replace(expr, scope=event.role) if expr.scope is None else expr
        children = expr.children
        if not children:
            return expr
        return expr.with_children(tuple(self._qualified(c, event) for c in children))

    def _value(self, expr: Expr, event: syntax.Event | None) -> str:
        return _sum(self._qualified(expr, event))

    def _other(self, expr: Expr, event: syntax.Event | None) -> str | None:
        """The other side of an equation as the attribute that it stands for."""
        if isinstance(expr, Param) and expr.name in self.params:
            number, attribute = self.params[expr.name]
            return f"{self.roles[number]}.{attribute}"
        return self._subject(expr, event) if isinstance(expr, Ref) else None

    def _subject(self, expr: Expr, event: syntax.Event | None) -> str:
        return render(self._qualified(expr, event))

    # -- other texts of the rule -------------------------------------------------------------------------------------
    def _loosened(self, found: Sequence[Clause]) -> Iterator[Loosening]:
        """Every binding that some repair keeps is a binding of the rule with these edits."""
        types = {e.role: e.type.text for e in self.rule.roles}
        for c in found:
            if c.drop is not None and c.kind == "choice" and c.role is not None:
                yield Loosening(c.drop, c.role, frozenset((types[c.role],)))
            elif c.drop is not None and c.kind == "choice":
                yield Loosening(c.drop, always=True)
            elif c.drop is not None and c.kind == "absence":
                yield Loosening(c.drop, types=frozenset((str(c.type),)))
        tests = [i.expr if isinstance(i, syntax.Condition) else getattr(i, "having", None) for i in self.rule.items]
        tests += [c for event in self.rule.roles for c in event.constraints]
        for part in (p for test in tests if test is not None for p in conjuncts(test)):
            nodes = [n for n in part.walk() if isinstance(n, syntax.Aggregate)]
            if nodes:
                read = frozenset(n.event.type.text for n in nodes)
                yield Loosening(Edit((Splice(*self.source.offsets(of_text(span_of(part))), TRUE),)), types=read)

    def _named(self, name: str) -> list[Splice]:
        """The output under a name; a rule's own name is given once in a program."""
        rule = self.written
        out = [Splice(*self.source.offsets(of_text(rule.type.span)), name_text(name))]
        if rule.name is not None:
            after = self.source.offsets(of_text(rule.name.span))[1]
            out.insert(0, Splice(self.start, self.text.index(":", after) + 1, ""))
        return out

    def _gathered(self) -> Iterator[tuple[str, Edit]]:
        """Per aggregate, as `because` calls it, the edit after which the rule also binds each row that enters."""
        ends = [self.source.offsets(of_text(i.span))[1] for i in self.rule.items]
        at = max([self.source.offsets(of_text(self.rule.terminator.span))[1], *ends])
        for node in dict.fromkeys(self.rule.aggregates):
            over = node.event.type.text if node.attribute is None else f"{node.event.type.text}.{node.attribute}"
            event = render(replace(node.event, alias=syntax.Name(GATHERED)))
            if isinstance(node.interval, syntax.Within):
                text = f" and each {event} {render(node.interval)}"
            else:
                late, lower = self._ends(node.interval)
                text = f" and each {event} within {self.longest} from {name_text(late)} and {GATHERED}.time >= {lower}"
            yield f"{node.function}({over})", Edit((Splice(at, at, text),))

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        out = []
        rule = self.written
        for event in rule.roles:
            if event.type.text in names:
                out.append(Splice(*self.source.offsets(of_text(event.type.span)), f"`{names[event.type.text]}`"))
                if event.alias is None:
                    end = self.source.offsets(of_text(event.span))[1]
                    out.append(Splice(end, end, f" as {name_text(event.type.text)}"))
        absent = [i.event for i in rule.items if isinstance(i, syntax.Negation)]
        for event in [*absent, *(n.event for n in rule.aggregates)]:
            if event.type.text in names:
                out.append(Splice(*self.source.offsets(of_text(event.type.span)), f"`{names[event.type.text]}`"))
        return out

    def _probed(self, values: Mapping[str, str]) -> list[Splice]:
        rule = self.written
        at = self.source.offsets(of_text(rule.type.span))[1]
        head = re.compile(r"\s*\(([^()]*)\)").match(self.text, at)
        listed = ", ".join(values)
        if head is None:
            out = [Splice(at, at, f"({listed})")]
        else:
            comma = ", " if head[1].strip() else ""
            out = [Splice(head.end() - 1, head.end() - 1, f"{comma}{listed}")]
        assigned = ", ".join(f"{n} = {e}" for n, e in values.items())
        if rule.where:
            first = self.source.offsets(of_text(rule.where[0].name.span))[0]
            out.append(Splice(first, first, f"{assigned}, "))
            return out
        stop = self.stop
        if rule.consuming:
            first = self.source.offsets(of_text(rule.consuming[0].span))[0]
            stop = self.text.lower().rindex("consuming", self.start, first)
        out.append(Splice(stop, stop, f" where {assigned} "))
        return out


#: names of rows that are bound only to be shown
CHOSEN, BLOCKER, GATHERED = "occurs_chosen", "occurs_blocker", "occurs_entered"


def _aggregates(expr: Expr) -> bool:
    return any(isinstance(n, syntax.Aggregate) for n in expr.walk())


def _equated(part: Expr, scopes: Sequence[str | None]) -> Iterator[str]:
    """The parameter in ``attribute = $x``, either side."""
    if isinstance(part, Binary) and part.op == "=":
        for ref, param in ((part.left, part.right), (part.right, part.left)):
            if isinstance(ref, Ref) and isinstance(param, Param) and ref.scope in scopes:
                yield param.name
                return


def _bare(node: Expr | None, scope: str) -> Expr | None:
    """In the parentheses of its own event an attribute stands alone."""
    return replace(node, scope=None) if isinstance(node, Ref) and node.scope == scope else node


def _sum(expr: Expr) -> str:
    text = render(expr)
    return f"({text})" if not isinstance(expr, Ref | Param | Literal | DurationLiteral | syntax.Aggregate) else text


def copied(file: syntax.File, name: str, output: str | None, names: Mapping[str, str]) -> syntax.File:
    """A file with other names: its own ``name``, the ``output`` of its rule, the types that it reads."""

    def event(e: syntax.Event, named: bool) -> syntax.Event:
        constraints = tuple(rewrite(c, aggregated) for c in e.constraints)
        if e.type.text not in names:
            return replace(e, constraints=constraints)
        alias = (e.alias or e.type) if named else e.alias
        return replace(e, type=replace(e.type, text=names[e.type.text]), alias=alias, constraints=constraints)

    def aggregated(node: Expr) -> Expr | None:
        return replace(node, event=event(node.event, False)) if isinstance(node, syntax.Aggregate) else None

    def item(i: syntax.Item) -> syntax.Item:
        if isinstance(i, syntax.Selection):
            having = None if i.having is None else rewrite(i.having, aggregated)
            return replace(i, event=event(i.event, True), having=having)
        if isinstance(i, syntax.Negation):
            return replace(i, event=event(i.event, False))
        return replace(i, expr=rewrite(i.expr, aggregated)) if isinstance(i, syntax.Condition) else i

    def statement(s: syntax.Statement) -> syntax.Statement:
        if isinstance(s, syntax.EventSchema):
            return replace(s, type=replace(s.type, text=names.get(s.type.text, s.type.text)))
        if not isinstance(s, syntax.Rule):
            return s
        return replace(
            s, name=None, type=replace(s.type, text=output or s.type.text), terminator=event(s.terminator, True),
            items=tuple(map(item, s.items)), where=tuple(replace(a, expr=rewrite(a.expr, aggregated)) for a in s.where),
        )  # fmt: skip

    return replace(file, file=name, statements=tuple(map(statement, file.statements)))
