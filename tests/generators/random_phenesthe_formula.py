"""Random Phenesthe formulas, right by construction.

``event``, ``state`` and ``dynamic`` give a formula of their sort that binds exactly the variables asked for: every
other variable in it is new, so that it ends inside.  What no phenomenon has attributes for is joined of two.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tests.generators.random_phenesthe_words import DYNAMIC, EVENT, KEY, STATE, Vars, Words, kind_of, merged

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.time import Duration, TimeKind

#: variables of one formula
MOST = 3
_ANY, _LASTING = (EVENT, STATE, DYNAMIC), (STATE, DYNAMIC)
#: what each relation takes left and right (phenesthe.md, section 3); the inverses take it the other way round
_TAKES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "before": (_ANY, _ANY),
    "meets": (_LASTING, _LASTING),
    "overlaps": (_LASTING, _LASTING),
    "equals": (_LASTING, _LASTING),
    "finishes": (_ANY, _LASTING),
    "starts": (_ANY, _LASTING),
    "contains": (_LASTING, _ANY),
}
_INVERSE = dict(zip(("before", "meets", "overlaps", "finishes", "starts", "contains"), syntax.INVERSES, strict=True))


class Formulas:
    """Formulas over the phenomena of ``words``; a duration of n ticks is n times ``scale`` ticks of ``kind``."""

    def __init__(self, words: Words, kind: TimeKind, scale: int = 1) -> None:
        self.words, self.rng, self.kind, self.scale = words, words.rng, kind, scale

    def maker(self, sort: str) -> Callable[[Vars, int], Relation]:
        return {EVENT: self.event, STATE: self.state, DYNAMIC: self.dynamic}[sort]

    # --- one sort each ----------------------------------------------------------------------------------------------

    def event(self, variables: Vars, depth: int) -> Relation:
        atom = self.words.atom(EVENT, variables)
        if depth <= 0:
            if atom is None:  # no event has all of them
                key = [v for v in variables if self.is_key(v)]
                rest = [v for v in variables if v not in key]
                return syntax.And(self.event(merged(key, rest[:1]), 0), self.event(merged(key, rest[1:]), 0))
            return atom
        makers: list[tuple[float, Callable[[Vars, int], Relation | None]]] = [
            (2, lambda v, d: atom),
            (1.5, lambda v, d: self._either(syntax.Or, self.event, v, d)),
            (1.5, lambda v, d: self._both(syntax.And, self.event, self.event, v, d)),
            (2, self._guarded),
            (2, lambda v, d: self._conditioned(self.event, v, d)),
            (2, lambda v, d: self.rng.choice((syntax.Start, syntax.End))(self.state(v, d))),
            (1.5, lambda v, d: self._both(syntax.In, self.event, self.state, v, d)),
        ]
        return self._one(makers, variables, depth)

    def state(self, variables: Vars, depth: int) -> Relation:
        atom = self.words.atom(STATE, variables)
        if depth <= 0:
            return atom if atom is not None else self._range(variables, 0)
        makers: list[tuple[float, Callable[[Vars, int], Relation | None]]] = [
            (2, lambda v, d: atom),
            (3, self._range),
            (1, lambda v, d: self._leading(syntax.MinimalRange, self.event, v, d)),
            (1.5, lambda v, d: self._either(syntax.Union, self.state, v, d)),
            (1.5, lambda v, d: self._both(syntax.Intersection, self.state, self.state, v, d)),
            (1.5, lambda v, d: self._leading(syntax.Complement, self.state, v, d)),
            (2, self._iteration),
            (1.5, lambda v, d: self._filter(self.state, v, d)),
            (1.5, lambda v, d: self._conditioned(self.state, v, d)),
        ]
        return self._one(makers, variables, depth)

    def dynamic(self, variables: Vars, depth: int) -> Relation:
        atom = self.words.atom(DYNAMIC, variables)
        if depth <= 0:
            return atom if atom is not None else self._related(variables, -1)
        makers: list[tuple[float, Callable[[Vars, int], Relation | None]]] = [
            (1, lambda v, d: atom),
            (6, self._related),
            (1, lambda v, d: self._filter(self.dynamic, v, d)),
            (1.5, lambda v, d: self._conditioned(self.dynamic, v, d)),
        ]
        return self._one(makers, variables, depth)

    def _one(
        self, makers: list[tuple[float, Callable[[Vars, int], Relation | None]]], variables: Vars, depth: int
    ) -> Relation:
        weights = [w for w, _ in makers]
        while True:
            made = self.rng.choices(makers, weights)[0][1](variables, depth - 1)
            if made is not None:
                return made

    # --- variables over operands ------------------------------------------------------------------------------------

    def _with_local(self, variables: Vars, probability: float, kinds: str = "kkn") -> Vars:
        """The variables, and perhaps one that ends at the operator."""
        if len(variables) < MOST and self.words.chance(probability):
            return merged(variables, [self.words.fresh(self.rng.choice(kinds))])
        return variables

    def _split(self, variables: Vars) -> tuple[Vars, Vars]:
        """Every variable to the left, the right or both operands; a local one to both."""
        wide = self._with_local(variables, 0.3)
        left, right = [], []
        for v in wide:
            side = 0.0 if v not in variables or self.is_key(v) else self.rng.random()
            left += [v] * (side < 0.75)
            right += [v] * (side < 0.5 or side >= 0.75)
        return merged(left), merged(right)

    def _both(
        self,
        node: Callable[[Relation, Relation], Relation],
        left: Callable[[Vars, int], Relation],
        right: Callable[[Vars, int], Relation],
        variables: Vars,
        depth: int,
    ) -> Relation:
        """A join: together the operands bind the variables."""
        one, other = self._split(variables)
        return node(left(one, depth), right(other, depth))

    def is_key(self, variable: str) -> bool:
        """Whether every operand must have a variable."""
        return self.words.keyed and variable == KEY

    def _either(
        self,
        node: Callable[[Relation, Relation], Relation],
        operand: Callable[[Vars, int], Relation],
        variables: Vars,
        depth: int,
    ) -> Relation:
        """Both sides have the same variables."""
        wide = self._with_local(variables, 0.15)
        return node(operand(wide, depth), operand(wide, depth))

    def _leading(
        self,
        node: Callable[[Relation, Relation], Relation],
        operand: Callable[[Vars, int], Relation],
        variables: Vars,
        depth: int,
    ) -> Relation:
        """The right side has a part of the variables of the left one."""
        wide, narrow = self._led(variables)
        return node(operand(wide, depth), operand(narrow, depth))

    def _led(self, variables: Vars) -> tuple[Vars, Vars]:
        wide = self._with_local(variables, 0.2)
        local = [v for v in wide if v not in variables]
        return wide, merged(local, self.words.some(variables))

    # --- operators --------------------------------------------------------------------------------------------------

    def _range(self, variables: Vars, depth: int) -> Relation:
        return self._leading(syntax.MaximalRange, self.event, variables, depth)

    def _guarded(self, variables: Vars, depth: int) -> Relation:
        """A formula and one that is true almost always."""
        wide, narrow = self._led(variables)
        return self._swapped(syntax.And, self.event(wide, depth), self._cofinite(narrow, depth))

    def _swapped(self, node: Callable[[Relation, Relation], Relation], left: Relation, right: Relation) -> Relation:
        return node(right, left) if self.words.chance(0.2) else node(left, right)

    def _cofinite(self, variables: Vars, depth: int) -> Relation:
        roll = self.rng.random()
        if depth <= 0 or roll < 0.6:
            return syntax.Not(self.event(variables, min(depth, 1)))
        if roll < 0.75:
            return self._swapped(syntax.Or, self._cofinite(variables, depth - 1), self.event(variables, depth - 1))
        if roll < 0.9:
            return syntax.And(self._cofinite(self.words.some(variables), 0), self._cofinite(variables, 0))
        return syntax.Not(syntax.And(self.event(variables, 0), self._cofinite(self.words.some(variables), 0)))

    def _conditioned(self, operand: Callable[[Vars, int], Relation], variables: Vars, depth: int) -> Relation:
        return self._swapped(syntax.And, *self.joined(operand, variables, depth))

    def joined(
        self, operand: Callable[[Vars, int], Relation], variables: Vars, depth: int
    ) -> tuple[Relation, Relation]:
        """A formula and a condition that is joined with it; a fact may bind one of the variables."""
        wide = self._with_local(variables, 0.5 if variables else 1.0, "knn")
        bound = self.rng.choice(wide)
        if self.words.chance(0.2) and not self.is_key(bound):
            rest = merged(v for v in wide if v != bound)
            keys = [v for v in rest if kind_of(v) == "k"]
            fact = self.words.fact(merged([bound], keys[:1]))
            if fact is not None:
                further = self.words.chance(0.2)
                return operand(rest, depth), syntax.And(fact, self.words.comparison(wide)) if further else fact
        local = [v for v in wide if v not in variables]
        return operand(wide, depth), self.words.condition(merged(local, self.words.some(wide, 1)))

    def _iteration(self, variables: Vars, depth: int) -> Relation:
        op = self.rng.choice(("<", "<", "<=", "=", ">=", ">"))
        return syntax.Iteration(self.event(variables, depth), op, self.duration(2 if op == "<" else 1, 4))

    def _filter(self, operand: Callable[[Vars, int], Relation], variables: Vars, depth: int) -> Relation:
        op = self.rng.choice(("less", "at_most", "equal", "at_least", "at_least", "at_least", "greater", "greater"))
        least, most = {"less": (3, 12), "at_most": (2, 12), "equal": (1, 5)}.get(op, (1, 10))
        if op in ("at_least", "greater") and operand == self.state and self.words.chance(0.5):
            # what is often still open, and passes when it has lasted long enough
            operand = self._range
        return syntax.Filter(operand(variables, depth), op, self.duration(least, most))

    def duration(self, least: int, most: int) -> Duration:
        ticks = self.rng.randint(least, most) * self.scale
        if self.kind.tick is None or (not self.kind.timestamp and self.words.chance(0.3)):
            return Duration(Fraction(ticks), ticks=True)
        return Duration(Fraction(ticks * self.kind.tick))

    def _related(self, variables: Vars, depth: int) -> Relation:
        rel = self.rng.choices(list(_TAKES), [3, 1, 1.5, 1, 1, 1, 2])[0]
        left, right = (self._operand(sorts, depth) for sorts in _TAKES[rel])
        name, sides = rel, [left, right]
        if rel in _INVERSE and self.words.chance(0.25):
            name, sides = _INVERSE[rel], [right, left]
        return self._both(lambda a, b: syntax.Related(name, a, b), sides[0], sides[1], variables, depth)

    def _operand(self, sorts: tuple[str, ...], depth: int) -> Callable[[Vars, int], Relation]:
        there = [s for s in sorts if s != DYNAMIC or depth > 0 or (depth == 0 and self._has(s))]
        sort = self.rng.choices(there, [{EVENT: 1.0, STATE: 2.0, DYNAMIC: 1.5}[s] for s in there])[0]
        return self.maker(sort)

    def _has(self, sort: str) -> bool:
        return any(p.sort == sort for p in self.words.known)
