"""In which order lanes stand, in pictures and in the studio; nothing else is imported here."""

from __future__ import annotations

import re


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key to sort names by: numbers in them by their value."""
    parts = (p for p in re.split(r"(\d+)", name) if p)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts]
