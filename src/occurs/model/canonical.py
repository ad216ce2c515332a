"""The canonical text of a value: equal for equal values, in every process and under every hash seed.

Whatever identifies a definition beyond its own text (the fingerprints in a checkpoint, the identities that enter
labels) goes through :func:`canonical`.  ``repr`` and ``hash`` never do: a set has no order of its own, so the text that
``repr`` makes of one changes with ``PYTHONHASHSEED``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import pyarrow as pa

#: gives the text that stands for a value, or None where the value is written as usual
Own = Callable[[Any], str | None]


def canonical(value: Any, own: Own | None = None) -> str:
    """JSON text of a tree of dataclasses, tuples, lists, sets, mappings and plain values.

    Classes, enumerations and collections of different kinds stay apart; the members of sets and mappings are sorted by
    their text.  A field of a dataclass that does not count for its equality (``compare=False``: a place in a file) is
    left out.  ``own`` is asked first for every value.  Raises TypeError for a value of any other class, as its ``repr``
    could contain an address or an order that does not last.

    >>> canonical((1, 1.0, True, frozenset({"b", "a"})))
    '[1, 1.0, true, {"set": ["a", "b"]}]'
    """
    return _text(_plain(value, own))


def fingerprint(value: Any, size: int = 16) -> str:
    """A digest of the canonical text, of ``size`` bytes, as hexadecimal digits."""
    return blake2b(canonical(value).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _text(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False)


def _plain(value: Any, own: Own | None) -> Any:
    """What JSON can say; an object has one key, which names the kind of the value."""
    text = None if own is None else own(value)
    if text is not None:
        return {"own": text}
    if isinstance(value, Enum):
        return {type(value).__name__: value.name}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Fraction | Decimal | pa.DataType):
        return {type(value).__name__: str(value)}
    if isinstance(value, tuple | list):
        return [_plain(v, own) for v in value]
    if isinstance(value, Set):
        return {"set": sorted((_plain(v, own) for v in value), key=_text)}
    if isinstance(value, Mapping):
        return {"map": sorted(([_plain(k, own), _plain(v, own)] for k, v in value.items()), key=_text)}
    if is_dataclass(value) and not isinstance(value, type):
        counted = [f.name for f in fields(value) if f.compare]
        return {type(value).__name__: [[name, _plain(getattr(value, name), own)] for name in counted]}
    raise TypeError(f"a value of class {type(value).__name__} has no canonical text")
