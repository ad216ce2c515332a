"""The rows that a function is computed for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.model.time import TimeKind
from occurs.operators.process.columns import (
    Col,
)


@dataclass
class Env:
    """The rows that a function is computed for: ``inputs`` by number, and the variables (a column of each by name)."""

    inputs: Sequence[Col]
    length: int
    kind: TimeKind
    variables: Mapping[str, Callable[[], Col]] = field(default_factory=dict)

    def variable_rows(self) -> Callable[[int], Mapping[str, Any]]:
        """The values of all variables on a row."""
        lists = {n: v().pylist() for n, v in self.variables.items()}
        return lambda i: {n: values[i] for n, values in lists.items()}
