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
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: a plan of more bytes is a broadcast of its own.  Spark broadcasts functions of more than a megabyte, or of what the
#: setting spark.broadcast.UDFCompressionThreshold says
LARGE = 1 << 17
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


class Sent:
    """A :class:`Shipped` object that a process decodes when it first needs it, and not while it unpickles a function.

    Before the first micro-batch the driver unpickles the stateful operator, to ask for the names of its states.  No
    broadcast arrives there (PySpark 4.1 to 4.3), so Spark must not broadcast the whole function because its plan is
    large: only the plan is a broadcast.
    """

    def __init__(self, value: Shipped, session: SparkSession) -> None:
        from occurs.connect.spark import is_remote  # workers do without it

        _, (self._digest, data) = value.__reduce__()
        # the server of Spark Connect broadcasts no function
        self._data: Any = data if is_remote(session) or len(data) <= LARGE else session.sparkContext.broadcast(data)

    def __getstate__(self) -> tuple[bytes, bytes]:
        # Spark sees which broadcasts are pickled with a function, and hands them to its tasks
        return self._digest, pickle.dumps(self._data)

    def __setstate__(self, state: tuple[bytes, bytes]) -> None:
        self._digest, self._pickled = state

    @property
    def value(self) -> Any:
        """The object, in a task of Spark."""
        return _known(self._digest, self._arrived)

    def _arrived(self) -> bytes:
        data = pickle.loads(self._pickled)  # a part of Spark's own task, as in received
        return data if isinstance(data, bytes) else bytes(data.value)


def received(digest: bytes, data: bytes) -> Any:
    """The object of these bytes.

    Spark calls this while it unpickles a task, so the bytes are a part of that task: who could change them could change
    the task itself.  Checkpoints never come here.
    """
    return _known(digest, lambda: data)


def _known(digest: bytes, data: Callable[[], bytes]) -> Any:
    known = _decoded.get(digest)
    if known is None:
        known = decode(data())
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
