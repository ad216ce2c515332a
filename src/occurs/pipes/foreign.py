"""Functions of users in Python, at work: what they fail at, and what they give (pipes.md, 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from occurs.errors import OccursError
from occurs.operators.process.kinds import Kind
from occurs.operators.process.values import Fault, as_python
from occurs.pipes.sources import of_kind
from occurs.pipes.values import Untaken

#: types of which NaN is a value
_FLOATS = ("number", "any")


def by_rows(run: Callable[..., Any], name: str, gives: Sequence[Kind]) -> Callable[..., Any]:
    """A function of values of Python as one of values of pipes.  Raises Fault if it fails, or gives something else."""

    def apply(*arguments: Any) -> Any:
        values = tuple(map(as_python, arguments))
        with _failing(name, values if len(values) > 1 else values[0] if values else None):
            found = run(*values)
        results = [found] if len(gives) == 1 else list(found)
        if len(results) != len(gives):
            raise Fault("arity", f"makes {len(results)} results of `{name}`, not {len(gives)}", values)
        try:
            kept = tuple(_result(v, k) for v, k in zip(results, gives))
        except Untaken as unfit:
            raise Fault("bad-value", f"as the result of `{name}` {unfit}", found) from unfit
        return kept[0] if len(gives) == 1 else kept

    return apply


def of_arrays(run: Callable[..., Any], name: str, gives: int) -> Callable[..., Any]:
    """A function of arrays.  Raises Fault if it fails, or gives other arrays than it should."""

    def apply(*arrays: Any) -> Any:
        with _failing(name, None):
            found = run(*arrays)
        results = [found] if gives == 1 else list(found)
        lengths = {np.shape(r)[:1] for r in results}
        if len(results) != gives or (arrays and lengths != {(len(arrays[0]),)}):
            many = "an array" if gives == 1 else f"{gives} arrays"
            raise Fault("arity", f"`{name}` must return {many} of the length of its arguments", None)
        return found

    return apply


def _result(value: Any, kind: Kind) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    # a NaN that is computed stays one
    return value if isinstance(value, float) and kind.name in _FLOATS else of_kind(value, kind)


@contextmanager
def _failing(name: str, value: Any) -> Iterator[None]:
    """A user's function at work: what it raises becomes a Fault."""
    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        words = f"`{name}` failed: {why}" if value is None else f"makes `{name}` fail: {why}"
        raise Fault("bad-value", words, value) from error
