"""Expressions and durations of one EPL statement: what this language has beside, or other than, the shared ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from lark import Token

from occurs.errors import Span, did_you_mean
from occurs.expr import tree as core
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.words import AGGREGATES, OTHER_UNITS, UNFIXED, UNITS
from occurs.languages.expressions import Node, SqlBuilder, joined, plain
from occurs.model.time import Duration
from occurs.model.types import Type


class EplExpressions(SqlBuilder):
    """Numbers with suffixes, names with an index, ranges, cases, texts put together, and durations."""

    unwraps = True
    repeated: ClassVar = {syntax.Between: (4, 2, 2), syntax.InRange: (4, 2, 2)}

    def name(self, token: Token) -> syntax.Name:
        return syntax.Name(plain(token), span=self.span(token))

    # --- numbers and durations ---------------------------------------------------------------------------------------

    def _number(self, tree: Node, negative: bool) -> Expr:
        text = str(tree.children[0])
        digits = text.rstrip("lLfFdD")
        suffix = text[len(digits) :].lower()
        if suffix != "l" and not text.isdecimal():
            value = float(digits)
            if value == float("inf"):
                raise self.refuse("syntax", "this number is too large", tree)
            return core.Literal(value, Type.FLOAT, span=self.span(tree))
        if not digits.isdecimal():
            raise self.refuse("syntax", f"`{text}` is not a whole number", tree, "`L` follows a whole number: `12L`")
        short = digits.lstrip("0") or "0"
        # compared by length first: Python refuses to read thousands of digits
        if len(short) > 19 or int(short) > 2**63 - (not negative):
            hint = "add a decimal point to make it a float"
            raise self.refuse("syntax", "this integer does not fit in 64 bits", tree, hint)
        return core.Literal(int(short), Type.INT, span=self.span(tree))

    def length(self, tree: Node) -> Duration:
        """The node ``duration``: an optional minus sign, and parts."""
        sign, *parts = tree.children
        out = self.duration(parts)
        return out if sign is None else Duration(-out.amount)

    def duration(self, parts: Sequence[Any]) -> Duration:
        """`1 min 30 sec`, or one bare number: seconds."""
        if len(parts) == 1:
            return Duration(self._exact(parts[0]) * 1_000_000)
        total = Fraction(0)
        for number, word in zip(parts[::2], parts[1::2]):
            total += self._exact(number) * self._unit(word)
        return Duration(total)

    def _exact(self, token: Token) -> Fraction:
        return self.exact(token, str(token).rstrip("lLfFdD"))

    def _unit(self, word: Token) -> int:
        text = str(word).lower()
        if text in UNITS:
            return UNITS[text]
        kind, message, hint = unit_problem(str(word))
        raise self.refuse(kind, message, word, hint)

    # --- names -------------------------------------------------------------------------------------------------------

    def x_indexed(self, tree: Node) -> Expr:
        tag, index, *path = tree.children
        return core.Ref(plain(tag), joined(path), self.whole(index, "an index"), span=self.span(tree))

    def x_call(self, tree: Node) -> Expr:
        name = tree.children[0]
        if plain(name).lower() in AGGREGATES:
            hint = "an expression reads single events; aggregate in a TESLA rule or in eSQL"
            raise self.refuse("unsupported", f"the aggregate `{name}` is not supported", name, hint)
        return super().x_call(tree)

    def x_library_call(self, tree: Node) -> Expr:
        """`Math.abs(x)`, as Esper writes it, is `abs(x)`."""
        library, name, *args = tree.children
        if (plain(library), plain(name)) != ("Math", "abs"):
            hint = "the functions are abs, coalesce, min and max"
            raise self.refuse("unsupported", f"`{library}.{name}(..)` is not supported", name, hint)
        return core.Call("abs", tuple(self.expr(a) for a in args if a is not None), span=self.span(tree))

    # --- operators ---------------------------------------------------------------------------------------------------

    def operands(self, tree: Node) -> list[Expr]:
        """Chains in parentheses are one with the chain around them: the shape depends on the length alone."""
        op = str(tree.data).rstrip("_")
        return [part for operand in super().operands(tree) for part in chained(op, operand)]

    def x_concat(self, tree: Node) -> Expr:
        return self.leftwards(tree, tree.children, ["||"] * (len(tree.children) - 1))

    def joined(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        return syntax.Concat(left, right, span=span) if op == "||" else super().joined(op, left, right, span)

    def x_between(self, tree: Node) -> Expr:
        (arg, low, high), negated = self.negatable(tree)
        return syntax.Between(arg, low, high, negated, span=self.span(tree))

    def _range(self, tree: Node, left: bool, right: bool) -> Expr:
        (arg, low, high), negated = self.negatable(tree)
        return syntax.InRange(arg, low, high, (left, right), negated, span=self.span(tree))

    def x_range_open(self, tree: Node) -> Expr:
        return self._range(tree, False, False)

    def x_range_left(self, tree: Node) -> Expr:
        return self._range(tree, True, False)

    def x_range_right(self, tree: Node) -> Expr:
        return self._range(tree, False, True)

    def x_range_closed(self, tree: Node) -> Expr:
        return self._range(tree, True, True)

    def x_case(self, tree: Node) -> Expr:
        return syntax.Case(tuple(self.branches(tree)), span=self.span(tree))


def chained(op: str, node: Expr) -> Iterator[Expr]:
    """The operands of a chain of ``and`` or of ``or``, left to right."""
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, core.Binary) and part.op == op:
            todo += [part.right, part.left]
        else:
            yield part


def unit_problem(word: str) -> tuple[str, str, str]:
    """Kind, message and hint for a word that is no unit of time."""
    text = word.lower()
    if text in UNFIXED:
        hint = "months and years have no fixed length; write the number of days: `30 days`, `365 days`"
        return "unsupported", f"the unit `{word}` is not supported", hint
    if re.fullmatch(r"ticks?", text):
        return "unknown-unit", f"`{word}` is not a unit of time", "a number without a unit is in seconds"
    meant = OTHER_UNITS.get(text)
    hint = f"did you mean `{meant}`?" if meant else did_you_mean(text, UNITS, "units")
    return "unknown-unit", f"`{word}` is not a unit of time", hint
