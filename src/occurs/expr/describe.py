"""Functions of the catalogue in words: what they take, what they give, and an example."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from occurs.expr.render import render
from occurs.expr.signature import Function, one_of
from occurs.expr.tree import Call, Literal
from occurs.model.types import Type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING, type(None): Type.NULL}
#: the arguments of those that the evaluation itself knows
_LAZY = {"coalesce": ("x", "..."), "nullif": ("x", "y"), "if": ("condition", "x", "...", "otherwise")}


def signature(known: Function) -> str:
    """``round(x[, digits])``: the names of the arguments; those in brackets may be left out."""
    if known.run is None:
        return f"{known.name}({', '.join(_LAZY[known.name])})"
    if known.most is None:
        return f"{known.name}(x, ...)"
    names = [p for p in inspect.signature(known.run).parameters if p != "types"]
    out = ", ".join(names[: known.least])
    for name in names[known.least :]:
        out += f"[, {name}]"
    return f"{known.name}({out})"


def types(known: Function) -> str:
    """``int or float, int -> the type of the first argument``."""
    if known.result == "alike":
        result = "the type of the values"
    elif isinstance(known.result, int):
        result = "the type of the first argument"
    else:
        result = str(known.result)
    return f"{', '.join(one_of(k) for k in known.params)} -> {result}"


def constant(value: Any, wanted: Type | None = None) -> Literal:
    """A value of an example as it is written in a text."""
    if isinstance(value, datetime):
        return Literal((value - _EPOCH) // timedelta(microseconds=1), Type.TIMESTAMP)
    return Literal(value, Type.TIMESTAMP if wanted is Type.TIMESTAMP else _TYPES[type(value)])


def values(of: Sequence[Any]) -> str:
    """Values as they are written in a text, lists in brackets."""
    return ", ".join(f"[{values(v)}]" if isinstance(v, list) else render(constant(v)) for v in of)


def example(known: Function) -> tuple[str, str]:
    """A call of the function, and its value, as texts."""
    args, value = known.example
    result = known.result if isinstance(known.result, Type) else None
    return render(Call(known.name, tuple(constant(a) for a in args))), render(constant(value, result))
