"""The rows of facts as atoms of them see them (phenesthe.md, sections 2 and 4.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Literal
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks_phenomenon import Phenomenon
from occurs.model.types import Type, arrow_type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.lasting.codes import joint
from occurs.operators.lasting.conditions import FactRows
from occurs.operators.lasting.picking import code_of
from occurs.operators.lasting.values import Values


class FactTables:
    """The facts of a program: rows that are written in it, and tables from outside by name.

    A column of a table is found by its name, else ignoring case if only one fits; where there is none it is null.
    """

    def __init__(self, phenomena: Mapping[str, Phenomenon], outside: Mapping[str, pa.Table]) -> None:
        self.phenomena = phenomena
        self.outside = outside
        self._values = Values()
        self._tables: dict[str, tuple[dict[str, Column], int]] = {}

    def any(self, atom: syntax.Atom) -> bool:
        """Whether a row fits an atom."""
        return len(self._fitting(atom)[1]) > 0

    def rows(self, atom: syntax.Atom, kept: Collection[str]) -> FactRows:
        """The bindings of the atom's variables that are ``kept``, of which there is at least one, each once."""
        read, at = self._fitting(atom)
        variables = tuple(sorted(v for v in read if v in kept))
        columns, _ = self._table(atom.name.text)
        return self._distinct(variables, [columns[read[v]].take(at) for v in variables])

    def united(self, rows: Sequence[FactRows], type: Type) -> FactRows:
        """The rows of facts of one and the same variable, of ``type``."""
        parts = [r.table.column(0) for r in rows]
        columns = [Column.of(p, from_arrow(p.type) or Type.NULL).cast(type) for p in parts]
        return self._distinct(rows[0].variables, [Column.concat(columns)])

    def _distinct(self, variables: tuple[str, ...], columns: Sequence[Column]) -> FactRows:
        (key,) = joint([(tuple(self._values.encode(c) for c in columns), len(columns[0]))])
        first = np.sort(np.unique(key, return_index=True)[1])
        return FactRows(variables, pa.table({v: c.take(first).arrow for v, c in zip(variables, columns)}))

    def _fitting(self, atom: syntax.Atom) -> tuple[dict[str, str], np.ndarray]:
        """The attribute that each variable of an atom is read from, and the numbers of the rows that fit."""
        columns, n = self._table(atom.name.text)
        fits = np.ones(n, np.bool_)
        read: dict[str, str] = {}
        for attribute, value in self.phenomena[atom.name.text].arguments(atom):
            if isinstance(value, syntax.Anything):
                continue
            codes = self._values.encode(columns[attribute])
            if isinstance(value, syntax.Constant):
                fits &= codes == code_of(self._values, Literal(value.value, value.type))
            else:
                fits &= (codes >= 0) & (codes == self._values.encode(columns[read.setdefault(value.name, attribute)]))
        return read, np.flatnonzero(fits)

    def _table(self, name: str) -> tuple[dict[str, Column], int]:
        """All rows of a fact, by attribute, and their number."""
        if name not in self._tables:
            known = self.phenomena[name]
            given = self.outside.get(name)
            outside = 0 if given is None else given.num_rows
            columns = {}
            for place, (attribute, type) in enumerate(known.attributes):
                written = [_plain(row.values[place].value, type) for row in known.rows]
                array = pa.array(written, pa.int64() if type is Type.TIMESTAMP else arrow_type(type))
                parts = [Column.of(array, type)]
                if given is not None:
                    parts.append(_column(given, attribute, type))
                columns[attribute] = Column.concat(parts)
            self._tables[name] = columns, len(known.rows) + outside
        return self._tables[name]


def _column(table: pa.Table, attribute: str, type: Type) -> Column:
    """A column of a table of facts as the type that the fact has everywhere."""
    alike = [n for n in table.column_names if n.lower() == attribute.lower()]
    name = attribute if attribute in alike else alike[0] if len(alike) == 1 else None
    if name is None:
        return Column.nulls(type, table.num_rows)
    array = table.column(name)
    return Column.of(array, from_arrow(array.type) or Type.NULL).cast(type)


def _plain(value: Any, type: Type) -> Any:
    return float(value) if type is Type.FLOAT else value
