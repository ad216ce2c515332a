"""Many small cases in one test, where a test of its own for each would cost more than the case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

C = TypeVar("C")


def check_all(cases: Iterable[C], check: Callable[[C], object], name: Callable[[C], str] = str) -> None:
    """Check every case, also behind one that fails; the failure names each case that fails, with its traceback."""
    failed: list[Exception] = []
    count = 0
    for case in cases:
        count += 1
        try:
            check(case)
        except Exception as problem:
            problem.add_note(f"in the case {name(case)}")
            failed.append(problem)
    assert count, "there is no case"
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases fail", failed)
