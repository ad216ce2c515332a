"""Why an expected detection does not exist: the question, the search and the answer (why.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import kind_of, like
from occurs.errors import OccursError, UsageProblem, did_you_mean
from occurs.explain.input import Input, Sliced, without_because
from occurs.explain.question import Question
from occurs.explain.search import Search, Solution
from occurs.explain.tree import RowNode, Trees, is_row
from occurs.explain.words import json_time, length, ticks_of, value_text, values_text, when
from occurs.explain.world import Given, Site, World
from occurs.expr.text import Text
from occurs.hosts.local import detect
from occurs.languages.kit.clauses import Clause as RuleClause
from occurs.languages.kit.clauses import Edit, Splice, spliced
from occurs.languages.kit.language import folder
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
class Clause:
    """A clause of a reason: the row of the table, as attributes; times are ticks."""

    reason: int
    cost: int
    part: int
    kind: str
    type: str | None
    time: int | None
    end: int | None
    label: str | None
    clause: str
    place: str
    found: str
    needed: str
    repair: str
    message: str
    definition: str
    file: str | None
    line: int
    column: int
    verified: bool


@dataclass(frozen=True)
class Witness:
    """A row that a reason shows: ``ok`` false: the clause failed at it; ``parent``: the derived row it belongs to;
    ``added``: it is not in the input."""

    role: str | None
    type: str
    time: int
    end: int | None
    label: str | None
    attributes: Mapping[str, Any]
    ok: bool
    parent: int | None
    added: bool = False


@dataclass(frozen=True)
class Reason:
    """A smallest set of clauses without which the asked row would have been detected.

    Attributes:
        number: The place of the reason, from 1.
        cost: How many clauses are relaxed.
        clauses: The clauses, in the order of the rules.
        program: The repaired program; it detects the asked row in ``events``.
        texts: The repaired texts by file name (``rules`` for a text without one).
        events: The events with the added row; those that were asked about if none is added.
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
    events: Any = field(repr=False)
    added: Mapping[str, Any] | None
    row: Mapping[str, Any]
    verified: bool
    witness: tuple[Witness, ...] = field(repr=False, default=())
    repair: str = ""
    windows: tuple[tuple[str, int, int], ...] = field(repr=False, default=())


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
        return as_kind(self.sample, table_of(COLUMNS, [c for r in self.reasons for c in r.clauses], self.kind))

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
        return json.dumps(self.data(), ensure_ascii=False, default=_json)

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


