"""Why not, by trying everything: all sets of clauses, all values of their constants, all rows that can be added.

Written from why.md, section 4, without the search of the product: a repair is the text with the edits of its clauses,
parsed and run like any program.  Of the product it uses the clauses of the languages, :func:`occurs.parse` and
``detect``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from itertools import combinations, product
from typing import Any

import pyarrow as pa

import occurs
from occurs.errors import OccursError
from occurs.languages.kit.clauses import Clause, Edit, RuleClauses, spliced
from occurs.languages.kit.language import folder
from occurs.model.history import InputOptions
from occurs.model.types import Schema, Type

#: weights of kinds, as in the specification
WEIGHTS = {
    "late": 0, "outside": 0, "pending": 0, "threshold": 1, "window": 1, "count": 1, "absence": 2, "choice": 2,
    "restart": 2, "equality": 3, "relation": 3, "missing": 4,
}  # fmt: skip
SPECIAL = {"type", "time", "end", "sequence", "label"}
Events = Mapping[str, pa.Table]
#: a clause as reasons name it: kind, place, type and time of a late row
Key = tuple[str, str, Any]


class TooManyError(Exception):
    """There are more repairs than may be tried."""


@dataclass(frozen=True)
class Site:
    """A clause; ``rule`` -1: of the input, ``row`` then is the late row."""

    rule: int
    clause: Clause
    key: Key
    order: tuple[int, ...]
    row: tuple[str, pa.Table] | None = None


@dataclass(frozen=True)
class Told:
    """A reason: its clauses and the repair of each, of an added row the row."""

    keys: tuple[Key, ...]
    repairs: tuple[Any, ...]


@dataclass
class Brute:
    """All repairs of one question.

    ``asked``: the arguments of ``why_not``; ``keywords``: those of ``detect``; ``most``: runs that may be made.
    ``told``: the repairs of an answer, whose values are tried among all others.
    """

    program: occurs.Program
    type: str
    events: Events
    where: Mapping[str, Any]
    between: tuple[int, int]
    keywords: Mapping[str, Any]
    late: Events = field(default_factory=dict)
    most: int = 600
    told: Sequence[str] = ()
    runs: int = 0
    #: sets of the last cost all of whose repairs were tried
    tried: int = 0

    def __post_init__(self) -> None:
        checked = self.program.checked
        self.text, self.file, self.language = checked.texts[0]
        known = {n: v for n, v in self.keywords.items() if n in ("time_unit", "start", "until")}
        self.history = checked.history(self.events, InputOptions(**known))
        self.kind = self.history.kind
        bound = checked.bind(self.history.schemas, self.kind)
        self.schemas = bound.schemas
        module = import_module(f"occurs.languages.{folder(self.language)}.clauses")
        (part,) = bound.parts.values()
        rules: list[RuleClauses] = [*module.rules(part, [self.text], self.kind)]
        if hasattr(module, "helpers"):
            rules += module.helpers(part, [self.text], self.kind)
        defined = {r.defines for r in rules}
        read, waiting = {self.type}, [self.type]
        while waiting:
            type = waiting.pop()
            for t in {t for r in rules if r.defines == type for t in r.positive} - read:
                read.add(t)
                waiting.append(t)
        self.cone = [r for r in rules if r.defines in read]
        closure, waiting = {self.type}, [self.type]
        while waiting:
            type = waiting.pop()
            for t in {t for r in rules if r.defines == type for t in r.reads} - closure:
                closure.add(t)
                waiting.append(t)
        self.inputs = closure - defined
        #: the attributes that rules read, by type
        self.columns: dict[str, set[str]] = {}
        for d in checked.plan(self.history.schemas, self.kind).definitions:
            for t, names in d.columns.items() if d.output in closure else ():
                self.columns.setdefault(t, set()).update(names)
        self.sites = [*self._of_input(), *self._of_rules(defined)]

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _of_input(self) -> Iterator[Site]:
        for type, table in sorted(self.late.items()):
            for i in range(len(table)) if type in self.inputs else ():
                row = table.slice(i, 1)
                key = "late", "", (type, ticks(row["time"])[0])
                yield Site(-1, Clause("late", 0, 0, ""), key, (-1, 0), (type, row))
        if {"start", "until"} & self.keywords.keys() and self._outside():
            yield Site(-1, Clause("outside", 0, 0, ""), ("outside", "", None), (-1, 0))
        if self.keywords.get("ended") is False:
            yield Site(-1, Clause("pending", 0, 0, ""), ("pending", "", None), (-1, 0))

    def _outside(self) -> bool:
        first, last = self.clock
        times = [t for type in self.inputs if type in self.events for t in ticks(self.events[type]["time"])]
        return any(not first <= t <= last for t in times)

    def _of_rules(self, defined: set[str]) -> list[Site]:
        found = [(n, c) for n, r in enumerate(self.cone) for c in r.clauses]
        found.sort(key=lambda at: (at[1].start, at[1].kind == "missing"))
        out, seen = [], set()
        for n, c in found:
            if c.kind == "missing":
                if c.type in defined or c.type in seen:
                    continue
                seen.add(c.type)
            before = self.text[: c.start]
            place = f"{self.file or 'rules'}:{before.count(chr(10)) + 1}:{c.start - (before.rfind(chr(10)) + 1) + 1}"
            out.append(Site(n, c, (c.kind, place, None), (0, c.start)))
        return out

    # -- edits -------------------------------------------------------------------------------------------------------
    @property
    def clock(self) -> tuple[int, int]:
        """The first and the last tick of the history; of one without rows the asked time."""
        return self.history.clock or self.between

    def _numbers(self) -> list[Any]:
        """Numbers that the side of a comparison may take: all that are near, sums, means and differences of few."""
        if not hasattr(self, "_known_numbers"):
            seen: set[Any] = {n for r in self.cone for n in r.constants if number(n)} | set(range(-1, 8))
            texts: set[str] = set()
            for type, table in (*self.events.items(), *self.late.items()):
                if type not in self.inputs:
                    continue
                for name in table.column_names:
                    if name in SPECIAL - {"time", "end"}:
                        continue
                    values = [v for v in plain(table[name]) if v is not None]
                    texts |= {v for v in values if isinstance(v, str)}
                    own = {v for v in values if number(v)}
                    seen |= own
                    for few in (2, 3):
                        for chosen in combinations(sorted(own), few) if len(own) < 7 else ():
                            seen |= {sum(chosen), Fraction(sum(map(Fraction, chosen))) / few}
                    seen |= {b - a for a, b in combinations(sorted(own), 2)}
            for told in self.told:
                seen |= {Fraction(t) for t in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", told)}
            whole = {int(v) for v in seen if v == int(v) and abs(v) < 2**40}
            seen |= {v + d for v in whole for d in (-1, 1)}
            found = {float(v): int(v) if v == int(v) else float(v) for v in seen if abs(v) < 2**60}
            self._known_numbers = [found[v] for v in sorted(found)]
            self._known_texts = sorted(texts)
        return self._known_numbers

    def _spans(self) -> list[int]:
        """Differences of times."""
        times = {*self.between, *self.clock}
        for table in (*self.events.values(), *self.late.values()):
            for name in {"time", "end"} & set(table.column_names):
                times |= {t for t in ticks(table[name]) if t is not None}
        found = {b - a + d for a in times for b in times if b >= a for d in (-1, 0, 1)}
        if max(found) < 100:
            found = set(range(max(found) + 2))
        return sorted(d for d in found if d >= 0)

    def edits(self, site: Site) -> list[Edit | None]:
        """All edits of a clause, the least shift first; of one of the input the only one."""
        c = site.clause
        if site.rule < 0 or c.kind == "missing":
            return [None]
        found: list[Edit] = []
        if c.moved is not None:
            numbers = self._numbers()
            values = self._spans() if c.kind == "window" else [*numbers, *self._known_texts]
            moved: dict[str, Edit] = {}
            for value in values:
                try:
                    edit = c.moved(value)
                except (TypeError, ValueError, OverflowError):
                    continue  # a number where the constant is a text, or the other way round
                if edit is not None:
                    moved.setdefault(edit.repair, edit)
            found += moved.values()
        found += c.others
        found.sort(key=lambda e: e.shift)
        return [*found, *([] if c.drop is None else [c.drop])]

    # -- rows that are added -----------------------------------------------------------------------------------------
    def rows(self, type: str) -> list[dict[str, Any]]:
        """The domain of a type, the nearest to the asked time first."""
        schema = self.history.schemas.get(type) or self.schemas.get(type) or Schema()
        base = set(self.between)
        for t in self.inputs:
            for name in ("time", "end"):
                table = self.history.tables.get(t)
                if table is not None and name in table.column_names:
                    base |= {at + d for at in ticks(table[name]) if at is not None for d in (-1, 0, 1)}
        times = base | {b - d for b in base for r in self.cone for d in r.durations}
        first, last = self.clock
        inside = sorted((t for t in times if first <= t <= last), key=lambda t: (abs(t - self.between[0]), t))
        names = sorted(n for n, _ in schema)
        choices = [self._values(type, name, schema[name]) for name in names]
        size = len(inside)
        for values in choices:
            size *= len(values)
        if size * (len(inside) if schema.lasting else 1) > self.most:
            raise TooManyError
        out = []
        for t in inside:
            for end in sorted(e for e in inside if e > t) if schema.lasting else (None,):
                for values in product(*choices):
                    row = {"time": t, **({"end": end} if schema.lasting else {}), **dict(zip(names, values))}
                    out.append(row)
        return out

    def _values(self, type: str, name: str, kind: Type) -> list[Any]:
        seen: list[Any] = []
        unread = type in self.columns and name not in self.columns[type]
        for t in sorted(self.inputs):
            table = self.history.tables.get(t)
            if table is None or name not in table.column_names:
                continue
            # what an attribute of this name that rules read elsewhere has, too
            if t == type or (name in self.columns.get(t, ()) and self.history.schemas[t].get(name) is kind):
                seen += [v for v in plain(table[name]) if t == type or v is not None]
        for value in (*(c for r in self.cone for c in r.constants), *self.where.values()):
            if isinstance(value, bool):
                seen += [value] if kind is Type.BOOL else []
            elif number(value) and kind is Type.FLOAT:
                seen += [float(value) - 1, float(value), float(value) + 1]
            elif number(value) and kind is Type.INT and value == int(value):
                seen += [int(value) - 1, int(value), int(value) + 1]
            elif isinstance(value, str) and kind is Type.STRING:
                seen.append(value)
        unique = {total(v): v for v in seen}
        if unread:  # nothing depends on it
            own = [v for t, table in self.history.tables.items() if t == type and name in table.column_names
                   for v in plain(table[name])]  # fmt: skip
            return sorted(own, key=total)[:1] or [None]
        return [unique[k] for k in sorted(unique)] or [None]

    # -- running -----------------------------------------------------------------------------------------------------
    def works(self, sites: Sequence[Site], edits: Sequence[Edit | None], row: Mapping[str, Any] | None = None) -> bool:
        """Whether a repair answers the question."""
        self.runs += 1
        if self.runs > self.most:
            raise TooManyError
        splices = [s for e in edits if e is not None for s in e.splices]
        keywords = dict(self.keywords)
        events = dict(self.events)
        for site in sites:
            if site.clause.kind == "outside":
                keywords.pop("start", None), keywords.pop("until", None)
            elif site.clause.kind == "pending":
                keywords["ended"] = True
            elif site.row is not None:
                events[site.row[0]] = joined(events.get(site.row[0]), site.row[1])
            elif site.clause.kind == "missing":
                assert row is not None
                type = str(site.clause.type)
                events[type] = joined(events.get(type), self._table(type, row))
        try:
            program = self.program if not splices else occurs.parse(spliced(self.text, splices), self.language)
            found = program.detect(events, **keywords)
        except OccursError:
            return False
        return self.type in found and any(self.fits(r) for r in rows_of(found[self.type]))

    def _table(self, type: str, row: Mapping[str, Any]) -> pa.Table:
        schema = self.history.schemas.get(type) or self.schemas.get(type) or Schema()
        given = self.events.get(type)
        columns: dict[str, pa.Array] = {}
        of_time = next(t["time"].type for t in self.events.values())
        for name, value in row.items():
            if name in ("time", "end"):
                columns[name] = pa.array([value], pa.int64()).cast(of_time)
                continue
            of = given.schema.field(name).type if given is not None and name in given.column_names else None
            of = of or schema.arrow_of(name, schema[name])
            columns[name] = pa.array([value], None if of is None or pa.types.is_null(of) else of)
        return pa.table(columns)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Whether a detected row answers the question."""
        end = row["time"] if "end" not in row else row["end"]
        inside = row["time"] <= self.between[1] and (end is None or end >= self.between[0])
        return inside and all(equal(row[n], v) for n, v in self.where.items())

    # -- reasons -----------------------------------------------------------------------------------------------------
    def reasons(self, cost: int, known: Sequence[Told] = ()) -> tuple[list[Told], list[frozenset[Key]]]:
        """The reasons of a cost, given those of lower cost; and the sets that were too large to be tried."""
        out: list[tuple[Any, Told]] = []
        untried = []
        self.tried = 0
        before = [frozenset(t.keys) for t in known]
        for chosen in combinations(self.sites, cost):
            keys = frozenset(s.key for s in chosen)
            adding = sum(s.clause.kind == "missing" for s in chosen)
            if adding > 1 or (adding and cost > 1 and known) or any(b <= keys for b in before):
                continue
            self.runs = 0
            try:
                told = self._first(chosen)
            except TooManyError:
                untried.append(keys)
                continue
            self.tried += 1
            if told is not None:
                weight = sum(WEIGHTS[s.clause.kind] for s in chosen)
                out.append(((weight, [s.order for s in chosen]), told))
        out.sort(key=lambda pair: pair[0])
        return [told for _, told in out], untried

    def _first(self, sites: Sequence[Site]) -> Told | None:
        """The repair of a set that is told; None if none works."""
        options = [self.edits(s) for s in sites]
        type = next((str(s.clause.type) for s in sites if s.clause.kind == "missing"), None)
        domain: list[Any] = [None] if type is None else self.rows(type)
        size = len(domain)
        for found in options:
            size *= len(found)
        if size > self.most:
            raise TooManyError
        tries = sorted(product(*options), key=lambda edits: [0 if e is None else e.shift for e in edits])
        for edits in tries:
            for row in domain:
                if self.works(sites, edits, row):
                    repairs = [
                        row if s.clause.kind == "missing" else None if e is None else e.repair
                        for s, e in zip(sites, edits, strict=True)
                    ]
                    return Told(tuple(s.key for s in sites), tuple(repairs))
        return None


