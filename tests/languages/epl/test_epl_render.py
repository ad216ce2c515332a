"""EPL trees as text: from random trees of all kinds, through their text, back to the same trees."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from tests.amount import amount

from occurs.expr import tree as core
from occurs.expr.tree import Binary, Expr, Literal, Ref, Unary
from occurs.languages.epl import syntax as s
from occurs.languages.epl.parser import parse
from occurs.languages.epl.parser.tree import chained
from occurs.languages.epl.render import render
from occurs.languages.epl.words import UNITS
from occurs.languages.kit.expressions import LONG
from occurs.model.time import Duration
from occurs.model.types import Type

NAMES = ["a", "b1", "Patient", "$x", "_", "select", "Every", "min", "time", "ünï", "day", "two words", "pattern", "L"]
TEXTS = ["", "it's", 'say "hi"', "back\\slash", "\n\t", "\x00", "😀", "--", "// no comment", "/*", ";", "`", "\\'", "ä"]
NUMBERS = [0, 1, 7, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, -5, 0.1, 5.0, 1e300, -2.5, 1e-9, -(2**63)]


class Trees:
    """Random trees; what the parser can never give (chains of `and` of another shape) is not made."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def pick(self, items: Any) -> Any:
        return self.random.choice(list(items))

    def some(self, make: Any, least: int = 0, most: int = 3) -> tuple[Any, ...]:
        return tuple(make() for _ in range(self.random.randint(least, most)))

    def maybe(self, make: Any) -> Any:
        return make() if self.random.random() < 0.5 else None

    def text(self) -> str:
        return self.pick(NAMES)

    def name(self) -> s.Name:
        return s.Name(self.text())

    def flag(self) -> bool:
        return self.random.random() < 0.5

    # --- expressions -------------------------------------------------------------------------------------------------

    def duration(self) -> Duration:
        size = self.pick([1, 1000, 10**6, 6 * 10**7, 3600 * 10**6, 86400 * 10**6, 7 * 86400 * 10**6])
        amount = Fraction(self.random.randint(0, 10 ** self.random.randint(0, 5)) * size)
        return Duration(amount + Fraction(self.pick([0, 0, 0, 1, 2]), 8))

    def period(self) -> s.Period:
        """A length with years or months."""
        years, months, weeks, days = (self.random.randint(0, 3) for _ in range(4))
        months += not years
        rest = Fraction(self.pick([0, 0, 1, 3_600_000_000, 5_400_000_000]))
        amount = (366 * years + 31 * months + 7 * weeks + days) * 86_400_000_000 + rest
        return s.Period(amount, False, years, months, weeks, days, rest)

    def fixed(self) -> Duration:
        return self.pick([self.duration, self.period])()

    def length(self) -> Duration:
        """A length of time, perhaps one that earlier events say."""
        return self.pick([self.duration, self.duration, self.period, self.computed])()

    def computed(self) -> s.Computed:
        if self.flag():
            found = self.expr(self.pick([0, 1, 2]))
            constant = isinstance(found, core.DurationLiteral) or (isinstance(found, Literal) and found.type.numeric)
            return s.Computed(parts=((self.path() if constant else found, UNITS["sec"]),))
        amounts: list[Expr] = [self.path(), *self.some(lambda: self.pick([self.path, self.amount])())]
        return s.Computed(parts=tuple((a, UNITS[self.pick(["week", "day", "hour", "min", "msec"])]) for a in amounts))

    def path(self) -> Ref:
        return Ref(self.maybe(self.text), self.text())

    def amount(self) -> Literal:
        return self.pick([Literal(7, Type.INT), Literal(2.5, Type.FLOAT)])

    def literal(self) -> Literal:
        value = self.pick([None, True, False, self.pick(TEXTS), self.pick(NUMBERS), self.pick(NUMBERS)])
        kinds = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING, type(None): Type.NULL}
        return Literal(value, kinds[type(value)])

    def ref(self) -> Ref:
        scope = self.maybe(self.text)
        return Ref(scope, self.text(), self.pick([None, 0, 12]) if scope is not None else None)

    def expr(self, depth: int) -> Expr:
        if depth == 0:
            if self.random.random() < 0.05:
                return s.Parameter(self.pick([None, "a", "B_2"]), self.pick(["", "int", "string"]))
            return self.pick([self.literal, self.ref, self.ref, lambda: core.DurationLiteral(self.duration())])()
        return self.pick([self.connected, self.connected, self.negated, self.arithmetic, self.arithmetic, self.compared,
                          self.compared, self.tested, self.tested, self.minus, self.case, self.call, self.concat,
                          lambda _: self.expr(0)])(depth - 1)  # fmt: skip

    def connected(self, depth: int) -> Expr:
        op = self.pick(["and", "or"])
        parts: list[Expr] = []
        for _ in range(self.random.randint(2, 4)):
            parts += chained(op, self.expr(depth))
        return balanced(op, parts)

    def negated(self, depth: int) -> Expr:
        return Unary("not", self.expr(depth))

    def minus(self, depth: int) -> Expr:
        arg = self.expr(depth)
        return arg if isinstance(arg, Literal) and arg.type.numeric else Unary("neg", arg)

    def arithmetic(self, depth: int) -> Expr:
        return Binary(self.pick("+-*/%"), self.expr(depth), self.expr(depth))

    def compared(self, depth: int) -> Expr:
        return Binary(self.pick(core.COMPARISONS), self.expr(depth), self.expr(depth))

    def concat(self, depth: int) -> Expr:
        return s.Concat(self.expr(depth), self.expr(depth))

    def tested(self, depth: int) -> Expr:
        def make() -> Expr:
            return self.expr(depth)

        arg, no = make(), self.flag()
        return self.pick([
            lambda: core.IsNull(arg, no),
            lambda: core.In(arg, self.some(make, 1), no),
            lambda: core.Like(arg, make(), no),
            lambda: s.Between(arg, make(), make(), no),
            lambda: s.InRange(arg, make(), make(), (self.flag(), self.flag()), no),
        ])()  # fmt: skip

    def case(self, depth: int) -> Expr:
        return s.Case(self.some(lambda: self.expr(depth), 2, 5))

    def call(self, depth: int) -> Expr:
        name = self.pick(["abs", "coalesce", "min", "max", "f"])
        args = self.some(lambda: self.expr(depth), 0)
        # of a name that is no function, one text is the key of a value
        return core.Call(name, args * 2 if len(args) == 1 and isinstance(args[0], core.Literal) else args)

    # --- patterns ----------------------------------------------------------------------------------------------------

    def filter(self) -> s.Filter:
        conditions = self.some(lambda: self.expr(self.pick([0, 1, 2])), 0, 2)
        return s.Filter(self.name(), self.maybe(self.name), conditions, self.pick([0, 0, 1, 3]))

    def cron(self, depth: int = 2) -> s.Cron:
        kind = self.pick(["any", "at", "step", "range", *s.DAY_RULES] + ["list"] * (depth > 0))
        if kind == "list":
            return s.Cron(kind, items=self.some(lambda: self.cron(depth - 1), 1))
        low = 0 if kind in ("any", "last", "last_weekday") else self.random.randint(0, 59)
        return s.Cron(kind, low, self.random.randint(0, 59) if kind == "range" else 0)

    def at(self) -> s.At:
        if self.flag():
            return s.At(self.some(self.cron, 5, 6))
        return s.At(self.some(self.cron, 6, 6), self.maybe(lambda: self.pick(TEXTS)), self.some(self.cron, 0, 2))

    def schedule(self) -> s.Schedule:
        iso, date = "2024-05-01T08:00:00+02:00", 1_714_543_200_000_000
        hour = Duration(Fraction(3_600_000_000))
        return self.pick([
            lambda: s.Schedule((("date", iso),), date),
            lambda: s.Schedule((("date", 17), ("repetitions", -1), ("period", hour)), 17_000, -1, hour),
            lambda: s.Schedule((("period", period := self.period()),), None, None, period),
            lambda: s.Schedule((("iso", f"R3/{iso}/PT1H"),), date, 3, hour),
            lambda: s.Schedule((("iso", f"R/{iso}/PT1H"),), date, -1, hour),
            lambda: s.Schedule((("iso", "PT1H"),), None, None, hour),
        ])()  # fmt: skip

    def pattern(self, depth: int) -> s.Pattern:
        if depth == 0:
            return self.pick([
                self.filter, self.filter, self.filter,
                lambda: s.Interval(self.length()),
                self.at,
                self.schedule,
            ])()  # fmt: skip

        def make() -> s.Pattern:
            return self.pattern(depth - 1)

        low, high = self.maybe(lambda: self.random.randint(0, 9)), self.maybe(lambda: self.random.randint(0, 9))
        return self.pick([
            lambda: s.Every(make()),
            lambda: s.Not(make()),
            lambda: s.EveryDistinct(make(), self.some(self.key, 1), self.maybe(self.fixed)),
            lambda: s.Repeat(make(), self.pick([self.random.randint(0, 9), self.ref()])),
            lambda: s.Until(low, high, make(), make()),
            lambda: s.And(self.some(make, 2)),
            lambda: s.Or(self.some(make, 2)),
            lambda: self.followed(self.some(make, 2)),
            lambda: s.Within(make(), self.length(), self.pick([None, None, 0, 3, -1])),
            lambda: s.While(make(), self.expr(2)),
        ])()  # fmt: skip

    def key(self) -> Expr:
        """A number as the last key would be the time after which keys are forgotten."""
        found = self.expr(self.pick([0, 1]))
        number = isinstance(found, Literal) and found.type.numeric
        return self.ref() if number or isinstance(found, core.DurationLiteral) else found

    def followed(self, operands: tuple[s.Pattern, ...]) -> s.Followed:
        return s.Followed(operands, tuple(self.pick([None, None, 0, 2]) for _ in operands[1:]))

    # --- statements --------------------------------------------------------------------------------------------------

    def constant(self) -> Any:
        return self.literal().value

    def annotation(self) -> s.Annotation:
        arguments = self.some(lambda: (self.text(), self.constant()))
        return s.Annotation(self.name(), None if arguments else self.constant(), arguments)

    def item(self) -> s.Item:
        if self.random.random() < 0.2:
            return s.Item(all_of=self.name())
        return s.Item(self.expr(self.pick([0, 1, 3])), self.maybe(self.name))

    def statement(self) -> s.Statement:
        marks = self.some(self.annotation)
        if self.random.random() < 0.2:
            kinds = (Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP)
            columns = self.some(lambda: s.Attribute(self.name(), self.pick(kinds)))
            form = self.pick(["", "map", "objectarray"])
            return s.CreateSchema(self.name(), columns, self.some(self.name), form, marks)
        if self.random.random() < 0.1:
            kind = self.pick([Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP])
            return s.CreateVariable(self.name(), kind, self.maybe(lambda: self.expr(2)), self.flag(), marks)
        items = self.pick([(s.Item(),), self.some(self.item, 1)])
        into, where = self.maybe(self.name), self.maybe(lambda: self.expr(2))
        if self.random.random() < 0.2:
            source = s.Filter(self.name(), self.maybe(self.name), self.some(lambda: self.expr(1)))
            return s.Query(items, source, into, where, True, annotations=marks, order=self.some(self.sort))
        body = self.pattern(self.random.randint(0, 4))
        order = self.some(self.sort)
        return s.Query(items, body, into, where, False, self.flag(), self.flag(), marks, order)

    def sort(self) -> s.Sort:
        return s.Sort(self.expr(self.pick([0, 1, 3])), self.flag())