def _json(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else str(value)


def table_of(columns: Sequence[tuple[str, Any]], rows: Sequence[Any], kind: TimeKind) -> pa.Table:
    """Objects with the attributes ``columns`` as a table; columns without a type are times."""
    of = pa.timestamp("us", tz="UTC") if kind.timestamp else pa.int64()
    out = {}
    for name, t in columns:
        values = [getattr(r, name) for r in rows]
        out[name] = pa.array(values, t) if t is not None else pa.array(values, pa.int64()).cast(of)
    return pa.table(out)


def as_kind(sample: Any, table: pa.Table) -> Any:
    """A table as the kind that the events have; on Spark a DataFrame of the same session."""
    if sample is None:
        return table
    if kind_of(sample) == "spark":
        session = sample.sparkSession
        try:
            return session.createDataFrame(table)
        except TypeError:  # Spark before 4 takes no Arrow table
            return session.createDataFrame(table.to_pandas())
    return like(sample, table)


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
    fitting = question.fitting(found.arrow(type))
    notes = [*sliced.notes]
    if len(fitting):
        rows = as_kind(given.sample, without_because(fitting))
        return WhyNot(question, True, rows, (), True, tuple(notes), given.sample)
    return _Asked(program, given, sliced, question, found, notes, build).answer(edits, limit, late, max_variants)


def check_type(program: CheckedProgram, type: str) -> None:
    """Raise UsageProblem if no definition makes rows of a type."""
    if type in program.defined:
        return
    if type in program.external or type in program.declared:
        text = f"`{type}` is an input type: its rows are given, not detected"
        raise UsageProblem.of("unknown-name", text, hint=f"defined types: {', '.join(sorted(program.defined))}")
    hint = did_you_mean(str(type), program.defined, "types")
    raise UsageProblem.of("unknown-name", f"no definition makes `{type}`", hint=hint)


class _Asked:
    """One question, from the sites to the answer.  ``found``: what the program as it is detects."""

    def __init__(
        self, program: CheckedProgram, given: Input, sliced: Sliced, question: Question, found: Any, notes: list[str],
        build: Callable[[CheckedProgram], Any],
    ):  # fmt: skip
        self.build = build
        self.program, self.given, self.sliced, self.question, self.notes = program, given, sliced, question, notes
        self.kind = question.kind
        self.before = found
        self.world = World(program, sliced.history, question.type, zone=given.zone, ended=given.ended)
        self.worlds: dict[tuple[bool, bool], World] = {(False, False): self.world}

    def answer(self, edits: int, limit: int, late: Any, max_variants: int) -> WhyNot:
        """Search and describe."""
        sites = [*self._input_sites(late), *self.world.sites]
        self._constants()
        search = Search(
            self.world, self.question, sites, edits=edits, limit=limit, max_variants=max_variants,
            world_of=self._world_of,
        )  # fmt: skip
        found = search.run()
        notes = [*self.notes, *found.notes]
        reasons: list[Reason] = []
        for solution in found.solutions:
            reason = self._described(len(reasons) + 1, solution)
            if reason is not None:
                reasons.append(reason)
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
                self.program, history, self.question.type, zone=self.given.zone, ended=self.given.ended or key[1]
            )
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
        events = self.given.with_rows(added)
        keywords = dict(self.given.keywords)
        if "outside" in kinds:
            keywords.pop("start", None), keywords.pop("until", None)
        if "pending" in kinds:
            keywords["ended"] = True
        verified = True
        try:
            history = self.sliced.again(repaired.checked, world.history, added)
            adjusted = repaired.checked.adjusted(zone=self.given.zone, facts=self.program.facts).reasoning()
            found = detect(adjusted, history, ended=world.ended, because=True, progress=False)
        except OccursError:
            return None
        fitting = self.question.fitting(found.arrow(self.question.type))
        if not len(fitting):
            return None
        trees = Trees(found, self.world.defined)
        top = fitting.slice(0, 1).to_pylist()[0]
        tree = trees.of_row(self.question.type, top)
        made = _Describing(self, world, solution, edits, texts, history, trees, tree, row)
        clauses = made.clauses(number, verified)
        shown = {n: v for n, v in top.items() if n not in ("because", "type")}
        names: dict[str, str] = {}
        for text, file, _ in texts:
            names[file or ("rules" if "rules" not in names else f"rules {len(names) + 1}")] = text
        return Reason(
            number, solution.cost, tuple(clauses), repaired, names, events, row, {"type": self.question.type, **shown},
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


class _Describing:
    """The clauses of one reason, with what they met."""

    def __init__(
        self, asked: _Asked, world: World, solution: Solution, edits: Mapping[int, Sequence[Edit]],
        texts: Sequence[Given], history: History, trees: Trees, tree: RowNode, row: dict[str, Any] | None,
    ):  # fmt: skip
        self.asked, self.world, self.solution, self.edits, self.texts = asked, world, solution, edits, texts
        self.history, self.trees, self.tree, self.row = history, trees, tree, row
        self.kind = asked.kind
        self.failed: list[RowNode] = []
        self.bad: set[str | None] = set()
        self.shown = self._shown()

    # -- what the clauses met ----------------------------------------------------------------------------------------
    def _shown(self) -> list[Mapping[str, Any] | None]:
        """Per clause the row of a copy of its rule beside the repaired program, with the values that it met."""
        copies: dict[int, tuple[str, Given]] = {}
        for i, (site, edit) in enumerate(zip(self.solution.sites, self.solution.proposal.edits, strict=True)):
            c, rule = site.clause, site.rule
            if rule is None or (rule.clauses.probed is None and c.evidence is None):
                continue
            values = {}
            if c.value is not None:
                values["occurs_value"] = c.value
            if c.wanted is not None:
                values["occurs_wanted"] = c.wanted
            for k, (_, other) in enumerate(c.detail.get("tests", ())):
                if other is not None:
                    values[f"occurs_test_{k}"] = other
            if not values and c.evidence is None:
                continue
            name = f"{rule.defines}__shown_{i}"
            own = [e for e in self.edits.get(rule.number, ()) if c.evidence is None or e is not edit]
            splices = [s for e in own for s in e.splices]
            if c.evidence is not None:
                splices += c.evidence.edit({}).splices
            text, _, language = self.world.texts[rule.text]
            r = rule.clauses
            splices += r.named(name)
            splices += [*r.probed(values)] if values and r.probed is not None else []
            ending = self.world.languages[folder(language)].ENDING
            copies[i] = name, (spliced(text, splices, r.start, r.stop) + ending, f"shown {i}", language)
        out: list[Mapping[str, Any] | None] = [None] * len(self.solution.sites)
        for i, (name, given) in copies.items():
            try:
                program = CheckedProgram([*self.texts, given], folders=self.asked.program.folders)
                program = program.adjusted(zone=self.asked.given.zone, facts=self.asked.program.facts).reasoning()
                found = detect(program, self.history, ended=self.world.ended, because=True, progress=False)
            except OccursError:
                continue
            out[i] = self._match(self.solution.sites[i], found.arrow(name))
        return out

    def _match(self, site: Site, table: pa.Table) -> Mapping[str, Any] | None:
        """The row of a copy that has the same constituents as a row of the witness."""
        role = None if site.clause.evidence is None else site.clause.evidence.role
        rule = site.rule
        assert rule is not None
        nodes = [n for n in self.tree.walk() if n.type == rule.defines and n.derived]
        wanted = {tuple((c.role, c.label) for c in n.children if c.label is not None): n for n in nodes}
        fitting = []
        for row in table.to_pylist():
            parts = tuple(
                (p["role"], p["label"]) for p in row["because"] if p["label"] is not None and p["role"] != role
            )
            if parts in wanted:
                fitting.append(row | {"occurs_node": wanted[parts]})
        moved = site.clause.moved
        if moved is not None:
            violated = [r for r in fitting if "occurs_value" in r and moved(_plain(r["occurs_value"])) is not None]
            fitting = violated or fitting
        return fitting[0] if fitting else None

    def _node(self, site: Site, shown: Mapping[str, Any] | None) -> RowNode | None:
        """The derived row of the clause's rule in the witness."""
        if shown is not None:
            node: RowNode = shown["occurs_node"]
            return node
        rule = site.rule
        return (
            None if rule is None else next((n for n in self.tree.walk() if n.derived and n.type == rule.defines), None)
        )

    def at(self, node: RowNode | None) -> str:
        """``Temp at 09:01:00``."""
        return "?" if node is None else f"{node.type} at {when(node.time, self.kind)}"

    # -- clauses -----------------------------------------------------------------------------------------------------
    def clauses(self, number: int, verified: bool) -> list[Clause]:
        """The rows of the table."""
        out = []
        for i, (site, edit) in enumerate(zip(self.solution.sites, self.solution.proposal.edits, strict=True)):
            row, found, needed, message = self._told(site, self.shown[i])
            c = site.clause
            repair = "" if edit is None else edit.repair
            if site.kind == "missing":
                repair = json.dumps(self.row, ensure_ascii=False, default=_json)
            file, line, column, definition = None, 0, 0, ""
            if site.rule is not None and self.world.fixed:
                definition = site.rule.clauses.title
            elif site.rule is not None:
                text, file, _ = self.world.texts[site.rule.text]
                span = Text(text, None).span(c.start, c.start)
                line, column, definition = span.line, span.column, site.rule.clauses.title
            place = f"{file or 'rules'}:{line}:{column}" if line else definition
            out.append(
                Clause(
                    number, self.solution.cost, i + 1, site.kind, row.type if row else c.type,
                    row.time if row else None, row.end if row else None, row.label if row else None, c.text, place,
                    found, needed, repair, message, definition, file, line, column, verified,
                )
            )  # fmt: skip
        return out

    def _told(self, site: Site, shown: Mapping[str, Any] | None) -> tuple[RowNode | None, str, str, str]:
        """The row at which a clause failed, what it met, what it needed, and the message."""
        node = self._node(site, shown)
        row = None if node is None else self._row(site, node)
        if row is not None and row.label is not None and site.kind not in ("absence", "missing", "choice", "count"):
            self.bad.add(row.label)
        told = getattr(self, f"_{site.kind}")
        result: tuple[RowNode | None, str, str, str] = told(site, shown, node, row)
        return result

    def _row(self, site: Site, node: RowNode) -> RowNode | None:
        """The row of a derivation at which a clause failed: of a repeated role the first that violates it."""
        c = site.clause
        rows = [p for p in node.children if _role(p, c.role)] if c.role is not None else []
        own = c.detail.get("own")
        if own is not None and c.moved is not None:
            violating = [p for p in node.children if _role(p, own[0]) and c.moved(_get(p.values, own[1])) is not None]
            rows = [p for p in violating if p in rows] or violating or rows
        elif own is not None and c.detail.get("other_text") is None and len(rows) > 1:
            other = self._elsewhere(c.detail.get("other"), node)
            rows = [p for p in rows if own[1] in p.values and p.values[own[1]] != other] or rows
        return rows[0] if rows else None

    def _elsewhere(self, place: tuple[str | None, str] | None, node: RowNode | None) -> Any:
        """A value of the witness by role and attribute."""
        if place is None or node is None:
            return None
        return next((_get(p.values, place[1]) for p in node.children if _role(p, place[0])), None)

    def _value(self, site: Site, shown: Mapping[str, Any] | None, row: RowNode | None) -> str:
        c = site.clause
        value = None if shown is None else shown.get("occurs_value")
        if shown is None and c.detail.get("own") is not None and row is not None:
            value = _get(row.values, c.detail["own"][1])
        elif shown is None or "occurs_value" not in shown:
            return "?"
        if value is not None and c.detail.get("duration"):
            return length(int(_plain(value)), self.kind)
        return value_text(value)

    def _threshold(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        found = self._value(site, shown, row)
        c = site.clause
        edit = self._edit(site)
        if found in ("?", "null") and edit is not None and len(edit.splices) == 2:
            found = edit.splices[1].text  # the constant moved to the value that the expression has
        at = "" if row is None else f" at {when(row.time, self.kind)}"
        return row, found, c.needed, f"{c.subject} = {found}{at}, needed {c.needed}"

    def _edit(self, site: Site) -> Edit | None:
        """The edit of a clause in this reason."""
        pairs = zip(self.solution.sites, self.solution.proposal.edits, strict=True)
        return next(e for s, e in pairs if s is site)

    def _equality(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        c = site.clause
        at = "" if row is None else f" at {when(row.time, self.kind)}"
        if shown is not None and c.value is not None:
            found, wanted = self._value(site, shown, row), value_text(shown.get("occurs_wanted"))
        elif row is not None and c.detail.get("own") is not None:
            found = self._value(site, shown, row)
            wanted = c.detail.get("other_text") or value_text(self._elsewhere(c.detail.get("other"), node))
        else:
            return row, "false", c.text, f"{c.text} does not hold{at}"
        needed = f"{c.needed} {wanted}"
        return row, found, needed, f"{c.subject} = {found}{at}, needed {needed}"

    def _window(self, site: Site, shown: Any, node: RowNode | None, row: RowNode | None) -> Any:
        c = site.clause
        ref = None if node is None else next((p for p in node.children if p.role == c.reference), None)
        if "exact" in c.detail:
            return self._guarded(site, node, row)
        ticks = None if shown is None else shown.get("occurs_value")
        if ticks is None and row is not None and ref is not None:
            ticks = ref.time - row.time
        if c.detail.get("length"):
            return self._long(site, node)
        found = "?" if ticks is None else length(int(_plain(ticks)), self.kind)
        message = f"{self.at(row)} is {found} before {self.at(ref)}, needed {c.needed}"
        if c.detail.get("message"):
            message = c.detail["message"](found)
        return row, found, c.needed, message

    def _guarded(self, site: Site, node: RowNode | None, row: RowNode | None) -> Any:
        """A window that a repair lengthens to a difference of times exactly."""
        c, edit = site.clause, self._edit(site)
        assert edit is not None
        ticks = int(c.detail["exact"] + edit.shift)
        found = length(ticks, self.kind)
        rows = [] if node is None else [*(p for p in node.children if is_row(p)), node]
        rows.sort(key=lambda p: not p.values and p.type == "state")  # an activation says less than its state
        pairs = ((p, q) for p in rows for q in rows if p is not node and q.time - p.time == ticks)
        first, late = next(pairs, (None, row or node))
        if first is not None:
            message = f"{self._event(first)} is {found} before {self._event(late)}, needed {c.needed}"
            return first, found, c.needed, message
        began = "?" if late is None else when(late.time - ticks, self.kind)
        return late, found, c.needed, f"{self._event(late)} is {found} after {began}, needed {c.needed}"

    def _event(self, node: RowNode | None) -> str:
        """A row with its time; a state by the event of it."""
        if node is not None and node.type == "state":
            events = [n for n, v in node.values.items() if isinstance(v, list) and v]
            return f"{events[0] if events else node.type} at {when(node.time, self.kind)}"
        return self.at(node)

    def _long(self, site: Site, node: RowNode | None) -> Any:
        """A length of an interval that a filter does not let through."""
        c = site.clause
        rows = [] if node is None else [node, *(p for p in node.walk() if p is not node)]
        row = next((p for p in rows if p.end is not None and c.moved is not None and c.moved(p.end - p.time)), None)
        if row is None or row.end is None:
            return node, "?", c.needed, f"{self.at(node)}: needed {c.needed}"
        found = length(row.end - row.time, self.kind)
        return row, found, c.needed, f"{self.at(row)} is {found} long, needed {c.needed}"

    def _count(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        c = site.clause
        edit = self._edit(site)
        number = re.search(r"\d+", edit.repair) if edit is not None else None
        wanted = re.search(r"\d+", c.text)
        found, needed = (number[0] if number else "0"), (wanted[0] if wanted else c.text)
        return row or node, found, needed, f"{found} of {needed} {c.subject}".strip()

    def _absence(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        blocker = self._evidence(site, shown) or self._in_between(site, node)
        if blocker is None and c.needed == "false":  # a premise
            times = {p.time for p in node.children if is_row(p)} if node is not None else set()
            at = f" at {when(min(times), self.kind)}" if len(times) == 1 else ""
            return None, "true", c.needed, f"{c.text} holds{at}, needed {c.needed}"
        if blocker is None:
            return None, "false" if c.type is None else c.type, c.needed or "none", f"{c.text} does not hold"
        self.failed.append(blocker)
        interval = c.detail.get("interval")
        message = f"{self.at(blocker)} was there, needed none"
        if interval and node is not None:
            parts = {p.role: p for p in node.children}
            if interval[0] in parts and interval[1] in parts:
                early, late = parts[interval[0]], parts[interval[1]]
                message = f"{self.at(blocker)} lies between {self.at(early)} and {self.at(late)}"
            elif interval[1] in parts:
                message = f"{self.at(blocker)} is within {interval[0]} before {self.at(parts[interval[1]])}"
        return blocker, self.at(blocker), "none", message

    def _in_between(self, site: Site, node: RowNode | None) -> RowNode | None:
        """The earliest row of a negated type during the derivation, of those with the values of its attributes."""
        type = site.clause.type
        if type is None or node is None:
            return None
        times = [p.time for p in node.children if is_row(p)]
        first, last = min([node.time, *times]), node.time if node.end is None else node.end
        if type in self.world.defined:
            rows = [self.trees.of_row(type, r) for r in self.trees.rows(type).values()]
        else:
            table = self.history.tables.get(type)
            special = ("time", "end", "sequence", "label")
            rows = [
                RowNode(None, type, r["time"], r.get("end"), r.get("label"),
                        {n: v for n, v in r.items() if n not in special})
                for r in ([] if table is None else table.to_pylist())
            ]  # fmt: skip
        shared = [
            r for r in rows
            if r.time <= last and first <= (r.time if r.end is None else r.end)
            and all(node.values.get(n, v) == v for n, v in r.values.items())
        ]  # fmt: skip
        return min(shared, key=lambda r: r.time, default=None)

    def _choice(self, site: Site, shown: Any, node: RowNode | None, row: RowNode | None) -> Any:
        c = site.clause
        if "consumes" in c.detail:
            return self._consumed(site, node)
        if "gap" in c.detail:
            return self._too_soon(site, node)
        if c.detail.get("suppresses"):
            return self._suppressed(site, node)
        chosen = self._evidence(site, shown)
        if chosen is None:
            return row, "", c.needed, c.detail.get("message", f"{self.at(row)} is not chosen by `{c.text}`")
        self.failed.append(chosen)
        policy = c.detail.get("policy", c.text)
        message = f"{self.at(row)} is not the {policy}: {self.at(chosen)} is"
        return row, self.at(chosen), self.at(row), message

    def _earlier(self, site: Site) -> list[Mapping[str, Any]]:
        """What the rule detected before the repair."""
        rule = site.rule
        return [] if rule is None else list(self.asked.before.arrow(rule.defines).to_pylist())

    def _too_soon(self, site: Site, node: RowNode | None) -> Any:
        """A trigger that fired a short time before."""
        gap = site.clause.detail["gap"]
        times = [ticks_of(r["time"]) for r in self._earlier(site)]
        if node is not None:
            near = [t for t in times if t is not None and node.time - gap < t <= node.time]
            if near:
                at = when(max(near), self.kind)
                return node, f"fired at {at}", "the row", f"fired at {at}, within {length(gap, self.kind)}"
        return node, "", "the row", f"fired before, within {length(gap, self.kind)}"

    def _suppressed(self, site: Site, node: RowNode | None) -> Any:
        """A match that shares a row with another of its instant."""
        if node is not None and site.rule is not None:
            own = {p.label: p for p in node.children if p.label is not None}
            for row in self._earlier(site):
                shared = next((p["label"] for p in row["because"] if p["label"] in own), None)
                if shared is not None and ticks_of(row["time"]) == node.time:
                    other = f"{site.rule.defines} at {when(node.time, self.kind)}"
                    message = f"suppressed: it shares {self.at(own[shared])} with {other}"
                    return own[shared], other, self.at(node), message
        return node, "", "", "suppressed: it shares a row with another match"

    def _consumed(self, site: Site, node: RowNode | None) -> Any:
        rule = site.rule
        if node is not None and rule is not None:
            roles = set(site.clause.detail["consumes"])
            own = {p.label: p for p in node.children if p.role in roles}
            for earlier in self.asked.before.arrow(rule.defines).to_pylist():
                time = ticks_of(earlier["time"])
                for part in earlier["because"]:
                    if part["label"] in own and part["role"] in roles and time is not None and time < node.time:
                        row = own[part["label"]]
                        self.bad.add(row.label)
                        by = f"{rule.defines} at {when(time, self.kind)}"
                        return row, by, self.at(row), f"{self.at(row)} was consumed by {by}"
        return None, "", "", "its rows were consumed before"

    def _restart(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        message = c.detail.get("message", "the search was not begun again")
        first = node.children[0] if node is not None and node.children else None
        since = self._busy(site, first)
        if since is not None and first is not None:
            what = "still open" if c.detail.get("busy") else "over"
            began, at = when(since, self.kind), when(first.time, self.kind)
            message = f"the search of {began} was {what} at {at}"
            return first, began, "a new search", message
        return first, "", "a new search", message

    def _busy(self, site: Site, first: RowNode | None) -> int | None:
        """The time of the earliest row with which a search may have begun before."""
        if first is None:
            return None
        table = self.history.tables.get(first.type)
        times = [] if table is None else [t for t in table["time"].to_pylist() if t <= first.time]
        earlier = [t for t in times if t < first.time]
        return min(earlier, default=None)

    def _relation(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        c = site.clause
        edit = self._edit(site)
        found = edit.repair if edit is not None else "?"
        parts = [] if node is None else node.children
        sides = [next((p for p in parts if name in (p.type, p.role)), None) for name in c.detail.get("sides", ())]
        left, right = (self._interval(p) for p in sides) if len(sides) == 2 else ("?", "?")
        return node, found, c.text, f"{left} is {found} {right}, needed {c.text}"

    def _interval(self, node: RowNode | None) -> str:
        """``open [3, 9]``, or ``cold at 12``."""
        if node is None:
            return "?"
        if node.end is None and not node.lasting:
            return self.at(node)
        return f"{node.type} [{when(node.time, self.kind)}, {when(node.end, self.kind)}]"

    def _missing(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        assert self.row is not None
        time = self._row_time("time")
        own = next((n for n in self.tree.walk() if n.type == c.type and n.time == time and not n.derived), None)
        made = RowNode(c.role, str(c.type), time, self._row_time("end"), None if own is None else own.label,
                       {n: v for n, v in self.row.items() if n not in ("type", "time", "end")})  # fmt: skip
        tests = []
        for k, (text, other) in enumerate(c.detail.get("tests", ())):
            if other is None:
                tests.append(text)
            elif shown is not None and f"occurs_test_{k}" in shown:
                tests.append(f"{text} = {value_text(shown[f'occurs_test_{k}'])}")
        first, last = self._region(site, node)
        table = self.history.tables.get(str(c.type))
        times = [] if table is None else table["time"].to_pylist()
        others = sum(first <= t <= last for t in times) - (first <= time <= last)
        needed = ", ".join(tests)
        what = f"no {c.type}" + (f" with {needed}" if needed else "")
        span = (
            f"from {when(first, self.kind)} to {when(last, self.kind)}"
            if first != last
            else f"at {when(first, self.kind)}"
        )
        message = f"{what} {span}; {others} other{'s were' if others != 1 else ' was'} looked at"
        return made, f"0 of {others} row{'s' if others != 1 else ''}", needed or str(c.type), message

    def _row_time(self, name: str) -> Any:
        value = None if self.row is None else self.row.get(name)
        if isinstance(value, str):
            return int(pa.scalar(value).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).as_py())
        return value

    def _region(self, site: Site, node: RowNode | None) -> tuple[int, int]:
        """The times between which a missing row would have been looked for."""
        c = site.clause
        ref = None if node is None else next((p for p in node.children if p.role == c.reference), None)
        limit = next(
            (o.clause.detail["limit"] for o in self.world.sites if o.rule is site.rule and o.kind == "window"
             and o.clause.role == c.role and "limit" in o.clause.detail), None,
        )  # fmt: skip
        if ref is not None and limit is not None:
            return ref.time - limit, ref.time
        question = self.asked.question
        first, last = question.first, question.last
        time = self._row_time("time")
        return min(first, time), max(last, time)

    def _late(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        values = site.clause.detail["row"].to_pylist()[0]
        made = RowNode(None, str(site.clause.type), values["time"], values.get("end"), None,
                       {n: v for n, v in values.items() if n not in ("time", "end", "sequence", "label")})  # fmt: skip
        self.failed.append(made)
        return made, "late", "in time", f"{self.at(made)} came late and was dropped"

    def _outside(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        used = {(n.time, n.type) for n in self.tree.walk()}
        rows = site.clause.detail["rows"]
        at, type = next((r for r in rows if r in used), rows[0])
        made = next(
            (n for n in self.tree.walk() if (n.time, n.type) == (at, type)), RowNode(None, type, at, None, None, {})
        )
        self.bad.add(made.label)
        clock = self.asked.sliced.history.clock
        where = "after --until" if clock is not None and at > clock[1] else "before --start"
        return made, "outside", "inside", f"{self.at(made)} lies {where}"

    def _pending(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        tree = self.tree
        message = f"{tree.type} holds since {when(tree.time, self.kind)}, its end is not known yet"
        return tree, "open", "ended", message

    def _evidence(self, site: Site, shown: Mapping[str, Any] | None) -> RowNode | None:
        """The row that a clause's evidence binds."""
        if shown is None or site.clause.evidence is None:
            return None
        role = site.clause.evidence.role
        part = next((p for p in shown["because"] if p["role"] == role), None)
        return None if part is None else self.trees.of_part(part)

    # -- the witness -------------------------------------------------------------------------------------------------
    def witness(self) -> list[Witness]:
        """The rows of the detection, its derived rows with their own, then the rows at which clauses failed."""
        out: list[Witness] = []
        added = self._row_time("time")

        def put(node: RowNode, parent: int | None) -> None:
            invented = (
                self.row is not None and not node.derived and node.type == self.row["type"] and node.time == added
                and all(self.row.get(n) == _plain(v) or n not in self.row for n, v in node.values.items())
            )  # fmt: skip
            ok = node.label is None or node.label not in self.bad
            out.append(
                Witness(node.role, node.type, node.time, node.end, node.label, node.values, ok, parent, invented)
            )
            at = len(out) - 1
            for child in node.children:
                if is_row(child):
                    put(child, at)

        for child in self.tree.children:
            if is_row(child):
                put(child, None)
        known = {w.label for w in out}
        for node in self.failed:
            if node.label is None or node.label not in known:
                out.append(Witness(None, node.type, node.time, node.end, node.label, node.values, False, None))
        return out

    def windows(self) -> list[tuple[str, int, int]]:
        """The windows of the top rule as (role, first, last tick)."""
        out = []
        parts = {p.role: p for p in self.tree.children}
        for site in self.world.sites:
            c = site.clause
            if site.rule is None or site.rule.defines != self.tree.type:
                continue
            if site.kind == "window" and c.reference in parts and "limit" in c.detail:
                ref = parts[c.reference]
                out.append((f"{c.role} {c.needed}", ref.time - c.detail["limit"], ref.time))
        return out

    def repair_line(self, clauses: Sequence[Clause]) -> str:
        """One sentence that says the repair."""
        parts = []
        for site, edit, c in zip(self.solution.sites, self.solution.proposal.edits, clauses, strict=True):
            if site.kind == "missing" and self.row is not None:
                values = values_text((n, v) for n, v in self.row.items() if n not in ("type", "time"))
                parts.append(f"with a {self.row['type']} at {self.row['time']}" + (f" ({values})" if values else ""))
            elif site.rule is None:
                parts.append({"late": "if the late row is let in", "outside": "if the rows outside are let in",
                              "pending": "if the input ends here"}[site.kind])  # fmt: skip
            elif edit is not None and edit.repair:
                parts.append(f"with `{edit.repair}` in line {c.line}")
            elif _alone(self.world.texts[site.rule.text][0], edit):
                parts.append(f"if line {c.line} is left out")
            else:
                parts.append(f"without `{site.clause.text}` in line {c.line}")
        return "it is found " + " and ".join(parts)


def _alone(text: str, edit: Edit | None) -> bool:
    """Whether what an edit removes fills its line."""
    splice: Splice | None = edit.splices[0] if edit is not None and len(edit.splices) == 1 else None
    if splice is None or splice.text.strip():
        return False
    before = text[text.rfind("\n", 0, splice.start) + 1 : splice.start]
    end = text.find("\n", splice.stop)
    return (
        not before.strip()
        and not text[splice.stop : len(text) if end < 0 else end].strip()
        and ("\n" not in text[splice.start : splice.stop].strip())
    )


def _role(node: RowNode, role: str | None) -> bool:
    """Whether a row has a role, perhaps as one of several."""
    return role is not None and (node.role == role or str(node.role).startswith((f"{role}[", f"{role}(")))


def _get(values: Mapping[str, Any], name: str) -> Any:
    """A value of a row; ``E.v`` of a state: of its last event of type ``E``."""
    if name in values or "." not in name:
        return values.get(name)
    of, attribute = name.split(".", 1)
    inner = values.get(of)
    inner = inner[-1] if isinstance(inner, list) and inner else inner
    return inner.get(attribute) if isinstance(inner, dict) else None


def _plain(value: Any) -> Any:
    """Durations and times as ticks."""
    if hasattr(value, "total_seconds"):
        return int(value.total_seconds() * 1_000_000)
    return ticks_of(value) if hasattr(value, "isoformat") else value
