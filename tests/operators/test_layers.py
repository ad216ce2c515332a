"""What is kept per key in two layers: the same as in one, and a call copies few keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occurs.operators import layers
from occurs.operators.layers import Layers


@dataclass
class Values:
    """A value per key; ``copied`` counts the keys that were copied."""

    code: np.ndarray
    value: np.ndarray
    copied: ClassVar[int] = 0

    @property
    def size(self) -> int:
        return len(self.code)

    def take(self, which: np.ndarray) -> Values:
        Values.copied += len(which)
        return Values(self.code[which], self.value[which])

    def over(self, below: Values) -> Values:
        if not len(below.code) or not len(self.code):
            return self if len(self.code) else below
        Values.copied += len(below.code) + len(self.code)
        both = dict(zip(below.code.tolist(), below.value.tolist())) | self.items
        return of(both)

    @property
    def items(self) -> dict[int, int]:
        return dict(zip(self.code.tolist(), self.value.tolist()))


def of(items: dict[int, int]) -> Values:
    codes = sorted(items)
    return Values(np.array(codes, np.int64), np.array([items[c] for c in codes], np.int64))


KEYS = st.sets(st.integers(0, 30), max_size=12)


@given(steps=st.lists(st.tuples(st.booleans(), KEYS), max_size=30), few=st.sampled_from([1, 8, 1 << 10]))
def test_two_layers_hold_what_one_would(steps: list[tuple[bool, set[int]]], few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "FEW", few)
        found, wanted = Layers(of({})), dict[int, int]()
        for number, (put, keys) in enumerate(steps):
            before, same = found, found.whole().items
            if put:
                found = found.put(of(dict.fromkeys(keys, number)))
                wanted |= dict.fromkeys(keys, number)
            else:
                found = found.without(np.array(sorted(keys), np.int64))
                wanted = {k: v for k, v in wanted.items() if k not in keys}
            assert found.whole().items == wanted
            assert found.size == found.count == len(wanted)
            assert before.whole().items == same  # nothing changes in place
            asked = np.array(sorted(keys), np.int64)
            some = found.some(asked).items
            assert some.keys() <= set(asked.tolist()) or some == wanted  # of all keys, or of no others
            assert {k: some[k] for k in keys if k in some} == {k: wanted[k] for k in keys if k in wanted}


@pytest.mark.parametrize("keys", [10_000, 100_000])
def test_a_key_that_changes_costs_about_the_square_root_of_all(keys: int) -> None:
    found = Layers.of(of(dict.fromkeys(range(keys), 0)))
    rng = np.random.default_rng(7)
    Values.copied, calls = 0, 3000
    for number in range(calls):
        code = int(rng.integers(keys))
        assert found.some(np.array([code])).size == 1
        found = found.put(of({code: number}))
    assert Values.copied / calls <= 8 * keys**0.5
    assert found.size == keys
