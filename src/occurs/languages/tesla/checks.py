"""Everything that can be said of TESLA rules before a row is read (tesla.md, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from occurs.errors import Place, Problem
from occurs.expr.tree import Expr, Param
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks_catalogue import TIMER, Catalogue
from occurs.languages.tesla.checks_params import Normaliser, bindings, map_rule, strip
from occurs.languages.tesla.checks_program import check_cycles, warn_external, warn_rule
from occurs.languages.tesla.checks_rule import RuleChecks, check_type
from occurs.languages.tesla.checks_timer import check_timer
from occurs.languages.tesla.checks_types import RuleTypes, types_read
from occurs.languages.tesla.render import render
from occurs.languages.text import Text
from occurs.model.time import TimeKind
from occurs.model.types import Schema

__all__ = ["Analysis", "ResolvedRule", "analyse", "bindings"]


@dataclass(frozen=True)
class ResolvedRule:
    """A rule in plain form: constraints are expressions, bare names in an event's parentheses its own attributes.

    ``schema``: of the defined type, all its rules considered; an attribute of unknown type has the type NULL.
    ``definition``: the canonical text, without the rule's name.
    """

    rule: syntax.Rule
    schema: Schema
    file: str | None
    definition: str


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
    warn_external(rules, catalogue)
    _infer([RuleTypes(r, s, catalogue, kind) for s, r in rules], catalogue)
    subscriptions = tuple(
        _subscription(s, t, catalogue, kind) for s, t in statements if isinstance(t, syntax.Subscription)
    )
    resolved = []
    for source, rule in rules:
        plain = map_rule(rule, None)
        known = catalogue.get(rule.type.text)
        schema = known.schema() if known else Schema()
        resolved.append(ResolvedRule(plain, schema, source.file, render(replace(plain, name=None))))
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
