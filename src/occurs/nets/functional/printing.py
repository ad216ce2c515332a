"""Functional terms as CPN ML, such that they are read as the same terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby

from occurs.expr.tree import Call
from occurs.nets.colours import Colour
from occurs.nets.functional.tree import (
    Apply,
    Builtin,
    Case,
    Copies,
    Delayed,
    Fn,
    Function,
    Global,
    Let,
    Local,
    Many,
    Minus,
    token_part,
)
from occurs.nets.ml import field
from occurs.nets.terms import ListTerm, RecordTerm, Term, TupleTerm
from occurs.nets.typing import BOOL, INT, REAL, STRING, UNIT

#: how tightly texts hold together, from ``if`` to atoms (:mod:`occurs.nets.ml_terms`)
LOOSE, ATOM = 0, 8
_BASIC = ((INT, "int"), (BOOL, "bool"), (REAL, "real"), (STRING, "string"), (UNIT, "unit"))


class FunctionalPrinter(ABC):
    """The part of :class:`occurs.nets.ml_terms.Printer` for functional terms."""

    #: the names of the declared colours
    declared_colours: frozenset[str] = frozenset()

    @abstractmethod
    def term(self, term: Term) -> str: ...

    @abstractmethod
    def _within(self, term: Term, least: int) -> str: ...

    def functional(self, term: Term) -> tuple[str, int] | None:
        """The text of a functional term and how tightly it holds together; None for other terms."""
        match term:
            case Local():
                return term.name, ATOM
            case Global():
                return term.function.name, ATOM
            case Builtin():
                return (term.name if term.colour is None else f"{term.colour.name}.{term.name}"), ATOM
            case Apply():
                return self._application(term), ATOM - 1
            case Case() | Let() | Fn():
                return self._chosen(term, self._body), LOOSE
            case Copies() | Minus() | Many():
                return self.multiset(term), LOOSE
        return None

    def _application(self, term: Apply) -> str:
        function = self._within(term.function, ATOM - 1)
        if isinstance(term.arg, TupleTerm):
            return f"{function}{self.term(term.arg)}"
        return f"{function} {self._within(term.arg, ATOM)}"

    def _body(self, term: Term) -> str:
        """What follows an arrow: alternatives in it would take those that follow."""
        return self._within(term, LOOSE + 1)

    def _chosen(self, term: Case | Let | Fn, body: Callable[[Term], str]) -> str:
        if isinstance(term, Let):
            value = f"val {self.pattern(term.pattern)} = {self.term(term.value)}"
            return f"let {value} in {body(term.body)} end"
        rules = [f"{self.pattern(p)} => {body(b)}" for p, b in zip(term.patterns, term.bodies, strict=True)]
        start = f"case {self._within(term.arg, LOOSE + 1)} of" if isinstance(term, Case) else "fn"
        return f"{start} {' | '.join(rules)}"

    # -- multisets -----------------------------------------------------------------------------------------------------

    def multiset(self, term: Term) -> str:
        """A term whose value is a list of elements, as a multiset."""
        match term:
            case Many():
                return self.multiset(term.arg)
            case ListTerm():
                counted = [(len(list(group)), self._within(key, ATOM)) for key, group in groupby(term.parts)]
                return "++".join(f"{n}`{text}" for n, text in counted) or "empty"
            case Copies():
                return f"{self._within(term.count, ATOM)}`{self._within(term.arg, ATOM)}"
            case Minus():
                return f"{self._grouped(term.left)}--{self._grouped(term.right)}"
            case Call(name="append", args=(left, right)):
                return f"{self._grouped(left)}++{self._grouped(right)}"
            case Call(name="if", args=(condition, then, other)):
                test = self._within(condition, LOOSE + 1)
                return f"if {test} then {self._grouped(then)} else {self._grouped(other)}"
            case Case() | Let():
                return self._chosen(term, self._grouped)
        return self.term(term)

    def _grouped(self, term: Term) -> str:
        text = self.multiset(term)
        return text if isinstance(term, Apply) or text == "empty" else f"({text})"

    def delayed(self, terms: Sequence[Term], undelayed: Callable[[Sequence[Term]], str]) -> str:
        """The inscription of an arc with delays; ``undelayed``: prints one without."""
        delays = {t.delay if isinstance(t, Delayed) else None for t in terms}
        if len(delays) == 1 and None not in delays:
            delay = next(iter(delays))
            whole = undelayed([t.arg for t in terms if isinstance(t, Delayed)])
            return f"({whole})@+{self._within(delay, ATOM)}" if delay is not None else whole
        return self.mixed(terms)

    def mixed(self, terms: Sequence[Term]) -> str:
        """Tokens and multisets side by side, some of them with delays."""
        texts = []
        for t in terms:
            one, many, delay = token_part(t)
            text = self._grouped(one) if many else f"1`{self._within(one, ATOM)}"
            texts.append(text if delay is None else f"({text}@+{self._within(delay, ATOM)})")
        return "++".join(texts)

    # -- functions -----------------------------------------------------------------------------------------------------

    def function(self, function: Function) -> str:
        """The declaration of a function."""
        clauses = []
        for patterns, body in zip(function.patterns, function.bodies, strict=True):
            text = self._grouped(body) if function.multiset else self._within(body, LOOSE + 1)
            clauses.append(f"{function.name} {' '.join(map(self._argument_pattern, patterns))} = {text}")
        return f"fun {' | '.join(clauses)};"

    def _argument_pattern(self, pattern: Term) -> str:
        text = self.pattern(pattern)
        return text if isinstance(pattern, TupleTerm | ListTerm | RecordTerm) or text.isalnum() else f"({text})"

    def pattern(self, pattern: Term) -> str:
        """The text of a pattern, with the colours that it says."""
        match pattern:
            case Local(colour=None):
                return pattern.name
            case Local(colour=Colour() as colour):
                shown = next((name for c, name in _BASIC if c is colour), colour.name)
                known = shown in self.declared_colours or any(shown == name for _, name in _BASIC)
                return f"({pattern.name}: {shown})" if known and pattern.name != "_" else pattern.name
            case TupleTerm():
                return f"({', '.join(map(self.pattern, pattern.parts))})"
            case ListTerm():
                return f"[{', '.join(map(self.pattern, pattern.parts))}]"
            case RecordTerm():
                fields = zip(pattern.names, pattern.parts, strict=True)
                return f"{{{', '.join(field(n, self.pattern(p)) for n, p in fields)}}}"
            case Call(name="cons", args=(head, tail)):
                return f"({self.pattern(head)}::{self.pattern(tail)})"
        arg = getattr(pattern, "arg", None)
        constructor = getattr(pattern, "constructor", None)
        if constructor is not None and arg is not None:
            return f"{constructor}({self.pattern(arg)})"
        return self.term(pattern)
