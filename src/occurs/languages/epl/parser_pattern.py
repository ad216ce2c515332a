"""Patterns: lark's tree to the tree of the language (epl-and-nets.md, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occurs.expr import tree as core
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.parser_expr import EplExpressions
from occurs.languages.epl.syntax import Pattern
from occurs.languages.expressions import Node, Refused
from occurs.model.time import Duration
from occurs.model.types import Type


class PatternBuilder(EplExpressions):
    """A grammar names the alternatives of a pattern as the methods ``p_..`` here."""

    def pattern(self, tree: Node) -> Pattern:
        """A pattern; reports and raises Refused if it is nested too deeply, or cannot stand."""
        while tree.data == "grouped":
            tree = tree.children[0]
        self.deeper(1, tree)
        built: Pattern = getattr(self, f"p_{tree.data}")(tree)
        self.depth -= 1
        return built

    def p_followed(self, tree: Node) -> Pattern:
        operands = tuple(self.pattern(c) for c in tree.children[::2])
        limits = tuple(self.whole(a.children[0], "a limit") if a.children else None for a in tree.children[1::2])
        return syntax.Followed(operands, limits, span=self.span(tree))

    def p_or_pattern(self, tree: Node) -> Pattern:
        return syntax.Or(tuple(map(self.pattern, tree.children)), span=self.span(tree))

    def p_and_pattern(self, tree: Node) -> Pattern:
        return syntax.And(tuple(map(self.pattern, tree.children)), span=self.span(tree))

    # --- repetition --------------------------------------------------------------------------------------------------

    def _bounds(self, tree: Node) -> tuple[int | None, int | None]:
        """Least and greatest number; of `[n]` both are n."""
        found = [None if t is None else self.whole(t, "a number of repetitions") for t in tree.children]
        if found == [None, None]:
            raise self.refuse(
                "bad-bound",
                "this range has neither a lower nor an upper bound",
                tree,
                "write `[2:]`, `[:3]` or `[2:3]`",
            )
        return found[0], found[-1]

    def _repeated(self, bounds: Node, operand: Pattern, tree: Node) -> Pattern:
        """`[n] p`, without `until`."""
        low, high = self._bounds(bounds)
        if low is None or low != high:
            hint = "write an exact number, as in `[2] a=A`, or an end: `[2:3] a=A until B`"
            raise self.refuse("bad-bound", "a range of repetitions needs an `until` after it", bounds, hint)
        return syntax.Repeat(operand, low, span=self.span(bounds).to(self.span(tree)))

    def p_repeat(self, tree: Node) -> Pattern:
        bounds, operand = tree.children
        return self._repeated(bounds, self.pattern(operand), tree)

    def p_until(self, tree: Node) -> Pattern:
        *bounds, operand, end = tree.children
        low, high = self._bounds(bounds[0]) if bounds else (None, None)
        return syntax.Until(low, high, self.pattern(operand), self.pattern(end), span=self.span(tree))

    def _operand(self, parts: Sequence[Node], tree: Node) -> Pattern:
        """What stands behind `every` or `not`: perhaps a range, and a pattern."""
        *bounds, operand = parts
        built = self.pattern(operand)
        return self._repeated(bounds[0], built, tree) if bounds else built

    def p_every(self, tree: Node) -> Pattern:
        return syntax.Every(self._operand(tree.children, tree), span=self.span(tree))

    def p_absent(self, tree: Node) -> Pattern:
        return syntax.Not(self._operand(tree.children, tree), span=self.span(tree))

    def p_distinct(self, tree: Node) -> Pattern:
        keys, *parts = tree.children
        built = [self.expr(c) for c in keys.children]
        expiry = self._expiry(built, keys.children)
        for key, node in zip(built, keys.children):
            if isinstance(key, core.DurationLiteral):
                raise self.refuse("syntax", "the duration comes after the keys", node,
                                  "write for example `every-distinct(a.id, 10 sec) a=A`")  # fmt: skip
        if not built:
            raise self.refuse("syntax", "`every-distinct` needs a key before its duration", keys,
                              "write for example `every-distinct(a.id, 10 sec) a=A`")  # fmt: skip
        operand = self._operand(parts, tree)
        return syntax.EveryDistinct(operand, tuple(built), expiry, span=self.span(tree))

    def _expiry(self, keys: list[Expr], nodes: Sequence[Node]) -> Duration | None:
        """The duration behind the keys, taken from them; a bare number counts seconds."""
        last = keys[-1]
        if isinstance(last, core.DurationLiteral):
            keys.pop()
            return last.value
        if isinstance(last, core.Literal) and last.type in (Type.INT, Type.FLOAT) and len(keys) > 1:
            keys.pop()
            negative = nodes[-1].data == "negative"
            found = self.duration((nodes[-1].children[0] if negative else nodes[-1]).children)
            return Duration(-found.amount) if negative else found
        return None

    # --- guards, observers, events -----------------------------------------------------------------------------------

    def p_within(self, tree: Node) -> Pattern:
        operand, length, *most = tree.children
        count = None
        if most:
            sign, number = most[0].children
            count = self.whole(number, "a number of matches")
            count = -count if sign is not None else count
        return syntax.Within(self.pattern(operand), self.length(length), count, span=self.span(tree))

    def p_while_(self, tree: Node) -> Pattern:
        operand, condition = tree.children
        return syntax.While(self.pattern(operand), self.expr(condition), span=self.span(tree))

    def p_interval(self, tree: Node) -> Pattern:
        return syntax.Interval(self.length(tree.children[0]), span=self.span(tree))

    def p_at(self, tree: Node) -> Pattern:
        fields = tuple(map(self.cron, tree.children))
        if len(fields) not in (5, 6):
            hint = (
                "the fields are minute, hour, day of month, month, day "
                "of week and optionally second: `timer:at(0, 8, *, *, *)`"
            )
            raise self.refuse("syntax", f"`timer:at` takes 5 or 6 fields, not {len(fields)}", tree, hint)
        return syntax.At(fields, span=self.span(tree))

    def cron(self, tree: Node) -> syntax.Cron:
        """A field of `timer:at`; lists may nest."""
        self.deeper(1, tree)
        kind, span, items = str(tree.data).removeprefix("cron_"), self.span(tree), tree.children
        if kind == "list":
            built = syntax.Cron("list", items=tuple(map(self.cron, items)), span=span)
        else:
            numbers = [self.whole(t, "a field of `timer:at`") for t in items if t.type == "NUMBER"]
            low, high = (*numbers, 0, 0)[:2]
            built = syntax.Cron(kind, low, high, span=span)
        self.depth -= 1
        return built

    def p_filter(self, tree: Node) -> Pattern:
        tag, kind, consume = None, None, 0
        conditions: tuple[Expr, ...] = ()
        for part in tree.children:
            data: Any = getattr(part, "data", None)
            if data == "tag":
                tag = self.name(part.children[0])
            elif data == "conditions":
                conditions = self.conditions(part)
            elif data == "consume":
                level = part.children[0]
                consume = 1 if level is None else self.whole(level, "the level of `@consume`")
            else:
                kind = self.name(part)
        if kind is None:
            raise Refused
        return syntax.Filter(kind, tag, conditions, consume, span=self.span(tree))

    def conditions(self, tree: Node) -> tuple[Expr, ...]:
        return tuple(self.expr(c) for c in tree.children if c is not None)
