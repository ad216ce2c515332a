"""One trigger: its generic variables, formula, durations and actions (temporal-logic.md, sections 2 and 3).

In a resolved formula constants are literals, texts that were written as bare names are literals, functions are ``Call``
by their lower-case name, and every other name is one of the leaves of :mod:`occurs.operators.temporal.tree`.
Everything else is as in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from occurs.errors import Place, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal
from occurs.languages.kit.complaints import LASTING_HINT
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.bounds import check_duration, check_top, check_unbounded, open_formulas
from occurs.languages.logic.checks.catalogue import STATE, Catalogue, word
from occurs.languages.logic.checks.formula import Formulas, check_operators
from occurs.languages.logic.render import render
from occurs.languages.logic.syntax import Formula
from occurs.model.sqltext import parameters, parts
from occurs.model.time import TimeKind
from occurs.model.types import RESERVED_OUTPUT, Schema, Type
from occurs.operators.temporal.tree import Found, Happens, Last, Sort, TableOf, Time, Value, Variable, ViewOf

#: for a column whose type SQLite knows only when it runs
CAST = "write the computed column of the SELECT as `cast(.. as integer)`, `cast(.. as real)` or `cast(.. as text)`"


@dataclass(frozen=True)
class ResolvedTrigger:
    """A trigger with what the checks know of it.

    ``name``: the type of event that it makes, of the ``schema``.  ``formula``: with resolved names, as ``emit`` and the
    ``values`` of `execute`.  ``reads``: the types of rows that its formula reads; ``inputs``: besides, those that its
    `for each` and its actions look at.  ``text``: the canonical text.
    """

    trigger: syntax.Trigger
    number: int
    name: str
    formula: Formula
    generics: tuple[tuple[str, Type], ...]
    reads: tuple[str, ...]
    inputs: tuple[str, ...]
    schema: Schema
    emit: tuple[tuple[str, Expr], ...] | None
    file: str | None
    text: str


class Resolver:
    """Resolves triggers one after the other; ``required``: unbounded state is an error; ``most``: subformulas with free
    variables that a trigger may have."""

    def __init__(self, catalogue: Catalogue, kind: TimeKind | None, required: bool, most: int) -> None:
        self.catalogue, self.kind, self.required, self.most = catalogue, kind, required, most

    def resolve(self, trigger: syntax.Trigger, number: int, source: Text) -> ResolvedTrigger:
        """Check a trigger and resolve its names; what is wrong is reported in ``source``."""
        before = len(source.problems)
        assigned: dict[str, list[syntax.Assign]] = {}
        for node in trigger.formula.walk():
            if isinstance(node, syntax.Assign):
                assigned.setdefault(node.variable.text, []).append(node)
        generics: dict[str, Type] = {}
        formulas = Formulas(source, self.catalogue, self.kind, generics, assigned)
        looked_at = set(self._generics(trigger, formulas, generics))
        check_operators(trigger, source)
        formula = formulas.formula(trigger.formula, {})
        read = reads(formula, self.catalogue)
        self._durations(trigger, source)
        formulas.place = "an action"
        emit, values = _Actions(trigger, formulas, self.catalogue).check()
        for term in values:
            looked_at |= reads(term, self.catalogue)
        schema = self._schema(generics, emit)
        if not any(p.severity == "error" for p in source.problems[before:]):
            self._whole(trigger, formula, read, formulas)
        name = trigger.name.text if trigger.emit is None else trigger.emit.type.text
        return ResolvedTrigger(
            trigger,
            number,
            name,
            formula,
            tuple(generics.items()),
            tuple(sorted(read)),
            tuple(sorted(looked_at - read)),
            schema,
            None if emit is None else tuple((n, e) for n, e, _ in emit),
            source.file,
            render(trigger),
        )

    def _generics(self, trigger: syntax.Trigger, formulas: Formulas, generics: dict[str, Type]) -> Iterator[str]:
        """Fill ``generics``, and give the types of rows that `for each` looks at."""
        each, source, c = trigger.each, formulas.source, self.catalogue
        if each is None:
            return
        types: list[Sort] = [None] * len(each.variables)
        hidden = [n for n in parameters(each.sql.text) if n in formulas.assigned] if each.sql is not None else []
        formulas.place = "`for each`"
        for used in hidden:
            formulas.unbound(used, each.span)
        formulas.place = None
        if each.sql is not None and not hidden and not c.broken(each.sql.text):
            known = [*c.constants, "time"]
            found = c.database().check(each.sql, source, known)
            if found is not None:
                yield from c.reached(found.names)
            columns = found.columns.columns if found is not None and found.columns is not None else None
            if columns is not None and len(columns) != len(types):
                message = f"the SELECT returns {len(columns)} columns for {len(types)} variables"
                source.report("arity", message, each.sql.span, "select one column for each variable, in the same order")
            elif columns is not None:
                types = [t for _, t in columns]
                if self.kind is not None and trigger.emit is None:
                    for name in (n for n, t in zip(each.variables, types, strict=True) if t is Type.NULL):
                        source.report("type-mismatch", f"the type of `{name}` is not known", name.span, CAST)
        for name, kind in zip(each.variables, types, strict=True):
            if each.sql is None:
                kind = self._column(name, formulas)
                yield from c.variables.get(name.text, (STATE,) if c.open else ())
            formulas.check_name(name, kind, "a generic variable", column=each.sql is None)
            if name.text in generics:
                source.report("duplicate-name", f"two generic variables are called `{name}`", name.span)
            if trigger.emit is None and name.text in RESERVED_OUTPUT:
                hint = "it would be a column of the output: give it another name, or emit it under another name"
                source.report("reserved-name", f"`{name}` cannot be the name of an output attribute", name.span, hint)
            generics[name.text] = kind if isinstance(kind, Type) else Type.NULL

    def _column(self, name: syntax.Name, formulas: Formulas) -> Sort:
        """The type of a generic variable that is a column of the states."""
        c = self.catalogue
        if name.text in c.variables:
            return next(iter(c.variables[name.text].values()))
        if not c.open and name.text not in c.unread:
            hint = did_you_mean(name.text, c.variables, "columns of states")
            message = f"the states have no column `{name}`"
            hint = f"{hint}; or write `for each {name} in (select ..)`"
            formulas.source.report("unknown-name", message, name.span, hint)
        return None

    def _durations(self, trigger: syntax.Trigger, source: Text) -> None:
        if trigger.gap is not None:
            check_duration(trigger.gap, trigger.span, source, self.kind)
        if trigger.observing is not None and trigger.observing.every is not None:
            check_duration(trigger.observing.every, trigger.observing.span, source, self.kind, whole=True)

    def _whole(self, trigger: syntax.Trigger, formula: syntax.Formula, read: set[str], formulas: Formulas) -> None:
        """What only a formula without mistakes shows."""
        source = formulas.source
        all_states = trigger.observing is not None and trigger.observing.every is None
        if not read and not all_states and trigger.each is None and not formulas.unsure:
            message = f"`{trigger.name}` does not read any input, so it would never be evaluated"
            hint = f"write `trigger {trigger.name} observing all: ..` to evaluate it at every state"
            source.report("never-completes", message, trigger.formula.span, hint)
            return
        check_unbounded(formula, source, self.required)
        check_top(trigger, source)
        count = open_formulas(formula)
        if count > self.most:
            message = f"{count} subformulas have free variables; the limit is {self.most}"
            source.report("unsupported", message, trigger.formula.span, f"raise the limit with `--max-formula {count}`")

    def _schema(self, generics: Mapping[str, Type], emit: list[tuple[str, Expr, Sort]] | None) -> Schema:
        if emit is None:
            return Schema(tuple(generics.items()))
        return Schema(tuple((n, self._given(e, s)) for n, e, s in emit))

    def _given(self, term: Expr, sort: Sort) -> Type:
        """The type of a column: over integer times, times and durations are numbers."""
        if not isinstance(sort, Type):
            return Type.NULL
        clock = sort is Type.DURATION or (sort is Type.TIMESTAMP and any(isinstance(n, Time) for n in term.walk()))
        if not clock or (self.kind is not None and self.kind.timestamp):
            return sort
        return Type.NULL if self.kind is None else Type.INT


class _Actions:
    """The actions of one trigger."""

    def __init__(self, trigger: syntax.Trigger, formulas: Formulas, catalogue: Catalogue) -> None:
        self.trigger, self.formulas, self.catalogue = trigger, formulas, catalogue
        self.source = formulas.source

    def check(self) -> tuple[list[tuple[str, Expr, Sort]] | None, list[Expr]]:
        """What is emitted, with types, and all terms of actions."""
        emit: list[tuple[str, Expr, Sort]] | None = None
        terms: list[Expr] = []
        first: syntax.Emit | None = None
        for action in self.trigger.actions:
            if isinstance(action, syntax.Notify):
                self.notify(action)
                continue
            given = self.arguments(action)
            terms += [e for _, e, _ in given]
            if isinstance(action, syntax.Execute):
                self.execute(action)
            elif action.never:
                hint = "`on never` has no exact time, so it cannot be an event: use `notify` or `execute`"
                self.source.report("unsupported", "`on never` cannot emit an event", action.span, hint)
            elif first is not None:
                places = (Place("the first is here", self.source.file, first.span),)
                message = f"`{self.trigger.name}` emits twice, but a trigger emits one type of event"
                self.source.report("duplicate-name", message, action.span, "write two triggers", "error", places)
            else:
                first, emit = action, given
                self.type(action)
        return emit, terms

    def arguments(self, action: syntax.Emit | syntax.Execute) -> list[tuple[str, Expr, Sort]]:
        out: list[tuple[str, Expr, Sort]] = []
        emits = isinstance(action, syntax.Emit)
        for name, term in action.arguments:
            if emits and name.text in RESERVED_OUTPUT:
                hint = f"reserved names: {', '.join(RESERVED_OUTPUT)}"
                self.source.report(
                    "reserved-name", f"`{name}` cannot be the name of an output attribute", name.span, hint
                )
            if any(n == name.text for n, _, _ in out):
                self.source.report("duplicate-name", f"`{name}` is assigned twice", name.span)
            found, sort = self.formulas.value(term, {})
            unknown = sort in (None, Type.NULL) and not isinstance(found, Literal) and not self.catalogue.open
            if emits and unknown and self.formulas.kind is not None:
                self.source.report("type-mismatch", f"the type of `{name}` is not known", name.span, CAST)
            out.append((name.text, found, sort))
        return out

    def notify(self, action: syntax.Notify) -> None:
        for name in re.findall(r"\{(\w+)\}", action.text):
            if name in self.formulas.assigned and name not in self.formulas.generics:
                self.formulas.unbound(name, action.span)

    def execute(self, action: syntax.Execute) -> None:
        found = list(parts(action.statement))
        ends = [p for p in found if p.kind == "semicolon"]
        if not any(p.kind == "word" for p in found):
            self.source.report("bad-sql", "the statement is empty", action.span, 'write `execute "insert into .."`')
        elif ends and action.statement[ends[0].end :].strip():
            hint = "write one `execute` for each statement"
            self.source.report("bad-sql", "this is more than one statement", action.span, hint)
        given = [n.text for n, _ in action.arguments]
        for name in parameters(action.statement):
            if name in given or name in self.formulas.generics or name == "time":
                continue
            if name in self.formulas.assigned:
                self.formulas.unbound(name, action.span)
                continue
            hint = f'give it a value: `execute ".." with {name} = ..`'
            self.source.report("bad-sql", f"there is no parameter `:{name}` here", action.span, hint)

    def type(self, action: syntax.Emit) -> None:
        """Report what cannot be the type of an event."""
        name = action.type.text
        if name in self.catalogue.lasting:
            self.source.report(
                "not-an-event",
                f"`{name}` has intervals (rows with an `end`), but triggers emit events",
                action.type.span,
                LASTING_HINT,
            )
        other, before = self.catalogue.first.get(name, (None, None))
        if before is None or other is None or isinstance(before, syntax.Event) or before.name == self.trigger.name:
            return
        places = (Place("it is defined here", other.file, before.name.span),)
        message = f"`{name}` is {word(before)}, but `emit` derives events"
        self.source.report("duplicate-definition", message, action.type.span, "give it another name", "error", places)


def reads(node: Expr, catalogue: Catalogue) -> set[str]:
    """The types of rows that a resolved formula or term reads."""
    out: set[str] = set()
    for part in node.walk():
        match part:
            case Variable():
                out.add(part.state)
            case Value() | TableOf():
                out.add(part.table)
            case ViewOf():
                out |= catalogue.reached([part.view])
            case Last() | Happens():
                out.add(part.event)
            case Found():
                out |= set(part.tables)
    return out
