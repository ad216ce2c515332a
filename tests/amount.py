"""How much of a large test the fast run takes, as does that with plain kernels.  CI takes all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest

V = TypeVar("V")

#: the run takes everything
ALL = os.environ.get("CI", "").lower() in ("1", "true", "yes")


def amount(fast: int, all: int) -> int:
    """How many of something: ``fast`` in the fast run, ``all`` in CI."""
    return all if ALL else fast


def one_of(values: Sequence[V], number: int) -> Sequence[V]:
    """All values in CI.  In the fast run the one for the case of this number, so that each has cases."""
    return values if ALL else [values[number % len(values)]]


def first(values: Iterable[Any], fast: int, all: int | None = None) -> list[Any]:
    """Parameters of a test, of which all but the first ``fast`` are slow, except in CI; those behind the first ``all``
    are run with ``--long`` only."""
    found = list(values)
    slow = [v if ALL or n < fast else pytest.param(v, marks=pytest.mark.slow) for n, v in enumerate(found[:all])]
    return slow + [pytest.param(v, marks=pytest.mark.long) for v in found[len(slow) :]]


def some(values: Iterable[Any], number: int) -> list[Any]:
    """Parameters of a test, of which all but the first ``number`` are run with ``--long`` only."""
    return [v if n < number else pytest.param(v, marks=pytest.mark.long) for n, v in enumerate(values)]
