"""Formulas as nodes (phenesthe.md, sections 4.2 to 4.5).

Every method gives the node of a formula with all its variables but those that are in ``gone`` of a projection above
and that nothing above needs: they are pooled as early as possible.

A formula that is true almost always is never a node.  It stands beside one that is not, its *guard*, and says which of
the guard's instants are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from occurs.errors import DefinitionProblem, Problem
from occurs.expr.tree import Binary, Expr, IsNull, Literal, Ref, rewrite
from occurs.languages.kit.complaints import missing_unit
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import FACT, Phenomenon, SortsOf
from occurs.languages.phenesthe.checks.scope import Project, finite, inverse, sort, unscoped, variables
from occurs.languages.phenesthe.compile.building import Building, Formula, Kept
from occurs.languages.phenesthe.compile.conditions import Conditions, computes, expression, has_facts, parts
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.time import Duration, TimeKind
from occurs.operators.interval.atoms import Picked, Place, Scan
from occurs.operators.interval.network import Node
from occurs.operators.interval.phenomena import LongPhenomena, Loose
from occurs.operators.interval.points import Both, Either, Ends, Inside, Starts, Without
from occurs.operators.interval.ranges import EagerIteration, EagerRange, Iteration, MaximalRange, MinimalRange
from occurs.operators.interval.relations import Related, ShortBefore
from occurs.operators.interval.sets import Common, Cut, LongSpans, United


@dataclass(frozen=True)
class Reading:
    """An atom over rows, and conditions that are tested before anything is encoded.

    ``read``: the attribute of each variable; ``tests``: conditions on attributes; that its variables are not null is
    among them.
    """

    known: Phenomenon
    read: Mapping[str, str]
    tests: tuple[Expr, ...]
    text: str

    @staticmethod
    def of(atom: syntax.Atom, known: Phenomenon) -> Reading:
        read: dict[str, str] = {}
        tests: list[Expr] = []
        for attribute, value in known.arguments(atom):
            if isinstance(value, syntax.Constant):
                tests.append(Binary("=", Ref(None, attribute), Literal(value.value, value.type)))
            elif isinstance(value, syntax.Variable):
                if value.name in read:
                    tests.append(Binary("=", Ref(None, read[value.name]), Ref(None, attribute)))
                read.setdefault(value.name, attribute)
        return Reading(known, read, tuple(tests), render(atom))

    def where(self, condition: Expr) -> Reading:
        """With a condition on its variables."""

        def attribute(node: Expr) -> Expr | None:
            return replace(node, name=self.read[node.name]) if isinstance(node, Ref) else None

        return replace(self, tests=(*self.tests, rewrite(condition, attribute)))

    def formula(self, wanted: frozenset[str], net: Building, kind: TimeKind, name: str) -> Formula:
        """The node for it, of the variables that are ``wanted``; ``name``: the definition."""
        type, known = self.known.name, self.known
        variables = tuple(sorted(v for v in self.read if v in wanted))
        for v in variables:
            net.typed(v, known.type_of(self.read[v]))
        # a variable binds no null, whether or not its values are wanted
        tests = (*(IsNull(Ref(None, a), True) for v, a in sorted(self.read.items()) if v not in variables), *self.tests)
        if not known.changes:
            attributes = tuple(self.read[v] for v in variables)
            scan = Scan(known.sort, type, variables, attributes, tests, kind, name)
            if known.sort == "state":
                net.keeps(Kept(type, "one row", variables, "it ends"))
            return Formula(self._named(net.add(scan, (), type), net), known.sort, variables)
        # by its changes there is a state per values of all attributes, null being one like any other
        tests += tuple(IsNull(Ref(None, self.read[v]), True) for v in variables)
        of = dict(sorted((f"{a} of {type}", a) for a in known.names))
        for v, a in of.items():
            net.typed(v, known.type_of(a))
        net.keeps(Kept(type, "one row", known.names, "it is closed", True))
        scan = Scan("changes", type, tuple(of), tuple(of.values()), tests, kind, name)
        every = Formula(self._named(net.add(scan, (), type), net), "state", tuple(of))
        return _picked({v: f"{self.read[v]} of {type}" for v in variables}, {}, False, every, net, "")

    def _named(self, number: int, net: Building) -> int:
        net.names.setdefault(number, self.text)
        return number


def taken(
    atom: syntax.Atom, known: Phenomenon, head: tuple[syntax.HeadArgument, ...], delay: int | None,
    wanted: frozenset[str], net: Building,
) -> Formula:  # fmt: skip
    """The node for an atom over what another definition, with the ``head`` and the ``delay``, derives."""
    of = {a.name.text: a.value for a in head if not isinstance(a.value, syntax.Measure)}
    operand = tuple(sorted({v.name for v in of.values() if isinstance(v, syntax.Variable)}))
    same = _Classes()
    arguments = [(attribute, value) for attribute, value in known.arguments(atom) if attribute in of]
    for attribute, value in arguments:
        if isinstance(value, syntax.Variable):
            same.join(value, _place(of[attribute]))
        elif isinstance(value, syntax.Constant):
            same.join(_place(value), _place(of[attribute]))
    read: dict[str, Place] = {}
    equal: dict[str, Place] = {}
    for members in same.classes():
        values = sorted((m for m in members if isinstance(m, Literal)), key=repr)
        places = sorted(m for m in members if isinstance(m, str))
        first: Place = values[0] if values else places[0]
        read |= {m.name: first for m in members if isinstance(m, syntax.Variable)}
        equal |= {p: first for p in places if p != first}
    for attribute, value in arguments:
        if isinstance(value, syntax.Variable) and value.name in wanted:
            net.typed(value.name, known.type_of(attribute))
    for attribute, place in of.items():
        if isinstance(place, syntax.Variable):
            net.typed(f"{place.name} of {known.name}", known.type_of(attribute))
    never = any(_unlike(members) for members in same.classes())
    kept = {v: p for v, p in read.items() if v in wanted}
    return _picked(kept, equal, never, Formula(-1, known.sort, operand, delay), net, known.name, render(atom))


def _picked(
    read: Mapping[str, Place], equal: Mapping[str, Place], never: bool, operand: Formula, net: Building, source: str,
    text: str = "",
) -> Formula:  # fmt: skip
    """Variables read from their places in a formula, or in what the definition ``source`` derives.

    What is not looked at is carried under a name that no variable has, to the pooling.
    """
    free = [v for v in operand.variables if v not in equal and v not in read.values()]
    places: dict[str, Place] = {**read, **{f"{v} of {source}" if source else v: v for v in free}}
    variables = tuple(sorted(places))
    node = Picked(
        operand.sort, operand.variables, variables, tuple(places[v] for v in variables), tuple(equal.items()), never
    )
    number = net.add(node, (), source) if source else net.add(node, (operand.number,))
    if text:
        net.names.setdefault(number, text)
    return net.pooled(Formula(number, operand.sort, variables, operand.delay), frozenset(read))


def _place(value: syntax.Value) -> Place:
    if isinstance(value, syntax.Constant):
        return Literal(value.value, value.type)
    assert isinstance(value, syntax.Variable)
    return value.name


def _unlike(members: frozenset[object]) -> bool:
    """Whether two constants are equated that are not equal."""
    values = [m for m in members if isinstance(m, Literal)]
    return any(
        isinstance(a.value, bool) != isinstance(b.value, bool) or a.value != b.value for a in values for b in values
    )


class _Classes:
    """What is equated with what."""

    def __init__(self) -> None:
        self._of: dict[object, set[object]] = {}

    def join(self, one: object, other: object) -> None:
        both = self._of.get(one, {one}) | self._of.get(other, {other})
        self._of |= dict.fromkeys(both, both)

    def classes(self) -> list[frozenset[object]]:
        return list(dict.fromkeys(frozenset(c) for c in self._of.values()))


#: relations that are others with their operands exchanged
_CONVERSE = {
    "after": "before",
    "met_by": "meets",
    "overlapped_by": "overlaps",
    "finished_by": "finishes",
    "started_by": "starts",
    "during": "contains",
}
#: what relations keep on each side, until when, and whether that may never come
_KEPT = {
    "before": ("one row", "a later one ends", True),
    "meets": ("rows with the latest end", "a later one arrives", False),
    "overlaps": ("open rows and those that begin in open ones", "these end", False),
    "starts": ("rows with the latest start", "a later one arrives", False),
    "finishes": ("open rows and those that begin in open ones", "these end", False),
    "equals": ("open rows", "they end", False),
    "contains": ("open rows and those that begin in open ones", "these end", False),
}
#: ticks of the longest duration
_LONGEST = 2**63 - 1


@dataclass(frozen=True)
class Read:
    """A definition that others read: its head, and the delay of its formula in ticks."""

    head: tuple[syntax.HeadArgument, ...]
    delay: int | None


class Formulas:
    """The formulas of one definition."""

    def __init__(
        self, net: Building, phenomena: Mapping[str, Phenomenon], defined: Mapping[str, Read],
        conditions: Conditions, kind: TimeKind, name: str, file: str | None,
    ) -> None:  # fmt: skip
        self.net = net
        self.phenomena = phenomena
        self.defined = defined
        self.conditions = conditions
        self.kind = kind
        self.name = name
        self.file = file
        self.sorts = SortsOf(phenomena)
        #: of a `before` of which only short results are looked at, how long these are, by the identity of its node
        self._longest: dict[int, int] = {}

    def formula(self, node: Relation) -> Formula:
        """The node of a formula that is not true almost always."""
        match node:
            case syntax.Atom() | Project():
                return self._chain(node)
            case syntax.And() if FACT in (self._sort(node.left), self._sort(node.right)):
                return self._chain(node)
            case syntax.And():
                first, second = (node.left, node.right) if self._finite(node.left) else (node.right, node.left)
                return self.guarded(self.formula(first), second)
            case syntax.Or():
                return self._alike(Either, node, "event")
            case syntax.Not():
                return self.formula(inverse(node.operand))
            case syntax.Start():
                operand = self.formula(node.operand)
                return self.net.made(Starts(operand.variables), "event", operand)
            case syntax.End():
                operand = self.formula(node.operand)
                return self.net.made(Ends(operand.variables), "event", operand)
            case syntax.In():
                return self._two(Inside, node, "event")
            case syntax.MaximalRange():
                return self._range(MaximalRange, node)
            case syntax.MinimalRange():
                return self._range(MinimalRange, node)
            case syntax.Iteration():
                return self._iteration(node)
            case syntax.Union():
                return self._alike(United, node, "state")
            case syntax.Intersection():
                return self._two(Common, node, "state")
            case syntax.Complement():
                return self._two(Cut, node, "state", 1)
            case syntax.Filter():
                return self._filter(node)
            case syntax.Related():
                return self._related(node)
        raise TypeError(f"not a formula: {type(node).__name__}")

    def events(self, atom: syntax.Atom) -> Formula:
        """The node of events that are counted or aggregated, with all variables of the atom."""
        formula = self.formula(atom)
        if formula.delay != 0:
            hint = "count events from the input, or events derived from them at the same instant"
            raise self._problem("unsupported", f"`{render(atom)}` is detected later than it happens", atom, hint)
        return formula

    def report(self, node: Relation, formula: Formula) -> Formula:
        """The rows of a definition as they become final; ``formula``: its node.

        Of a filtered state an interval that has ended is final as soon as the state's is, earlier than it is known that
        there are no others.  One that a later event ends is final then, whatever other bindings wait for.
        """
        match node:
            case syntax.Filter() if self._sort(node) == "state":
                operand = self.report(node.operand, self.formula(node.operand))
                if operand.sort == "state":
                    operand = self.net.made(Loose(operand.variables), "dynamic", operand)
                long = LongPhenomena(operand.variables, node.op, self.ticks(node.duration, node))
                return self.net.made(long, "dynamic", operand)
            case syntax.And() if eager(self._state(node)):
                condition, state = (node.right, node.left)
                if self._sort(condition) != FACT:
                    condition, state = state, condition
                return self.conditions.conjoined(self.report(state, formula), condition)
            case syntax.MinimalRange() | syntax.Iteration() if eager(node):
                return self._eager(node)
        return formula

    def _state(self, node: Relation) -> Relation:
        """A formula without the conditions on it."""
        while isinstance(node, syntax.And) and FACT in (sides := (self._sort(node.left), self._sort(node.right))):
            node = node.left if sides[1] == FACT else node.right
        return node

    def _eager(self, node: Relation) -> Formula:
        """A minimal range or an iteration whose intervals are told one by one."""
        if isinstance(node, syntax.Iteration):
            ticks, operand = self.ticks(node.duration, node), self.formula(node.operand)
            later = ticks if node.op == "=" else None
            return self.net.made(EagerIteration(operand.variables, node.op, ticks), "dynamic", operand, later=later)
        left, right = self._operands(node)
        return self.net.made(EagerRange(left.variables, right.variables), "dynamic", left, right, later=None)

    def _sort(self, node: Relation) -> str:
        return sort(node, self.sorts)

    def _finite(self, node: Relation) -> bool:
        return finite(node, self.sorts)

    # --- atoms, conditions, projections --------------------------------------------------------------------------

    def _chain(self, node: Relation) -> Formula:
        """Conditions and projections around a formula.  Conditions on an atom's variables alone are tested while it is
        read, and what only they look at goes no further."""
        steps: list[Relation | frozenset[str]] = []
        final, base = variables(node), node
        while True:
            if isinstance(base, Project):
                steps.append(base.gone)
                base = base.operand
            elif isinstance(base, syntax.And) and FACT in (self._sort(base.left), self._sort(base.right)):
                condition, base = (base.right, base.left) if self._sort(base.right) == FACT else (base.left, base.right)
                steps.append(condition)
            else:
                break
        steps.reverse()
        reading = self._reading(base)
        if reading is not None:
            reading, steps = self._pushed(reading, steps)
        needed = final.union(*(variables(s) for s in steps if isinstance(s, Relation)))
        if reading is not None:
            formula = reading.formula(needed, self.net, self.kind, self.name)
        elif isinstance(base, syntax.Atom):
            formula = self._taken(base, needed)
        else:
            formula = self.formula(base)
        for step in steps:
            if isinstance(step, Relation):
                formula = self.conditions.conjoined(formula, step)
            else:
                formula = self.net.pooled(formula, frozenset(formula.variables) - step)
        return formula

    def _reading(self, node: Relation) -> Reading | None:
        """An atom over rows."""
        if isinstance(node, syntax.Atom) and node.name.text not in self.defined:
            return Reading.of(node, self.phenomena[node.name.text])
        return None

    def _taken(self, atom: syntax.Atom, wanted: frozenset[str]) -> Formula:
        """An atom over what another definition derives."""
        read = self.defined[atom.name.text]
        return taken(atom, self.phenomena[atom.name.text], read.head, read.delay, wanted, self.net)

    @staticmethod
    def _pushed(
        reading: Reading, steps: list[Relation | frozenset[str]]
    ) -> tuple[Reading, list[Relation | frozenset[str]]]:
        """Conditions on the atom's own variables are put into the reading.  A computed one, which might overflow, is
        not tested on rows that a condition before it or beside it leaves out."""
        left: list[Relation | frozenset[str]] = []
        first = True
        for step in steps:
            if not isinstance(step, Relation):
                left.append(step)
                continue
            if not has_facts(step) and first and variables(step) <= set(reading.read):
                reading = reading.where(expression(step))
                continue
            rest = []
            for part in parts(step):
                test: Expr | None = None if has_facts(part) else expression(part)
                if test is not None and variables(part) <= set(reading.read) and not computes(test):
                    reading = reading.where(test)
                else:
                    rest.append(part)
            if rest:
                first = False
                both = rest[0]
                for part in rest[1:]:
                    both = syntax.And(both, part)
                left.append(both)
        return reading, left

    # --- events ------------------------------------------------------------------------------------------------------

    def guarded(self, guard: Formula, node: Relation) -> Formula:
        """``guard ∧ φ``; if φ is true almost always, its variables are among the guard's."""
        if self._sort(node) == FACT:
            return self.conditions.conjoined(guard, node)
        if self._finite(node):
            left, right = self.net.alike(guard, self.formula(node))
            return self.net.made(Both(left.variables, right.variables), "event", left, right)
        match node:
            case syntax.Not():
                return self._without(guard, node.operand)
            case syntax.And():
                return self.guarded(self.guarded(guard, node.left), node.right)
            case syntax.Or():
                return self._either(self.guarded(guard, node.left), self.guarded(guard, node.right))
        raise self._unguarded(node)

    def _without(self, guard: Formula, node: Relation) -> Formula:
        """``guard ∧ ¬φ``."""
        if self._sort(node) == FACT:
            return self._less(guard, self.conditions.conjoined(guard, node))
        if self._finite(node):
            return self._less(guard, self.formula(node))
        match node:
            case syntax.Not():
                return self.guarded(guard, node.operand)
            case syntax.And():
                return self._either(self._without(guard, node.left), self._without(guard, node.right))
            case syntax.Or():
                return self._without(self._without(guard, node.left), node.right)
        raise self._unguarded(node)

    def _less(self, guard: Formula, formula: Formula) -> Formula:
        left, right = self.net.alike(guard, formula)
        return self.net.made(Without(left.variables, right.variables), "event", left, right)

    def _either(self, left: Formula, right: Formula) -> Formula:
        left, right = self.net.alike(left, right)
        return self.net.made(Either(left.variables), "event", left, right)

    # --- two operands ------------------------------------------------------------------------------------------------

    def _operands(self, node: Relation) -> tuple[Formula, Formula]:
        left, right = (self.formula(part) for part in node.parts)
        return self.net.alike(left, right)

    def _alike(self, of: Callable[[tuple[str, ...]], Node], node: Relation, sort: str) -> Formula:
        """Of two operands with the same variables."""
        left, right = self._operands(node)
        if left.variables != right.variables:
            raise self._problem("unbound-variable", "both sides need the same variables", node)
        return self.net.made(of(left.variables), sort, left, right)

    def _two(
        self, of: Callable[[tuple[str, ...], tuple[str, ...]], Node], node: Relation, sort: str, later: int = 0
    ) -> Formula:
        left, right = self._operands(node)
        if isinstance(node, syntax.Complement):
            self.net.keeps(Kept(_words(node), "one row", left.variables, "it ends"))
        return self.net.made(of(left.variables, right.variables), sort, left, right, later=later)

    def _range(self, of: type[MaximalRange] | type[MinimalRange], node: Relation) -> Formula:
        left, right = self._operands(node)
        later = 0 if of is MaximalRange else None
        self.net.keeps(Kept(_words(node), "one row", left.variables, "it is closed", True))
        return self.net.made(of(left.variables, right.variables), "state", left, right, later=later)

    def _iteration(self, node: syntax.Iteration) -> Formula:
        operand = self.formula(node.operand)
        ticks = self.ticks(node.duration, node)
        later = {"<": ticks - 1, "<=": ticks, "=": ticks}.get(node.op)
        until = "the run ends" if later is not None else "the next one"
        self.net.keeps(Kept(_words(node), "one row", operand.variables, until, later is None))
        return self.net.made(Iteration(operand.variables, node.op, ticks), "state", operand, later=later)

    def _filter(self, node: syntax.Filter) -> Formula:
        ticks = self.ticks(node.duration, node)
        if node.op in ("less", "at_most", "equal"):
            below = node.operand
            while isinstance(below, Project) or below is not self._state(below):
                below = below.operand if isinstance(below, Project) else self._state(below)
            self._longest[id(below)] = ticks - (node.op == "less")
        operand = self.formula(node.operand)
        if operand.sort == "state":
            return self.net.made(LongSpans(operand.variables, node.op, ticks), "state", operand, later=ticks)
        return self.net.made(LongPhenomena(operand.variables, node.op, ticks), "dynamic", operand, later=ticks)

    def _related(self, node: syntax.Related) -> Formula:
        left, right = (self._eager(part) if eager(part) else self.formula(part) for part in node.parts)
        if node.rel in _CONVERSE:
            left, right = right, left
        rel = _CONVERSE.get(node.rel, node.rel)
        rows, until, lasts = _KEPT[rel]
        words, bounded, sides = _words(node), None, (left.sort, right.sort, left.variables, right.variables)
        made = Related(rel, *sides)
        if rel == "before":
            longest = self._longest.get(id(node))
            if longest is None:
                bounded = f"filter({words}, less(D))"
            else:
                until, lasts = f"{until}, {longest} ticks at most", False
                made = ShortBefore(rel, *sides, longest)
        for side in (left, right):
            self.net.keeps(Kept(words, rows, side.variables, until, lasts, bounded))
        return self.net.made(made, "dynamic", left, right)

    # --- durations, problems -----------------------------------------------------------------------------------------

    def ticks(self, duration: Duration, node: syntax.Iteration | syntax.Filter | syntax.Measure) -> int:
        """A duration in whole ticks."""
        exact = self.kind.convert(duration)
        if exact is None:
            message, hint = missing_unit(self.kind)
            raise self._problem("missing-unit", message, node, hint)
        if exact <= 0 or exact.denominator != 1:
            raise self._problem("bad-duration", "the duration is not a positive whole number of ticks", node)
        # longer than there are ticks is as good as endless
        return min(int(exact), _LONGEST)

    def _unguarded(self, node: Relation) -> DefinitionProblem:
        return self._problem("unguarded-negation", "this is true at infinitely many instants", node)

    def _problem(
        self, kind: str, message: str, node: Relation | syntax.Measure, hint: str | None = None
    ) -> DefinitionProblem:
        span = getattr(node, "duration_span", None) or getattr(node, "span", None)
        return DefinitionProblem(Problem(kind, f"{message} in `{self.name}`", file=self.file, span=span, hint=hint))


def eager(node: Relation) -> bool:
    """Whether intervals are over when a later event says so, and that event may be long in coming."""
    return isinstance(node, syntax.MinimalRange) or (isinstance(node, syntax.Iteration) and node.op in ("=", ">=", ">"))


def _words(node: Relation) -> str:
    return render(unscoped(node))
