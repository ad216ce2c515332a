"""States judged by a program: its engine goes from commit to commit, and is saved in pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.connect.changes.model import ANEW, DELETE, INSERT, STATE, TRUNCATE, UPDATE, Change, Commit, Watched
from occurs.engine.engine import Engine
from occurs.engine.order import input_rows
from occurs.engine.results import TypeRows
from occurs.engine.saved_pieces import Ledger
from occurs.engine.state import READ, from_ipc, meta_from_ipc, meta_to_ipc, restoring, to_ipc
from occurs.errors import CheckpointProblem, DefinitionProblem, Problem, UsageProblem, did_you_mean, raise_problems
from occurs.languages.kit.language import names
from occurs.languages.logic.render import render
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema, Type, arrow_type
from occurs.operators.rows import Rows
from occurs.watch.actions import Carrier, Firing, carrying, given
from occurs.watch.rules import Rules

_ENTRY = "entry"


def check(
    rules: Rules, kind: TimeKind = TIMESTAMP, *, max_formula: int | None = None, tables: Iterable[str] = ()
) -> list[Problem]:
    """Warnings and notices of rules, without those that only Spark is concerned with.

    ``max_formula``: as for :func:`occurs.load`; ``tables``: those of the database, for hints.

    Raises SyntaxProblem, DefinitionProblem, UsageProblem (no such language): also if there is nothing to watch.
    """
    implied = "\n".join(map(render, rules.implied))
    for _, file, language in rules.texts:
        if language not in names():
            hint = f"languages: {', '.join(names())}"
            raise UsageProblem.of("unknown-language", f"the language of {file} is unknown", hint=hint)
    texts = [*rules.texts, *([(implied, "the catalogue", "ftl")] if implied else [])]
    try:
        program = CheckedProgram(texts, max_formula=max_formula)
        program.refuse_files("a database")
        problems = [p for p in program.check(program.declared, kind) if p.kind != "global-stage"]
        raise_problems(problems)
    except DefinitionProblem as error:
        raise DefinitionProblem([_hinted(p, tables) for p in error.problems]) from error
    if not rules.tables:
        text = "the rules do not declare a table of the database, so there is nothing to watch"
        raise DefinitionProblem.of("never-completes", text, hint="declare a table: table NAME (column type key, ..)")
    return problems


def _hinted(problem: Problem, tables: Iterable[str]) -> Problem:
    """With the table of the database that an unknown name may mean."""
    name = re.search(r"`(\w+)`$", problem.message) if problem.kind.startswith("unknown-") else None
    near = did_you_mean(name[1], tables) if name else ""
    return replace(problem, hint=f"{near[:-1]}, a table of the database?") if near.startswith("did") else problem


class Judge:
    """The engine of a watch, which goes on from saved ``pieces``.

    ``max_formula``: as for :func:`occurs.load`.  Raises DefinitionProblem for rules that are wrong, CheckpointProblem
    for pieces that are not of these rules.
    """

    def __init__(
        self, rules: Rules, pieces: Mapping[str, bytes], kind: TimeKind = TIMESTAMP, *, max_formula: int | None = None
    ) -> None:
        self.tables = {t.name: t for t in rules.tables}
        carried = carrying(rules.definitions)
        self.carriers = carried.carriers
        texts = [*((render(d), None, "ftl") for d in carried.definitions), *rules.others]
        program = CheckedProgram(texts, max_formula=max_formula)
        self.stage = program.noticing().plan(program.declared, kind)
        self.notices = {n: t for n, t in self.stage.notices.items() if t not in carried.twins}
        self.engine = Engine(self.stage, labelled=True)
        self.ledger = Ledger()
        self.start: int | None = None
        if pieces:
            self._restore(pieces)

    def _restore(self, pieces: Mapping[str, bytes]) -> None:
        try:
            with restoring("the saved state of the watcher"):
                entry = pieces[_ENTRY]
                # before there were checksums it was plain JSON
                saved = json.loads(entry) if entry.startswith(b"{") else meta_from_ipc(entry)
                if saved["version"] not in READ:
                    raise ValueError(f"it has version {saved['version']}")
                self.start = saved["start"]
                self.ledger, self.engine.state = Ledger.read(
                    saved["state"], self.engine.definitions, lambda name: from_ipc(pieces[name])
                )
        except CheckpointProblem as error:  # the engine's words are for a checkpoint in a directory
            raise CheckpointProblem([replace(p, hint=ANEW) for p in error.problems]) from error

    def save(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last time, by piece; None: that piece is gone."""
        out: dict[str, bytes | None] = {}

        def put(name: str, table: pa.Table) -> None:
            out[name] = to_ipc(table)

        def drop(name: str) -> None:
            out[name] = None

        state = self.ledger.write(self.engine.state, self.engine.definitions, put, drop)
        out[_ENTRY] = meta_to_ipc({"start": self.start, "state": state})
        return out

    # --- going on -----------------------------------------------------------------------------------------------------

    def advance(self, commits: Sequence[Commit]) -> list[tuple[int, Firing]]:
        """The firings in the next states with their positions, by time, then by type and attributes, notices last.

        Raises InputProblem; the state is then not to be used any more.
        """
        if self.start is None:
            self.start = commits[0].time
        found = self.engine.advance(self._rows(commits), commits[-1].time, self.start)
        positions = {c.time: c.position for c in commits}
        # a state between two commits (`observing every`) belongs to the one behind it
        times = sorted(positions)

        def position(time: int) -> int:
            at = positions.get(time)
            return at if at is not None else positions[next(t for t in times if t > time)]

        firings = [*self._events(found), *self._notices(found)]
        # what is found at one time in the order of types; notices come last
        return [(position(f.time), f) for f in sorted(firings, key=lambda f: (f.time, f.never))]

    def _rows(self, commits: Sequence[Commit]) -> dict[str, Rows]:
        by_type: dict[str, list[dict[str, Any]]] = {}
        for commit in commits:
            for name, values in rows(commit, self.tables):
                by_type.setdefault(name, []).append({**values, "time": commit.time})
        return {t: self._table(t, own) for t, own in by_type.items() if t in self.stage.inputs}

    def _table(self, type_: str, own: list[dict[str, Any]]) -> Rows:
        schema = self.stage.schemas.get(type_, Schema())
        columns = {"time": pa.array([r["time"] for r in own], pa.int64())}
        for name in schema.plain:
            values = [r.get(name) for r in own]
            if name == "old":
                values = [None if v is None else json.dumps(v) for v in values]
            wanted = arrow_type(schema[name])
            columns[name] = (
                pa.array(values, pa.int64()).cast(wanted)
                if schema[name] is Type.TIMESTAMP
                else pa.array(values, wanted)
            )
        columns["sequence"] = pa.array([r["sequence"] for r in own], pa.int64())
        table = TypeTable.of(pa.table(columns))
        return input_rows(type_, table, schema, True, numbered=type_ in self.stage.numbered)

    # --- what was found -----------------------------------------------------------------------------------------------

    def _events(self, found: TypeRows) -> list[Firing]:
        out = []
        for name in self.stage.reported:
            if name in self.stage.notices or not found.count(name):
                continue
            table = found.table(name, label=True)
            times = table.column("time").cast(pa.int64()).to_pylist()
            carrier = self.carriers.get(name)
            for time, row in zip(times, table.to_pylist()):
                out.append(self._event(name, time, row, carrier))
        return out

    def _event(self, name: str, time: int, row: dict[str, Any], carrier: Carrier | None) -> Firing:
        label = row["label"]
        columns = [c for c in row if c not in ("type", "time", "label")]
        attributes = {c: row[c] for c in given(columns)}
        if carrier is None:
            return Firing(name, time, {}, name, attributes, label=label)
        generics = {n: row[c] for n, c in carrier.generics.items()}
        values = tuple({n: row[c] for n, c in own.items()} for own in carrier.values)
        event = "" if carrier.twin else name
        return Firing(carrier.trigger.name.text, time, generics, event, attributes, values, label, acts=True)

    def _notices(self, found: TypeRows) -> list[Firing]:
        out = []
        for name, trigger in self.notices.items():
            table = found.table(name, label=True)
            times = table.column("time").cast(pa.int64()).to_pylist()
            for time, row in zip(times, table.to_pylist()):
                generics = {n: v for n, v in row.items() if n not in ("type", "time", "label")}
                out.append(Firing(trigger, time, generics, label=row["label"], never=True, acts=True))
        return out


def rows(commit: Commit, tables: Mapping[str, Watched]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(type, attributes) of the rows of a state in their order, ``sequence`` among the attributes.

    Rows of tables have ``op`` and ``old`` (a mapping).  Of events only what is inserted counts, of states what is
    inserted or updated.
    """
    for number, change in enumerate(commit.changes):
        table = tables[change.table]
        if table.keeps:
            yield table.name, {**_of_table(change), "sequence": number}
        elif change.op == INSERT or (change.op == UPDATE and table.role == STATE):
            yield table.name, {**(change.new or {}), "sequence": number}


def _of_table(change: Change) -> dict[str, Any]:
    if change.op == TRUNCATE:
        return {"op": TRUNCATE}
    if change.op == DELETE:
        return {**(change.old or {}), "op": DELETE}
    old = {} if change.old is None else {"old": dict(change.old)}
    return {**(change.new or {}), "op": change.op, **old}
