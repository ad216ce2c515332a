"""Functions of columns of few distinct texts: computed once per text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr import tree
from occurs.model.time import TimeKind
from occurs.operators.process.columns import (
    Col,
    Plain,
    unpacked,
)
from occurs.operators.process.env import Env
from occurs.operators.process.faults import Fault
from occurs.operators.process.tree import Foreign

#: distinct texts are few if they come so often, on an average
FEW = 4


class ByText:
    """What is computed of a column that has few distinct texts: once per text, and once per dictionary."""

    def __init__(self, make: Callable[[Env], Any]) -> None:
        self._make = make
        self._known: tuple[pa.Array, TimeKind, Any] | None = None

    def of(self, array: pa.DictionaryArray, env: Env) -> Any:
        """Raises Fault, perhaps of a text that no row has."""
        texts = array.dictionary
        known = self._known
        if known is None or known[1] != env.kind or not known[0].equals(texts):
            known = texts, env.kind, self._make(Env([Plain(texts)], len(texts), env.kind))
            self._known = known
        return known[2]


def of_texts(few: ByText, given: Sequence[Col], env: Env) -> Col | None:
    """Of one column of texts that has a dictionary: each distinct text once; None if that is no gain."""
    array = distinct_texts(given)
    if array is None:
        return None
    try:
        found = few.of(array, env)
    except Fault:
        return None
    if not isinstance(found, Plain) or (found.bools is None and found.array.null_count):
        return None
    if found.bools is not None:
        return Plain(None, np.take(found.bools, array.indices.to_numpy()))
    return Plain(found.array.take(array.indices))


def with_bools(found: Col) -> Col:
    """Booleans without nulls as NumPy has them."""
    if isinstance(found, Plain) and pa.types.is_boolean(found.array.type) and not found.array.null_count:
        return Plain(None, unpacked(found.array))
    return found


def distinct_texts(given: Sequence[Col]) -> pa.DictionaryArray | None:
    """The one column, if it is of few distinct texts and no nulls."""
    array = given[0].array if len(given) == 1 and isinstance(given[0], Plain) and given[0].bools is None else None
    if not isinstance(array, pa.DictionaryArray) or array.null_count or FEW * len(array.dictionary) > len(array):
        return None
    return array


def of_input(node: tree.Expr) -> bool:
    """Does a function look at nothing but the values of its inputs?"""
    return not any(isinstance(n, (tree.Param, tree.Ref, Foreign)) for n in node.walk())
