"""What the rows of a stream look like, settled before the first one is read and kept in the checkpoint."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.errors import CheckpointProblem, InputProblem, Problem
from occurs.hosts.spark.wide import Kind, arrow_of, ddl_of, input_kinds
from occurs.model.history import History
from occurs.model.source import InputOptions, Source
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.plan.spread import groups

Records = tuple[tuple[str, pa.DataType], ...]
#: the special columns of wide rows, as :class:`occurs.hosts.stream.source.StreamSource` has them
_SPECIAL = {
    "__type": "string", "__time": "bigint", "__end": "bigint", "__sequence": "bigint", "__label": "string",
    "__state": "int",
}  # fmt: skip
_ARROW = {"string": pa.string(), "bigint": pa.int64(), "int": pa.int32()}


@dataclass(frozen=True)
class Pinned:
    """What the first look at the input has settled.

    ``schemas``: of the types that the program reads; ``sequence``, ``label``, ``end``: is there such a column?
    ``notices``: of that look; a checkpoint does not remember them.
    """

    schemas: Mapping[str, Schema]
    kind: TimeKind
    sequence: bool
    label: bool
    end: bool = False
    notices: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, program: CheckedProgram, history: History, sources: Sequence[Source], options: InputOptions) -> Pinned:
        """From a history of what is there.  Raises InputProblem (``missing-schema``) for a type of which nothing is
        known, neither by declaration nor from rows."""
        read = {t: s for t, s in history.schemas.items() if t in program.reads}
        empty = not any(len(s.table) for s in sources)
        missing = sorted(t for t in program.external if t not in read or (empty and _open(read[t])))
        if missing:
            names = ", ".join(f"`{t}`" for t in missing)
            text = f"the attributes of {names} are unknown: there are no events yet, and the types are not declared"
            hint = f"declare them in the rules, `event {missing[0]}(Name: type, ..)`, or start when events have arrived"
            raise InputProblem.of("missing-schema", text, hint=hint)
        columns = {c for s in sources for c in s.table.column_names}
        sequence, label, end = (c in columns for c in (options.sequence, options.label, options.end))
        return cls(read, history.kind, sequence, label, end, tuple(history.notices))

    def with_more(self, schemas: Mapping[str, Schema]) -> Pinned:
        """With these schemas, too; what they leave open is as it was."""
        more = {}
        for t, schema in schemas.items():
            more[t] = schema.completed(dict(self.schemas[t])) if t in self.schemas else schema
        return replace(self, schemas={**self.schemas, **more})

    def entry(self) -> dict[str, Any]:
        """Plain JSON."""
        schemas = {}
        for t, s in self.schemas.items():
            more = [[s.changes, s.rest, s.loose]] if s.changes or s.rest or s.loose else []
            schemas[t] = [s.ordered, s.lasting, [[n, k.value] for n, k in s], *more]
        kind = [self.kind.timestamp, self.kind.unit]
        ends = {"end": True} if self.end else {}
        lists = {t: _to_text(s.records) for t, s in self.schemas.items() if s.records}
        more_of = ends | ({"lists": lists} if lists else {})
        return {"schemas": schemas, "kind": kind, "sequence": self.sequence, "label": self.label, **more_of}

    @classmethod
    def load(cls, entry: Mapping[str, Any]) -> Pinned:
        """What :meth:`entry` gave.  Raises CheckpointProblem for anything else."""
        try:
            schemas = {
                t: Schema(tuple((n, Type(k)) for n, k in attributes), ordered, lasting, *(flags[0] if flags else ()))
                for t, (ordered, lasting, attributes, *flags) in entry["schemas"].items()
            }
            for t, text in entry.get("lists", {}).items():
                schemas[t] = replace(schemas[t], records=_from_text(text))
            kind, end = TimeKind(*entry["kind"]), entry.get("end", False)
            return cls(schemas, kind, entry["sequence"], entry["label"], end)
        except (KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise CheckpointProblem.damaged("the event types in the checkpoint", repr(error)) from error


def _to_text(lists: Records) -> str:
    """The types of columns of lists: an Arrow schema in base64."""
    return b64encode(pa.schema(lists).serialize().to_pybytes()).decode()


def _from_text(text: str) -> Records:
    found = pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True)))
    return tuple((f.name, f.type) for f in found)


def _open(schema: Schema) -> bool:
    return any(t is Type.NULL for _, t in schema)


@dataclass(frozen=True)
class Expected:
    """How sources become wide rows.  ``declared``: types whose columns must be there; ``reads``, ``external``: types
    that the program reads, and those of them that no rule makes; ``needed``: per type the attributes that matter (None:
    all); ``start``, ``until``: ends of the clock in ticks; ``late``: with every row as it came, as JSON; ``owned``:
    types of which only rules make rows.
    """

    pinned: Pinned
    declared: frozenset[str]
    reads: tuple[str, ...]
    external: tuple[str, ...]
    options: InputOptions
    needed: Mapping[str, frozenset[str] | None]
    start: int | None = None
    until: int | None = None
    late: bool = False
    owned: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        program: CheckedProgram,
        pinned: Pinned,
        options: InputOptions,
        ends: tuple[int | None, int | None],
        labelled: bool,
    ) -> Expected:
        """``ends``: of the clock.  Plans the program: raises DefinitionProblem."""
        stage = program.plan(pinned.schemas, pinned.kind)
        needed: dict[str, frozenset[str] | None] = {}
        for group in groups(stage.definitions, stage):
            for t, more in group.needs(labelled).items():
                before = needed.get(t, frozenset())
                needed[t] = None if more is None or before is None else before | more
        names = {str(n): t for n, t in program.assigned.items()}
        options = replace(options, type_names=names, lists=program.reads_lists)
        reads, external = tuple(sorted(program.reads)), tuple(sorted(program.external))
        owned = frozenset(program.owned)
        return cls(pinned, frozenset(program.declared), reads, external, options, needed, *ends, owned=owned)

    def with_late(self) -> Expected:
        return replace(self, late=True)

    @cached_property
    def columns(self) -> dict[tuple[str, Kind], str]:
        """One column per (attribute, type), so that event types may use one name differently."""
        out: dict[tuple[str, Kind], str] = {}
        for t, schema in sorted(self.pinned.schemas.items()):
            needed = self.needed.get(t, frozenset())
            for name, kind in input_kinds(schema):
                if kind is not Type.NULL and (needed is None or name in needed):
                    out.setdefault((name, kind), f"c{len(out)}")
        return out

    @cached_property
    def physical(self) -> dict[tuple[str, str], str]:
        """(event type, attribute) to its column."""
        out = {}
        for t, schema in self.pinned.schemas.items():
            needed = self.needed.get(t, frozenset())
            for name, kind in input_kinds(schema):
                if (name, kind) in self.columns and (needed is None or name in needed):
                    out[(t, name)] = self.columns[(name, kind)]
        return out

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the wide rows; in them timestamps are microseconds."""
        fields = [(n, _ARROW[t]) for n, t in _SPECIAL.items()]
        fields += [("__bad", pa.string())] + [("__data", pa.string())] * self.late
        return pa.schema(fields + [(c, arrow_of(t)) for (_, t), c in self.columns.items()])

    @property
    def ddl(self) -> str:
        """The same for Spark."""
        parts = [f"{n} {t}" for n, t in _SPECIAL.items()] + ["__bad string"] + ["__data string"] * self.late
        return ", ".join(parts + [f"{c} {ddl_of(t)}" for (_, t), c in self.columns.items()])
