"""The names of one query: columns of the input and of the clause, variables and unions (match-recognize.md, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from occurs.errors import Span, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import DurationLiteral, Expr, Literal, Ref
from occurs.languages.kit.complaints import SET_UNIT, warn_inexact
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks.types import ColumnType, Typing
from occurs.languages.match_recognize.render import expr_text
from occurs.languages.match_recognize.syntax import Word
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.rowpattern.tree import Aggregate, At, Label, Number

#: the variables of a union or of one variable; None: all rows
Rows = tuple[str, ...] | None


def find(word: Word, names: Iterable[str]) -> str | None:
    """The name that is meant: the same, or the only one that is the same ignoring case, unless it is quoted."""
    known = tuple(names)
    if word.text in known or word.quoted:
        return word.text if word.text in known else None
    alike = [n for n in known if n.lower() == word.text.lower()]
    return alike[0] if len(alike) == 1 else None


@dataclass
class Columns:
    """The columns of a relation by their names, each with its type (NULL: unknown).

    ``of``: what has them, for messages.  ``open``: there may be others, as nothing is known of the data.
    """

    of: str
    types: Mapping[str, Type]
    open: bool = False

    @classmethod
    def of_type(cls, name: str, schema: Schema | None, clock: str, time: Type) -> Columns:
        """The columns of a type of events; ``clock``: the one that is its time, of the type ``time``."""
        own = {} if schema is None else dict(schema.attributes)
        return cls(name, {**own, clock: time}, schema is None or schema.rest)

    def find(self, word: Word) -> str | None:
        """The column that a name means."""
        found = find(word, self.types)
        return word.text if found is None and self.open else found


@dataclass
class Names:
    """Resolves the names inside one clause; problems go to ``source``.

    ``unions``: the variables of each union.  ``used``: the columns of the input that anything reads.
    """

    source: Text
    input: Columns
    variables: Sequence[str]
    unions: Mapping[str, tuple[str, ...]]
    tables: Sequence[str]
    kind: TimeKind | None
    used: set[str] = field(default_factory=set)

    def column(self, word: Word, span: Span | None = None) -> str | None:
        """The column of the input that a name means; reports one that is not there."""
        found = self.input.find(word)
        if found is None:
            _no_column(self.source, self.input, word, span or word.span)
            return None
        if self.input.types.get(found) is Type.RECORD:
            message = f"`{found}` of `{self.input.of}` is a list, which cannot be read here"
            self.source.report("unsupported", message, span or word.span, None)
            return None
        self.used.add(found)
        return found

    def rows(self, word: Word) -> Rows | bool:
        """The variables that a qualifier means; False, and reported, if it is none."""
        name = word.canonical
        if name in self.unions:
            return self.unions[name]
        if name in self.variables:
            return (name,)
        hint = did_you_mean(name, [*self.variables, *self.unions], "variables")
        message = f"`{word}` is not a variable of the pattern"
        if any(word.text.lower() == t.lower() for t in self.tables):
            message = f"`{word}` is the table, not a variable of the pattern"
            hint = "columns of any mapped row have no qualifier: write the column alone"
        self.source.report("unknown-name", message, word.span, hint)
        return False

    def path(self, node: syntax.Column) -> syntax.Column:
        """``a.b`` as the column `a.b` of the input, if `a` is neither a variable nor a union and there is such a
        column."""
        if node.qualifier is None or node.qualifier.canonical in {*self.variables, *self.unions}:
            return node
        whole = Word(f"{node.qualifier}.{node.name}", node.qualifier.quoted and node.name.quoted, node.span)
        return syntax.Column(whole, span=node.span) if find(whole, self.input.types) is not None else node

    # --- expressions -------------------------------------------------------------------------------------------------

    def condition(self, node: Expr) -> Expr:
        """A condition of DEFINE, resolved."""
        typing = self._typing()
        node = typing.named(node)
        resolved = _Resolver(self, typing, "DEFINE")
        made = resolved.expr(node)
        if resolved.sound:
            self._durations(node)
            typing.condition(node)
        return made

    def value(self, node: Expr) -> tuple[Expr, Type, Type]:
        """A measure, resolved; its type, and that of the elements if it is a list."""
        typing = self._typing()
        node = typing.named(node)
        resolved = _Resolver(self, typing, "MEASURES")
        made = resolved.expr(node)
        if not resolved.sound:
            return made, Type.NULL, Type.NULL
        self._durations(node)
        found = typing.check(node)
        element = made.element if isinstance(made, Aggregate) else Type.NULL
        listed = any(isinstance(n, Aggregate) and n.type is Type.RECORD for n in made.walk())
        if listed and not isinstance(made, Aggregate):
            message = "a list can only be the whole value of a measure"
            self.source.report("type-mismatch", message, getattr(node, "span", None), None)
        return made, found or Type.NULL, element

    def _typing(self) -> Typing:
        return typing_of(self.source, self.kind, self._type)

    def _type(self, node: syntax.Column) -> Type | None:
        name = self.input.find(self.path(node).name)
        found = None if name is None else self.input.types.get(name)
        return None if found is Type.NULL else found

    def _durations(self, node: Expr) -> None:
        durations(self.source, self.kind, node)


def typing_of(source: Text, kind: TimeKind | None, column: ColumnType) -> Typing:
    """The typing of expressions over some columns; problems go to ``source``."""
    integer = None if kind is None else not kind.timestamp

    def notice(message: str, span: Span | None, hint: str | None) -> None:
        source.report("real-division", message, span, hint, "notice")

    return Typing(column, source.report, notice, integer)


def durations(source: Text, kind: TimeKind | None, node: Expr) -> None:
    """Report lengths of time that do not go with the kind of time."""
    for part in node.walk() if kind is not None else ():
        if not isinstance(part, DurationLiteral):
            continue
        ticks = kind.convert(part.value) if kind is not None else None
        if ticks is None:
            message = "a duration needs the unit of the integer time column"
            source.report("missing-unit", message, part.span, SET_UNIT)
        else:
            warn_inexact(ticks, part.span, source)


def _no_column(source: Text, columns: Columns, word: Word, span: Span | None) -> None:
    alike = [n for n in columns.types if n.lower() == word.text.lower()]
    if len(alike) > 1 or (alike and word.quoted):
        hint = "columns: " + ", ".join(f'`"{n}"`' for n in alike)
    else:
        hint = did_you_mean(word.text, columns.types, "columns")
    source.report("unknown-attribute", f"`{columns.of}` has no column `{word}`", span, hint)


@dataclass
class _Resolver:
    """One expression; ``part``: where it stands, DEFINE or MEASURES.  ``sound``: nothing was reported."""

    names: Names
    typing: Typing
    part: str
    sound: bool = True

    def expr(self, node: Expr) -> Expr:
        """The expression with all values of rows read through :class:`At` and :class:`Aggregate`."""
        return self.typing.plain(node, self._leaf)

    def _leaf(self, node: Expr) -> Expr | None:
        match node:
            case syntax.Column() | syntax.Classifier():
                body, rows = self._body([node], node)
                return At(body[0], rows, type=self._type(node), span=node.span)
            case syntax.MatchNumber():
                return Number(span=node.span)
            case syntax.Navigation():
                return self._navigation(node)
            case syntax.Aggregate():
                return self._aggregate(node)
        return None

    def _type(self, node: Expr) -> Type:
        return self.typing.type(node) or Type.NULL

    def _navigation(self, node: syntax.Navigation) -> Expr:
        move, inner = 0, node
        if node.function in ("prev", "next"):
            move = self._offset(node, 1) * (-1 if node.function == "prev" else 1)
            arg = node.arg
            if isinstance(arg, syntax.Navigation) and arg.function in ("first", "last"):
                inner = arg
            else:
                inner = syntax.Navigation("last", arg, span=node.span)
        final = inner.mode == "final"
        if final:
            self._final(inner)
        body, rows = self._body([inner.arg], node, f"the navigation {node.function.upper()}")
        if not any(isinstance(n, syntax.Column | syntax.Classifier) for n in inner.arg.walk()):
            message = f"`{expr_text(node)}` reads no column"
            self._report("sort", message, node.span, "a navigation needs a column or CLASSIFIER() inside")
        offset = self._offset(inner, 0)
        first = inner.function == "first"
        return At(body[0], rows, first, offset, move, final, self._type(inner.arg), span=node.span)

    def _aggregate(self, node: syntax.Aggregate) -> Expr:
        if node.mode == "final":
            self._final(node)
        type_, element = self.typing.aggregate(node)
        final, kind = node.mode == "final", type_ or Type.NULL
        if node.of is not None:
            rows = self.names.rows(node.of)
            if isinstance(rows, bool):
                self.sound, rows = False, None
            return Aggregate(node.function, (), rows, False, final, kind, element, span=node.span)
        body, rows = self._body(node.args, node, f"the aggregate {node.function.upper()}")
        return Aggregate(node.function, tuple(body), rows, node.distinct, final, kind, element, span=node.span)

    def _final(self, node: syntax.Navigation | syntax.Aggregate) -> None:
        if self.part == "DEFINE":
            message = "`FINAL` has no meaning in DEFINE, where the rest of the match is not known"
            self._report("sort", message, node.span, "leave it out")

    def _offset(self, node: syntax.Navigation, default: int) -> int:
        value = node.offset
        if value is None:
            return default
        if isinstance(value, Literal) and value.type is Type.INT and isinstance(value.value, int) and value.value >= 0:
            return value.value
        message = f"the offset of {node.function.upper()} must be a whole number that is written out, at least 0"
        self._report("bad-bound", message, getattr(value, "span", None) or node.span, None)
        return default

    def _body(self, nodes: Sequence[Expr], outer: Expr, what: str = "") -> tuple[list[Expr], Rows]:
        """Arguments with their columns and labels at the row at hand, and the variables whose rows are meant."""
        found: dict[Rows, Word | None] = {}

        def leaf(node: Expr) -> Expr | None:
            match node:
                case syntax.Column():
                    node = self.names.path(node)
                    self._rows(node.qualifier, found)
                    name = self.names.column(node.name, node.span if node.qualifier is None else None)
                    self.sound = self.sound and name is not None
                    return Ref(None, name or node.name.text, span=node.span)
                case syntax.Classifier():
                    self._rows(node.variable, found)
                    return Label(span=node.span)
                case syntax.MatchNumber():
                    return Number(span=node.span)
                case syntax.Navigation() | syntax.Aggregate():
                    inner = f"the aggregate {node.function.upper()}" if isinstance(node, syntax.Aggregate) else (
                        node.function.upper())  # fmt: skip
                    message = f"{inner} inside {what}"
                    hint = "only FIRST and LAST are allowed inside PREV and NEXT"
                    self._report("sort", message, node.span, hint)
                    return Literal(None, Type.NULL, span=node.span)
            return None

        body = [self.typing.plain(n, leaf) for n in nodes]
        if len(found) > 1:
            words = ", ".join(f"`{w}`" if w is not None else "no variable" for w in found.values())
            message = f"the columns inside {what} belong to several variables: {words}"
            hint = "all of them belong to one variable, to one union (SUBSET), or to none"
            self._report("sort", message, getattr(outer, "span", None), hint)
        return body, next(iter(found), None)

    def _rows(self, word: Word | None, found: dict[Rows, Word | None]) -> None:
        rows = None if word is None else self.names.rows(word)
        if isinstance(rows, bool):
            self.sound = False
        else:
            found.setdefault(rows, word)

    def _report(self, kind: str, message: str, span: Span | None, hint: str | None) -> None:
        self.sound = False
        self.names.source.report(kind, message, span, hint)


# --- outside the clause -----------------------------------------------------------------------------------------------


@dataclass
class Outside:
    """Resolves expressions of SELECT and WHERE over the columns of the clause.  ``alias``: of the clause."""

    source: Text
    columns: Columns
    alias: Word | None
    kind: TimeKind | None
    used: set[str] = field(default_factory=set)

    def value(self, node: Expr) -> tuple[Expr, Type]:
        """A value, resolved, and its type."""
        typing = typing_of(self.source, self.kind, self._type)
        node = typing.named(node)
        made, sound = self._resolved(node, typing)
        if not sound:
            return made, Type.NULL
        durations(self.source, self.kind, node)
        return made, typing.check(node) or Type.NULL

    def condition(self, node: Expr) -> Expr:
        """A condition, resolved."""
        typing = typing_of(self.source, self.kind, self._type)
        node = typing.named(node)
        made, sound = self._resolved(node, typing)
        if sound:
            durations(self.source, self.kind, node)
            typing.condition(node)
        return made

    def qualified(self, word: Word) -> bool:
        """Whether a qualifier is the alias of the clause; reports one that is not."""
        known = [] if self.alias is None else [self.alias.text]
        if find(word, known) is not None:
            return True
        hint = f"the clause is called `{self.alias}`" if self.alias is not None else "give it a name: `) AS m`"
        self.source.report("unknown-name", f"`{word}` is not the alias of the clause", word.span, hint)
        return False

    def column(self, node: syntax.Column) -> str | None:
        """The column that is meant; reports one that is not there."""
        node = self._path(node)
        if node.qualifier is not None and not self.qualified(node.qualifier):
            return None
        found = self.columns.find(node.name)
        if found is None:
            _no_column(self.source, self.columns, node.name, node.name.span or node.span)
        else:
            self.used.add(found)
        return found

    def _path(self, node: syntax.Column) -> syntax.Column:
        if node.qualifier is None or (self.alias is not None and find(node.qualifier, [self.alias.text]) is not None):
            return node
        whole = Word(f"{node.qualifier}.{node.name}", span=node.span)
        return syntax.Column(whole, span=node.span) if find(whole, self.columns.types) is not None else node

    def _type(self, node: syntax.Column) -> Type | None:
        name = self.columns.find(self._path(node).name)
        found = None if name is None else self.columns.types.get(name)
        return None if found is Type.NULL else found

    def _resolved(self, node: Expr, typing: Typing) -> tuple[Expr, bool]:
        sound = True

        def leaf(one: Expr) -> Expr | None:
            nonlocal sound
            if isinstance(one, syntax.Column):
                name = self.column(one)
                sound = sound and name is not None
                return Ref(None, name or one.name.text, span=one.span)
            if isinstance(one, syntax.Navigation | syntax.Aggregate | syntax.Classifier | syntax.MatchNumber):
                sound = False
                message = f"`{expr_text(one)}` has no meaning outside MATCH_RECOGNIZE"
                hint = f"compute it as a measure: `MEASURES {expr_text(one)} AS x`"
                self.source.report("sort", message, getattr(one, "span", None), hint)
                return Literal(None, Type.NULL)
            return None

        return typing.plain(node, leaf), sound


def exactly(query: syntax.Query, names: Names, outside: Outside) -> syntax.Query:
    """The query with the columns as they are called and variables in canonical form, for its canonical text."""

    def inner(node: Expr) -> Expr:
        if isinstance(node, syntax.Column):
            node = names.path(node)
            found = names.input.find(node.name) or node.name.text
            qualifier = node.qualifier
            if qualifier is not None and qualifier.canonical in {*names.variables, *names.unions}:
                qualifier = Word(qualifier.canonical, qualifier.quoted)
            return syntax.Column(Word(found, node.name.quoted), qualifier)
        return node.with_children(tuple(map(inner, node.children)))

    def outer(node: Expr) -> Expr:
        if isinstance(node, syntax.Column):
            return syntax.Column(Word(outside.columns.find(node.name) or node.name.text, node.name.quoted))
        return node.with_children(tuple(map(outer, node.children)))

    def column(word: Word) -> Word:
        return Word(names.input.find(word) or word.text, word.quoted)

    clause = query.clause
    return replace(
        query,
        items=tuple(replace(i, expr=i.expr and outer(i.expr), qualifier=None) for i in query.items),
        table_alias=None,
        alias=None,
        where=query.where and outer(query.where),
        clause=replace(
            clause,
            partition=tuple(map(column, clause.partition)),
            order=tuple(replace(o, column=column(o.column)) for o in clause.order),
            measures=tuple(replace(m, expr=inner(m.expr)) for m in clause.measures),
            defines=tuple(replace(d, condition=inner(d.condition)) for d in clause.defines),
        ),
    )
