"""One definition of an `.ftl` or `.ptl` file: lark's tree to ours (temporal-logic.md, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lark import Token

from occurs.expr import tree as core
from occurs.expr.text import Text
from occurs.expr.tree import Expr
from occurs.languages.kit.expressions import ExpressionBuilder, Node, joined
from occurs.languages.logic import syntax
from occurs.languages.logic.parser.complaints import EXAMPLES, OTHER_UNITS, UNIT_WORDS, unit_problem
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


class Builder(ExpressionBuilder):
    """Builds the tree of one definition, with what the grammar alone cannot refuse.

    ``clean``: the text of the file without its comments, ``offset``: where the definition begins in it; ``past``:
    triggers are past if they do not say what they are.
    """

    deepest = DEEPEST
    named_types = ("int", "float", "string", "boolean", "timestamp")

    def __init__(self, source: Text, clean: str, offset: int, past: bool) -> None:
        super().__init__(source, offset)
        self.clean, self.past = clean, past

    def definition(self, tree: Node) -> syntax.Definition:
        """The definition; raises Refused after reporting what cannot stand."""
        (body,) = tree.children
        return self.whole_or_refused(lambda: getattr(self, str(body.data))(body))

    # --- declarations ------------------------------------------------------------------------------------------------

    def table(self, tree: Node) -> syntax.Table:
        name, columns = tree.children
        found = self.columns(columns, "a table")
        return syntax.Table(self.name(name), found, span=self.span(tree))

    def event(self, tree: Node) -> syntax.Event:
        name, *columns = tree.children
        found = self.columns(columns[0], "an event", keys=False, empty=True) if columns else ()
        return syntax.Event(self.name(name), found, span=self.span(tree))

    def state(self, tree: Node) -> syntax.State:
        name, columns = tree.children
        return syntax.State(self.name(name), self.columns(columns, "a state", keys=False), span=self.span(tree))

    def columns(self, tree: Node, what: str, keys: bool = True, empty: bool = False) -> tuple[syntax.Column, ...]:
        found = tuple(self.column(c, what, keys) for c in tree.children if c is not None)
        if not found and not empty:
            self.source.report(
                "syntax", f"{what} needs at least one column", self.span(tree), "write `(name type, ..)`"
            )
        return found

    def column(self, tree: Node, what: str, keys: bool) -> syntax.Column:
        path, word, key = tree.children
        name, kind = self.path(path), self.type(word)
        if key is not None and not keys:
            hint = "only tables have keys"
            self.source.report("syntax", f"{what} cannot have a key", self.span(key), hint)
        return syntax.Column(name, kind or Type.NULL, key is not None)

    def view(self, tree: Node) -> syntax.View:
        name, *parameters, sql = tree.children
        names = [c for c in parameters[0].children if c is not None] if parameters else []
        return syntax.View(self.name(name), tuple(map(self.name, names)), self.sql(sql, tree), span=self.span(tree))

    def constant(self, tree: Node) -> syntax.Constant:
        name, _, literal = tree.children
        if literal.data == "negative_literal":
            _, token = literal.children
            found = self.number(token, True, literal)
            value = -found.value if isinstance(found.value, int | float) else None
            built = core.Literal(value, found.type, span=self.span(literal))
        else:
            made = self.expr(literal)
            assert isinstance(made, core.Literal)
            built = made
        return syntax.Constant(self.name(name), built, span=self.span(tree))

    # --- triggers ----------------------------------------------------------------------------------------------------

    def trigger(self, tree: Node) -> syntax.Trigger:
        when, name, *rest = tree.children
        past = self.past if when is None else when.lower() == "past"
        parts = {str(part.data): part for part in rest if part.data in ("foreach", "observing", "strategy")}
        actions = tuple(self.action(part) for part in rest if part.data == "action")
        formula = next(part for part in rest if part.data not in (*parts, "action"))
        continues, gap = self.strategy(parts["strategy"]) if "strategy" in parts else (False, None)
        return syntax.Trigger(
            self.name(name),
            self.formula(formula),
            past,
            self.foreach(parts["foreach"]) if "foreach" in parts else None,
            self.observing(parts["observing"]) if "observing" in parts else None,
            continues,
            gap,
            actions,
            span=self.span(tree),
        )

    def foreach(self, tree: Node) -> syntax.ForEach:
        variables = tuple(self.name(c) for c in tree.children if isinstance(c, Token))
        queries = [self.sql(c.children[0], c) for c in tree.children if not isinstance(c, Token)]
        return syntax.ForEach(variables, queries[0] if queries else None, span=self.span(tree))

    def observing(self, tree: Node) -> syntax.Observing:
        (every,) = tree.children
        length = None if isinstance(every, Token) else self.length(every)
        return syntax.Observing(length, span=self.span(tree))

    def strategy(self, tree: Node) -> tuple[bool, Duration | None]:
        word, gap = tree.children
        return word.lower() == "continue", None if gap is None else self.length(gap)

    def action(self, tree: Node) -> syntax.Action:
        never, body = tree.children
        span, on_never = self.span(tree), never is not None
        if body.data == "notify":
            return syntax.Notify(self.unquoted(body.children[0]), on_never, span=span)
        first, *rest = body.children
        arguments = tuple((self.name(a.children[0]), self.expr(a.children[2])) for a in rest if a is not None)
        if body.data == "emit":
            return syntax.Emit(self.name(first), arguments, on_never, span=span)
        return syntax.Execute(self.unquoted(first), arguments, on_never, span=span)

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
        return super().expr(tree)

    def unquoted(self, token: Token) -> str:
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
        return self.integer(text, negative, at)

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
