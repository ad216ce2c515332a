"""Everything that can be said of TESLA rules before a row is read (tesla.md, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from occurs.errors import Place, Problem
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Expr, Param, Ref
from occurs.languages.kit.complaints import warn_also_in_input
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks.catalogue import TIMER, Catalogue
from occurs.languages.tesla.checks.names import RuleChecks, check_type
from occurs.languages.tesla.checks.plain import Normaliser, bindings, check_timer, map_rule, strip
from occurs.languages.tesla.checks.types import RuleTypes, types_read
from occurs.languages.tesla.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Schema

__all__ = ["Analysis", "ResolvedRule", "analyse", "bindings"]


@dataclass(frozen=True)
class ResolvedRule:
    """A rule in plain form: constraints are expressions, bare names in an event's parentheses its own attributes.

    ``schema``: of the defined type, all its rules considered; an attribute of unknown type has the type NULL.
    ``identity``: the rule whose text identifies the definition, whatever the time zone of its timer.
    """

    rule: syntax.Rule
    schema: Schema
    file: str | None
    identity: syntax.Rule

    @cached_property
    def definition(self) -> str:
        """The canonical text, without the rule's name; it is rendered when it is first read, which checks never do."""
        return render(replace(self.identity, name=None))


@dataclass(frozen=True)
class Analysis:
    """What the checks found; rules with errors are in ``rules`` too, so look at ``problems`` first.

    ``schemas``: all types that are declared, defined (here or in another language) or observed.
    """

    rules: tuple[ResolvedRule, ...]
    schemas: dict[str, Schema]
    subscriptions: tuple[syntax.Subscription, ...]
    assigns: dict[int, str]
    declared: set[str]
    problems: list[Problem]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
) -> Analysis:
    """Check parsed files as one program and resolve their rules.

    ``inputs``: the types seen in the data (None: no data is known, undeclared types and their attributes are
    accepted).  ``foreign``: types that other languages define.  ``kind``: what times count, None if not yet known:
    then nothing is said about units.  Problems have the kinds of tesla.md, section 3, and the warnings
    ``unknown-type no-effect never-blocks inexact-duration multiplying external-input``.
    """
    sources = [Text(f.text, f.file) for f in files]
    statements = [(s, t) for s, f in zip(sources, files) for t in f.statements]
    assigns = _assigns([(s, t) for s, t in statements if isinstance(t, syntax.Assign)])
    catalogue = Catalogue(_named(inputs, assigns), foreign or {})
    parsed = [(s, t) for s, t in statements if isinstance(t, syntax.Rule)]
    catalogue.fill([(s, t) for s, t in statements if isinstance(t, syntax.EventSchema)], parsed)
    _check_names(parsed)
    rules = []
    for source, written in parsed:
        rule, unplaced = _normal(source, written, catalogue)
        rules.append((source, rule))
        RuleChecks(rule, source, catalogue, unplaced).check()
        warn_rule(rule, source)
    check_cycles(rules)
    warn_also_in_input([(r.type.text, s, r.type.span) for s, r in rules], catalogue.inputs, "rules")
    _infer([RuleTypes(r, s, catalogue, kind) for s, r in rules], catalogue)
    subscriptions = tuple(
        _subscription(s, t, catalogue, kind) for s, t in statements if isinstance(t, syntax.Subscription)
    )
    resolved = []
    for source, rule in rules:
        plain = map_rule(rule, None)
        known = catalogue.get(rule.type.text)
        schema = known.schema() if known else Schema()
        resolved.append(ResolvedRule(plain, schema, source.file, plain))
    # equal ones fall together: an aggregate may be typed twice
    problems = list(dict.fromkeys(p for s in sources for p in s.problems))
    return Analysis(
        tuple(resolved),
        catalogue.schemas(),
        subscriptions,
        assigns,
        catalogue.declared,
        sorted(problems, key=Problem.sort_key),
    )


def _normal(source: Text, rule: syntax.Rule, catalogue: Catalogue) -> tuple[syntax.Rule, set[str]]:
    """The rule in plain form, and its parameters at positions that are not known."""
    before = len(source.problems)
    normaliser = Normaliser(source, catalogue, {n for e in rule.roles for n in (e.role, e.type.text)})
    normal = map_rule(rule, normaliser)
    if normal.terminator.type.text == TIMER:
        normal = replace(normal, terminator=check_timer(normal.terminator, source, before))
    return normal, normaliser.unplaced


