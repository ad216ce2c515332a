"""Keys that come and go: what an engine holds must follow its state, not the number of keys that it has ever seen.

:func:`new_keys` is the part of the law of forgetting (operators.md, section 5) that is about keys.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba.typed import List as TypedList

from occurs.engine.engine import Engine
from occurs.errors import OccursError
from occurs.model.types import Type
from occurs.operators import codes as keycodes
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.interval.values import Values
from occurs.operators.process.processors.slices import Slots
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: a history is repeated this many times, each time with other keys
PERIODS = 30
#: codes are counted after the first period, and then after as many as this
LOOKS = 3
#: the most codes that there may be for each row of the state and of the call, and how many of them for each definition:
#: every definition that equates attributes may have codes of its own for the values of a row
CODES, EACH = 12, 6
#: columns whose values are not keys
_KEPT = frozenset({"op", "old", "sequence", "holds", "end"})
#: objects that hold no others
_ATOMS = (str, bytes, int, float, NoneType, np.generic, pa.Array)
_OPAQUE = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type, Stage)


@contextmanager
def renewing() -> Iterator[None]:
    """Every dictionary of codes is looked at as soon as it has a new code, so that short histories renew it, too."""
    with patch.object(keycodes, "FEW", 1):
        yield


def new_keys(stage: Stage, rows: Mapping[str, Rows], clock: tuple[int, int], periods: int = PERIODS) -> None:
    """Law 4, of keys: repeats a history with other keys each time.  An engine never has more codes than a constant for
    each row of its state and of the call, or than three for each value that it encoded in the call: a definition may
    encode an attribute for each of its aggregates."""
    start, until = clock
    step = until - start + 1 + max(stage.retention.values(), default=0)
    new = sum(len(r) for r in rows.values())
    if any("old" in r.columns for r in rows.values()) or until + periods * step >= 1 << 62:
        return  # rows that are written as text in other rows cannot be given other keys; there are no later times
    engine, first = Engine(stage), 0
    with renewing():
        for period in range(periods):
            part = {t: renamed(r, period, period * step) for t, r in rows.items()}
            try:
                engine.advance(part, start + (period + 1) * step - 1, start)
            except OccursError:
                return
            # literals and facts have codes from the first call on
            if period % LOOKS:
                continue  # to count them takes longer than the call
            objects = list(reachable(engine))
            found, kept = _codes(objects), engine.state.rows()
            first = first or found
            text = f"{found} codes for {kept} rows, after {period + 1} calls with {new} rows each"
            encoded = sum(one.codes.cells for one in objects if isinstance(one, Engine))
            assert found <= first + max(max(CODES, EACH * len(stage.definitions)) * (kept + new), 3 * encoded), text


def renamed(rows: Rows, period: int, by: int) -> Rows:
    """The same rows ``by`` ticks later, with numbers and texts that no other period has."""
    columns = {n: _renamed(n, c, period, by) for n, c in rows.columns.items()}
    return replace(rows, time=rows.time + by, columns=columns, cache={})


def _renamed(name: str, column: Column, period: int, by: int) -> Column:
    if name == "end":
        return Column(column.type, column.values + by, column.valid)
    if name in _KEPT or not period:
        return column
    if column.type is Type.INT or column.type is Type.FLOAT:
        return Column(column.type, column.values + 10_007 * period, column.valid)
    if column.type is Type.STRING:
        return Column.of(pc.binary_join_element_wise(column.arrow, f"~{period}", ""), Type.STRING)
    return column


def codes(engine: Engine) -> int:
    """The number of codes in all dictionaries of an engine."""
    return _codes(reachable(engine))


def _codes(objects: Iterable[object]) -> int:
    found = 0
    for one in objects:
        if isinstance(one, KeyCodes):
            found += one.held
        elif isinstance(one, Values):
            found += one.size
        elif isinstance(one, Slots):
            found += one.instances
    return found


def held(root: object) -> int:
    """The bytes of all arrays, tables, texts and collections that an engine (or another object) holds."""
    size = 0
    buffers: set[int] = set()
    for one in reachable(root):
        if isinstance(one, np.ndarray):
            size += one.nbytes if one.base is None else 0
        elif isinstance(one, pa.Array):
            for buffer in _buffers(one):
                if buffer.address not in buffers:
                    buffers.add(buffer.address)
                    size += buffer.size
        else:
            size += sys.getsizeof(one)
    return size


def _buffers(array: pa.Array) -> Iterator[Any]:
    yield from (b for b in array.buffers() if b is not None)
    if isinstance(array, pa.DictionaryArray):
        yield from _buffers(array.dictionary)


def reachable(root: object) -> Iterator[object]:
    """Every object that an engine (or another object) holds, once; not its plan, and no code."""
    seen: dict[int, object] = {}  # they are kept: an object that is gone could leave its id to another one
    waiting: list[object] = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _OPAQUE):
            continue
        seen[id(one)] = one
        yield one
        waiting += _parts(one)


def _parts(one: object) -> Sequence[object]:
    if isinstance(one, np.ndarray):
        return [*(one.tolist() if one.dtype == object else ()), one.base]
    if isinstance(one, pa.Table):
        return [chunk for column in one.columns for chunk in column.chunks]
    if isinstance(one, pa.ChunkedArray):
        return one.chunks
    if isinstance(one, _ATOMS):
        return ()
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset | TypedList):
        return list(one)
    names = [n for n in _slots(type(one)) if hasattr(one, n)]
    return [*getattr(one, "__dict__", {}).values(), *(getattr(one, n) for n in names)]


@cache
def _slots(of: type) -> Sequence[str]:
    found = [c.__dict__.get("__slots__", ()) for c in of.__mro__]
    return [n for names in found for n in ((names,) if isinstance(names, str) else names)]
