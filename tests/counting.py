"""How much work a call is, counted in instructions of Python, which do not depend on the machine or on its load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def instructions(run: Callable[[], Any]) -> int:
    """The instructions that ``run`` executes in Python; what compiled code does is not among them."""
    count = 0

    def step(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return step

    def entered(frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return step

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
