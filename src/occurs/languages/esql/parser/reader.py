"""Reads one eSQL statement by recursive descent: statements, operators, operands, tokens (pipes.md, 2.2).

A text defines phrases that the text behind it uses, so the grammar grows while it is read: that is why there is no
grammar file.  Operators are read by precedence; prefix forms, phrases and primaries are operands.  The furthest place
that any attempt has reached is where the mistake is; what was expected there is the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occurs.errors import Problem, Span, did_you_mean
from occurs.expr.text import Name, Text
from occurs.languages.esql import BEGINS, syntax
from occurs.languages.esql.grammar import (
    BY_SUFFIX,
    BY_WORD,
    CATEGORIES,
    COMPARISON,
    CONSTANTS,
    IMPLIES,
    OPERATORS,
    PREFIXES,
    QUANTIFIERS,
    REFUSED,
    SUM,
    UNARY,
    UNITS,
    Choice,
    Element,
    Noise,
    Option,
    Pattern,
    Slot,
)
from occurs.languages.esql.parser.tokens import Token
from occurs.languages.kit.complaints import listed
from occurs.languages.kit.expressions import LONG, microseconds, plain, unquoted, whole_number
from occurs.model.time import UNIT_MICROSECONDS, Duration, exact_number

#: how deep pipes may nest, and how many operands may stand in a row: reading them back takes a few calls a level
DEEPEST = 100
_AT_END = ("NOTHING", "FINITE", "NULL")


class Backtrack(Exception):
    """What was tried does not stand here."""


class Reader:
    """Reads a statement from its tokens, the last of which is of kind ``end`` or ``stop``.

    ``phrases``: those that are known, the latest last.  ``parameters``: of the phrase whose body is read.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        source: Text,
        phrases: Sequence[syntax.Phrase] = (),
        parameters: dict[str, str] | None = None,
    ) -> None:
        self.tokens = tokens
        self.source = source
        self.at = 0
        self.furthest = 0
        self.expected: set[str] = set()
        #: what is to be said if reading gets no further than a place: kind, message, hint
        self.said: dict[int, tuple[str, str, str | None]] = {}
        self.parameters = parameters or {}
        self.depth = 0
        self._read: dict[int, tuple[syntax.Node, int] | None] = {}
        #: the longest first, then the latest
        self.by_word: dict[str, list[syntax.Phrase]] = {}
        latest_first = list(reversed(phrases))
        for phrase in sorted(latest_first, key=lambda p: -len(p.pattern)):
            self.by_word.setdefault(phrase.pattern[0], []).append(phrase)

    # --- statements --------------------------------------------------------------------------------------------------

    def statement(self) -> syntax.Statement:
        """Raises Backtrack if it cannot be read."""
        start = self.at
        if self.accept("LET"):
            name = self.name()
            self.expect("BE")
            pipe = self.pipe()
            self._end()
            return syntax.Let(name, pipe, self.span(start))
        if self._is_phrase():
            return self._phrase()
        defined: Name | None = None
        about = False
        if self.accept("DEFINE"):
            defined = self.name()
            if self.accept("WITH"):
                self.expect("ABOUT")
                about = True
            self.expect("AS")
        pipe = self.pipe()
        at_end = None
        if self.accept("AT"):
            self.expect("END")
            token = next((t for w in _AT_END if (t := self.accept(w))), None)
            if token is None:
                raise self.fail("one of them")
            at_end = token.word
        self._end()
        return syntax.Definition(defined, pipe, about, at_end, self.span(start))

    def _end(self) -> None:
        if self.token.kind not in ("stop", "end"):
            raise self.fail("`.`")

    # --- phrases -----------------------------------------------------------------------------------------------------

    def _is_phrase(self) -> bool:
        """Whether the statement has the form of a phrase: WHEN in front, or IS THE and a category behind words."""
        if self.sees("WHEN"):
            return True
        for i, token in enumerate(self.tokens):
            if token.word == "IS" and token.kind == "word":
                after = self.tokens[i + 1 : i + 3]
                return i > 0 and [t.word for t in after[:1]] == ["THE"] and after[1].word.lower() in CATEGORIES
            if token.kind not in ("word", "parameter") and token.word not in ("(", ")"):
                return False
        return False

    def _phrase(self) -> syntax.Phrase:
        start = self.at
        declared: dict[str, str] = {}
        if self.accept("WHEN"):
            while True:
                at = self.at
                name = self.expect("a parameter").word[1:]
                self.words("IS", "A")
                category = self._category()
                if name in declared:
                    self.source.report("duplicate-name", f"`@{name}` is declared twice", self.span(at))
                declared[name] = category
                if not self.accept(","):
                    break
            self.expect(":")
        pattern = self._pattern(declared)
        self.words("IS", "THE")
        category = self._category()
        self.parameters = declared
        body = self.pipe()
        self._end()
        ordered = tuple(sorted(declared.items()))
        return syntax.Phrase(pattern, ordered, category, body, self.span(start))

    def _category(self) -> str:
        token = self.token
        word = token.word.lower()
        if token.kind != "word" or word not in CATEGORIES:
            if token.kind == "word":
                raise self.say("syntax", f"`{token.word}` is not a category of phrases",
                               did_you_mean(word, CATEGORIES, "categories"))  # fmt: skip
            raise self.fail("a category (processor, function, number, boolean, text)")
        self.at += 1
        return word

    def _pattern(self, declared: dict[str, str]) -> tuple[str, ...]:
        """Words and parameters; parentheses around a parameter mean nothing."""
        out: list[str] = []
        start = self.at
        while not self.sees("IS", "THE"):
            open_ = self.accept("(")
            if self.token.kind == "word" and open_ is None:
                out.append(self.next().word)
                continue
            at = self.at
            if self.token.kind != "parameter":
                raise self.fail("a parameter" if open_ else "`IS THE`")
            name = self.next().word[1:]
            if name not in declared:
                hint = "declare it: `WHEN @P IS A PROCESSOR: ..`"
                hint = did_you_mean(name, declared, "parameters") if declared else hint
                self.source.report("unknown-name", f"there is no parameter `@{name}`", self.span(at), hint)
            elif f"@{name}" in out:
                self.source.report("duplicate-name", f"`@{name}` occurs twice in the pattern", self.span(at))
            if open_:
                self.expect(")")
            out.append(f"@{name}")
        place = self.span(start)
        if not out or out[0].startswith("@"):
            self.source.report(
                "syntax", "a pattern must start with a word", place, "write for example `THE DOUBLE OF @P`"
            )
        for name in declared:
            if f"@{name}" not in out:
                self.source.report("unknown-name", f"`@{name}` is not in the pattern", place)
        return tuple(out)

    # --- pipes -------------------------------------------------------------------------------------------------------

    def pipe(self) -> syntax.Node:
        start, out = self.at, self.expression()
        while True:
            first = next((w for w in BY_SUFFIX if self.accept(w)), None)
            if first is None:
                return out
            words, slot = BY_SUFFIX[first]
            self.words(*words[1:])
            condition = self.number() if slot == "number" else self.expression()
            out = syntax.Where(" ".join(words), out, condition, span=self.span(start))

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

    # --- primaries ---------------------------------------------------------------------------------------------------

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
        match token.key:
            case "a number":
                return self.unsigned()
            case "a parameter":
                return self._parameter(token)
            case "a name":
                return self._name(token)
        self.at += 1
        match token.key:
            case "a text":
                return syntax.Text(unquoted(token.word, token.start, self.source), span=self.span(start))
            case "a variable":
                return syntax.Variable(token.word[1:], span=self.span(start))
            case "*":
                return syntax.Star(span=self.span(start))
            case "#" | "?" | "TRUE" | "FALSE":
                return syntax.Constant(token.key, span=self.span(start))
            case "(":
                inner = self.pipe()
                self.expect(")")
                return inner
            case "|":
                inner = self.expression()
                self.expect("|")
                return syntax.Call("abs", (inner,), span=self.span(start))
            case "[" | "{":
                close = "]" if token.key == "[" else "}"
                items = self._up_to(close)
                return syntax.Items(items, close == "}", span=self.span(start))
            case "TURN":
                inner = self.expression()
                self.words("INTO", "A", "NUMBER")
                return syntax.Call("number", (inner,), span=self.span(start))
        self.at -= 1
        raise self.fail("an operand")

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
        args = self._up_to(")")
        return syntax.Call(name.lower(), args, span=self.span(start))

    def _up_to(self, close: str) -> tuple[syntax.Node, ...]:
        """Expressions with commas between, if there are any, and the sign behind them."""
        if self.accept(close):
            return ()
        items = self._listed(self.expression)
        self.expect(close)
        return items

    # --- operands ----------------------------------------------------------------------------------------------------

    def deeper(self) -> None:
        """One level more of what nests."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.say("syntax", f"nested more than {DEEPEST} levels deep")

    def operand(self) -> syntax.Node:
        """A phrase, a prefix form or a primary; each place is read once, however often it is tried."""
        start, depth = self.at, self.depth
        if start in self._read:
            known = self._read[start]
            if known is None:
                raise Backtrack
            self.at = known[1]
            return known[0]
        try:
            found = self._operand()
        except Backtrack:
            self._read[start] = None
            raise
        finally:
            self.depth = depth
        self._read[start] = found, self.at
        return found

    def _operand(self) -> syntax.Node:
        self.deeper()
        start, depth = self.at, self.depth
        found: syntax.Node | None = None
        length = end = 0
        if self.token.kind == "word":
            for pattern in BY_WORD.get(self.token.word, ()):
                form = self.attempt(lambda p=pattern: self._form(p))
                if form is not None:
                    found, length, end = form, len(pattern.elements), self.at
                    break
                self.at, self.depth = start, depth
            if found is None and self.token.key == "MACHINE":
                return self._machine()
            for phrase in self.by_word.get(self.token.word, ()):
                if len(phrase.pattern) <= length:
                    break
                self.at, self.depth = start, depth
                used = self.attempt(lambda p=phrase: self._use(p))
                if used is not None:
                    return used
        if found is not None:
            self.at = end
            return found
        self.at, self.depth = start, depth
        return self.postfixed()

    def attempt(self, read: Any) -> Any:
        """What is read, None if it does not stand here."""
        try:
            return read()
        except Backtrack:
            return None

    # --- phrases -----------------------------------------------------------------------------------------------------

    def _use(self, phrase: syntax.Phrase) -> syntax.Node:
        start = self.at
        categories = dict(phrase.parameters)
        args: list[syntax.Node] = []
        for word in phrase.pattern:
            if word.startswith("@"):
                args.append(self._argument(categories[word[1:]]))
            elif self.token.kind == "word" and self.token.word == word:
                self.at += 1
            else:
                raise self.fail(f"`{word}`")
        return syntax.Use(phrase, tuple(args), span=self.span(start))

    def _argument(self, category: str) -> syntax.Node:
        if category in ("processor", "function"):
            return self.operand()
        if self.accept("("):
            inner = self._argument(category)
            self.expect(")")
            return inner
        if category == "number":
            return self.number()
        found = self.primary()
        fits = isinstance(found, syntax.Parameter) and self.parameters[found.name] == category
        if category == "text" and not isinstance(found, syntax.Text) and not fits:
            raise self.fail("a text")
        truth = isinstance(found, syntax.Constant) and found.word in ("TRUE", "FALSE")
        if category == "boolean" and not truth and not fits:
            raise self.fail("`TRUE` or `FALSE`")
        return found

    # --- forms -------------------------------------------------------------------------------------------------------

    def _form(self, pattern: Pattern) -> syntax.Node:
        start, parts = self.at, list[tuple[str, Any]]()
        self._elements(pattern.elements, parts)
        return syntax.Form(pattern.kind, tuple(parts), span=self.span(start))

    def _elements(self, elements: Sequence[Element], parts: list[tuple[str, Any]]) -> None:
        for e in elements:
            if isinstance(e, str):
                self.expect(e)
            elif isinstance(e, Slot):
                parts.append((e.name, self._slot(e)))
            elif isinstance(e, Choice):
                token = next((t for w in e.words if (t := self.accept(w))), None)
                if token is None and not e.optional:
                    raise Backtrack
                if token is not None:
                    parts.append((e.name, token.word))
            elif isinstance(e, Noise):
                any(self.accept(w) for w in e.words)
            else:
                self._option(e, parts)

    def _option(self, option: Option, parts: list[tuple[str, Any]]) -> None:
        """Once its first two words (or its only one) stand there, the rest must too."""
        words = [w for w in option.elements[:2] if isinstance(w, str)]
        if not self.sees(*words):
            self.wanted(f"`{words[0]}`")
            return
        self._elements(option.elements, parts)
        if option.flag:
            parts.append((option.flag, True))

    def _slot(self, slot: Slot) -> Any:
        if slot.what == "columns":
            return self._listed(self._column)
        if slot.what in ("sources", "variables"):
            return self._listed(self._source if slot.what == "sources" else self._variable_source)
        if slot.many:
            return self._listed(lambda: self._one(slot.what))
        return self._one(slot.what)

    def _listed(self, read: Any) -> tuple[Any, ...]:
        out = [read()]
        while self.accept(","):
            out.append(read())
        return tuple(out)

    def _one(self, what: str) -> Any:
        match what:
            case "operand":
                return self.operand()
            case "expression":
                return self.expression()
            case "primary":
                return self.primary()
            case "number":
                return self.number()
            case "length" | "count":
                return self.length(required=what == "length")
            case "name":
                return self.name()
            case "word":
                return self._word()
            case "signature":
                return self._signature()
        token = self.token
        if token.kind == "parameter" and self.parameters.get(token.word[1:]) == what:
            return self.primary()
        if token.kind != "text":
            raise self.fail("a text")
        return self.primary()

    def name(self) -> Name:
        token = self.expect("a name")
        return Name(plain(token.word), self.span(self.at - 1))

    def _word(self) -> Name:
        """A word of COMBINE .. WITH."""
        start = self.at
        if self.sees("BAG", "UNION"):
            self.at += 2
            return Name("BAG UNION", self.span(start))
        return self.name()

    def _signature(self) -> syntax.Signature:
        start, name = self.at, self.name()
        self.expect("(")
        domains = self._listed(self.name)
        self.expect(")")
        return syntax.Signature(name, domains, span=self.span(start))

    def _column(self) -> syntax.Column:
        start, value = self.at, self.expression()
        name = self.name().text if self.accept("AS") else None
        return syntax.Column(value, name, span=self.span(start))

    def _source(self) -> syntax.Source:
        start, pipe = self.at, self.operand()
        name = self.name().text if self.accept("AS") else None
        return syntax.Source(pipe, name, span=self.span(start))

    def _variable_source(self) -> syntax.Source:
        start, pipe = self.at, self.operand()
        name = self.expect("a variable").word[1:] if self.accept("AS") else None
        return syntax.Source(pipe, name, span=self.span(start))

    # --- numbers -----------------------------------------------------------------------------------------------------

    def number(self) -> syntax.Node:
        """A number with its sign, or a parameter that is one."""
        token = self.token
        if token.kind == "parameter" and self.parameters.get(token.word[1:]) == "number":
            return self.primary()
        start = self.at
        negative = self.accept("-") is not None
        if not negative:
            self.accept("+")
        if self.token.kind != "number":
            raise self.fail("a number")
        return self.unsigned(start, negative)

    def unsigned(self, start: int | None = None, negative: bool = False) -> syntax.Number:
        token = self.next()
        begin = self.at - 1 if start is None else start
        if not token.word.isdecimal():
            value = float(token.word)
            return syntax.Number(-value if negative else value, span=self.span(begin))
        whole = whole_number(token.word, 2**63)
        if whole is None:
            self.at -= 1
            hint = "add a decimal point to make it a float"
            raise self.say("syntax", "this integer does not fit in 64 bits", hint)
        return syntax.Number(-whole if negative else whole, span=self.span(begin))

    def length(self, required: bool) -> syntax.Node:
        """A number with a unit, or (unless it is ``required``) a count of items."""
        start = self.at
        number = self.number()
        token = self.token
        if token.kind != "word" or token.key != "a name":
            if required:
                raise self.fail(f"a unit of time ({', '.join(list(UNITS)[:6])} ..)")
            return number
        unit = UNITS.get(token.word)
        if unit is None:
            hint = did_you_mean(token.word.lower(), UNITS, "units")
            raise self.say("unknown-unit", f"`{token.word}` is not a unit of time", hint)
        amount = exact_number(repr(abs(number.value))) if isinstance(number, syntax.Number) else None
        if amount is None or not isinstance(number, syntax.Number):
            # said of the unit: other forms may have been read up to it
            raise self.say("bad-duration", "the value before this unit is not a valid number for a duration")
        self.at += 1
        amount = -amount if number.value < 0 else amount
        duration = Duration(amount, True) if unit == "tick" else Duration(amount * UNIT_MICROSECONDS[unit])
        return syntax.Length(duration, number.value, unit, span=self.span(start))

    # --- machines ----------------------------------------------------------------------------------------------------

    def _machine(self) -> syntax.Node:
        start = self.at
        self.words("MACHINE", "ON")
        inputs = self._listed(self.operand)
        registers = self._listed(self._register) if self.accept("WITH") else ()
        self.expect("START")
        first = self.name()
        states: list[syntax.State] = []
        while self.sees("IN"):
            states.append(self._state())
        self.wanted("`IN`")
        if not self.accept("END"):
            at = self.source.span(self.tokens[start].start, self.tokens[start].end)
            where = f"the MACHINE of line {at.line}"
            raise (
                self.say("syntax", f"{self.token.shown}: expected `IN` or the `END` of {where}")
                if (self.token.kind in ("stop", "end"))
                else Backtrack()
            )
        return syntax.Machine(inputs, registers, first, tuple(states), span=self.span(start))

    def _register(self) -> syntax.Register:
        start = self.at
        name = self.expect("a variable").word[1:]
        self.expect(":=")
        return syntax.Register(name, self.expression(), span=self.span(start))

    def _state(self) -> syntax.State:
        start = self.at
        self.expect("IN")
        name = self.name()
        output = self.expression() if self.accept("OUTPUT") else None
        self.expect(":")
        transitions: list[syntax.Transition] = []
        while self.sees("WHEN") or self.sees("OTHERWISE"):
            transitions.append(self._transition())
        if not transitions:
            self.wanted("`WHEN`")
        return syntax.State(name, output, tuple(transitions), span=self.span(start))

    def _transition(self) -> syntax.Transition:
        start = self.at
        condition = None if self.accept("OTHERWISE") else (self.expect("WHEN"), self.expression())[1]
        self.words("GO", "TO")
        target = self.name()
        sets = self._listed(self._register) if self.accept("SET") else ()
        self.expect(";")
        return syntax.Transition(condition, target, sets, span=self.span(start))

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def wanted(self, what: str) -> None:
        """Note that ``what`` could stand here."""
        if self.at > self.furthest:
            self.furthest, self.expected = self.at, set()
        if self.at == self.furthest:
            self.expected.add(what)

    def fail(self, what: str) -> Backtrack:
        """``what`` should stand here."""
        self.wanted(what)
        return Backtrack()

    def say(self, kind: str, message: str, hint: str | None = None) -> Backtrack:
        """Nothing can stand here, for a reason of its own."""
        self.wanted(message)
        self.said[self.at] = kind, message, hint
        return Backtrack()

    def next(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def sees(self, *keys: str) -> bool:
        """Whether these tokens stand here, by their keys; words that are no keywords by what they are."""
        here = self.tokens[self.at : self.at + len(keys)]
        return len(here) == len(keys) and all(_is(t, k) for t, k in zip(here, keys))

    def accept(self, key: str) -> Token | None:
        """The token, if it stands here."""
        if _is(self.token, key):
            return self.next()
        self.wanted(f"`{key}`" if not key.startswith("a ") else key)
        return None

    def expect(self, key: str) -> Token:
        found = self.accept(key)
        if found is None:
            raise Backtrack
        return found

    def words(self, *words: str) -> None:
        for word in words:
            self.expect(word)

    # --- places ------------------------------------------------------------------------------------------------------

    def span(self, start: int) -> Span:
        """From token ``start`` to before the one that stands here."""
        last = max(start, self.at - 1)
        return self.source.span(self.tokens[start].start, self.tokens[last].end)

    def problem(self) -> Problem:
        """Why the statement cannot be read."""
        token = self.tokens[self.furthest]
        place = self.source.span(token.start, max(token.end, token.start + 1))
        if self.furthest in self.said:
            kind, message, hint = self.said[self.furthest]
            return self.source.problem(kind, message, place, hint)
        hint = None
        if token.kind == "word" and token.key != "a name" and self.expected & {"a name", "an operand"}:
            hint = f"`{token.word}` is a keyword: to use it as a name, write it in backquotes: `` `{token.word}` ``"
        small = self._in_small_letters()
        if hint is None and small is not None:
            hint = f"write keywords in capitals: `{small.word.upper()}`"
            place = self.source.span(small.start, small.end)
            return self.source.problem("syntax", f"`{small.word}` is not a keyword", place, hint)
        if token.kind == "bad" and token.word in "\"'`":
            hint = "close it on the same line; write a line break in a text as \\n"
            return self.source.problem("syntax", "this quote is not closed on its line", place, hint)
        return self.source.problem("syntax", f"{token.shown}: expected {_listed(self.expected)}", place, hint)

    def _in_small_letters(self) -> Token | None:
        """The word up to where reading stopped that would be an expected keyword in capitals; else the first one that
        begins a statement."""
        here = self.tokens[self.furthest]
        if here.kind == "word" and f"`{here.word.upper()}`" in self.expected and here.word != here.word.upper():
            return here
        first = self.tokens[0]
        begins = first.kind == "word" and first.word in BEGINS
        return first if begins else None


def _is(token: Token, key: str) -> bool:
    return token.key == key or (token.kind == "word" and token.word == key)


def _listed(expected: set[str]) -> str:
    """``a, b or c``; what is general first, many of a kind shortened."""
    parts = sorted(expected, key=lambda e: (e.startswith("`"), e))
    return listed([*parts[:12], "..."] if len(parts) > 12 else parts, "or") or "something else"
