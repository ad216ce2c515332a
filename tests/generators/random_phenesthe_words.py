"""The vocabulary of one random Phenesthe program: phenomena, variables, atoms and conditions over bound variables.

Variables have a kind, ``k`` (keys) or ``n`` (numbers), told by their first letter, so that whatever is joined or
compared has types that go together.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from occurs.expr import tree
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.types import Type

EVENT, STATE, DYNAMIC, FACT = "event", "state", "dynamic", "fact"
COMPARE = ("<", "<=", ">", ">=", "!=", "=")
#: sets of variables are sorted tuples: the order of a set of text is another in every process
Vars = tuple[str, ...]
#: in every atom of a program that can be split
KEY = "X"


@dataclass(frozen=True)
class Known:
    """A phenomenon or fact that formulas may use; ``attributes``: (name, kind); ``key``: the number of that by which a
    program can be split."""

    name: str
    sort: str
    attributes: tuple[tuple[str, str], ...]
    changes: bool = False
    #: comes with the input
    given: bool = True
    key: int | None = None


def kind_of(variable: str) -> str:
    """``n`` of variables N, N1.., ``k`` of all others."""
    return "n" if variable[0] == "N" else "k"


def merged(*parts: Iterable[str]) -> Vars:
    return tuple(sorted({v for part in parts for v in part}))


class Words:
    """Values, names and the phenomena that are there so far."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.key_type = rng.choice((Type.STRING, Type.STRING, Type.STRING, Type.INT, Type.INT, Type.BOOL))
        names: dict[Type, tuple[Any, ...]] = {
            Type.STRING: ("u", "v", "w"), Type.INT: (1, 2, 3), Type.BOOL: (True, False)
        }  # fmt: skip
        self.keys = names[self.key_type][: rng.choice((1, 2, 2, 3))]
        self.numbers: tuple[Any, ...] = rng.choice(((0, 1), (0, 1, 2), (0, 0.5, 1), (-1, 0, 1), (1, 2.0, 2.5)))
        self.known: list[Known] = []
        #: the program can be split by ``KEY``
        self.keyed = rng.random() < 0.25
        self._fresh = 0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def fresh(self, kind: str) -> str:
        """A variable that no formula has yet."""
        self._fresh += 1
        return f"{'N' if kind == 'n' else 'A'}{self._fresh}"

    def constant(self, kind: str) -> syntax.Constant:
        value = self.rng.choice(self.numbers if kind == "n" else self.keys)
        if kind == "n":
            return syntax.Constant(value, Type.FLOAT if isinstance(value, float) else Type.INT)
        return syntax.Constant(value, self.key_type)

    def some(self, variables: Sequence[str], least: int = 0) -> Vars:
        """A random part of some variables, at least so many; with the key if there is one."""
        part = self.rng.sample(variables, self.rng.randint(min(least, len(variables)), len(variables)))
        return merged(part, [v for v in variables if v == KEY and self.keyed])

    # --- atoms ------------------------------------------------------------------------------------------------------

    def atom(self, sort: str, variables: Vars) -> syntax.Atom | None:
        """An atom of a sort that binds exactly these variables (and others that nothing else uses); None if no
        phenomenon has enough attributes."""
        fit = [p for p in self.known if p.sort == sort and self._fits(p, variables)]
        if not fit:
            return None
        # what is derived is used more often than there is of it
        weights = [1.0 if p.given else 1.5 for p in fit]
        return self.atom_of(self.rng.choices(fit, weights)[0], variables)

    def _fits(self, p: Known, variables: Vars) -> bool:
        if self.keyed and KEY in variables and p.key is None and p.sort != FACT:
            return False
        wanted, there = [kind_of(v) for v in variables], [kind for _, kind in p.attributes]
        return all(wanted.count(kind) <= there.count(kind) for kind in "kn")

    def atom_of(self, p: Known, variables: Vars) -> syntax.Atom:
        """An atom of one phenomenon; ``variables`` fit its attributes."""
        rng = self.rng
        keyed = self.keyed and KEY in variables and p.key is not None
        places: dict[int, syntax.Value] = {p.key: syntax.Variable(KEY)} if keyed and p.key is not None else {}
        for kind in "kn":
            free = [i for i, (_, k) in enumerate(p.attributes) if k == kind and i not in places]
            rng.shuffle(free)
            mine = [v for v in variables if kind_of(v) == kind]
            for v in mine:
                if not (keyed and v == KEY):
                    places[free.pop()] = syntax.Variable(v)
            for i in free:
                places[i] = self._unneeded(kind, mine)
        return syntax.Atom(syntax.Name(p.name), *self._arguments(p, places))

    def _unneeded(self, kind: str, mine: Sequence[str]) -> syntax.Value:
        roll = self.rng.random()
        if roll < 0.08:
            return self.constant(kind)
        if roll < 0.14 and mine:
            return syntax.Variable(self.rng.choice(mine))
        if roll < 0.2:
            return syntax.Variable(self.fresh(kind))
        return syntax.Anything()

    def _arguments(self, p: Known, places: dict[int, syntax.Value]) -> tuple[tuple[syntax.Argument, ...], bool]:
        """The arguments, by position or by name, and whether ``...`` stands for the rest."""
        values = [places[i] for i in range(len(p.attributes))]
        first = len(values)
        while first and isinstance(values[first - 1], syntax.Anything):
            first -= 1
        if values and self.chance(0.15):
            begin = self.rng.randint(0, len(values))
            named = [
                syntax.Argument(v, syntax.Name(n))
                for v, (n, _) in list(zip(values, p.attributes))[begin:]
                if not isinstance(v, syntax.Anything)
            ]
            self.rng.shuffle(named)
            return (*map(syntax.Argument, values[:begin]), *named), not named and begin < len(values)
        if first < len(values) and self.chance(0.4):
            return tuple(map(syntax.Argument, values[:first])), True
        return tuple(map(syntax.Argument, values)), False

    # --- conditions -------------------------------------------------------------------------------------------------

    def condition(self, variables: Vars, depth: int = 1) -> Relation:
        """A condition on variables (one at least), all of which are bound by what it is joined with."""
        roll = self.rng.random()
        if depth and roll < 0.25:
            parts = self.condition(variables, depth - 1), self.condition(variables, depth - 1)
            return syntax.Or(*parts) if roll < 0.15 else syntax.And(*parts)
        if depth and roll < 0.4:
            return syntax.Not(self.condition(variables, depth - 1))
        if roll < 0.52 and (fact := self.fact(self.some(variables))) is not None:
            return syntax.Not(fact) if self.chance(0.4) else fact
        return self.comparison(variables)

    def fact(self, variables: Vars) -> syntax.Atom | None:
        """A fact atom that uses exactly these variables."""
        fit = [p for p in self.known if p.sort == FACT and self._fits(p, variables)]
        return self.atom_of(self.rng.choice(fit), variables) if fit else None

    def comparison(self, variables: Vars) -> syntax.Comparison:
        rng = self.rng
        kind = kind_of(rng.choice(variables))
        mine = [v for v in variables if kind_of(v) == kind]
        one, other = tree.Ref(None, rng.choice(mine)), tree.Ref(None, rng.choice(mine))
        if kind == "k":
            right: tree.Expr = other if one != other and self.chance(0.6) else self._literal("k")
            if self.chance(0.2):
                return syntax.Comparison(tree.In(one, tuple(self._literal("k") for _ in range(rng.randint(1, 2)))))
            loose = ("!=", "=") if self.key_type is Type.BOOL else ("!=", "!=", "=", "<=", ">")
            return syntax.Comparison(tree.Binary(rng.choice(loose), one, right))
        right = other if one != other and self.chance(0.5) else self._literal("n")
        return syntax.Comparison(tree.Binary(rng.choice(COMPARE[:5]), self._number(one, other), right))

    def _number(self, one: tree.Expr, other: tree.Expr) -> tree.Expr:
        """An expression over numbers, null or divided by zero at times."""
        roll = self.rng.random()
        if roll < 0.4:
            return one
        if roll < 0.65:
            return tree.Binary("/", tree.Literal(1, Type.INT), other)
        if roll < 0.72:
            return tree.Unary("neg", one)
        if roll < 0.8:
            return tree.Binary("mod", one, self.rng.choice((other, tree.Literal(2, Type.INT))))
        return tree.Binary(self.rng.choice("+-*"), one, self.rng.choice((other, self._literal("n"))))

    def _literal(self, kind: str) -> tree.Expr:
        constant = self.constant(kind)
        if kind == "n" and constant.value < 0:
            return tree.Unary("neg", tree.Literal(-constant.value, constant.type))
        return tree.Literal(constant.value, constant.type)
