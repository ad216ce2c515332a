"""The names of terms, resolved, and their types (temporal-logic.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from occurs.errors import Span, did_you_mean
from occurs.expr.functions import CATALOGUE
from occurs.expr.signature import TIMESTAMP, Mismatch
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, Literal, Ref, Unary
from occurs.expr.typing import arithmetic_type, comparable
from occurs.languages.complaints import LASTING_HINT
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.catalogue import STATE, or_declare
from occurs.languages.logic.checks.durations import check_duration
from occurs.languages.logic.checks.names import UNKNOWN, Names, Resolved, Scope, counted, known_type, span_of, type_word
from occurs.languages.logic.functions import FUNCTIONS
from occurs.languages.logic.render import render
from occurs.model.types import Type
from occurs.operators.temporal.tree import Generic, Global, Last, Rows, Sort, TableOf, Time, Value, Variable, ViewOf


class Terms(Names):
    """Resolves the terms of one trigger."""

    def value(self, node: Expr, scope: Scope) -> Resolved:
        """A term that must be one value."""
        found, sort = self.resolve(node, scope)
        if isinstance(sort, Rows):
            hint = "remember it and read it in SQL: `[x <- T] .. exists (select .. from x ..)`"
            return self.report(
                "type-mismatch", f"`{render(node)}` is {sort}, but a value is needed here", span_of(node), hint
            )
        return found, sort

    def resolve(self, node: Expr, scope: Scope) -> Resolved:
        """A term with its names resolved, and what it gives."""
        match node:
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
            rows = Rows(tuple((k.name.text, k.type) for k in c.tables[name].columns))
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
            return self.report(
                "not-an-event",
                f"`{name}` has intervals (rows with an `end`), but triggers read events",
                span,
                LASTING_HINT,
            )
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
            return self.report(
                "not-an-event",
                f"`{owner}` has intervals (rows with an `end`), but triggers read events",
                node.span,
                LASTING_HINT,
            )
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


def _of_clock(node: Expr) -> bool:
    return isinstance(node, Time) or (isinstance(node, Global) and node.clock)
