"""From checked definitions to nets of operators (phenesthe.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from occurs.errors import Problem
from occurs.expr.tree import Literal
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import Analysis, Phenomenon, ResolvedDefinition
from occurs.languages.phenesthe.checks_phenomenon import FACT
from occurs.languages.phenesthe.compile_conditions import Conditions
from occurs.languages.phenesthe.compile_facts import FactTables
from occurs.languages.phenesthe.compile_formula import Formulas, Read
from occurs.languages.phenesthe.compile_net import Building, Formula, Kept
from occurs.languages.phenesthe.compile_notes import choices, columns, warnings
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.scope import variables as atom_variables
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.lasting.answers import Answer, Attribute
from occurs.operators.lasting.measuring import Measured, Measures
from occurs.operators.lasting.network import Net
from occurs.operators.lasting.ticks import Ticks
from occurs.plan.keys import Choice


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
    columns = {a.value.name: a.name.text for a in resolved.definition.head if isinstance(a.value, syntax.Variable)}
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
