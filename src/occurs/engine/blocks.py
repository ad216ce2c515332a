"""The blocks that operators return, cut into the types that a program reports, with labels and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import because_array, no_reasons, table_of, type_column
from occurs.model.labels import Labels, bound_labels, derived_labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.blocks import Block, Identity, Out, Reasons
from occurs.operators.columns import Column
from occurs.operators.rows import Rows


@dataclass
class Detected:
    """A block, and the labels of its rows if these are wanted."""

    block: Block
    labels: Labels | None = None

    @classmethod
    def of(cls, block: Block, labelled: bool) -> Detected:
        if not labelled:
            return cls(block)
        return cls(block, labels_of(block) if block.labels is None else block.labels)

    def __len__(self) -> int:
        return len(self.block)

    def parts(self, type: str) -> list[Part]:
        """The rows of every output of ``type``; outputs without rows are left out."""
        return [p for n in self._numbers.get(type, ()) if (p := self.part(n)) is not None]

    @cached_property
    def sheets(self) -> dict[bool, tuple[Schema, pa.Table | None]]:
        """Tables of all rows that were made, without and with labels, and the schemas they were made with."""
        return {}

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The numbers of the outputs of a type."""
        out: dict[str, list[int]] = {}
        for number, one in enumerate(self.block.outs):
            out.setdefault(one.type, []).append(number)
        return out

    def part(self, number: int) -> Part | None:
        """The rows of one output; None if there are none."""
        b = self.block
        if not b.size_of(number):
            return None
        at = b.rows_of(number)
        time, columns = b.only(number)
        labels = self.labels
        return Part(
            b.outs[number], time, columns, None if b.at is None else b.at[at],
            labels if labels is None or b.cuts is None else Labels(labels.hi[at], labels.lo[at]),
            np.arange(at.start, at.stop), b.reasons, None if b.final is None else b.final[at],
        )  # fmt: skip

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None:
        """All rows as one table, to be sliced output by output; None if Arrow could not address it, or if the table has
        been made with another schema."""
        if label not in self.sheets:
            types = self._types()
            self.sheets[label] = schema, None if types is None else self.joint_table(schema, kind, label, types)
        made, table = self.sheets[label]
        return table if made is schema or made == schema else None

    @property
    def joint(self) -> bool:
        """Are there several outputs whose rows are in one table?"""
        return type(self.block) is Block and self.block.cuts is not None

    def joint_table(self, schema: Schema, kind: TimeKind, label: bool, types: str | pa.Array = "") -> pa.Table:
        """The rows of all outputs, which have this schema, one behind the other; ``types``: of each row."""
        b = self.block
        return table_of(types, b.time, b.columns, schema, kind, self.labels if label else None, None)

    def _types(self) -> str | pa.Array | None:
        """The type of every row; None if Arrow could not address so much text, or if the block makes its columns
        itself, output by output."""
        b = self.block
        if type(b) is not Block:
            return None
        if b.cuts is None:
            return b.outs[0].type
        names = [o.type.encode() for o in b.outs]
        lengths = np.array([len(n) for n in names], np.int64)
        return type_column(np.frombuffer(b"".join(names), np.uint8), lengths, np.diff(b.cuts))


@dataclass
class Part:
    """Rows of one output, in the order of time, place within the instant (``at``; None: when it was complete) and
    rank.  ``numbers``: of the rows in their block; ``reasons``: of the block.  ``final``: false for provisional rows;
    None: all are final."""

    out: Out
    time: np.ndarray
    columns: Mapping[str, Column]
    at: np.ndarray | None
    labels: Labels | None
    numbers: np.ndarray
    reasons: Callable[[np.ndarray], Reasons] | None
    final: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: np.ndarray) -> Part:
        """Some of them."""
        return replace(
            self,
            time=self.time[rows],
            columns={n: c.take(rows) for n, c in self.columns.items()},
            at=None if self.at is None else self.at[rows],
            labels=None if self.labels is None else self.labels.take(rows),
            numbers=self.numbers[rows],
            final=None if self.final is None else self.final[rows],
        )

    def rows(self) -> Rows:
        """The derived events as rows of their type, provisional ones included."""
        derived = None if self.at is None else np.full(len(self), self.out.place, np.int32)
        columns = {name: self._column(name) for name in self.out.schema.names}
        if self.out.schema.lasting and "end" in self.columns:
            columns["end"] = self.columns["end"]
        return Rows(self.out.type, self.time, columns, labels=self.labels, derived=derived, at=self.at)

    def _column(self, name: str) -> Column:
        """A column of the type; null if the definition does not give it."""
        type, found = self.out.schema[name], self.columns.get(name)
        return Column.nulls(type, len(self)) if found is None else found.cast(type)

    def because(self, kind: TimeKind) -> pa.Array:
        """Per row the list of its constituents."""
        if self.reasons is None or not len(self):
            return no_reasons(len(self), kind)
        return because_array(self.reasons(self.numbers), kind)


def labels_of(block: Block) -> Labels:
    """The labels of the rows of a block (common.md, section 3)."""
    nothing = np.zeros(0, np.uint64)
    if not len(block):
        return Labels(nothing, nothing)
    assert block.identity is not None
    identity = block.identity()
    if block.cuts is None:
        return _labels(block.outs[0], identity)
    cuts = block.cuts.tolist()
    filled = [(out, lo, hi) for out, lo, hi in zip(block.outs, cuts[:-1], cuts[1:], strict=True) if lo < hi]
    return Labels.concat([_labels(out, identity.slice(lo, hi)) for out, lo, hi in filled])


def _labels(out: Out, identity: Identity) -> Labels:
    if identity.offsets is None:
        return derived_labels(out.definition, identity.parts, identity.time, identity.values)
    assert identity.time is not None
    assert identity.due is not None
    return bound_labels(out.definition, identity.offsets, identity.parts[0], identity.time, identity.due)
