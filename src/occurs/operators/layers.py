"""State per key in two layers: a call copies the keys that it changes, and not all others.

Keys are codes, ascending.  The layer *below* has most keys, and calls leave it as it is.  The layer on *top* has the
keys of the last calls; it counts where both have a key.  When the number of keys that have changed is a few times the
square root of all, both layers become one.  So a call costs about that root per key that it changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

#: fewer keys than these are in one layer
FEW = 1 << 10
#: both layers become one if the square of the number of keys that have changed is more than this times those below
_GROWN = 16
_NONE = np.zeros(0, np.int64)


class Layer(Protocol):
    """The state of some keys.  Never changed in place."""

    @property
    def code(self) -> np.ndarray:
        """The keys, ascending."""

    @property
    def size(self) -> int:
        """How many rows, values and states it holds."""

    def take(self, which: np.ndarray) -> Self:
        """The keys at these places, which ascend."""

    def over(self, below: Self) -> Self:
        """With the keys ``below`` that it has not."""


L = TypeVar("L", bound=Layer)


@dataclass(eq=False, slots=True)
class Layers(Generic[L]):
    """``below``: None if all keys are on ``top``.  ``hidden``: the places of the keys below that have changed or are
    gone, ascending."""

    top: L
    below: L | None = None
    hidden: np.ndarray = field(default_factory=lambda: _NONE)

    @classmethod
    def of(cls, whole: L) -> Layers[L]:
        """Of all keys."""
        return cls(whole) if len(whole.code) < FEW else cls(whole.take(_NONE), whole)

    @property
    def size(self) -> int:
        """How many rows, values and states both hold."""
        return self.top.size + (0 if self.below is None else self.below.size - self.below.take(self.hidden).size)

    @property
    def count(self) -> int:
        """How many keys there are."""
        return len(self.top.code) + (0 if self.below is None else len(self.below.code) - len(self.hidden))

    def whole(self) -> L:
        """Both layers as one."""
        below = self.below
        if below is None:
            return self.top
        if not len(self.top.code) and not len(self.hidden):
            return below
        if (positions(self.top.code, below.code[self.hidden]) < 0).any():
            below = below.take(np.delete(np.arange(len(below.code)), self.hidden))
        return self.top.over(below)

    def some(self, codes: np.ndarray) -> L:
        """What is kept of ``codes`` (ascending, each once); perhaps of all keys, but never of some others."""
        if self.below is None:
            return self.top
        if self._many(len(codes)) and not len(self.top.code) and not len(self.hidden):
            return self.below
        at = _found(self.below.code, codes)
        if len(self.hidden):
            at = at[positions(self.hidden, at) < 0]
        own = _found(self.top.code, codes) if len(self.top.code) else _NONE
        return self.top.take(own).over(self.below.take(at)) if len(own) else self.below.take(at)

    def put(self, new: L) -> Layers[L]:
        """With other values of some keys, or with keys that are new."""
        if self.below is None or self._many(len(new.code)):
            return Layers.of(new.over(self.whole()))
        hidden = _united(self.hidden, _found(self.below.code, new.code))
        return Layers(new.over(self.top), self.below, hidden)._settled()

    def without(self, codes: np.ndarray) -> Layers[L]:
        """Without some keys (ascending, each once)."""
        at = _found(self.top.code, codes)
        top = self.top.take(np.delete(np.arange(len(self.top.code)), at)) if len(at) else self.top
        if self.below is None:
            return Layers(top)
        return Layers(top, self.below, _united(self.hidden, _found(self.below.code, codes)))._settled()

    def _settled(self) -> Layers[L]:
        """One layer, if many keys have changed."""
        many = self._many(len(self.top.code) + len(self.hidden))
        return Layers.of(self.whole()) if many else self

    def _many(self, changed: int) -> bool:
        """Is it time for one layer, when so many keys have changed?"""
        return self.below is not None and changed**2 > _GROWN * len(self.below.code)


def positions(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where ``wanted`` codes are among ascending ``codes``, -1 where not."""
    if not len(codes):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(codes.searchsorted(wanted), len(codes) - 1)
    there = codes[at] == wanted
    return at if there.all() else np.where(there, at, -1)


def _found(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The places of those of the ``wanted`` codes that there are."""
    at = positions(codes, wanted)
    return at[at >= 0]


def _united(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The numbers of both, each once, ascending as they are."""
    new = other[positions(one, other) < 0]
    return np.sort(np.concatenate((one, new))) if len(new) and len(one) else new if len(new) else one
