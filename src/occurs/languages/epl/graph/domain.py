"""The types of an EPL text as a domain: edits of its ``create schema`` statements.

Renaming changes every use of a name in the text; nothing else changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from occurs.errors import Problem, Span, did_you_mean
from occurs.expr.tree import Expr, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.graph.checking import Check
from occurs.languages.epl.graph.drawing import Drawing, drawing_of
from occurs.languages.epl.graph.sources import Word
from occurs.languages.epl.graph.splicing import Edit, appended, applied
from occurs.languages.epl.parser.tree import TYPES
from occurs.languages.epl.render.expressions import name_text
from occurs.model.types import RESERVED_INPUT

Operation = Literal[
    "add-type", "rename-type", "remove-type",
    "add-attribute", "rename-attribute", "retype-attribute", "remove-attribute",
]  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A change of a domain: of the type ``type`` or its ``attribute``.  ``to``: the new name, or the type of an
    attribute; ``name``: the name of what is added, if ``type`` or ``attribute`` does not say it."""

    op: Operation
    type: str | None = None
    attribute: str | None = None
    name: str | None = None
    to: str | None = None


@dataclass(frozen=True)
class Domain:
    """A text after a change of its types; None if the change cannot be."""

    text: str | None
    edits: tuple[Edit, ...]
    problems: tuple[Problem, ...]


def changed(text: str, change: Change, check: Check, file: str | None = None) -> Domain:
    """The text after a change of its types.  What it makes wrong is a problem, and then nothing changes."""
    editor = _Editor(drawing_of(text, file), change, file)
    editor.run()
    if editor.problems:
        return Domain(None, (), tuple(editor.problems))
    edits = tuple(sorted(editor.edits, key=lambda e: (e.start, e.end)))
    after = applied(text, edits)
    before = [p for p in check(text).problems if p.severity == "error"]
    checked = check(after)
    wrong = [p for p in checked.problems if p.severity == "error"]
    # messages name what is renamed: so problems that were there before are told by how many there are of a kind
    grown = Counter(p.kind for p in wrong) - Counter(p.kind for p in before)
    if grown:
        said = {p.message for p in before}
        return Domain(None, (), tuple(p for p in wrong if p.kind in grown and p.message not in said))
    return Domain(after, edits, tuple(_empty(checked.tree, file)))


def _empty(tree: syntax.File, file: str | None) -> Iterator[Problem]:
    """What a domain should have: a type, and in every type an attribute."""
    created = [s for s in tree.statements if isinstance(s, syntax.CreateSchema)]
    if not created:
        yield Problem("arity", "this text declares no type of events", "warning", file, hint="add a type")
    for schema in created:
        if not schema.attributes and not schema.inherits:
            message = f"`{schema.name}` has no attribute"
            yield Problem("arity", message, "warning", file, schema.name.span, "add an attribute")


