"""Where the names of an EPL text stand: types, attributes with the type that has them, tags of a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from occurs.errors import Span
from occurs.expr.text import Name, Text
from occurs.expr.tree import Expr, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import is_name
from occurs.languages.epl.parser import without_comments
from occurs.languages.kit.editing import Attributed, Named
from occurs.model.types import Schema

_NAME = re.compile(r"`[^`\n]+`|(?:[^\W\d]|\$)[\w$]*")
_STRING = re.compile(r"(['\"])(.*)\1")


def named(tree: syntax.File, schemas: Mapping[str, Schema]) -> list[Named]:
    """All names of a text, in no order."""
    return [n for s in _statements(tree, schemas) for n in s.names]


def alike(tree: syntax.File, schemas: Mapping[str, Schema]) -> list[tuple[Attributed, Attributed]]:
    """Pairs of attributes that have one name: inherited ones, and columns that are called as what they select.

    The name is `*` where it may be any, as the attributes of the type are not known.
    """
    return [pair for s in _statements(tree, schemas) for pair in s.pairs]


def _statements(tree: syntax.File, schemas: Mapping[str, Schema]) -> Iterator[_Statement]:
    source = Text(tree.text, tree.file)
    plain = Text(without_comments(tree.text, source), tree.file)
    variables = frozenset(s.name.text for s in tree.statements if isinstance(s, syntax.CreateVariable))
    for number, statement in enumerate(tree.statements):
        made = _Statement(plain, str(number), schemas, variables)
        if isinstance(statement, syntax.CreateSchema):
            made.schema(statement)
        elif isinstance(statement, syntax.Query):
            made.query(statement)
        yield made


@dataclass
class _Statement:
    """One statement.  ``tags``: the type of each."""

    source: Text
    number: str
    schemas: Mapping[str, Schema]
    variables: frozenset[str] = frozenset()
    names: list[Named] = field(default_factory=list)
    pairs: list[tuple[Attributed, Attributed]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    def schema(self, s: syntax.CreateSchema) -> None:
        self._add("type", s.name)
        for a in s.attributes:
            self._add("attribute", a.name, s.name.text)
        for parent in s.inherits:
            self._add("type", parent)
            self.pairs += [((parent.text, n), (s.name.text, n)) for n in self._of(parent.text)]

    def query(self, q: syntax.Query) -> None:
        made = self._derived(q)
        for node in q.pattern.walk():
            if isinstance(node, syntax.Filter):
                self._add("type", node.type)
                if node.tag is not None:
                    self._add("tag", node.tag, self.number)
                    self.tags.setdefault(node.tag.text, node.type.text)
        before: list[str] = []
        for node in q.pattern.walk():
            if isinstance(node, syntax.Filter):
                own = (node.tag.text if node.tag is not None else None, node.type.text)
                self._refs(node.conditions, own)
                before += self._tagged(node)
            elif isinstance(node, syntax.EveryDistinct):
                self._refs(node.keys, None, loose=self._tagged(node))
            elif isinstance(node, syntax.While):
                self._refs([node.condition], None, loose=self._tagged(node))
            if isinstance(node, syntax.Repeat | syntax.Until):
                low, high = syntax.bounds_of(node)
                numbers = [n for n in (low, None if high is low else high) if isinstance(n, Expr)]
                self._refs(numbers, None, loose=before)
            for length in (getattr(node, f.name) for f in fields(node)):
                if isinstance(length, syntax.Computed):
                    self._refs((e for e, _ in length.parts), None, loose=[*before, *self._tagged(node)])
        simple = None
        if q.simple and isinstance(q.pattern, syntax.Filter):
            simple = (q.pattern.tag.text if q.pattern.tag is not None else None, q.pattern.type.text)
        for item in q.items:
            self._item(item, simple, made)
        if q.where is not None:
            self._refs([q.where], simple)
        self._sorts(q, simple, made)

    def _sorts(self, q: syntax.Query, simple: tuple[str | None, str] | None, made: str | None) -> None:
        """The names in `order by`: of columns, or of attributes."""
        for ref in (r for s in q.order for r in s.expr.walk() if isinstance(r, Ref)):
            if q.sorts_by(ref) is None:
                self._refs([ref], simple)
            elif made is not None and ref.span is not None:
                self._add("attribute", syntax.Name(ref.name, span=ref.span), made)

    def _tagged(self, pattern: syntax.Pattern) -> list[str]:
        """The tags in a part of a pattern."""
        return [n.tag.text for n in pattern.walk() if isinstance(n, syntax.Filter) and n.tag is not None]

    def _derived(self, q: syntax.Query) -> str | None:
        """The type that a query derives, if it is written."""
        if q.into is not None:
            self._add("type", q.into)
            return q.into.text
        title = next((a for a in reversed(q.annotations) if is_name(a)), None)
        if title is None or title.span is None:
            return None
        start, end = self.source.offsets(title.span)
        found = _STRING.search(self.source.text, start, end)
        if found is not None and found[2] == title.value:
            span = self.source.span(found.start(2), found.end(2))
            self.names.append(Named("type", str(title.value), span, text=True))
        return str(title.value)

    def _item(self, item: syntax.Item, simple: tuple[str | None, str] | None, made: str | None) -> None:
        if item.all_of is not None:
            self._add("tag", item.all_of, self.number)
            self._whole(self.tags.get(item.all_of.text), made)
        elif item.expr is None:
            if simple is not None:
                self._whole(simple[1], made)
            else:
                self.pairs += [((self._tag(t), t), (made, t)) for t in self.tags if made is not None]
        else:
            self._refs([item.expr], simple, item.expr)
            if item.name is not None:
                if made is not None:
                    self._add("attribute", item.name, made)
            else:
                refs = [n for n in item.expr.walk() if isinstance(n, Ref)]
                owner = self._owner(refs[-1], simple, refs[-1] is item.expr) if refs else None
                if owner is not None and made is not None:
                    self.pairs.append((owner, (made, owner[1])))

    def _owner(
        self, ref: Ref, own: tuple[str | None, str] | None, column: bool = False, loose: Iterable[str] = ()
    ) -> Attributed | None:
        """The attribute, or the tag, that a reference is to; ``column``: it is all of a column.  ``loose``: the tags of
        which one may have a bare name as its attribute."""
        types = {self.tags[t] for t in loose} if ref.scope is None else set()
        having = {t for t in types if t in self.schemas and ref.name in self.schemas[t]} or types - self.schemas.keys()
        if len(having) == 1:
            return having.pop(), ref.name
        if ref.scope is None or (own is not None and ref.scope == own[0]):
            bare = ref.scope is None and ref.name in self.tags
            if own is None or (bare and column and ref.name not in self.schemas.get(own[1], Schema())):
                return (self._tag(ref.name), ref.name) if bare else None
            return own[1], ref.name
        if ref.scope in self.tags:
            return self.tags[ref.scope], ref.name
        return None if own is None else (own[1], f"{ref.scope}.{ref.name}")

    def _refs(
        self, expressions: Iterable[Expr], own: tuple[str | None, str] | None, column: Expr | None = None,
        loose: Sequence[str] = (),
    ) -> None:  # fmt: skip
        for ref in (n for e in expressions for n in e.walk() if isinstance(n, Ref) and n.span is not None):
            if ref.scope is None and ref.index is None and ref.name in self.variables:
                continue
            if ref.index is not None and (ref.scope or ref.name) not in self.tags:
                continue  # an element of a list has no new name
            owner = self._owner(ref, own, ref is column, loose)
            if owner is None or ref.span is None:
                continue
            start, end = self.source.offsets(ref.span)
            found = [(m.group().strip("`"), m.start(), m.end()) for m in _NAME.finditer(self.source.text, start, end)]
            path = found
            if ref.scope is not None and (ref.scope in self.tags or (own is not None and ref.scope == own[0])):
                path = found[1:]
                self.names.append(Named("tag", ref.scope, self.source.span(*found[0][1:]), self.number))
            if ".".join(name for name, _, _ in path) != owner[1] or ref.name == "time":
                continue
            span = self.source.span(path[0][1], path[-1][2])
            if owner[0] == self._tag(owner[1]):
                self.names.append(Named("tag", owner[1], span, self.number))
            else:
                self.names.append(Named("attribute", owner[1], span, owner[0]))

    def _whole(self, type: str | None, made: str | None) -> None:
        """All attributes of a type become columns."""
        if type is not None and made is not None:
            self.pairs += [((type, n), (made, n)) for n in self._of(type)]

    def _of(self, type: str) -> Iterable[str]:
        return self.schemas[type].names if type in self.schemas else ("*",)

    def _tag(self, tag: str) -> str:
        """What stands for the statement in the place of a type: no type can be called so."""
        return f"\n{self.number}:{tag}"

    def _add(self, kind: str, name: Name, of: str | None = None) -> None:
        if isinstance(name.span, Span):
            self.names.append(Named(kind, name.text, name.span, of))
