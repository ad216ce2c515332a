"""The declarations of a program of triggers, and what is known from elsewhere (temporal-logic.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from occurs.errors import Place
from occurs.expr.text import Text
from occurs.languages.kit.complaints import LASTING_HINT, lasting_text
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.sql import Database, Select
from occurs.model.sqltext import identifiers
from occurs.model.types import RESERVED_INPUT, Schema, Type, widen
from occurs.operators.temporal.tree import RelationType

#: the type of rows that are states though nothing is declared
STATE = "state"
_WORDS = {syntax.Table: "a table", syntax.Event: "an event", syntax.State: "a state", syntax.View: "a view",
          syntax.Constant: "a constant", syntax.Trigger: "a trigger"}  # fmt: skip
Placed = tuple[Text, syntax.Definition]


def word(definition: syntax.Definition) -> str:
    """What kind of definition it is, with its article."""
    return _WORDS[type(definition)]


class Catalogue:
    """All names of a program.

    ``inputs``: the types seen in the data (None: no data is known), ``foreign``: types of other languages, ``unread``:
    names of definitions that could not be read.  ``events``: the attributes of every type of event, NULL where a type
    is not known, None where the attributes are not known either.  ``variables``: for every database variable the states
    that have it.  ``open``: nothing is declared and no data is known, so that any name may be a database variable.
    """

    def __init__(
        self,
        definitions: Sequence[Placed],
        inputs: Mapping[str, Schema] | None,
        foreign: Mapping[str, Schema],
        unread: frozenset[str],
    ) -> None:
        self.inputs, self.foreign, self.unread = inputs, foreign, unread
        self.first: dict[str, Placed] = {}
        self.tables: dict[str, syntax.Table] = {}
        self.states: dict[str, syntax.State] = {}
        self.views: dict[str, syntax.View] = {}
        self.constants: dict[str, syntax.Constant] = {}
        self.declared_events: dict[str, syntax.Event] = {}
        self.events: dict[str, dict[str, Type] | None] = {}
        self.variables: dict[str, dict[str, Type]] = {}
        self.selects: dict[str, Select | None] = {}
        self._enter(definitions)
        self._know(definitions)
        for source, d in definitions:
            if isinstance(d, syntax.Table | syntax.Event | syntax.State):
                self._columns(source, d)
        self._variables_apart()
        for name in self.views:
            self.select(name)

    # --- entering ----------------------------------------------------------------------------------------------------

    def _enter(self, definitions: Sequence[Placed]) -> None:
        """Every definition under its name; reports two of one name."""
        lower: dict[str, str] = {}
        for source, d in definitions:
            name = d.name.text
            stored = isinstance(d, syntax.Table | syntax.View)
            other = name if name in self.first else lower.get(name.lower()) if stored else None
            if other is not None:
                before_source, before = self.first[other]
                message = f"`{name}` is defined twice: as {word(before)} and as {word(d)}"
                if other != name:
                    message = f"`{name}` and `{other}` differ only in case, which SQL ignores"
                self._twice(source, d.name, before_source, before.name, message)
                continue
            self.first[name] = (source, d)
            if stored:
                lower[name.lower()] = name
            match d:
                case syntax.Table():
                    self.tables[name] = d
                case syntax.State():
                    self.states[name] = d
                case syntax.View():
                    self.views[name] = d
                case syntax.Constant():
                    self.constants[name] = d
                case syntax.Event():
                    self.declared_events[name] = d

    def _twice(self, source: Text, name: syntax.Name, other: Text, before: syntax.Name, message: str) -> None:
        places = (Place("the first is here", other.file, before.span),)
        source.report("duplicate-definition", message, name.span, "give one of them another name", "error", places)

    def _know(self, definitions: Sequence[Placed]) -> None:
        """Events and variables, of here and of elsewhere."""
        declared = any(isinstance(d, syntax.Table | syntax.Event | syntax.State) for _, d in definitions)
        for name, schema in [*self.foreign.items(), *(self.inputs or {}).items()]:
            mine = name in self.tables or name in self.states or (name == STATE and not self.states)
            if not mine and not schema.lasting:
                self.events.setdefault(name, dict(schema.attributes))
        for name, event in self.declared_events.items():
            self.events[name] = {c.name.text: c.type for c in event.columns}
        for name, state in self.states.items():
            for c in state.columns:
                self.variables.setdefault(c.name.text, {})[name] = c.type
        implied = (self.inputs or {}).get(STATE)
        if not self.states and implied is not None:
            self.variables = {n: {STATE: t} for n, t in implied.attributes}
        self.open = self.inputs is None and not declared
        #: types of elsewhere that last
        self.lasting = {n for n, s in [*(self.inputs or {}).items(), *self.foreign.items()] if s.lasting}

    def _columns(self, source: Text, d: syntax.Table | syntax.Event | syntax.State) -> None:
        """Report columns of one name, of names with a meaning of their own, and other columns elsewhere."""
        seen: dict[str, syntax.Name] = {}
        reserved = (*RESERVED_INPUT, "op") if isinstance(d, syntax.Table) else RESERVED_INPUT
        for c in d.columns:
            name = c.name.text if not isinstance(d, syntax.Table) else c.name.text.lower()
            if c.name.text in reserved:
                hint = f"reserved names: {', '.join(reserved)}"
                source.report("reserved-name", f"`{c.name}` cannot be the name of a column", c.name.span, hint)
            if name in seen:
                places = (Place("the first is here", source.file, seen[name].span),)
                message = f"`{d.name}` has two columns called `{c.name}`"
                source.report("duplicate-name", message, c.name.span, None, "error", places)
            seen.setdefault(name, c.name)
        other = self.foreign.get(d.name.text)
        if other is None:
            return
        if other.lasting:
            source.report("not-an-event", lasting_text(d.name.text, "triggers read"), d.name.span, LASTING_HINT)
            return
        mine = tuple((c.name.text, c.type) for c in d.columns)
        names = tuple(n for n, _ in mine)
        same = names == other.names if other.ordered and not other.rest else set(names) <= {*other.names, *names}
        if not same or any(widen(t, other.get(n) or Type.NULL) is None for n, t in mine):
            there = ", ".join(f"{n} {t}" for n, t in other.attributes)
            message = f"`{d.name}` is declared differently in another language"
            source.report("schema-conflict", message, d.name.span, f"the other declaration is `{d.name}({there})`")

    def _variables_apart(self) -> None:
        """Report database variables that have the name of a definition."""
        for name, state in self.states.items():
            source, _ = self.first[name]
            for c in state.columns:
                if c.name.text in self.first:
                    other, before = self.first[c.name.text]
                    message = f"`{c.name}` is a database variable here, but {word(before)} elsewhere"
                    self._twice(source, c.name, other, before.name, message)

    # --- SQL ---------------------------------------------------------------------------------------------------------

    def database(self, without: frozenset[str] = frozenset()) -> Database:
        """What SQL may read; ``without``: views that wait for it."""
        tables = {n: RelationType(_distinct(t.columns)) for n, t in self.tables.items()}
        others: dict[str, str] = {}
        for name, view in self.views.items():
            found = self.selects.get(name)
            if view.parameters:
                others[name] = f"the view `{name}` has parameters and cannot be read in SQL: write its SELECT here"
            elif name not in without and found is not None:
                tables[name] = found.columns if found.columns is not None else RelationType((("?", Type.NULL),))
        for name in self.events:
            others[name] = f"`{name}` is an event, but SQL reads tables and views: write `{name}(..)` in the formula"
        for name in self.states:
            others[name] = f"`{name}` has database variables, which SQL reads as parameters: `[x <- a] exists (.. :x)`"
        return Database(tables, others)

    def select(self, name: str, below: tuple[str, ...] = ()) -> Select | None:
        """What is known of a view, those that it reads first; reports what is wrong with it, once."""
        if name in self.selects:
            return self.selects[name]
        source, _ = self.first[name]
        view = self.views[name]
        mentioned = {w.lower() for w in identifiers(view.sql.text)}
        for other in self.views:
            if other.lower() not in mentioned or other in self.selects or self.views[other].parameters:
                continue
            if other in (*below, name):
                ring = [*below, name][[*below, name].index(other) :]
                message = f"the views form a cycle: {' -> '.join(f'`{v}`' for v in [*ring, other])}"
                source.report("cycle", message, view.name.span, "a view can only read tables and earlier views")
                self.selects.update(dict.fromkeys(ring))
                return None
            self.select(other, (*below, name))
        if name in self.selects:
            return None
        broken = self.broken(view.sql.text)
        names = [p.text for p in view.parameters]
        self._parameters(source, view)
        checked = None if broken else self.database().check(view.sql, source, [*names, "time"])
        self.selects[name] = checked
        return checked

    def broken(self, sql: str) -> bool:
        """Whether a SELECT mentions what could not be read, or is wrong, so that nothing can be said of it."""
        mentioned = {w.lower() for w in identifiers(sql)}
        wrong = [v for v in self.views if v in self.selects and self.selects[v] is None]
        return any(n.lower() in mentioned for n in [*wrong, *self.unread])

    def _parameters(self, source: Text, view: syntax.View) -> None:
        seen: set[str] = set()
        for p in view.parameters:
            if p.text in seen:
                source.report("duplicate-name", f"two parameters are called `{p}`", p.span)
            if p.text == "time":
                message = "`time` is reserved for the time of the state"
                source.report("reserved-name", message, p.span, "give it another name")
            seen.add(p.text)

    def reached(self, names: Iterable[str]) -> frozenset[str]:
        """The tables that a SELECT reads that names these tables and views."""
        out: set[str] = set()
        for name in names:
            found = self.selects.get(name)
            if name in self.tables:
                out.add(name)
            elif found is not None:
                out |= self.reached(found.names)
        return frozenset(out)


def _distinct(columns: Iterable[syntax.Column]) -> tuple[tuple[str, Type], ...]:
    """Columns as SQL can have them: of two that differ only in case the first."""
    out: dict[str, tuple[str, Type]] = {}
    for c in columns:
        out.setdefault(c.name.text.lower(), (c.name.text, c.type))
    return tuple(out.values())


def or_declare(near: str, declaration: str) -> str:
    """A hint: the names that are near, or how to declare the one that is not known."""
    joint = " Otherwise declare it" if near.endswith("?") else "; declare it"
    return f"{near}{joint}: `{declaration}`"