def _check_names(rules: Sequence[tuple[Text, syntax.Rule]]) -> None:
    first: dict[str, tuple[Text, syntax.Name]] = {}
    for source, rule in rules:
        if rule.name is None:
            continue
        if rule.name.text in first:
            other, name = first[rule.name.text]
            places = (Place("the first is here", other.file, name.span),)
            source.report("duplicate-name", f"two rules are called `{name}`", rule.name.span, None, "error", places)
        else:
            first[rule.name.text] = (source, rule.name)


def _infer(rules: Sequence[RuleTypes], catalogue: Catalogue) -> None:
    """Types of defined attributes by fixpoint, then the problems.  Types only widen, so this ends."""
    readers: dict[str, list[int]] = {}
    for number, types in enumerate(rules):
        for name in types_read(types.rule) & catalogue.defined:
            readers.setdefault(name, []).append(number)
    waiting, queued = list(range(len(rules))), set(range(len(rules)))
    while waiting:
        later: list[int] = []
        for number in waiting:
            queued.discard(number)
            if rules[number].widen_outputs():
                for reader in readers.get(rules[number].rule.type.text, ()):
                    if reader not in queued:
                        queued.add(reader)
                        later.append(reader)
        waiting = later
    for types in rules:
        types.check()
        types.durations()


def _subscription(
    source: Text, subscription: syntax.Subscription, catalogue: Catalogue, kind: TimeKind | None
) -> syntax.Subscription:
    """The filter in plain form; it is checked like the parentheses of a lone event, but binds no parameter."""
    check_type(subscription.type, catalogue, source)
    if subscription.filter is None or subscription.type.text == TIMER:
        return subscription
    name = subscription.type.text
    normaliser = Normaliser(source, catalogue, [name])
    normaliser.own = name
    test: Expr = normaliser.expr(subscription.filter, name)
    for node in test.walk():
        if isinstance(node, Param):
            message = f"the parameter `${node.name}` is not bound: a subscription has no parameters"
            source.report("unbound-parameter", message, node.span, "compare with a value: `Subscribe(Hot, Room = 1)`")
        elif isinstance(node, syntax.Aggregate):
            hint = "compute it in a rule, and subscribe to the type that the rule defines"
            source.report("nested-aggregate", "an aggregate is not allowed in a subscription", node.span, hint)
    if any(isinstance(n, Param | syntax.Aggregate) for n in test.walk()):
        return subscription
    event = syntax.Event(subscription.type, (test,))
    # the rule that a subscription is: define nothing from the event
    rule = syntax.Rule(None, syntax.Name(""), (), event)
    silent = source.apart()
    RuleChecks(rule, silent, catalogue).check()
    types = RuleTypes(rule, silent, catalogue, kind)
    types.check()
    types.durations()
    # the type itself has been looked at above
    source.problems += [p for p in silent.problems if p.kind not in ("unknown-type", "not-an-event")]
    return replace(subscription, filter=strip(test))


def _assigns(assigns: Sequence[tuple[Text, syntax.Assign]]) -> dict[int, str]:
    out: dict[int, str] = {}
    for source, assign in assigns:
        for number, name in assign.names:
            if out.setdefault(number, name.text) != name.text:
                message = f"the numeric type {number} is already called `{out[number]}`"
                source.report("duplicate-name", message, name.span)
    return out


def _named(inputs: Mapping[str, Schema] | None, assigns: Mapping[int, str]) -> Mapping[str, Schema] | None:
    """Observed types by their names, where the data has numbers."""
    if inputs is None:
        return None
    return {assigns.get(int(k), k) if k.isdecimal() else k: v for k, v in inputs.items()}


# --- what only a whole program shows ----------------------------------------------------------------------------------


def check_cycles(rules: Sequence[tuple[Text, syntax.Rule]]) -> None:
    """Terminators see the same instant: types whose terminators lead back to themselves are never derived."""
    edges: dict[str, dict[str, tuple[Text, syntax.Rule]]] = {}
    for source, rule in rules:
        edges.setdefault(rule.type.text, {}).setdefault(rule.terminator.type.text, (source, rule))
    done: set[str] = set()
    for start in edges:
        path: list[str] = []
        ways = [iter([start])]
        while ways:
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                if path:
                    done.add(path.pop())
            elif step in path:
                _cycle(path[path.index(step) :], edges)
            elif step in edges and step not in done:
                path.append(step)
                ways.append(iter(edges[step]))


def _cycle(types: list[str], edges: dict[str, dict[str, tuple[Text, syntax.Rule]]]) -> None:
    """``types``: each has a rule whose terminator is the next, the last one's is the first."""
    ring = [*types, types[0]]
    steps = [edges[a][b] for a, b in pairwise(ring)]
    source, rule = steps[0]
    places = tuple(
        Place(f"`{r.type}` from `{r.terminator.type}`", s.file, r.terminator.type.span) for s, r in steps[1:]
    )
    message = f"the terminators form a cycle: {' from '.join(f'`{t}`' for t in ring)}"
    hint = "a rule may select its own type with `each`, `first`, `last` or `not`, but not use it as its terminator"
    source.report("cycle", message, rule.terminator.type.span, hint, "error", places)


