"""From lark's tree of one statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lark import Token, Tree

from occurs.errors import Span, did_you_mean
from occurs.expr import tree as core
from occurs.expr.tree import Expr, Unary
from occurs.languages.kit.expressions import Node, SqlBuilder, end_of, joined, plain
from occurs.languages.tesla import syntax
from occurs.languages.tesla.functions import is_function
from occurs.model.time import UNIT_MICROSECONDS, UNITS, Duration

SECOND_EVENT = "write `each`, `first` or `last` before it: `and each B() within 5 min from A`"


class Builder(SqlBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    def statement(self, tree: Node) -> syntax.Statement:
        """The statement; raises Refused after reporting what cannot stand."""
        return self.whole_or_refused(lambda: getattr(self, tree.data)(tree), "syntax")

    def rule(self, tree: Node) -> syntax.Rule:
        name, kind, *rest = tree.children
        attributes = self.attributes(rest.pop(0)) if rest[0].data == "attributes" else ()
        terminator = self.event(rest.pop(0))
        where: tuple[syntax.Assignment, ...] = ()
        consuming: tuple[syntax.Name, ...] = ()
        items = []
        for part in rest:
            if part.data == "where":
                where = tuple(syntax.Assignment(self.name(a.children[0]), self.expr(a.children[-1]))
                              for a in part.children)  # fmt: skip
            elif part.data == "consuming":
                consuming = tuple(self.name(n) for n in part.children)
            else:
                items.append(self.item(part))
        return syntax.Rule(
            self.name(name) if name is not None else None,
            self.name(kind),
            attributes,
            terminator,
            tuple(i for i in items if i is not None),
            where,
            consuming,
            self.span(tree),
        )

    def attributes(self, tree: Node) -> tuple[syntax.Attribute, ...]:
        return tuple(self.attribute(a) for a in tree.children if a is not None)

    def attribute(self, tree: Node) -> syntax.Attribute:
        name, kind = tree.children
        # in a declaration, the path of a value in records
        named = self.path(name) if isinstance(name, Tree) else self.name(name)
        return syntax.Attribute(named, self.type(kind) if kind is not None else None)

    def event(self, tree: Node) -> syntax.Event:
        kind, *rest = tree.children
        alias = None
        constraints: tuple[Any, ...] = ()
        for part in rest:
            if part.data == "alias":
                alias = self.name(part.children[0])
            else:
                constraints = self.constraints(part)
        return syntax.Event(self.name(kind), constraints, alias, self.span(tree))

    # --- items -------------------------------------------------------------------------------------------------------

    def item(self, tree: Node) -> syntax.Item | None:
        span = self.span(tree)
        if tree.data in ("each", "first", "last"):
            return self.selection(str(tree.data), 1, tree.children, span)
        if tree.data == "kth":
            number, *rest = tree.children
            digits, policy = str(number).lower().split("-")
            k = self.whole(number, f"the number before `-{policy}`", digits)
            return self.selection(policy, k, rest, span)
        if tree.data == "negation":
            *parts, interval = tree.children
            kind = self.name(parts[0])
            if isinstance(parts[-1], Tree) and parts[-1].data == "alias":
                parts.pop()  # nothing can call a negated event, so its alias is only read
            inside = self.constraints(parts[1]) if len(parts) > 1 else ()
            end = self.span(parts[-1]) if len(parts) > 1 else kind.span
            at = kind.span.to(end) if kind.span and end else None
            return syntax.Negation(syntax.Event(kind, inside, None, at), self.interval(interval), span)
        if tree.data == "extra_within":
            return syntax.ExtraWithin(self.name(tree.children[0]), self.within(tree.children[1]), span)
        if tree.data == "not_condition":
            return syntax.Condition(self.negated(tree), span)
        if tree.data == "bare_event":
            head = tree.children[0]
            self._second_event(str(head.children[0] if isinstance(head, Tree) else head), self.span(head))
            return None
        return self.condition(tree.children[0], span)

    def selection(self, policy: str, k: int, parts: Sequence[Node], span: Span) -> syntax.Selection:
        """A selected event from its parts: event, window and perhaps `having`."""
        event, within, *rest = parts
        having = None
        if rest:
            having = self.negated(rest[0]) if rest[0].data == "having_not" else self.expr(rest[0].children[0])
        return syntax.Selection(policy, k, self.event(event), self.within(within), having, span)

    def negated(self, tree: Node) -> Expr:
        """`not (...)`."""
        return Unary("not", self.expr(tree.children[0]), span=self.span(tree))

    def condition(self, tree: Node, span: Span) -> syntax.Item | None:
        """A comparison; a lone name or call is an event whose policy was forgotten."""
        # an event with `between A and B` reads like a value between two
        head = tree.children[0] if tree.data == "between" else tree
        call = head.data == "call" and (head.children[-1] is None or not is_function(plain(head.children[0]).lower()))
        if head.data == "bare" or call:
            self._second_event(str(head.children[0]), self.span(head))
            return None
        return syntax.Condition(self.expr(tree), span)

    def _second_event(self, name: str, span: Span) -> None:
        message = f"`{name.strip('`')}` is a further event and needs `each`, `first` or `last`"
        self.source.report("syntax", message, span, SECOND_EVENT)

    def interval(self, tree: Node) -> syntax.Interval:
        if tree.data == "within":
            return self.within(tree)
        one, other = tree.children
        return syntax.Between(self.name(one), self.name(other), self.span(tree))

    def within(self, tree: Node) -> syntax.Within:
        duration, role = tree.children
        return syntax.Within(self.duration(duration.children), self.name(role), self.span(tree))

    def duration(self, parts: Sequence[Any]) -> Duration:
        """`5 min 30 s`, or one bare number: ticks."""
        if len(parts) == 1:
            return Duration(self.exact(parts[0]), ticks=True)
        total, kinds = Fraction(0), set()
        for number, word in zip(parts[::2], parts[1::2]):
            unit = UNITS.get(str(word))
            if unit is None:
                self._unknown_unit(word)
                unit = "s"  # the statement is kept, so that what else is wrong with it is reported too
            kinds.add(unit == "tick")
            total += self.exact(number) * UNIT_MICROSECONDS.get(unit, 1)
        if len(kinds) > 1:
            span = self.token_span(parts[0]).to(self.token_span(parts[-1]))
            self.source.report("syntax", "a duration cannot mix ticks and units of time", span)
        return Duration(total, ticks=kinds == {True})

    def _unknown_unit(self, word: Token) -> None:
        text = str(word)
        if text.lower() in ("mo", "month", "months", "y", "yr", "year", "years"):
            hint = "months and years have no fixed length; write the number of days: `30 d`, `365 d`"
        elif text.lower() in UNITS:
            hint = f"write units in lower case: `{text.lower()}`"
        else:
            hint = did_you_mean(text, [*UNIT_MICROSECONDS, "minute", "hour", "day", "week", "second"], "units")
        self.source.report("unknown-unit", f"`{text}` is not a unit of time", self.token_span(word), hint)

    # --- constraints and aggregates -----------------------------------------------------------------------------------

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

    def x_constraints_last(self, tree: Node) -> Expr:
        """``AVG(Temp.Value(Area = $a)) ..``, as T-Rex spells ``AVG(Temp(Area = $a).Value) ..``."""
        word, distinct, kind, attribute, inside, number, interval = tree.children
        return self.x_aggregate(Tree(tree.data, [word, distinct, kind, inside, attribute, number, interval], tree.meta))

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

    # --- the other statements ----------------------------------------------------------------------------------------

    def schema(self, tree: Node) -> syntax.EventSchema:
        name, attributes = tree.children
        return syntax.EventSchema(self.name(name), self.attributes(attributes), self.span(tree))

    def subscription(self, tree: Node) -> syntax.Subscription:
        name, test = tree.children
        return syntax.Subscription(self.name(name), self.expr(test) if test is not None else None, self.span(tree))

    def assign(self, tree: Node) -> syntax.Assign:
        names = []
        for naming in tree.children:
            number, _, name = naming.children
            names.append((self.whole(number, "a numeric type id", most=2**63 - 1), self.name(name)))
        return syntax.Assign(tuple(names), self.span(tree))


def _positional(expr: Expr) -> bool:
    if isinstance(expr, core.Annotated):
        return _positional(expr.arg)
    return isinstance(expr, core.Param | core.Literal | core.DurationLiteral)
