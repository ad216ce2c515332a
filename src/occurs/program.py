"""Programs: texts to definitions, definitions to a plan, a plan to a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import kind_of
from occurs.errors import Problem, UsageProblem
from occurs.hosts.detections import Detections
from occurs.hosts.live import Detection, Live, Time
from occurs.hosts.local import detect as in_this_process
from occurs.model.elements import with_elements_of
from occurs.model.history import History, InputOptions
from occurs.model.ticks import instant
from occurs.model.ticks import time_unit as unit_of
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import short
from occurs.operators.definition import Node
from occurs.options import (
    DetectOptions,
    among,
    check_flags,
    check_host,
    named,
    sample_of,
    schema_of,
    split_options,
    without_lists,
)
from occurs.progress import Told

if TYPE_CHECKING:
    from occurs.checked_texts import Read
    from occurs.explain.why import Why
    from occurs.explain.whynot import WhyNot
    from occurs.explanation import Explanation

#: a kind of table
Events = TypeVar("Events")


class Program:
    """A set of definitions, which can be checked, explained and run on events.

    Use :func:`occurs.load` or :func:`occurs.parse` to make one.  The same program runs on a finished history and on a
    stream, in this process and on Spark, and detects the same in each.

    Attributes:
        problems: The warnings and notices of the rules.
        checked: The checked program, as hosts and applications see it.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
        >>> program.detect(events, time_unit="s")["Hot"].to_pylist()
        [{'type': 'Hot', 'time': 60, 'v': 50}]
    """

    def __init__(
        self, texts: Sequence[tuple[str, str | None, str]] | Read | CheckedProgram, *, max_formula: int | None = None,
        folders: Mapping[str, Path] | None = None, values: Mapping[Any, Any] | None = None,
    ):  # fmt: skip
        """``texts``, ``max_formula``, ``folders``, ``values``: as for
        :class:`occurs.checked_program.CheckedProgram`."""
        if not isinstance(texts, CheckedProgram):
            texts = CheckedProgram(texts, max_formula=max_formula, folders=folders, values=values)
        self.checked = texts
        self.problems: list[Problem] = texts.problems

    def __repr__(self) -> str:
        return f"Program({', '.join(dict.fromkeys(node.defines for _, node in self.outline))})"

    def _repr_html_(self) -> str:
        from occurs.explanation import summary

        return summary(self.checked)

    @property
    def outline(self) -> list[tuple[str, Node]]:
        """The definitions in the order of the rules, as (language, node) pairs.

        A node has the type that the definition defines and the types that it reads.
        """
        return self.checked.outline

    @property
    def declared(self) -> dict[str, Schema]:
        """The schemas that the rules declare for their input."""
        return self.checked.declared

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
        return self.checked.check(schemas, kind)

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
        max_steps: int | None = None,
        progress: bool | Told | None = None,
        **host: Any,
    ) -> Detections[Any]:
        """Detect everything that the program defines in ``events``.

        Args:
            events: A table with a type column, or a mapping from event types to tables.  Tables of pandas, Arrow,
                Polars, DuckDB, Ibis and narwhals are processed in this process, Spark DataFrames (batch or streaming)
                on Spark.
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
            timeouts: Also collect the partial matches that EPL's ``timer:within`` or WITHIN of row patterns ended, in
                ``timeouts`` of the result.
            max_instances: The maximum number of partial matches per definition, on Spark per partition.
                Default: 10 million.
            max_steps: The maximum number of steps of the search for one match (MATCH_RECOGNIZE).  Default: 100 million.
            progress: Show a progress bar for a run in this process, or call a function with how far it is, from time
                to time.  None: a bar, only in a notebook.
            host: Options of Spark, such as ``partitions``.  With ``session``, a Spark session, tables of this process
                run on Spark, too.

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
        given = locals()
        check_flags(given)
        program = self.checked.adjusted(**among(given, "rules", "run"))
        program = program.reasoning() if because else program
        options = InputOptions(**among(given, "input"))
        events = named(events, program.assigned)
        if not ended:
            program.refuse_open()
        sample = sample_of(events)
        on_spark = sample is not None and kind_of(sample) == "spark"
        streaming = on_spark and sample.isStreaming
        if provisional and not streaming:
            hint = "a history is complete: intervals that are open at its end are reported with a null `end`"
            raise UsageProblem.of("bad-option", "provisional rows are only available on a stream", hint=hint)
        session = host.pop("session", None)
        check_host(host, *["spark"] * (on_spark or session is not None), *["stream"] * streaming)
        if on_spark or session is not None:
            program.require("spark")
            host |= {"because": because, "with_label": with_label or because, "only": only}
            if streaming:
                from occurs.hosts.stream.detect import detect as in_stream

                return in_stream(program, events, options, **host)
            from occurs.hosts.spark import detect as in_batch

            return in_batch(program, events, options, ended=ended, session=None if on_spark else session, **host)
        program = program.noticing()
        history = program.history(events, replace(options, coded=True))
        return in_this_process(
            program, history, sample=sample, started=start is not None, ended=ended, because=because,
            with_label=with_label, only=only, progress=progress,
        )  # fmt: skip

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
        self.checked.refuse_files("single events")
        check_flags({"because": because})
        kind = TimeKind() if time_unit is None else TimeKind(False, unit_of(time_unit))
        if schemas is not None and not isinstance(schemas, Mapping):
            text = f"schemas must be a mapping from event types to attributes, not {short(schemas)}"
            raise UsageProblem.of("bad-option", text)
        given = {t: schema_of(t, s) for t, s in (schemas or {}).items()}
        if self.checked.elements:
            given = {t: with_elements_of(s, self.checked.elements) for t, s in given.items()}
        if not self.checked.reads_lists:
            given = {t: without_lists(s) for t, s in given.items()}
        known = {**self.declared, **given}
        missing = sorted(t for t in self.checked.external if t not in known or Type.NULL in dict(known[t]).values())
        if missing:
            text = f"the attributes of {', '.join(f'`{t}`' for t in missing)} are not fully known"
            hint = f"declare them in the rules, `event {missing[0]}(Name: type, ..)`, or pass schemas="
            raise UsageProblem.of("missing-schema", text, hint=hint)
        first = None if start is None else instant(start, kind, "start")
        program = self.checked.adjusted(zone=zone).noticing()
        program = program.reasoning() if because else program

        options = program.input_options(InputOptions(time_unit=time_unit))

        def intake(events: Any, after: int | None) -> History:
            return program.history(events, options, after=after, schemas=known)

        return Live(program.plan(known, kind), intake, labelled=because, start=first)

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
        from occurs.explanation import Explanation

        input_options, rest = split_options(options)
        program = self.checked.adjusted(**rest)
        if events is None:
            return Explanation.of(program.plan_without_data(input_options.time_unit))
        events = named(events, program.assigned)
        sample = sample_of(events)
        if sample is not None and kind_of(sample) == "spark":
            program.require("spark")
            from occurs.hosts.spark import read

            source = read(program, events, input_options)
            return Explanation.of(program.plan(source.schemas, source.kind))
        history = program.history(events, input_options)
        return Explanation.of(program.plan(history.schemas, history.kind))

    def why(
        self, row: Any, events: Any, *, between: Any = None, max_rows: int = 100_000, **input: Any
    ) -> Why:  # fmt: skip
        """Explain why a detection exists: its derivation down to the events, with everything that was checked.

        Args:
            row: A row of the detections (a mapping, a Series, a Row), or its label, 32 hexadecimal digits.
            events: The events in which it was detected, as for :meth:`detect`.
            between: The time of the detection, which limits the events that are read.
            max_rows: The maximum number of events that are read into this process.
            input: The options of :meth:`detect` that describe the input, such as ``time_unit``.

        Returns:
            The answer, see :class:`occurs.Why`.

        Raises:
            UsageProblem: If the row is not detected in these events (``unknown-row``), or an option is invalid.
            LimitProblem: If more than ``max_rows`` events are needed.
            DefinitionProblem: If the rules do not fit the columns of the events.
            InputProblem: If a column is missing or rows are unreadable.

        Examples:
            >>> import occurs, pyarrow as pa
            >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
            >>> events = pa.table({"type": ["Temp"], "time": [60], "Value": [50]})
            >>> print(program.why({"type": "Hot", "time": 60, "v": 50}, events, time_unit="s"))
            Hot  60  v = 50
              Temp  60  Value = 50
              ✓ Temp.Value = 50 > 45
        """
        from occurs.explain.input import Input
        from occurs.explain.why import why

        adjusted, given = Input.of(self.checked.spelled(), events, input)
        return why(adjusted, row, given, between=between, max_rows=max_rows)

    def why_not(
        self,
        type: str,
        /,
        events: Any,
        *,
        where: Mapping[str, Any] | None = None,
        between: Any = None,
        edits: int = 2,
        limit: int = 10,
        late: Any = None,
        reach: Any = None,
        max_rows: int = 100_000,
        max_variants: int = 20_000,
        **input: Any,
    ) -> WhyNot:
        """Explain why an expected detection does not exist: the smallest repairs of the rules that detect it.

        Each reason is a set of clauses of the rules, with the values that they met and needed, and a repaired program
        that was run and detects the row.

        Args:
            type: The type of the detection, by position (the keyword ``type`` names the column, as in :meth:`detect`).
            events: Events as for :meth:`detect`.
            where: The values of attributes that the detection should have.  None as a value means null.
            between: The time of the detection: an instant, or a pair of instants, both included, as ISO 8601 text,
                datetime or ticks.  None: any time.
            edits: The maximum number of clauses of a reason, from 1 to 4.
            limit: The maximum number of reasons.
            late: Rows that arrived too late (``found.late`` of a stream), which a reason may let in.
            reach: How far before ``between`` events are read, a duration.  None: as far as ``max_rows`` allows.
            max_rows: The maximum number of events that are read into this process.
            max_variants: The maximum number of relaxed programs that are tried.
            input: The options of :meth:`detect` that describe the input, such as ``time_unit``.

        Returns:
            The answer, see :class:`occurs.WhyNot`.

        Raises:
            UsageProblem: If the type, an attribute or an option is invalid, or ``events`` is a stream.
            LimitProblem: If the question needs more than ``max_rows`` events.
            DefinitionProblem: If the rules do not fit the columns of the events.
            InputProblem: If a column is missing or rows are unreadable.

        Examples:
            >>> import occurs, pyarrow as pa
            >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
            >>> events = pa.table({"type": ["Temp"], "time": [60], "Value": [44]})
            >>> reason = program.why_not("Hot", events, time_unit="s").reasons[0]
            >>> reason.clauses[0].repair
            'Value >= 44'
            >>> reason.program.detect(events, time_unit="s")["Hot"].to_pylist()
            [{'type': 'Hot', 'time': 60, 'v': 44}]
        """
        from occurs.explain.input import Input
        from occurs.explain.whynot import why_not

        adjusted, given = Input.of(self.checked.spelled(), events, input)
        return why_not(
            adjusted, type, given, where=where, between=between, edits=edits, limit=limit, late=late, reach=reach,
            max_rows=max_rows, max_variants=max_variants, build=self.__class__,
        )  # fmt: skip

    def verify(
        self,
        events: Any,
        *,
        max_events: int = 20_000,
        first: int = 0,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> Any:
        """Compare the engine with the reference semantics of the language on ``events``.

        EPL statements that can be translated to nets are also compared with their nets.

        Args:
            events: Events as for :meth:`detect`.  The reference is slow, so use a few thousand at most.
            max_events: The maximum number of events.
            first: The number of the first search in a net, 0 or 1 (epl-and-nets.md).
            progress: A function that is called with the number of sides that are done and that of all.
            options: The options of :meth:`detect` that describe the input or change the plan, such as ``time_unit``.

        Returns:
            A result with ``equal``, whether both agree, ``report``, the differences as text, and the same as data:
            ``sides``, ``counts``, ``differences``, ``firings``.

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
        program = self.checked.adjusted(**rest)
        if "epl" in program.languages:
            from occurs.verify import nets as nets_verify

            return nets_verify.verify(
                program, events, input_options, max_events=max_events, first=first, progress=progress
            )
        from occurs.verify.reference import verify

        return verify(program, events, input_options, max_events=max_events, progress=progress)
