"""Positions of formulas that wait for their verdicts: as stretches, so that a long history is few rows."""

from __future__ import annotations

import numpy as np

from occurs.operators.process import kernels_formulas as kernels
from occurs.operators.process.state import Table

_NAMES = ("code", "number", "exists", "about")


class Positions(Table):
    """``count`` positions from ``number`` on of the trace ``code``, which exist from ``exists`` on and speak of
    ``about``; of each next one these are one more."""

    def __init__(self) -> None:
        super().__init__(*_NAMES, "count", spoken=True)

    def wait(self, code: np.ndarray, number: np.ndarray, exists: np.ndarray, about: np.ndarray) -> None:
        """These wait, and no others."""
        self.put(code=code, number=number, exists=exists, about=about, count=np.ones(len(code), np.int64))

    def wait_too(self, number: np.ndarray, exists: np.ndarray, about: np.ndarray) -> None:
        """More of one trace, with numbers that follow one another."""
        size = len(number)
        if not size:
            return
        if not kernels.consecutive(exists) or not (about is exists or kernels.consecutive(about)):
            ones = np.ones(size, np.int64)
            self.append(code=np.zeros(size, np.int64), number=number, exists=exists, about=about, count=ones)
            return
        first = {"number": number[:1].copy(), "exists": exists[:1].copy(), "about": about[:1].copy()}
        last = self.last_part()
        if len(last["count"]) and all(last[n][-1] + last["count"][-1] == v[0] for n, v in first.items()):
            last["count"] = np.append(last["count"][:-1], last["count"][-1] + size)
        else:
            self.append(code=np.zeros(1, np.int64), **first, count=np.array([size]))

    def forget(self) -> None:
        """None waits any more."""
        none = np.zeros(0, np.int64)
        self.put(**dict.fromkeys((*_NAMES, "count"), none))

    def each(self, name: str) -> np.ndarray:
        """A column of all positions, one by one."""
        first, count = self[name], self["count"]
        if name == "code":
            return np.repeat(first, count)
        if len(first) and len(first) * 16 < count.sum():  # long stretches
            return np.concatenate([np.arange(f, f + c) for f, c in zip(first.tolist(), count.tolist())])
        out = np.repeat(first, count)
        out += np.arange(len(out)) - np.repeat(np.cumsum(count) - count, count)
        return out

    def copy(self) -> Positions:
        new = Positions()
        new.put(**self.columns)
        return new

    def abouts(self) -> np.ndarray:
        return self.each("about")
