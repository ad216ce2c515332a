"""Instances of triggers put together: new ones in the place of old ones, each with its queues."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from occurs.operators.kernels.temporal import merge_instances

QUEUES = 2
#: per code the entries of each queue
memories = st.dictionaries(st.integers(0, 12), st.tuples(*[st.lists(st.integers(0, 99), max_size=3)] * QUEUES))


def arrays(memory: dict[int, tuple[list[int], ...]], mark: int) -> tuple[np.ndarray, ...]:
    codes = sorted(memory)
    queues = [q for code in codes for q in memory[code]]
    start = np.cumsum([0, *map(len, queues)]).astype(np.int64)
    time = np.array([entry for q in queues for entry in q], np.int64)
    slots = np.array([[code, mark, 7] for code in codes], np.int64).reshape(-1, 3)
    about = np.array([[mark, code] for code in codes], np.int64).reshape(-1, 2)
    return np.array(codes, np.int64), slots, about, start, time, np.stack([time + mark, time * 2])


@given(memories, memories.filter(bool))
def test_new_instances_take_the_place_of_old_ones(
    old: dict[int, tuple[list[int], ...]], new: dict[int, tuple[list[int], ...]]
) -> None:
    code, slots, about, start, time, value, which = merge_instances(*arrays(old, 1), *arrays(new, 2))
    assert code.tolist() == sorted({*old, *new})
    sources = [*((c, 1) for c in sorted(old)), *((c, 2) for c in sorted(new))]
    assert start[-1] == len(time) == value.shape[1]
    for k, c in enumerate(code.tolist()):
        queues, mark = (new[c], 2) if c in new else (old[c], 1)
        assert slots[k].tolist() == [c, mark, 7]
        assert about[k].tolist() == [mark, c]
        assert sources[which[k]] == (c, mark)
        for q in range(QUEUES):
            part = slice(start[k * QUEUES + q], start[k * QUEUES + q + 1])
            assert time[part].tolist() == queues[q]
            assert value[:, part].tolist() == [[t + mark for t in queues[q]], [2 * t for t in queues[q]]]
