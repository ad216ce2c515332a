"""Codes of whole numbers: the window, which is looked at before values are hashed, changes none."""

from __future__ import annotations

import numpy as np
import pytest

from occurs.operators import codes
from occurs.operators.codes import IntTable

LEAST, MOST = -(2**63), 2**63 - 1


def plain(calls: list[list[int]], lost: set[int]) -> list[list[int]]:
    """Codes in the order in which values come first; -1 for those that are ``lost``."""
    known: dict[int, int] = {}
    return [[-1 if v in lost else known.setdefault(v, len(known)) for v in values] for values in calls]


def coded(calls: list[list[int]], lost: set[int]) -> list[list[int]]:
    table, size, out = IntTable(), 0, []
    for values in calls:
        valid = np.array([v not in lost for v in values]) if lost else None
        found, size = table.encode(np.array(values, np.int64), valid, size)
        out.append(found.tolist())
    return out


def many(low: int, width: int, seed: int) -> list[int]:
    drawn = np.random.default_rng(seed).integers(0, width, codes._LOOK + seed)
    return [low + int(n) for n in drawn]


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([many(0, 10, 1)], id="few keys"),
        pytest.param([many(-7, 20, 1), many(0, 20, 2), [1, -7, 500, 3]], id="a window that grows, and few values"),
        pytest.param([[5, 6, 5], many(5, 3, 1), many(4_000_000, 3, 2), many(5, 3, 3)], id="keys beyond the window"),
        pytest.param([many(LEAST, 9, 1), many(MOST - 9, 10, 2), [LEAST, MOST, 0]], id="the least and the greatest"),
        pytest.param([many(MOST - 9, 10, 1), many(MOST - 4000, 4001, 2)], id="no room above"),
        pytest.param([many(0, 2**62, 1), many(0, 2**62, 1)], id="no window"),
        pytest.param([list(range(n * 2000, n * 2000 + 2500)) for n in range(6)], id="keys that count up"),
        pytest.param([list(range(n * -2000, 2500 - n * 2000)) for n in range(6)], id="keys that count down"),
        pytest.param([many(LEAST + 4000, 10, 1), many(LEAST, 4001, 2)], id="no room below"),
    ],
)
@pytest.mark.parametrize("lost", [set(), {5, 6, -7, LEAST}])
def test_codes_count_values_in_the_order_in_which_they_come(calls: list[list[int]], lost: set[int]) -> None:
    assert coded(calls, lost) == plain(calls, lost)


@pytest.mark.parametrize("step", [2_000, -2_000])
def test_a_window_has_room_where_keys_count_on(step: int) -> None:
    table, size, windows = IntTable(), 0, set()
    for n in range(500):
        _, size = table.encode(np.arange(n * step, n * step + 2_000), None, size)
        windows.add(len(table._window))
    assert (size, len(table.keys)) == (1_000_000, 16)
    assert len(windows) <= 12  # nearly twice as large each time
    assert max(windows) <= 4 * size


def test_values_far_apart_have_no_window() -> None:
    table = IntTable()
    table.encode(np.arange(0, 2**40, 2**30, dtype=np.int64).repeat(2), None, 0)
    table.encode(np.array(many(0, 2**40, 1), np.int64), None, 1024)
    assert len(table._window) == 0


@pytest.mark.parametrize("calls", [[many(3, 50, 1)], [many(3, 50, 1), [900_000]], [many(3, 50, 1), many(-9, 90, 2)]])
def test_values_are_found_whether_they_are_hashed_or_not(calls: list[list[int]]) -> None:
    table, size = IntTable(), 0
    for values in calls:
        _, size = table.encode(np.array(values, np.int64), None, size)
    known = list(dict.fromkeys(v for values in calls for v in values))
    wanted = np.array([*known, -10, 2, 53, 899_999, LEAST, MOST], np.int64)
    expected = [known.index(v) if v in known else -1 for v in wanted.tolist()]
    assert table.find(wanted, None).tolist() == expected
    keys, numbers = table.hashed()
    assert {k: c for k, c in zip(keys.tolist(), numbers.tolist()) if c >= 0} == {v: n for n, v in enumerate(known)}
    assert table.find(wanted, None).tolist() == expected
    assert table.encode(wanted[: len(known)], None, size)[0].tolist() == expected[: len(known)]


def test_values_that_lie_close_together_are_not_hashed() -> None:
    table = IntTable()
    table.encode(np.arange(100_000), None, 0)
    table.encode(np.arange(50_000, 180_000), None, 100_000)
    assert (len(table.keys), table.used) == (16, 180_000)
    table.encode(np.array([-1]), None, 180_000)
    assert len(table.keys) >= 2 * table.used
