"""Terms as CPN ML (epl-and-nets.md, section 4B): what stands at arcs and in guards of CPN Tools.

``%`` is ``Int.rem`` (dividend's sign), ``=`` of reals ``x <= y andalso x >= y``, ``/`` division of reals with
integers turned into reals first.  Where a function's value is null (``x % 0``), ML raises an exception: in CPN Tools
there is no null.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from occurs.expr.tree import COMPARISONS, Binary, Call, In, Literal, Ref, Unary
from occurs.nets.colours import Colour, Int, List, Real, plain
from occurs.nets.functional.printing import FunctionalPrinter
from occurs.nets.functional.tree import Delayed, Many
from occurs.nets.ml import compared, field, has_reals, no_ml, number, string
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm
from occurs.nets.typing import Typing, same

IF, OR, AND, COMPARISON, CONS, SUM, PRODUCT, APPLY, ATOM = range(9)
LEVELS: dict[str, int] = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(COMPARISONS, COMPARISON),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "div", "mod"), PRODUCT),
}
OPERATORS = {"and": "andalso", "or": "orelse", "!=": "<>"}
#: functions of two arguments, the second a number of elements
_COUNTING = {"list.take": "List.take", "list.drop": "List.drop", "list.nth": "List.nth"}


class Printer(FunctionalPrinter):
    """Terms over ``variables`` of a net with ``colours`` as text.

    ``wide``: integers are of ML's ``IntInf``.  ``compared`` collects the colours, in the order of their declaration,
    whose functions of equality the text calls (:func:`occurs.nets.ml.equality`).
    """

    def __init__(self, variables: dict[str, Colour], colours: tuple[Colour, ...] = (), wide: bool = False):
        self.variables = variables
        self.colours = colours
        self.int = "IntInf" if wide else "Int"
        self.wide = wide
        self.compared: dict[str, Colour] = {}
        self.declared_colours = frozenset(c.name for c in colours)

    def term(self, term: Term) -> str:
        """The text of ``term``; DefinitionProblem ``no-ml`` if ML (or this printer) has no form of it.

        >>> Printer({}).term(Binary("%", Ref(None, "m"), Binary("+", Ref(None, "n"), Ref(None, "k"))))
        'Int.rem(m, n + k)'
        """
        return self._text(term)[0]

    def tokens(self, terms: Sequence[Term], colour: Colour, whole: bool = False) -> str:
        """The inscription of an arc: one term per token, of a place of ``colour``.

        ``whole``: tuples and records are written with their colour.
        """
        kind = plain(colour)
        if any(isinstance(t, Delayed) for t in terms):
            return self.delayed(terms, lambda own: self.tokens(own, colour))
        if any(isinstance(t, Many) for t in terms):
            return self.multiset(terms[0]) if len(terms) == 1 else self.mixed(terms)
        suffix = f":{colour.name}" if whole else ""
        if len(terms) == 1 and not isinstance(kind, List):
            return self._real(terms[0]) if isinstance(kind, Real) else self._whole(terms[0], suffix, IF)
        counted = [(len(list(group)), self._whole(key, suffix, ATOM)) for key, group in groupby(terms)]
        return "++".join(f"{n}`{text}" for n, text in counted) or "empty"

    def guard(self, conjuncts: Sequence[Term]) -> str:
        """``[g1, g2]``; nothing for no conjuncts."""
        return f"[{', '.join(map(self.term, conjuncts))}]" if conjuncts else ""

    def colour(self, term: Term) -> Colour | None:
        """The colour of a term, if it is known."""
        return Typing(self.variables, self.colours).infer(term)

    def _is_real(self, *terms: Term) -> bool:
        return any(isinstance(self.colour(t), Real) for t in terms)

    def _whole(self, term: Term, suffix: str, least: int) -> str:
        typed = suffix and isinstance(term, TupleTerm | RecordTerm)
        return f"({self.term(term)}{suffix})" if typed else self._within(term, least)

    def _within(self, term: Term, least: int) -> str:
        text, level = self._text(term)
        return text if level >= least else f"({text})"

    def _all(self, terms: Sequence[Term]) -> str:
        return ", ".join(map(self.term, terms))

    def _text(self, term: Term) -> tuple[str, int]:
        """The text and how tightly it holds together."""
        if isinstance(term, Ref):
            return term.name, ATOM
        if isinstance(term, Literal):
            return _literal(term), ATOM
        if isinstance(term, EnumTerm):
            return term.value, ATOM
        if isinstance(term, TupleTerm):
            return f"({self._all(term.parts)})", ATOM
        if isinstance(term, ListTerm):
            return f"[{self._all(term.parts)}]", ATOM
        if isinstance(term, RecordTerm):
            fields = ", ".join(field(n, self.term(p)) for n, p in zip(term.names, term.parts, strict=True))
            return (f"{{{fields}}}" if fields else "()"), ATOM
        if isinstance(term, Inject):
            return (term.constructor, ATOM) if term.arg is None else (self._applied(term.constructor, term.arg), APPLY)
        if isinstance(term, FieldTerm):
            return self._applied(f"#{term.name}", term.arg), APPLY
        if isinstance(term, Unary):
            return self._applied("not" if term.op == "not" else "~", term.arg), APPLY
        if isinstance(term, Binary):
            return self._binary(term)
        if isinstance(term, In):
            return self._in(term)
        if isinstance(term, Call):
            return self._call(term)
        functional = self.functional(term)
        if functional is not None:
            return functional
        raise no_ml(f"CPN ML cannot express {type(term).__name__}")

    def _applied(self, function: str, arg: Term) -> str:
        text = self.term(arg)
        # a tuple, also the empty one, brings its own brackets
        return f"{function}{text}" if isinstance(arg, TupleTerm) or text == "()" else f"{function}({text})"

    def _binary(self, term: Binary) -> tuple[str, int]:
        op, left, right = term.op, term.left, term.right
        if op in ("=", "!="):
            held = next((c for c in (self.colour(left), self.colour(right)) if has_reals(c)), None)
            if isinstance(held, Real):
                return self._equal_reals(op, left, right)
            if held is not None:
                return self._equality(op, left, right, held)
        real = op == "/" or self._is_real(left, right)
        if op == "%":
            sides = (self._real(left), self._real(right)) if real else (self.term(left), self.term(right))
            return f"{'Real' if real else self.int}.rem({sides[0]}, {sides[1]})", APPLY
        if op not in LEVELS or (real and op in ("div", "mod")):
            raise no_ml(f"CPN ML does not have `{op}`" + " of reals" * real)
        level = LEVELS[op]
        side = self._real if real else self._within
        return f"{side(left, level + (level == COMPARISON))} {OPERATORS.get(op, op)} {side(right, level + 1)}", level

    def _equal_reals(self, op: str, left: Term, right: Term) -> tuple[str, int]:
        """ML has no ``=`` of reals, and ``Real.==`` is no name that CPN Tools is known to take in inscriptions."""
        one, other = self._real(left, COMPARISON + 1), self._real(right, COMPARISON + 1)
        if op == "=":
            return f"{one} <= {other} andalso {one} >= {other}", AND
        return f"{one} < {other} orelse {one} > {other}", OR

    def _equality(self, op: str, left: Term, right: Term, colour: Colour) -> tuple[str, int]:
        """Values in which there are reals are compared by a function declared for their colour."""
        declared = next((c for c in self.colours if same(c, colour)), None)
        if declared is None:
            raise no_ml(
                f"CPN ML compares reals with a function of their colour, but the net declares no colour {colour}"
            )
        self.compared.update((c.name, c) for c in compared(declared))
        text = f"eq_{declared.name}({self.term(left)}, {self.term(right)})"
        return (text if op == "=" else f"not({text})"), APPLY

    def _in(self, term: In) -> tuple[str, int]:
        chain: Term | None = None
        for item in term.items:
            equal = Binary("=", term.arg, item)
            chain = equal if chain is None else Binary("or", chain, equal)
        if chain is None:
            return ("true" if term.negated else "false"), ATOM
        return self._text(Unary("not", chain) if term.negated else chain)

    def _call(self, term: Call) -> tuple[str, int]:
        args = term.args
        match term.name, len(args):
            case "if", 3:
                real = self._is_real(args[1], args[2])
                then, other = (self._real(args[1]), self._real(args[2])) if real else map(self.term, args[1:])
                return f"if {self._within(args[0], OR)} then {then} else {other}", IF
            case "length", 1:
                text = self._applied("length", args[0])
                return (f"IntInf.fromInt({text})" if self.wide else text), APPLY
            case "real", 1:
                return self._cast(args[0]), APPLY
            case "abs", 1:
                return self._applied("abs", args[0]), APPLY
            case (("min" | "max"), n) if n > 1:
                return self._least(term), APPLY
            case "concat", n if n > 1:
                return " ^ ".join(self._within(a, SUM + (k > 0)) for k, a in enumerate(args)), SUM
            case "append", 2:
                return f"{self._within(args[0], SUM)} ^^ {self._within(args[1], CONS)}", CONS
            case "cons", 2:
                return f"{self._within(args[0], SUM)} :: {self._within(args[1], CONS)}", CONS
            case (("list.take" | "list.drop" | "list.nth"), 2):
                return f"{_COUNTING[term.name]}({self.term(args[0])}, {self._count(args[1])})", APPLY
        raise no_ml(f"CPN ML cannot express `{term.name}` with {len(args)} arguments here")

    def _least(self, term: Call) -> str:
        """``min`` and ``max`` take two arguments in ML."""
        real = self._is_real(*term.args)
        texts = [self._real(a) if real else self.term(a) for a in term.args]
        text = texts[0]
        for t in texts[1:]:
            text = f"{'Real' if real else self.int}.{term.name}({text}, {t})"
        return text

    def _count(self, term: Term) -> str:
        """A number of elements: ML counts them in ``Int`` always."""
        if not self.wide or isinstance(term, Literal):
            return self.term(term)
        if isinstance(term, Call) and term.name == "length":
            return self.term(term).removeprefix("IntInf.fromInt(").removesuffix(")")
        return f"IntInf.toInt({self.term(term)})"

    def _real(self, term: Term, least: int = IF) -> str:
        """The text of a term where ML needs a real: integers are turned into reals."""
        return self._cast(term) if isinstance(self.colour(term), Int) else self._within(term, least)

    def _cast(self, term: Term) -> str:
        if isinstance(term, Literal) and isinstance(term.value, int):
            return number(float(term.value))
        if isinstance(self.colour(term), Real):
            return self._within(term, APPLY)
        return self._applied("Real.fromLargeInt" if self.wide else "real", term)


def _literal(node: Literal) -> str:
    value = node.value
    if value is None:
        raise no_ml("CPN ML does not have null")
    if isinstance(value, bool):
        return "true" if value else "false"
    return string(value) if isinstance(value, str) else number(value)
