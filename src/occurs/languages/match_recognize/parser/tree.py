"""From lark's tree of one statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from lark import Token

from occurs.errors import Span, did_you_mean
from occurs.expr import tree as core
from occurs.expr.tree import Expr
from occurs.languages.kit.expressions import Node, Refused, SqlBuilder, joined, microseconds
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.syntax import Pattern, Word
from occurs.languages.match_recognize.words import (
    AGGREGATES,
    NAVIGATIONS,
    QUOTED,
    ROW_FUNCTIONS,
    TICKS,
    TYPES,
    UNFIXED,
    UNITS,
)
from occurs.model.time import Duration
from occurs.model.types import Type


class Builder(SqlBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    unwraps = True
    types = TYPES
    named_types = ("int", "bigint", "double", "float", "string", "varchar", "boolean", "timestamp")
    repeated: ClassVar = {syntax.Between: (2, 1, 1), syntax.Cast: (3,)}

    def statement(self, tree: Node) -> syntax.Query:
        """The statement; raises Refused after reporting what cannot stand."""
        *view, body = tree.children

        def built() -> syntax.Query:
            name = self.word(view[0].children[0]) if view else None
            return replace(self.query(body), name=name, span=self.span(tree))

        return self.whole_or_refused(built, "syntax", "unsupported", "unknown-unit", "bad-duration", "reserved-name")

    def word(self, token: Token) -> Word:
        """A name, without its quotes."""
        return Word(unquoted_name(token), token[0] in '"`', self.span(token))

    def variable(self, token: Token) -> Word:
        """A name of a variable in canonical form."""
        return canonical(self.word(token))

    # --- queries -----------------------------------------------------------------------------------------------------

    def query(self, tree: Node) -> syntax.Query:
        if isinstance(tree.children[0], Token) and tree.children[0].type == "DISTINCT":
            hint = "on Spark, `occurs.sql(spark, text)` reads the clause inside any Spark SQL query"
            message = "`DISTINCT` is not supported outside MATCH_RECOGNIZE"
            raise self.refuse("unsupported", message, tree.children[0], hint)
        items, table, *rest = tree.children
        clause = next(i for i, part in enumerate(rest) if part.data == "clause")
        before, behind = rest[:clause], rest[clause + 1 :]
        where = next((self.expr(p.children[0]) for p in behind if p.data == "where"), None)
        return syntax.Query(
            tuple(map(self.item, items.children)),
            self.word(table),
            self.clause(rest[clause]),
            table_alias=self.word(before[0].children[0]) if before else None,
            alias=next((self.word(p.children[0]) for p in behind if p.data == "alias"), None),
            where=where,
        )

    def item(self, tree: Node) -> syntax.Item:
        span = self.span(tree)
        if tree.data == "everything":
            return syntax.Item(span=span)
        if tree.data == "all_of":
            return syntax.Item(qualifier=self.word(tree.children[0]), span=span)
        name = self.word(tree.children[1]) if tree.data == "renamed" else None
        return syntax.Item(self.expr(tree.children[0]), name, span=span)

    # --- the clause --------------------------------------------------------------------------------------------------

    def clause(self, tree: Node) -> syntax.Clause:
        span = self.span(tree)
        parts: dict[str, Node] = {}
        pattern: Pattern = syntax.Sequence((), span=span)
        for part in tree.children:
            name = str(part.data)
            if name in _PARTS:
                parts[_PARTS[name]] = part
            else:
                pattern = self.pattern(part)
        made: dict[str, Any] = {"span": span}
        if "partition" in parts:
            made["partition"] = tuple(map(self.word, parts["partition"].children))
        if "order" in parts:
            made["order"] = tuple(map(self.key, parts["order"].children))
        if "measures" in parts:
            made["measures"] = tuple(map(self.measure, parts["measures"].children))
        if "rows" in parts:
            made["rows"] = _ROWS[str(parts["rows"].data)]
            made["rows_span"] = self.span(parts["rows"])
        if "after" in parts:
            made["skip"] = self.skip(parts["after"].children[0])
        if "within" in parts:
            inner = parts["within"].children[0]
            made["within"], made["within_span"] = self.bound(inner), self.span(inner)
        if "subset" in parts:
            made["subsets"] = tuple(map(self.union, parts["subset"].children))
        if "define" in parts:
            made["defines"] = tuple(map(self.defined, parts["define"].children))
        return syntax.Clause(pattern, **made)

    def key(self, tree: Node) -> syntax.Order:
        column, *rest = tree.children
        words = {str(part.data): str(part.children[-1]).lower() for part in rest}
        descending, nulls = words.get("direction") == "desc", words.get("nulls")
        # without NULLS null is least: first with ASC, last with DESC
        default = nulls is None or (nulls == "last") is descending
        return syntax.Order(self.word(column), descending, None if default else nulls == "first")

    def measure(self, tree: Node) -> syntax.Measure:
        value, name = tree.children
        return syntax.Measure(self.expr(value), self.word(name), span=self.span(tree))

    def skip(self, tree: Node) -> syntax.Skip:
        span = self.span(tree)
        if tree.data != "skip_to":
            return syntax.Skip("past" if tree.data == "skip_past" else "next", span=span)
        *which, name = tree.children
        word = "last" if not which or which[0] is None else str(which[0]).lower()
        if word not in ("first", "last"):
            hint = did_you_mean(word, ("first", "last"), "words")
            raise self.refuse("syntax", f"unexpected `{which[0]}`: expected `FIRST`, `LAST` or a variable",
                              which[0], hint)  # fmt: skip
        return syntax.Skip(word, self.variable(name), span=span)

    def union(self, tree: Node) -> syntax.Subset:
        name, _, *variables = tree.children
        return syntax.Subset(self.variable(name), tuple(map(self.variable, variables)))

    def defined(self, tree: Node) -> syntax.Define:
        variable, condition = tree.children
        return syntax.Define(self.variable(variable), self.expr(condition), span=self.span(tree))

    def bound(self, tree: Node) -> Duration:
        """The duration behind WITHIN."""
        if tree.data == "ticks":
            return Duration(self.exact(tree.children[0], kind="bad-duration"), ticks=True)
        return self.interval(tree.children[0] if tree.data == "duration" else tree)

    # --- patterns: the grammar names the alternatives of one as the methods ``p_..`` ---------------------------------

    def pattern(self, tree: Node) -> Pattern:
        """A pattern; reports and raises Refused if it is nested too deeply, or cannot stand."""
        self.deeper(1, tree)
        built: Pattern = getattr(self, f"p_{tree.data}")(tree)
        self.depth -= 1
        return built

    def p_variable(self, tree: Node) -> Pattern:
        return syntax.Variable(self.variable(tree.children[0]).text, span=self.span(tree))

    def p_grouped(self, tree: Node) -> Pattern:
        return self.pattern(tree.children[0]) if tree.children else syntax.Sequence((), span=self.span(tree))

    def p_excluded(self, tree: Node) -> Pattern:
        return syntax.Exclusion(self.pattern(tree.children[0]), span=self.span(tree))

    def p_permuted(self, tree: Node) -> Pattern:
        parts = tuple(map(self.pattern, tree.children))
        return parts[0] if len(parts) == 1 else syntax.Permute(parts, span=self.span(tree))

    def p_first_row(self, tree: Node) -> Pattern:
        return syntax.Anchor(span=self.span(tree))

    def p_last_row(self, tree: Node) -> Pattern:
        return syntax.Anchor(True, span=self.span(tree))

    def p_sequence(self, tree: Node) -> Pattern:
        return syntax.Sequence(self._parts(syntax.Sequence, tree), span=self.span(tree))

    def p_alternation(self, tree: Node) -> Pattern:
        return syntax.Alternation(self._parts(syntax.Alternation, tree), span=self.span(tree))

    def _parts(self, of: type[syntax.Sequence | syntax.Alternation], tree: Node) -> tuple[Pattern, ...]:
        """The parts of a sequence or an alternation, those of one directly inside it among them."""
        out: list[Pattern] = []
        for child in tree.children:
            part = self.pattern(child)
            out += part.parts if isinstance(part, of) and part.parts else [part]
        return tuple(out)

    def p_repeated(self, tree: Node) -> Pattern:
        part, quantifier, *reluctant = tree.children
        low, high = self._bounds(quantifier)
        return syntax.Repeat(self.pattern(part), low, high, not any(reluctant), span=self.span(tree))

    def _bounds(self, tree: Node) -> tuple[int, int | None]:
        if tree.data == "sign":
            return _SIGNS[str(tree.children[0])]
        numbers = [None if t is None else self.whole(t, "a number of repetitions") for t in tree.children]
        if tree.data == "exactly":
            low, high = numbers[0], numbers[0]
        elif tree.data == "bounds":
            low, high = numbers
        else:
            low, high = 0, numbers[0]
        assert low is not None
        if high is not None and high < 1:
            message, hint = "a pattern must be repeatable at least once", "write `()` for a pattern of no rows"
            self.source.report("bad-bound", message, self.span(tree), hint)
            return 0, 1
        if high is not None and low > high:
            message = f"the least number of repetitions, {low}, is greater than the greatest, {high}"
            self.source.report("bad-bound", message, self.span(tree), f"write `{{{high},{low}}}`")
            return high, low  # what else is wrong with the statement is reported too
        return low, high

    # --- names, texts, durations -------------------------------------------------------------------------------------

    def x_bare(self, tree: Node) -> Expr:
        return syntax.Column(self.word(tree.children[0]), span=self.span(tree))

    def x_dotted(self, tree: Node) -> Expr:
        words = [self.word(t) for t in tree.children]
        name = Word(joined([w.text for w in words[1:]]), any(w.quoted for w in words[1:]), words[1].span)
        return syntax.Column(name, words[0], span=self.span(tree))

    def unquoted(self, token: Token) -> str:
        return str(token)[1:-1].replace("''", "'")

    def x_timestamp(self, tree: Node) -> Expr:
        text = self.unquoted(tree.children[0]).strip()
        value = microseconds(text)
        if value is None:
            hint = "write it as `TIMESTAMP '2024-01-05 09:00:00'`"
            self.source.report("syntax", f"`{text}` is not a valid time", self.span(tree), hint)
        return core.Literal(value or 0, Type.TIMESTAMP, span=self.span(tree))

    def duration(self, parts: Sequence[Any]) -> Duration:
        return self.interval(parts[0])

    def interval(self, tree: Node) -> Duration:
        """`INTERVAL '5' MINUTE`."""
        *sign, number, unit = tree.children
        negative = bool(sign)
        text = str(number)
        if text.startswith("'"):
            text = self.unquoted(number).strip()
            negative, text = text.startswith("-"), text.removeprefix("-").strip()
        amount = self.exact(number, text, "bad-duration") if _numeric(text) else None
        if amount is None:
            hint = "write one number and one unit: `INTERVAL '90' MINUTE`"
            raise self.refuse("bad-duration", f"`{text}` is not a number", number, hint)
        amount = -amount if negative else amount
        word = self.word(unit).text.lower()
        if word in TICKS:
            return Duration(amount, ticks=True)
        if word in UNFIXED:
            hint = "months and years have no fixed length; write the number of days: `INTERVAL '30' DAY`"
            raise self.refuse("bad-duration", f"the unit `{unit}` has no fixed length", unit, hint)
        if word not in UNITS:
            hint = did_you_mean(word, UNITS, "units")
            raise self.refuse("unknown-unit", f"`{unit}` is not a unit of time", unit, hint)
        return Duration(amount * UNITS[word])

    # --- calls -------------------------------------------------------------------------------------------------------

    def x_call(self, tree: Node) -> Expr:
        mode, name = "", tree.children[0]
        if not isinstance(name, Token):
            mode, name = str(name.children[0]).lower(), tree.children[1]
        arguments = tree.children[-1] if tree.children[-1] is not name else None
        word, span = str(name).lower(), self.span(tree)
        args: tuple[Expr, ...] = ()
        distinct, star, of = False, False, None
        if arguments is not None:
            star = arguments.data in ("all_rows_of", "rows_of")
            of = self.variable(arguments.children[0]) if arguments.data == "rows_of" else None
            if not star:
                distinct = any(isinstance(c, Token) for c in arguments.children)
                args = tuple(self.expr(c) for c in arguments.children if not isinstance(c, Token))
        if star and word != "count":
            hint = "`COUNT(*)` counts rows; other functions need a value"
            raise self.refuse("syntax", f"`*` is not an argument of `{name}`", arguments, hint)
        if distinct and (word not in AGGREGATES or AGGREGATES[word] != 1):
            raise self.refuse("syntax", f"`DISTINCT` is not an argument of `{name}`", arguments)
        if mode and word not in AGGREGATES and word not in ("first", "last"):
            hint = f"`{mode.upper()}` is allowed before FIRST, LAST and aggregates only"
            if word in ("prev", "next"):
                hint += f": write `{word.upper()}({mode.upper()} LAST(..))`"
            raise self.refuse("sort", f"`{mode.upper()}` has no meaning before `{name}`", tree.children[0], hint)
        if word in NAVIGATIONS:
            self._count(name, args, 1, 2)
            offset = args[1] if len(args) == 2 else None
            return syntax.Navigation(word, args[0], offset, mode, span=span)
        if word in AGGREGATES:
            if not star:
                self._count(name, args, AGGREGATES[word], AGGREGATES[word])
            return syntax.Aggregate(word, args, distinct, of, mode, span=span)
        if word in ROW_FUNCTIONS:
            return self._row_function(name, args, span)
        return core.Call(word, args, span=span, written=str(name))

    def _row_function(self, name: Token, args: tuple[Expr, ...], span: Span) -> Expr:
        if str(name).lower() == "match_number":
            self._count(name, args, 0, 0)
            return syntax.MatchNumber(span=span)
        self._count(name, args, 0, 1)
        if not args:
            return syntax.Classifier(span=span)
        if not isinstance(args[0], syntax.Column) or args[0].qualifier is not None:
            raise self.refuse("sort", "the argument of CLASSIFIER is a variable", name, "write `CLASSIFIER(A)`")
        return syntax.Classifier(canonical(args[0].name), span=span)

    def _count(self, name: Token, args: tuple[Expr, ...], least: int, most: int) -> None:
        if not least <= len(args) <= most:
            words = f"{least}" if least == most else f"{least} or {most}"
            plural = "argument" if most == 1 else "arguments"
            raise self.refuse("arity", f"`{name}` takes {words} {plural}, but got {len(args)}", name)

    # --- operators ---------------------------------------------------------------------------------------------------

    def x_concat(self, tree: Node) -> Expr:
        return self.leftwards(tree, tree.children, ["||"] * (len(tree.children) - 1))

    def joined(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        return syntax.Concat(left, right, span=span) if op == "||" else super().joined(op, left, right, span)

    def x_between(self, tree: Node) -> Expr:
        (arg, low, high), negated = self.negatable(tree)
        return syntax.Between(arg, low, high, negated, span=self.span(tree))

    def x_distinct_from(self, tree: Node) -> Expr:
        (left, right), negated = self.negatable(tree)
        return syntax.DistinctFrom(left, right, negated, span=self.span(tree))

    def x_case(self, tree: Node) -> Expr:
        return syntax.Case(tuple(self.branches(tree)), span=self.span(tree))

    def x_cast(self, tree: Node) -> Expr:
        arg, kind = tree.children
        found = self.type(kind)
        if found is None:
            raise Refused
        return syntax.Cast(self.expr(arg), found, str(kind).lower(), span=self.span(tree))


_PARTS = {
    **{name: name for name in ("partition", "order", "measures", "after", "within", "subset", "define")},
    **dict.fromkeys(("one_row", "all_rows", "omit_empty", "with_unmatched"), "rows"),
}
_ROWS = {"one_row": syntax.ONE, "all_rows": syntax.ALL, "omit_empty": syntax.OMIT, "with_unmatched": syntax.UNMATCHED}
_UNQUOTED = re.compile(r"[A-Z_][A-Z0-9_]*\Z")
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def canonical(name: Word) -> Word:
    """A name as that of a variable: in upper case unless quoted."""
    text = name.canonical
    return Word(text, _UNQUOTED.match(text) is None or text.lower() in QUOTED, name.span)


def unquoted_name(token: str) -> str:
    """A name without its quotes."""
    mark = token[0]
    return token[1:-1].replace(mark * 2, mark) if mark in '"`' else str(token)


def _numeric(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()
