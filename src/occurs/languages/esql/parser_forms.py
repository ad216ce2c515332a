"""Operands: prefix forms by their patterns, phrases by theirs, machines (pipes.md, 2.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from occurs.errors import did_you_mean
from occurs.expr.names import Name
from occurs.languages.esql import syntax
from occurs.languages.esql.forms import BY_WORD, Choice, Element, Noise, Option, Pattern, Slot
from occurs.languages.esql.parser_reader import DEEPEST, Backtrack, Reader
from occurs.languages.esql.parser_tokens import Token
from occurs.languages.expressions import plain
from occurs.expr.text import Text
from occurs.model.time import UNIT_MICROSECONDS, Duration, exact_number

#: units by every spelling that eSQL has
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "sec": "s", "second": "s", "seconds": "s", "min": "min", "minute": "min",
    "minutes": "min", "h": "h", "hour": "h", "hours": "h", "day": "d", "d": "d", "days": "d", "tick": "tick",
    "ticks": "tick",
}  # fmt: skip


class FormReader(Reader, ABC):
    """Reads operands.  ``phrases``: those that are known, the latest last.  ``parameters``: of the phrase whose body
    is read."""

    def __init__(
        self,
        tokens: Sequence[Token],
        source: Text,
        phrases: Sequence[syntax.Phrase] = (),
        parameters: dict[str, str] | None = None,
    ) -> None:
        super().__init__(tokens, source)
        self.parameters = parameters or {}
        self.depth = 0
        self._read: dict[int, tuple[syntax.Node, int] | None] = {}
        #: the longest first, then the latest
        self.by_word: dict[str, list[syntax.Phrase]] = {}
        latest_first = list(reversed(phrases))
        for phrase in sorted(latest_first, key=lambda p: -len(p.pattern)):
            self.by_word.setdefault(phrase.pattern[0], []).append(phrase)

    @abstractmethod
    def expression(self, least: int = 0) -> syntax.Node: ...

    @abstractmethod
    def postfixed(self) -> syntax.Node: ...

    @abstractmethod
    def primary(self) -> syntax.Node: ...

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
        digits = token.word.lstrip("0") or "0"
        # compared by length first: Python refuses to read thousands of digits
        if len(digits) > 19 or int(digits) > 2**63:
            self.at -= 1
            hint = "add a decimal point to make it a float"
            raise self.say("syntax", "this integer does not fit in 64 bits", hint)
        return syntax.Number(-int(digits) if negative else int(digits), span=self.span(begin))

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
            raise self.say("syntax", f"{self.token.shown}: expected `IN` or the `END` of {where}") if (
                self.token.kind in ("stop", "end")
            ) else Backtrack()
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
