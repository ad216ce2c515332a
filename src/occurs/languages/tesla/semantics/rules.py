"""A TESLA rule as the reference semantics reads it: roles, parameters, belonging, components (tesla.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from occurs.expr import tree
from occurs.expr.reference import ticks
from occurs.languages.tesla import syntax
from occurs.languages.tesla.semantics.timers import constraints_of, plain_conjuncts
from occurs.model.time import TimeKind

TIMER = "Timer"


@dataclass(frozen=True)
class Constraint:
    """A test, with the number of the role in whose parentheses it stands (None at the top level)."""

    owner: int | None
    expr: tree.Expr


@dataclass(frozen=True)
class Reading:
    """What tesla.md 4 says about one rule before any event is seen; roles are numbers, the terminator is 0."""

    index: int
    rule: syntax.Rule
    roles: tuple[syntax.Event, ...]
    #: role -> (its reference, its window in ticks); nothing for the terminator
    windows: dict[int, tuple[int, int | Fraction]]
    #: parameter -> the role and attribute it stands for
    parameters: dict[str, tuple[int, str]]
    #: role -> the constraints that belong to it
    belonging: dict[int, tuple[Constraint, ...]]
    #: `having`, and top-level conditions with an aggregate: judged when all roles are bound
    afterwards: tuple[Constraint, ...]
    #: the roles listed in ``consuming``, without the terminator
    consuming: frozenset[int]

    def number(self, role: str) -> int:
        """The number of a role by its name."""
        return [r.role for r in self.roles].index(role)

    @property
    def name(self) -> str:
        """For messages."""
        return self.rule.name.text if self.rule.name else self.rule.type.text


def read(index: int, rule: syntax.Rule, kind: TimeKind) -> Reading:
    """Read a rule that has passed the checks."""
    roles = rule.roles
    names = [r.role for r in roles]
    windows = {
        i: (names.index(s.within.role.text), ticks(s.within.duration, kind)) for i, s in enumerate(rule.selections, 1)
    }
    inside = [(i, c) for i, event in enumerate(roles) for c in _constraints(event)]
    top = [(None, item.expr) for item in rule.items if isinstance(item, syntax.Condition)]
    parameters: dict[str, tuple[int, str]] = {}
    tests: list[Constraint] = []
    # the binding is no test, every other occurrence is; conditions bind only what no role binds
    for owner, expr in [*inside, *top]:
        bound = _binding(expr, owner, names)
        if bound is not None and bound[0] not in parameters:
            parameters[bound[0]] = bound[1:]
        else:
            tests.append(Constraint(owner, expr))
    belonging: dict[int, list[Constraint]] = {i: [] for i in range(len(roles))}
    afterwards = [Constraint(None, s.having) for s in rule.selections if s.having is not None]
    for test in tests:
        if test.owner is None and has_aggregate(test.expr):
            afterwards.append(test)
        else:
            mentioned = {names.index(n) for n in _mentioned_roles(test.expr, parameters, names)}
            belonging[max(mentioned | {test.owner or 0})].append(test)
    return Reading(
        index=index,
        rule=rule,
        roles=roles,
        windows=windows,
        parameters=parameters,
        belonging={i: tuple(c) for i, c in belonging.items()},
        afterwards=tuple(afterwards),
        consuming=frozenset(names.index(n.text) for n in rule.consuming) - {0},
    )


def _constraints(event: syntax.Event) -> list[tree.Expr]:
    return constraints_of(event) if event.type.text == TIMER else plain_conjuncts(event)


def _binding(expr: tree.Expr, owner: int | None, names: Sequence[str]) -> tuple[str, int, str] | None:
    """(parameter, role, attribute) if the test has the form ``Attr = $x`` (in parentheses) or ``R.Attr = $x`` (top)."""
    if not isinstance(expr, tree.Binary) or expr.op != "=":
        return None
    for ref, param in ((expr.left, expr.right), (expr.right, expr.left)):
        if isinstance(ref, tree.Ref) and isinstance(param, tree.Param):
            if owner is None and ref.scope is not None:
                return param.name, names.index(ref.scope), ref.name
            if owner is not None and ref.scope in (None, names[owner]):
                return param.name, owner, ref.name
    return None


def has_aggregate(expr: tree.Expr) -> bool:
    """Whether there is an aggregate anywhere in ``expr``."""
    return any(isinstance(n, syntax.Aggregate) for n in expr.walk())


def _mentioned_roles(expr: tree.Expr, parameters: dict[str, tuple[int, str]], names: Sequence[str]) -> Iterator[str]:
    """Roles mentioned by name, by parameter, or as the end of an aggregate's interval."""
    for node in expr.walk():
        if isinstance(node, tree.Ref) and node.scope is not None:
            yield node.scope
        elif isinstance(node, tree.Param):
            yield names[parameters[node.name][0]]
        elif isinstance(node, syntax.Aggregate):
            if isinstance(node.interval, syntax.Within):
                yield node.interval.role.text
            else:
                yield from (node.interval.one.text, node.interval.other.text)


# --- the graph of the rules -----------------------------------------------------------------------------------------


def looked_back_types(rule: syntax.Rule) -> set[str]:
    """Types that selections, negations and aggregates of a rule range over: all but the terminator's."""
    types = set()
    for item in rule.items:
        if isinstance(item, syntax.Selection | syntax.Negation):
            types.add(item.event.type.text)
    for expr in _expressions(rule):
        types |= {n.event.type.text for n in expr.walk() if isinstance(n, syntax.Aggregate)}
    return types


def _expressions(rule: syntax.Rule) -> Iterator[tree.Expr]:
    yield from rule.terminator.constraints
    for item in rule.items:
        if isinstance(item, syntax.Selection | syntax.Negation):
            yield from item.event.constraints
            if isinstance(item, syntax.Selection) and item.having is not None:
                yield item.having
        elif isinstance(item, syntax.Condition):
            yield item.expr
    for assignment in rule.where:
        yield assignment.expr


def strict_types(rules: Sequence[syntax.Rule]) -> list[frozenset[str]]:
    """For each rule the types of its strongly connected component: it sees those strictly before its terminator."""
    uses = [looked_back_types(r) | {r.terminator.type.text} for r in rules]
    reached = [{j for j, s in enumerate(rules) if s.type.text in types} for types in uses]
    changed = True
    while changed:
        further = [seen.union(*(reached[j] for j in seen)) for seen in reached]
        changed = further != reached
        reached = further
    return [
        frozenset(rules[j].type.text for j in reached[i] if i in reached[j]) if i in reached[i] else frozenset()
        for i in range(len(rules))
    ]


def evaluation_order(rules: Sequence[syntax.Rule]) -> list[int]:
    """Numbers of the rules: topological by their references into the same instant, ties by place in the program."""
    waits = []
    for rule, strict in zip(rules, strict_types(rules), strict=True):
        types = (looked_back_types(rule) - strict) | {rule.terminator.type.text}
        waits.append({j for j, s in enumerate(rules) if s.type.text in types})
    order: list[int] = []
    while len(order) < len(rules):
        order.append(next(i for i in range(len(rules)) if i not in order and waits[i] <= set(order)))
    return order
