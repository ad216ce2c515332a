"""Expressions of one TESLA statement: what only this language has in them."""

from __future__ import annotations

from abc import abstractmethod

from lark import Token

from occurs.expr import tree as core
from occurs.expr.tree import Expr
from occurs.languages.expressions import Node, SqlBuilder, end_of, joined, plain
from occurs.languages.tesla import syntax
from occurs.languages.tesla.functions import is_function


class RuleExpressions(SqlBuilder):
    """Names, constraints and aggregates."""

    def name(self, token: Token) -> syntax.Name:
        return syntax.Name(plain(token), self.span(token))

    def constraints(self, tree: Node) -> tuple[Expr, ...]:
        """What stands in an event's parentheses; `$x`, literals and `_` there are positional."""
        out = []
        for part in tree.children:
            if part is None:
                continue
            built = self.expr(part)
            if part.data == "bare" and built == core.Ref(None, "_"):
                built = syntax.Positional(None, span=self.span(part))
            elif _positional(built) and part.data != "group":
                built = syntax.Positional(built, span=self.span(part))
            out.append(built)
        return tuple(out)

    def is_function(self, tree: Node) -> bool:
        """Whether a call names a function of the language."""
        return is_function(plain(tree.children[0]).lower())

    @abstractmethod
    def interval(self, tree: Node) -> syntax.Interval:
        """`within` or `between`."""

    def x_aggregate(self, tree: Node) -> Expr:
        word, distinct, kind, *rest = tree.children
        interval = self.interval(rest.pop())
        number = rest.pop()
        attribute = rest.pop()
        function = self._function(word, distinct)
        percent = self._percent(function, word, number)
        inside = self.constraints(rest[0]) if rest else ()
        stop = (self.offset + end_of(rest[0])) if rest else self.offset + (kind.end_pos or 0)
        event = syntax.Event(self.name(kind), inside, None, self.source.span(self.offset + (kind.start_pos or 0), stop))
        return syntax.Aggregate(
            function,
            event,
            joined(attribute.children) if attribute is not None else None,
            interval,
            percent,
            span=self.span(tree),
        )

    def _function(self, word: Token, distinct: Token | None) -> str:
        """The name of an aggregate."""
        name = str(word).lower()
        if distinct is None:
            return name
        if name != "count":
            raise self.refuse("syntax", f"{name.upper()} does not take `distinct`", distinct, "only COUNT does")
        return "count distinct"

    def _percent(self, function: str, word: Token, number: Token | None) -> float | None:
        """The number of a percentile; what is missing, or too much, is refused."""
        hint = "write a percentile as `PERCENTILE(Temp().Value, 95)`, with a number from 0 to 100"
        if (number is None) == (function == "percentile"):
            found = "needs a number" if number is None else "does not take a number"
            raise self.refuse("syntax", f"{function.upper()} {found}", word if number is None else number, hint)
        if number is not None and not float(number) <= 100:
            raise self.refuse("syntax", f"a percentile must be a number from 0 to 100, not {number}", number, hint)
        return None if number is None else float(number)


def _positional(expr: Expr) -> bool:
    if isinstance(expr, core.Annotated):
        return _positional(expr.arg)
    return isinstance(expr, core.Param | core.Literal | core.DurationLiteral)
