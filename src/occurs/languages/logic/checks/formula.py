"""Formulas with resolved names, and which operators may stand where (temporal-logic.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from occurs.errors import Place, Span, did_you_mean
from occurs.expr.aggregates import AGGREGATES
from occurs.expr.functions import CATALOGUE
from occurs.expr.signature import TIMESTAMP, Mismatch
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, Literal, Ref, Unary
from occurs.expr.typing import arithmetic_type, comparable
from occurs.languages.kit.complaints import LASTING_HINT, lasting_text
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.bounds import check_bound, check_duration, operator
from occurs.languages.logic.checks.catalogue import STATE, Catalogue, or_declare, word
from occurs.languages.logic.functions import FUNCTIONS
from occurs.languages.logic.render import render
from occurs.languages.logic.sql import sources
from occurs.languages.logic.syntax import Formula
from occurs.model.sqltext import parameters
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal.tree import (
    Found,
    Generic,
    Global,
    Happens,
    Last,
    RelationType,
    Sort,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
)

ONLY = "only generic variables, `time` and values of the current state are available there"
Scope = Mapping[str, Global]
Resolved = tuple[Expr, Sort]
UNKNOWN = Literal(None, Type.NULL)


def type_word(sort: Sort) -> str:
    """A type as this language names it."""
    return "boolean" if sort is Type.BOOL else str(sort)


def known_type(kind: Type | None) -> Type | None:
    """None for a type that is not known."""
    return None if kind is Type.NULL else kind


def counted(count: int, word: str) -> str:
    """``no key``, ``1 key``, ``2 keys``."""
    return f"{count or 'no'} {word}{'s' * (count > 1)}"


def span_of(node: Expr) -> Span | None:
    """The place of a node."""
    return getattr(node, "span", None)


class Formulas:
    """Resolves the names of one trigger: of its formula, and of the terms in it and in its actions.

    ``generics``: its generic variables; ``assigned``: every assignment of its formula by the name of its variable;
    ``place``: where the terms stand that know no global variable (``an action``, ``an aggregate``), None in a formula.
    """

    def __init__(
        self,
        source: Text,
        catalogue: Catalogue,
        kind: TimeKind | None,
        generics: Mapping[str, Type],
        assigned: Mapping[str, Sequence[syntax.Assign]],
    ) -> None:
        self.source, self.catalogue, self.kind = source, catalogue, kind
        self.generics, self.assigned = generics, assigned
        self.place: str | None = None
        #: part of the trigger could not be looked at, because of something wrong elsewhere
        self.unsure = False
        self.integer_time = None if kind is None else not kind.timestamp

    def report(
        self, kind: str, message: str, span: Span | None, hint: str | None = None, related: Iterable[Place] = ()
    ) -> Resolved:
        """Report a problem; gives a term of which nothing is known."""
        self.source.report(kind, message, span, hint, "error", tuple(related))
        return UNKNOWN, None

    def elsewhere(self) -> Resolved:
        """A term that something wrong elsewhere leaves open."""
        self.unsure = True
        return UNKNOWN, None

    def mismatch(self, message: str, node: Expr, *operands: tuple[Expr, Sort]) -> Resolved:
        """Report types that do not go together, with the places of both."""
        types = [s for _, s in operands]
        hint = None
        if any(isinstance(s, RelationType) for s in types):
            hint = "relations can be compared by `=` and `!=` with relations of as many columns, and read in SQL"
        elif Type.STRING in types:
            hint = 'a string is never converted to a number; write a time as `timestamp "2024-01-05T09:00:00Z"`'
        elif Type.DURATION in types or Type.TIMESTAMP in types:
            hint = "with timestamps, a duration needs a unit: `10 min`"
        elif types == [Type.BOOL, Type.BOOL]:
            hint = "bools have no order: use `=`, `!=` or the value itself"
        related = [Place(f"`{render(o)}` is {type_word(s)}", self.source.file, span_of(o)) for o, s in operands]
        return self.report("type-mismatch", f"`{render(node)}`: {message}", span_of(node), hint, related)

    def means(self, name: str, scope: Scope) -> bool:
        """Whether a name means something, though perhaps not here."""
        c = self.catalogue
        known = (scope, self.generics, self.assigned, c.first, c.variables, c.events, c.unread, c.lasting)
        return c.open or name == "time" or any(name in names for names in known)

    def names(self, scope: Scope) -> list[str]:
        """All names that a bare term may be."""
        c = self.catalogue
        return [*scope, *self.generics, *c.variables, *c.constants, *c.tables, *c.views, "time"]

    def unbound(self, name: str, span: Span | None) -> Resolved:
        """A global variable where it is not known."""
        at = self.assigned[name][0]
        places = [Place("it is bound here", self.source.file, at.variable.span)]
        if self.place is not None:
            message = f"`{name}` is a global variable, which {self.place} cannot read"
            return self.report("unbound-variable", message, span, ONLY, places)
        head = f"[{name} <- {render(at.term)}]"
        line = "" if at.span is None else f" (line {at.span.line})"
        message = f"`{name}` is bound only in `{render(at)}`{line}"
        hint = f"put parentheses around the formula that uses it: `{head} (..)`"
        return self.report("unbound-variable", message, span, hint, places)

    def attribute_type(self, event: str, name: str, span: Span | None) -> Type | None:
        """The type of an attribute of an event; reports one that there is not."""
        attributes = self.catalogue.events[event]
        if attributes is None or name in attributes:
            return None if attributes is None else known_type(attributes[name])
        hint = did_you_mean(name, attributes, "attributes")
        self.report("unknown-attribute", f"the event `{event}` has no attribute `{name}`", span, hint)
        return None

    def missing_event(self, name: str, span: Span | None) -> Resolved:
        """Report the name of an event or a table that there is not."""
        c = self.catalogue
        if name in c.unread:
            return self.elsewhere()
        if name in c.first or name in c.variables:
            return self.report("unknown-name", f"`{name}` is neither an event nor a table", span)
        hint = or_declare(did_you_mean(name, [*c.events, *c.tables], "events and tables"), f"event {name}(..)")
        return self.report("unknown-name", f"there is no event or table `{name}`", span, hint)

    # --- formulas ----------------------------------------------------------------------------------------------------

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
        if isinstance(a, RelationType) and isinstance(b, RelationType):
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
        relations = {n: g.sort for n, g in scope.items() if isinstance(g.sort, RelationType)}
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
        elif isinstance(sort, RelationType):
            stored = next((n for n in (*c.tables, *c.views) if n.lower() == text.lower()), None)
            other = f"the same as `{stored}` in SQL, which ignores case" if stored is not None else None
        if other is not None:
            message = f"`{text}` is {what} here, but also {other}"
            source.report("duplicate-definition", message, name.span, "give it another name", "error", tuple(places))

    # --- terms -------------------------------------------------------------------------------------------------------

    def value(self, node: Expr, scope: Scope) -> Resolved:
        """A term that must be one value."""
        found, sort = self.resolve(node, scope)
        if isinstance(sort, RelationType):
            hint = "remember it and read it in SQL: `[x <- T] .. exists (select .. from x ..)`"
            return self.report(
                "type-mismatch", f"`{render(node)}` is {sort}, but a value is needed here", span_of(node), hint
            )
        return found, sort

    def resolve(self, node: Expr, scope: Scope) -> Resolved:
        """A term with its names resolved, and what it gives."""
        match node:
            case syntax.Aggregate():
                return self.aggregate(node, scope)
            case Literal():
                return node, node.type
            case DurationLiteral():
                check_duration(node.value, node.span, self.source, self.kind)
                return node, Type.DURATION
            case Unary():
                arg, sort = self.value(node.arg, scope)
                if sort in (None, Type.NULL, Type.DURATION) or (isinstance(sort, Type) and sort.numeric):
                    return Unary("neg", arg, span=node.span), sort
                if self.is_ticks(arg, sort):
                    return Unary("neg", arg, span=node.span), Type.INT
                message = f"`-` needs a number, but `{render(node.arg)}` is {type_word(sort)}"
                return self.report("type-mismatch", message, node.span)
            case Binary():
                return self.arithmetic(node, scope)
            case Ref(scope=None):
                return self.name(node, scope)
            case Ref():
                return self.attribute(node, scope)
            case syntax.Apply():
                return self.apply(node, scope)
        raise TypeError(f"not a term: {node!r}")

    # --- operators and functions -------------------------------------------------------------------------------------

    def arithmetic(self, node: Binary, scope: Scope) -> Resolved:
        (left, a), (right, b) = self.value(node.left, scope), self.value(node.right, scope)
        built = Binary(node.op, left, right, span=node.span)
        if not isinstance(a, Type) or not isinstance(b, Type):
            return built, None
        found = arithmetic_type(node.op, a, b, self.integer_time)
        if found is None and (self.is_ticks(left, a) or a.numeric) and (self.is_ticks(right, b) or b.numeric):
            return built, Type.FLOAT if node.op == "/" or Type.FLOAT in (a, b) else Type.INT
        if found is None:
            message = f"`{node.op}` cannot be applied to {type_word(a)} and {type_word(b)}"
            return self.mismatch(message, node, (node.left, a), (node.right, b))
        return built, found

    def is_ticks(self, node: Expr, sort: Sort) -> bool:
        """Is it the time, where times are integers, or may be?  `2 * time` means nothing over timestamps."""
        return sort is Type.TIMESTAMP and self.integer_time is not False and any(map(_of_clock, node.walk()))

    def call(self, node: syntax.Apply, scope: Scope) -> Resolved:
        name = node.name.lower()
        if any(node.names):
            return self.report("arity", f"`{name}` does not take arguments by name", node.span)
        found = [self.argument(a, scope) for a in node.args]
        args = tuple(a for a, _ in found)
        types = [s if isinstance(s, Type) else None for _, s in found]
        function = CATALOGUE["hour" if name == "time_of_day" else name]
        if not function.takes(len(args)):
            message = f"`{name}` takes {function.arity}, but got {len(args)}"
            return self.report("arity", message, node.span, function.doc)
        try:
            result = function.resolve(types)[1]
        except Mismatch as m:
            arg = node.args[m.position]
            message = f"`{name}`: `{render(arg)}` is {type_word(types[m.position])}, expected {m.expected}"
            return self.report("type-mismatch", message, span_of(arg) or node.span, function.doc)
        times = [a for i, a in enumerate(args) if function.params[min(i, len(function.params) - 1)] == TIMESTAMP]
        if self.integer_time and any(_of_clock(n) for a in times for n in a.walk()):
            message = f"`{name}`: `{render(node.args[0])}` is a number of ticks, expected a timestamp"
            return self.report("type-mismatch", message, span_of(node.args[0]) or node.span, function.doc)
        for position, problem in function.problem.items():
            given = args[position] if position < len(args) else None
            wrong = problem(given.value) if isinstance(given, Literal) and given.value is not None else None
            if wrong:
                return self.report("type-mismatch", wrong, span_of(node.args[position]) or node.span)
        return Call(name, args, span=node.span), Type.DURATION if name == "time_of_day" else result

    def argument(self, node: Expr, scope: Scope) -> Resolved:
        """An argument: a name that means nothing else is a text."""
        if isinstance(node, Ref) and node.scope is None and not self.means(node.name, scope):
            near = did_you_mean(node.name, self.names(scope)) if self.names(scope) else ""
            hint = f'write it in quotes: `"{node.name}"`' + (f"; {near}" if near.startswith("did you") else "")
            self.source.report("text-constant", f"`{node.name}` is read as a string", node.span, hint, "notice")
            return Literal(node.name, Type.STRING, span=node.span), Type.STRING
        return self.value(node, scope)

    # --- names -------------------------------------------------------------------------------------------------------

    def name(self, node: Ref, scope: Scope) -> Resolved:
        name, span, c = node.name, node.span, self.catalogue
        if name in scope:
            found = scope[name]
            return Global(name, found.sort, found.clock, span=span), found.sort
        if name == "time":
            return Time(span=span), Type.TIMESTAMP
        if name in self.generics:
            return Generic(name, self.generics[name], span=span), self.generics[name]
        if name in self.assigned:
            return self.unbound(name, span)
        if name in c.constants:
            value = c.constants[name].value
            return Literal(value.value, value.type, span=span), value.type
        if name in c.tables:
            rows = RelationType(tuple((k.name.text, k.type) for k in c.tables[name].columns))
            return TableOf(name, rows, span=span), rows
        if name in c.views:
            return self.view(name, (), (), node, scope)
        if name in c.variables:
            states = c.variables[name]
            if len(states) > 1:
                message = f"`{name}` is a variable of " + " and of ".join(f"`{s}`" for s in states)
                return self.report("duplicate-name", message, span, "give the columns different names")
            ((state, kind),) = states.items()
            return Variable(state, name, known_type(kind), span=span), known_type(kind)
        if name in c.events:
            return self.report(
                "type-mismatch", f"`{name}` is an event, but a value is needed here", span, f"write `{name}.attribute`"
            )
        if name in c.lasting:
            return self.report("not-an-event", lasting_text(name, "triggers read"), span, LASTING_HINT)
        if c.open:
            return Variable(STATE, name, None, span=span), None
        if name in c.unread:
            return self.elsewhere()
        hint = did_you_mean(name, self.names(scope), "known")
        if not c.variables:
            hint = or_declare(hint, f"state s({name} float)")
        return self.report("unknown-name", f"there is no `{name}`", span, hint)

    def attribute(self, node: Ref, scope: Scope) -> Resolved:
        """``E.attr``, ``T.column``."""
        c, owner = self.catalogue, str(node.scope)
        if f"{owner}.{node.name}" in c.variables:
            return self.name(replace(node, scope=None, name=f"{owner}.{node.name}"), scope)
        if owner in scope or (owner in self.assigned and owner not in c.first):
            hint = f"read a remembered relation in SQL: `exists (select .. from {owner} where ..)`"
            message = f"`{owner}` is a global variable and has no attributes"
            return self.report("type-mismatch", message, node.span, hint)
        if owner in c.tables and c.tables[owner].keys:
            keys = [k.name.text for k in c.tables[owner].keys]
            text = f"the table `{owner}` takes {counted(len(keys), 'key')}, but got 0"
            hint = f"name the row: `{owner}({', '.join(keys)}).{node.name}`"
            return self.report("arity", text, node.span, hint)
        if owner in c.tables:
            return self.look_up(owner, node.name, (), (), node, scope)
        if owner in c.states:
            return self.report("unknown-name", f"`{owner}` is a state", node.span, f"write only `{node.name}`")
        if owner in c.lasting and owner not in c.events:
            return self.report("not-an-event", lasting_text(owner, "triggers read"), node.span, LASTING_HINT)
        if owner not in c.events:
            return self.missing_event(owner, node.span)
        kind = self.attribute_type(owner, node.name, node.span)
        return Last(owner, node.name, kind, span=node.span), kind

    # --- tables and views --------------------------------------------------------------------------------------------

    def apply(self, node: syntax.Apply, scope: Scope) -> Resolved:
        c, name = self.catalogue, node.name
        if name in c.tables:
            return self.look_up(name, node.column, node.args, node.names, node, scope)
        if node.column is None and name in c.views:
            return self.view(name, node.args, node.names, node, scope)
        if name in c.events and name.lower() not in FUNCTIONS:
            hint = f"write `{name}.attribute` for a value, or use the event as a condition of its own"
            return self.report("type-mismatch", f"`{name}` is an event, but a value is needed here", node.span, hint)
        if node.column is None and name.lower() in FUNCTIONS and name not in c.first:
            return self.call(node, scope)
        if name in c.unread:
            return self.elsewhere()
        if name in c.first or name in c.variables or name in scope or name in self.generics:
            return self.report(
                "unknown-name", f"`{name}` is neither a table nor a view, so it does not take arguments", node.span
            )
        near = did_you_mean(name, [*c.tables, *c.views, *c.events, *FUNCTIONS], "tables, views, events and functions")
        kind = "unknown-function" if any(f"`{f}`" in near for f in FUNCTIONS) and "did" in near else "unknown-name"
        return self.report(kind, f"there is no table, view, event or function `{name}`", node.span, near)

    def look_up(
        self,
        name: str,
        column: str | None,
        args: Sequence[Expr],
        names: Sequence[str | None],
        node: Expr,
        scope: Scope,
    ) -> Resolved:
        """The value in the row of a table that has these keys."""
        table, span = self.catalogue.tables[name], span_of(node)
        keys = [(k.name.text, k.type) for k in table.keys]
        found = self.in_order(f"the table `{name}`", "key", keys, args, names, span, scope)
        if found is None:
            return UNKNOWN, None
        plain = [k.name.text for k in table.columns if not k.key]
        if column is None and len(plain) != 1:
            call = f"{name}({', '.join(k for k, _ in keys)})"
            hint = f"write `{call}.{plain[0]}`" if plain else "write `exists (select 1 from ..)` to test for a row"
            many = "several columns" if plain else "no column"
            return self.report("arity", f"`{name}` has {many} besides its keys", span, hint)
        column = plain[0] if column is None else column
        kind = next((k.type for k in table.columns if k.name.text == column), None)
        if kind is None:
            hint = did_you_mean(column, [k.name.text for k in table.columns], "columns")
            return self.report("unknown-attribute", f"the table `{name}` has no column `{column}`", span, hint)
        return Value(name, column, found, kind, span=span), kind

    def view(self, name: str, args: Sequence[Expr], names: Sequence[str | None], node: Expr, scope: Scope) -> Resolved:
        """The value, or the rows, of a view."""
        view, known, span = self.catalogue.views[name], self.catalogue.selects.get(name), span_of(node)
        wanted = [(p.text, Type.NULL) for p in view.parameters]
        found = self.in_order(f"the view `{name}`", "argument", wanted, args, names, span, scope)
        if found is None or known is None or known.columns is None:
            return self.elsewhere()
        columns = known.columns.columns
        sort: Sort = known_type(columns[0][1]) if len(columns) == 1 else known.columns
        return ViewOf(name, found, sort, span=span), sort

    def in_order(
        self,
        owner: str,
        what: str,
        wanted: Sequence[tuple[str, Type]],
        args: Sequence[Expr],
        names: Sequence[str | None],
        span: Span | None,
        scope: Scope,
    ) -> tuple[Expr, ...] | None:
        """Arguments in the order of the declaration; None after reporting that they are not those ``wanted``."""
        if len(args) != len(wanted):
            shown = ", ".join(n for n, _ in wanted)
            message = f"{owner} takes {counted(len(wanted), what)}, but got {len(args)}"
            self.report("arity", message, span, f"expected: ({shown})" if wanted else None)
            return None
        order = [n if n is not None else wanted[i][0] for i, n in enumerate(names)]
        for name in order:
            if name not in dict(wanted):
                hint = did_you_mean(name, dict(wanted), f"{what}s")
                self.report("unknown-attribute", f"{owner} has no {what} `{name}`", span, hint)
                return None
        if len(set(order)) < len(order):
            self.report("duplicate-name", f"the same {what} of {owner} is assigned twice", span)
            return None
        out: dict[str, Expr] = {}
        for name, arg in zip(order, args, strict=True):
            out[name], sort = self.argument(arg, scope)
            self.equal_to(f"the {what} `{name}` of {owner}", dict(wanted)[name], arg, sort)
        return tuple(out[n] for n, _ in wanted)

    def equal_to(self, what: str, wanted: Type | None, arg: Expr, sort: Sort) -> None:
        """Report an argument that cannot equal what it is compared with."""
        if wanted is None or not isinstance(sort, Type) or comparable("=", wanted, sort, self.integer_time):
            return
        message = f"{what} is {type_word(wanted)}, but `{render(arg)}` is {type_word(sort)}"
        hint = 'write a string in quotes: `"1"`' if wanted is Type.STRING else None
        self.report("type-mismatch", message, span_of(arg), hint)

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
        declared = AGGREGATES[node.op]
        if kind is not Type.DURATION and declared.needs(kind) is not None:
            message = f"`{node.op}` needs numbers, but `{render(node.arg)}` is {type_word(kind)}"
            return self.report("type-mismatch", message, span_of(node.arg))
        built = syntax.Aggregate(node.op, arg, predicate, node.within, span=node.span)
        if declared.result is None or (declared.result is Type.FLOAT and kind is not Type.INT):
            return built, kind
        return built, declared.result

    # --- propositions ------------------------------------------------------------------------------------------------


def _of_clock(node: Expr) -> bool:
    return isinstance(node, Time) or (isinstance(node, Global) and node.clock)


# --- which operators may stand where ----------------------------------------------------------------------------------


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
