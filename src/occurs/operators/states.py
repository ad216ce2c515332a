"""What operators keep between calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


class State(ABC):
    """What an operator keeps between calls."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many rows, values and partial matches it holds."""

    @abstractmethod
    def copy(self) -> State:
        """The same state: a call that goes on from one of the two leaves the other as it is."""

    @abstractmethod
    def tables(self) -> Mapping[str, Mapping[str, pa.Table]]:
        """What is saved: per definition tables by name.  A table that has not changed since the last time is the same
        object again, and is not written again."""


@dataclass
class Tables(State):
    """A state that is kept in the form in which it is saved; ``of``: per definition tables by name."""

    of: dict[str, Mapping[str, pa.Table]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(table) for tables in self.of.values() for table in tables.values())

    def copy(self) -> Tables:
        return Tables(dict(self.of))

    def tables(self) -> Mapping[str, Mapping[str, pa.Table]]:
        return self.of


@dataclass
class Own(State):
    """The state of one ``definition`` in a form of its own: ``kept`` has ``size``, ``copy()``, and ``saved()``, which
    returns its tables by name."""

    definition: str
    kept: Any

    @property
    def size(self) -> int:
        return int(self.kept.size)

    def copy(self) -> Own:
        return Own(self.definition, self.kept.copy())

    def tables(self) -> Mapping[str, Mapping[str, pa.Table]]:
        return {self.definition: self.kept.saved()}
