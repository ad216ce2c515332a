"""Formulas with resolved names, and which operators may stand where (temporal-logic.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from occurs.errors import Place, Span, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Ref
from occurs.expr.typing import comparable
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.catalogue import or_declare, word
from occurs.languages.logic.checks.durations import check_bound, check_duration
from occurs.languages.logic.checks.names import UNKNOWN, Resolved, Scope, span_of, type_word
from occurs.languages.logic.checks.terms import Terms
from occurs.languages.logic.render import render
from occurs.languages.logic.semantics.text import sources
from occurs.languages.logic.syntax import Formula
from occurs.languages.text import Text
from occurs.model.sqltext import parameters
from occurs.model.types import Type
from occurs.operators.temporal.tree import Found, Generic, Global, Happens, Rows, Sort, Time

_NUMBERS = ("sum", "avg")
_WORDS: Mapping[type[Formula], str] = {
    syntax.Until: "until", syntax.Since: "since", syntax.Release: "release", syntax.WeakUntil: "weak until",
    syntax.Eventually: "eventually", syntax.Always: "always", syntax.Previously: "previously",
    syntax.Throughout: "throughout", syntax.Nexttime: "nexttime", syntax.Lasttime: "lasttime",
}  # fmt: skip


def operator(node: Formula) -> str:
    """The word of a temporal operator."""
    return _WORDS[type(node)]


def check_operators(trigger: syntax.Trigger, source: Text) -> None:
    """Report operators that cannot stand where they do; each once."""
    past_hint = "a past trigger has since, lasttime, previously and throughout; otherwise write `future trigger`"
    if trigger.past:
        for node in _of(trigger.formula, syntax.FUTURE):
            message = f"`{operator(node)}` looks forward, but `{trigger.name}` is a past trigger"
            source.report("sort", message, node.span, past_hint)
    else:
        seen: set[int] = set()
        for node in _of(trigger.formula, syntax.PAST):
            for inner in _of(node, syntax.FUTURE):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    message = f"`{operator(inner)}` looks forward inside `{operator(node)}`, which looks back"
                    hint = "past operators may be used inside future operators, but not the other way round"
                    source.report("sort", message, inner.span, hint)
    for aggregate in trigger.formula.walk():
        if isinstance(aggregate, syntax.Aggregate):
            for part in (p for c in aggregate.children for p in c.walk()):
                if isinstance(part, (syntax.Aggregate, *syntax.FUTURE, *syntax.PAST)):
                    word = part.op if isinstance(part, syntax.Aggregate) else operator(part)
                    hint = "use a predicate of one state; let another trigger emit an event for this formula"
                    message = f"`{word}` reads other states, but an aggregate reads only one state at a time"
                    source.report("sort", message, part.span, hint)
                    break


def _of(node: Expr, kinds: tuple[type[Formula], ...]) -> Iterator[Formula]:
    """The operators of a formula, without those inside aggregates."""
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, syntax.Aggregate):
            continue
        if isinstance(part, kinds):
            yield part
        todo += reversed(part.children)


class Formulas(Terms):
    """Resolves the formula of one trigger."""

    def formula(self, node: Formula, scope: Scope) -> Formula:
        """The formula with its names resolved; ``scope``: the global variables that are known."""
        match node:
            case syntax.Atom():
                return self.atom(node, scope)
            case syntax.Compare():
                return self.compare(node, scope)
            case syntax.IsNull():
                return syntax.IsNull(self.value(node.term, scope)[0], node.negated, span=node.span)
            case syntax.Exists():
                return self.exists(node, scope)
            case syntax.Assign():
                return self.assign(node, scope)
        bound = getattr(node, "bound", None)
        if isinstance(bound, syntax.Bound):
            check_bound(bound, self.source, self.kind)
        built = node.with_children(tuple(self.formula(part, scope) for part in node.parts))
        assert isinstance(built, Formula)
        return built

    def resolve(self, node: Expr, scope: Scope) -> Resolved:
        return self.aggregate(node, scope) if isinstance(node, syntax.Aggregate) else super().resolve(node, scope)

    def aggregate(self, node: syntax.Aggregate, scope: Scope) -> Resolved:
        """An aggregate; it knows no global variable."""
        if self.place == "an aggregate":
            return self.elsewhere()  # it has been reported
        if self.place is not None:
            hint = "compare it in the formula, or emit it from a separate trigger"
            return self.report("sort", f"`{node.op}` reads earlier states, but {self.place} cannot", node.span, hint)
        if node.within is not None:
            check_duration(node.within, node.span, self.source, self.kind)
        self.place = "an aggregate"
        arg, sort = self.value(node.arg, {})
        predicate = None if node.predicate is None else self.formula(node.predicate, {})
        self.place = None
        kind = sort if isinstance(sort, Type) else None
        fits = kind is None or kind in (Type.NULL, Type.DURATION) or kind.numeric
        if (node.op in _NUMBERS and not fits) or (node.op in ("min", "max") and kind is Type.BOOL):
            message = f"`{node.op}` needs numbers, but `{render(node.arg)}` is {type_word(kind)}"
            return self.report("type-mismatch", message, span_of(node.arg))
        built = syntax.Aggregate(node.op, arg, predicate, node.within, span=node.span)
        if node.op == "count":
            return built, Type.INT
        return built, Type.FLOAT if node.op == "avg" and kind is Type.INT else kind

    # --- propositions ------------------------------------------------------------------------------------------------

    def atom(self, node: syntax.Atom, scope: Scope) -> Formula:
        """An event, or a boolean value."""
        term, c = node.term, self.catalogue
        bare = isinstance(term, Ref) and term.scope is None
        name = term.name if isinstance(term, Ref | syntax.Apply) else ""
        own = name in scope or name in self.generics or name in c.constants or name in c.variables
        if name in c.events and not own and bare:
            return Happens(name, span=node.span)
        if name in c.events and isinstance(term, syntax.Apply) and term.column is None:
            return self.happens(term, node.span, scope)
        if bare and not self.means(name, scope):
            near = did_you_mean(name, [*self.names(scope), *c.events], "known")
            hint = or_declare(near, f"event {name}` or `state s({name} boolean)")
            self.report("unknown-name", f"there is no `{name}`", node.span, hint)
            return syntax.Atom(UNKNOWN, span=node.span)
        found, sort = self.value(term, scope)
        if sort not in (None, Type.BOOL, Type.NULL):
            hint = "compare it with a value: `= ..`, `> ..`"
            message = f"a condition must be true or false, but `{render(term)}` is {type_word(sort)}"
            self.report("type-mismatch", message, node.span, hint)
        return syntax.Atom(found, span=node.span)

    def happens(self, term: syntax.Apply, span: Span | None, scope: Scope) -> Formula:
        """``E(attr = term, ..)``."""
        attributes = self.catalogue.events[term.name]
        columns = list(attributes or ())
        names: list[str] = []
        args: list[Expr] = []
        for i, (given, arg) in enumerate(zip(term.names, term.args, strict=True)):
            if given is None and i >= len(columns):
                message = f"only {len(columns)} attributes of the event `{term.name}` are known"
                self.report("arity", message, span_of(arg), f"name the attributes: `{term.name}(attribute = ..)`")
                continue
            name = columns[i] if given is None else given
            kind = self.attribute_type(term.name, name, span)
            if name in names:
                self.report("duplicate-name", f"`{name}` is assigned twice", span_of(arg))
            found, sort = self.argument(arg, scope)
            self.equal_to(f"`{name}` of `{term.name}`", kind, arg, sort)
            names.append(name)
            args.append(found)
        return Happens(term.name, tuple(names), tuple(args), span=span)

    def compare(self, node: syntax.Compare, scope: Scope) -> Formula:
        (left, a), (right, b) = self.resolve(node.left, scope), self.resolve(node.right, scope)
        built = syntax.Compare(node.op, left, right, span=node.span)
        if a is None or b is None:
            return built
        if isinstance(a, Rows) and isinstance(b, Rows):
            fits = node.op in ("=", "!=") and len(a.columns) == len(b.columns)
        else:
            both = isinstance(a, Type) and isinstance(b, Type)
            fits = both and comparable(node.op, a, b, self.integer_time)  # type: ignore[arg-type]
        if not fits:
            message = f"`{node.op}` cannot compare {type_word(a)} with {type_word(b)}"
            self.mismatch(message, node, (node.left, a), (node.right, b))
        return built

    def exists(self, node: syntax.Exists, scope: Scope) -> Formula:
        c = self.catalogue
        relations = {n: g.sort for n, g in scope.items() if isinstance(g.sort, Rows)}
        values: dict[str, Expr] = {n: Generic(n, t) for n, t in self.generics.items()}
        values |= {n: k.value for n, k in c.constants.items()}
        values |= {n: g for n, g in scope.items() if n not in relations}
        values["time"] = Time()
        if c.broken(node.sql.text):
            self.unsure = True
            return Found(node.sql, span=node.span)
        hidden = [n for n in parameters(node.sql.text) if n in self.assigned and n not in values]
        for name in hidden:
            self.unbound(name, node.sql.span)
        if hidden:
            return Found(node.sql, span=node.span)
        if any(g.sort is None for g in scope.values()):
            self.unsure = True
            return self.unchecked(node, scope, values)
        found = c.database().check(node.sql, self.source, values, relations)
        if found is None:
            return Found(node.sql, span=node.span)
        args = tuple(values[n] for n in found.parameters)
        read = tuple(scope[n] for n in sorted(found.names & relations.keys()))
        tables = tuple(sorted(c.reached(found.names - relations.keys())))
        return Found(node.sql, found.parameters, args, read, tables, span=node.span)

    def unchecked(self, node: syntax.Exists, scope: Scope, values: Mapping[str, Expr]) -> Formula:
        """``exists`` where it is not known of every variable whether it is a relation: what its text says of it."""
        c, sql = self.catalogue, node.sql.text
        read = {s.name.lower() for s in sources(sql)}
        own = tuple(g for n, g in sorted(scope.items()) if n.lower() in read and not isinstance(g.sort, Type))
        hidden = {g.name.lower() for g in own}
        names = tuple(n for n in parameters(sql) if n in values)
        stored = [n for n in (*c.tables, *c.views) if n.lower() in read - hidden]
        args = tuple(values[n] for n in names)
        return Found(node.sql, names, args, own, tuple(sorted(c.reached(stored))), span=node.span)

    # --- assignments -------------------------------------------------------------------------------------------------

    def assign(self, node: syntax.Assign, scope: Scope) -> Formula:
        term, sort = self.resolve(node.term, scope)
        name = node.variable.text
        self.check_name(node.variable, sort, "a global variable")
        known = Global(name, sort, isinstance(term, Time), span=node.variable.span)
        operand = self.formula(node.operand, {**scope, name: known})
        return syntax.Assign(node.variable, term, operand, span=node.span)

    def check_name(self, name: syntax.Name, sort: Sort, what: str, column: bool = False) -> None:
        """Report a variable that has the name of something else; ``column``: it is meant to be a database variable."""
        c, text, source = self.catalogue, name.text, self.source
        if text in ("time", "currenttime"):
            source.report(
                "reserved-name", f"`{text}` is reserved for the time of the state", name.span, "give it another name"
            )
            return
        places: list[Place] = []
        other = None
        if what == "a global variable" and text in self.generics:
            other = "a generic variable"
        elif text in c.first:
            at, before = c.first[text]
            other = word(before)
            places = [Place("it is defined here", at.file, before.name.span)]
        elif text in c.variables and not column:
            other = "a database variable"
            for state in c.variables[text]:
                if state in c.states:
                    at = c.first[state][0]
                    columns = c.states[state].columns
                    places += [Place("it is declared here", at.file, k.name.span) for k in columns if k.name == name]
        elif text in c.events or text in c.lasting:
            other = "an event"
        elif isinstance(sort, Rows):
            stored = next((n for n in (*c.tables, *c.views) if n.lower() == text.lower()), None)
            other = f"the same as `{stored}` in SQL, which ignores case" if stored is not None else None
        if other is not None:
            message = f"`{text}` is {what} here, but also {other}"
            source.report("duplicate-definition", message, name.span, "give it another name", "error", tuple(places))
