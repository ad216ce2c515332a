"""Programs: texts to definitions, definitions to a plan, a plan to a host."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import pyarrow as pa

from occurs.arguments import (
    check_flags,
    fact_tables,
    named,
    sample_of,
    schema_of,
    split_options,
    windows_of,
    without_lists,
)
from occurs.bound import Bound, Read
from occurs.connect.tables import kind_of
from occurs.engine.results import TypeRows
from occurs.errors import DefinitionProblem, Problem, UsageProblem, did_you_mean, raise_problems, without
from occurs.found import Detections, LocalDetections
from occurs.hosts.dataframes import on_spark
from occurs.hosts.live import Detection, Live, Time
from occurs.hosts.local import run_history, run_windows
from occurs.hosts.windows import Window, unsupported
from occurs.intake import Intake
from occurs.languages.language import MAX_FORMULA, Known
from occurs.model.facts import schema_of_table
from occurs.model.history import InputOptions
from occurs.model.ticks import instant
from occurs.model.ticks import time_unit as unit_of
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import short
from occurs.plan.definition import Definition
from occurs.plan.graph import Node
from occurs.plan.notes import notes, placed
from occurs.plan.sequences import SequenceDefinition
from occurs.plan.stage import Stage, Subscribed, make_stage, stage_key
from occurs.plan.triggers import TriggerDefinition
from occurs.planning import PlanOptions
from occurs.progress import watching

if TYPE_CHECKING:
    from occurs.plan.explain import Explanation

__all__ = ["Detections", "Program", "run_history"]


#: a kind of table
Events = TypeVar("Events")


class DetectOptions(TypedDict, total=False):
    """The options of :meth:`Program.detect`."""

    type: str | None
    time: str
    end: str | None
    sequence: str | None
    label: str | None
    time_unit: str | None
    start: Any
    until: Any
    ended: bool
    because: bool
    with_label: bool
    bad_rows: str
    only: list[str] | None
    zone: str
    facts: Mapping[str, Any] | None
    strict: bool
    require_bounds: bool
    window: Any
    step: Any
    provisional: bool
    timeouts: bool
    max_instances: int | None
    partitions: int
    started: bool
    watermark: Any
    progress: bool | None


class Program(Intake):
    """A set of definitions.  ``problems``: the warnings and notices of its texts."""

    def __init__(
        self, texts: Sequence[tuple[str, str | None, str]] | Read, *, max_formula: int | None = None,
        folders: Mapping[str, Path] | None = None,
    ):  # fmt: skip
        """``texts``: (text, file name, language) triples, or what was read of them.  ``max_formula``: subformulas with
        free variables that a temporal trigger may have (64).  ``folders``: of texts that are files, by their names:
        there the rules may read further files."""
        self._folders = dict(folders or {})
        self._read = texts if isinstance(texts, Read) else Read.of(texts)
        self._max_formula = MAX_FORMULA if max_formula is None else max_formula
        self._unbound = self._read.check(Known(max_formula=self._max_formula))
        # the order of the attributes of an input may still come from its table
        self.problems: list[Problem] = [p for p in self._unbound.problems if p.kind != "unknown-order"]
        raise_problems([*self._read.problems, *self.problems])
        self._options = PlanOptions()
        self._facts: dict[str, pa.Table] = {}
        #: the latest binding with the problems that it adds to those of the texts, and the latest plan, each behind all
        #: that it depends on; shared by copies with other options
        self._bounds: list[tuple[Known, Bound, list[Problem]]] = []
        self._plans: list[tuple[Any, Stage]] = []

    def __repr__(self) -> str:
        return f"Program({', '.join(dict.fromkeys(node.defines for _, node in self.outline))})"

    def _repr_html_(self) -> str:
        from occurs.notebook.html import program

        return program(self)

    # -- planning ----------------------------------------------------------------------------------------------------
    def adjusted(
        self, *, zone: str = "UTC", facts: Mapping[str, Any] | None = None, strict: bool = False,
        require_bounds: bool = False, window: Any = None, step: Any = None, provisional: bool = False,
        timeouts: bool = False, max_instances: int | None = None,
    ) -> Program:  # fmt: skip
        """This program with other options of its plan.

        ``zone``: where the calendar of timers that name none is read.  ``facts``: tables without time, name to table.
        ``strict``: warnings are errors.  ``require_bounds``: state that grows without bound is one.  ``window``,
        ``step``: in window mode the length of the windows and how far they are apart, as durations.  ``provisional``:
        on a stream rows that still hold are told before they have ended.  ``timeouts``: the partial matches that guards
        end are a side output.  ``max_instances``: partial matches that a definition may have at a time.

        Raises UsageProblem, and DefinitionProblem for warnings that ``strict`` makes errors.
        """
        tables = fact_tables({} if facts is None else facts, self._unbound.facts)
        others = [n for n, part in self._unbound.parts.items() if (part.nodes or part.subscribed) and not part.windows]
        out = self._with(
            zone=zone, strict=strict, require_bounds=require_bounds, window=windows_of(window, step, others),
            provisional=provisional, timeouts=timeouts, max_instances=max_instances,
        )  # fmt: skip
        out._facts = tables
        out._options.judge(self.problems)
        return out

    def _with(self, **options: Any) -> Program:
        """This program with some options changed."""
        out = copy.copy(self)
        out._options = self._options.but(**options)
        return out

    @property
    def provisional(self) -> bool:
        """Are rows that still hold told before they have ended?"""
        return self._options.provisional

    @property
    def window(self) -> tuple[Any, Any] | None:
        """In window mode the length of the windows and how far they are apart, as they were given."""
        return self._options.window

    @property
    def never(self) -> bool:
        """Is told of triggers that they can fire no more?"""
        return self._options.never

    def reasoning(self) -> Program:
        """This program, in a way that knows of what all detections are made."""
        return self._with(because=True)

    @property
    def outline(self) -> list[tuple[str, Node]]:
        """The definitions in the order of the texts: the language of each, what it defines, and what it reads."""
        return [(language, node) for language, _, node in self._unbound.entries]

    @property
    def languages(self) -> list[str]:
        """The languages in which this program has definitions."""
        return [name for name, part in self._unbound.parts.items() if part.nodes]

    @property
    def tells_never(self) -> bool:
        """Are there triggers of which there may be instances that can fire no more?"""
        return any(p.looks_ahead for p in self._unbound.parts.values())

    def noticing(self) -> Program:
        """This program, which also tells of triggers that they can fire no more."""
        return self._with(never=True)

    def runs_on(self, host: str) -> bool:
        """Do all definitions run on ``host`` (``local``, ``spark``)?"""
        return all(host in part.hosts for part in self._unbound.parts.values() if part.nodes)

    def require(self, host: str) -> None:
        """Raise UsageProblem if there are definitions that do not run on ``host`` (``local``, ``spark``)."""
        for name, part in self._unbound.parts.items():
            if part.nodes and host not in part.hosts:
                where = {"spark": "Spark", "local": "this process"}[host]
                text = f"definitions in {name.capitalize()} do not run on {where}"
                hint = "run them in this process: --host local (Python: pass pandas, Arrow or Polars tables)"
                raise UsageProblem.of("unsupported", text, hint=hint)

    def plan(self, schemas: Mapping[str, Schema] | None, kind: TimeKind) -> Stage:
        """The plan over input of these schemas (None: no data is known) as one stage.  Raises DefinitionProblem.

        The latest one is kept: thousands of rules take seconds.
        """
        name = None if schemas is None else dict(schemas), kind, self._options
        if not self._facts and self._plans and self._plans[0][0] == name:
            return self._plans[0][1]
        stage = self._planned(schemas, kind)
        if not self._facts:
            self._plans[:] = [(name, stage)]
        return stage

    def _planned(self, schemas: Mapping[str, Schema] | None, kind: TimeKind) -> Stage:
        bound = self.bind(schemas, kind)
        definitions = self._compiled(bound, kind, schemas)
        self._options.judge([w for d in definitions for w in d.warnings])
        sides = {d.output: d.schema for d in definitions if isinstance(d, SequenceDefinition) and d.ended}
        notices = {d.never: d.notices for d in definitions if isinstance(d, TriggerDefinition) and d.never}
        if self._options.timeouts and not sides:
            hint = "only EPL patterns with `timer:within` report timeouts"
            raise UsageProblem.of("bad-option", "timeouts: no definition of this program can time out", hint=hint)
        subscribed = bound.subscribed
        subscribed = subscribed + [Subscribed(t, None) for t in (*sides, *notices)] if subscribed else []
        nothing = {s.type: Schema() for s in subscribed}  # of types that nobody knows: reported without rows
        everything = {**nothing, **(schemas or {}), **bound.schemas, **sides, **notices}
        same: dict[Schema, Schema] = {}  # of thousands of types few schemas differ: one object of those that are equal
        everything = {t: same.setdefault(s, s) for t, s in everything.items()}
        return make_stage(definitions, everything, kind, subscribed, stage_key(definitions))

    def check(self, schemas: Mapping[str, Schema] | None = None, kind: TimeKind | None = None) -> list[Problem]:
        """All problems, with those that only the schemas of the data show, and of the plan if there are no errors."""
        problems = list(self._read.check(self._known(schemas, kind)).problems)
        if any(p.severity == "error" for p in problems):
            return problems
        try:
            stage = self.plan(schemas, kind) if kind is not None else self._plan_without_data()
        except DefinitionProblem as error:
            return problems + without(error.problems, problems)
        return problems + notes(stage)

    def warnings(self, schemas: Mapping[str, Schema], kind: TimeKind) -> list[Problem]:
        """What only the schemas of the data show, and is no error."""
        self.bind(schemas, kind)
        return self._bounds[0][2]

    def judge(self, problems: list[Problem]) -> None:
        """Raise DefinitionProblem if an option makes errors of warnings among ``problems``."""
        self._options.judge(problems)

    def bind(self, schemas: Mapping[str, Schema] | None, kind: TimeKind) -> Bound:
        """The texts checked against the schemas and the kind of time of an input.  Raises DefinitionProblem."""
        known = self._known(None if schemas is None else dict(schemas), kind)
        if not self._bounds or self._bounds[0][0] != known:
            bound = self._read.check(known)
            raise_problems(bound.problems)
            self._bounds[:] = [(known, bound, without(bound.problems, self.problems))]
        bound = self._bounds[0][1]
        self._options.judge(bound.problems)
        return bound

    def _known(self, schemas: Mapping[str, Schema] | None, kind: TimeKind | None) -> Known:
        window, zone = self._options.window, self._options.zone
        length = None if window is None or kind is None else Window.of(*window, kind).length
        facts = {n: schema_of_table(t) for n, t in self._facts.items()}
        return Known(schemas, kind, zone, facts, window=length, max_formula=self._max_formula)

    def _compiled(self, bound: Bound, kind: TimeKind, schemas: Mapping[str, Schema] | None) -> list[Definition]:
        return self._options.applied(bound.definitions(kind, self._facts), bound, schemas or {})

    def definitions(self, schemas: Mapping[str, Schema], kind: TimeKind) -> list[Definition]:
        """The compiled definitions over input of these schemas."""
        return self._compiled(self.bind(schemas, kind), kind, schemas)

    @property
    def facts(self) -> Mapping[str, pa.Table]:
        """Tables without time that were given, with their declared columns."""
        return self._facts

    # -- running -----------------------------------------------------------------------------------------------------
    @overload
    def detect(self, events: Mapping[str, Events], **options: Unpack[DetectOptions]) -> Detections[Events]: ...

    @overload
    def detect(self, events: Events, **options: Unpack[DetectOptions]) -> Detections[Events]: ...

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
        time_format: str | None = None,
        only: list[str] | None = None,
        zone: str = "UTC",
        facts: Mapping[str, Any] | None = None,
        strict: bool = False,
        require_bounds: bool = False,
        window: Any = None,
        step: Any = None,
        provisional: bool = False,
        timeouts: bool = False,
        max_instances: int | None = None,
        progress: bool | None = None,
        **host: Any,
    ) -> Detections[Any]:
        """Find everything that the program defines in ``events``.

        ``events``: one table with a type column, or a mapping from types to tables; pandas, Arrow, Polars (evaluated in
        this process) or Spark DataFrames (evaluated on Spark).  The result maps every reported type, in evaluation
        order, to a table of the same kind; ``counts``, ``bad`` and ``notices`` say more.

        ``type`` to ``label``: the columns that are special (None: there is none).  ``time_unit``: what integer times
        count (us, ms, s, min, h, d).  ``time_format``: how times are written in text, in the directives of strptime
        (None: ISO 8601).  ``start``, ``until``: the ends of the clock.  ``ended``: nothing comes any more,
        so what still holds is given, too (TESLA has nothing that waits for it).  ``because``: add the columns ``label``
        and ``because``; ``with_label``: only ``label``.  ``bad_rows``: "error" or "skip".  ``only``: report these
        types.  For ``zone`` to ``require_bounds`` see :meth:`adjusted`.  ``window``, ``step``: window mode, the answer
        over what has come by each query, as far as it reaches into the window; durations such as "2 h", or ticks.
        ``provisional``: on a stream rows that still hold are told before they have ended, with the column ``final``.
        The result has ``never``, too: when instances of temporal triggers were found to be able to fire no more.
        ``timeouts``: and ``timeouts``: per statement with a guard `timer:within` the partial matches
        that it ended.  ``max_instances``: how many partial matches a definition may have at a time (10 million; on
        Spark per partition).  ``progress``: show a bar while a run in this process takes longer than a moment (None:
        in a notebook).  ``host``: options of Spark (``partitions``).

        Raises DefinitionProblem, InputProblem, LimitProblem, UsageProblem.
        """
        check_flags(
            ended=ended, because=because, with_label=with_label, strict=strict, require_bounds=require_bounds,
            provisional=provisional, timeouts=timeouts, progress=progress is not None and progress,
        )  # fmt: skip
        program = self.adjusted(
            zone=zone, facts=facts, strict=strict, require_bounds=require_bounds, window=window, step=step,
            provisional=provisional, timeouts=timeouts, max_instances=max_instances,
        )  # fmt: skip
        program = program.reasoning() if because else program
        options = InputOptions(type, time, end, sequence, label, time_unit, start, until, bad_rows, time_format)  # type: ignore[arg-type]
        events = named(events, self.assigned)
        sample = sample_of(events)
        streaming = sample is not None and kind_of(sample) == "spark" and sample.isStreaming
        if provisional and not streaming:
            hint = "a history is complete: intervals that are open at its end are reported with a null `end`"
            raise UsageProblem.of("bad-option", "provisional rows are only available on a stream", hint=hint)
        if sample is not None and kind_of(sample) == "spark":
            self.require("spark")
            if streaming and program.window is not None:
                raise unsupported()
            if not streaming:
                host["ended"] = ended
            return on_spark(sample)(
                program, events, options, because=because, with_label=with_label or because, only=only, **host
            )
        if host:
            hint = did_you_mean(next(iter(host)), _DETECT, "options")
            raise UsageProblem.of("bad-option", f"unknown options: {', '.join(sorted(host))}", hint=hint)
        program = program.noticing()
        history = program.history(events, options)
        stage = program.plan(history.schemas, history.kind)
        notices = placed(history.notices, stage)
        program.judge(notices)
        done: list[TypeRows]
        if program.window is None:
            with watching(progress, "detecting") as told:
                done = run_history(stage, history, labelled=because or with_label, ended=ended, told=told)
        else:
            windows = Window.of(*program.window, history.kind)
            started = start is not None
            done = [run_windows(stage, history, windows, started=started, labelled=because or with_label)]
        found = LocalDetections(stage, done, history, sample, because or with_label, because, only)
        costs = [w for d in stage.definitions for w in d.warnings]
        found.notices = [*program.warnings(history.schemas, history.kind), *costs, *notices]
        return found

    def live(
        self,
        schemas: Mapping[str, Schema | Mapping[str, str]] | None = None,
        *,
        time_unit: str | None = None,
        start: Time | None = None,
        because: bool = False,
        zone: str = "UTC",
    ) -> Live:
        """Events one by one (push): see :class:`occurs.hosts.live.Live`.

        ``schemas``: of the types that the program reads and does not declare, attributes to their types.
        Times are integers of ``time_unit``; without one, timestamps (datetime, ISO 8601, or microseconds since 1970).
        Raises UsageProblem if the schema of a type is missing.
        """
        self.refuse_files("single events")
        check_flags(because=because)
        kind = TimeKind() if time_unit is None else TimeKind(False, unit_of(time_unit))
        if schemas is not None and not isinstance(schemas, Mapping):
            text = f"schemas must be a mapping from event types to attributes, not {short(schemas)}"
            raise UsageProblem.of("bad-option", text)
        given = {t: schema_of(t, s) for t, s in (schemas or {}).items()}
        if not self.reads_lists:
            given = {t: without_lists(s) for t, s in given.items()}
        known = {**self.declared, **given}
        missing = sorted(t for t in self.external if t not in known or Type.NULL in dict(known[t]).values())
        if missing:
            text = f"the attributes of {', '.join(f'`{t}`' for t in missing)} are not fully known"
            hint = f"declare them in the rules, `event {missing[0]}(Name: type, ..)`, or pass schemas="
            raise UsageProblem.of("missing-schema", text, hint=hint)
        first = None if start is None else instant(start, kind, "start")
        program = self.adjusted(zone=zone).noticing()
        program = program.reasoning() if because else program
        return Live(program.plan(known, kind), labelled=because, start=first)

    def stream(self, events: Iterable[Mapping[str, Any]], *, ended: bool = True, **options: Any) -> Iterator[Detection]:
        """Detections one by one (pull): ``events`` are mappings with ``type``, ``time`` and the attributes, in order of
        time; no more of them are taken than the next detection needs.  ``options``: those of :meth:`live`."""
        return self.live(**options).stream(events, ended=ended)

    def explain(self, events: Any = None, **options: Any) -> Explanation:
        """What runs where, in words: inputs, order, key, retention.  With ``events`` also their schemas; ``options`` as
        in :meth:`detect`."""
        from occurs.plan.explain import explain

        input_options, rest = split_options(options)
        program = self.adjusted(**rest)
        if events is None:
            return explain(program._plan_without_data(input_options.time_unit))
        events = named(events, self.assigned)
        sample = sample_of(events)
        if sample is not None and kind_of(sample) == "spark":
            self.require("spark")
            from occurs.hosts.spark import read

            source = read(program, events, input_options)
            return explain(program.plan(source.schemas, source.kind))
        history = program.history(events, input_options)
        return explain(program.plan(history.schemas, history.kind))

    def _plan_without_data(self, time_unit: str | None = None) -> Stage:
        """The plan over what the texts say, times being timestamps unless a duration counts ticks."""
        kinds = [TimeKind(), TimeKind(False, None), TimeKind(False, "ms")]
        if time_unit is not None:
            kinds = [TimeKind(False, unit_of(time_unit))]
        for kind in kinds[:-1]:
            try:
                return self.plan(None, kind)
            except DefinitionProblem as error:
                # a bare number is no duration over timestamps, and nothing is added to them but durations
                wrong = {p.kind for p in error.problems if p.severity == "error"}
                if wrong - {"missing-unit", "type-mismatch"}:
                    raise
        return self.plan(None, kinds[-1])

    def verify(self, events: Any, *, max_events: int = 20_000, first: int = 0, **options: Any) -> Any:
        """The engine against the reference semantics on ``events``: see :mod:`occurs.testing.verify`.

        Statements of EPL also against their nets, in which searches begin from the number ``first``.
        """
        input_options, rest = split_options(options)
        names = {f.name: getattr(input_options, f.name) for f in fields(InputOptions)}
        program = self.adjusted(**rest)
        if "epl" in self._unbound.parts:
            from occurs.testing import nets_verify

            return nets_verify.verify(program, events, max_events=max_events, first=first, **names)
        from occurs.testing.verify import verify

        return verify(program, events, max_events=max_events, **names)


_DETECT = list(DetectOptions.__annotations__)
