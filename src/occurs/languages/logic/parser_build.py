"""From lark's tree of one definition to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

from lark import Token

from occurs.errors import did_you_mean
from occurs.expr import tree as core
from occurs.expr.text import Text
from occurs.languages.expressions import Node, Refused, joined
from occurs.languages.logic import syntax
from occurs.languages.logic.parser_formula import FormulaBuilder
from occurs.model.time import Duration
from occurs.model.types import TYPE_NAMES, Type


class Builder(FormulaBuilder):
    """Builds one definition; ``past``: triggers are past if they do not say what they are."""

    def __init__(self, source: Text, clean: str, offset: int, past: bool) -> None:
        super().__init__(source, clean, offset)
        self.past = past

    def definition(self, tree: Node) -> syntax.Definition:
        """The definition; raises Refused after reporting what cannot stand."""
        before = len(self.source.problems)
        (body,) = tree.children
        built: syntax.Definition = getattr(self, str(body.data))(body)
        if len(self.source.problems) > before:
            raise Refused
        return built

    # --- declarations ------------------------------------------------------------------------------------------------

    def table(self, tree: Node) -> syntax.Table:
        name, columns = tree.children
        found = self.columns(columns, "a table")
        return syntax.Table(self.name(name), found, span=self.span(tree))

    def event(self, tree: Node) -> syntax.Event:
        name, *columns = tree.children
        found = self.columns(columns[0], "an event", keys=False, empty=True) if columns else ()
        return syntax.Event(self.name(name), found, span=self.span(tree))

    def state(self, tree: Node) -> syntax.State:
        name, columns = tree.children
        return syntax.State(self.name(name), self.columns(columns, "a state", keys=False), span=self.span(tree))

    def columns(self, tree: Node, what: str, keys: bool = True, empty: bool = False) -> tuple[syntax.Column, ...]:
        found = tuple(self.column(c, what, keys) for c in tree.children if c is not None)
        if not found and not empty:
            self.source.report(
                "syntax", f"{what} needs at least one column", self.span(tree), "write `(name type, ..)`"
            )
        return found

    def column(self, tree: Node, what: str, keys: bool) -> syntax.Column:
        path, word, key = tree.children
        name = syntax.Name(joined(path.children), self.span(path))
        kind = TYPE_NAMES.get(str(word).lower())
        if kind is None:
            hint = did_you_mean(str(word).lower(), ("int", "float", "string", "boolean", "timestamp"), "types")
            self.source.report("syntax", f"`{word}` is not a type", self.span(word), hint)
        if key is not None and not keys:
            hint = "only tables have keys"
            self.source.report("syntax", f"{what} cannot have a key", self.span(key), hint)
        return syntax.Column(name, kind or Type.NULL, key is not None)

    def view(self, tree: Node) -> syntax.View:
        name, *parameters, sql = tree.children
        names = [c for c in parameters[0].children if c is not None] if parameters else []
        return syntax.View(self.name(name), tuple(map(self.name, names)), self.sql(sql, tree), span=self.span(tree))

    def constant(self, tree: Node) -> syntax.Constant:
        name, _, literal = tree.children
        if literal.data == "negative_literal":
            _, token = literal.children
            found = self.number(token, True, literal)
            value = -found.value if isinstance(found.value, int | float) else None
            built = core.Literal(value, found.type, span=self.span(literal))
        else:
            made = self.expr(literal)
            assert isinstance(made, core.Literal)
            built = made
        return syntax.Constant(self.name(name), built, span=self.span(tree))

    # --- triggers ----------------------------------------------------------------------------------------------------

    def trigger(self, tree: Node) -> syntax.Trigger:
        when, name, *rest = tree.children
        past = self.past if when is None else when.lower() == "past"
        parts = {str(part.data): part for part in rest if part.data in ("foreach", "observing", "strategy")}
        actions = tuple(self.action(part) for part in rest if part.data == "action")
        formula = next(part for part in rest if part.data not in (*parts, "action"))
        continues, gap = self.strategy(parts["strategy"]) if "strategy" in parts else (False, None)
        return syntax.Trigger(
            self.name(name),
            self.formula(formula),
            past,
            self.foreach(parts["foreach"]) if "foreach" in parts else None,
            self.observing(parts["observing"]) if "observing" in parts else None,
            continues,
            gap,
            actions,
            span=self.span(tree),
        )

    def foreach(self, tree: Node) -> syntax.ForEach:
        variables = tuple(self.name(c) for c in tree.children if isinstance(c, Token))
        queries = [self.sql(c.children[0], c) for c in tree.children if not isinstance(c, Token)]
        return syntax.ForEach(variables, queries[0] if queries else None, span=self.span(tree))

    def observing(self, tree: Node) -> syntax.Observing:
        (every,) = tree.children
        length = None if isinstance(every, Token) else self.length(every)
        return syntax.Observing(length, span=self.span(tree))

    def strategy(self, tree: Node) -> tuple[bool, Duration | None]:
        word, gap = tree.children
        return word.lower() == "continue", None if gap is None else self.length(gap)

    def action(self, tree: Node) -> syntax.Action:
        never, body = tree.children
        span, on_never = self.span(tree), never is not None
        if body.data == "notify":
            return syntax.Notify(self._unquoted(body.children[0]), on_never, span=span)
        first, *rest = body.children
        arguments = tuple((self.name(a.children[0]), self.expr(a.children[2])) for a in rest if a is not None)
        if body.data == "emit":
            return syntax.Emit(self.name(first), arguments, on_never, span=span)
        return syntax.Execute(self._unquoted(first), arguments, on_never, span=span)
