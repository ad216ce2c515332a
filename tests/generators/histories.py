"""Event generators: bulk tables for measurements, small random histories, and the events of the shared benchmark."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

GOLDEN, MIX1, MIX2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


# --- bulk -----------------------------------------------------------------------------------------------------------


def splitmix64(count: int, state: int = 42) -> np.ndarray:
    """The first ``count`` draws (uint64) of the generator splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(state) + GOLDEN * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * MIX1
        z = (z ^ (z >> np.uint64(27))) * MIX2
        return z ^ (z >> np.uint64(31))


def benchmark_events(count: int) -> pa.Table:
    """Generate the events of the TESLA benchmark (tesla.md section 9).

    Args:
        count: The number of events.

    Returns:
        A table with the columns ``time`` (ms), ``type`` (T1 to T10), ``key`` and ``v``.  Event i has the time i + 1;
        its type, key and v are three draws of splitmix64 with the state 42.
    """
    draws = (splitmix64(3 * count) >> np.uint64(33)).astype(np.int64).reshape(count, 3)
    types = pa.DictionaryArray.from_arrays(
        pa.array((draws[:, 0] % 10).astype(np.int32)), pa.array([f"T{i}" for i in range(1, 11)])
    )
    return pa.table(
        {
            "time": np.arange(1, count + 1, dtype=np.int64),
            "type": types.cast(pa.string()),
            "key": draws[:, 1] % 10,
            "v": draws[:, 2] % 100,
        }
    )


def split_by_type(table: pa.Table) -> dict[str, pa.Table]:
    """Split a table by its ``type`` column into one table per type, without this column and in the same order."""
    types = table.column("type").to_numpy(zero_copy_only=False)
    rest = table.drop_columns(["type"])
    return {str(t): rest.filter(pa.array(types == t)) for t in np.unique(types)}


def bulk_events(
    count: int,
    *,
    seed: int = 0,
    types: Sequence[str] = ("A", "B", "C"),
    keys: int = 10,
    skew: float = 0.0,
    per_instant: float = 1.0,
    nulls: float = 0.0,
    disorder: int = 0,
    start: int = 0,
) -> pa.Table:
    """Generate many random events, for measurements.

    Args:
        count: The number of events.
        seed: Determines the events.
        types: The types of events.
        keys: The number of different keys.
        skew: The r-th key is drawn with the weight ``r ** -skew``.
        per_instant: The mean number of simultaneous events.
        nulls: The share of nulls in each attribute.
        disorder: The maximum number of places by which a row is moved out of the order of time.
        start: The start of the history; the first event is one gap later.

    Returns:
        A table with the columns ``type``, ``time`` (int64 ticks), ``K`` (string), ``V`` (int) and ``X`` (float).
    """
    rng = np.random.default_rng(seed)
    gaps = (
        rng.poisson(1 / per_instant, count) if per_instant > 1 else np.maximum(1, rng.poisson(1 / per_instant, count))
    )
    weights = np.arange(1, keys + 1, dtype=float) ** -skew
    key = rng.choice(keys, size=count, p=weights / weights.sum())
    order = np.argsort(np.arange(count) + rng.uniform(0, disorder, count), kind="stable") if disorder else slice(None)

    def masked(values: np.ndarray | Sequence[str]) -> pa.Array:
        return pa.array(np.asarray(values)[order], mask=(rng.random(count) < nulls)[order] if nulls else None)

    return pa.table(
        {
            "type": pa.array(np.asarray(types)[rng.integers(0, len(types), count)][order]),
            "time": pa.array((start + np.cumsum(gaps).astype(np.int64))[order]),
            "K": masked(np.char.add("k", key.astype(str))),
            "V": masked(rng.integers(0, 100, count)),
            "X": masked(np.round(rng.normal(50, 20, count), 2)),
        }
    )


# --- small ----------------------------------------------------------------------------------------------------------


