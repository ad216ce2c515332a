"""Time in nets (CPN Tools' documentation: Timed colour sets, Delays; Jensen, Kristensen: Coloured Petri Nets, ch. 10).

A token of a timed colour is a pair of its value and the time from which on it can be taken.  Time stands still while
anything is enabled; then it goes on to the next time at which something is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from occurs.nets.colours import Value
from occurs.nets.functional.library import CHANCE, TIME

#: a model time
Time = int | float


def ready(tokens: Mapping[Any, int], now: Time) -> Counter[Value]:
    """The values that can be taken at ``now``, of tokens of a timed colour.

    >>> ready({("a", 3): 2, ("b", 5): 1}, 4)
    Counter({'a': 2})
    """
    found: Counter[Value] = Counter()
    for (value, time), n in tokens.items():
        if time <= now:
            found[value] += n
    return found


def latest(tokens: Mapping[Any, int], value: Value, now: Time) -> Any:
    """The token of this value that is taken at ``now``: that of the latest time; None if there is none."""
    times = [token[1] for token, n in tokens.items() if n > 0 and token[0] == value and token[1] <= now]
    return (value, max(times)) if times else None


@contextmanager
def world(now: Time, chance: random.Random | None = None) -> Iterator[None]:
    """While terms are evaluated: the model time, and where random values come from."""
    clock, source = TIME.set(now), CHANCE.set(chance)
    try:
        yield
    finally:
        TIME.reset(clock)
        CHANCE.reset(source)
