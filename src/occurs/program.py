"""Programs: texts to definitions, definitions to a plan, a plan to a host."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import pyarrow as pa

from occurs.checked_program import Bound, Read
from occurs.connect.tables import kind_of
from occurs.detections import Detections, LocalDetections
from occurs.engine.results import TypeRows
from occurs.errors import DefinitionProblem, Problem, UsageProblem, did_you_mean, raise_problems, without
from occurs.hosts.dataframes import on_spark
from occurs.hosts.live import Detection, Live, Time
from occurs.hosts.local import run_history, run_windows
from occurs.hosts.windows import Window, unsupported
from occurs.languages.language import MAX_FORMULA, Known
from occurs.model.history import InputOptions
from occurs.model.source import schema_of_table
from occurs.model.ticks import instant
from occurs.model.ticks import time_unit as unit_of
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import short
from occurs.operators.definition import Definition, Node
from occurs.options import (
    check_flags,
    fact_tables,
    named,
    sample_of,
    schema_of,
    split_options,
    windows_of,
    without_lists,
)
from occurs.plan.notes import notes, placed
from occurs.plan.stage import Stage, Subscribed, make_stage, stage_key
from occurs.planning import PlanOptions
from occurs.program_input import Intake
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
    """A set of definitions, which can be checked, explained and run on events.

    Use :func:`occurs.load` or :func:`occurs.parse` to make one.  The same program runs on a finished history and on a
    stream, in this process and on Spark, and detects the same in each.

    Attributes:
        problems: The warnings and notices of the rules.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
        >>> program.detect(events, time_unit="s")["Hot"].to_pylist()
        [{'type': 'Hot', 'time': 60, 'v': 50}]
    """

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
        """Return this program with other options of its plan.

        Args:
            zone: The time zone of timers that do not name one.
            facts: Tables without time, by name.
            strict: Treat warnings as errors.
            require_bounds: Treat unbounded state as an error.
            window: The length of the windows of window mode, a duration.
            step: The time between two windows, a duration.
            provisional: On a stream, also report open intervals before they end.
            timeouts: Report the partial matches that guards end as a side output.
            max_instances: The maximum number of partial matches per definition.

        Raises:
            UsageProblem: If an option is invalid.
            DefinitionProblem: If an option makes an error of a warning.
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
        """Whether open intervals are reported before they end."""
        return self._options.provisional

    @property
    def window(self) -> tuple[Any, Any] | None:
        """In window mode, the length of the windows and the time between them, as they were given."""
        return self._options.window

    @property
    def never(self) -> bool:
        """Whether triggers that can no longer fire are reported."""
        return self._options.never

    def reasoning(self) -> Program:
        """Return this program with the constituents of all detections recorded."""
        return self._with(because=True)

    @property
    def outline(self) -> list[tuple[str, Node]]:
        """The definitions in the order of the rules, as (language, node) pairs.

        A node has the type that the definition defines and the types that it reads.
        """
        return [(language, node) for language, _, node in self._unbound.entries]

    @property
    def languages(self) -> list[str]:
        """The languages in which this program has definitions."""
        return [name for name, part in self._unbound.parts.items() if part.nodes]

    @property
    def tells_never(self) -> bool:
        """Whether the program has triggers with instances that can become unable to fire."""
        return any(p.looks_ahead for p in self._unbound.parts.values())

    def noticing(self) -> Program:
        """Return this program with triggers that can no longer fire reported."""
        return self._with(never=True)

    def runs_on(self, host: str) -> bool:
        """Whether all definitions run on ``host`` (``local`` or ``spark``)."""
        return all(host in part.hosts for part in self._unbound.parts.values() if part.nodes)

    def require(self, host: str) -> None:
        """Raise UsageProblem if a definition does not run on ``host`` (``local`` or ``spark``)."""
        for name, part in self._unbound.parts.items():
            if part.nodes and host not in part.hosts:
                where = {"spark": "Spark", "local": "this process"}[host]
                text = f"definitions in {name.capitalize()} cannot run on {where}"
                hint = "run them in this process: --host local (Python: pass pandas, Arrow or Polars tables)"
                raise UsageProblem.of("unsupported", text, hint=hint)

    def plan(self, schemas: Mapping[str, Schema] | None, kind: TimeKind) -> Stage:
        """Return the plan over input with these schemas (None: the data is unknown) as one stage.

        The latest plan is kept, because planning thousands of rules takes seconds.

        Raises:
            DefinitionProblem: If the rules do not fit the schemas.
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
        sides = [side for d in definitions for side in d.sides]
        if self._options.timeouts and all(side.notices for side in sides):
            hint = "only EPL patterns with `timer:within` report timeouts"
            raise UsageProblem.of("bad-option", "timeouts: no definition of this program can time out", hint=hint)
        subscribed = bound.subscribed
        subscribed = subscribed + [Subscribed(side.type, None) for side in sides] if subscribed else []
        nothing = {s.type: Schema() for s in subscribed}  # of types that nobody knows: reported without rows
        everything = {**nothing, **(schemas or {}), **bound.schemas, **{side.type: side.schema for side in sides}}
        same: dict[Schema, Schema] = {}  # of thousands of types few schemas differ: one object of those that are equal
        everything = {t: same.setdefault(s, s) for t, s in everything.items()}
        return make_stage(definitions, everything, kind, subscribed, stage_key(definitions))

    def check(self, schemas: Mapping[str, Schema] | None = None, kind: TimeKind | None = None) -> list[Problem]:
        """Check the rules and return all problems: errors, warnings and notices.

        Args:
            schemas: The schemas of the input by type.  None checks the rules without data.
            kind: The kind of time of the input, timestamps or integers.  None means unknown.

        Returns:
            The problems in the order of the rules.  If there are no errors, they include those of the plan, such as a
            definition that runs in a single partition (common.md, section 5).

        Examples:
            >>> import occurs
            >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
            >>> program.check()
            []
        """
        problems = list(self._read.check(self._known(schemas, kind)).problems)
        if any(p.severity == "error" for p in problems):
            return problems
        try:
            stage = self.plan(schemas, kind) if kind is not None else self._plan_without_data()
        except DefinitionProblem as error:
            return problems + without(error.problems, problems)
        return problems + notes(stage)

    def warnings(self, schemas: Mapping[str, Schema], kind: TimeKind) -> list[Problem]:
        """The warnings and notices that depend on the schemas of the data."""
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
        """The tables of facts with their declared columns."""
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
        """Detect everything that the program defines in ``events``.

        Args:
            events: A table with a type column, or a mapping from event types to tables.  pandas, Arrow and Polars
                tables are processed in this process, Spark DataFrames (batch or streaming) on Spark.
            type: The column with the event type.  None: there is none.
            time: The column with the time: timestamps, integers, or text.
            end: The column with the end of intervals, null while an interval is open.  None: there is none.
            sequence: The column that orders simultaneous events.  None: there is none.
            label: The column with the unique identity of a row.  None: there is none.
            time_unit: The unit of integer times: ``us``, ``ms``, ``s``, ``min``, ``h`` or ``d``.
            start: The start of the clock; earlier rows are skipped.  Default: the time of the first row.
            until: The end of the clock; later rows are skipped.  Default: the time of the last row.
            ended: Whether the input is complete.  If so, intervals that are open at its end are reported, too.
            because: Add the columns ``label`` and ``because``, the constituents of each detection.
            with_label: Add the column ``label``, the identity of each detection.
            bad_rows: ``"error"`` rejects input with unreadable rows, ``"skip"`` skips and counts them.
            time_format: The format of times in text, in the directives of ``strptime``.  None: ISO 8601.
            only: The types to report.  None: all.
            zone: The time zone of timers that do not name one.
            facts: Tables without time, by name (Phenesthe).
            strict: Treat warnings as errors.
            require_bounds: Treat unbounded state as an error.
            window: Window mode (Phenesthe): the length of the windows, a duration such as ``"2 h"`` or ticks.
            step: Window mode: the time between two windows, a duration or ticks.
            provisional: On a stream, also report open intervals before they end, with the column ``final``.
            timeouts: Also collect the partial matches that EPL's ``timer:within`` ended, in ``timeouts`` of the result.
            max_instances: The maximum number of partial matches per definition, on Spark per partition.
                Default: 10 million.
            progress: Show a progress bar for a run in this process.  None: only in a notebook.
            host: Options of Spark, such as ``partitions``.

        Returns:
            A mapping from every reported type, in evaluation order, to a table of the same kind as ``events``.  The
            tables have the columns ``type``, ``time``, ``end`` (intervals only) and the attributes.

        Raises:
            DefinitionProblem: If the rules do not fit the columns of the events.
            InputProblem: If a column is missing or rows are unreadable.
            LimitProblem: If a limit such as ``max_instances`` is exceeded.
            UsageProblem: If an option is invalid.

        Examples:
            >>> import occurs, pyarrow as pa
            >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
            >>> events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
            >>> found = program.detect(events, time_unit="s")
            >>> found
            Detections(Hot: 1)
            >>> found["Hot"].to_pylist()
            [{'type': 'Hot', 'time': 60, 'v': 50}]
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
        """Return a live run that takes events one at a time (push).

        Args:
            schemas: The attributes and their types (``"int"``, ``"float"``, ``"string"``, ``"bool"``, ``"timestamp"``)
                of the event types that the program reads but does not declare.
            time_unit: The unit of integer times: ``us``, ``ms``, ``s``, ``min``, ``h`` or ``d``.  None: times are
                timestamps (datetime, ISO 8601 text, or microseconds since 1970).
            start: The start of the clock; earlier events are ignored.  Default: the time of the first event.
            because: Add ``label`` and ``because``, the constituents, to every detection.
            zone: The time zone of timers that do not name one.

        Returns:
            The live run, see :class:`occurs.Live`.

        Raises:
            UsageProblem: If the attributes of a type are not known (``missing-schema``).

        Examples:
            >>> import occurs
            >>> program = occurs.parse("define Hot(v: int) from Temp(Value > 45) where v = Temp.Value")
            >>> live = program.live({"Temp": {"Value": "int"}}, time_unit="s")
            >>> live.on_event("Temp", 60, {"Value": 50})
            []
            >>> live.advance(60)
            [{'type': 'Hot', 'time': 60, 'v': 50}]
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
        """Iterate over the detections in an iterable of events (pull).

        Args:
            events: Mappings with ``type``, ``time`` and the attributes, in time order.  No more events are consumed
                than the next detection needs.
            ended: Whether the history ends with the last event, so that open intervals are reported, too.
            options: The options of :meth:`live`.

        Returns:
            An iterator over detections, dicts with ``type``, ``time`` and the attributes.

        Raises:
            InputProblem: If an event is invalid.
            UsageProblem: If an option is invalid.

        Examples:
            >>> import occurs
            >>> rules = "event Temp(Value: int) define Hot(v) from Temp(Value > 45) where v = Temp.Value"
            >>> program = occurs.parse(rules)
            >>> events = [{"type": "Temp", "time": t, "Value": v} for t, v in [(0, 20), (60, 50)]]
            >>> list(program.stream(events, time_unit="s"))
            [{'type': 'Hot', 'time': 60, 'v': 50}]
        """
        return self.live(**options).stream(events, ended=ended)

    def explain(self, events: Any = None, **options: Any) -> Explanation:
        """Return the execution plan: inputs, evaluation order, state retention, partition keys.

        Args:
            events: Events as for :meth:`detect`, whose columns the plan then shows.  They are not processed.
            options: The options of :meth:`detect` that describe the input or change the plan, such as ``time_unit``.

        Returns:
            The plan, a string that prints itself at a prompt and in a notebook.  Its attribute ``data`` is the same
            plan as plain data (dicts, lists, text and numbers), which can be written as JSON.

        Raises:
            DefinitionProblem: If the rules do not fit the columns of the events.
            InputProblem: If a column is missing or rows are unreadable.
            UsageProblem: If an option is invalid.

        Examples:
            >>> import occurs
            >>> plan = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value").explain()
            >>> print(plan)
            Inputs (1 type):
            ...
            >>> [(group["types"], group["mode"]) for group in plan.data["spark"]]
            [(['Hot'], 'free')]
        """
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
        """Compare the engine with the reference semantics of the language on ``events``.

        EPL statements that can be translated to nets are also compared with their nets.

        Args:
            events: Events as for :meth:`detect`.  The reference is slow, so use a few thousand at most.
            max_events: The maximum number of events.
            first: The number of the first search in a net, 0 or 1 (epl-and-nets.md).
            options: The options of :meth:`detect` that describe the input or change the plan, such as ``time_unit``.

        Returns:
            A result with ``equal``, whether both agree, and ``report``, the differences as text.

        Raises:
            LimitProblem: If there are more than ``max_events`` events.
            DefinitionProblem: If the rules do not fit the columns of the events.
            InputProblem: If a column is missing or rows are unreadable.

        Examples:
            >>> import occurs, pyarrow as pa
            >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
            >>> events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
            >>> program.verify(events, time_unit="s").equal
            True
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
