"""Values that go into pipes and come out of them, as Python, NumPy, Arrow and tables have them (pipes.md, 2.3).

In: None, bool, int, float, str, bytes, lists, sets, dicts (tuples of named columns), datetimes.  Out: the same, bags as
lists, maps and tuples as dicts, Trooleans as the texts ``T F ?``, documents as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem
from occurs.operators.process.columns import Col, Plain, Rec, Troo, column_of, from_arrow
from occurs.operators.process.documents import read_json, read_xml
from occurs.operators.process.kinds import ANY, TROOLEAN, Kind
from occurs.operators.process.tree import Events, Pipe, every_node
from occurs.operators.process.values import Bag, Document, Fault, Json, Map, Record, Set, Sharp, Troolean, as_python
from occurs.pipes.constants import ALL, UNKNOWN, constant


class Untaken(Exception):
    """A value that pipes do not know, or of another type than it should be: the words behind it."""


def taken(value: Any, kind: Kind = ANY) -> Any:
    """A value of Python as the engine has it; NaN is a null, as in tables.  Untaken if pipes do not know it."""
    if kind == TROOLEAN and value in ("T", "F", "?"):
        return Troolean(value)
    if value is ALL or value is UNKNOWN:
        return Sharp.ALL if value is ALL else Troolean.UNKNOWN
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, (bool, int, float, str, bytes, Troolean, Record, Map, Set, Bag)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(map(taken, value))
    if isinstance(value, (set, frozenset)):
        return Set(tuple(sorted(map(taken, value), key=repr)))
    if isinstance(value, Mapping):
        return Record(tuple((str(n), taken(v)) for n, v in value.items()))
    if isinstance(value, datetime):
        return constant(value).value  # type: ignore[attr-defined]
    raise Untaken("is not a value that pipes support")


def like(found: Col, sources: Sequence[Any]) -> Any:
    """A column in the form of those that came in: Arrow (a struct of tuples), NumPy (if it has no nulls), else a
    list."""
    array = _arrow(found) if any(isinstance(s, (pa.Array, pa.ChunkedArray)) for s in sources) else None
    if array is not None:
        return array
    if isinstance(found, (Plain, Troo)) and not found.array.null_count and _of_numpy(sources):
        return found.array.to_numpy(zero_copy_only=False)
    return [as_python(v) for v in found.pylist()]


def _of_numpy(sources: Sequence[Any]) -> bool:
    return any(isinstance(s, np.ndarray) for s in sources)


def _arrow(found: Col) -> pa.Array | None:
    """As Arrow has it; None of values that it has no type for."""
    if isinstance(found, (Plain, Troo)):
        return found.array
    if not isinstance(found, Rec) or not found.columns:
        return None
    parts = {n: _arrow(c) for n, c in found.columns.items()}
    if any(p is None for p in parts.values()):
        return None
    missing = None if found.valid is None else pa.array(~found.valid)
    return pa.StructArray.from_arrays(list(parts.values()), list(parts), mask=missing)


def source_kinds(pipe: Pipe) -> dict[str, Kind]:
    """The types of event that a pipe reads, in the order in which they are met, and what their items are."""
    found: dict[str, Kind] = {}
    for node in every_node([pipe]):
        if isinstance(node.processor, Events):
            item = node.processor.item or ANY
            for t in node.processor.types:
                found[t] = item if found.get(t, ANY) == ANY else found[t]
    return found


def source_column(values: Any, kind: Kind, name: str, first: int = 0) -> Col:
    """A whole column of Arrow, NumPy or Python for the source ``name``; ``first``: the number of its first item.

    InputProblem with the number of the item that is not of the type ``kind``.
    """
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _fitting(from_arrow(values), kind, name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        missing = np.isnan(values) if values.dtype.kind == "f" else None
        array = pa.array(values, mask=missing if missing is not None and missing.any() else None)
        return _fitting(from_arrow(array), kind, name)
    if not _as_they_are(values, kind):
        values = list(_taken(values, kind, name, first))
    try:
        return column_of(values)
    except OverflowError as error:
        big = (i for i, v in enumerate(values) if isinstance(v, int) and not -(2**63) <= v < 2**63)
        i = next(big, None)
        raise _problem("overflow", "does not fit in 64 bits", None if i is None else values[i], name, i) from error


def source_tuples(table: Rec, kind: Kind, name: str) -> Rec:
    """The rows of a table as items: columns that the type of the source knows are of their types."""
    own = dict(kind.columns or ())
    columns = {n: _fitting(c, own[n], name) if n in own else c for n, c in table.columns.items()}
    return Rec(columns, len(table))


def _as_they_are(values: Sequence[Any], kind: Kind) -> bool:
    """Whether these values of Python are those of the engine."""
    known = _SAME.get(kind.name)
    return known is not None and all(type(v) in known for v in values)


_NOTHING = type(None)
_SAME: Mapping[str, frozenset[type]] = {
    "int": frozenset({int, _NOTHING}),
    "text": frozenset({str, _NOTHING}),
    "bool": frozenset({bool, _NOTHING}),
}


def _taken(values: Iterable[Any], kind: Kind, name: str, first: int) -> Iterable[Any]:
    for i, v in enumerate(values, first):
        try:
            yield of_kind(taken(v) if kind == ANY else _value(v), kind)
        except Untaken as unfit:
            raise _problem("bad-value", str(unfit), v, name, i) from unfit
        except Fault as fault:
            raise _problem(fault.kind, fault.message, v, name, i) from fault


def _value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _problem(kind: str, words: str, value: Any, name: str, item: int | None) -> InputProblem:
    at = "" if item is None else f"item {item} of "
    return InputProblem.of(kind, f"{at}Source '{name}': {value!r} {words}", row=item, value=value)


# --- values -----------------------------------------------------------------------------------------------------------


def of_kind(value: Any, kind: Kind) -> Any:
    """A value as the engine has it.  Untaken if it is of another type."""
    if value is None or kind.name in ("any", "null"):
        return taken(value)
    if isinstance(value, float) and value != value and kind.name != "text":
        return None
    make = _MAKERS.get(kind.name)
    found = taken(value) if make is None else make(value, kind)
    if found is None:
        raise Untaken(f"is not of type {kind}")
    return found


def _instance(of: type) -> Callable[[Any, Kind], Any]:
    return lambda value, kind: value if isinstance(value, of) else None


def _troolean(value: Any, kind: Kind) -> Any:
    if isinstance(value, (bool, Troolean)):
        return value
    if value is UNKNOWN:
        return Troolean.UNKNOWN
    return Troolean(value) if value in ("T", "F", "?") else None


def _int(value: Any, kind: Kind) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**63 else None
    return _number(value, kind)


def _number(value: Any, kind: Kind) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Fault("overflow", "does not fit in 64 bits", value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _time(value: Any, kind: Kind) -> Any:
    return taken(value) if isinstance(value, datetime) else _int(value, kind)


def _duration(value: Any, kind: Kind) -> Any:
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else _int(value, kind)


def _collection(value: Any, kind: Kind) -> Any:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, (list, tuple, set, frozenset, Set, Bag)):
        return None
    if kind.name == "set" and not isinstance(value, Set):
        value = sorted(set(value), key=repr)
    inside = tuple(of_kind(_value(v), kind.args[0]) for v in value)
    return {"set": Set, "bag": Bag}.get(kind.name, tuple)(inside)


def _map(value: Any, kind: Kind) -> Any:
    if isinstance(value, Map):
        return value
    if not isinstance(value, Mapping):
        return None
    of_key, of_value = kind.args
    return Map(tuple((of_kind(_value(k), of_key), of_kind(_value(v), of_value)) for k, v in value.items()))


def _tuple(value: Any, kind: Kind) -> Any:
    if isinstance(value, Record):
        return value
    if not isinstance(value, Mapping):
        return None
    own = dict(kind.columns or ())
    return Record(tuple((str(n), of_kind(_value(v), own.get(str(n), ANY))) for n, v in value.items()))


def _xml(value: Any, kind: Kind) -> Any:
    return value if isinstance(value, Document) else read_xml(value)


def _json(value: Any, kind: Kind) -> Any:
    return value if isinstance(value, Json) else read_json(value)


_MAKERS: Mapping[str, Callable[[Any, Kind], Any]] = {
    "bool": _instance(bool), "troolean": _troolean, "int": _int, "number": _number, "text": _instance(str),
    "bytes": _instance(bytes), "image": _instance(bytes), "time": _time, "duration": _duration,
    "list": _collection, "set": _collection, "bag": _collection, "map": _map, "tuple": _tuple,
    "xml": _xml, "json": _json,
}  # fmt: skip


# --- columns ----------------------------------------------------------------------------------------------------------


def _fitting(column: Col, kind: Kind, name: str) -> Col:
    """A column of a table, which must be of the type ``kind``; one of whole floats becomes one of ints."""
    if kind.name in ("any", "null") or (isinstance(column, Plain) and _fits(column.array.type, kind)):
        return column
    if isinstance(column, Plain) and kind.name == "int" and pa.types.is_floating(column.array.type):
        whole = pc.equal(column.array, pc.floor(column.array))
        if pc.all(whole, min_count=0).as_py():
            return Plain(column.array.cast(pa.int64()))
    if isinstance(column, Rec) and kind.name == "tuple":
        return source_tuples(column, kind, name) if column.valid is None else column
    return source_column(column.pylist(), kind, name)


def _fits(found: pa.DataType, kind: Kind) -> bool:
    if pa.types.is_null(found):
        return True
    inner = found.value_type if pa.types.is_dictionary(found) else found
    tests = _ARROW.get(kind.name, ())
    return any(test(inner) for test in tests)


_ARROW: Mapping[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "int": (pa.types.is_integer,),
    "number": (pa.types.is_integer, pa.types.is_floating),
    "text": (pa.types.is_string,),
    "bool": (pa.types.is_boolean,),
    "bytes": (pa.types.is_binary,),
    "image": (pa.types.is_binary,),
    "time": (pa.types.is_timestamp, pa.types.is_integer),
    "duration": (pa.types.is_duration, pa.types.is_integer),
}
