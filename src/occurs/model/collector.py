"""Work that makes many objects and leaves no cycles runs without Python's collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: more objects than a process makes beside such work between two collections
MANY = 100_000


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collection of cycles, which would look at all objects again and again while they become more.

    It takes a third of the time of a long run of a net, and two fifths of the time to parse thousands of rules.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            if gc.get_count()[0] > MANY and not gc.get_freeze_count():
                # what was made becomes old without a look at it: else the next collections look at all of it, thrice
                gc.freeze()
                gc.unfreeze()
            gc.enable()
