"""Random formulas of temporal triggers, right by construction.

``formula`` gives one of a flavour: ``future`` (past operators inside are past), ``past``, or ``now`` (none at all).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from occurs.expr import tree
from occurs.expr.tree import Expr
from occurs.languages.logic import syntax
from occurs.languages.logic.syntax import Formula
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

FUTURE, PAST, NOW = "future", "past", "now"
#: what a variable may be: a number, a time, a text, a boolean, a relation with the columns of ``T``
NUMBER, TIME, TEXT, BOOLEAN, RELATION = "number", "time", "text", "boolean", "relation"

TRUE = syntax.Truth(True)


@dataclass(frozen=True)
class Known:
    """What a program has: names of numeric, boolean and textual terms that cost little, and of events.

    ``events``: with the attribute that is a number and the one that is a text, if any.  ``table``: is there
    ``T(k string key, v int)``?  ``views``: the view ``total`` over it, and ``above(m)``, of one number each.
    """

    numbers: tuple[str, ...]
    booleans: tuple[str, ...]
    events: tuple[tuple[str, str | None, str | None], ...] = ()
    texts: tuple[str, ...] = ()
    table: bool = False
    views: bool = False


@dataclass
class Formulas:
    """Formulas over what is ``known``; ``scale``: ticks of the shortest bound; ``texts``: that are there."""

    rng: random.Random
    known: Known
    kind: TimeKind
    scale: int = 1
    texts: tuple[str, ...] = ("u", "v")
    generics: Mapping[str, str] = field(default_factory=dict)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # --- formulas -----------------------------------------------------------------------------------------------------

    def formula(self, depth: int, flavour: str, bound: Mapping[str, str] | None = None) -> Formula:
        """A formula with operators to a ``depth``; ``bound``: global variables with what they are."""
        bound = bound or {}
        if depth <= 0:
            return self.atom(bound)
        choices: list[tuple[float, Callable[[], Formula]]] = [
            (1.0, lambda: self.atom(bound)),
            (1.0, lambda: syntax.Not(self.formula(depth - 1, flavour, bound))),
            (2.0, lambda: self.connected(depth, flavour, bound)),
        ]
        if flavour != NOW:
            choices.append((2.5, lambda: self.assigned(depth, flavour, bound)))
        if flavour == FUTURE:
            choices += [
                (1.0, lambda: syntax.Nexttime(self.formula(depth - 1, FUTURE, bound))),
                (3.0, lambda: self.ranged(depth, FUTURE, bound)),
                (2.5, lambda: self.paired(depth, FUTURE, bound)),
                (0.8, lambda: self.formula(depth, PAST, bound)),
            ]
        if flavour == PAST:
            choices += [
                (1.0, lambda: syntax.Lasttime(self.formula(depth - 1, PAST, bound))),
                (3.0, lambda: self.ranged(depth, PAST, bound)),
                (2.5, lambda: self.paired(depth, PAST, bound)),
            ]
        return self.rng.choices([make for _, make in choices], [w for w, _ in choices])[0]()

    def connected(self, depth: int, flavour: str, bound: Mapping[str, str]) -> Formula:
        one, other = (self.formula(depth - 1, flavour, bound) for _ in range(2))
        if self.chance(0.15):
            return syntax.Implies(one, other)
        more = (self.atom(bound),) * self.chance(0.15)
        return (syntax.And if self.chance(0.6) else syntax.Or)((one, other, *more))

    def ranged(self, depth: int, flavour: str, bound: Mapping[str, str]) -> Formula:
        inner = self.formula(depth - 1, flavour, bound)
        within = self.bound() if self.chance(0.5) else None
        if flavour == FUTURE:
            return syntax.Eventually(inner, within) if self.chance(0.65) else syntax.Always(inner, within)
        return syntax.Previously(inner, within) if self.chance(0.65) else syntax.Throughout(inner, within)

    def paired(self, depth: int, flavour: str, bound: Mapping[str, str]) -> Formula:
        left = TRUE if self.chance(0.08) else self.formula(depth - 1, flavour, bound)
        right = TRUE if self.chance(0.08) else self.formula(depth - 1, flavour, bound)
        within = self.bound() if self.chance(0.5) else None
        if flavour == PAST:
            return syntax.Since(left, right, within)
        if self.chance(0.15):
            return syntax.WeakUntil(left, right)
        return (syntax.Release if self.chance(0.2) else syntax.Until)(left, right, within)

    def bound(self) -> syntax.Bound:
        op = self.rng.choice(("<=", "<=", "<=", ">=", "=", "<", ">", "in"))
        if op == "in":
            low = self.rng.randint(0, 3)
            return syntax.Bound(op, self.duration(low), self.duration(low + self.rng.randint(1, 3)))
        return syntax.Bound(op, self.duration(self.rng.randint(1, 5)))

    def duration(self, amount: int) -> Duration:
        """So many of the shortest bounds; timestamps need units."""
        ticks = amount * self.scale
        tick = self.kind.tick
        return Duration(Fraction(ticks), ticks=True) if tick is None else Duration(Fraction(ticks * tick))

    def assigned(self, depth: int, flavour: str, bound: Mapping[str, str]) -> Formula:
        """An assignment; now and then its variable hides one of the same name."""
        what = self.rng.choice((NUMBER, NUMBER, NUMBER, TIME, TIME, TEXT, BOOLEAN, RELATION))
        if (what == RELATION and not self.known.table) or (what == TEXT and not self.text_term(bound)):
            what = NUMBER
        prefix = {NUMBER: "x", TIME: "t", TEXT: "w", BOOLEAN: "z", RELATION: "r"}[what]
        count = sum(name.startswith(prefix) for name in bound)
        name = f"{prefix}{max(count, 1) if self.chance(0.2) else count + 1}"
        return syntax.Assign(
            syntax.Name(name), self.remembered(what, bound), self.formula(depth, flavour, {**bound, name: what})
        )

    def remembered(self, what: str, bound: Mapping[str, str]) -> Expr:
        if what == TIME:
            return tree.Ref(None, "time")
        if what == BOOLEAN:
            return tree.Ref(None, self.rng.choice(self.known.booleans))
        if what == RELATION:
            return tree.Ref(None, "T")
        if what == TEXT:
            return self.text_term(bound) or tree.Literal("u", Type.STRING)
        return self.number(bound, 1) if self.chance(0.3) else self.variable(bound)

    # --- atoms --------------------------------------------------------------------------------------------------------

    def atom(self, bound: Mapping[str, str]) -> Formula:
        choices: list[tuple[float, Callable[[], Formula | None]]] = [
            (3, lambda: syntax.Atom(tree.Ref(None, self.rng.choice(self.known.booleans)))),
            (3, lambda: self.comparison(bound)),
            (3, lambda: self.remembering(bound)),
            (2, lambda: self.of_time(bound)),
            (2, lambda: self.event(bound)),
            (0.3, lambda: syntax.IsNull(self.number(bound, 0), self.chance(0.5))),
            (1, lambda: self.exists(bound)),
            (1, lambda: self.of_text(bound)),
            (0.1, lambda: syntax.Truth(self.chance(0.5))),
        ]
        weights = [w for w, _ in choices]
        while True:
            made = self.rng.choices([make for _, make in choices], weights)[0]()
            if made is not None:
                return made

    def comparison(self, bound: Mapping[str, str]) -> Formula:
        op = self.rng.choice(("<", "<=", ">", ">=", "=", "!="))
        return syntax.Compare(op, self.number(bound, 1), self.number(bound, 0))

    def remembering(self, bound: Mapping[str, str]) -> Formula | None:
        """A value now against one that was remembered."""
        name = self.of(bound, NUMBER)
        if name is None:
            return None
        op = self.rng.choice(("<", "<=", ">", ">=", "!=", "="))
        other: Expr = tree.Ref(None, name)
        if self.chance(0.4):
            other = tree.Binary(self.rng.choice("+*"), self.literal(), other)
        return syntax.Compare(op, self.variable(bound), other)

    def of_time(self, bound: Mapping[str, str]) -> Formula | None:
        """The time now against one that was remembered, or a fixed one."""
        name = self.of(bound, TIME)
        now: Expr = tree.Ref(None, "time")
        if name is None:
            if self.kind.timestamp:
                return None
            fixed = tree.Literal(self.rng.randint(0, 12), Type.INT)
            return syntax.Compare(self.rng.choice(("<=", ">=", "=", "<", ">", "!=")), now, fixed)
        length = tree.DurationLiteral(self.duration(self.rng.randint(1, 5)))
        start: Expr = tree.Ref(None, name)
        op = self.rng.choice(("<=", "<=", ">=", ">=", "<", ">", "=", "!="))
        shape = self.rng.randint(0, 3)
        if shape == 0:
            return syntax.Compare(op, now, tree.Binary(self.rng.choice("+-"), start, length))
        if shape == 1:
            return syntax.Compare(op, tree.Binary("-", now, start), length)
        if shape == 2:
            return syntax.Compare(op, tree.Binary("-", start, length), now)
        return syntax.Compare(op, tree.Binary("-", start, now), tree.Unary("neg", length))

    def event(self, bound: Mapping[str, str]) -> Formula | None:
        if not self.known.events:
            return None
        name, number, text = self.rng.choice(self.known.events)
        wanted: dict[str, Expr] = {}
        if number is not None and self.chance(0.25):
            wanted[number] = self.number(bound, 0)
        if text is not None and self.chance(0.5):
            wanted[text] = self.text_term(bound) or tree.Literal(self.rng.choice(self.texts), Type.STRING)
        if not wanted:
            return syntax.Atom(tree.Ref(None, name))
        return syntax.Atom(syntax.Apply(name, tuple(wanted.values()), tuple(wanted)))

    def exists(self, bound: Mapping[str, str]) -> Formula | None:
        """Over the table, perhaps with a remembered relation or number."""
        if not self.known.table or self.chance(0.5):
            return None
        relation, number = self.of(bound, RELATION), self.of(bound, NUMBER)
        if relation is not None:
            sql = f"select 1 from {relation} o join T n on n.k = o.k where n.v >= 2 * o.v"
        elif number is not None and self.chance(0.7):
            sql = f"select 1 from T where v > :{number}"
        elif self.generics and self.chance(0.7):
            sql = f"select v from T where k = :{self.rng.choice(list(self.generics))} and v > 1"
        else:
            sql = self.rng.choice(("select * from T where v > 2", "select count(*) from T having count(*) > 1"))
        return syntax.Exists(syntax.Sql(sql))

    def of_text(self, bound: Mapping[str, str]) -> Formula | None:
        one, other = self.text_term(bound), self.text_term(bound)
        if one is None or other is None:
            return None
        if self.chance(0.4):
            other = tree.Literal(self.rng.choice(self.texts), Type.STRING)
        return syntax.Compare(self.rng.choice(("=", "!=")), one, other)

    # --- terms --------------------------------------------------------------------------------------------------------

    def of(self, bound: Mapping[str, str], what: str) -> str | None:
        """A global variable of a kind."""
        names = [n for n, w in bound.items() if w == what]
        return self.rng.choice(names) if names else None

    def literal(self) -> Expr:
        """A small number, at times with a half."""
        if self.chance(0.15):
            return tree.Literal(self.rng.choice((0.5, 1.5, 2.5)), Type.FLOAT)
        return tree.Literal(self.rng.randint(0, 4), Type.INT)

    def variable(self, bound: Mapping[str, str]) -> Expr:
        """A value of the state."""
        if self.known.table and self.chance(0.35):
            return syntax.Apply("T", (self.key(bound),), (None,), "v" if self.chance(0.3) else None)
        if self.known.views and self.chance(0.2):
            return tree.Ref(None, "total")
        numbers = [(n, a) for n, a, _ in self.known.events if a is not None]
        if numbers and self.chance(0.15):
            return tree.Ref(*self.rng.choice(numbers))
        return tree.Ref(None, self.rng.choice(self.known.numbers))

    def key(self, bound: Mapping[str, str]) -> Expr:
        """Of a row of the table."""
        if self.generics and self.chance(0.8):
            return tree.Ref(None, self.rng.choice(list(self.generics)))
        remembered = self.of(bound, TEXT) if self.chance(0.4) else None
        if remembered is not None:
            return tree.Ref(None, remembered)
        return tree.Literal(self.rng.choice(self.texts), Type.STRING)

    def text_term(self, bound: Mapping[str, str]) -> Expr | None:
        """A text that is no literal."""
        names = [n for n, w in bound.items() if w == TEXT] + list(self.generics) + list(self.known.texts)
        refs: list[Expr] = [tree.Ref(None, n) for n in names]
        refs += [tree.Ref(n, t) for n, _, t in self.known.events if t is not None][:1]
        return self.rng.choice(refs) if refs else None

    def number(self, bound: Mapping[str, str], depth: int) -> Expr:
        roll = self.rng.random()
        if depth > 0 and roll < 0.2:
            op = self.rng.choice(("+", "-", "*", "+", "-", "/", "mod"))
            return tree.Binary(op, self.number(bound, 0), self.number(bound, 0))
        if roll < 0.3 and (name := self.of(bound, NUMBER)) is not None:
            return tree.Ref(None, name)
        if roll < 0.4:
            return self.aggregate()
        if roll < 0.45:
            return syntax.Apply(self.rng.choice(("abs", "floor")), (self.variable(bound),), (None,))
        if roll < 0.48 and self.known.views:
            return syntax.Apply("above", (self.literal(),), (None,))
        return self.literal() if roll > 0.75 else self.variable(bound)

    def aggregate(self) -> Expr:
        """Of a variable, since something was so or over some time."""
        op = self.rng.choice(("sum", "avg", "count", "min", "max"))
        arg: Expr = tree.Ref(None, self.rng.choice(self.known.numbers))
        if self.chance(0.4):
            return syntax.Aggregate(op, arg, None, self.duration(self.rng.randint(1, 5)))
        plain = replace(self, known=replace(self.known, table=False, views=False), generics={})
        return syntax.Aggregate(op, arg, plain.simple())

    def simple(self) -> Formula:
        """The predicate of an aggregate: nothing temporal, no variables."""
        name, _, _ = self.rng.choice(self.known.events) if self.known.events else ("", None, None)
        if name and self.chance(0.4):
            return syntax.Atom(tree.Ref(None, name))
        flag: Formula = syntax.Atom(tree.Ref(None, self.rng.choice(self.known.booleans)))
        test = syntax.Compare(
            self.rng.choice(("<", ">=", "=")), tree.Ref(None, self.rng.choice(self.known.numbers)), self.literal()
        )
        return self.rng.choice((flag, syntax.Not(flag), test, syntax.And((flag, test))))
