"""A program as hosts and applications see it: its texts, checked; what it reads; and its plan over an input."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import pyarrow as pa

from occurs.checked_texts import Bound, Read
from occurs.connect.files import line_sources
from occurs.connect.tables import sources_of
from occurs.errors import (
    DefinitionProblem,
    InputProblem,
    Problem,
    UsageProblem,
    did_you_mean,
    hardened,
    raise_problems,
    without,
)
from occurs.languages.kit.language import MAX_FORMULA, Known
from occurs.model.collector import uncollected
from occurs.model.history import History, InputOptions, Source, listed, normalise
from occurs.model.source import schema_of_table
from occurs.model.ticks import time_unit as unit_of
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.model.values import short
from occurs.operators.definition import Definition, Node, Options, Subscribed
from occurs.options import Window, fact_tables, named, windows_of
from occurs.plan.notes import notes
from occurs.plan.stage import Stage, make_stage, stage_key


class CheckedProgram:
    """The checked texts of a program with the options of its plan.

    Attributes:
        problems: The warnings and notices of the rules.
        texts: The texts as (text, file name, language).
        values: The values of variables and parameters, by their names.
    """

    def __init__(
        self, texts: Sequence[tuple[str, str | None, str]] | Read, *, max_formula: int | None = None,
        folders: Mapping[str, Path] | None = None, values: Mapping[Any, Any] | None = None,
    ):  # fmt: skip
        """``texts``: (text, file name, language) triples, or what was read of them.  ``values``: of variables and
        parameters, by their names.  ``max_formula``: subformulas with
        free variables that a temporal trigger may have (64).  ``folders``: of texts that are files, by their names:
        there the rules may read further files."""
        self._folders = dict(folders or {})
        #: the texts as (text, file name, language); none of a program that was composed without text
        self.texts: list[tuple[str, str | None, str]] = [] if isinstance(texts, Read) else list(texts)
        self._read = texts if isinstance(texts, Read) else Read.of(texts)
        self._max_formula = MAX_FORMULA if max_formula is None else max_formula
        self.values = {str(name): value for name, value in (values or {}).items()}
        self._unbound = self._read.check(Known(max_formula=self._max_formula, values=self.values))
        # the order of the attributes of an input may still come from its table
        self.problems: list[Problem] = [p for p in self._unbound.problems if p.kind != "unknown-order"]
        raise_problems([*self._read.problems, *self.problems])
        takes = frozenset().union(*(part.takes for part in self._unbound.parts.values()))
        for name in (n for n in self.values if n not in takes):
            text = f"the rules have no variable or parameter `{name}`"
            raise UsageProblem.of("bad-option", text, hint=did_you_mean(name, takes, "names of values"))
        self._options = PlanOptions()
        self._facts: dict[str, pa.Table] = {}
        #: the latest binding with the problems that it adds to those of the texts, and the latest plan, each behind all
        #: that it depends on; shared by copies with other options
        self._bounds: list[tuple[Known, Bound, list[Problem]]] = []
        self._plans: list[tuple[Any, Stage]] = []

    # -- planning ----------------------------------------------------------------------------------------------------
    def adjusted(
        self, *, zone: str = "UTC", facts: Mapping[str, Any] | None = None, strict: bool = False,
        require_bounds: bool = False, window: Any = None, step: Any = None, provisional: bool = False,
        timeouts: bool = False, max_instances: int | None = None, max_steps: int | None = None,
    ) -> CheckedProgram:  # fmt: skip
        """Return this program with other options of its plan, which are those of :meth:`occurs.Program.detect`.

        Raises UsageProblem for an invalid option, and DefinitionProblem if one makes an error of a warning.
        """
        tables = fact_tables({} if facts is None else facts, self._unbound.facts)
        parts = {} if window is None else self._unbound.parts  # the nodes of thousands of rules take a while
        others = [n for n, part in parts.items() if (part.nodes or part.subscribed) and not part.windows]
        out = self._with(
            zone=zone, strict=strict, require_bounds=require_bounds, window=windows_of(window, step, others),
            provisional=provisional, timeouts=timeouts, max_instances=max_instances, max_steps=max_steps,
        )  # fmt: skip
        if provisional and out.window is not None:
            hint = "a query reports the intervals that are open, so leave out --provisional"
            raise UsageProblem.of("unsupported", "provisional rows are not available with --window", hint=hint)
        out._facts = tables
        out._options.judge(self.problems)
        return out

    def spelled(self) -> CheckedProgram:
        """This program of texts that have values in the places of variables and parameters."""
        texts = list(self.texts)
        for name, part in self._unbound.parts.items() if texts else ():
            numbers = self._read.numbers[name]
            for number, text in zip(numbers, part.spelled([texts[n][0] for n in numbers]), strict=True):
                texts[number] = (text, *texts[number][1:])
        if texts == self.texts:
            return self
        out = CheckedProgram(texts, max_formula=self._max_formula, folders=self._folders)
        out._options, out._facts = self._options, self._facts
        return out

    def _with(self, **options: Any) -> CheckedProgram:
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

    def reasoning(self) -> CheckedProgram:
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

    def noticing(self) -> CheckedProgram:
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

    @uncollected()
    def _planned(self, schemas: Mapping[str, Schema] | None, kind: TimeKind) -> Stage:
        bound = self.bind(schemas, kind)
        definitions = self._compiled(bound, kind, schemas)
        self._options.judge([w for d in definitions for w in d.warnings])
        sides = [side for d in definitions for side in d.sides]
        if self._options.timeouts and all(side.notices for side in sides):
            hint = "only EPL patterns with `timer:within` and row patterns with WITHIN report timeouts"
            raise UsageProblem.of("bad-option", "timeouts: no definition of this program can time out", hint=hint)
        subscribed = bound.subscribed
        subscribed = subscribed + [Subscribed(side.type, None) for side in sides] if subscribed else []
        nothing = {s.type: Schema() for s in subscribed}  # of types that nobody knows: reported without rows
        everything = {**nothing, **(schemas or {}), **bound.schemas, **{side.type: side.schema for side in sides}}
        same: dict[Schema, Schema] = {}  # of thousands of types few schemas differ: one object of those that are equal
        everything = {t: same.setdefault(s, s) for t, s in everything.items()}
        return make_stage(definitions, everything, kind, subscribed, stage_key(definitions))

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
        return Known(schemas, kind, zone, facts, window=length, max_formula=self._max_formula, values=self.values)

    def _compiled(self, bound: Bound, kind: TimeKind, schemas: Mapping[str, Schema] | None) -> list[Definition]:
        return self._options.applied(bound.definitions(kind, self._facts), bound, schemas or {})

    def definitions(self, schemas: Mapping[str, Schema], kind: TimeKind) -> list[Definition]:
        """The compiled definitions over input of these schemas."""
        return self._compiled(self.bind(schemas, kind), kind, schemas)

    @property
    def facts(self) -> Mapping[str, pa.Table]:
        """The tables of facts with their declared columns."""
        return self._facts

    def plan_without_data(self, time_unit: str | None = None) -> Stage:
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

    def check(self, schemas: Mapping[str, Schema] | None = None, kind: TimeKind | None = None) -> list[Problem]:
        """All problems of the rules over input with these schemas, see :meth:`occurs.Program.check`."""
        problems = list(self._read.check(self._known(schemas, kind)).problems)
        if any(p.severity == "error" for p in problems):
            return problems
        try:
            stage = self.plan(schemas, kind) if kind is not None else self.plan_without_data()
        except DefinitionProblem as error:
            return problems + without(error.problems, problems)
        return problems + notes(stage)

    # -- input -------------------------------------------------------------------------------------------------------
    @property
    def declared(self) -> dict[str, Schema]:
        """Schemas that the texts declare or define."""
        return self._unbound.declared

    @property
    def assigned(self) -> Mapping[int, str]:
        """Names given to numeric type ids of the data (TESLA's Assign)."""
        return self._unbound.assigned

    @property
    def reads(self) -> set[str]:
        """The types that the program reads."""
        return set(self._unbound.reads)

    @property
    def external(self) -> set[str]:
        """The types that the input is to have: the program reads them, and no definition or text file makes them."""
        return self.reads - self._unbound.defined - self._unbound.text_files.keys()

    @property
    def defined(self) -> set[str]:
        """The types that definitions make."""
        return set(self._unbound.defined)

    @property
    def reads_all(self) -> bool:
        """Does a definition look at the rows of every type, whether the program knows it or not?"""
        return self._unbound.reads_all

    @property
    def reads_lists(self) -> bool:
        """Do definitions read columns of lists?"""
        return self._unbound.reads_lists

    @property
    def elements(self) -> frozenset[str]:
        """The elements of lists and maps that definitions read."""
        return self._unbound.elements

    def lines(self, given: Any, options: InputOptions) -> list[Source]:
        """The lines of the text files that definitions read, but of those ``given`` already.  Raises InputProblem."""
        files = {t: f for t, f in self._unbound.text_files.items() if t not in given}
        return line_sources(files, self._folders, options)

    def refuse_open(self) -> None:
        """Raise DefinitionProblem if a definition needs a history that is closed."""
        raise_problems(self._unbound.closed_only)

    def refuse_files(self, where: str) -> None:
        """Raise UsageProblem if a definition reads a text file, which ``where`` cannot; and as :meth:`refuse_open`."""
        self.refuse_open()
        for file in self._unbound.text_files.values():
            text = f"`{file.definition}` reads FILE {file.path!r}, which can only be read as a history, not as {where}"
            hint = "use `occurs run` or Program.detect on tables, or pass the lines as events"
            raise UsageProblem.of("unsupported", text, file=file.file, span=file.span, hint=hint)

    def input_options(self, options: InputOptions) -> InputOptions:
        """The options with what the program says of its input; these are returned as they are."""
        names = {str(i): n for i, n in self.assigned.items()}
        if (options.type_names, options.lists, options.elements) == (names, self.reads_lists, self.elements):
            return options
        return replace(options, type_names=names, lists=self.reads_lists, elements=self.elements)

    def history(
        self, events: Any, options: InputOptions, *, declared: bool = False, after: int | None = None,
        schemas: Mapping[str, Schema] | None = None,
    ) -> History:  # fmt: skip
        """The input as a history: ``events`` is a table, a mapping from types to tables, or sources of files.

        ``declared``: keep rows of all declared types, read by a definition or not.  ``after``: leave out rows up to
        this tick.  ``schemas``: of types, instead of those that the program declares.
        """
        options = self.input_options(options)
        inputs = sorted(self.reads | set(self._unbound.declared) if declared else self.reads)
        given = sources_of(named(events, self.assigned))
        sources = listed(given)
        history = normalise(
            [*sources, *self.lines(given, options)],
            schemas=self._unbound.declared if schemas is None else schemas,
            inputs=None if self.reads_all else inputs,
            external=sorted(self.external),
            options=options,
            after=after,
        )
        self.refuse_owned(history.schemas)
        unread = self.unread((s.type, s.file) for s in sources)
        return replace(history, notices=[*history.notices, *unread])

    def unread(self, tables: Iterable[tuple[str | None, str | None]]) -> list[Problem]:
        """Warnings about tables that were given for a type, each with its file, of which no rule reads that type."""
        if self._unbound.reads_all:
            return []
        files: dict[str, str | None] = {}
        for name, file in tables:
            if name and name not in self.reads and name not in self._unbound.defined:
                files.setdefault(name, file)
        return [
            Problem(
                "unread-type", f"no rule reads events of type `{name}`", severity="warning", file=file,
                hint=did_you_mean(name, self.external, "types"),
            )
            for name, file in files.items()
        ]  # fmt: skip

    def defined_schema(self, type: str) -> Schema | None:
        """The schema of a type that a definition makes, as far as the texts alone say; None if there is none."""
        return self._unbound.schemas.get(type) if type in self._unbound.defined else None

    @property
    def folders(self) -> Mapping[str, Path]:
        """The folders of texts that are files, by their names."""
        return self._folders

    @property
    def owned(self) -> frozenset[str]:
        """Types of which only definitions may make rows."""
        return self._unbound.owned

    def refuse_owned(self, types: Iterable[str]) -> None:
        """Raise InputProblem if one of the ``types`` that the input has is ``owned``."""
        present = sorted(self.owned & set(types))
        if present:
            text = f"the rules define `{present[0]}`, but the input also has rows of this type"
            raise InputProblem.of("conflicting-values", text, hint="rename the definition or the input type")


@dataclass(frozen=True)
class PlanOptions:
    """See :meth:`CheckedProgram.adjusted`; two plans of one program and of equal options are the same.

    ``window``: length and step, as they were given.  ``never``: it is told of triggers that they can fire no more.
    ``because``: of what detections are made is known.
    """

    zone: str = "UTC"
    strict: bool = False
    require_bounds: bool = False
    window: tuple[Any, Any] | None = None
    provisional: bool = False
    timeouts: bool = False
    max_instances: int | None = None
    max_steps: int | None = None
    never: bool = False
    because: bool = False

    def but(self, **changed: Any) -> PlanOptions:
        """These with some of them changed.  Raises UsageProblem for values that cannot be."""
        options = replace(self, **changed)
        hint = 'use a name such as "Europe/Rome" or "UTC"'
        if not isinstance(options.zone, str):
            raise UsageProblem.of("bad-option", f"zone must be text, not {short(options.zone)}", hint=hint)
        try:
            ZoneInfo(options.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            ends = [z for z in sorted(available_timezones()) if z.lower().endswith(f"/{options.zone.lower()}")]
            hint = f"did you mean `{ends[0]}`?" if ends else hint
            raise UsageProblem.of("bad-option", f"`{options.zone}` is not a time zone", hint=hint) from None
        for name, most in (("max_instances", options.max_instances), ("max_steps", options.max_steps)):
            if most is None or (isinstance(most, int) and 1 <= most < 2**63):
                continue
            text = f"invalid {name}: {short(most)}"
            raise UsageProblem.of("bad-option", text, hint="use a whole number of at least 1")
        return options

    def judge(self, problems: list[Problem]) -> None:
        """Raise DefinitionProblem if an option makes errors of warnings."""
        found = hardened(problems, strict=self.strict, require_bounds=self.require_bounds)
        if found != problems:
            raise DefinitionProblem([p for p in found if p.severity != "notice"])

    def applied(self, definitions: list[Definition], bound: Bound, schemas: Mapping[str, Schema]) -> list[Definition]:
        """The compiled definitions of ``bound`` as the options want them.  ``schemas``: of the input."""
        out = list(definitions)
        if self.timeouts:
            first = max((d.place for d in definitions), default=-1) + 1
            for d in definitions:
                ended = d.timeouts(first + len(out) - len(definitions))
                out += [] if ended is None else [ended]
        reasons = {**schemas, **bound.schemas} if self.because else None
        asked = Options(reasons, self.provisional, self.never, self.max_instances, steps=self.max_steps)
        return [d.adapted(asked) for d in out]
