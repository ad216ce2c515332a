"""From lark's tree of one EPL statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, partialmethod
from typing import Any, ClassVar

from lark import Token

from occurs.errors import Span, did_you_mean
from occurs.expr import tree as core
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.functions import FUNCTIONS
from occurs.languages.epl.syntax import Pattern, chained
from occurs.languages.epl.timers import TIMERS
from occurs.languages.epl.words import AGGREGATES, OTHER_UNITS, UNFIXED, UNITS
from occurs.languages.kit.expressions import Node, Refused, SqlBuilder, joined, plain
from occurs.model.elements import index_step, key_step
from occurs.model.time import Duration
from occurs.model.types import Type

#: the types of columns as a schema names them
TYPES: dict[str, Type] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte"), Type.INT),
    **dict.fromkeys(("double", "float"), Type.FLOAT),
    **dict.fromkeys(("string", "char"), Type.STRING),
    **dict.fromkeys(("bool", "boolean"), Type.BOOL),
    "timestamp": Type.TIMESTAMP,
}
ON_MATCHES = {"suppressoverlappingmatches": "suppress", "discardpartialsonmatch": "discard"}


class Builder(SqlBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    def statement(self, tree: Node) -> syntax.Statement:
        """The statement; raises Refused after reporting what cannot stand."""
        *annotations, body = tree.children

        def built() -> syntax.Statement:
            marks = tuple(map(self.annotation, annotations))
            made = getattr(self, str(body.data))(body)
            return replace(made, annotations=marks, span=self.span(tree))

        return self.whole_or_refused(built)

    # --- annotations -------------------------------------------------------------------------------------------------

    def annotation(self, tree: Node) -> syntax.Annotation:
        name, *rest = tree.children
        value = None
        arguments: tuple[tuple[str, Any], ...] = ()
        if tree.data == "valued":
            value = self.constant(rest[0])
        elif tree.data == "tagged":
            arguments = tuple((self.name(a.children[0]).text, self.constant(a.children[2])) for a in rest)
        return syntax.Annotation(self.name(name), value, arguments, span=self.span(tree))

    def constant(self, tree: Node) -> str | int | float | bool | None:
        negative = tree.data == "negative_constant"
        built = self._number(tree, True) if negative else self.expr(tree)
        value = built.value if isinstance(built, core.Literal) else None
        return -value if negative and isinstance(value, int | float) else value

    # --- schemas -----------------------------------------------------------------------------------------------------

    def schema(self, tree: Node) -> syntax.CreateSchema:
        form, name, columns, *inherits = tree.children
        return syntax.CreateSchema(
            self.name(name),
            tuple(self.column(c) for c in columns.children if c is not None),
            tuple(self.name(n) for n in inherits[0].children) if inherits else (),
            "" if form is None else str(form).lower(),
        )

    def variable(self, tree: Node) -> syntax.CreateVariable:
        constant, kind, name, *value = tree.children
        return syntax.CreateVariable(
            self.name(name),
            self.type(kind) or Type.NULL,
            self.expr(value[1]) if value[1] is not None else None,
            constant is not None,
            written=str(kind).lower(),
        )

    def column(self, tree: Node) -> syntax.Attribute:
        path, kind = tree.children
        return syntax.Attribute(self.path(path), self.type(kind) or Type.NULL, str(kind).lower())

    # --- queries -----------------------------------------------------------------------------------------------------

    def query(self, tree: Node) -> syntax.Query:
        parts = {str(part.data): part for part in tree.children}
        items = tuple(map(self.item, parts["select"].children))
        into = self.name(parts["into"].children[0]) if "into" in parts else None
        simple, marks = "from_type" in parts, set[str]()
        if simple:
            pattern: syntax.Pattern = self.simple(parts["from_type"])
        else:
            *annotations, body = parts["from_pattern"].children
            marks = {self.on_matches(a) for a in annotations}
            pattern = self.pattern(body)
        where = self.expr(parts["where"].children[0]) if "where" in parts else None
        order = tuple(map(self.sort, parts["order"].children)) if "order" in parts else ()
        return syntax.Query(items, pattern, into, where, simple, "suppress" in marks, "discard" in marks, order=order)

    def sort(self, tree: Node) -> syntax.Sort:
        value, direction = tree.children
        descending = direction is not None and str(direction).lower() == "desc"
        return syntax.Sort(self.expr(value), descending, span=self.span(tree))

    def item(self, tree: Node) -> syntax.Item:
        span = self.span(tree)
        if tree.data == "everything":
            return syntax.Item(span=span)
        if tree.data == "all_of":
            return syntax.Item(all_of=self.name(tree.children[0]), span=span)
        name = self.name(tree.children[1]) if tree.data == "renamed" else None
        return syntax.Item(self.expr(tree.children[0]), name, span=span)

    def simple(self, tree: Node) -> syntax.Filter:
        """`Type(conditions) as tag`."""
        kind, *rest, tag = tree.children
        conditions = self.conditions(rest[0]) if rest else ()
        return syntax.Filter(self.name(kind), self.name(tag) if tag is not None else None, conditions,
                             span=self.span(tree))  # fmt: skip

    def on_matches(self, tree: Node) -> str:
        name = tree.children[0]
        found = ON_MATCHES.get(str(name).lower())
        if found is None:
            known = ("SuppressOverlappingMatches", "DiscardPartialsOnMatch")
            hint = did_you_mean(str(name), known, "annotations of patterns")
            raise self.refuse("syntax", f"`@{name}` is not an annotation of a pattern", tree, hint)
        return found

    # --- patterns: a grammar names the alternatives of one as the methods ``p_..`` -----------------------------------

    def pattern(self, tree: Node) -> Pattern:
        """A pattern; reports and raises Refused if it is nested too deeply, or cannot stand."""
        while tree.data == "grouped":
            tree = tree.children[0]
        self.deeper(1, tree)
        timer = TIMERS.get(tree.data)
        made = getattr(self, f"p_{tree.data}", self._operator) if timer is None else partial(timer.read, self)
        built: Pattern = made(tree)
        self.depth -= 1
        return built

    def _operator(self, tree: Node) -> Pattern:
        """An operator of patterns alone: the grammar calls it as the tree does."""
        made, operands = getattr(syntax, str(tree.data).title()), map(self.pattern, tree.children)
        built: Pattern = made(tuple(operands), span=self.span(tree))
        return built

    def p_followed(self, tree: Node) -> Pattern:
        operands = tuple(self.pattern(c) for c in tree.children[::2])
        limits = tuple(self.number(a.children[0], "a limit") if a.children else None for a in tree.children[1::2])
        return syntax.Followed(operands, limits, span=self.span(tree))

    # --- repetition --------------------------------------------------------------------------------------------------

    def _bounds(self, tree: Node) -> tuple[int | Expr | None, int | Expr | None]:
        """Least and greatest number; of `[n]` both are n."""
        found = [None if t is None else self._count(t) for t in tree.children]
        if found == [None, None]:
            raise self.refuse(
                "bad-bound",
                "this range has neither a lower nor an upper bound",
                tree,
                "write `[2:]`, `[:3]` or `[2:3]`",
            )
        return found[0], found[-1]

    def _count(self, tree: Node) -> int | Expr:
        """A number of repetitions, or what it is computed from."""
        negative = tree.data == "negative"
        number = tree.children[0] if negative else tree
        if getattr(number, "data", None) == "number":
            value = self.whole(number.children[0], "a number of repetitions")
            return -value if negative else value
        return self.expr(tree)

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
        last = keys.children[-1]
        if last.data == "duration_value" and _in_calendar(last.children):
            built = [self.expr(c) for c in keys.children[:-1]]
            expiry: Duration | None = self.period(last.children)
        else:
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
            count = self.number(number, "a number of matches")
            if sign is not None:
                count = core.Unary("neg", count) if isinstance(count, Expr) else -count
        return syntax.Within(self.pattern(operand), self.length(length), count, span=self.span(tree))

    def p_while_(self, tree: Node) -> Pattern:
        operand, condition = tree.children
        return syntax.While(self.pattern(operand), self.expr(condition), span=self.span(tree))

    def number(self, token: Token, what: str) -> Any:
        """A whole number, or the parameter that gives it."""
        return self.parameter(token) if token.type == "PARAMETER" else self.whole(token, what)

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
                consume = 1 if level is None else self.number(level, "the level of `@consume`")
            else:
                kind = self.name(part)
        if kind is None:
            raise Refused
        return syntax.Filter(kind, tag, conditions, consume, span=self.span(tree))

    def conditions(self, tree: Node) -> tuple[Expr, ...]:
        return tuple(self.expr(c) for c in tree.children if c is not None)

    # --- expressions -------------------------------------------------------------------------------------------------

    unwraps = True
    types = named_types = TYPES
    repeated: ClassVar = {syntax.Between: (4, 2, 2), syntax.InRange: (4, 2, 2)}

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
        return self.integer(digits, negative, tree)

    def length(self, tree: Node) -> Duration:
        """A length of time: an optional minus sign, and parts; or what is computed from earlier events."""
        if tree.data == "computed_length":
            built = self.expr(tree.children[0])
            if isinstance(built, core.DurationLiteral):
                return built.value
            return syntax.Computed(parts=((built, UNITS["sec"]),))
        if tree.data == "mixed_length":
            numbers = [
                core.Literal(int(n), Type.INT) if isinstance(n, Token) and n.isdecimal() else self._amount(n)
                for n in tree.children[::2]
            ]
            return syntax.Computed(parts=tuple(zip(numbers, map(self._unit, tree.children[1::2]), strict=True)))
        sign, *parts = tree.children
        if _in_calendar(parts):
            if sign is not None:
                hint = "write for example `1 month`"
                raise self.refuse("bad-duration", "a duration must be greater than zero", tree, hint)
            return self.period(parts)
        out = self.duration(parts)
        return out if sign is None else Duration(-out.amount)

    def _amount(self, node: Any) -> Expr:
        """An attribute, a parameter, or a number that is not whole, before a unit."""
        if isinstance(node, Token) and node.type == "PARAMETER":
            return self.parameter(node)
        if isinstance(node, Token):
            return core.Literal(float(str(node).rstrip("lLfFdD")), Type.FLOAT, span=self.span(node))
        scope, *path = node.children
        if not path:
            return core.Ref(None, plain(scope), span=self.span(node))
        return core.Ref(plain(scope), joined(path), span=self.span(node))

    def period(self, parts: Sequence[Any]) -> syntax.Period:
        """`1 year 2 months 3 days 4 hours`."""
        counts = dict.fromkeys(("year", "month", "week", "day"), 0)
        rest = Fraction(0)
        for number, word in zip(parts[::2], parts[1::2]):
            unit = str(word).lower().rstrip("s")
            if unit in counts:
                counts[unit] += self.whole(number, f"a number of {unit}s beside months or years")
            else:
                rest += self._exact(number) * self._unit(word)
        years, months, weeks, days = counts.values()
        greatest = (366 * years + 31 * months + 7 * weeks + days) * UNITS["day"] + rest
        return syntax.Period(greatest, False, years, months, weeks, days, rest)

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

    def x_reached(self, tree: Node) -> Expr:
        """`a[0].k`, `list[2]`, `a.list[0].c`, `map('k').c`: a name with indexes and keys."""
        span = self.span(tree)
        first, *rest = tree.children
        if not isinstance(first, Token):
            called = self.expr(first)
            if not isinstance(called, core.Ref):
                hint = "an element is that of a list or a map: `list[2]`, `map('k')`"
                raise self.refuse("unsupported", "a function has no elements", first, hint)
            name = (f"{called.scope}." if called.scope is not None else "") + called.name
            return self._element(name, rest, called.scope, span)
        steps = list(rest)
        if getattr(steps[0], "data", None) == "at" and len(steps) == 1:
            # an event of several, or an element of a list: the checks know which
            return core.Ref(None, plain(first), self._index(steps[0]), span=span)
        if getattr(steps[0], "data", None) == "at" and getattr(steps[1], "data", None) == "part":
            name = self._element(plain(steps[1].children[0]), steps[2:], None, span).name
            return core.Ref(plain(first), name, self._index(steps[0]), span=span)
        scope = plain(first) if isinstance(steps[0], Token) else None
        return self._element(plain(first), steps, scope, span)

    def _element(self, name: str, steps: Sequence[Any], scope: str | None, span: Span) -> core.Ref:
        """The reference to what lies behind ``name``; ``scope``: its first part may be a tag."""
        for step in steps:
            if isinstance(step, Token) or step.data == "part":
                name += f".{plain(step if isinstance(step, Token) else step.children[0])}"
            elif step.data == "at":
                name += index_step(self._index(step))
            else:
                name += key_step(self.unquoted(step.children[0]))
        if scope is None:
            return core.Ref(None, name, span=span)
        return core.Ref(scope, name.removeprefix(f"{scope}."), span=span)

    def _index(self, tree: Node) -> int:
        (index,) = tree.children
        if index.data != "number":
            hint = "write the number itself, from 0: `a.list[2]`"
            raise self.refuse("unsupported", "the index of an element is a number that is written here", index, hint)
        return self.whole(index.children[0], "an index")

    def x_call(self, tree: Node) -> Expr:
        name = tree.children[0]
        if plain(name).lower() in AGGREGATES:
            hint = "an expression reads single events; aggregate in a TESLA rule or in eSQL"
            raise self.refuse("unsupported", f"the aggregate `{name}` is not supported", name, hint)
        found = super().x_call(tree)
        key = self._key(tree.children[1:])
        if key is None or (isinstance(found, core.Call) and found.name in FUNCTIONS):
            return found
        return core.Ref(None, plain(name) + key, span=self.span(tree))

    def _key(self, args: Sequence[Any]) -> str | None:
        """The step to a value of a map, if what stands in parentheses is one text."""
        if len(args) != 1 or getattr(args[0], "data", None) != "string":
            return None
        return key_step(self.unquoted(args[0].children[0]))

    def x_library_call(self, tree: Node) -> Expr:
        """`Math.abs(x)`, as Esper writes it, is `abs(x)`; `a.map('k')` is a value of a map."""
        names = [plain(n) for n in tree.children if isinstance(n, Token)]
        args = tree.children[len(names) :]
        key = self._key(args)
        if key is not None:
            return core.Ref(names[0], ".".join(names[1:]) + key, span=self.span(tree))
        if names != ["Math", "abs"]:
            hint = "call a function by its name alone, as in `abs(x)`; `occurs functions` lists them"
            at = tree.children[len(names) - 1]
            raise self.refuse("unsupported", f"`{'.'.join(names)}(..)` is not supported", at, hint)
        return core.Call("abs", tuple(self.expr(a) for a in args if a is not None), span=self.span(tree))

    def x_parameter(self, tree: Node) -> Expr:
        return self.parameter(tree.children[0])

    def parameter(self, token: Token) -> syntax.Parameter:
        """`?:name:type`, `?:name`, `?::type`, `?`."""
        _, name, kind = (*str(token).split(":"), "", "")[:3]
        if kind and kind.lower() not in TYPES:
            raise self.refuse("syntax", f"`{kind}` is not a type", token, did_you_mean(kind, TYPES, "types"))
        return syntax.Parameter(name or None, kind.lower(), span=self.span(token))

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

    x_range_open = partialmethod(_range, left=False, right=False)
    x_range_left = partialmethod(_range, left=True, right=False)
    x_range_right = partialmethod(_range, left=False, right=True)
    x_range_closed = partialmethod(_range, left=True, right=True)

    def x_case(self, tree: Node) -> Expr:
        return syntax.Case(tuple(self.branches(tree)), span=self.span(tree))


def _in_calendar(parts: Sequence[Any]) -> bool:
    """Are months or years among the units of a duration?"""
    return any(str(word).lower() in UNFIXED for word in parts[1::2])


def unit_problem(word: str) -> tuple[str, str, str]:
    """Kind, message and hint for a word that is no unit of time."""
    text = word.lower()
    if text in UNFIXED:
        hint = "in an expression, write the number of days: `30 days`, `365 days`"
        return "unsupported", f"the unit `{word}` is not supported", hint
    if re.fullmatch(r"ticks?", text):
        return "unknown-unit", f"`{word}` is not a unit of time", "a number without a unit is in seconds"
    meant = OTHER_UNITS.get(text)
    hint = f"did you mean `{meant}`?" if meant else did_you_mean(text, UNITS, "units")
    return "unknown-unit", f"`{word}` is not a unit of time", hint
