"""Programs in eSQL: the pipes of their definitions (pipes.md, 2.2, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from occurs.errors import Place, did_you_mean
from occurs.expr.names import Name
from occurs.languages.complaints import LASTING_HINT
from occurs.languages.esql import syntax
from occurs.languages.esql.build_machine import Machines
from occurs.languages.esql.build_scope import Scope
from occurs.expr.text import Text
from occurs.model.types import Schema
from occurs.operators.process import tree
from occurs.operators.process.kinds import TUPLE, of_schema


@dataclass(frozen=True)
class Entry:
    """A LET or a definition with the text in which it stands."""

    source: Text
    statement: syntax.Let | syntax.Definition

    @property
    def name(self) -> str:
        s = self.statement
        return s.name.text if isinstance(s, syntax.Let) else s.output


class Builder(Machines):
    """The pipes of files that make one program.

    ``inputs``: the event types that are known.  ``closed``: there are no others; else every name that nobody defines
    is one.  What is wrong is among the problems of the ``sources``.
    """

    def __init__(self, files: Sequence[syntax.File], inputs: Mapping[str, Schema], closed: bool) -> None:
        super().__init__()
        self.inputs = inputs
        self.closed = closed
        self.sources = [Text(f.text, f.name) for f in files]
        self.unread = frozenset[str]().union(*(f.unread for f in files))
        self.entries: dict[str, Entry] = {}
        self._made: dict[str, tree.Pipe] = {}
        self._making: list[str] = []
        self._events: dict[str, tree.Pipe] = {}
        for source, file in zip(self.sources, files):
            for statement in file.statements:
                if isinstance(statement, syntax.Phrase):
                    self.phrase_source[id(statement)] = source
                else:
                    self._enter(Entry(source, statement))

    def _enter(self, entry: Entry) -> None:
        known = self.entries.get(entry.name)
        if known is None:
            self.entries[entry.name] = entry
            return
        s = entry.statement
        nameless = isinstance(s, syntax.Definition) and s.name is None
        message = "two queries have no name" if nameless else f"`{entry.name}` is defined twice"
        hint = "name one of them: `DEFINE name AS ..`" if nameless else None
        first = Place("the first is here", known.source.file, _place(known.statement))
        entry.source.report("duplicate-definition", message, _place(s), hint, related=(first,))

    # --- definitions -------------------------------------------------------------------------------------------------

    def definitions(self) -> list[tree.Definition]:
        """All definitions in the order of the texts; LETs that nobody uses are built too, for what is wrong in them."""
        for name in self.entries:
            self.made(name)
        out = []
        for name, entry in self.entries.items():
            s = entry.statement
            if isinstance(s, syntax.Definition):
                out.append(tree.Definition(name, self._made[name], s.about, entry.source.file, s.span))
        return out

    def made(self, name: str) -> tree.Pipe:
        """The pipe of a LET or a definition."""
        if name not in self._made:
            entry = self.entries[name]
            scope = Scope(entry.source)
            self._making.append(name)
            before, self.at_end = self.at_end, getattr(entry.statement, "at_end", None) or "nothing"
            self.at_end = self.at_end.lower()
            try:
                self._made[name] = self.pipe(entry.statement.pipe, scope)
            finally:
                self.at_end = before
                self._making.pop()
        return self._made[name]

    def named(self, node: syntax.Named, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer(f"`{node.name}`", node, scope)
        if node.name not in self.entries:
            return self._event(node, scope)
        if node.name in self._making:
            path = [*self._making[self._making.index(node.name) :], node.name]
            places = tuple(
                Place(f"`{n}`", self.entries[n].source.file, _place(self.entries[n].statement)) for n in path[:-1]
            )
            message = "the definitions form a cycle: " + " -> ".join(path)
            scope.source.report("cycle", message, scope.span(node), None, related=places)
            return self._unknown(node, scope)
        return self.made(node.name)

    def _unknown(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        return self.node(tree.Events(("",), tree.Kind("any")), (), node, scope)

    # --- events ------------------------------------------------------------------------------------------------------

    def _event(self, node: syntax.Named, scope: Scope) -> tree.Pipe:
        """The events of one type: one node for all who read them."""
        if not self._is_type(Name(node.name, scope.span(node)), scope):
            return self._unknown(node, scope)
        if node.name not in self._events:
            kind = of_schema(self.inputs[node.name]) if node.name in self.inputs else TUPLE
            self._events[node.name] = self.node(tree.Events((node.name,), kind), (), node, scope)
        return self._events[node.name]

    def _is_type(self, name: Name, scope: Scope) -> bool:
        if name.text in self.inputs:
            if not self.inputs[name.text].lasting:
                return True
            message, hint = f"`{name}` has intervals (rows with an `end`), but pipes read events", LASTING_HINT
            scope.source.report("not-an-event", message, name.span, hint)
            return False
        if not self.closed:
            return True
        if name.text not in self.unread:
            hint = did_you_mean(name.text, [*self.entries, *self.inputs], "definitions and event types")
            message = f"there is no definition or event type `{name.text}`"
            scope.source.report("unknown-name", message, name.span, hint)
        return False

    def form_events(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer("events", node, scope)
        names: list[Name] = node["types"]
        for k, name in enumerate(names):
            place = scope.place or name.span
            if name.text in self.entries:
                message = f"EVENTS OF takes event types, but `{name.text}` is a definition"
                self.report("sort", message, scope, place, "merge pipes with MERGE")
            elif name.text in [n.text for n in names[:k]]:
                self.report("duplicate-name", f"`{name.text}` is listed twice", scope, place)
            elif not self._is_type(Name(name.text, place), scope):
                return self._unknown(node, scope)
        if any(n.text in self.entries for n in names):
            return self._unknown(node, scope)
        return self.node(tree.Events(tuple(n.text for n in names)), (), node, scope)


def _place(statement: syntax.Let | syntax.Definition) -> syntax.Span | None:
    return statement.name.span if statement.name is not None else statement.span
