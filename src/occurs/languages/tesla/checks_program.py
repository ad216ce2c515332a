"""What only a whole program shows: cycles of terminators, and warnings (tesla.md, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from occurs.errors import Place
from occurs.expr.tree import Binary, Expr, Param, Ref
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks_catalogue import Catalogue
from occurs.languages.tesla.checks_params import bindings
from occurs.languages.text import Text


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


def warn_external(rules: Sequence[tuple[Text, syntax.Rule]], catalogue: Catalogue) -> None:
    """Types that are both defined and in the data."""
    seen: set[str] = set()
    for source, rule in rules:
        name = rule.type.text
        if name in seen or catalogue.inputs is None or name not in catalogue.inputs:
            continue
        seen.add(name)
        message = f"`{name}` is defined here and is also in the input: "
        message += "rules read those rows, but they are not reported as detections"
        source.warn("external-input", message, rule.type.span)


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
