"""Types of values: of attributes by fixpoint, and whether operands, constraints and values fit (tesla.md, 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from occurs.errors import Span
from occurs.expr.aggregates import AGGREGATES
from occurs.expr.text import Text
from occurs.expr.tree import DurationLiteral, Expr, Param, Ref
from occurs.expr.typing import infer, span_of
from occurs.languages.kit.complaints import SET_UNIT, ticks_of, warn_inexact
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks.catalogue import TIMER, Catalogue, Known
from occurs.languages.tesla.checks.plain import FIELDS, bindings
from occurs.languages.tesla.functions import FUNCTIONS
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type, widen

Report = Callable[[str, str, Span | None, str | None], None]


def _silent(kind: str, message: str, span: Span | None, hint: str | None = None) -> None:
    """For the passes that only infer: the last pass reports."""


class RuleTypes:
    """Types inside one normalised rule."""

    def __init__(self, rule: syntax.Rule, source: Text, catalogue: Catalogue, kind: TimeKind | None):
        self.rule = rule
        self.source = source
        self.catalogue = catalogue
        self.kind = kind
        self.kinds: dict[str, str] = {}
        for event in rule.roles:
            self.kinds.setdefault(event.role, event.type.text)
        self.bound = bindings(rule)

    def attribute(self, kind: str, name: str) -> Type | None:
        """The type of an attribute of a type; None if unknown."""
        if kind == TIMER and name in FIELDS:
            return Type.INT
        if kind == TIMER and name == "TZ":
            return Type.STRING
        if name == "time" and (kind == TIMER or self.catalogue.type_of(kind, name) is None):
            if self.kind is None:
                return None
            return Type.TIMESTAMP if self.kind.timestamp else Type.INT
        found = self.catalogue.type_of(kind, name)
        return None if found in (Type.NULL, Type.RECORD) else found

    def infer(self, expr: Expr, own: str | None, report: Report) -> Type | None:
        """The type of an expression; ``own``: the type whose attributes bare names are."""

        def lookup(node: Expr) -> Type | None:
            if isinstance(node, Ref):
                kind = own if node.scope is None else self.kinds.get(node.scope)
                return self._read(kind, node.name, node.span, report) if kind is not None else None
            if isinstance(node, Param):
                if node.name not in self.bound:
                    return None
                role, attribute = self.bound[node.name]
                return self._read(self.rule.roles[role].type.text, attribute, node.span, report)
            if isinstance(node, syntax.Aggregate):
                if AGGREGATES[node.function].listing:
                    message = f"{node.function.upper()} returns a list, which cannot be part of an expression"
                    report("type-mismatch", message, node.span, "assign it directly: `where Names = LIST(..) ..`")
                    return None
                return self._aggregate(node, report)
            return None

        integer = None if self.kind is None else not self.kind.timestamp
        return infer(expr, lookup, report, functions=FUNCTIONS, integer_time=integer)

    def _read(self, kind: str, name: str, span: Span | None, report: Report) -> Type | None:
        """The type of an attribute that is read; reports a list."""
        if self.catalogue.type_of(kind, name) is Type.RECORD:
            message = f"`{name}` of `{kind}` is a list, and rules cannot read lists"
            report("type-mismatch", message, span, "aggregate the original events instead")
        return self.attribute(kind, name)

    def _aggregate(self, node: syntax.Aggregate, report: Report) -> Type | None:
        for constraint in node.event.constraints:
            self._condition(constraint, node.event.type.text, report)
        if node.attribute is None:
            return Type.INT if node.function == "count" else None
        kind = self._read(node.event.type.text, node.attribute, node.span, report)
        declared = AGGREGATES[node.function]
        needs = declared.needs(kind)
        if needs is not None:
            message = f"{node.function.upper()} needs {needs}, but `{node.event.type}.{node.attribute}` is {kind}"
            hint = "MIN, MAX, FIRST, LAST and COUNT also accept other types" if needs == "numbers" else None
            report("type-mismatch", message, node.span, hint)
            if hint is not None:
                return None
        # the sum of an attribute of unknown type is that of no values, 0, until its type is known
        return kind if declared.listing else declared.typed(kind)

    def _condition(self, expr: Expr, own: str | None, report: Report) -> None:
        kind = self.infer(expr, own, report)
        if kind not in (None, Type.BOOL, Type.NULL):
            message = f"a constraint must be true or false, but this is {kind}"
            report("type-mismatch", message, getattr(expr, "span", None), "compare it with a value: `= ...`, `> ...`")

    def widen_outputs(self) -> bool:
        """Enter the types of the assigned values; whether anything became known or wider."""
        known = self.catalogue.get(self.rule.type.text)
        changed = False
        if known is None:
            return False
        for assignment in self.rule.where:
            name = assignment.name.text
            if name not in known.attributes or name in known.fixed:
                continue
            node = assignment.expr
            if isinstance(node, syntax.Aggregate) and AGGREGATES[node.function].listing:
                changed |= self._widen_list(known, name, self._aggregate(node, _silent))
                continue
            kind = self.infer(node, None, _silent)
            if kind is None:
                continue
            old = known.attributes[name]
            new = kind if old is None else widen(old, kind)
            if new is not None and new is not old:
                known.attributes[name] = new
                changed = True
        return changed

    @staticmethod
    def _widen_list(known: Known, name: str, kind: Type | None) -> bool:
        """Enter the type of the values of a list, which does not widen; whether it became known."""
        if known.attributes[name] not in (None, Type.RECORD):
            return False
        before, known.attributes[name] = known.lists.get(name), Type.RECORD
        if before in (None, Type.NULL):
            known.lists[name] = kind or Type.NULL
        return known.lists[name] is not before

    def check(self) -> None:
        """Report every type problem of the rule."""
        report: Report = self.source.report
        for event in self.rule.events:
            for constraint in event.constraints:
                self._condition(constraint, event.type.text, report)
        for condition in self.rule.conditions:
            self._condition(condition, None, report)
        # what the rule itself declares; that it disagrees with another rule has been said already
        declared = {a.name.text: a.type for a in reversed(self.rule.attributes) if a.type}
        for assignment in self.rule.where:
            node = assignment.expr
            listed = isinstance(node, syntax.Aggregate) and AGGREGATES[node.function].listing
            if isinstance(node, syntax.Aggregate) and listed:
                self._check_list(assignment, self._aggregate(node, report))
            kind = Type.RECORD if listed else self.infer(node, None, report)
            self._check_value(assignment, kind, declared.get(assignment.name.text))

    def _check_list(self, assignment: syntax.Assignment, kind: Type | None) -> None:
        """Report a list whose values are of another type than in another rule."""
        known = self.catalogue.get(self.rule.type.text)
        other = known.lists.get(assignment.name.text) if known is not None else None
        if kind is not None and other not in (None, Type.NULL, kind):
            message = f"`{assignment.name}` of `{self.rule.type}` is a list of {kind} here, of {other} in another rule"
            self.source.report("schema-conflict", message, span_of(assignment.expr), "all rules must use one type")

    def _check_value(self, assignment: syntax.Assignment, kind: Type | None, declared: Type | None) -> None:
        known = self.catalogue.get(self.rule.type.text)
        name = assignment.name.text
        target = declared or (known.attributes.get(name) if known else None)
        if known is None or target is None or kind is None or widen(target, kind) is target:
            return
        span = getattr(assignment.expr, "span", None) or assignment.name.span
        if name in known.fixed:
            message = f"`{name}` of `{self.rule.type}` is {_named(target)}, but this value is {_named(kind)}"
            self.source.report("type-mismatch", message, span, None)
        else:
            message = f"`{name}` of `{self.rule.type}` is {_named(kind)} here, but {_named(target)} in another rule"
            self.source.report("schema-conflict", message, span, "only int is converted, to float")

    def durations(self) -> None:
        """Report durations that do not go with the kind of time, warn of those that are not whole."""
        if self.kind is None:
            return
        timer = self.rule.terminator
        if timer.type.text == TIMER and self.kind.tick is None:
            message = "a Timer needs the unit of the integer time column"
            self.source.report("missing-unit", message, timer.span, SET_UNIT)
        for within in windows_of(self.rule):
            self._duration(within.duration, within.span)
        for expr in self.rule.expressions:
            for node in expr.walk():
                if isinstance(node, DurationLiteral):
                    self._duration(node.value, node.span)

    def _duration(self, duration: Duration, span: Span | None) -> None:
        assert self.kind is not None
        exact = ticks_of(duration, span, self.source, self.kind)
        if exact is not None:
            warn_inexact(exact, span, self.source)


def _named(kind: Type) -> str:
    """A type as messages name it: of the records, rules make lists only."""
    return "a list" if kind is Type.RECORD else str(kind)


def windows_of(rule: syntax.Rule) -> Iterator[syntax.Within]:
    """Every `within` of a rule, those of aggregates too."""
    for item in rule.items:
        if isinstance(item, syntax.Selection | syntax.ExtraWithin):
            yield item.within
        elif isinstance(item, syntax.Negation) and isinstance(item.interval, syntax.Within):
            yield item.interval
    yield from (node.interval for node in rule.aggregates if isinstance(node.interval, syntax.Within))


def types_read(rule: syntax.Rule) -> frozenset[str]:
    """The types whose events a rule reads, Timer left out."""
    return (rule.looked_back | {rule.terminator.type.text}) - {TIMER}
