"""From lark's tree of one EPL statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token

from occurs.errors import did_you_mean
from occurs.expr import tree as core
from occurs.languages.epl import syntax
from occurs.languages.epl.parser_pattern import PatternBuilder
from occurs.languages.expressions import Node, Refused, joined
from occurs.model.types import Type

#: the types of columns as a schema names them
TYPES: dict[str, Type] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte"), Type.INT),
    **dict.fromkeys(("double", "float"), Type.FLOAT),
    **dict.fromkeys(("string", "char"), Type.STRING),
    **dict.fromkeys(("bool", "boolean"), Type.BOOL),
    "timestamp": Type.TIMESTAMP,
}
ON_MATCHES = {"suppressoverlappingmatches": "suppress", "discardpartialsonmatch": "discard"}


class Builder(PatternBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    def statement(self, tree: Node) -> syntax.Statement:
        """The statement; raises Refused after reporting what cannot stand."""
        before = len(self.source.problems)
        *annotations, body = tree.children
        marks = tuple(map(self.annotation, annotations))
        built = self.schema(body) if body.data == "schema" else self.query(body)
        if len(self.source.problems) > before:
            raise Refused
        return replace(built, annotations=marks, span=self.span(tree))

    # --- annotations -------------------------------------------------------------------------------------------------

    def annotation(self, tree: Node) -> syntax.Annotation:
        name, *rest = tree.children
        value = None
        arguments: tuple[tuple[str, Any], ...] = ()
        if tree.data == "valued":
            value = self.constant(rest[0])
        elif tree.data == "tagged":
            arguments = tuple((self.name(a.children[0]).text, self.constant(a.children[2])) for a in rest)
        return syntax.Annotation(self.name(name), value, arguments, span=self.span(tree))

    def constant(self, tree: Node) -> str | int | float | bool | None:
        negative = tree.data == "negative_constant"
        built = self._number(tree, True) if negative else self.expr(tree)
        value = built.value if isinstance(built, core.Literal) else None
        return -value if negative and isinstance(value, int | float) else value

    # --- schemas -----------------------------------------------------------------------------------------------------

    def schema(self, tree: Node) -> syntax.CreateSchema:
        form, name, columns, *inherits = tree.children
        return syntax.CreateSchema(
            self.name(name),
            tuple(self.column(c) for c in columns.children if c is not None),
            tuple(self.name(n) for n in inherits[0].children) if inherits else (),
            "" if form is None else str(form).lower(),
        )

    def column(self, tree: Node) -> syntax.Attribute:
        path, kind = tree.children
        name = syntax.Name(joined(path.children), self.span(path))
        return syntax.Attribute(name, self.type(kind) or Type.NULL, str(kind).lower())

    def type(self, token: Token) -> Type | None:
        found = TYPES.get(str(token).lower())
        if found is None:
            hint = did_you_mean(str(token).lower(), TYPES, "types")
            self.source.report("syntax", f"`{token}` is not a type", self.span(token), hint)
        return found

    # --- queries -----------------------------------------------------------------------------------------------------

    def query(self, tree: Node) -> syntax.Query:
        parts = {str(part.data): part for part in tree.children}
        items = tuple(map(self.item, parts["select"].children))
        into = self.name(parts["into"].children[0]) if "into" in parts else None
        simple, marks = "from_type" in parts, set[str]()
        if simple:
            pattern: syntax.Pattern = self.simple(parts["from_type"])
        else:
            *annotations, body = parts["from_pattern"].children
            marks = {self.on_matches(a) for a in annotations}
            pattern = self.pattern(body)
        where = self.expr(parts["where"].children[0]) if "where" in parts else None
        return syntax.Query(items, pattern, into, where, simple, "suppress" in marks, "discard" in marks)

    def item(self, tree: Node) -> syntax.Item:
        span = self.span(tree)
        if tree.data == "everything":
            return syntax.Item(span=span)
        if tree.data == "all_of":
            return syntax.Item(all_of=self.name(tree.children[0]), span=span)
        name = self.name(tree.children[1]) if tree.data == "renamed" else None
        return syntax.Item(self.expr(tree.children[0]), name, span=span)

    def simple(self, tree: Node) -> syntax.Filter:
        """`Type(conditions) as tag`."""
        kind, *rest, tag = tree.children
        conditions = self.conditions(rest[0]) if rest else ()
        return syntax.Filter(self.name(kind), self.name(tag) if tag is not None else None, conditions,
                             span=self.span(tree))  # fmt: skip

    def on_matches(self, tree: Node) -> str:
        name = tree.children[0]
        found = ON_MATCHES.get(str(name).lower())
        if found is None:
            known = ("SuppressOverlappingMatches", "DiscardPartialsOnMatch")
            hint = did_you_mean(str(name), known, "annotations of patterns")
            raise self.refuse("syntax", f"`@{name}` is not an annotation of a pattern", tree, hint)
        return found


__all__ = ["TYPES", "Builder", "Refused"]
