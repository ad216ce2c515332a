"""A function of the catalogue on one row, for what is evaluated value by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from occurs.expr.signature import Function
from occurs.model.types import Type


def single(known: Function) -> Callable[..., Any]:
    """The function of values that are not null; an int beyond 64 bits where a number leaves their range."""
    run = known.run
    assert run is not None

    def apply(*values: Any) -> Any:
        wide = any(type(v) is float for v in values)
        columns = []
        for i, value in enumerate(values):
            kind = known.params[min(i, len(known.params) - 1)]
            real = type(value) is int and Type.FLOAT in kind and (Type.INT not in kind or wide)
            columns.append(value if i in known.literal else pa.array([float(value) if real else value]))
        try:
            return run(*columns)[0].as_py()
        except pa.ArrowInvalid:  # a number leaves the 64 bits of an int
            return 1 << 64

    return apply
