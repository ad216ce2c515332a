"""Programs: texts to definitions, definitions to a plan, a plan to a host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from occurs.connect.tables import kind_of, like, to_arrow
from occurs.engine.results import TypeRows
from occurs.errors import InputProblem, Problem, UsageProblem, did_you_mean, raise_problems
from occurs.hosts.local import Live, run_history
from occurs.languages.tesla.define import Tesla, Texts
from occurs.model.history import History, InputOptions, Source, normalise
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.plan.stage import Definition, Stage, make_stage, stage_key

_SUFFIXES = {".tesla": "tesla"}
_LANGUAGES = ("tesla",)


def load(*paths: str | Path, language: str | None = None) -> Program:
    """A program from one or many files; the language is the suffix (``.tesla``).

    Raises SyntaxProblem or DefinitionProblem with all problems of all files, InputProblem (``missing-file``).
    """
    texts: list[tuple[str, str | None]] = []
    for path in map(Path, paths):
        _language(language or _SUFFIXES.get(path.suffix), str(path))
        try:
            texts.append((path.read_text(encoding="utf-8-sig"), str(path)))
        except FileNotFoundError:
            near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
            hint = did_you_mean(path.name, near, "files there")
            raise InputProblem.of("missing-file", f"there is no file {path}", file=str(path), hint=hint) from None
        except (UnicodeDecodeError, OSError) as error:
            raise InputProblem.of("missing-file", f"{path} cannot be read as text: {error}", file=str(path)) from error
    return Program(texts)


def parse(text: str, language: str = "tesla", *, name: str | None = None) -> Program:
    """A program from a string; ``name`` stands for the file in messages."""
    _language(language, name or "<text>")
    return Program([(text, name)])


def _language(language: str | None, file: str) -> None:
    if language not in _LANGUAGES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in _SUFFIXES.items())
        raise UsageProblem.of("unknown-language", f"no language is known for {file}", hint=f"suffixes: {known}")


class Program:
    """A set of definitions.  ``problems``: the warnings and notices of its texts."""

    def __init__(self, texts: list[tuple[str, str | None]]):
        self._texts: Texts = Tesla.read(texts)
        raise_problems(self._texts.problems)
        self._unbound = Tesla.check(self._texts, None, None)
        # the order of the attributes of an input may still come from its table, and so may what positions bind
        found = self._unbound.problems
        late = {"unknown-order", "unbound-parameter"} if any(p.kind == "unknown-order" for p in found) else set()
        self.problems: list[Problem] = [p for p in found if p.kind not in late]
        raise_problems(self.problems)

    # -- planning ----------------------------------------------------------------------------------------------------
    def plan(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Stage:
        """The plan over input of these schemas as one stage.  Raises DefinitionProblem."""
        bound = self.bind(schemas, kind)
        definitions = bound.definitions(kind)
        schemas = {**schemas, **bound.analysis.schemas}
        return make_stage(definitions, schemas, kind, bound.subscribed, stage_key(definitions))

    def check(self, schemas: Mapping[str, Schema] | None = None, kind: TimeKind | None = None) -> list[Problem]:
        """All problems, with those that only the schemas of the data show."""
        return list(Tesla.check(self._texts, schemas, kind).problems)

    def bind(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Tesla:
        """The texts checked against the schemas and the kind of time of an input.  Raises DefinitionProblem."""
        bound = Tesla.check(self._texts, schemas, kind)
        raise_problems(bound.problems)
        return bound

    def definitions(self, schemas: Mapping[str, Schema], kind: TimeKind) -> list[Definition]:
        """The compiled definitions over input of these schemas."""
        return self.bind(schemas, kind).definitions(kind)

    @property
    def declared(self) -> dict[str, Schema]:
        """Schemas that the texts declare or define."""
        return self._unbound.declared

    @property
    def assigned(self) -> Mapping[int, str]:
        """Names given to numeric type ids of the data (TESLA's Assign)."""
        return self._unbound.analysis.assigns

    @property
    def reads(self) -> set[str]:
        """The types that the program reads."""
        return self._unbound.reads

    def history(self, events: Any, options: InputOptions) -> History:
        """The input as a history: ``events`` is a table, a mapping from types to tables, or sources of files."""
        from dataclasses import replace

        options = replace(options, type_names={str(i): n for i, n in self.assigned.items()})
        return normalise(
            _sources(events, self.reads, options),
            schemas=self._unbound.declared,
            inputs=sorted(self.reads),
            options=options,
        )

    # -- running -----------------------------------------------------------------------------------------------------
    def detect(
        self,
        events: Any,
        *,
        type: str | None = "type",
        time: str = "time",
        end: str | None = "end",
        sequence: str | None = "sequence",
        label: str | None = "label",
        time_unit: str | None = None,
        start: Any = None,
        until: Any = None,
        ended: bool = True,
        because: bool = False,
        with_label: bool = False,
        bad_rows: str = "error",
        only: list[str] | None = None,
        **host: Any,
    ) -> Any:
        """Find everything that the program defines in ``events``.

        ``events``: one table with a type column, or a mapping from types to tables; pandas, Arrow, Polars (evaluated in
        this process) or Spark DataFrames (evaluated on Spark).  The result maps every reported type, in evaluation
        order, to a table of the same kind.  Raises DefinitionProblem, InputProblem, UsageProblem.
        """
        options = InputOptions(
            type, time, end, sequence, label, time_unit, start, until, bad_rows  # type: ignore[arg-type]
        )
        sample = _sample(events)
        if sample is not None and kind_of(sample) == "spark":
            from occurs.hosts.spark import detect as on_spark

            return on_spark(self, events, options, because=because, with_label=with_label or because, only=only, **host)
        if host:
            raise UsageProblem.of("bad-option", f"unknown options: {', '.join(sorted(host))}")
        history = self.history(events, options)
        stage = self.plan(history.schemas, history.kind)
        done = run_history(stage, history, labelled=because or with_label)
        return Detections(stage, done, history, sample, because or with_label, because, only)

    def live(self, schemas: Mapping[str, Schema], *, time_unit: str | None = None, because: bool = False) -> Live:
        """Events one by one (push): see :class:`occurs.hosts.local.Live`.  Times are integers; ``schemas``: of all
        types that the program reads."""
        kind = TimeKind() if time_unit is None else TimeKind(False, time_unit)
        return Live(self.plan(schemas, kind), labelled=because)

    def explain(self, events: Any = None, **options: Any) -> str:
        """What runs where, in words: inputs, order, key, retention.  With ``events`` also their schemas."""
        from occurs.plan.explain import explain

        if events is None:
            return explain(self.plan_without_data(self._unbound.analysis.schemas))
        history = self.history(events, InputOptions(**options))
        return explain(self.plan(history.schemas, history.kind))

    def plan_without_data(self, schemas: Mapping[str, Schema]) -> Stage:
        """The plan over declared types only, times being timestamps."""
        return self.plan(schemas, TimeKind())

    def verify(self, events: Any, *, max_events: int = 20_000, **options: Any) -> Any:
        """The engine against the reference semantics on ``events``: see :mod:`occurs.testing.verify`."""
        from occurs.testing.verify import verify

        return verify(self, events, max_events=max_events, **options)


def _sample(events: Any) -> Any:
    """Some table among ``events``: it says of which kind the result is."""
    if isinstance(events, Mapping):
        return next(iter(events.values()), None)
    return None if isinstance(events, list | tuple) else events


def _sources(events: Any, reads: set[str], options: InputOptions) -> Any:
    if isinstance(events, Mapping):
        return {t: to_arrow(table, t) for t, table in events.items()}
    if isinstance(events, list | tuple) and all(isinstance(s, Source) for s in events):
        return events
    table = to_arrow(events)
    if options.type is None or options.type not in table.column_names:
        if len(reads) != 1:
            raise InputProblem.of(
                "missing-column",
                f"the table has no column `{options.type}`, and the program reads several types: "
                + ", ".join(sorted(reads)),
                hint="give one table per type, or name the column (type=..., --type-column)",
            )
        return {next(iter(reads)): table}
    return {None: table}


class Detections(Mapping[str, Any]):
    """What was found: type -> table, in evaluation order; types without detections are there with their schema.

    ``counts``: rows read, bad, outside the clock..; ``bad``: the rows left out, with reasons; ``notices``.
    """

    def __init__(
        self,
        stage: Stage,
        done: list[TypeRows],
        history: History,
        sample: Any,
        label: bool,
        because: bool,
        only: list[str] | None,
    ):
        self._stage = stage
        self._done = done
        self._sample = sample
        self._label = label
        self._because = because
        self._types = _only(stage.reported, only)
        self._tables: dict[str, Any] = {}
        self.counts = dict(history.counts)
        self.bad = None if history.bad is None else self._like(history.bad)
        self.late = None
        self.notices = list(history.notices)

    def _like(self, table: pa.Table) -> Any:
        return table if self._sample is None else like(self._sample, table)

    def __getitem__(self, type: str) -> Any:
        if type not in self._types:
            raise KeyError(type)
        if type not in self._tables:
            self._tables[type] = self._like(self.arrow(type))
        return self._tables[type]

    def arrow(self, type: str) -> pa.Table:
        """The detections of a type as an Arrow table."""
        parts = [d.table(type, label=self._label, because=self._because) for d in self._done]
        parts = [p for p in parts if len(p)] or parts[:1]
        if not parts:
            return TypeRows(self._stage, {}, {}).table(type, label=self._label, because=self._because)
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts)

    def count(self, type: str) -> int:
        """How many detections of a type there are."""
        return sum(d.count(type) for d in self._done)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        return f"Detections({', '.join(f'{t}: {self.count(t)}' for t in self)})"


def _only(reported: tuple[str, ...], only: list[str] | None) -> tuple[str, ...]:
    for name in only or ():
        if name not in reported:
            hint = did_you_mean(name, reported, "types")
            raise UsageProblem.of("unknown-name", f"`{name}` is not reported", hint=hint)
    return reported if only is None else tuple(t for t in reported if t in only)
