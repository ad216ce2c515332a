"""Formulas, terms and durations of one definition: lark's tree to the tree of the language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lark import Token

from occurs.expr import tree as core
from occurs.expr.text import Text
from occurs.expr.tree import Expr
from occurs.languages.expressions import ExpressionBuilder, Node, joined
from occurs.languages.logic import syntax
from occurs.languages.logic.parser_words import EXAMPLES, OTHER_UNITS, UNIT_WORDS, unit_problem
from occurs.languages.logic.syntax import Formula
from occurs.model.time import UNIT_MICROSECONDS, UNITS, Duration
from occurs.model.types import Type

_SIGNS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "\\le": "<=", "\\leq": "<=", "\\ge": ">=",
          "\\geq": ">="}  # fmt: skip
_RANGED: dict[str, type[syntax._Bounded]] = {
    "eventually": syntax.Eventually, "always": syntax.Always, "previously": syntax.Previously,
    "once": syntax.Previously, "throughout": syntax.Throughout, "historically": syntax.Throughout,
}  # fmt: skip
_PAIRED: dict[str, type[syntax._Paired]] = {
    "until": syntax.Until, "since": syntax.Since, "release": syntax.Release,
}  # fmt: skip
#: the trees that are formulas and no terms
_TREES = "implies or_ and_ paired weak not_ shifted ranged assign compare is_null is_not_null exists true false"
_FORMULAS = frozenset(_TREES.split())
#: how deep formulas and terms may nest: the checks take up to eight calls for a level
DEEPEST = 80


class FormulaBuilder(ExpressionBuilder):
    """Formulas and terms; ``clean``: the text of the file without its comments, ``offset``: where the definition begins
    in it."""

    deepest = DEEPEST

    def __init__(self, source: Text, clean: str, offset: int) -> None:
        super().__init__(source, offset)
        self.clean = clean

    def name(self, token: Token) -> syntax.Name:
        return syntax.Name(str(token), span=self.span(token))

    # --- formulas ----------------------------------------------------------------------------------------------------

    def formula(self, tree: Node) -> Formula:
        """A formula; reports and raises Refused if it cannot stand."""
        tree = _bare(tree)
        if tree.data not in _FORMULAS:
            return syntax.Atom(self.expr(tree), span=self.span(tree))
        self.deeper(1, tree)
        built: Formula = getattr(self, f"f_{tree.data}")(tree)
        self.depth -= 1
        return built

    def f_true(self, tree: Node) -> Formula:
        return syntax.Truth(True, span=self.span(tree))

    def f_false(self, tree: Node) -> Formula:
        return syntax.Truth(False, span=self.span(tree))

    def f_implies(self, tree: Node) -> Formula:
        left, right = tree.children
        return syntax.Implies(self.formula(left), self.formula(right), span=self.span(tree))

    def f_or_(self, tree: Node) -> Formula:
        return syntax.Or(tuple(map(self.formula, tree.children)), span=self.span(tree))

    def f_and_(self, tree: Node) -> Formula:
        return syntax.And(tuple(map(self.formula, tree.children)), span=self.span(tree))

    def f_not_(self, tree: Node) -> Formula:
        return syntax.Not(self.formula(tree.children[0]), span=self.span(tree))

    def f_paired(self, tree: Node) -> Formula:
        left, word, *bound, right = tree.children
        self._unmixed(tree, word, right)
        if bound and bound[0].data == "within":
            hint = f"write `p {word}[<=10 min] q`"
            raise self.refuse("bad-bound", f"write the bound of `{word}` in brackets", bound[0], hint)
        limit = self.bound(bound[0]) if bound else None
        return _PAIRED[word.lower()](self.formula(left), self.formula(right), limit, span=self.span(tree))

    def f_weak(self, tree: Node) -> Formula:
        left, word, *bound, right = tree.children
        self._unmixed(tree, word, right)
        if bound:
            hint = "write `f release[..] g`, or `(f until[..] g) or always[..] f`"
            raise self.refuse("bad-bound", f"`{word}` does not take a bound", bound[0], hint)
        return syntax.WeakUntil(self.formula(left), self.formula(right), span=self.span(tree))

    def _unmixed(self, tree: Node, word: Token, right: Node) -> None:
        """Refuse `since` beside the others in one chain."""
        other = right.children[1] if right.data in ("paired", "weak") else word
        if (word.lower() == "since") != (other.lower() == "since"):
            hint = f"write parentheses: `(p {word} q) {other} r` or `p {word} (q {other} r)`"
            raise self.refuse("syntax", f"`{word}` and `{other}` cannot be chained", tree, hint)

    def f_shifted(self, tree: Node) -> Formula:
        word, *bound, operand = tree.children
        if bound:
            limit = "time <= t + 3" if word.lower().startswith("next") else "time >= t - 3"
            hint = f"compare with the time of this state: `[t <- time] {word.lower()} ({limit} and p)`"
            raise self.refuse("bad-bound", f"`{word}` does not take a bound", bound[0], hint)
        made = syntax.Nexttime if word.lower().startswith("next") else syntax.Lasttime
        return made(self.formula(operand), span=self.span(tree))

    def f_ranged(self, tree: Node) -> Formula:
        word, *bound, operand = tree.children
        made = _RANGED["throughout" if word.lower().startswith("throughout") else word.lower()]
        limit = self.bound(bound[0]) if bound else None
        if bound and bound[0].data == "within" and operand.data == "applied":
            # `within 2 weeks (p)`
            unit = operand.children[0]
            if unit.lower() in OTHER_UNITS or unit.lower() in UNIT_WORDS:
                raise self.refuse(unit_problem(unit)[0], unit_problem(unit)[1], unit, unit_problem(unit)[2])
        return made(self.formula(operand), limit, span=self.span(tree))

    def f_assign(self, tree: Node) -> Formula:
        name, term, operand = tree.children
        return syntax.Assign(self.name(name), self.expr(term), self.formula(operand), span=self.span(tree))

    def f_compare(self, tree: Node) -> Formula:
        left, sign, right = tree.children
        op = str(sign.children[0])
        return syntax.Compare(_SIGNS.get(op, op), self.expr(left), self.expr(right), span=self.span(tree))

    def f_is_null(self, tree: Node) -> Formula:
        return syntax.IsNull(self.expr(tree.children[0]), span=self.span(tree))

    def f_is_not_null(self, tree: Node) -> Formula:
        return syntax.IsNull(self.expr(tree.children[0]), True, span=self.span(tree))

    def f_exists(self, tree: Node) -> Formula:
        return syntax.Exists(self.sql(tree.children[0], tree), span=self.span(tree))

    def sql(self, token: Token | None, around: Node) -> syntax.Sql:
        """A SELECT that was covered."""
        if token is None:
            raise self.refuse("bad-sql", "a SELECT is missing here", around, "write `select .. from .. where ..`")
        start = self.offset + (token.start_pos or 0)
        return syntax.Sql(self.clean[start : start + len(token)], span=self.span(token))

    # --- bounds and durations ----------------------------------------------------------------------------------------

    def bound(self, tree: Node) -> syntax.Bound:
        """A bound; reports and raises Refused if it is none."""
        span = self.span(tree)
        if tree.data == "between":
            low, high = (self.length(c, least=0) for c in tree.children)
            if low.ticks == high.ticks and low.amount > high.amount:
                raise self.refuse(
                    "bad-bound", "the bound ends before it begins", tree, "write the smaller number first"
                )
            return syntax.Bound("in", low, high, span=span)
        if tree.data == "within":
            return syntax.Bound("<=", self.length(tree.children[0]), span=span)
        sign, duration = tree.children
        op = str(sign.children[0])
        if _SIGNS.get(op, op) == "!=":
            raise self.refuse("bad-bound", "a bound cannot use `!=`", tree, EXAMPLES)
        return syntax.Bound(_SIGNS.get(op, op), self.length(duration), span=span)

    def length(self, tree: Node, least: int = 1) -> Duration:
        """The node ``duration``: must be positive, or with ``least`` 0 not negative."""
        minus, number, unit = tree.children
        out = self._duration(number, unit)
        if minus is not None:
            raise self.refuse("bad-bound", "a duration cannot be negative here", tree, EXAMPLES)
        if least and not out.amount:
            raise self.refuse("bad-bound", "a duration must be positive here", tree, "write `10 min`, `30 s`, `5` ..")
        return out

    def duration(self, parts: Sequence[Any]) -> Duration:
        """`5 min` in a term."""
        return self._duration(parts[0], parts[1])

    def _duration(self, number: Token, unit: Token | None) -> Duration:
        amount, meaning = self.exact(number), "tick" if unit is None else UNITS[str(unit)]
        return Duration(amount, True) if meaning == "tick" else Duration(amount * UNIT_MICROSECONDS[meaning])

    # --- terms -------------------------------------------------------------------------------------------------------

    def expr(self, tree: Node) -> Expr:
        """A term; reports and raises Refused if it is a formula, or nested too deeply.  Parentheses do not count."""
        tree = _bare(tree)
        if tree.data in _FORMULAS and tree.data not in ("true", "false"):
            hint = "join formulas with `and`, `or` or `implies`; compare only values"
            raise self.refuse("syntax", "this is a formula, but a value is needed here", tree, hint)
        self.deeper(1, tree)
        built: Expr = getattr(self, f"x_{tree.data}")(tree)
        self.depth -= 1
        return built

    def _unquoted(self, token: Token) -> str:
        quote = token[0]
        return str(token[1:-1]).replace(quote * 2, quote)

    def _number(self, tree: Node, negative: bool) -> Expr:
        return self.number(tree.children[0], negative, tree)

    def number(self, token: Token, negative: bool, at: Node) -> core.Literal:
        """A number, without its sign."""
        text = str(token)
        if not text.isdecimal():
            value = float(text)
            if value == float("inf"):
                raise self.refuse("syntax", "this number is too large", at)
            return core.Literal(value, Type.FLOAT, span=self.span(at))
        short = text.lstrip("0") or "0"
        # compared by length first: Python refuses to read thousands of digits
        if len(short) > 19 or int(short) > 2**63 - (not negative):
            hint = "add a decimal point to make it a float"
            raise self.refuse("syntax", "this integer does not fit in 64 bits", at, hint)
        return core.Literal(int(short), Type.INT, span=self.span(at))

    def x_negative(self, tree: Node) -> Expr:
        inner = tree.children[1]
        arg = self._number(inner, negative=True) if inner.data == "number" else self.expr(inner)
        value = arg.value if isinstance(arg, core.Literal) and arg.type.numeric else None
        if isinstance(arg, core.Literal) and isinstance(value, int | float) and value != -(2**63):
            return core.Literal(-value, arg.type, span=self.span(tree))
        return core.Unary("neg", arg, span=self.span(tree))

    def x_times(self, tree: Node) -> Expr:
        """`2x` is `2 * x`."""
        number, factor = tree.children
        return core.Binary("*", self.number(number, False, number), self.expr(factor), span=self.span(tree))

    def x_bare(self, tree: Node) -> Expr:
        name = str(tree.children[0])
        return core.Ref(None, "time" if name == "currenttime" else name, span=self.span(tree))

    def x_applied(self, tree: Node) -> Expr:
        name, arguments, *column = tree.children
        args: list[Expr] = []
        names: list[str | None] = []
        for argument in arguments.children:
            if argument is not None:
                by_name = argument.data == "by_name"
                names.append(str(argument.children[0]) if by_name else None)
                args.append(self.expr(argument.children[-1]))
        given = joined(column[0].children) if column and column[0] is not None else None
        return syntax.Apply(str(name), tuple(args), tuple(names), given, span=self.span(tree))

    def x_aggregate(self, tree: Node) -> Expr:
        word, term, rest = tree.children
        op, arg, span = word.split()[0].lower(), self.expr(term), self.span(tree)
        if rest.data == "duration":
            return syntax.Aggregate(op, arg, None, self.length(rest), span=span)
        return syntax.Aggregate(op, arg, self.formula(rest), span=span)


def _bare(tree: Node) -> Node:
    """Without the parentheses around it."""
    while tree.data == "group":
        tree = tree.children[0]
    return tree
