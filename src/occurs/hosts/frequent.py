"""Keys that have a large part of the rows, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from occurs.errors import Problem

#: a key with so many times the rows of an average bucket or partition is reported
HEAVY = 1.5


@dataclass(frozen=True)
class Frequent:
    """A key: ``values``, and per type the ``attributes`` with these values; ``rows``: of the input, estimated.
    ``types``: what is detected by the key; ``split``: why it cannot be divided, or how it could be.  ``parts``: so many
    buckets share the rules that read these rows."""

    values: tuple[Any, ...]
    attributes: Mapping[str, tuple[str, ...]]
    types: tuple[str, ...]
    rows: int
    split: str
    parts: int = 1

    def text(self) -> str:
        """The key with its values, as in `Smoke.area = Temp.area = "hall"`."""
        parts = []
        for n, value in enumerate(self.values):
            names = " = ".join(f"{t}.{names[n]}" for t, names in sorted(self.attributes.items()))
            parts.append(f"{names} = {json.dumps(value, ensure_ascii=False, default=str)}")
        return ", ".join(parts)

    def warning(self, part: float, places: int, called: str) -> Problem:
        """That one of ``places`` (their kind is ``called`` so), or one for each part of the rules, evaluates this
        ``part`` of the rows."""
        these = f"one of {places} {called} evaluates"
        if self.parts > 1:
            these = f"{self.parts} of {places} {called} evaluate"
        text = f"{part:.0%} of the events have one key, {self.text()}: {these} them all"
        hint = f"more {called} do not help; {self.split}"
        return Problem("frequent-key", text, severity="warning", hint=hint)
