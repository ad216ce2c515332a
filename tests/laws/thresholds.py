"""Small histories on the ways of large ones: sizes from which the engine does something in another way become small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from occurs.operators import columns, growing, layers
from occurs.operators.select import run, sequential
from occurs.operators.sequence import chains, machine_memory, waiting
from occurs.operators.temporal import vectorised

#: where sizes stand
SIZES = (
    (growing, "SHORT"), (columns, "SHORT"), (run, "SHORT"), (sequential, "MANY"), (chains, "MANY"), (waiting, "GONE"),
    (machine_memory, "SPARE"), (machine_memory, "MORE"), (layers, "FEW"), (vectorised, "FEW"),
)  # fmt: skip


@contextmanager
def as_if_large(seed: int) -> Iterator[None]:
    """For every second pair of seeds, the body finds few rows and few partial matches to be many."""
    with pytest.MonkeyPatch.context() as patch:
        if seed // 2 % 2:
            for module, name in SIZES:
                patch.setattr(module, name, 1)
        yield