def balanced(op: str, parts: list[Expr]) -> Expr:
    """A chain as the parser builds it."""
    if len(parts) > LONG:
        half = len(parts) // 2
        return Binary(op, balanced(op, parts[:half]), balanced(op, parts[half:]))
    out = parts[0]
    for part in parts[1:]:
        out = Binary(op, out, part)
    return out


def classes(node: Any) -> set[str]:
    """The classes of all nodes of a tree."""
    if isinstance(node, tuple):
        return {name for part in node for name in classes(part)}
    found = getattr(node, "__dataclass_fields__", None)
    return {type(node).__name__, *(n for f in found for n in classes(getattr(node, f)))} if found else set()


def test_random_trees_come_back_from_their_text():
    seen: set[str] = set()
    for seed in range(amount(10, 25)):
        trees = Trees(seed)
        file = s.File(tuple(trees.statement() for _ in range(40)))
        text = render(file)
        again, problems = parse(text)
        assert not problems, "\n".join(p.render() for p in problems[:5])
        for one, other in zip(file.statements, again.statements, strict=True):
            assert one == other, render(one)
            assert parse(render(one) + ";")[0].statements == (one,)
        assert render(again) == text
        seen |= classes(file.statements)
    here = {n for n, c in vars(s).items() if isinstance(c, type) and c.__module__ == s.__name__ and n[0] != "_"}
    shared = {"Binary", "Unary", "Literal", "Ref", "DurationLiteral", "IsNull", "In", "Like", "Call", "Name"}
    assert seen - {"Duration"} == (here | shared) - {"Pattern", "Timer", "File", "Value"}


