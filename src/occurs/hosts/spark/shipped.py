"""What a Spark task brings along, decoded once per Python process and not once per task.

The plan of 10,000 rules takes more than a second to decode, and every task of every micro-batch brings it.  A
:class:`Shipped` object travels as bytes with their digest; a process that has decoded these bytes before takes the
object that it made of them.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ClassVar

#: objects that a process keeps, the ones used last
KEPT = 128

_decoded: OrderedDict[bytes, Any] = OrderedDict()


class Shipped:
    """A frozen dataclass whose objects travel as bytes.  Tasks share an object, so nothing may change it."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[bytes, bytes]]:
        from pyspark import cloudpickle  # a pipe may have a function of the user

        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data = cloudpickle.dumps((type(self), fields))
        return received, (blake2b(data, digest_size=16).digest(), data)


def received(digest: bytes, data: bytes) -> Any:
    """The object of these bytes.

    Spark calls this while it unpickles a task, so the bytes are a part of that task: who could change them could change
    the task itself.  Checkpoints never come here.
    """
    known = _decoded.get(digest)
    if known is None:
        known = decode(data)
        _decoded[digest] = known
        if len(_decoded) > KEPT:
            _decoded.popitem(last=False)
    else:
        _decoded.move_to_end(digest)
    return known


def decode(data: bytes) -> Any:
    """A new object."""
    of, fields = pickle.loads(data)
    return of(**fields)