def warn_rule(rule: syntax.Rule, source: Text) -> None:
    """What is likely wrong or costly in one rule."""
    for name in rule.consuming:
        if name.text == rule.terminator.role:
            hint = "list events that the rule selects: consuming the terminator changes nothing"
            source.warn("no-effect", f"consuming the terminator `{name}` has no effect", name.span, hint)
    for item in rule.items:
        interval = item.interval if isinstance(item, syntax.Negation) else None
        if isinstance(interval, syntax.Within) and interval.duration.amount == 0:
            hint = "`not ... within 0` covers no time: write a longer interval"
            source.warn("never-blocks", "`not ... within 0` never blocks", interval.span, hint)
    _warn_filters_last(rule, source)
    each = [s for s in rule.selections if s.policy == "each"]
    if len(each) > 1 and not _common(rule, [s.event.role for s in each]):
        hint = "join them on an attribute: `A(Key = $k) and each B(Key = $k) ...`"
        message = "several `each` without a common parameter: every combination of their events is a detection"
        source.warn("multiplying", message, each[1].span, hint)


def _warn_filters_last(rule: syntax.Rule, source: Text) -> None:
    """Conditions after a chosen event that take part in the choice, which reads as if they came after it.

    An equation of two attributes names the partner, and an order of times the row: nobody means those otherwise.
    """
    names = [event.role for event in rule.roles]
    bound = bindings(rule)
    for item in rule.items:
        if not isinstance(item, syntax.Condition) or any(isinstance(n, syntax.Aggregate) for n in item.expr.walk()):
            continue
        reads: list[tuple[int, str]] = []
        for node in item.expr.walk():
            if isinstance(node, Param) and node.name in bound:
                reads.append(bound[node.name])
            elif isinstance(node, Ref) and node.scope in names:
                reads.append((names.index(node.scope), node.name))
        role = max((number for number, _ in reads), default=0)
        selection = rule.selections[role - 1] if role else None
        if selection is None or selection.policy == "each" or _joins(item.expr):
            continue
        if all(attribute == "time" for number, attribute in reads if number == role):
            continue
        policy = selection.policy if selection.k == 1 else f"{selection.k}-{selection.policy}"
        name, one = names[role], f"the {policy} `{selection.event.type}`"
        message = f"`{name}` is {one} for which this condition is true, not necessarily {one} of all"
        hint = f"to choose {one} and test it afterwards, write `having` after the window of `{name}`; "
        hint += "to test before choosing, write the condition in the parentheses of the event"
        source.warn("filters-last", message, item.span, hint)


def _joins(expr: Expr) -> bool:
    """Whether this is an equation of two attributes or parameters."""
    sides = (expr.left, expr.right) if isinstance(expr, Binary) and expr.op == "=" else ()
    return bool(sides) and all(isinstance(side, Ref | Param) for side in sides)


def _common(rule: syntax.Rule, roles: Sequence[str]) -> bool:
    """Whether one class of equated attributes has an attribute of each of the roles."""
    names = [event.role for event in rule.roles]
    bound = bindings(rule)
    leader: dict[tuple[str, str], tuple[str, str]] = {}

    def find(at: tuple[str, str]) -> tuple[str, str]:
        while leader.setdefault(at, at) != at:
            at = leader[at]
        return at

    def node(expr: Expr, own: str | None) -> tuple[str, str] | None:
        if isinstance(expr, Param) and expr.name in bound:
            number, attribute = bound[expr.name]
            return names[number], attribute
        if isinstance(expr, Ref) and (expr.scope or own) is not None:
            return expr.scope or own or "", expr.name
        return None

    def equate(expr: Expr, own: str | None) -> None:
        if not isinstance(expr, Binary):
            return
        if expr.op == "and":
            equate(expr.left, own)
            equate(expr.right, own)
        elif expr.op == "=":
            left, right = node(expr.left, own), node(expr.right, own)
            if left is not None and right is not None:
                leader[find(left)] = find(right)

    for event in rule.roles:
        for constraint in event.constraints:
            equate(constraint, event.role)
    for item in rule.items:
        if isinstance(item, syntax.Condition):
            equate(item.expr, None)
    classes = [{find(at) for at in list(leader) if at[0] == role} for role in roles]
    return bool(set.intersection(*classes))
