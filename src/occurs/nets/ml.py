"""Constants, tokens and declarations as CPN ML, the language of CPN Tools (epl-and-nets.md, section 4B).

Terms are written by :mod:`occurs.nets.ml_terms` and read by :mod:`occurs.nets.ml_parser`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby

from occurs.errors import DefinitionProblem, Problem
from occurs.nets.colours import (
    Alias,
    Bool,
    Colour,
    Enum,
    Index,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Subset,
    Union,
    Value,
    made_of,
    plain,
)

#: the greatest integer of ML as CPN Tools has it (31 bits); a net with greater ones is written with ``intinf``
GREATEST = 2**30 - 1
#: words that cannot be names of variables, constructors or fields in ML
_WORDS = (
    "abstype and andalso as case datatype do else end eqtype exception fn fun functor handle if in include infix "
    "infixr let local nonfix of op open orelse raise rec sharing sig signature struct structure then type val where "
    "while with withtype"
)
RESERVED = frozenset(_WORDS.split())
#: names that have a meaning in CPN ML which inscriptions need, or that stand between their operands
_MEANT = (
    "abs before ceil div empty false floor hd length mem mod ms nil not o ran real ref rev round size sub time tl true "
    "trunc"
)
KNOWN = frozenset(_MEANT.split())


def no_ml(message: str) -> DefinitionProblem:
    """The error for what has no form in CPN ML."""
    return DefinitionProblem(Problem("no-ml", message))


def number(value: int | float) -> str:
    """Digits that read back as the same number; ``~`` is ML's minus sign.

    >>> number(-3), number(2.0), number(-1e-7), number(1e22)
    ('~3', '2.0', '~1E~07', '1E22')
    """
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            raise no_ml("CPN ML does not have NaN")
        return "Real.posInf" if value > 0 else "Real.negInf"
    return repr(value).replace("e+", "E").replace("e", "E").replace("-", "~")


_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def string(value: str) -> str:
    r"""A string in quotes; ML's strings are bytes: what is not ASCII is written as the bytes of UTF-8.

    >>> print(string('say "é"\n'))
    "say \"\195\169\"\n"
    """
    data = value.encode("utf-8", "surrogateescape")
    return '"' + "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03d}") for b in data) + '"'


def field(name: str, text: str) -> str:
    """A field of a record.  `=~` would be one symbol of ML, so a blank parts the sign of a negative number from `=`.

    >>> field("a", "1"), field("a", "~1")
    ('a=1', 'a= ~1')
    """
    return f"{name}={' ' if text.startswith('~') else ''}{text}"


def value_text(value: Value, colour: Colour) -> str:
    """A token of ``colour`` as text.

    >>> value_text((1, (("a", 2.5),)), Product("P", (Int("INT"), List("L", Product("E", (String("S"), Real("R")))))))
    '(1, [("a", 2.5)])'
    """
    kind = plain(colour)
    if isinstance(kind, Bool):
        return "true" if value else "false"
    if isinstance(kind, String) and isinstance(value, str):
        return string(value)
    if isinstance(kind, Enum):
        return str(value)
    if isinstance(kind, Int | Real) and isinstance(value, int | float):
        return number(value)
    if isinstance(value, tuple):
        if isinstance(kind, Product):
            return f"({', '.join(value_text(v, c) for v, c in zip(value, kind.parts, strict=True))})"
        if isinstance(kind, List):
            return f"[{', '.join(value_text(v, kind.of) for v in value)}]"
        if isinstance(kind, Record):
            fields = ", ".join(field(n, value_text(v, c)) for v, (n, c) in zip(value, kind.fields, strict=True))
            return f"{{{fields}}}" if fields else "()"
        if isinstance(kind, Union):
            held = kind.case(value[0])
            return value[0] if held is None else f"{value[0]}({value_text(value[1], held)})"
    return "()"


def token_text(token: Value, colour: Colour) -> str:
    """A token of a place; of a timed colour with its time.

    >>> token_text((3, 20), Int("INT", timed=True)), token_text(3, Int("INT"))
    ('3@20', '3')
    """
    if colour.timed and isinstance(token, tuple):
        value, time = token
        return f"{value_text(value, colour)}@{time}"
    return value_text(token, colour)


def right_token(token: Value, colour: Colour) -> bool:
    """Whether a token can be on a place of ``colour``."""
    return colour.check(token[0] if colour.timed and isinstance(token, tuple) else token) is None


def marking_text(values: Iterable[Value], colour: Colour) -> str:
    """Tokens as a multiset, in their order; nothing for no tokens.

    >>> print(marking_text((3, 3, 1), Int("INT")))
    2`3++
    1`1
    """
    kind = plain(colour)
    counted = [(len(list(group)), value_text(key, colour)) for key, group in groupby(values)]
    if len(counted) == 1 and counted[0][0] == 1 and not isinstance(kind, List):
        return counted[0][1]
    # a constructor with what it holds is in brackets, so that the number goes with all of it
    return "++\n".join(f"{n}`({text})" if isinstance(kind, Union) else f"{n}`{text}" for n, text in counted)


def declaration(colour: Colour, wide: bool = False) -> str:
    """``colset .. = ..;`` as CPN Tools shows it.  ``wide``: integers are ``intinf``."""
    return f"colset {colour.name} = {_declared(colour, wide)}{' timed' if colour.timed else ''};"


def _declared(colour: Colour, wide: bool) -> str:
    if isinstance(colour, Enum):
        return f"with {' | '.join(colour.values)}"
    if isinstance(colour, Product):
        return f"product {' * '.join(c.name for c in colour.parts)}"
    if isinstance(colour, Record):
        return f"record {' * '.join(f'{n}:{c.name}' for n, c in colour.fields)}" if colour.fields else "unit"
    if isinstance(colour, Index):
        return f"index {colour.cases[0][0]} with {number(colour.numbers.low or 0)}..{number(colour.numbers.high or 0)}"
    if isinstance(colour, Union):
        return f"union {' + '.join(n if c is None else f'{n}:{c.name}' for n, c in colour.cases)}"
    if isinstance(colour, List):
        bounds = "" if colour.longest is None else f" with {colour.shortest}..{colour.longest}"
        return f"list {colour.of.name}{bounds}"
    if isinstance(colour, Subset):
        return f"subset {colour.of.name} {subset_text(colour)}"
    if isinstance(colour, Alias):
        return colour.of.name
    name = "intinf" if wide and isinstance(colour, Int) else type(colour).__name__.lower()
    if isinstance(colour, Int) and colour.low is not None and colour.high is not None:
        return f"{name} with {number(colour.low)}..{number(colour.high)}"
    return name


def subset_text(colour: Subset) -> str:
    """What says which values a subset has: ``by`` a function, or ``with`` a list of the values."""
    if colour.values is None:
        return f"by {colour.by}"
    return f"with [{', '.join(value_text(v, colour.of) for v in colour.values)}]"


def has_reals(colour: Colour | None) -> bool:
    """Whether values of ``colour`` hold a real: ML does not compare those by ``=``."""
    return isinstance(colour, Real) or (colour is not None and any(map(has_reals, made_of(colour))))


def equality(colour: Colour) -> str:
    """The declaration of ``eq_NAME``, which compares two values of ``colour`` in which there are reals.

    >>> print(equality(List("Rs", Real("REAL"))))
    fun eq_Rs ([]:Rs, []:Rs) = true | eq_Rs (x::xs, y::ys) = Real.==(x, y) andalso eq_Rs(xs, ys) | eq_Rs _ = false;
    """
    name, kind = f"eq_{colour.name}", colour
    if isinstance(kind, List):
        rest = f"| {name} (x::xs, y::ys) = {_equal('x', 'y', kind.of)} andalso {name}(xs, ys) | {name} _ = false;"
        return f"fun {name} ([]:{colour.name}, []:{colour.name}) = true {rest}"
    if isinstance(kind, Union):
        cases = []
        for constructor, held in kind.cases:
            x, y = (f"{constructor} x", f"{constructor} y") if held else (constructor, constructor)
            cases.append(f"{name} ({x}, {y}) = {_equal('x', 'y', held) if held else 'true'}")
        other = f" | {name} _ = false" if len(cases) > 1 else ""  # ML refuses a case that never comes
        return f"fun {' | '.join(cases)}{other};"
    parts = list(kind.fields) if isinstance(kind, Record) else []
    if isinstance(kind, Product):
        parts = [(str(k + 1), c) for k, c in enumerate(kind.parts)]
    if isinstance(kind, Alias):
        text = _equal("x", "y", kind.of)
    else:
        text = " andalso ".join(_equal(f"#{n} x", f"#{n} y", c) for n, c in parts) or "Real.==(x, y)"
    return f"fun {name} (x:{colour.name}, y:{colour.name}) = {text};"


def _equal(left: str, right: str, colour: Colour) -> str:
    if not has_reals(colour):
        return f"{left} = {right}"
    if isinstance(colour, Real):
        return f"Real.==({left}, {right})"
    return f"eq_{colour.name}({left}, {right})"


def compared(colour: Colour) -> list[Colour]:
    """The colours whose function of :func:`equality` that of ``colour`` needs, its own last."""
    found: list[Colour] = []

    def add(c: Colour) -> None:
        if isinstance(c, Real) or not has_reals(c):
            return
        for part in made_of(c):
            add(part)
        if c not in found:
            found.append(c)

    add(colour)
    return found
