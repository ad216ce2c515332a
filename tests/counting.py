"""How much work a call is, counted in lines of Python, which do not depend on the machine or on its load."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any


def lines(run: Callable[[], Any]) -> Counter[str]:
    """How often a line of Occurs is executed while ``run`` is, function by function; every round of a comprehension
    counts as one.  What compiled code does is not counted, nor how kernels are looked up: that depends on the clock."""
    count: Counter[CodeType] = Counter()

    def step(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            count[frame.f_code] += 1
        return step

    def entered(frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        return step if "/occurs/" in name and "/occurs/kernel/" not in name else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        run()
    finally:
        sys.settrace(before)
    out: Counter[str] = Counter()
    for code, n in count.items():
        place = code.co_filename.rpartition("/occurs/")[2]
        out[f"{place}:{code.co_firstlineno} {code.co_name}"] += n
    return out


def superlinear(few: Mapping[str, int], many: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The functions that execute much more than twice as many lines for ``many`` as for ``few``, half of them.  Some
    hundred lines are none: with more rules there is something to do that there was not before."""
    return {f: (few.get(f, 0), n) for f, n in many.items() if n > 2.4 * few.get(f, 0) + 300}
