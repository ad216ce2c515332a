"""Documents, tuples of texts, pictures, printing (pipes.md, 4.8)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from occurs.operators.process import documents, scalars, tree
from occurs.operators.process.columns import Obj
from occurs.operators.process.faults import Fault
from occurs.operators.process.items import Call, Items
from occurs.operators.process.making import column_of
from occurs.operators.process.operator import Operator, operator
from occurs.operators.process.state import Part, State, Texts
from occurs.operators.process.values import Record


def each(values: Sequence[Any], run: Callable[[Any], Any]) -> list[Any]:
    """``run`` of every value that is not null.  A Fault says the row."""
    out = []
    for i, v in enumerate(values):
        try:
            out.append(None if v is None else run(v))
        except Fault as fault:
            fault.row = i
            raise
    return out


class _Reading(Operator):
    def read(self, value: Any) -> Any:
        """The document that a text is.  Raises Fault."""
        raise AssertionError  # pragma: no cover

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        p: Any = self.node.processor
        run = self.read
        return [x.with_value(Obj.of(each(x.value.pylist(), _or_null(run) if p.bad == "null" else run)))]


def _or_null(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        try:
            return run(value)
        except Fault:
            return None

    return read


@operator
class Xml(_Reading):
    """Each text as an XML document."""

    of: ClassVar[type[tree.Processor]] = tree.Xml

    def read(self, value: Any) -> Any:
        return documents.read_xml(value)


@operator
class Json(_Reading):
    """Each text as a JSON document."""

    of: ClassVar[type[tree.Processor]] = tree.Json

    def read(self, value: Any) -> Any:
        return documents.read_json(value)


@operator
class Regex(Operator):
    """A tuple of the groups of the first match; null if nothing matches."""

    of: ClassVar[type[tree.Processor]] = tree.Regex

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        p = self.node.processor
        assert isinstance(p, tree.Regex)
        expression = scalars.pattern(p.pattern)

        def run(value: Any) -> Any:
            if not isinstance(value, str):
                raise Fault("bad-value", "is not text", value)
            if expression is None:
                raise Fault("bad-value", "is not a regular expression", p.pattern)
            found = expression.search(value)
            if found is None:
                return None
            groups = found.groups()
            return Record(tuple((n, groups[i] if i < len(groups) else None) for i, n in enumerate(p.names)))

        return [x.with_value(column_of(each(x.value.pylist(), run)))]


@operator
class Tuples(Operator):
    """The first line names the columns, the others are tuples of text."""

    of: ClassVar[type[tree.Processor]] = tree.Tuples

    def fresh(self) -> dict[str, Part]:
        return {"names": Texts()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        names: dict[int, Any] = state["names"].values
        out: list[Any] = []
        rows: list[int] = []
        # the number of a line in its trace is not that of an item: a Fault is of the item
        for i, (c, lines) in enumerate(zip(x.codes.tolist(), each(x.value.pylist(), documents.csv_lines))):
            for line in lines or ():
                if c not in names:
                    if len(set(line)) < len(line):
                        raise Fault("bad-value", "names a column twice", line, i)
                    names[c] = [n or "" for n in line]
                    continue
                if len(line) > len(names[c]):
                    raise Fault("bad-value", f"has {len(line)} fields, but there are {len(names[c])} columns", line, i)
                missing = [None] * (len(names[c]) - len(line))
                out.append(Record(tuple(zip(names[c], [*line, *missing]))))
                rows.append(i)
        return [x.take(np.array(rows, np.int64)).with_value(column_of(out)).with_ends(x.ends)]


@operator
class Plot(Operator):
    """A picture of each item."""

    of: ClassVar[type[tree.Processor]] = tree.Plot

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        from occurs.operators.process.plots import draw

        (x,) = given
        p = self.node.processor
        assert isinstance(p, tree.Plot)
        return [x.with_value(column_of(each(x.value.pylist(), lambda v: draw(p, v))))]


@operator
class Print(Operator):
    """Passes the items through and writes them to stderr."""

    of: ClassVar[type[tree.Processor]] = tree.Print

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        for v in x.value.pylist():
            print("null" if v is None else documents.text(v), file=sys.stderr)
        return [x]