@dataclass
class _Editor:
    drawing: Drawing
    change: Change
    file: str | None
    edits: list[Edit] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        statements = self.drawing.tree.statements
        self.created = {s.name.text: s for s in reversed(statements) if isinstance(s, syntax.CreateSchema)}
        self.queries = [s for s in statements if isinstance(s, syntax.Query)]

    def report(self, kind: str, message: str, hint: str | None = None, span: Span | None = None) -> None:
        self.problems.append(Problem(kind, message, file=self.file, hint=hint, span=span))

    def run(self) -> None:
        change = self.change
        if change.op == "add-type":
            self.add_type()
            return
        schema = self.created.get(change.type or "")
        if schema is None:
            known = did_you_mean(change.type or "", self.created, "types")
            self.report("unknown-name", f"no `create schema` of this text makes the type `{change.type or ''}`", known)
            return
        if change.op == "rename-type":
            self.rename_type(schema)
        elif change.op == "remove-type":
            self.remove_type(schema)
        elif change.op == "add-attribute":
            self.add_attribute(schema)
        else:
            column = next((c for c in self.columns(schema) if c.name == change.attribute), None)
            if column is None:
                known = did_you_mean(change.attribute or "", [c.name for c in self.columns(schema)], "attributes")
                self.report("unknown-attribute", f"`{schema.name}` has no attribute `{change.attribute or ''}`", known)
            elif change.op == "rename-attribute":
                self.rename_attribute(schema, column)
            elif change.op == "retype-attribute":
                if self.is_type(change.to):
                    self.edits.append(Edit(column.kind.start, column.kind.end, str(change.to)))
            else:
                self.remove_attribute(schema, column)

    # --- names -------------------------------------------------------------------------------------------------------

    def is_name(self, name: str | None, what: str) -> bool:
        if not name or not name.strip():
            self.report("unknown-name", f"{what} has no name", "name it")
        elif set(name) & set("`\r\n"):
            self.report("syntax", f"`{name}` cannot be a name", "a name has no back-quotes and no line breaks")
        else:
            return True
        return False

    def is_type(self, name: str | None) -> bool:
        if name and name.lower() in TYPES:
            return True
        hint = did_you_mean((name or "").lower(), TYPES, "types")
        self.report("unknown-name", f"`{name}` is not a type" if name else "the attribute has no type", hint)
        return False

    def is_free(self, name: str) -> bool:
        used = {*self.created, *(t for q in self.queries for t in _types(q))}
        if name in used:
            self.report("duplicate-definition", f"there is already a type `{name}`", "choose another name")
        return name not in used

    def is_column(self, schema: syntax.CreateSchema, name: str | None) -> bool:
        if not self.is_name(name, "the attribute"):
            return False
        assert name is not None
        if name in RESERVED_INPUT:
            hint = f"reserved names: {', '.join(RESERVED_INPUT)}"
            self.report("reserved-name", f"`{name}` cannot be the name of an attribute", hint)
        elif any(a.name.text == name for a in schema.attributes):
            self.report("duplicate-name", f"`{schema.name}` has an attribute `{name}` already", "choose another name")
        else:
            return True
        return False

    # --- types -------------------------------------------------------------------------------------------------------

    def add_type(self) -> None:
        change = self.change
        name = change.type or change.name
        if not self.is_name(name, "the type") or name is None or not self.is_free(name):
            return
        column = ""
        if change.attribute is not None:
            empty = syntax.CreateSchema(syntax.Name(name), ())
            if not self.is_column(empty, change.attribute) or not self.is_type(change.to):
                return
            column = f"{_path(change.attribute)} {change.to}"
        self.edits += self.behind_schemas(f"create schema {name_text(name)}({column})")

    def behind_schemas(self, body: str) -> Sequence[Edit]:
        """Edits that put a statement behind the last schema, on a line of its own; else behind all."""
        source = self.drawing.source
        last = next((s for s in reversed(self.drawing.statements) if s.kind == "schema"), None)
        end = -1 if last is None else source.blank.find(";", last.end)
        if last is None or end < 0 or source.blank[last.end : end].strip():
            return appended(source, self.drawing.statements[-1].end if self.drawing.statements else None, body)
        line = source.text.find("\n", end)
        ends = "\r\n" if source.crlf else "\n"
        if line < 0:
            line = len(source.text)
        elif source.text[line - 1] == "\r":
            line -= 1
        if source.blank[end + 1 : line].strip():
            line = end + 1  # another statement is on the line
        return [Edit(line, line, f"{ends}{body};")]

    def rename_type(self, schema: syntax.CreateSchema) -> None:
        new = self.change.to or self.change.name
        if new == schema.name.text or not self.is_name(new, "the type") or new is None or not self.is_free(new):
            return
        for name in self.uses(schema.name.text):
            self.put(name.span, name_text(new))

    def uses(self, type: str) -> Iterator[syntax.Name]:
        """Every place where a type is named."""
        for s in self.drawing.tree.statements:
            if isinstance(s, syntax.CreateVariable):
                continue
            names = [s.name, *s.inherits] if isinstance(s, syntax.CreateSchema) else _names(s)
            yield from (n for n in names if n.text == type)

    def remove_type(self, schema: syntax.CreateSchema) -> None:
        others = [n for n in self.uses(schema.name.text) if n is not schema.name]
        if others:
            message = f"`{schema.name}` is still used {_times(len(others))}"
            self.report("unknown-name", message, "change these statements first", others[0].span)
            return
        source = self.drawing.source
        drawn = next(s for s in self.drawing.statements if s.tree is schema)
        end = source.blank.find(";", drawn.end)
        end = drawn.end if end < 0 or source.blank[drawn.end : end].strip() else end + 1
        start, text = drawn.start, source.text
        line = text.find("\n", end)
        line = len(text) if line < 0 else line + 1
        if not text[end:line].strip() and not text[text.rfind("\n", 0, start) + 1 : start].strip():
            start, end = text.rfind("\n", 0, start) + 1, line  # the line is its own
        self.edits.append(Edit(start, end, ""))

    # --- attributes --------------------------------------------------------------------------------------------------

    def add_attribute(self, schema: syntax.CreateSchema) -> None:
        name = self.change.attribute or self.change.name
        if not self.is_column(schema, name) or name is None or not self.is_type(self.change.to):
            return
        columns = self.columns(schema)
        written = f"{_path(name)} {self.change.to}"
        if columns:
            at = columns[-1].kind.end
            self.edits.append(Edit(at, at, f", {written}"))
            return
        at = next(w.end for w in self.words(schema) if w.text == "(")
        self.edits.append(Edit(at, at, written))

    def remove_attribute(self, schema: syntax.CreateSchema, column: _Column) -> None:
        uses = [*self.refs(self.carriers(schema, column.name), column.name)]
        if uses:
            message = f"`{schema.name}.{column.name}` is still used {_times(len(uses))}"
            span = self.drawing.source.lines.span(uses[0].start, uses[0].end)
            self.report("unknown-attribute", message, "change these statements first", span)
            return
        words, columns = self.words(schema), self.columns(schema)
        number = columns.index(column)
        self.edits.append(Edit(column.start, column.kind.end, ""))
        if len(columns) == 1:
            return
        first, last = (number - 1, number) if number else (0, 1)
        comma = next(w for w in words if w.text == "," and columns[first].kind.end <= w.start < columns[last].start)
        blank = number == 0 and self.drawing.source.text[comma.end : comma.end + 1] == " "
        self.edits.append(Edit(comma.start, comma.end + blank, ""))
        if number and self.drawing.source.text[comma.end : column.start] == " ":
            self.edits[-2:] = [Edit(comma.start, column.kind.end, "")]

    def rename_attribute(self, schema: syntax.CreateSchema, column: _Column) -> None:
        old, new = column.name, self.change.to or self.change.name
        if new == old or not self.is_column(schema, new) or new is None:
            return
        carriers = self.carriers(schema, old)
        for other in (self.created[t] for t in sorted(carriers & self.created.keys())):
            self.edits += [Edit(c.start, c.end, _path(new)) for c in self.columns(other) if c.name == old]
        renamed = [*self.refs(carriers, old)]
        for use in renamed:
            self.edits.append(Edit(use.start, use.end, _path(new)))
        for query in self.queries:
            self.rename_columns(query, carriers, old, new, {id(use.ref) for use in renamed})

    def rename_columns(self, query: syntax.Query, types: set[str], old: str, new: str, renamed: set[int]) -> None:
        """Rename the column of a query that derives one of the types; keep those of others, whose names follow from
        attributes that have other names now."""
        wanted = new if query.into is not None and query.into.text in types else None
        for item in query.items:
            if item.expr is None:
                continue
            if item.name is not None:
                if wanted is not None and item.name.text == old:
                    self.put(item.name.span, name_text(new))
                continue
            refs = [r for r in item.expr.walk() if isinstance(r, Ref)]
            if not refs or refs[-1].name.rpartition(".")[2] != old.rpartition(".")[2]:
                continue
            follows = id(refs[-1]) in renamed
            name = (None if follows else new) if wanted is not None else (old if follows else None)
            if name is not None and item.span is not None:
                end = self.drawing.source.lines.offsets(item.span)[1]
                self.edits.append(Edit(end, end, f" as {name_text(name.rpartition('.')[2])}"))

    def carriers(self, schema: syntax.CreateSchema, attribute: str) -> set[str]:
        """The types whose attribute is that of the schema: itself, those that inherit it or that it inherits it from,
        and those whose statements take over all attributes of one of these."""
        found = {schema.name.text}
        while True:
            more = {s.name.text for s in self.created.values() if any(p.text in found for p in s.inherits)}
            heirs = [s for s in self.created.values() if s.name.text in found]
            more |= {p.text for s in heirs for p in s.inherits if self.has(p.text, attribute)}
            for q in self.queries:
                tags = {f.tag.text: f.type.text for f in _filters(q) if f.tag is not None}
                flat = [tags.get(i.all_of.text) for i in q.items if i.all_of is not None]
                flat += [
                    f.type.text for f in _filters(q) for i in q.items if q.simple and i.expr is None and not i.all_of
                ]
                if q.into is not None and any(t in found for t in flat):
                    more.add(q.into.text)
            if more <= found:
                return found
            found |= more

    def has(self, type: str, attribute: str) -> bool:
        """Whether a created type has an attribute, of its own or inherited."""
        todo, seen = [type], set[str]()
        while todo:
            schema = self.created.get(todo.pop())
            if schema is not None and schema.name.text not in seen:
                seen.add(schema.name.text)
                if any(a.name.text == attribute for a in schema.attributes):
                    return True
                todo += [p.text for p in schema.inherits]
        return False

    def refs(self, types: set[str], attribute: str) -> Iterator[_Use]:
        """Where the attribute of one of these types is read."""
        for query in self.queries:
            tags = {f.tag.text: f.type.text for f in _filters(query) if f.tag is not None}
            own = next((f.type.text for f in _filters(query)), None) if query.simple else None
            for expr, type in _expressions(query, own):
                for ref in (r for r in expr.walk() if isinstance(r, Ref)):
                    found = self.use(ref, tags, type, types, attribute)
                    if found is not None:
                        yield found

    def use(self, ref: Ref, tags: Mapping[str, str], own: str | None, types: set[str], attribute: str) -> _Use | None:
        scoped = ref.scope is not None and ref.scope in tags
        name = ref.name if scoped or ref.scope is None else f"{ref.scope}.{ref.name}"
        of = tags[ref.scope] if scoped and ref.scope is not None else own
        if name != attribute or of not in types or ref.span is None:
            return None
        words = self.drawing.source.between(*self.drawing.source.lines.offsets(ref.span))
        mine = words[-(2 * name.count(".") + 1) :]
        return _Use(ref, mine[0].start, mine[-1].end)

    def put(self, span: Span | None, text: str) -> None:
        if span is not None:
            self.edits.append(Edit(*self.drawing.source.lines.offsets(span), text))

    def words(self, schema: syntax.CreateSchema) -> Sequence[Word]:
        assert schema.span is not None
        return self.drawing.source.between(*self.drawing.source.lines.offsets(schema.span))

    def columns(self, schema: syntax.CreateSchema) -> list[_Column]:
        """The columns of a schema with their places."""
        words, out = self.words(schema), []
        for a in schema.attributes:
            if a.name.span is not None:
                start, end = self.drawing.source.lines.offsets(a.name.span)
                out.append(_Column(a.name.text, start, end, next(w for w in words if w.start >= end)))
        return out