PARENTHESES = [
    ("(a=A)", "a=A"),
    ("(every a=A) -> b=B", "every a=A -> b=B"),
    ("every (a=A -> b=B)", "every (a=A -> b=B)"),
    ("(a=A -> b=B) -> c=C", "(a=A -> b=B) -> c=C"),
    ("a=A -> (b=B or c=C)", "a=A -> b=B or c=C"),
    ("(a=A -> b=B) or c=C", "(a=A -> b=B) or c=C"),
    ("(a=A and b=B) or c=C", "a=A and b=B or c=C"),
    ("a=A and (b=B or c=C)", "a=A and (b=B or c=C)"),
    ("(a=A and b=B) and c=C", "(a=A and b=B) and c=C"),
    ("every (a=A where timer:within(1))", "every a=A where timer:within(1 sec)"),
    ("(every a=A) where timer:within(1)", "(every a=A) where timer:within(1 sec)"),
    ("(a=A where timer:within(1)) while (x)", "(a=A where timer:within(1 sec)) while (x)"),
    ("every ([2] a=A)", "every [2] a=A"),
    ("not ([2] (every a=A))", "not [2] (every a=A)"),
    ("[2] ([3] a=A)", "[2] ([3] a=A)"),
    ("[2] (every a=A)", "[2] every a=A"),
    ("[2:2] a=A", "[2] a=A"),
    ("[2:2] a=A until b=B", "[2] a=A until b=B"),
    ("(a=A until b=B) until c=C", "(a=A until b=B) until c=C"),
    ("(every a=A) until (not b=B)", "every a=A until not b=B"),
    ("every (a=A until b=B)", "every (a=A until b=B)"),
    ("every (every a=A)", "every (every a=A)"),
    ("(a=A until b=B) and (not c=C)", "a=A until b=B and not c=C"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PARENTHESES)
def test_patterns_have_the_parentheses_that_they_need(text, expected):
    file, problems = parse(f"select * from pattern [{text}]")
    assert not problems
    (query,) = file.statements
    assert isinstance(query, s.Query)
    assert render(query.pattern) == expected


EXPRESSIONS = [
    ("((a.x)) + (1 * 2)", "a.x + 1 * 2"),
    ("a.x - (b.x - c.x)", "a.x - (b.x - c.x)"),
    ("(a.x - b.x) - c.x", "a.x - b.x - c.x"),
    ("a.x <> 3 and (b.x == 4 or c.x)".replace("==", "="), "a.x != 3 and (b.x = 4 or c.x)"),
    ("(a and b) and (c and d)", "a and b and c and d"),
    ("not (not a)", "not (not a)"),
    ("not (a = b)", "not a = b"),
    ("(not a) = b", "(not a) = b"),
    ("(case when a then b end) + 1", "(case when a then b end) + 1"),
    ("case x when 1 then 'one' else \"it's\" end", "case when x = 1 then 'one' else 'it\\'s' end"),
    ("x not in (1, 2) or x in [1:2) or x not in (1:2]", "x not in (1, 2) or x in [1:2) or x not in (1:2]"),
    ("(x between 1 and 2) and y not between (1 + 1) and z", "x between 1 and 2 and y not between 1 + 1 and z"),
    ("('a' || 'b') || c like '%x'", "'a' || 'b' || c like '%x'"),
    ("'a' || ('b' || c)", "'a' || ('b' || c)"),
    ("-(-x)", "-(-x)"),
    ("-x * - 5", "-x * -5"),
    ("Abs(x) + MIN(x, 1)", "Math.abs(x) + min(x, 1)"),
    ("Math.abs(x)", "Math.abs(x)"),
    ("3000000000 + 12L + 2f + 1e-3", "3000000000L + 12 + 2.0 + 0.001"),
    ("a[1].x is not null", "a[1].x is not null"),
    ("b.time - a.time < 90 sec", "b.time - a.time < 1 min 30 sec"),
    ("x ≤ 1 and y ≥ 2 and z ≠ 3", "x <= 1 and y >= 2 and z != 3"),
]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS)
def test_expressions_have_the_parentheses_that_they_need(text, expected):
    file, problems = parse(f"select * from A({text})")
    assert not problems, "\n".join(p.render() for p in problems)
    (query,) = file.statements
    assert isinstance(query, s.Query)
    assert isinstance(query.pattern, s.Filter)
    assert render(query.pattern.conditions[0]) == expected


def test_what_epl_cannot_say_is_not_printed():
    for node in (core.Param("x"), Binary("mod", Ref(None, "x"), Ref(None, "y"))):
        with pytest.raises(TypeError):
            render(node)