def random_value(rng: random.Random, type_: Type, nulls: float = 0.1) -> Any:
    """A value from a small domain, so that equal ones, ties and signs occur; None with probability ``nulls``."""
    if rng.random() < nulls:
        return None
    if type_ is Type.INT:
        return rng.randint(-2, 9)
    if type_ is Type.FLOAT:
        return rng.choice((-1.5, 0.0, 0.5, 1.0, 2.0, 2.5, 3.25, 7.0))
    if type_ is Type.BOOL:
        return rng.random() < 0.5
    if type_ is Type.STRING:
        return rng.choice(("a", "b", "c"))
    return rng.randint(0, 20)


def random_history(
    rng: random.Random,
    schemas: Mapping[str, Schema],
    size: int,
    *,
    span: int = 20,
    nulls: float = 0.1,
    keys: int = 3,
    sequences: bool = False,
) -> list[Occurrence]:
    """Generate a small random history with many simultaneous events and few different values.

    Args:
        rng: The source of randomness.
        schemas: The types of events.
        size: The number of events.
        span: The latest time; the earliest is 0.
        nulls: The probability of a null.
        keys: The number of different values of an attribute ``K``.
        sequences: Whether events have sequence numbers.

    Returns:
        The events, not sorted.
    """
    types = list(schemas)
    events = []
    for _ in range(size):
        name = rng.choice(types)
        values = {}
        for attribute, type_ in schemas[name]:
            values[attribute] = random_value(rng, type_, nulls)
            if attribute == "K" and values["K"] is not None:
                values["K"] = rng.randrange(keys) if type_ is Type.INT else "abcdefgh"[rng.randrange(keys)]
        sequence = rng.choice((None, 0, 1, 2)) if sequences else None
        events.append(Occurrence(name, rng.randint(0, span), values, sequence))
    return events


def histories(schemas: Mapping[str, Schema], *, most: int = 25, span: int = 20) -> SearchStrategy[list[Occurrence]]:
    """Return a Hypothesis strategy for small histories, which shrink to few events with small times.

    Args:
        schemas: The types of events.
        most: The maximum number of events.
        span: The latest time; the earliest is 0.
    """
    from hypothesis import strategies as st

    values: dict[Type, SearchStrategy[Any]] = {
        Type.INT: st.integers(-2, 9),
        Type.FLOAT: st.sampled_from((0.0, -1.5, 0.5, 2.5, 7.0)),
        Type.BOOL: st.booleans(),
        Type.STRING: st.sampled_from(("a", "b", "c")),
    }

    def event(name: str) -> SearchStrategy[Occurrence]:
        attributes = {a: st.one_of(values.get(t, st.integers(0, span)), st.none()) for a, t in schemas[name]}
        return st.builds(Occurrence, st.just(name), st.integers(0, span), st.fixed_dictionaries(attributes))

    return st.lists(st.one_of([event(name) for name in schemas]), max_size=most)


def cut(rng: random.Random, events: Iterable[Occurrence], most: int = 6) -> list[tuple[int, list[Occurrence]]]:
    """Cut a history at random times into consecutive pieces; some pieces have no events.

    Args:
        rng: The source of randomness.
        events: The history.
        most: The maximum number of random cuts.

    Returns:
        Pairs of a frontier and the events up to it that are in no earlier piece.
    """
    rows = sorted(events, key=lambda e: e.time)
    if not rows:
        return [(0, [])]
    first, last = rows[0].time, rows[-1].time
    ends = sorted({rng.randint(first - 1, last) for _ in range(rng.randint(0, most))} | {last})
    pieces = []
    before = first - 2
    for end in ends:
        pieces.append((end, [e for e in rows if before < e.time <= end]))
        before = end
    return pieces


def shifted(events: Iterable[Occurrence], ticks: int, scale: int = 1) -> list[Occurrence]:
    """Return the events with their times changed to ``time * scale + ticks``."""
    return [replace(e, time=e.time * scale + ticks) for e in events]
