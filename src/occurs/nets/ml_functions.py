"""The functions of CPN ML that have a form in nets, and small things that reading its text needs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from occurs.errors import Span
from occurs.expr.tree import Call, Literal
from occurs.model.types import Type
from occurs.nets.colours import Bool, Colour, Enum, Int, List, Product, Real, Record, String, Union, plain
from occurs.nets.terms import EnumTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm

OPERATORS = {"<>": "!="}
#: functions of one argument that change nothing here: one kind of integer has all sizes
SAME = ("IntInf.fromInt", "IntInf.toInt", "Int.toLarge", "Int.fromLarge", "IntInf.toLarge", "IntInf.fromLarge")
ONE: dict[str, str] = {
    **dict.fromkeys(("length", "List.length"), "length"),
    **dict.fromkeys(("abs", "Int.abs", "Real.abs", "IntInf.abs"), "abs"),
    **dict.fromkeys(("real", "Real.fromInt", "Real.fromLargeInt"), "real"),
}
TWO: dict[str, str] = {
    **{f"{kind}.{f}": f for kind in ("Int", "IntInf", "Real") for f in ("min", "max")},
    **{f"List.{f}": f"list.{f}" for f in ("take", "drop", "nth")},
}
TWO_OPERATORS = {
    **dict.fromkeys(("Int.rem", "IntInf.rem", "Real.rem"), "%"),
    **dict.fromkeys(("Int.div", "IntInf.div"), "div"),
    **dict.fromkeys(("Int.mod", "IntInf.mod"), "mod"),
    "Real.==": "=",
    "Real.!=": "!=",
}
#: functions of CPN ML that have no form in a net
ML_FUNCTIONS = frozenset(
    (
        "ran", "discrete", "uniform", "exponential", "normal", "bernoulli", "binomial", "poisson", "erlang", "rev",
        "mem", "remdupl", "rm", "rmall", "contains", "intersect", "union", "ins", "insert", "trunc", "floor", "ceil",
        "round", "time", "step", "explode", "implode", "str", "chr", "ord", "map", "foldl", "foldr", "filter", "ms",
        "ext_col", "ext_ms", "mult", "cf", "Option", "valOf", "isSome", "substring", "size", "print", "ref",
    )
)  # fmt: skip


_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"v": b"\v", b"f": b"\f"}


def unescaped(text: str) -> str:
    r"""What a string of ML between its quotes stands for: bytes, that are UTF-8 as a rule.

    >>> unescaped(r'a\tb \195\169 \"')
    'a\tb é "'
    """

    def one(match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        if code.isdigit() and len(code) == 3:
            return bytes([int(code)]) if int(code) < 256 else match.group()
        if code[:1] == b"^" and len(code) == 2:
            return bytes([code[1] - 64])
        return b"" if code[:1].isspace() else _ESCAPED.get(code, code)

    data = text.encode("utf-8", "surrogateescape")
    data = re.sub(rb"\\(\d{3}|\^[@-_]|\s+\\|.)", one, data, flags=re.DOTALL)
    return data.decode("utf-8", "surrogateescape")


def fit(term: Term, colour: Colour) -> Term:
    """``term`` with the fields of its records in the order of ``colour``, as far as the two go together."""
    kind = plain(colour)
    if isinstance(term, TupleTerm) and isinstance(kind, Product) and len(term.parts) == len(kind.parts):
        return replace(term, parts=tuple(map(fit, term.parts, kind.parts)))
    if isinstance(term, ListTerm) and isinstance(kind, List):
        return replace(term, parts=tuple(fit(p, kind.of) for p in term.parts))
    if isinstance(term, RecordTerm) and isinstance(kind, Record):
        fields = dict(zip(term.names, term.parts, strict=True))
        if set(fields) == {n for n, _ in kind.fields}:
            found = ordered(fields, kind, term.span)
            return replace(found, parts=tuple(fit(p, c) for p, (_, c) in zip(found.parts, kind.fields)))
    return term


def uncast(term: Term) -> Term:
    return term.args[0] if isinstance(term, Call) and term.name == "real" else term


def ordered(fields: dict[str, Term], record: Record, span: Span | None) -> RecordTerm:
    names = tuple(n for n, _ in record.fields)
    return RecordTerm(names, tuple(fields[n] for n in names), span=span)


_LITERALS: tuple[tuple[type[Colour], Type], ...] = (
    (Bool, Type.BOOL),
    (Int, Type.INT),
    (Real, Type.FLOAT),
    (String, Type.STRING),
)


def term_of(value: Any, colour: Colour) -> Term:
    """The term that stands for a value of ``colour``."""
    kind = plain(colour)
    for plain_kind, type_ in _LITERALS:
        if isinstance(kind, plain_kind):
            return Literal(value, type_)
    if isinstance(kind, Enum):
        return EnumTerm(value)
    if isinstance(kind, Union):
        held = kind.case(value[0])
        return Inject(value[0], None if held is None else term_of(value[1], held))
    if isinstance(kind, List):
        return ListTerm(tuple(term_of(v, kind.of) for v in value))
    if isinstance(kind, Record):
        return RecordTerm(
            tuple(n for n, _ in kind.fields), tuple(term_of(v, c) for v, (_, c) in zip(value, kind.fields))
        )
    return (
        TupleTerm(tuple(term_of(v, c) for v, c in zip(value, kind.parts)))
        if isinstance(kind, Product)
        else TupleTerm(())
    )