def told_of(reason: Any) -> Told:
    """A reason of an answer in the form of this module."""
    keys: list[Key] = []
    repairs: list[Any] = []
    for c in reason.clauses:
        if c.kind == "missing":
            row = json.loads(c.repair)
            row.pop("type")
            repairs.append({n: tick(v) if n in ("time", "end") else v for n, v in row.items()})
        else:
            repairs.append(c.repair if c.line else None)
        late = c.kind == "late"
        keys.append((c.kind, c.place if c.line else "", (c.type, c.time) if late else None))
    return Told(tuple(keys), tuple(repairs))


def tick(value: Any) -> Any:
    """A time of JSON as ticks."""
    if isinstance(value, str):
        return ticks(pa.chunked_array([[value]]).cast(pa.timestamp("us", tz="UTC")))[0]
    return value


def ticks(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """A column of times as ticks."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz))
    return column.cast(pa.int64()).to_pylist()


def plain(column: pa.ChunkedArray) -> list[Any]:
    """Values, timestamps as ticks, each once; NaN is null."""
    values = ticks(column) if pa.types.is_timestamp(column.type) else column.to_pylist()
    out: dict[Any, Any] = {}
    for v in values:
        if not isinstance(v, list | dict):
            value = None if v != v else v
            out.setdefault(repr(value), value)
    return list(out.values())


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """Detected rows, times as ticks."""
    out = table.to_pylist()
    for name in table.column_names:
        if pa.types.is_timestamp(table[name].type):
            for row, value in zip(out, ticks(table[name]), strict=True):
                row[name] = value
    return out


def joined(table: pa.Table | None, more: pa.Table) -> pa.Table:
    """A table with more rows."""
    return more if table is None else pa.concat_tables([table, more], promote_options="permissive")


def number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and value == value


def equal(value: Any, wanted: Any) -> bool:
    """Whether a value is the asked one: numbers by value, null is null."""
    if value is None or wanted is None or isinstance(value, bool) != isinstance(wanted, bool):
        return value is None and wanted is None
    return value == wanted


def total(value: Any) -> tuple[int, Any]:
    """The total order of values."""
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, bool) else (2, value) if number(value) else (3, str(value))
