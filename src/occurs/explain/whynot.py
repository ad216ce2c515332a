"""Why an expected detection does not exist: the question, the search and the answer (why.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import like
from occurs.errors import OccursError, UsageProblem, did_you_mean
from occurs.explain.describing import Clause, Description, Witness
from occurs.explain.input import Input, Sliced, without_because
from occurs.explain.question import Question
from occurs.explain.search import Search, Solution
from occurs.explain.tree import Trees
from occurs.explain.words import json_time, value_text, when
from occurs.explain.world import Site, World
from occurs.expr.text import Text
from occurs.hosts.local import detect
from occurs.languages.kit.clauses import Clause as RuleClause
from occurs.languages.kit.clauses import Edit
from occurs.model.astext import dumps
from occurs.model.history import History
from occurs.model.time import TimeKind

if TYPE_CHECKING:
    from occurs.plot.timeline import Timeline

#: the columns of the table, in their order
COLUMNS = (
    ("reason", pa.int32()), ("cost", pa.int32()), ("part", pa.int32()), ("kind", pa.string()), ("type", pa.string()),
    ("time", None), ("end", None), ("label", pa.string()), ("clause", pa.string()), ("place", pa.string()),
    ("found", pa.string()), ("needed", pa.string()), ("repair", pa.string()), ("message", pa.string()),
    ("definition", pa.string()), ("file", pa.string()), ("line", pa.int32()), ("column", pa.int32()),
    ("verified", pa.bool_()),
)  # fmt: skip


class Repaired(Protocol):
    """A program as users have it."""

    checked: CheckedProgram
    #: as :meth:`occurs.Program.detect`
    detect: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Reason:
    """A smallest set of clauses without which the asked row would have been detected.

    Attributes:
        number: The place of the reason, from 1.
        cost: How many clauses are relaxed.
        clauses: The clauses, in the order of the rules.
        program: The repaired program; it detects the asked row in ``events``.
        texts: The repaired texts by file name (``rules`` for a text without one).
        events: The events with the added row; those that were asked about if none is added.  They are put together
            when they are first read.
        added: The row that is added, or None.
        row: The row that the repaired program detects.
        verified: Whether the repaired program was run.
        witness: The rows that the detected row is made of, and those at which clauses failed.
    """

    number: int
    cost: int
    clauses: tuple[Clause, ...]
    program: Repaired = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)
    given: Callable[[], Any] = field(repr=False)
    added: Mapping[str, Any] | None
    row: Mapping[str, Any]
    verified: bool
    witness: tuple[Witness, ...] = field(repr=False, default=())
    repair: str = ""
    windows: tuple[tuple[str, int, int], ...] = field(repr=False, default=())

    @cached_property
    def events(self) -> Any:
        """The events in which the repaired program detects the row."""
        return self.given()


@dataclass(frozen=True)
class WhyNot:
    """The answer to :meth:`occurs.Program.why_not`; as text it prints all reasons.

    Attributes:
        found: Whether the row was detected after all; then there are no reasons.
        rows: The detected rows that fit, if ``found``.
        reasons: The reasons, the nearest first.
        complete: Whether no repair was left untried.
        notes: Remarks on the search and the events, as text.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> events = pa.table({"type": ["Temp"], "time": [60], "Value": [44]})
        >>> answer = program.why_not("Hot", events, time_unit="s")
        >>> answer.reasons[0].clauses[0].message
        'Temp.Value = 44 at 60, needed > 45'
    """

    question: Question = field(repr=False)
    found: bool
    rows: Any
    reasons: tuple[Reason, ...]
    complete: bool
    notes: tuple[str, ...]
    sample: Any = field(repr=False, default=None)

    @property
    def kind(self) -> TimeKind:
        """The kind of the times."""
        return self.question.kind

    @cached_property
    def table(self) -> Any:
        """The clauses of all reasons, one row each, as a table of the kind of the events."""
        return like(self.sample, self.arrow)

    @property
    def arrow(self) -> pa.Table:
        """The table as Arrow."""
        return table_of(COLUMNS, [c for r in self.reasons for c in r.clauses], self.kind)

    def text(self, *, ascii: bool = False) -> str:
        """Return the answer as text.

        Args:
            ascii: Use the signs ``+ x .`` in place of ``✓ ✗ ·``.
        """
        from occurs.explain.text import why_not_text

        return why_not_text(self, ascii=ascii)

    def __str__(self) -> str:
        return self.text()

    def timeline(self) -> Timeline:
        """Return a timeline with a group per reason: its rows, its windows, the rows at which clauses failed."""
        from occurs.explain.picture import why_not_timeline

        return why_not_timeline(self)

    def _repr_html_(self) -> str:
        from occurs.explain.picture import html_of

        return html_of(self.text(), self.timeline() if self.reasons else None)

    def to_json(self) -> str:
        """Return the answer as JSON (why.md, section 9)."""
        return dumps(self.data())

    def data(self) -> dict[str, Any]:
        """Return the answer as plain data (why.md, section 9)."""
        q, kind = self.question, self.kind
        between = [json_time(q.first, kind), json_time(q.last, kind)]
        return {
            "question": {"type": q.type, "where": dict(q.given), "between": between},
            "found": self.found,
            "complete": self.complete,
            "notes": list(self.notes),
            "reasons": [_reason_data(r, kind) for r in self.reasons],
        }


def _reason_data(reason: Reason, kind: TimeKind) -> dict[str, Any]:
    clauses = []
    for c in reason.clauses:
        row = {name: getattr(c, name) for name, _ in COLUMNS}
        clauses.append(row | {"time": json_time(c.time, kind), "end": json_time(c.end, kind)})
    witness = [
        {
            "role": w.role, "type": w.type, "time": json_time(w.time, kind), "end": json_time(w.end, kind),
            "label": w.label, "attributes": dict(w.attributes), "ok": w.ok, "parent": w.parent,
        }
        for w in reason.witness
    ]  # fmt: skip
    return {
        "number": reason.number, "cost": reason.cost, "verified": reason.verified, "clauses": clauses,
        "witness": witness, "texts": dict(reason.texts),
        "added": None if reason.added is None else dict(reason.added),
    }  # fmt: skip


def table_of(columns: Sequence[tuple[str, Any]], rows: Sequence[Any], kind: TimeKind) -> pa.Table:
    """Objects with the attributes ``columns`` as a table; columns without a type are times."""
    of = pa.timestamp("us", tz="UTC") if kind.timestamp else pa.int64()
    out = {}
    for name, t in columns:
        values = [getattr(r, name) for r in rows]
        out[name] = pa.array(values, t) if t is not None else pa.array(values, pa.int64()).cast(of)
    return pa.table(out)


# -- asking ------------------------------------------------------------------------------------------------------------
def why_not(
    program: CheckedProgram, type: str, given: Input, *, where: Any = None, between: Any = None, edits: int = 2,
    limit: int = 10, late: Any = None, reach: Any = None, max_rows: int = 100_000, max_variants: int = 20_000,
    build: Callable[[CheckedProgram], Any],
) -> WhyNot:  # fmt: skip
    """Answer a question about a missing detection, see :meth:`occurs.Program.why_not`.

    ``build``: a program for users, of a checked one.
    """
    for name, value, least, most in (
        ("edits", edits, 1, 4), ("limit", limit, 1, None), ("max_rows", max_rows, 1, None),
        ("max_variants", max_variants, 1, None),
    ):  # fmt: skip
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        if not fits or (most is not None and value > most):
            wanted = f"from {least} to {most}" if most is not None else f"of at least {least}"
            raise UsageProblem.of("bad-option", f"{name} must be a whole number {wanted}, not {value!r}")
    check_type(program, type)
    sliced = given.history(program, type, between, reach=reach, max_rows=max_rows, where=where)
    history = sliced.history
    bound = program.bind(history.schemas, history.kind)
    schema = bound.schemas[type]
    question = Question.of(type, where, between, schema, history.kind, sliced.clock)
    found = detect(program.reasoning(), history, ended=given.ended, because=True, progress=False)
    if type not in found.types:
        raise UsageProblem.of(
            "unknown-name", f"`{type}` is not reported", hint=did_you_mean(type, found.types, "types")
        )
    fitting = found.only(type, question.fits)
    notes = [*sliced.notes, *_beyond(question, sliced), *_implied(program, history)]
    if len(fitting):
        rows = like(given.sample, without_because(fitting))
        return WhyNot(question, True, rows, (), True, tuple(notes), given.sample)
    return Asked(program, given, sliced, question, found, notes, build).answer(edits, limit, late, max_variants)


def _beyond(question: Question, sliced: Sliced) -> list[str]:
    """A note if the asked time is not within the clock, where no event can be missing."""
    if sliced.clock is None or not question.bounded:
        return []
    first, last = sliced.clock
    if question.first > last:
        end = when(last, question.kind)
        return [f"the time of the question is after the end of the run, {end}; until= (--until) sets a later end"]
    if question.last < first:
        start = when(first, question.kind)
        text = f"the time of the question is before the start of the run, {start}"
        return [f"{text}; start= (--start) sets an earlier one"]
    return []


def _implied(program: CheckedProgram, history: History) -> list[str]:
    """Notes on types without rows that rules read without naming them."""
    definitions = program.plan(history.schemas, history.kind).definitions
    found = [(t, hint) for d in definitions for t, hint in d.implied.items() if t in d.reads]
    return [f"there is no row of type `{t}`: {hint}" for t, hint in found if not len(history.tables.get(t, ()))]


def check_type(program: CheckedProgram, type: str) -> None:
    """Raise UsageProblem if no definition makes rows of a type."""
    if type in program.defined:
        return
    if type in program.external or type in program.declared:
        text = f"`{type}` is an input type: its rows are given, not detected"
        raise UsageProblem.of("unknown-name", text, hint=f"defined types: {', '.join(sorted(program.defined))}")
    hint = did_you_mean(str(type), program.defined, "types")
    raise UsageProblem.of("unknown-name", f"no definition makes `{type}`", hint=hint)


class Asked:
    """One question, from the sites to the answer.  ``found``: what the program as it is detects."""

    def __init__(
        self, program: CheckedProgram, given: Input, sliced: Sliced, question: Question, found: Any, notes: list[str],
        build: Callable[[CheckedProgram], Any],
    ):  # fmt: skip
        self.build = build
        self.program, self.given, self.sliced, self.question, self.notes = program, given, sliced, question, notes
        self.kind = question.kind
        self.before = found
        self.world = World(
            program, sliced.history, question.type, zone=given.zone, ended=given.ended, fixed_clock=given.fixed
        )
        self.worlds: dict[tuple[bool, bool], World] = {(False, False): self.world}

    def answer(self, edits: int, limit: int, late: Any, max_variants: int) -> WhyNot:
        """Search and describe."""
        sites = [*self._input_sites(late), *self.world.sites]
        self._constants()
        search = Search(
            self.world, self.question, sites, edits=edits, limit=limit, max_variants=max_variants,
            world_of=self._world_of,
        )  # fmt: skip
        reasons: list[Reason] = []

        def verified(solution: Solution) -> bool:
            reason = self._described(len(reasons) + 1, solution)
            reasons.extend(() if reason is None else (reason,))
            return reason is not None

        found = search.run(verified)
        notes = [*self.notes, *found.notes, *(() if reasons else self._without_rows())]
        complete = found.complete and self.sliced.complete
        return WhyNot(
            self.question, False, None, tuple(reasons), complete, tuple(dict.fromkeys(notes)), self.given.sample
        )

    # -- clauses of the input ----------------------------------------------------------------------------------------
    def _input_sites(self, late: Any) -> list[Site]:
        out = []
        for type, row in self.given.late_rows(self.program, late, self.world.inputs):
            clause = RuleClause("late", 0, 0, f"late row of {type}", type=type, detail={"row": row})
            out.append(Site(None, clause, (-1, 0)))
        if self.given.cut and self.sliced.outside is not None:
            outside = self.sliced.outside
            rows = [
                (t, table["time"].to_pylist()) for t, table in sorted(outside.tables.items()) if t in self.world.inputs
            ]
            clock = self.sliced.history.clock
            inside = {t: len(table) for t, table in self.sliced.history.tables.items()}
            more = [
                (at, t) for t, times in rows if len(times) > inside.get(t, 0)
                for at in times if clock is None or not clock[0] <= at <= clock[1]
            ]  # fmt: skip
            if more:
                out.append(
                    Site(
                        None,
                        RuleClause("outside", 0, 0, "rows outside the clock", detail={"rows": sorted(more)}),
                        (-1, 0),
                    )
                )
        if not self.given.ended:
            out.append(Site(None, RuleClause("pending", 0, 0, "the end of the input"), (-1, 0)))
        return out

    def _world_of(self, sites: Sequence[Site]) -> World:
        kinds = {s.kind for s in sites}
        key = "outside" in kinds, "pending" in kinds
        if key not in self.worlds:
            outside = self.sliced.outside if key[0] else None
            history = self.sliced.history if outside is None else outside
            self.worlds[key] = World(
                self.program, history, self.question.type, zone=self.given.zone, ended=self.given.ended or key[1],
                fixed_clock=(False, False) if key[0] else self.given.fixed,
            )  # fmt: skip
        return self.worlds[key]

    def _constants(self) -> None:
        """Notes on assignments that contradict the question."""
        for rule in self.world.makers(self.question.type):
            for name, value in self.question.where.items():
                if name in rule.clauses.fixed:
                    is_always, at = rule.clauses.fixed[name]
                    if is_always != value:
                        span = Text(self.world.texts[rule.text][0], None).span(at, at)
                        self.notes.append(f"{name} is always {value_text(is_always)}: {span.line}:{span.column}")

    def _without_rows(self) -> list[str]:
        """Notes on types of the input that the rules need, and of which there is no row."""
        tables = self.sliced.history.tables
        read = {t for rule in self.world.closure for t in rule.clauses.positive if t in self.world.inputs}
        return [f"the events have no row of type `{t}`" for t in sorted(read) if not len(tables.get(t, ()))]

    # -- one reason --------------------------------------------------------------------------------------------------
    def _described(self, number: int, solution: Solution) -> Reason | None:
        """A reason with its repair run once more, as a user runs it; None if the row is then not detected."""
        world = self._world_of(solution.sites)
        edits: dict[int, list[Edit]] = {}
        for site, edit in zip(solution.sites, solution.proposal.edits, strict=True):
            if site.rule is not None and edit is not None:
                edits.setdefault(site.rule.number, []).append(edit)
        texts = world.edited(edits)
        added, row = self._added(solution)
        checked = self.program if world.fixed else CheckedProgram(texts, folders=self.program.folders)
        repaired = self.build(checked)
        kinds = {s.kind for s in solution.sites}
        keywords = dict(self.given.keywords)
        if "outside" in kinds:
            keywords.pop("start", None), keywords.pop("until", None)
        if "pending" in kinds:
            keywords["ended"] = True
        verified = True
        try:
            history = self.sliced.again(world.history, added, world.fixed_clock)
            adjusted = repaired.checked.adjusted(zone=self.given.zone, facts=self.program.facts).reasoning()
            found = detect(adjusted, history, ended=world.ended, because=True, progress=False)
        except OccursError:
            return None
        fitting = found.only(self.question.type, self.question.fits)
        if not len(fitting):
            return None
        trees = Trees(found, self.world.defined)
        top = fitting.slice(0, 1).to_pylist()[0]
        tree = trees.of_row(self.question.type, top)
        made = Description(self, world, solution, edits, texts, history, trees, tree, row)
        clauses = made.clauses(number, verified)
        shown = {n: v for n, v in top.items() if n not in ("because", "type")}
        names: dict[str, str] = {}
        for text, file, _ in texts:
            names[file or ("rules" if "rules" not in names else f"rules {len(names) + 1}")] = text
        return Reason(
            number, solution.cost, tuple(clauses), repaired, names,
            partial(self.given.with_rows, added), row, {"type": self.question.type, **shown},
            verified, tuple(made.witness()), made.repair_line(clauses), tuple(made.windows()),
        )  # fmt: skip

    def _added(self, solution: Solution) -> tuple[dict[str, pa.Table], dict[str, Any] | None]:
        """The rows that a repair adds by type; and the invented one as a dict."""
        added: dict[str, pa.Table] = {}
        row = None
        for site in solution.sites:
            if site.kind == "late":
                type, table = str(site.clause.type), site.clause.detail["row"]
                added[type] = table if type not in added else pa.concat_tables([added[type], table])
        if solution.domain is not None and solution.proposal.row is not None:
            type = solution.domain.type
            table = solution.domain.row(solution.proposal.row)
            values = table.to_pylist()[0]
            row = {"type": type, "time": json_time(values.pop("time"), self.kind)}
            if "end" in values:
                row["end"] = json_time(values.pop("end"), self.kind)
            row |= values
            added[type] = (
                table if type not in added else pa.concat_tables([added[type], table], promote_options="permissive")
            )
        return added, row
