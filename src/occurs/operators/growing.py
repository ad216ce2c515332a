"""Arrays that grow at their end: what is kept of the past is not copied when new rows come behind it.

An array that has grown lies in a *room*, a longer array of which it is a view.  New entries are written behind it if
there is room left and nothing stands there; else all entries move to a new room.  A room has half as many places again
as entries, so that the entries moved are at most twice those that were added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

#: shorter arrays are copied, which takes less time than looking for their room
SHORT = 1 << 10
#: the most bytes of texts that their int32 offsets can tell apart
_MOST = 2**31 - 1


class Room(np.ndarray):
    """A room, of which the first ``used`` places are taken; ``moved`` counts the entries that went to a new room, in
    all rooms since the process started."""

    used: int
    moved = 0


def behind(past: np.ndarray, new: np.ndarray) -> np.ndarray:
    """``new`` behind ``past``, both of one dimension; ``past`` itself stays as it is."""
    n, more = len(past), len(new)
    if more == 0 and n:
        return past
    if n < SHORT or past.dtype != new.dtype or not past.flags.c_contiguous:
        return np.concatenate([past, new])
    # an array in a room is a view of the whole room as a plain array, which is a view of the room
    whole: Any = past.base
    room = getattr(whole, "base", None)
    if isinstance(room, Room) and room.dtype == past.dtype and room.used + more <= len(room) <= 4 * (n + more):
        first = (_address(past) - _address(whole)) // past.itemsize
        if first + n == room.used:
            room.used += more
            whole[room.used - more : room.used] = new
            return whole[first : room.used]
    total = n + more
    room = Room(total + total // 2, past.dtype)
    room.used = total
    Room.moved += n
    whole = room.view(np.ndarray)
    whole[:n], whole[n:total] = past, new
    return whole[:total]


_counted = np.arange(SHORT)


def counting(n: int) -> np.ndarray:
    """The numbers from 0 to before ``n``, which nobody may change."""
    global _counted
    if n > len(_counted):
        _counted = np.arange(2 * n)
    return _counted[:n]


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


@dataclass(frozen=True, slots=True)
class Texts:
    """``n`` texts as arrays that grow: text i is in the bytes of ``data`` from ``offsets[first + i]`` to the next one.

    offsets: int32 (first + n + 1); data: uint8; valid: booleans (first + n), None if no text is null.  The ``first``
    texts are gone, but still in the arrays: functions of Arrow rely on arrays whose first offset is 0.
    """

    offsets: np.ndarray
    data: np.ndarray
    valid: np.ndarray | None
    first: int = 0

    @classmethod
    def of(cls, array: pa.Array) -> Texts:
        """Those of an Arrow array of strings."""
        n, first = len(array), array.offset
        _, offsets, data = array.buffers()
        some = np.zeros(1, np.int32) if offsets is None else np.frombuffer(offsets, np.int32)[first : first + n + 1]
        return cls(
            some,
            np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
            array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1 - self.first

    def slice(self, start: int, stop: int | None) -> Texts:
        first = self.first + min(start, len(self))
        end = max(first, self.first + min(len(self), len(self) if stop is None else stop))
        return Texts(self.offsets[: end + 1], self.data, None if self.valid is None else self.valid[:end], first)

    def array(self) -> pa.Array:
        """As Arrow, without a copy of the texts."""
        mask = None if self.valid is None else pa.py_buffer(np.packbits(self.valid, bitorder="little"))
        buffers = [mask, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.string(), len(self), buffers, offset=self.first)

    def behind(self, new: Texts) -> Texts | None:
        """``new`` behind these; None if one array cannot hold so many bytes."""
        past, begin, end = self, int(self.offsets[self.first]), int(self.offsets[-1])
        low, high = int(new.offsets[new.first]), int(new.offsets[-1])
        most_are_gone = 2 * begin > end or 2 * self.first > len(self.offsets)
        if self.offsets[0] or most_are_gone or end + high - low > _MOST:
            valid = None if self.valid is None else self.valid[self.first :]
            past, end = Texts(self.offsets[self.first :] - begin, self.data[begin:], valid), end - begin
            if end + high - low > _MOST:
                return None
        valid = None
        if past.valid is not None or new.valid is not None:
            old, late = (np.ones(len(t.offsets) - 1, np.bool_) if t.valid is None else t.valid for t in (past, new))
            valid = behind(old, late[new.first :])
        more = new.offsets[new.first + 1 :].astype(np.int64) + (end - low)
        data = behind(past.data[:end], new.data[low:high])
        return Texts(behind(past.offsets, more.astype(np.int32)), data, valid, past.first)
