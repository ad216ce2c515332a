"""From checked definitions to nets of operators (phenesthe.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from occurs.errors import Problem
from occurs.expr.tree import Literal
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import Analysis, Phenomenon, ResolvedDefinition
from occurs.languages.phenesthe.checks.catalogue import FACT
from occurs.languages.phenesthe.checks.scope import Project, inverse
from occurs.languages.phenesthe.checks.scope import variables as atom_variables
from occurs.languages.phenesthe.compile.building import Building, Formula, Kept
from occurs.languages.phenesthe.compile.conditions import Conditions, FactTables
from occurs.languages.phenesthe.compile.formulas import Formulas, Read
from occurs.languages.phenesthe.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.definition import Choice
from occurs.operators.interval.answers import Answer, Attribute
from occurs.operators.interval.measuring import Measured, Measures
from occurs.operators.interval.network import Net
from occurs.operators.interval.points import Missing, Ticks


@dataclass(frozen=True)
class Compiled:
    """A definition as a net of operators.

    ``net``: reads the rows of ``inputs`` and the signals of the definitions ``read``.  ``answer``: the rows it reports.
    ``delay``: its formula is certain so many ticks behind what it reads from the input, None if that has no bound.
    ``columns``: per type that it reads (inputs and definitions) the attributes it needs, without ``end``.  ``facts``:
    the facts it reads.  ``choices``: the ways to split it.  ``kept``: what it keeps that lasts.  ``warnings``:
    ``unbounded-delay``, ``unbounded-state``.
    """

    resolved: ResolvedDefinition
    net: Net
    answer: Answer
    inputs: tuple[str, ...]
    read: tuple[str, ...]
    facts: tuple[str, ...]
    columns: Mapping[str, frozenset[str]]
    delay: int | None
    choices: tuple[Choice, ...]
    kept: tuple[Kept, ...]
    warnings: tuple[Problem, ...]

    @property
    def name(self) -> str:
        return self.resolved.name


def compile_all(
    analysis: Analysis, kind: TimeKind, facts: Mapping[str, pa.Table] | None = None, window: int | None = None
) -> tuple[Compiled, ...]:
    """All definitions of a program without problems, each behind those it reads.

    ``kind``: what times count.  ``facts``: the rows of facts from outside.  ``window``: in window mode its length in
    ticks, for definitions that are true almost always.  Raises DefinitionProblem.
    """
    tables = FactTables(analysis.phenomena, facts or {})
    done: dict[str, Read] = {}
    out = []
    for resolved in analysis.definitions:
        compiled = _compiled(resolved, analysis.phenomena, done, tables, kind, window)
        done[resolved.name] = Read(resolved.definition.head, compiled.delay)
        out.append(compiled)
    return tuple(out)


def _compiled(
    resolved: ResolvedDefinition, phenomena: Mapping[str, Phenomenon], done: Mapping[str, Read], tables: FactTables,
    kind: TimeKind, window: int | None,
) -> Compiled:  # fmt: skip
    building = Building()
    conditions = Conditions(building, tables, resolved.name)
    formulas = Formulas(building, phenomena, done, conditions, kind, resolved.name, resolved.file)
    if resolved.clocked:
        assert window is not None
        if any(isinstance(a.value, syntax.Variable) for a in resolved.definition.head):
            found = formulas.formula(inverse(resolved.body))
            formula = building.made(Missing(found.variables, window, resolved.name), "event", found, later=None)
        else:
            every = Formula(building.add(Ticks(window, resolved.name)), "event", ())
            formula = formulas.guarded(every, resolved.body)
    else:
        formula = formulas.formula(resolved.body)
    report = formulas.report(resolved.body, formula)
    measures = _measures(resolved, formulas, building) if resolved.definition.measures else None
    net = building.net(formula, report, measures)
    read = [n for n in resolved.reads if phenomena[n].sort != FACT]
    delayed = formula.delay is None
    return Compiled(
        resolved,
        net,
        _answer(resolved, formula.variables, measures),
        tuple(n for n in read if n not in done),
        tuple(n for n in read if n in done),
        tuple(n for n in resolved.reads if phenomena[n].sort == FACT),
        columns(resolved, phenomena),
        formula.delay,
        choices(resolved, phenomena),
        tuple(building.kept),
        tuple(warnings(resolved, delayed, building.kept, building.types)),
    )


def _measures(resolved: ResolvedDefinition, formulas: Formulas, building: Building) -> Measures:
    """What is computed of the intervals of a definition."""
    found, variables = [], {}
    columns = {v.name: n.text for n, v in resolved.definition.variables}
    for name, measure in resolved.definition.measures:
        type = resolved.schema.get(name.text) or Type.NULL
        if measure.atom is None:
            unit = None if measure.unit is None else formulas.ticks(measure.unit, measure)
            found.append(Measured(name.text, type, measure.function, unit=unit))
            continue
        own = {v: f"{v} in {render(measure.atom)}" for v in atom_variables(measure.atom) if v not in columns}
        events = formulas.events(_renamed(measure.atom, own))
        variables[events.number] = events.variables
        of = None
        if measure.variable is not None:
            variable = own.get(measure.variable.name, measure.variable.name)
            of = variable, building.types.get(variable, Type.NULL)
        found.append(Measured(name.text, type, measure.function, events.number, of))
        words = f"{measure.function}({render(measure.atom)})"
        by = tuple(v for v in events.variables if v in columns)
        building.keeps(
            Kept(words, "the events since the start of every interval that is not reported yet", by, "it is reported")
        )
    return Measures(tuple(found), tuple(columns.items()), variables)


def _renamed(atom: syntax.Atom, names: Mapping[str, str]) -> syntax.Atom:
    """The atom with other variables: those that are not in the head are its own."""

    def value(one: syntax.Value) -> syntax.Value:
        return replace(one, name=names.get(one.name, one.name)) if isinstance(one, syntax.Variable) else one

    return replace(atom, arguments=tuple(replace(a, value=value(a.value)) for a in atom.arguments))


def _answer(resolved: ResolvedDefinition, variables: tuple[str, ...], measures: Measures | None) -> Answer:
    head = []
    for argument in resolved.definition.head:
        value = argument.value
        if isinstance(value, syntax.Measure):
            continue
        type = resolved.schema.get(argument.name.text) or Type.NULL
        place = Literal(value.value, value.type) if isinstance(value, syntax.Constant) else value.name
        head.append(Attribute(argument.name.text, type, place))
    return Answer(resolved.name, resolved.definition.sort != "event", variables, tuple(head), measures)


# --- keys, columns and warnings ---------------------------------------------------------------------------------------


def atoms(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> list[syntax.Atom]:
    """The atoms of a body, and of what is computed of its intervals, that are no facts."""
    found = [n for n in definition.body.walk() if isinstance(n, syntax.Atom)] + [*definition.definition.measured]
    return [a for a in found if phenomena[a.name.text].sort != FACT]


def choices(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> tuple[Choice, ...]:
    """A choice per variable that lives in the whole body and occurs in every atom that is no fact.

    ``attributes``: per type those that all its atoms read the variable from; ``passes``: those of the head that have
    its values, none if it ends below the head.
    """
    body = definition.body
    living: set[str] = set()
    while isinstance(body, Project):
        living |= body.gone
        body = body.operand
    head = {n.text: v.name for n, v in definition.definition.variables}
    found = []
    for variable in sorted(living | set(head.values())):
        attributes: dict[str, set[str]] = {}
        for atom in atoms(definition, phenomena):
            known = phenomena[atom.name.text]
            here = {n for n, v in known.arguments(atom) if isinstance(v, syntax.Variable) and v.name == variable}
            attributes[known.name] = attributes.get(known.name, here) & here
        if attributes and all(attributes.values()):
            read = tuple((t, tuple(sorted(names))) for t, names in sorted(attributes.items()))
            found.append(Choice(read, frozenset(n for n, v in head.items() if v == variable)))
    return tuple(found)


def columns(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> dict[str, frozenset[str]]:
    """The attributes that are needed of every type that is read, without ``end`` of what lasts."""
    found: dict[str, set[str]] = {}
    for atom in atoms(definition, phenomena):
        known = phenomena[atom.name.text]
        needed = found.setdefault(known.name, set())
        needed |= {n for n, v in known.arguments(atom) if not isinstance(v, syntax.Anything)}
        if known.changes:
            needed |= {*known.names, "holds"}
    return {name: frozenset(needed) for name, needed in found.items()}


def warnings(
    definition: ResolvedDefinition, delayed: bool, kept: Sequence[Kept], types: Mapping[str, Type]
) -> Iterator[Problem]:
    """``unbounded-delay`` if its rows may be known arbitrarily late (``delayed``), and ``unbounded-state``.

    What a definition keeps is bounded by the number of bindings.  Of measured values, which are floats and times, there
    is no end, of names and numbers of things there is.
    """
    if delayed:
        yield _delay(definition)
    told: set[tuple[str, ...]] = set()
    for part in kept:
        endless = tuple(v for v in part.by if types.get(v) in (Type.FLOAT, Type.TIMESTAMP))
        if endless and endless not in told and part.lasts:
            told.add(endless)
            names = " and ".join(f"`{v}`" for v in endless)
            message = f"unbounded state: `{definition.name}` keeps {part}, and {names} can have any number of values"
            hint = "write `_` if the value is not needed"
            if part.bounded is not None:
                hint += f", or limit the length: `{part.bounded}`"
            yield _warning(definition, "unbounded-state", message, hint)


def _delay(definition: ResolvedDefinition) -> Problem:
    for node in definition.body.walk():
        if isinstance(node, syntax.MinimalRange) or (isinstance(node, syntax.Iteration) and ">" in node.op):
            sign = "~>>" if isinstance(node, syntax.MinimalRange) else f"{node.op}@"
            message = (
                f"`{sign}` in `{definition.name}`: a later event "
                "decides about earlier starts, however long ago they were"
            )
            hint = "its rows can be arbitrarily late, and so can those of definitions that read them"
            return _warning(definition, "unbounded-delay", message, hint, node)
    message = f"`{definition.name}` reads a definition whose rows can be arbitrarily late"
    return _warning(definition, "unbounded-delay", message, "its rows are as late as those that it reads")


def _warning(
    definition: ResolvedDefinition, kind: str, message: str, hint: str, node: syntax.Relation | None = None
) -> Problem:
    span = getattr(node, "span", None) or definition.definition.name.span
    return Problem(kind, message, file=definition.file, span=span, hint=hint, severity="warning")