@dataclass(frozen=True)
class _Column:
    """A column of a schema: its name, the place of that, and the word that is its type."""

    name: str
    start: int
    end: int
    kind: Word


@dataclass(frozen=True)
class _Use:
    """A reference to an attribute, and the place of the attribute's name in it."""

    ref: Ref
    start: int
    end: int


def _filters(query: syntax.Query) -> list[syntax.Filter]:
    return [n for n in query.pattern.walk() if isinstance(n, syntax.Filter)]


def _names(query: syntax.Query) -> Iterable[syntax.Name]:
    return [*([] if query.into is None else [query.into]), *(f.type for f in _filters(query))]


def _types(query: syntax.Query) -> Iterator[str]:
    yield from (n.text for n in _names(query))


def _expressions(query: syntax.Query, own: str | None) -> Iterator[tuple[Expr, str | None]]:
    """The expressions of a query, each with the type whose attributes bare names are there."""
    for item in query.items:
        if item.expr is not None:
            yield item.expr, own
    if query.where is not None:
        yield query.where, own
    yield from ((sort.expr, own) for sort in query.order if not _of_columns(query, sort.expr))
    for node in query.pattern.walk():
        match node:
            case syntax.Filter():
                yield from ((c, node.type.text) for c in node.conditions)
            case syntax.EveryDistinct():
                yield from ((k, None) for k in node.keys)
            case syntax.While():
                yield node.condition, None


def _of_columns(query: syntax.Query, expr: Expr) -> bool:
    """Does it read a column of the derived event by its name?"""
    return any(isinstance(n, Ref) and query.sorts_by(n) is not None for n in expr.walk())


def _path(name: str) -> str:
    """The name of an attribute; `a.b` is the value `b` in the record `a`."""
    return ".".join(map(name_text, name.split(".")))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
