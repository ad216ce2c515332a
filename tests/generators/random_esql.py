"""Random trees of eSQL texts: of everything that the grammar has, whether or not it makes sense."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from occurs.expr.text import Name
from occurs.languages.esql import syntax
from occurs.languages.esql.grammar import BY_KIND, Choice, Element, Option, Slot
from occurs.languages.esql.parser.phrases import PRELUDE
from occurs.model.time import UNIT_MICROSECONDS, Duration

_NAMES = ("x", "y", "trade", "F", "THE", "if", "a b", "TIME", "null", "ST")
_TEXTS = ("a", 'say "hi"', "it's", "two\nlines", "\\", "//a[id=$p]", "", "é \x07")
_BINARY = ("->", "OR", "AND", "U", "UPTO", "=", "!=", "<", "<=", ">", ">=", "IN", "+", "-", "*", "/", "MOD", "DIV", "^")
_UNARY = ("NOT", "-", "G", "F", "X", "ALWAYS", "SOMETIME", "AFTER")


def random_file(seed: int, statements: int = 3, depth: int = 4) -> syntax.File:
    """A text of some statements; what is rendered of it is to be read as the same tree."""
    rng = random.Random(seed)
    made = [_Trees(rng, []).phrase(0)] if rng.random() < 0.4 else []
    trees = _Trees(rng, [*PRELUDE, *made])
    return syntax.File((*made, *(trees.statement(depth) for _ in range(statements))))


class _Trees:
    def __init__(self, rng: random.Random, phrases: list[syntax.Phrase]) -> None:
        self.rng, self.phrases = rng, phrases
        self.parameters: dict[str, str] = {}

    def statement(self, depth: int) -> syntax.Statement:
        pipe = self.pipe(depth)
        if self.rng.random() < 0.3:
            return syntax.Let(Name(self.name()), pipe)
        named = self.rng.random() < 0.9
        at_end = self.rng.choice((None, None, "NOTHING", "FINITE", "NULL"))
        about = named and self.rng.random() < 0.3
        return syntax.Definition(Name(self.name()) if named else None, pipe, about, at_end)

    def phrase(self, number: int) -> syntax.Phrase:
        categories = ("processor", "function", "number", "text", "boolean")
        parameters = {f"P{i}": self.rng.choice(categories) for i in range(2)}
        self.parameters = parameters
        body = self.pipe(2)
        self.parameters = {}
        pattern = ("THE", f"THING{number}", "OF", "@P1", "WITH", "@P0")
        return syntax.Phrase(pattern, tuple(parameters.items()), "processor", body)

    def name(self) -> str:
        return self.rng.choice(_NAMES)

    def pipe(self, depth: int) -> syntax.Node:
        if self.rng.random() > 0.2:
            return self.expression(depth)
        word = self.rng.choice(("WHERE", "STOPPING WHEN", "THRESHOLD"))
        condition = self.number() if word == "THRESHOLD" else self.expression(depth - 1)
        return syntax.Where(word, self.pipe(depth - 1), condition)

    def expression(self, depth: int) -> syntax.Node:
        if depth <= 0:
            return self.leaf()
        made: tuple[Callable[[int], syntax.Node], ...] = (
            self._binary, self._binary, self._unary, self._is_null, self._quantifier, self._form, self._form, self._use,
            self._call, self._items, self._access, self._element, self._machine, self.pipe,
        )  # fmt: skip
        return self.rng.choice(made)(depth - 1)

    # --- leaves ------------------------------------------------------------------------------------------------------

    def leaf(self) -> syntax.Node:
        r = self.rng
        leaves: list[syntax.Node] = [
            syntax.Named(self.name()), syntax.Star(), self.unsigned(), self.text(), syntax.Variable(r.choice("0xy")),
            syntax.Constant(r.choice(("TRUE", "FALSE", "NULL", "?", "#"))), syntax.Time(r.randrange(10**15)),
        ]  # fmt: skip
        return r.choice(leaves + [syntax.Parameter(p) for p in self.parameters])

    def text(self) -> syntax.Text:
        return syntax.Text(self.rng.choice(_TEXTS))

    def unsigned(self) -> syntax.Number:
        return syntax.Number(self.rng.choice((0, 1, 7, 2**63, 1.5, 2e-7, 1e300)))

    def number(self) -> syntax.Number:
        return syntax.Number(self.rng.choice((0, 1, 2, 3, 11, 22, -4, 1.5, -0.25)))

    def length(self) -> syntax.Length:
        unit, amount = self.rng.choice(("us", "ms", "s", "min", "h", "d", "tick")), self.rng.choice((1, 5, 1.5))
        exact = Fraction(repr(amount))
        ticks = unit == "tick"
        return syntax.Length(Duration(exact if ticks else exact * UNIT_MICROSECONDS[unit], ticks), amount, unit)

    # --- operators ---------------------------------------------------------------------------------------------------

    def _binary(self, depth: int) -> syntax.Node:
        return syntax.Binary(self.rng.choice(_BINARY), self.expression(depth), self.expression(depth))

    def _unary(self, depth: int) -> syntax.Node:
        return syntax.Unary(self.rng.choice(_UNARY), self.expression(depth))

    def _is_null(self, depth: int) -> syntax.Node:
        return syntax.IsNull(self.expression(depth), self.rng.random() < 0.5)

    def _quantifier(self, depth: int) -> syntax.Node:
        on = self.pipe(depth) if self.rng.random() < 0.5 else None
        word = self.rng.choice(("FOR ALL", "EXISTS", "EVERY", "SOME"))
        return syntax.Quantifier(word, self.rng.choice("xy"), self.expression(depth), on, self.expression(depth))

    def _call(self, depth: int) -> syntax.Node:
        name = self.rng.choice(("if", "abs", "concat", "no_such", "xpath"))
        return syntax.Call(name, tuple(self.expression(depth) for _ in range(self.rng.randrange(3))))

    def _items(self, depth: int) -> syntax.Node:
        items = tuple(self.expression(depth) for _ in range(self.rng.randrange(3)))
        return syntax.Items(items, self.rng.random() < 0.5)

    def _access(self, depth: int) -> syntax.Node:
        return syntax.Access(self.expression(depth), self.name())

    def _element(self, depth: int) -> syntax.Node:
        return syntax.Element(self.expression(depth), self.expression(depth))

    # --- forms -------------------------------------------------------------------------------------------------------

    def _use(self, depth: int) -> syntax.Node:
        if not self.phrases:
            return self.leaf()
        phrase = self.rng.choice(self.phrases)
        categories = dict(phrase.parameters)
        made: dict[str, Callable[[], syntax.Node]] = {
            "processor": lambda: self.pipe(depth), "function": lambda: self.expression(depth), "number": self.number,
            "text": self.text, "boolean": lambda: syntax.Constant(self.rng.choice(("TRUE", "FALSE"))),
        }  # fmt: skip
        return syntax.Use(phrase, tuple(made[categories[p]]() for p in phrase.places))

    def _form(self, depth: int) -> syntax.Node:
        pattern = BY_KIND[self.rng.choice(sorted(BY_KIND))]
        parts: list[tuple[str, Any]] = []
        for e in pattern.elements:
            self._element_of(e, parts, depth)
        return syntax.Form(pattern.kind, tuple(parts))

    def _element_of(self, e: Element, parts: list[tuple[str, Any]], depth: int) -> None:
        if isinstance(e, Slot):
            parts.append((e.name, self._slot(e, depth)))
        elif isinstance(e, Choice) and (not e.optional or self.rng.random() < 0.5):
            parts.append((e.name, self.rng.choice(e.words)))
        elif isinstance(e, Option) and self.rng.random() < 0.5:
            for inner in e.elements:
                self._element_of(inner, parts, depth)
            if e.flag:
                parts.append((e.flag, True))

    def _slot(self, slot: Slot, depth: int) -> Any:
        some = range(self.rng.randrange(1, 4))
        if slot.what == "columns":
            return tuple(syntax.Column(self.expression(depth), self._maybe(self.name())) for _ in some)
        if slot.what == "sources":
            return tuple(syntax.Source(self.pipe(depth), self._maybe(self.name())) for _ in some)
        if slot.what == "variables":
            return tuple(syntax.Source(self.pipe(depth), self._maybe("k")) for _ in some)
        return tuple(self._one(slot.what, depth) for _ in some) if slot.many else self._one(slot.what, depth)

    def _maybe(self, name: str) -> str | None:
        return name if self.rng.random() < 0.5 else None

    def _one(self, what: str, depth: int) -> Any:
        match what:
            case "operand":
                return self.pipe(depth)
            case "expression" | "primary":
                return self.expression(depth)
            case "number":
                return self.number()
            case "length":
                return self.length()
            case "count":
                return self.length() if self.rng.random() < 0.5 else self.number()
            case "text":
                return self.text()
            case "word":
                return Name(self.rng.choice(("ADDITION", "BAG UNION", "x")))
            case "signature":
                domains = tuple(Name(self.name()) for _ in range(self.rng.randint(1, 2)))
                return syntax.Signature(Name(self.name()), domains)
        return Name(self.name())

    def _machine(self, depth: int) -> syntax.Node:
        registers = tuple(syntax.Register(n, self.expression(depth)) for n in "mn"[: self.rng.randrange(3)])
        states = tuple(self._state(depth) for _ in range(self.rng.randrange(3)))
        inputs = tuple(self.pipe(depth) for _ in range(self.rng.randrange(1, 3)))
        return syntax.Machine(inputs, registers, Name(self.name()), states)

    def _state(self, depth: int) -> syntax.State:
        output = self.expression(depth) if self.rng.random() < 0.5 else None
        return syntax.State(
            Name(self.name()), output, tuple(self._transition(depth) for _ in range(self.rng.randrange(3)))
        )

    def _transition(self, depth: int) -> syntax.Transition:
        condition = self.expression(depth) if self.rng.random() < 0.7 else None
        sets = tuple(syntax.Register("m", self.expression(depth)) for _ in range(self.rng.randrange(3)))
        return syntax.Transition(condition, Name(self.name()), sets)
