"""A program over a history as explanations see it: its texts, its rules with their clauses, and runs of variants.

A variant is a copy of some rules with edits, under types of its own; many variants are one program over one history
(why.md, section 11).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.checked_program import CheckedProgram
from occurs.checked_texts import Read
from occurs.errors import DefinitionProblem, InputProblem, LimitProblem, OccursError, Problem, SyntaxProblem
from occurs.explain.question import Question
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import detect
from occurs.languages.kit.clauses import Clause, Declaration, Edit, RuleClauses, Splice, spliced
from occurs.languages.kit.language import Texts, folder, language
from occurs.model.history import History
from occurs.model.types import Schema
from occurs.operators.definition import Node

#: so many variants that differ in rows alone are run one by one: their rules are checked once
ALIKE = 6
#: (text, file, language)
Given = tuple[str, str | None, str]


@dataclass(frozen=True)
class Rule:
    """A definition of the program: ``number`` in the order of the texts, ``text`` the number of its text."""

    number: int
    language: str
    text: int
    clauses: RuleClauses

    @property
    def defines(self) -> str:
        """The type that it defines."""
        return self.clauses.defines


@dataclass(frozen=True)
class Site:
    """A clause of a rule of the program, or of the input (``rule`` None)."""

    rule: Rule | None
    clause: Clause
    place: tuple[int, int]

    @property
    def kind(self) -> str:
        """The kind of the clause."""
        return self.clause.kind


@dataclass(frozen=True)
class Probe:
    """A copy of ``rule`` beside the rules of a variant, with ``edits`` and more attributes ``name -> expression``."""

    rule: int
    edits: tuple[Edit, ...]
    values: Mapping[str, str]


@dataclass(frozen=True)
class Variant:
    """Edits of rules (by their numbers), rows added to types of the input, and what else is to be seen.

    ``rows``: tables in place of those of the history.
    """

    edits: Mapping[int, tuple[Edit, ...]] = field(default_factory=dict)
    added: Mapping[str, pa.Table] = field(default_factory=dict)
    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a variant detects: tables by the names of types in the program, and one per probe."""

    found: LocalDetections
    names: Mapping[str, str]
    probes: tuple[str, ...]

    def table(self, type: str) -> pa.Table:
        """The rows of a type."""
        return self.found.arrow(self.names.get(type, type))

    def probe(self, number: int) -> pa.Table:
        """The rows of a probe."""
        return self.found.arrow(self.probes[number])

    def fitting(
        self, question: Question, opaque: frozenset[str] = frozenset(), *, probe: int | None = None,
        plain: bool = False, among: pa.Table | None = None,
    ) -> pa.Table:  # fmt: skip
        """The rows that answer a question, of its type or of a probe; ``opaque``: see :meth:`Question.fits`.

        ``plain``: without labels and constituents.  ``among``: columns of rows; every column of a row that is returned
        has one of the values that it has there.
        """
        name = self.names.get(question.type, question.type) if probe is None else self.probes[probe]

        near = {} if among is None else {n: pc.unique(among[n]) for n in among.column_names}

        def wanted(table: pa.Table) -> pa.ChunkedArray:
            mask = question.fits(table, opaque)
            for n, values in near.items():
                mask = pc.and_(mask, pc.is_in(table[n], values))
            return mask

        found = self.found.only(name, wanted, plain=plain)
        return question.fitting(found, opaque)

    @property
    def original(self) -> Mapping[str, str]:
        """From the names of types in this run to those of the program."""
        return {new: old for old, new in self.names.items()}


def added_to(
    history: History, tables: Mapping[str, pa.Table], added: Iterable[pa.Table], fixed: tuple[bool, bool]
) -> History:
    """A history with other ``tables``, to which the rows ``added`` belong.

    Rows beyond the clock move its start and its end; where that is ``fixed``, they are left out.
    """
    extent = _extent(added)
    if extent is None:
        return replace(history, tables=tables)
    first, last = history.clock or extent
    before, after = extent[0] < first, extent[1] > last
    clock = first if fixed[0] else min(first, extent[0]), last if fixed[1] else max(last, extent[1])
    if (before and fixed[0]) or (after and fixed[1]):
        tables = {t: table.filter(pc.and_(pc.greater_equal(table["time"], clock[0]),
                                          pc.less_equal(table["time"], clock[1])))
                  for t, table in tables.items()}  # fmt: skip
    return replace(history, tables=tables, clock=clock)


