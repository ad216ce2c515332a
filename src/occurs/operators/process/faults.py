"""A value that an operator cannot take."""

from __future__ import annotations

from typing import Any


class Fault(Exception):
    """``kind`` of the problem; ``value``; ``row``: the number of the row of the columns at hand, if it is known."""

    def __init__(self, kind: str, message: str, value: Any, row: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.value = value
        self.row = row
