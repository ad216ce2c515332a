"""One event as a Python object: what reference semantics take and give (no engine works on these)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Occurrence:
    """An event: its type, time (ticks), attributes and identity.

    ``label`` is the number of the input row, ``(rule index, labels of the constituents)`` of a derived event, or
    ``("Timer", time)``.  Input need not set it.
    """

    type: str
    time: int
    attributes: Mapping[str, Any] = field(default_factory=dict)
    sequence: int | None = None
    label: tuple[Any, ...] = ()
    constituents: tuple[Occurrence, ...] = ()
