"""Formulas over pipes: temporal operators and quantifiers (pipes.md, 2.3, 4.5, 4.6).

``G F X U forall exists`` evaluate every position (Boolean); ``always sometime after upto every some`` evaluate only the
first position, which may still be undecided (Troolean).  Nested calls make one formula: an operand that is a formula
becomes part of it, and any other pipe is an atom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.operators.process import tree
from occurs.operators.process.tree import Formula, Part
from occurs.pipes.box import Box
from occurs.pipes.callables import as_function
from occurs.pipes.pipe import Pipe, as_pipe, inner_of

#: names of operators by flavour
_WORDS = {False: "G F X U forall exists", True: "always sometime after upto every some"}


class _Box(Box):
    """A formula; ``word`` is one of its operators."""

    def __init__(self, processor: Formula, sources: Sequence[Pipe], word: str) -> None:
        self.word = word
        super().__init__(processor, len(sources), 1, sources=sources)

    @property
    def kind_name(self) -> str:
        return self.word


def is_formula(pipe: Pipe) -> bool:
    """True if the pipe is a formula."""
    return isinstance(pipe._box, _Box)


class _Parts:
    """The operands of a formula that is built: their pipes become its inputs, each once."""

    def __init__(self, word: str, troolean: bool | None) -> None:
        self.word, self.troolean = word, troolean
        self.sources: list[Pipe] = []

    def input(self, pipe: Pipe) -> int:
        """The number of the input that a pipe is on."""
        same = [i for i, p in enumerate(self.sources) if p._box is pipe._box and p._port == pipe._port]
        if not same:
            self.sources.append(pipe)
        return same[0] if same else len(self.sources) - 1

    def flavour(self, troolean: bool, word: str) -> None:
        """DefinitionProblem if operators of both flavours come together."""
        if self.troolean is not None and self.troolean is not troolean:
            words = {self.troolean: self.word, troolean: word}
            raise DefinitionProblem.of(
                "sort",
                f"`{words[False]}` evaluates every position, `{words[True]}` only the first: combine only one kind",
                hint=f"every position: {_WORDS[False]}; only the first: {_WORDS[True]}",
            )
        if self.troolean is None:
            self.troolean, self.word = troolean, word

    def part(self, operand: Any) -> Part:
        """An operand as part of the formula."""
        pipe = as_pipe(operand)
        if pipe.parameter is not None:
            return tree.Given(pipe.parameter)
        box = pipe._box
        if not isinstance(box, _Box):
            return tree.Atom(self.input(pipe))
        processor = box.processor
        assert isinstance(processor, Formula)
        self.flavour(processor.troolean, box.word)
        return self.moved(processor.root, [self.input(s) for s in box.sources if s is not None])

    def moved(self, part: Part, places: Sequence[int]) -> Part:
        """A part of another formula, its inputs at their new places."""
        if isinstance(part, tree.Atom):
            return tree.Atom(places[part.index])
        if isinstance(part, tree.Quantified):
            return replace(part, input=places[part.input])
        return part.map(lambda p: self.moved(p, places))

    def pipe(self, root: Part) -> Pipe:
        """The formula."""
        if self.troolean is None:
            raise DefinitionProblem.of("sort", f"`{self.word}` of ltl needs a formula as operand")
        if not self.sources:
            raise DefinitionProblem.of("sort", "a formula of constants alone has no events of its own")
        return _Box(Formula(root, self.troolean), self.sources, self.word).out()


def _formula(word: str, troolean: bool | None, make: Callable[..., Part], *operands: Any) -> Pipe:
    parts = _Parts(word, troolean)
    return parts.pipe(make(*[parts.part(o) for o in operands]))


# --- Boolean --------------------------------------------------------------------------------------------------------


def G(p: Any) -> Pipe:
    """Globally: true at this and every later position."""
    return _formula("G", False, tree.Globally, p)


def F(p: Any) -> Pipe:
    """Eventually: true at this or a later position."""
    return _formula("F", False, tree.Eventually, p)


def X(p: Any) -> Pipe:
    """Next: true at the next position."""
    return _formula("X", False, tree.Next, p)


def U(p: Any, q: Any) -> Pipe:
    """Until: ``q`` is true at this or a later position, and ``p`` at every position before it."""
    return _formula("U", False, tree.Until, p, q)


# --- Troolean -------------------------------------------------------------------------------------------------------


def always(p: Any) -> Pipe:
    """``G``, evaluated at the first position."""
    return _formula("always", True, tree.Globally, p)


def sometime(p: Any) -> Pipe:
    """``F``, evaluated at the first position."""
    return _formula("sometime", True, tree.Eventually, p)


def after(p: Any) -> Pipe:
    """``X``, evaluated at the first position."""
    return _formula("after", True, tree.Next, p)


def upto(p: Any, q: Any) -> Pipe:
    """``U``, evaluated at the first position."""
    return _formula("upto", True, tree.Until, p, q)


# --- connectives ----------------------------------------------------------------------------------------------------


def and_(p: Any, q: Any) -> Pipe:
    """True if both are true; at least one operand is a formula."""
    return _formula("and_", None, tree.And, p, q)


def or_(p: Any, q: Any) -> Pipe:
    """True if one of them is true; at least one operand is a formula."""
    return _formula("or_", None, tree.Or, p, q)


def implies(p: Any, q: Any) -> Pipe:
    """True if ``p`` is false or ``q`` is true; at least one operand is a formula."""
    return _formula("implies", None, tree.Implies, p, q)


def not_(p: Any) -> Pipe:
    """The negation of a formula."""
    return _formula("not_", None, tree.Not, p)


# --- quantifiers ----------------------------------------------------------------------------------------------------


def forall(variable: str, domain: Any, pipe: Pipe, inner: Callable[[Pipe], Pipe]) -> Pipe:
    """True if the ``inner`` formula holds from this position on for every ``$variable`` in ``domain(item)``."""
    return _quantified("forall", False, True, variable, domain, pipe, inner)


def exists(variable: str, domain: Any, pipe: Pipe, inner: Callable[[Pipe], Pipe]) -> Pipe:
    """True if the ``inner`` formula holds from this position on for some ``$variable`` in ``domain(item)``."""
    return _quantified("exists", False, False, variable, domain, pipe, inner)


def every(variable: str, domain: Any, pipe: Pipe, inner: Callable[[Pipe], Pipe]) -> Pipe:
    """``forall``, evaluated at the first position."""
    return _quantified("every", True, True, variable, domain, pipe, inner)


def some(variable: str, domain: Any, pipe: Pipe, inner: Callable[[Pipe], Pipe]) -> Pipe:
    """``exists``, evaluated at the first position."""
    return _quantified("some", True, False, variable, domain, pipe, inner)


def _quantified(
    word: str, troolean: bool, universal: bool, variable: str, domain: Any, pipe: Pipe, inner: Callable[[Pipe], Pipe]
) -> Pipe:
    parts = _Parts(word, troolean)

    def seen(here: Pipe) -> Any:
        body = inner(here)
        if isinstance(body, Pipe) and isinstance(body._box, _Box):
            formula = body._box.processor
            assert isinstance(formula, Formula)
            parts.flavour(formula.troolean, body._box.word)
        return body

    body = inner_of(seen, [pipe.item_type], f"`{word}`")
    place = parts.input(pipe)
    return parts.pipe(tree.Quantified(universal, variable.lstrip("$"), as_function(domain), place, body))
