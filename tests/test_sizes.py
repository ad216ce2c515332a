"""Work that must not grow with the square of rules, types, columns or problems.  It is counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

import occurs
from occurs.errors import Problem


@contextmanager
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Problem]]:
    """The problems that are compared with another one."""
    seen: list[Problem] = []
    equal = Problem.__eq__

    def counted(self: Problem, other: object) -> bool:
        seen.append(self)
        return equal(self, other)

    with monkeypatch.context() as patch:
        patch.setattr(Problem, "__eq__", counted)
        yield seen


def warned(n: int) -> str:
    """n statements of EPL, each with a warning: nothing bounds how long a partial match waits."""
    return "".join(
        f"@Name('R{i}') select a.k as k from pattern [every a=A(v > {i}) -> b=B(k=a.k)];\n" for i in range(n)
    )


def table(rows: int = 20) -> pa.Table:
    return pa.table({"type": ["A", "B"] * (rows // 2), "time": np.arange(rows), "k": [1] * rows, "v": [3] * rows})


def test_warnings_are_not_compared_with_one_another(monkeypatch):
    n = 40
    program = occurs.parse(warned(n), language="epl")
    with compared(monkeypatch) as seen:
        first = program.detect(table(), time_unit="ms").notices
    assert sum(p.severity == "warning" for p in [*first, *program.problems]) >= n
    assert len(seen) <= 4 * n
    with compared(monkeypatch) as seen:
        assert program.detect(table(), time_unit="ms").notices == first
    assert len(seen) <= 4 * n


def test_problems_of_a_plan_are_not_compared_with_one_another(monkeypatch):
    n = 40
    program = occurs.parse(warned(n), language="epl")._with(require_bounds=True)
    with compared(monkeypatch) as seen:
        found = program.check()
    assert len(found) >= n
    assert len(seen) <= 6 * n
