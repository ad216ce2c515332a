"""How deep JSON text may be nested.  Text is measured before a parser reads it, because parsers recurse."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

#: lists and objects inside one another; Python's parser gives up below 1,000, and Arrow's crashes beyond 10,000
DEEPEST = 100

_QUOTE, _LINE = ord('"'), ord("\n")
_OTHERS = bytes(set(range(256)) - set(b'"[]{}\n'))
#: what a byte adds to the depth
_STEP = np.zeros(256, np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1


class TooDeep(ValueError):
    """A text nests deeper than ``DEEPEST``."""

    def __init__(self) -> None:
        super().__init__(f"it is nested more than {DEEPEST} levels deep")


def depths(data: bytes) -> np.ndarray:
    """The depth of each line of JSON text, int32.  Every line ends with a line feed, and need not be valid JSON."""
    marks = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
    codes = np.frombuffer(marks, np.uint8)
    stops = np.flatnonzero(codes == _LINE)
    starts = np.concatenate([np.zeros(1, np.int64), stops[:-1] + 1])
    lengths = stops - starts + 1
    # a quote that a line leaves open ends with the line
    quotes = np.cumsum(codes == _QUOTE, dtype=np.int32)
    quotes -= np.repeat(quotes[starts] - (codes[starts] == _QUOTE), lengths)
    steps = np.where(quotes & 1, 0, _STEP[codes])
    level = np.cumsum(steps, dtype=np.int32)
    return np.maximum(np.maximum.reduceat(level, starts) - level[starts] + steps[starts], 0)


def too_deep(text: bytes | str) -> bool:
    """Does a JSON text nest lists and objects deeper than ``DEEPEST``?  The text need not be valid JSON."""
    if len(text) <= DEEPEST:
        return False
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    return bool(depths(data.replace(b"\n", b"") + b"\n")[0] > DEEPEST)


def read_json(text: bytes | str, **how: Any) -> Any:
    """``json.loads`` with a bound on the nesting.  Raises ValueError: JSONDecodeError, UnicodeDecodeError, TooDeep."""
    if too_deep(text):
        raise TooDeep
    return json.loads(text, **how)
