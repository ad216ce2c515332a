"""Pipes and functions of one statement, read by recursive descent (pipes.md, 2.2).

A text defines phrases that the text behind it uses, so the grammar grows while it is read: that is why there is no
grammar file.  Operators are read by precedence; prefix forms, phrases and primaries are operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from occurs.languages.esql import syntax
from occurs.languages.esql.parser_forms import FormReader
from occurs.languages.esql.parser_reader import DEEPEST, Backtrack
from occurs.languages.esql.parser_tokens import Token
from occurs.languages.esql.words import CONSTANTS, REFUSED
from occurs.languages.expressions import LONG, microseconds, plain, unquoted

IMPLIES, OR, AND, UNTIL, UNARY, COMPARISON, SUM, PRODUCT, NEGATION, POWER, OPERAND = range(11)
#: an operator by its key: how tightly it binds, and the least that its right operand must
OPERATORS: dict[str, tuple[int, int]] = {
    "->": (IMPLIES, IMPLIES), "IMPLIES": (IMPLIES, IMPLIES), "OR": (OR, AND), "AND": (AND, UNTIL),
    "U": (UNTIL, UNTIL), "UPTO": (UNTIL, UNTIL),
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN"), (COMPARISON, SUM)),
    "+": (SUM, PRODUCT), "-": (SUM, PRODUCT),
    **dict.fromkeys(("*", "/", "MOD", "DIV"), (PRODUCT, NEGATION)),
}  # fmt: skip
#: quantifiers, by what they are written with
QUANTIFIERS = {
    ("FOR", "ALL"): "FOR ALL", ("∀",): "FOR ALL", ("EXISTS",): "EXISTS", ("∃",): "EXISTS", ("EVERY",): "EVERY",
    ("SOME",): "SOME",
}  # fmt: skip
#: words in front of a unary that negate or are temporal
PREFIXES = ("NOT", "G", "F", "X", "ALWAYS", "SOMETIME", "AFTER")


class Expressions(FormReader):
    """Reads pipes and functions."""

    def pipe(self) -> syntax.Node:
        start, out = self.at, self.expression()
        while True:
            if self.accept("WHERE"):
                word, condition = "WHERE", self.expression()
            elif self.accept("STOPPING"):
                self.expect("WHEN")
                word, condition = "STOPPING WHEN", self.expression()
            elif self.accept("THRESHOLD"):
                word, condition = "THRESHOLD", self.number()
            else:
                return out
            out = syntax.Where(word, out, condition, span=self.span(start))

    # --- operators ---------------------------------------------------------------------------------------------------

    def expression(self, least: int = IMPLIES) -> syntax.Node:
        """What operators of ``least`` and tighter join."""
        self.deeper()
        start = self.at
        left = self.prefixed() if least <= UNARY else self.negation()
        row = 0
        while (found := self._operator(least)) is not None:
            op, right_least = found
            if op == "IS":
                left = self._is_null(left, start)
                continue
            row += 1
            if row > DEEPEST and op not in ("AND", "OR"):
                raise self.say("syntax", f"more than {DEEPEST} operands in a row")
            if op in ("AND", "OR"):
                left = self._connected(op, left, right_least, start)
            else:
                left = syntax.Binary(op, left, self.expression(right_least), span=self.span(start))
        self.depth -= 1
        return left

    def _operator(self, least: int) -> tuple[str, int] | None:
        """The operator that stands here, taken; None if there is none, or one that binds less than ``least``."""
        key = self.token.key
        if key == "IS" and least <= COMPARISON:
            self.at += 1
            return "IS", COMPARISON
        if key in ("LESS", "GREATER") and least <= COMPARISON:
            self.at += 1
            self.expect("THAN")
            return ("<" if key == "LESS" else ">"), SUM
        if key in OPERATORS and OPERATORS[key][0] >= least:
            self.at += 1
            return ("->" if key == "IMPLIES" else key), OPERATORS[key][1]
        self.wanted("an operator")
        return None

    def _connected(self, op: str, left: syntax.Node, least: int, start: int) -> syntax.Node:
        """A row of AND or OR, balanced if it is long, so that no tree is deep."""
        parts = [left, self.expression(least)]
        while self.token.key == op:
            self.at += 1
            parts.append(self.expression(least))
        return self._row(op, parts, start)

    def _row(self, op: str, parts: Sequence[syntax.Node], start: int) -> syntax.Node:
        if len(parts) > LONG:
            half = len(parts) // 2
            left, right = self._row(op, parts[:half], start), self._row(op, parts[half:], start)
            return syntax.Binary(op, left, right, span=self.span(start))
        out = parts[0]
        for part in parts[1:]:
            out = syntax.Binary(op, out, part, span=self.span(start))
        return out

    def _is_null(self, operand: syntax.Node, start: int) -> syntax.Node:
        negated = self.accept("NOT") is not None
        self.expect("NULL")
        return syntax.IsNull(operand, negated, span=self.span(start))

    def prefixed(self) -> syntax.Node:
        """``unary``: NOT, temporal operators, quantifiers, or a comparison and what is tighter."""
        start, key = self.at, self.token.key
        if key in PREFIXES:
            self.at += 1
            return syntax.Unary(key, self.expression(UNARY), span=self.span(start))
        for words, name in QUANTIFIERS.items():
            if self.sees(*words):
                if self.tokens[self.at + len(words)].kind == "variable":
                    return self._quantifier(name, len(words))
                self.at += len(words)
                self.wanted("a variable (`$x`)")
                self.at -= len(words)  # forms and phrases may begin so too
        return self.negation()

    def _quantifier(self, word: str, words: int) -> syntax.Node:
        start = self.at
        self.at += words
        variable = self.next()
        self.expect("IN")
        domain = self.expression()
        on = self.operand() if self.accept("ON") else None
        self.expect(":")
        body = self.expression(UNARY)
        return syntax.Quantifier(word, variable.word[1:], domain, on, body, span=self.span(start))

    def negation(self) -> syntax.Node:
        """``neg``: minus signs and roots in front of a power."""
        start = self.at
        if self.token.key == "-":
            self.at += 1
            self.deeper()
            out: syntax.Node = syntax.Unary("-", self.negation(), span=self.span(start))
            self.depth -= 1
            return out
        if self.token.key == "√":
            self.at += 1
            self.deeper()
            out = syntax.Call("sqrt", (self.negation(),), span=self.span(start))
            self.depth -= 1
            return out
        base = self.operand()
        if self.token.key == "^":
            self.at += 1
            self.deeper()
            out = syntax.Binary("^", base, self.negation(), span=self.span(start))
            self.depth -= 1
            return out
        if self.sees("TO", "THE"):
            back = self.at
            try:
                self.at += 2
                exponent = self.operand()
                if not any(self.accept(w) for w in ("ST", "ND", "RD", "TH")):
                    raise Backtrack
                return syntax.Binary("^", base, exponent, span=self.span(start))
            except Backtrack:
                self.at = back
        return base

    # --- operands ----------------------------------------------------------------------------------------------------

    def postfixed(self) -> syntax.Node:
        """A primary with attributes and elements behind it."""
        start, out = self.at, self.primary()
        while True:
            if self.token.kind == "access":
                self.at += 1
                out = syntax.Access(out, plain(self.expect("a name").word), span=self.span(start))
            elif self.token.key == "[":
                self.at += 1
                at = self.expression()
                self.expect("]")
                out = syntax.Element(out, at, span=self.span(start))
            else:
                return out

    def primary(self) -> syntax.Node:
        start, token = self.at, self.token
        if token.kind == "word" and token.word in CONSTANTS:
            self.at += 1
            return syntax.Constant(token.word.upper(), span=self.span(start))
        read = self._PRIMARIES.get(token.key)
        if read is None:
            raise self.fail("an operand")
        return read(self, token)

    def _number(self, token: Token) -> syntax.Node:
        return self.unsigned()

    def _text(self, token: Token) -> syntax.Node:
        self.at += 1
        return syntax.Text(unquoted(token.word, token.start, self.source), span=self.span(self.at - 1))

    def _variable(self, token: Token) -> syntax.Node:
        self.at += 1
        return syntax.Variable(token.word[1:], span=self.span(self.at - 1))

    def _parameter(self, token: Token) -> syntax.Node:
        name = token.word[1:]
        if name not in self.parameters:
            known = ", ".join(f"@{p}" for p in self.parameters)
            hint = f"parameters: {known}" if known else "`@` marks a parameter of a phrase: `WHEN @P IS A ..`"
            raise self.say("unknown-name", f"there is no parameter `{token.word}`", hint)
        self.at += 1
        return syntax.Parameter(name, span=self.span(self.at - 1))

    def _name(self, token: Token) -> syntax.Node:
        start = self.at
        if token.word in REFUSED and token.kind == "word" and self._refused():
            message = f"`{token.word}` of the original eSQL is not supported"
            raise self.say("unsupported", message, REFUSED[token.word])
        self.at += 1
        if token.word == "TIME" and self.token.kind == "text":
            return self._time(start)
        if self.sees("("):
            return self._call(start)
        return syntax.Named(plain(token.word), span=self.span(start))

    def _refused(self) -> bool:
        """Whether a word of the old language is used as there: a text or an operand follows."""
        after = self.tokens[self.at + 1]
        return after.kind in ("text", "number") or (after.kind == "word" and after.key in ("a name", "ON"))

    def _time(self, start: int) -> syntax.Node:
        token = self.next()
        text = unquoted(token.word, token.start, self.source)
        value = microseconds(text.strip())
        if value is None:
            self.at -= 1
            raise self.say("syntax", f"`{text}` is not a valid time", 'write it as `TIME "2026-01-31T12:00:00Z"`')
        return syntax.Time(value, span=self.span(start))

    def _call(self, start: int) -> syntax.Node:
        name = plain(self.tokens[start].word)
        self.expect("(")
        args: tuple[syntax.Node, ...] = ()
        if not self.accept(")"):
            args = self._several(")")
        return syntax.Call(name.lower(), args, span=self.span(start))

    def _several(self, close: str) -> tuple[syntax.Node, ...]:
        items = [self.expression()]
        while self.accept(","):
            items.append(self.expression())
        self.expect(close)
        return tuple(items)

    def _star(self, token: Token) -> syntax.Node:
        self.at += 1
        return syntax.Star(span=self.span(self.at - 1))

    def _sign(self, token: Token) -> syntax.Node:
        self.at += 1
        return syntax.Constant(token.key, span=self.span(self.at - 1))

    def _group(self, token: Token) -> syntax.Node:
        self.at += 1
        inner = self.pipe()
        self.expect(")")
        return inner

    def _absolute(self, token: Token) -> syntax.Node:
        start = self.at
        self.at += 1
        inner = self.expression()
        self.expect("|")
        return syntax.Call("abs", (inner,), span=self.span(start))

    def _list(self, token: Token) -> syntax.Node:
        start, close = self.at, "]" if token.word == "[" else "}"
        self.at += 1
        items = () if self.accept(close) else self._several(close)
        return syntax.Items(items, close == "}", span=self.span(start))

    def _turn(self, token: Token) -> syntax.Node:
        start = self.at
        self.at += 1
        inner = self.expression()
        self.words("INTO", "A", "NUMBER")
        return syntax.Call("number", (inner,), span=self.span(start))

    _PRIMARIES: ClassVar[dict[str, Callable[[Expressions, Token], syntax.Node]]] = {
        "a number": _number, "a text": _text, "a variable": _variable, "a parameter": _parameter, "a name": _name,
        "*": _star, "#": _sign, "?": _sign, "TRUE": _sign, "FALSE": _sign, "(": _group, "|": _absolute, "[": _list,
        "{": _list, "TURN": _turn,
    }  # fmt: skip