def _extent(tables: Iterable[pa.Table]) -> tuple[int, int] | None:
    """The first and the last time of rows, also of ends; None without rows."""
    found: list[int] = []
    for table in tables:
        for name in {"time", "end"} & set(table.column_names):
            found += (t for t in table[name].cast(pa.int64()).to_pylist() if t is not None)
    return (min(found), max(found)) if found else None


class World:
    """A program and a history, and variants of the definitions that lead to ``type``.

    ``fixed_clock``: whether the start and the end of the clock were given, so that added rows do not move them.
    """

    def __init__(
        self, program: CheckedProgram, history: History, type: str, *, zone: str = "UTC", ended: bool = True,
        fixed_clock: tuple[bool, bool] = (False, False),
    ):  # fmt: skip
        self.fixed_clock = fixed_clock
        self.program, self.history, self.type, self.zone, self.ended = program, history, type, zone, ended
        self.kind = history.kind
        self.texts: list[Given] = program.texts
        self.bound = program.bind(history.schemas, history.kind)
        modules = {name: _catalogue(name) if self.texts else None for name in self.bound.parts}
        #: whether there are rules without a text whose clauses are known: then only rows vary
        self.fixed = any(module is None for module in modules.values())
        self.languages: dict[str, Any] = {} if self.fixed else modules
        self.rules = self._rules()
        #: relaxed copies that were run so far
        self.tried = 0

    def _rules(self) -> list[Rule]:
        if self.fixed:
            return [Rule(n, name, 0, _without_text(node)) for n, (name, _, node) in enumerate(self.bound.entries)]
        own: dict[str, list[RuleClauses]] = {}
        for name, part in self.bound.parts.items():
            texts = [self.texts[i][0] for i in self.bound.numbers[name]]
            own[name] = self.languages[name].rules(part, texts, self.kind)
        out = []
        for number, (name, i, _) in enumerate(self.bound.entries):
            found = own[name][i]
            out.append(Rule(number, name, self.bound.numbers[name][found.text], found))
        for name, part in self.bound.parts.items():  # pipes that have names and make no rows
            texts = [self.texts[i][0] for i in self.bound.numbers[name]]
            for found in getattr(self.languages[name], "helpers", _no_helpers)(part, texts, self.kind):
                out.append(Rule(len(out), name, self.bound.numbers[name][found.text], found))
        return out

    # -- the graph ---------------------------------------------------------------------------------------------------
    @cached_property
    def defined(self) -> frozenset[str]:
        """The types that rules define."""
        return frozenset(r.defines for r in self.rules)

    def makers(self, type: str) -> list[Rule]:
        """The rules that define a type."""
        return [r for r in self.rules if r.defines == type]

    def _upstream(self, positive: bool) -> list[Rule]:
        seen: set[int] = set()
        waiting = [self.type]
        known = {self.type}
        while waiting:
            for rule in self.makers(waiting.pop()):
                seen.add(rule.number)
                for t in rule.clauses.positive if positive else rule.clauses.reads:
                    if t not in known:
                        known.add(t)
                        waiting.append(t)
        return [r for r in self.rules if r.number in seen]

    @cached_property
    def cone(self) -> list[Rule]:
        """The rules that the type is made by positively."""
        return self._upstream(True)

    @cached_property
    def closure(self) -> list[Rule]:
        """All rules on which the type depends."""
        return self._upstream(False)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The types of the input on which the type depends."""
        return frozenset(t for r in self.closure for t in r.clauses.reads) - self.defined

    @cached_property
    def given(self) -> frozenset[str]:
        """The types that the input has rows of, also types that rules define."""
        return frozenset(t for r in self.closure for t in (*r.clauses.reads, r.defines) if t in self.history.tables)

    @cached_property
    def shadowed(self) -> frozenset[str]:
        """Types on which a negation or an aggregate of the closure depends, at any depth."""
        waiting = [t for r in self.closure for t in (*r.clauses.negative, *r.clauses.folded)]
        out = set(waiting)
        while waiting:
            for rule in self.makers(waiting.pop()):
                waiting += [t for t in rule.clauses.reads if t not in out]
                out |= rule.clauses.reads
        return frozenset(out)

    @cached_property
    def recursive(self) -> bool:
        """Whether rules of the closure feed themselves or one another."""
        above = {r.defines: set(r.clauses.reads) for r in self.closure}
        for r in self.closure:
            above[r.defines] |= r.clauses.reads
        for _ in above:
            for reads in above.values():
                reads |= {t for read in tuple(reads) for t in above.get(read, ())}
        return any(t in reads for t, reads in above.items())

    @cached_property
    def columns(self) -> Mapping[str, frozenset[str]]:
        """The attributes that rules of the closure read of each type."""
        out: dict[str, frozenset[str]] = {}
        types = {r.defines for r in self.closure}
        for d in self.program.plan(self.history.schemas, self.kind).definitions:
            if d.output in types:
                for t, names in d.columns.items():
                    out[t] = out.get(t, frozenset()) | names
        return out

    @cached_property
    def sites(self) -> list[Site]:
        """The clauses of the cone in the order of places; one ``missing`` per type of the input."""
        found = [Site(r, c, (r.text, c.start)) for r in self.cone for c in r.clauses.clauses]
        found.sort(key=lambda s: (s.place, s.kind == "missing"))
        out, seen = [], set()
        for site in found:
            if site.kind == "missing":
                if site.clause.type in self.defined or site.clause.type in seen:
                    continue
                seen.add(site.clause.type)
            out.append(site)
        return out

    @cached_property
    def declarations(self) -> list[tuple[str, int, Declaration]]:
        """The declarations of input types: language, number of the text, place."""
        out: list[tuple[str, int, Declaration]] = []
        if self.fixed:
            return out
        for name, part in self.bound.parts.items():
            numbers = self.bound.numbers[name]
            texts = [self.texts[i][0] for i in numbers]
            out += [(name, numbers[d.text], d) for d in self.languages[name].declared(part, texts)]
        return out

    # -- variants ----------------------------------------------------------------------------------------------------
    def edited(self, edits: Mapping[int, Iterable[Edit]]) -> list[Given]:
        """The texts of the program with edits of its rules."""
        by_text: dict[int, list[Splice]] = {}
        for number, found in edits.items():
            by_text.setdefault(self.rules[number].text, []).extend(s for e in found for s in e.splices)
        return [
            (spliced(text, by_text.get(i, ())), file, language) for i, (text, file, language) in enumerate(self.texts)
        ]

    def run(self, variants: Sequence[Variant], *, because: bool = False) -> list[Outcome | None]:
        """Detect with all variants at once; None for one that the checks refuse, or whose run fails."""
        self.tried += len(variants)
        out: list[Outcome | None] = [None] * len(variants)
        if self.fixed:
            self._over_rows(self.program, list(enumerate(variants)), out)
            return out
        groups: dict[Any, list[int]] = {}
        for n, v in enumerate(variants):
            if self._beyond(v) or self._seen(v):
                self._rows_alone([(n, v)], out, because)
                continue
            alike = tuple((i, e) for i, e in sorted(v.edits.items())) if not (v.probes or because) else n
            groups.setdefault(alike, []).append(n)
        together = [n for found in groups.values() if len(found) < ALIKE for n in found]
        self._run([(n, variants[n]) for n in sorted(together)], out, because)
        for found in groups.values():
            if len(found) >= ALIKE:
                self._rows_alone([(n, variants[n]) for n in found], out)
        return out

    def _seen(self, variant: Variant) -> bool:
        """Whether rules of other variants would see the rows that a variant adds, though these have a type of their
        own."""
        return bool(variant.added) and not variant.probes and any(r.clauses.observes for r in self.closure)

    def _beyond(self, variant: Variant) -> bool:
        """Whether a variant adds rows beyond the clock, and so has one of its own."""
        if variant.probes or not variant.added:
            return False
        extent, clock = _extent(variant.added.values()), self.history.clock
        return extent is not None and (clock is None or extent[0] < clock[0] or extent[1] > clock[1])

    def _refused(self, variants: list[tuple[int, Variant]], out: list[Outcome | None], because: bool) -> None:
        """Variants whose copies the checks refuse.

        Not every type can have a copy beside it, such as the states of logic: rules that read its rows, changed, run
        alone.
        """
        for n, v in variants:
            if (v.added or v.rows) and not v.probes:
                self._rows_alone([(n, v)], out, because)

    def _rows_alone(
        self, variants: list[tuple[int, Variant]], out: list[Outcome | None], because: bool = False
    ) -> None:
        """Variants that differ in rows alone: one program, run over one history after the other."""
        edits = variants[0][1].edits
        files = []
        for i, (text, _, name) in enumerate(self.texts):
            ending = self.languages[folder(name)].ENDING
            pieces = [
                (d.start, d.written(d.type) if d.written else text[d.start : d.stop])
                for _, number, d in self.declarations if number == i
            ]  # fmt: skip
            for r in (r for r in self.closure if r.text == i):
                c = r.clauses
                splices = [s for e in edits.get(r.number, ()) for s in e.splices]
                pieces.append((c.start, spliced(text, [*splices, *c.named(r.defines)], c.start, c.stop)))
            if pieces:
                files.append(self.parsed("".join(f"{p}{ending}" for _, p in sorted(pieces)), f"base {i}", name))
        try:
            program = self._program(files)
        except (SyntaxProblem, DefinitionProblem):
            return
        self._over_rows(program, variants, out, because)

    def _over_rows(
        self, program: CheckedProgram, variants: list[tuple[int, Variant]], out: list[Outcome | None],
        because: bool = False,
    ) -> None:  # fmt: skip
        """Run a program over one history after the other."""
        program = program.reasoning() if because else program
        for n, v in variants:
            tables = dict(self.history.tables)
            for t in {*v.rows, *v.added}:
                parts = [p for p in (v.rows.get(t, tables.get(t)), v.added.get(t)) if p is not None]
                tables[t] = parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="permissive")
            try:
                history = added_to(self.history, tables, v.added.values(), self.fixed_clock)
                found = detect(program, history, ended=self.ended, because=because, progress=False)
            except (DefinitionProblem, InputProblem, LimitProblem):
                continue
            out[n] = Outcome(found, {}, ())

    def _run(self, variants: list[tuple[int, Variant]], out: list[Outcome | None], because: bool) -> None:
        if not variants:
            return
        copies = {n: _Copy(self, n, v) for n, v in variants}
        tables, schemas = dict(self.history.tables), dict(self.history.schemas)
        for c in copies.values():
            tables |= c.tables
            schemas |= c.schemas
        history = replace(self.history, tables=tables, schemas=schemas)
        try:
            program = self._program([*self._base, *(f for c in copies.values() for f in c.files)])
            program = program.reasoning() if because else program
            found = detect(program, history, ended=self.ended, because=because, progress=False)
        except (SyntaxProblem, DefinitionProblem) as error:
            wrong = {p.file for p in error.problems if p.severity == "error"}
            refused = {n for n, c in copies.items() if any(name in wrong for name in c.own)}
            copied = {name for c in copies.values() for name in c.own}
            if refused and wrong <= copied:  # else a copy makes others wrong, and the rules themselves
                self._refused([(n, v) for n, v in variants if n in refused], out, because)
                self._run([(n, v) for n, v in variants if n not in refused], out, because)
            else:
                self._halves(variants, out, because, error)
            return
        except (InputProblem, LimitProblem) as error:
            self._halves(variants, out, because, error)
            return
        for n, c in copies.items():
            out[n] = Outcome(found, c.names, tuple(c.probes))

    def _halves(
        self, variants: list[tuple[int, Variant]], out: list[Outcome | None], because: bool, error: OccursError
    ) -> None:
        """Some variant fails: the others may not.  Raises what fails without any variant."""
        if not self._sound:
            raise error
        if len(variants) > 1:
            half = len(variants) // 2
            self._run(variants[:half], out, because)
            self._run(variants[half:], out, because)
        elif isinstance(error, DefinitionProblem):
            self._refused(variants, out, because)

    @cached_property
    def _sound(self) -> bool:
        """Whether the rules of the closure run as they are."""
        if not self._base:
            return True
        try:
            detect(self._program(self._base), self.history, ended=self.ended, progress=False)
        except OccursError:
            return False
        return True

    # -- texts that were parsed --------------------------------------------------------------------------------------
    def _program(self, files: Sequence[Parsed]) -> CheckedProgram:
        """A program of parsed texts."""
        texts: dict[str, Texts[Any]] = {}
        numbers: dict[str, tuple[int, ...]] = {}
        for name in dict.fromkeys(f.folder for f in files):
            own = [(i, f) for i, f in enumerate(files) if f.folder == name]
            texts[name] = Texts(tuple(f.tree for _, f in own), tuple(p for _, f in own for p in f.problems))
            numbers[name] = tuple(i for i, _ in own)
        return CheckedProgram(Read(texts, numbers)).adjusted(zone=self.zone, facts=self.program.facts)

    def parsed(self, text: str, file: str | None, name: str) -> Parsed:
        """One statement of a language, by the name of this; the latest ones are kept."""
        key = name, text
        found = self._parsed.get(key)
        if found is None:
            read = language(folder(name)).read([(text, file, name)])
            found = self._parsed[key] = Parsed(folder(name), read.files[0], tuple(read.problems))
        return found

    @cached_property
    def _parsed(self) -> dict[tuple[str, str], Parsed]:
        return {}

    def file(self, text: str, name: str, file: str, output: str | None, names: Mapping[str, str], plain: str) -> Parsed:
        """The statement ``plain`` as a file with other names of types.

        ``text``: the same with these names, for languages that rename in the text.
        """
        copied = getattr(self.languages[folder(name)], "copied", None)
        if copied is None:
            read = language(folder(name)).read([(text, file, name)])
            return Parsed(folder(name), read.files[0], tuple(read.problems))
        found = self.parsed(plain, file, name)
        problems = tuple(replace(p, file=file) for p in found.problems)
        return Parsed(found.folder, copied(found.tree, file, output, names), problems)

    @cached_property
    def _base(self) -> list[Parsed]:
        """The rules of the closure as they are, and what is declared."""
        out: list[Parsed] = []
        for i, (text, _, name) in enumerate(self.texts):
            ending = self.languages[folder(name)].ENDING
            pieces: list[tuple[int, str, str]] = []
            for d in (d for _, number, d in self.declarations if number == i):
                pieces.append((d.start, d.written(d.type) if d.written else text[d.start : d.stop], "declared"))
            for r in (r for r in self.closure if r.text == i):
                c = r.clauses
                pieces.append((c.start, spliced(text, c.named(r.defines), c.start, c.stop), "rule"))
            if folder(name) == "esql":  # phrases are known in the text behind them
                joined = "".join(f"{p}{ending}" for _, p, _ in sorted(pieces))
                out += [self.parsed(joined, f"base {i}", name)] if pieces else []
                continue
            out += [self.parsed(f"{p}{ending}", f"base {i}", name) for _, p, _ in sorted(pieces)]
        return out


@dataclass(frozen=True)
class Parsed:
    """A parsed text: the folder of its language, its tree, the problems of its syntax."""

    folder: str
    tree: Any
    problems: tuple[Problem, ...]


def _catalogue(name: str) -> Any:
    """The clauses of a language; None if it has none yet."""
    if importlib.util.find_spec(f"occurs.languages.{name}.clauses") is None:
        return None
    return importlib.import_module(f"occurs.languages.{name}.clauses")


def _without_text(node: Node) -> RuleClauses:
    """A definition of which only the types are known: rows of these may be missing."""
    reads = frozenset(node.now | node.back)
    found = tuple(Clause("missing", 0, 0, t, type=t, role=t) for t in sorted(reads))
    return RuleClauses(0, 0, 0, node.defines, None, found, reads)


def _no_helpers(part: Any, texts: Sequence[str], kind: Any) -> list[RuleClauses]:
    return []


class _Copy:
    """The texts and tables of a variant."""

    def __init__(self, world: World, number: int, variant: Variant):
        self.number = number
        changed = {world.rules[i].defines for i, edits in variant.edits.items() if edits} | {
            *variant.added,
            *variant.rows,
        }
        whole = any(r.language in ("epl", "esql") for r in world.closure)
        if changed and whole:  # positions count there: rules stay in their order
            changed |= {r.defines for r in world.closure}
        while True:
            more = {r.defines for r in world.closure if r.clauses.reads & changed} - changed
            if not more:
                break
            changed |= more
        # logic has names without quotes alone; with a blank, types keep their order among the others
        plain = any(r.language in ("logic", "match_recognize") for r in world.closure)
        self.names = {t: f"{t}__{number}" if plain else f"{t} {number}" for t in sorted(changed)}
        self.tables: dict[str, pa.Table] = {}
        self.schemas: dict[str, Schema] = {}
        for t, name in self.names.items():
            table = variant.rows.get(t, world.history.tables.get(t))
            more_rows = variant.added.get(t)
            if table is None and more_rows is None:
                continue
            parts = [p for p in (table, more_rows) if p is not None]
            self.tables[name] = parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="permissive")
            if t in world.history.schemas:
                self.schemas[name] = world.history.schemas[t]
        self.probes: list[str] = []
        self.files: list[Parsed] = []
        self.own: set[str] = set()
        for i, (text, _, name_of) in enumerate(world.texts):
            ending = world.languages[folder(name_of)].ENDING
            pieces: list[tuple[int, str, str, str | None]] = []
            for _, at, d in world.declarations:
                if at == i and d.type in self.names and d.type not in world.defined:
                    plain_text = d.written(d.type) if d.written else text[d.start : d.stop]
                    pieces.append((d.start, plain_text, d.under(text, self.names[d.type]), None))
            for rule in world.closure:
                c = rule.clauses
                if rule.text == i and rule.defines in self.names:
                    splices = [s for e in variant.edits.get(rule.number, ()) for s in e.splices]
                    pieces.append(
                        (c.start, *self._both(text, c, splices, self.names[rule.defines]), self.names[rule.defines])
                    )
            for probe in variant.probes:
                rule = world.rules[probe.rule]
                if rule.text == i:
                    pieces.append((rule.clauses.start, *self._probe(text, rule.clauses, probe), self.probes[-1]))
            for k, (_, bare, named, output) in enumerate(sorted(pieces, key=lambda p: p[0])):
                file = f"variant {number}/{i}/{k}"
                self.own.add(file)
                self.files.append(
                    world.file(named + ending, name_of, file, output, self.names, bare + ending)
                )  # fmt: skip

    def _both(self, text: str, rule: RuleClauses, splices: Sequence[Splice], output: str) -> tuple[str, str]:
        """The text of a rule with splices, and the same with other names of types."""
        bare = spliced(text, splices, rule.start, rule.stop)
        return bare, spliced(text, [*splices, *rule.renamed(self.names), *rule.named(output)], rule.start, rule.stop)

    def _probe(self, text: str, rule: RuleClauses, probe: Probe) -> tuple[str, str]:
        """The text of a probe."""
        name = f"{rule.defines}__{self.number}_p{len(self.probes)}"
        self.probes.append(name)
        splices = [s for e in probe.edits for s in e.splices]
        more = rule.probed(probe.values) if rule.probed is not None and probe.values else ()
        return self._both(text, rule, [*splices, *more], name)
