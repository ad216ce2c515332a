"""From checked TESLA rules to patterns (tesla.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from occurs.errors import DefinitionProblem, Problem
from occurs.expr.aggregates import AGGREGATES
from occurs.expr.tree import Binary, Expr, Param, Ref, conjuncts, rewrite
from occurs.languages.kit.complaints import missing_unit
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks import ResolvedRule, bindings
from occurs.languages.tesla.checks.catalogue import TIMER
from occurs.model.time import Duration, TimeKind, ceil_ticks, floor_ticks
from occurs.model.types import Schema, Type
from occurs.operators.select.pattern import (
    Absent,
    Between,
    Extra,
    Keep,
    KeyPart,
    Pattern,
    RuleInfo,
    Select,
    Source,
    Step,
    Windowed,
    Within,
)
from occurs.operators.timer import TimerSource

#: ticks of the longest window
LONGEST = 2**63 - 1


@dataclass(frozen=True)
class CompiledRule:
    """A rule as a pattern, with what the plan needs to know of it.

    ``reads``: every type it reads to how far back it looks, in ticks; ``looks_back``: those it reads other than as its
    terminator; ``positional``: types whose order within an instant can change the answer.
    """

    pattern: Pattern
    timer: TimerSource | None
    reads: dict[str, int]
    looks_back: frozenset[str]
    positional: frozenset[str]
    columns: dict[str, frozenset[str]]


def compile_rule(
    resolved: ResolvedRule,
    definition: str,
    place: int,
    schemas: Mapping[str, Schema],
    strict: frozenset[str],
    kind: TimeKind,
) -> CompiledRule:
    """One rule.  ``definition``: its identity.  ``strict``: the types of its recursive component, seen strictly before
    the terminator."""
    return _Compiler(resolved, schemas, strict, kind).compile(definition, place)


class _Compiler:
    def __init__(self, resolved: ResolvedRule, schemas: Mapping[str, Schema], strict: frozenset[str], kind: TimeKind):
        self.resolved = resolved
        self.rule = resolved.rule
        self.schemas = schemas
        self.strict = strict
        self.kind = kind
        self.roles = [e.role for e in self.rule.roles]
        self.params = bindings(self.rule)
        self.columns: dict[str, set[str]] = {}
        self.reads: dict[str, int] = {}
        self.positional: set[str] = set()
        self.timer: TimerSource | None = None

    # -- small things ------------------------------------------------------------------------------------------------
    def ticks(self, duration: Duration, *, opened: bool) -> int:
        exact = self.kind.convert(duration)
        if exact is None:
            message, hint = missing_unit(self.kind)
            raise DefinitionProblem(
                Problem("missing-unit", message, file=self.resolved.file, span=self.rule.span, hint=hint)
            )
        # longer than there are ticks is as good as endless
        return min(ceil_ticks(exact) if opened else floor_ticks(exact), LONGEST)

    def number(self, role: str) -> int:
        return self.roles.index(role)

    def type_of(self, role: int) -> str:
        return self.rule.roles[role].type.text

    def read(self, type: str, back: int) -> None:
        self.reads[type] = max(self.reads.get(type, 0), back)

    def lower(self, expr: Expr, own: int | None) -> Expr:
        """Parameters, names and aggregates resolved; bare names are of role ``own``, or (None) of the candidate."""

        def leaf(node: Expr) -> Expr | None:
            if isinstance(node, Param):
                role, attribute = self.params[node.name]
                return Ref(str(role), attribute)
            if isinstance(node, Ref):
                if node.scope is not None and not node.scope.isdigit():
                    return Ref(str(self.number(node.scope)), node.name, span=node.span)
                if node.scope is None and own is not None:
                    return Ref(str(own), node.name, span=node.span)
            return None

        return self._with_aggregates(expr, leaf, own)

    def _with_aggregates(self, expr: Expr, leaf: object, own: int | None) -> Expr:
        """Aggregates first, as bare names inside them are not those around them."""
        if isinstance(expr, syntax.Aggregate):
            return self.aggregate(expr)
        children = expr.children
        if children:
            new = tuple(self._with_aggregates(c, leaf, own) for c in children)
            return expr.with_children(new)
        got = leaf(expr)  # type: ignore[operator]
        return expr if got is None else got

    def aggregate(self, node: syntax.Aggregate) -> Windowed:
        type = node.event.type.text
        interval = self.interval(node.interval, opened=False)
        tests = [self.lower(c, None) for e in node.event.constraints for c in conjuncts(e)]
        filters, keys, residual = self.split(tests)
        self.note_window(type, interval)
        column = None
        if node.attribute is not None:
            self.columns.setdefault(type, set()).add(node.attribute)
            # nothing is known of a type that is neither declared nor defined and has no rows
            column = self.schemas.get(type, Schema()).get(node.attribute)
            if node.attribute == "time":
                column = Type.TIMESTAMP if self.kind.timestamp else Type.INT
        declared = AGGREGATES[node.function]
        if declared.positional:
            self.positional.add(type)
        result = declared.typed(column) or Type.NULL
        source = Source(type, filters, type in self.strict)
        function = (node.function, node.attribute, result, source, interval, keys, residual, node.percent)
        return Windowed(*function, of=column or Type.NULL, span=node.span)

    def interval(self, interval: syntax.Interval, *, opened: bool) -> Within | Between:
        if isinstance(interval, syntax.Within):
            return Within(self.number(interval.role.text), self.ticks(interval.duration, opened=opened))
        one, other = self.number(interval.one.text), self.number(interval.other.text)
        # the earlier end is the one reached from the other by its from-links
        return Between(one, other) if self._reaches(one, other) else Between(other, one)

    def _reaches(self, role: int, other: int) -> bool:
        """Do the from-links of ``role`` lead to ``other``?"""
        while role != 0:
            role = self.number(self.rule.selections[role - 1].within.role.text)
            if role == other:
                return True
        return False

    def depth(self, role: int) -> int:
        """The greatest age of a role behind the terminator, in ticks."""
        if role == 0:
            return 0
        within = self.rule.selections[role - 1].within
        return self.depth(self.number(within.role.text)) + self.ticks(within.duration, opened=False)

    def note_window(self, type: str, interval: Within | Between) -> None:
        if isinstance(interval, Within):
            self.read(type, self.depth(interval.role) + interval.length)
        else:
            self.read(type, self.depth(interval.early))

    # -- constraints -------------------------------------------------------------------------------------------------
    def split(
        self, tests: list[Expr], candidate: int | None = None
    ) -> tuple[tuple[Expr, ...], tuple[KeyPart, ...], tuple[Expr, ...]]:
        """(filters on the candidate alone, equalities with bound roles, the rest).

        With ``candidate`` its attributes are written ``Ref("<candidate>", ..)`` and become ``Ref(None, ..)``.
        """
        filters: list[Expr] = []
        keys: list[KeyPart] = []
        residual: list[Expr] = []
        for test in tests:
            expr = test
            if candidate is not None:
                expr = rewrite(
                    test,
                    lambda n: Ref(None, n.name) if isinstance(n, Ref) and n.scope == str(candidate) else None,
                )
                if any(isinstance(n, Windowed) for n in test.walk()):
                    # an aggregate's own event is written with Ref(None, ..) too: keep the role's number
                    residual.append(test)
                    continue
            key = self._key(expr)
            if key is not None:
                keys.append(key)
            elif all(not (isinstance(n, Ref) and n.scope is not None) for n in expr.walk()):
                filters.append(expr)
            else:
                residual.append(expr)
        keys.sort(key=lambda k: (k.own, k.role, k.attribute))
        return tuple(filters), tuple(keys), tuple(residual)

    @staticmethod
    def _key(expr: Expr) -> KeyPart | None:
        if not (isinstance(expr, Binary) and expr.op == "="):
            return None
        for own, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if (
                isinstance(own, Ref)
                and isinstance(other, Ref)
                and own.scope is None
                and other.scope is not None
                and "time" not in (own.name, other.name)
            ):
                return KeyPart(own.name, int(other.scope), other.name)
        return None

    def belonging(self) -> tuple[dict[int, list[Expr]], dict[int, Expr]]:
        """Tests by the role they belong to, and those of complete bindings by their item's number: `having`, and the
        conditions with an aggregate."""
        tests: dict[int, list[Expr]] = {i: [] for i in range(len(self.roles))}
        afterwards: dict[int, Expr] = {}
        binding = dict(self.params)
        for role, event in enumerate(self.rule.roles):
            if event.type.text == TIMER:
                continue
            for constraint in event.constraints:
                for part in conjuncts(constraint):
                    if self._takes_binding(part, role, binding):
                        continue
                    test = self.lower(part, role)
                    tests[max([role, *self._mentions(test)])].append(test)
        for number, item in enumerate(self.rule.items):
            if isinstance(item, syntax.Selection) and item.having is not None:
                afterwards[number] = self.lower(item.having, None)
            if not isinstance(item, syntax.Condition) or self._takes_binding(item.expr, None, binding):
                continue
            test = self.lower(item.expr, None)
            if any(isinstance(n, Windowed) for n in test.walk()):
                afterwards[number] = test
            else:
                tests[max([0, *self._mentions(test)])].append(test)
        return tests, afterwards

    def _takes_binding(self, expr: Expr, owner: int | None, binding: dict[str, tuple[int, str]]) -> bool:
        """Is this the constraint that binds a parameter?  Then it is no test, the first time."""
        if not (isinstance(expr, Binary) and expr.op == "="):
            return False
        for ref, param in ((expr.left, expr.right), (expr.right, expr.left)):
            if not (isinstance(ref, Ref) and isinstance(param, Param)):
                continue
            role = owner if ref.scope is None else self.number(ref.scope)
            if (owner is None or role == owner) and role is not None and binding.get(param.name) == (role, ref.name):
                del binding[param.name]
                return True
        return False

    @staticmethod
    def _mentions(expr: Expr) -> Iterator[int]:
        for node in expr.walk():
            if isinstance(node, Ref) and node.scope is not None:
                yield int(node.scope)
            elif isinstance(node, Windowed):
                interval = node.interval
                yield from (interval.role,) if isinstance(interval, Within) else (interval.early, interval.late)
                yield from (k.role for k in node.keys)

    def note_columns(self, expr: Expr, own: str | None) -> None:
        """Columns that ``expr`` needs; bare names are of type ``own``."""
        if isinstance(expr, Windowed):
            self.note_keys(expr.keys, expr.source.type)
            own = expr.source.type
        if isinstance(expr, Ref) and expr.name != "time":
            type = own if expr.scope is None else self.type_of(int(expr.scope))
            if type is not None and type != TIMER:
                self.columns.setdefault(type, set()).add(expr.name)
        for child in expr.children:
            self.note_columns(child, own)

    def note_keys(self, keys: tuple[KeyPart, ...], own: str) -> None:
        for key in keys:
            self.columns.setdefault(own, set()).add(key.own)
            self.columns.setdefault(self.type_of(key.role), set()).add(key.attribute)

    # -- the rule ----------------------------------------------------------------------------------------------------
    def compile(self, definition: str, place: int) -> CompiledRule:
        rule = self.rule
        tests, afterwards = self.belonging()
        type = rule.terminator.type.text
        if type == TIMER:
            self.timer = TimerSource.of(rule.terminator.constraints)
            terminator = Source(self.timer.name)
            residual0 = tests[0]
            filters0: tuple[Expr, ...] = ()
        else:
            filters0, _, rest = self.split(tests[0], 0)
            terminator = Source(type, filters0)
            residual0 = list(rest)
        self.read(terminator.type, 0)
        steps: list[Step] = [Keep(t) for t in residual0]
        role = 0
        after: list[Step] = []
        for number, item in enumerate(rule.items):
            if isinstance(item, syntax.Selection):
                role += 1
                steps.append(self.selection(item, role, tests[role]))
            elif isinstance(item, syntax.Negation):
                after.append(self.negation(item))
            elif isinstance(item, syntax.ExtraWithin):
                length = self.ticks(item.within.duration, opened=False)
                after.append(Extra(self.number(item.role.text), self.number(item.within.role.text), length))
            if number in afterwards:
                after.append(Keep(afterwards[number]))
        # the cheap guards first: the order of guards does not change what passes
        after.sort(key=lambda s: (isinstance(s, Keep), isinstance(s, Absent)))
        schema = self.schemas[rule.type.text]
        assigned = {a.name.text: self.lower(a.expr, None) for a in rule.where}
        outputs = tuple((name, assigned[name], t) for name, t in schema)
        pattern = Pattern(
            terminator,
            tuple(steps + after),
            outputs,
            (
                RuleInfo(
                    rule.type.text,
                    place,
                    definition,
                    tuple(self.roles),
                    self.resolved.file,
                    rule.span,
                    recursive=bool(self.strict),
                ),
            ),
            consuming=tuple(sorted({self.number(n.text) for n in rule.consuming} - {0})),
        )
        self.note_all(pattern)
        return CompiledRule(
            pattern,
            self.timer,
            self.reads,
            frozenset(self._looked_back(pattern)),
            frozenset(self.positional),
            {t: frozenset(c) for t, c in self.columns.items()},
        )

    def selection(self, item: syntax.Selection, role: int, tests: list[Expr]) -> Select:
        type = item.event.type.text
        filters, keys, residual = self.split(tests, role)
        if item.policy != "each":
            self.positional.add(type)
        self.read(type, self.depth(role))
        source = Source(type, filters, type in self.strict)
        ref = self.number(item.within.role.text)
        return Select(source, item.policy, item.k, ref, self.ticks(item.within.duration, opened=False), keys, residual)

    def negation(self, item: syntax.Negation) -> Absent:
        type = item.event.type.text
        interval = self.interval(item.interval, opened=True)
        parts = [self.lower(c, None) for e in item.event.constraints for c in conjuncts(e)]
        filters, keys, residual = self.split(parts)
        self.note_window(type, interval)
        return Absent(Source(type, filters, type in self.strict), interval, keys, residual)

    def note_all(self, pattern: Pattern) -> None:
        for f in pattern.terminator.filters:
            self.note_columns(f, pattern.terminator.type)
        for s in pattern.steps:
            if isinstance(s, Select | Absent):
                self.note_keys(s.keys, s.source.type)
                for e in (*s.source.filters, *s.residual):
                    self.note_columns(e, s.source.type)
            elif isinstance(s, Keep):
                self.note_columns(s.condition, None)
        for _, expr, _ in pattern.outputs:
            self.note_columns(expr, None)

    @staticmethod
    def _looked_back(pattern: Pattern) -> Iterator[str]:
        for s in pattern.steps:
            if isinstance(s, Select | Absent):
                yield s.source.type
        for expr in pattern.expressions:
            for node in expr.walk():
                if isinstance(node, Windowed):
                    yield node.source.type
