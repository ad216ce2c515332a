"""What is told while a command works."""

from __future__ import annotations

from numba import njit

from occurs.cli._progress import compiling


def test_compilation_is_told_once_from_begin_to_end():
    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x) * 2

    told = []
    with compiling(told.append):
        assert outer(3) == 8
        assert outer(4) == 10
    assert told == [True, False]
    outer(1.5)
    assert told == [True, False]  # nobody listens any more
