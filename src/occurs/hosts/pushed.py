"""Events that are pushed: how the rows of a type are laid out, which is found once, and single rows without Arrow."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from operator import lt
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.order import input_rows
from occurs.engine.tables import concat_rows
from occurs.errors import InputProblem
from occurs.model.elements import path_of
from occurs.model.lists import is_list
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema, Type, from_arrow
from occurs.model.values import is_text, short
from occurs.operators.columns import Column
from occurs.operators.rows import Rows

#: a row: time, end, sequence, label, then the attributes in the order of the schema
Row = tuple[Any, ...]
#: where these stand in a row
SEQUENCE, LABEL, ATTRIBUTES = 2, 3, 4

_INT64 = range(-(2**63), 2**63)
_DTYPES = {Type.INT: np.int64, Type.FLOAT: np.float64, Type.BOOL: np.bool_}
#: the class of Python of most values of a type, and a quick test that says which of these can be taken as they are
_PLAIN: dict[Type, tuple[type, Callable[[Any], bool]]] = {
    Type.INT: (int, _INT64.__contains__),
    Type.FLOAT: (float, lambda value: value == value),  # not NaN
    Type.STRING: (str, str.isascii),
    Type.BOOL: (bool, lambda value: True),
}
_NONE = (type(None), bool)


class Layout:
    """How pushed rows of a type become rows of the engine.

    ``numbered``: they keep their sequence numbers.  ``labelled``: labels are computed.
    """

    def __init__(self, type: str, schema: Schema, *, numbered: bool, labelled: bool) -> None:
        self.type, self.schema, self.numbered, self.labelled = type, schema, numbered, labelled
        self.lasting = schema.lasting
        self.names = schema.names
        #: of lists and maps
        self.elements = tuple(n for n in schema.names if path_of(n) is not None)
        lists = dict(schema.records)
        #: name, type, Arrow type of a list or struct, and which values can be taken as they are
        self._attributes = [(n, t, lists.get(n), _NONE if n in lists else _PLAIN.get(t, _NONE)) for n, t in schema]
        #: name, type, Arrow type, NumPy type if its values are such, and the column of one null
        self._columns = [
            (n, t, arrow, _DTYPES.get(t), Column.of(pa.nulls(1, arrow), t))
            for n, t in schema
            for arrow in [schema.arrow_of(n, t)]
        ]
        self._fields = {
            (sequence, label): _fields(schema, sequence, label) for sequence in (False, True) for label in (False, True)
        }

    def row(self, time: int, end: int | None, given: Mapping[str, Any], sequence: int | None, label: str | None) -> Row:
        """A row, each value of its type; attributes that are not given are null.  Raises InputProblem."""
        out: list[Any] = [time, end, sequence, label]
        if sequence is not None:
            out[SEQUENCE] = _fit(self.type, "sequence", sequence, Type.INT)
        if label is not None:
            out[LABEL] = _fit(self.type, "label", label, Type.STRING)
        for name, want, of, (plain, fits) in self._attributes:
            value = given.get(name)
            if value is None or (value.__class__ is plain and fits(value)):
                out.append(value)
            elif of is None:
                out.append(_fit(self.type, name, value, want))
            else:
                out.append(_fit_list(self.type, name, value, of))
        return tuple(out)

    def rows(self, pushed: Sequence[Row], tables: Sequence[TypeTable] = ()) -> Rows:
        """Rows and tables (as :meth:`conforming` makes them) in the total order."""
        if not tables and not self.labelled:
            if len(pushed) == 1:
                return self._single(pushed[0])
            if all(map(lt, times := [row[0] for row in pushed], times[1:])):
                return self._several(pushed, times)
        if not pushed and len(tables) == 1:
            return self._in_order(tables[0])
        parts = [t.table() for t in tables]
        if pushed:
            parts.insert(0, self._table(pushed))
        table = parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="default")
        if "label" in table.column_names and table.column("label").null_count:
            table = table.drop_columns("label")
        return self._in_order(TypeTable.of(table))

    def _in_order(self, table: TypeTable) -> Rows:
        return input_rows(self.type, table, self.schema, self.labelled, numbered=self.numbered)

    def _single(self, row: Row) -> Rows:
        """One row, without a detour over a table."""
        columns: dict[str, Column] = {}
        for (name, type, arrow, dtype, null), value in zip(self._columns, row[ATTRIBUTES:], strict=True):
            if value is None:
                columns[name] = null
            elif dtype is None:
                columns[name] = Column.of(pa.array((value,), arrow), type)
            else:
                columns[name] = Column(type, np.array((value,), dtype), None)
        if self.lasting:
            end = row[1]
            found = Column.nulls(Type.TIMESTAMP, 1)
            columns["end"] = found if end is None else Column(Type.TIMESTAMP, np.array((end,), np.int64), None)
        if self.numbered and row[SEQUENCE] is not None:
            columns["sequence"] = Column(Type.INT, np.array((row[SEQUENCE],), np.int64), None)
        return Rows(self.type, np.array((row[0],), np.int64), columns)

    def _several(self, rows: Sequence[Row], times: list[int]) -> Rows:
        """Rows of later and later times, in the same way."""
        _, ends, numbers, _, *attributes = zip(*rows, strict=True)
        columns = {
            name: _column(values, type, arrow, dtype)
            for (name, type, arrow, dtype, _), values in zip(self._columns, attributes, strict=True)
        }
        if self.lasting:
            columns["end"] = _column(ends, Type.TIMESTAMP, pa.int64(), np.int64)
        if self.numbered and any(n is not None for n in numbers):
            columns["sequence"] = _column(numbers, Type.INT, pa.int64(), np.int64)
        return Rows(self.type, np.array(times, np.int64), columns)

    def _table(self, rows: Sequence[Row]) -> pa.Table:
        """Rows as a table, with the columns ``sequence`` and ``label`` if one, or all, of them have such."""
        named = any(r[SEQUENCE] is not None for r in rows), all(r[LABEL] is not None for r in rows)
        time, end, sequence, label, *attributes = zip(*rows, strict=True)
        columns = [time, *([end] if self.lasting else []), *attributes]
        columns += [sequence] if named[0] else []
        columns += [label] if named[1] else []
        schema = self._fields[named]
        return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)

    def conforming(self, table: TypeTable) -> TypeTable:
        """A table of the intake with just the columns of pushed rows; attributes that it lacks are null."""
        has = table.column_names
        return table.fitted(self._fields["sequence" in has, "label" in has])


def _column(values: tuple[Any, ...], type: Type, arrow: pa.DataType, dtype: Any) -> Column:
    """A column of values of Python; ``dtype``: of NumPy if values of the type are such."""
    if dtype is None or None in values:
        return Column.of(pa.array(values, arrow), type)
    return Column(type, np.array(values, dtype), None)


def joined(one: Rows, other: Rows) -> Rows:
    """Rows of one layout, all of ``one`` before those of ``other``."""
    parts = [one, other]
    if ("sequence" in one.columns) != ("sequence" in other.columns):
        none = [{"sequence": Column.nulls(Type.INT, len(r)), **r.columns} for r in parts]
        parts = [Rows(r.type, r.time, columns, labels=r.labels) for r, columns in zip(parts, none)]
    return concat_rows(parts)


def _fields(schema: Schema, sequence: bool, label: bool) -> pa.Schema:
    """The columns of tables of pushed rows."""
    fields = [pa.field("time", pa.int64())]
    fields += [pa.field("end", pa.int64())] if schema.lasting else []
    fields += [pa.field(n, schema.arrow_of(n, t)) for n, t in schema]
    fields += [pa.field("sequence", pa.int64())] if sequence else []
    fields += [pa.field("label", pa.string())] if label else []
    return pa.schema(fields)


def _fit_list(type: str, name: str, value: Any, want: pa.DataType) -> Any:
    """A list, or an array of NumPy, if all that is in it is of its type; of structs mappings."""
    if value is None:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    if pa.types.is_struct(want) and isinstance(value, Mapping):
        return {f.name: _fit_list(type, name, value.get(f.name), f.type) for f in want}
    if is_list(want) and isinstance(value, list | tuple):
        return [_fit_list(type, name, v, want.value_type) for v in value]
    of = None if pa.types.is_nested(want) else from_arrow(want)
    if of is not None:
        return _fit(type, name, value, of)
    text = f"`{name}` of `{type}` must be {want}, not {short(value)} ({value.__class__.__name__})"
    raise InputProblem.of("bad-value", text, value=value)


def _fit(type: str, name: str, value: Any, want: Type) -> Any:
    """The value if it is of its type; NaN is null.  An integer is a float if nothing is lost."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if hasattr(value, "item") and not isinstance(value, int | float | str) and getattr(value, "ndim", 0) == 0:
        # a NumPy scalar
        value = value.item()
    good = (
        (want is Type.INT and isinstance(value, int) and not isinstance(value, bool) and value in _INT64)
        or (want is Type.FLOAT and isinstance(value, float))
        or (want is Type.STRING and isinstance(value, str) and is_text(value))
        or (want is Type.BOOL and isinstance(value, bool))
        or (want is Type.TIMESTAMP and isinstance(value, dt.datetime))
        or (want is Type.NULL)
    )
    if good:
        return None if want is Type.NULL else value
    if want is Type.FLOAT and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    what = value.__class__.__name__
    text = f"`{name}` of `{type}` must be {want}, not {short(value)} ({what})"
    raise InputProblem.of("bad-value", text, value=value)
