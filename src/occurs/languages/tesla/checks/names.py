"""The names of one rule: roles, windows, intervals, attributes, parameters (tesla.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection

from occurs.errors import Place, Span, did_you_mean, nearest
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Param, Ref
from occurs.languages.kit.complaints import LASTING_HINT, lasting_text
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks.catalogue import TIMER, Catalogue
from occurs.languages.tesla.checks.plain import bindings
from occurs.model.types import RESERVED_INPUT


class RuleChecks:
    """Checks a normalised rule; problems go to ``source``."""

    def __init__(self, rule: syntax.Rule, source: Text, catalogue: Catalogue, unplaced: Collection[str] = ()):
        """``unplaced``: parameters that are bound at a position nobody knows."""
        self.unplaced = unplaced
        self.rule = rule
        self.source = source
        self.catalogue = catalogue
        self.roles: dict[str, tuple[int, syntax.Event]] = {}
        for number, event in enumerate(rule.roles):
            self.roles.setdefault(event.role, (number, event))
        self.bound = bindings(rule)

    def check(self) -> None:
        """Report everything that is wrong with the names of the rule."""
        self._duplicates()
        self._references()
        self._assignments()
        self._event(self.rule.terminator, timer=True)
        for item in self.rule.items:
            if isinstance(item, syntax.Selection):
                self._event(item.event)
                if item.having is not None:
                    self._expr(item.having, None)
            elif isinstance(item, syntax.Negation):
                self._event(item.event, nested=True)
                self._interval(item.interval)
            elif isinstance(item, syntax.Condition):
                self._expr(item.expr, None)
        for assignment in self.rule.where:
            self._expr(assignment.expr, None)
        for name in self.rule.consuming:
            self._role(name.text, name.span)

    # --- roles -------------------------------------------------------------------------------------------------------

    def _duplicates(self) -> None:
        for number, event in enumerate(self.rule.roles):
            first = self.roles[event.role]
            if first[0] != number:
                at = (event.alias or event.type).span
                place = (Place("the first is here", self.source.file, first[1].span),)
                message = f"two events are called `{event.role}`"
                hint = f"rename one with `as`: `{event.type}() as {event.type}2`"
                self.source.report("duplicate-name", message, at, hint, "error", place)

    def _references(self) -> None:
        for number, selection in enumerate(self.rule.selections, 1):
            name = selection.within.role
            if self._role(name.text, name.span) and self.roles[name.text][0] >= number:
                itself = self.roles[name.text][0] == number
                message = f"`from {name}` refers to " + ("the event itself" if itself else "a later event of the rule")
                earlier = [e.role for e in self.rule.roles[:number]]
                hint = f"a window is measured from an event earlier in the rule: {', '.join(earlier)}"
                self.source.report("reference-order", message, name.span, hint)
            if selection.k < 1:
                message = f"`{selection.k}-{selection.policy}`: counting starts at 1"
                self.source.report(
                    "bad-count", message, selection.span, f"`1-{selection.policy}` selects the {selection.policy} event"
                )
        for item in self.rule.items:
            if isinstance(item, syntax.ExtraWithin):
                self._role(
                    item.role.text, item.role.span, f"a new event needs a policy: `each {item.role}() within ...`"
                )
                self._role(item.within.role.text, item.within.role.span)

    def _role(self, name: str, span: Span | None, hint: str | None = None) -> bool:
        if name in self.roles:
            return True
        aliases = [e.role for e in self.rule.roles if e.type.text == name]
        if aliases:
            hint = "in this rule it is called " + " or ".join(f"`{a}`" for a in aliases)
        strange = [e.type.text for e in self.rule.roles if self.catalogue.get(e.type.text) is None]
        if hint is None and self.catalogue.get(name) is not None and (near := nearest(name, strange)):
            hint = f"`{near[0]}` is not declared: did you mean `{name}` there?"
        message = f"no event of this rule is called `{name}`"
        self.source.report("unknown-name", message, span, hint or did_you_mean(name, self.roles, "events of this rule"))
        return False

    def _interval(self, interval: syntax.Interval) -> None:
        if isinstance(interval, syntax.Within):
            self._role(interval.role.text, interval.role.span)
            return
        one, other = interval.one, interval.other
        known = [self._role(n.text, n.span) for n in (one, other)]
        if all(known) and not self._one_chain(one.text, other.text):
            message = f"`{one}` and `{other}` are not on one chain of windows, so their order in time is unknown"
            hint = "link one end to the other with `within ... from`, or write `within <duration> from` one of them"
            if one.text == other.text:
                message = f"`{one}` is both ends of the interval"
                hint = "name two different events on one chain of windows"
            self.source.report("not-one-chain", message, interval.span, hint)

    def _one_chain(self, one: str, other: str) -> bool:
        return one != other and (other in self._ancestors(one) or one in self._ancestors(other))

    def _ancestors(self, role: str) -> set[str]:
        parents = {s.event.role: s.within.role.text for s in reversed(self.rule.selections)}
        seen: set[str] = set()
        at = parents.get(role)
        while at is not None and at not in seen:
            seen.add(at)
            at = parents.get(at)
        return seen

    # --- attributes --------------------------------------------------------------------------------------------------

    def _assignments(self) -> None:
        attributes = dict.fromkeys(a.name.text for a in self.rule.attributes)
        seen: set[str] = set()
        for assignment in self.rule.where:
            name = assignment.name
            if name.text in seen:
                self.source.report("duplicate-name", f"`{name}` is assigned twice", name.span)
            elif name.text not in attributes:
                message = f"`{self.rule.type}` has no attribute `{name}`"
                self.source.report(
                    "unknown-attribute", message, name.span, did_you_mean(name.text, attributes, "attributes")
                )
            seen.add(name.text)
        for attribute in self.rule.attributes:
            if attribute.name.text not in seen:
                message = f"the attribute `{attribute.name}` of `{self.rule.type}` is not assigned"
                hint = f"assign it: `where {attribute.name} = ...`"
                self.source.report("missing-value", message, attribute.name.span, hint)

    def _event(self, event: syntax.Event, timer: bool = False, nested: bool = False) -> None:
        """``timer``: whether Timer may stand here; ``nested``: whether aggregates are forbidden inside."""
        check_type(event.type, self.catalogue, self.source, timer)
        if event.type.text == TIMER:
            return  # its fields are checks_timer's
        for constraint in event.constraints:
            self._expr(constraint, event.type.text, nested)

    def _expr(self, expr: Expr, own: str | None, nested: bool = False) -> None:
        """``own``: the type whose attributes bare names are; None: there is none."""
        if isinstance(expr, Ref):
            self._ref(expr, own)
        elif isinstance(expr, Param):
            if expr.name not in self.bound and expr.name not in self.unplaced:
                message = f"the parameter `${expr.name}` is not bound"
                hint = (
                    f"bind it in the parentheses of a selected event: `{self.rule.terminator.type}"
                    f"(Attribute = ${expr.name})`; negations, aggregates and `where` do not bind parameters"
                )
                if self.bound:
                    near = did_you_mean(f"${expr.name}", [f"${p}" for p in self.bound], "parameters")
                    hint = near if near.startswith("did") else hint
                self.source.report("unbound-parameter", message, expr.span, hint)
        elif isinstance(expr, syntax.Aggregate):
            self._aggregate(expr, nested)
        else:
            for child in expr.children:
                self._expr(child, own, nested)

    def _aggregate(self, node: syntax.Aggregate, nested: bool) -> None:
        if nested:
            hint = "compute it in a separate rule and use the event that this rule derives"
            message = "an aggregate is not allowed inside a negated or aggregated event"
            self.source.report("nested-aggregate", message, node.span, hint)
        self._event(node.event, nested=True)
        if node.attribute is None and node.function != "count":
            function, _, distinct = node.function.upper().partition(" ")
            inside = f"{distinct} {node.event.type}" if distinct else node.event.type
            hint = f"name one: `{function}({inside}().Attribute)`; only COUNT works without an attribute"
            message = f"{node.function.upper()} needs an attribute"
            self.source.report("aggregate-attribute", message, node.span, hint)
        elif node.attribute is not None and node.event.type.text != TIMER:
            check_attribute(node.event.type.text, node.attribute, node.span, self.catalogue, self.source)
        self._interval(node.interval)

    def _ref(self, ref: Ref, own: str | None) -> None:
        if ref.scope is None:
            if own is not None:
                check_attribute(own, ref.name, ref.span, self.catalogue, self.source)
                return
            message = f"`{ref.name}` is not an attribute of an event here"
            self.source.report("unknown-name", message, ref.span, self._bare_hint(ref.name))
        elif self._role(ref.scope, ref.span):
            kind = self.roles[ref.scope][1].type.text
            check_attribute(kind, ref.name, ref.span, self.catalogue, self.source)

    def _bare_hint(self, name: str) -> str:
        if name in self.roles:
            return f"`{name}` is an event: name one of its attributes, `{name}.Attribute`"
        owners = [
            r for r, (_, e) in self.roles.items() if (k := self.catalogue.get(e.type.text)) and name in k.attributes
        ]
        if owners:
            return "name the event: " + " or ".join(f"`{o}.{name}`" for o in owners)
        if name in self.bound:
            return f"did you mean the parameter `${name}`?"
        return f"outside an event's parentheses write `{self.rule.terminator.role}.{name}`; put strings in quotes"


def check_type(name: syntax.Name, catalogue: Catalogue, source: Text, timer: bool = False) -> None:
    """A type that a rule or subscription reads: a Timer only where it may stand, nothing that lasts."""
    if name.text == TIMER:
        if not timer:
            hint = "write the Timer as the first event after `from`; windows are measured back from it"
            source.report("timer-position", "a Timer can only be the terminator of a rule", name.span, hint)
        return
    known = catalogue.get(name.text)
    if known is not None and known.lasting:
        message = lasting_text(str(name), "TESLA reads")
        source.report("not-an-event", message, name.span, LASTING_HINT)
    elif known is None and catalogue.inputs is not None:
        hint = did_you_mean(name.text, [*catalogue.types], "types")
        message = f"the type `{name}` is neither declared nor defined, and the input does not have it"
        source.warn("unknown-type", message, name.span, hint)


def check_attribute(kind: str, attribute: str, span: Span | None, catalogue: Catalogue, source: Text) -> None:
    """An attribute that is read: of the schema, or the time of occurrence; of an unknown type anything."""
    if attribute == "time":
        return
    if kind == TIMER:
        hint = "a Timer has only `time`; write conditions on the calendar in its parentheses"
        source.report("unknown-attribute", f"a Timer has no attribute `{attribute}`", span, hint)
        return
    known = catalogue.get(kind)
    if known is not None and attribute in known.attributes:
        return
    if attribute in RESERVED_INPUT:
        hint = "of the reserved columns, rules can read only `time`"
        source.report("reserved-name", f"`{attribute}` is not an attribute", span, hint)
    elif known is not None:
        message = f"`{kind}` has no attribute `{attribute}`"
        hint = did_you_mean(attribute, known.attributes, "attributes")
        if not nearest(attribute, known.attributes):
            hint += f'; put strings in quotes: "{attribute}"'
        source.report("unknown-attribute", message, span, hint)
