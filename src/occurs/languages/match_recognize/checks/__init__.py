"""Everything that can be said of row patterns before a row is read (match-recognize.md, sections 2 to 6, 10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from occurs.errors import Place, Problem, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal, Ref
from occurs.languages.kit.complaints import LASTING_HINT, lasting_text, refuse_inexact, ticks_of
from occurs.languages.kit.cycles import cycles
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks.analysis import Analysis, ResolvedQuery
from occurs.languages.match_recognize.checks.names import Columns, Names, Outside, exactly
from occurs.languages.match_recognize.checks.shape import check_size, warn
from occurs.languages.match_recognize.render import expr_text, render
from occurs.languages.match_recognize.syntax import Word
from occurs.model.time import TimeKind
from occurs.model.types import RESERVED_OUTPUT, Schema, Type, arrow_type
from occurs.operators.rowpattern.tree import Key, Skip, Value

__all__ = ["Analysis", "ResolvedQuery", "Value", "analyse"]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
) -> Analysis:
    """Check parsed files as one program and resolve their queries.

    ``inputs``: the types seen in the data (None: no data is known, columns are accepted as they come).  ``foreign``:
    types that other languages define or declare, ``foreign_reads``: what each of them is made of.  ``kind``: what
    times count, None if not yet known: then nothing is said about units.  Problems have the kinds of
    match-recognize.md, section 10.
    """
    sources = [Text(f.text, f.file) for f in files]
    statements = [(s, q) for s, f in zip(sources, files, strict=True) for q in f.statements]
    first: dict[str, tuple[Text, syntax.Query]] = {}
    for source, query in statements:
        _stated(source, query, first, foreign or {})
    _cycles(first, foreign_reads or {})
    unread = frozenset().union(*(f.unread for f in files))
    program = _Program(inputs, foreign or {}, kind, first, unread)
    queries = tuple(program.resolve(source, query) for source, query in statements)
    problems = sorted(dict.fromkeys(p for s in sources for p in s.problems), key=Problem.sort_key)
    schemas = {t: s for t, s in {**(inputs or {}), **(foreign or {})}.items() if t not in first}
    return Analysis(queries, {**schemas, **{q.name: q.schema for q in reversed(queries)}}, problems)


def analyse_table(
    query: syntax.Query, source: Text, schema: Schema, clock: str, kind: TimeKind
) -> tuple[ResolvedQuery, syntax.Query]:
    """A query over a table that is no type of a program: its columns are those of ``schema``, ``clock`` among them is
    its time, no column is added and no name is reserved.  Problems go to ``source``.

    The second is the query with all columns by their exact names.
    """
    program = _Program({query.table.text: schema}, {}, kind, {query.output: (source, query)}, frozenset())
    made = _Query(program, source, query, clock, free=True)
    return made.resolved(), made.exact


def _stated(
    source: Text, query: syntax.Query, first: dict[str, tuple[Text, syntax.Query]], foreign: Mapping[str, Schema]
) -> None:
    """Enter a query; reports one whose name is taken."""
    name, span = query.output, (query.name or query).span
    other = first.get(name)
    if other is not None:
        hint = "give each its name: `CREATE VIEW name AS SELECT ..`"
        place = Place("the first is here", other[0].file, (other[1].name or other[1]).span)
        source.report("duplicate-definition", f"two statements define `{name}`", span, hint, "error", (place,))
        return
    first[name] = (source, query)
    if name in foreign:
        message = f"`{name}` is defined in another language as well"
        source.report("duplicate-definition", message, span, "give one of them another name")


def _cycles(first: Mapping[str, tuple[Text, syntax.Query]], foreign: Mapping[str, Collection[str]]) -> None:
    """Report views that are made of themselves, once per cycle."""
    edges: dict[str, list[str]] = {name: sorted(made) for name, made in foreign.items()}
    edges |= {name: [query.table.text] for name, (_, query) in first.items()}
    for name, ring in cycles(first, edges):
        source, query = first[name]
        places = tuple(
            Place(f"`{t}` is defined here", first[t][0].file, (first[t][1].name or first[t][1]).span)
            for t in ring[1:-1]
            if t in first
        )
        message = f"the definitions form a cycle: {' -> '.join(f'`{t}`' for t in reversed(ring))}"
        hint = "a pattern cannot read its own output: give the view another name"
        source.report("cycle", message, (query.name or query).span, hint, "error", places)


@dataclass
class _Program:
    """All queries; ``done``: those that are resolved, by name, so that others can read them."""

    inputs: Mapping[str, Schema] | None
    foreign: Mapping[str, Schema]
    kind: TimeKind | None
    first: Mapping[str, tuple[Text, syntax.Query]]
    unread: frozenset[str]
    done: dict[str, ResolvedQuery] = field(default_factory=dict)
    under_way: list[str] = field(default_factory=list)

    def resolve(self, source: Text, query: syntax.Query) -> ResolvedQuery:
        """A query with its names resolved, behind the one that it reads."""
        name = query.output
        again = self.first[name][1] is query
        if again and name in self.done:
            return self.done[name]
        self.under_way.append(name)
        made = _Query(self, source, query).resolved()
        self.under_way.pop()
        if again:
            self.done[name] = made
        return made

    def schema(self, name: str) -> Schema | None:
        """The schema of a type; None if it is not known."""
        if name in self.foreign:
            return self.foreign[name]
        if name in self.first and name not in self.under_way:
            return self.resolve(*self.first[name]).schema
        if name in self.first:
            return None
        return None if self.inputs is None else self.inputs.get(name)

    def read(self, source: Text, name: Word) -> None:
        """Report a type that a query cannot read."""
        schema = self.schema(name.text)
        if schema is not None and schema.lasting:
            message = lasting_text(name.text, "row patterns read")
            source.report("not-an-event", message, name.span, LASTING_HINT)
        known = {*(self.inputs or {}), *self.foreign, *self.first}
        if self.inputs is not None and name.text not in known and name.text not in self.unread:
            hint = did_you_mean(name.text, known, "tables")
            source.report("unknown-name", f"there is no table `{name}`", name.span, hint)


@dataclass
class _Query:
    """The checks of one query; ``exact``: the query with all columns by their exact names."""

    program: _Program
    source: Text
    query: syntax.Query
    #: the column that is the time
    clock: str = "time"
    #: it is a query over a table: its output has no time of its own, and any names
    free: bool = False
    exact: syntax.Query = field(init=False)

    @property
    def clause(self) -> syntax.Clause:
        return self.query.clause

    @property
    def time(self) -> Type:
        kind = self.program.kind
        return Type.NULL if kind is None else Type.TIMESTAMP if kind.timestamp else Type.INT

    def resolved(self) -> ResolvedQuery:
        query, clause, source = self.query, self.clause, self.source
        before = len(source.problems)
        self.program.read(source, query.table)
        schema = self.program.schema(query.table.text)
        variables = tuple(dict.fromkeys(n.name for n in clause.pattern.walk() if isinstance(n, syntax.Variable)))
        unions = self.unions(variables)
        tables = [w.text for w in (query.table, query.table_alias, query.alias) if w is not None]
        kind = self.program.kind
        input = Columns.of_type(query.table.text, schema, self.clock, self.time)
        names = Names(source, input, variables, unions, tables, kind)
        partition = tuple(dict.fromkeys(filter(None, map(names.column, clause.partition))))
        order = self.order(names)
        conditions = self.conditions(names)
        skip = self.skip(variables, unions)
        self.within(order)
        check_size(clause.pattern, source)
        if clause.rows == syntax.UNMATCHED:
            self.no_exclusion()
        measures = self.measures(names, partition, input)
        columns, others = self.columns(partition, order, measures, input)
        own_time = {} if self.free else {"time": self.time}
        made = Columns("MATCH_RECOGNIZE", {**columns, **own_time}, input.open)
        outside = Outside(source, made, query.alias, kind)
        outputs = self.outputs(outside, columns, {m.name: m.element for m in measures})
        where = None if query.where is None else outside.condition(query.where)
        self.no_lists(outside, outputs, where)
        if not any(p.severity == "error" for p in source.problems[before:]):
            warn(clause.pattern, skip, query, conditions, unions, source)
        self.exact = exactly(query, names, outside)
        needs = names.used | {k.column for k in order} | (set(others) & outside.used)
        needs |= {n for n in outside.used if n in input.types and n in columns and n not in {m.name for m in measures}}
        return ResolvedQuery(
            query=query,
            name=query.output,
            source=query.table.text,
            partition=partition,
            order=order,
            measures=measures,
            rows=clause.rows,
            skip=skip,
            pattern=clause.pattern,
            within=clause.within,
            conditions=conditions,
            others=others,
            columns=tuple(columns.items()),
            outputs=outputs,
            where=where,
            needs=frozenset(needs - {self.clock}),
            schema=_schema(outputs),
            file=source.file,
            text=render(self.exact),
        )

    # --- the parts of the clause -------------------------------------------------------------------------------------

    def unions(self, variables: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The union variables, each with its variables; reports names that are taken or not there."""
        out: dict[str, tuple[str, ...]] = {}
        for subset in self.clause.subsets:
            name = subset.name.canonical
            if name in variables or name in out:
                what = "a variable of the pattern" if name in variables else "a union already"
                self.source.report("duplicate-name", f"`{name}` is {what}", subset.name.span, "give it another name")
            members = []
            for word in subset.variables:
                member = word.canonical
                if member in out or member in {s.name.canonical for s in self.clause.subsets}:
                    message, hint = f"`{member}` is a union; a union has variables only", "list its variables"
                    self.source.report("unknown-name", message, word.span, hint)
                elif member not in variables:
                    self._no_variable(word, variables)
                members.append(member)
            out.setdefault(name, tuple(dict.fromkeys(members)))
        return out

    def order(self, names: Names) -> tuple[Key, ...]:
        out = []
        for key in self.clause.order:
            column = names.column(key.column)
            if column is not None:
                first = not key.descending if key.nulls_first is None else key.nulls_first
                out.append(Key(column, key.descending, first))
        return tuple(out) or (Key(self.clock),)

    def conditions(self, names: Names) -> dict[str, Expr]:
        """The conditions by variable, resolved."""
        if names.variables and not self.clause.defines:
            name = names.variables[0]
            message = "`DEFINE` is missing although the pattern has variables"
            self.source.report("syntax", message, self.clause.span, f"write `DEFINE {name} AS TRUE`")
        out: dict[str, Expr] = {}
        places: dict[str, Place] = {}
        for define in self.clause.defines:
            name = define.variable.canonical
            if name in out:
                message = f"`{name}` is defined twice"
                hint = "join the conditions with `AND`"
                self.source.report("duplicate-name", message, define.variable.span, hint, "error", (places[name],))
                continue
            places[name] = Place("the first is here", self.source.file, define.variable.span)
            if name in names.unions:
                message = f"`{name}` is a union, which has no condition of its own"
                self.source.report("unknown-name", message, define.variable.span, "define its variables")
            elif name not in names.variables:
                self._no_variable(define.variable, names.variables)
            out[name] = names.condition(define.condition)
        # a variable that is always true has no condition
        return {n: c for n, c in out.items() if not (isinstance(c, Literal) and c.value is True)}

    def _no_variable(self, word: Word, variables: Sequence[str]) -> None:
        hint = did_you_mean(word.canonical, variables, "variables")
        self.source.report("unknown-name", f"`{word}` is not a variable of the pattern", word.span, hint)

    def skip(self, variables: Sequence[str], unions: Mapping[str, tuple[str, ...]]) -> Skip:
        skip = self.clause.skip
        if skip.variable is None:
            return Skip(skip.to)
        name = skip.variable.canonical
        if name in unions:
            return Skip(skip.to, name, unions[name])
        if name not in variables:
            self._no_variable(skip.variable, [*variables, *unions])
        return Skip(skip.to, name, (name,))

    def within(self, order: Sequence[Key]) -> None:
        """Report a bound that is not positive, has no unit, or stands without the order of time."""
        within, span, kind = self.clause.within, self.clause.within_span, self.program.kind
        if within is None:
            return
        if within.amount <= 0:
            self.source.report("bad-duration", "the duration behind WITHIN must be positive", span)
        elif kind is not None:
            ticks = ticks_of(within, span, self.source, kind, "write a unit: `WITHIN INTERVAL '5' MINUTE`")
            if ticks is not None:
                refuse_inexact(ticks, span, self.source, kind)
        if order[0] != Key(self.clock):
            message = "WITHIN needs rows in the order of time"
            self.source.report("bad-bound", message, span, "write `ORDER BY time`, or begin ORDER BY with it")

    def no_exclusion(self) -> None:
        for node in self.clause.pattern.walk():
            if isinstance(node, syntax.Exclusion):
                message = "rows cannot be excluded with WITH UNMATCHED ROWS"
                hint = "remove `{- -}`, or write ALL ROWS PER MATCH"
                self.source.report("sort", message, node.span, hint)

    # --- columns -----------------------------------------------------------------------------------------------------

    def measures(self, names: Names, partition: Sequence[str], input: Columns) -> tuple[Value, ...]:
        out: dict[str, Value] = {}
        every = self.clause.rows != syntax.ONE
        for measure in self.clause.measures:
            expr, kind, element = names.value(measure.expr)
            name = measure.name.text
            if name in RESERVED_OUTPUT and not self.free:
                self._reserved(measure.name)
            elif name in out:
                place = Place("the first is here", self.source.file, out[name].span)
                message = f"two measures are called `{name}`"
                self.source.report("duplicate-name", message, measure.name.span, None, "error", (place,))
                continue
            elif name in partition or (every and name in input.types):
                message = f"`{name}` is a column of the {'input' if name not in partition else 'PARTITION BY'} already"
                self.source.report("duplicate-name", message, measure.name.span, f"name it: `AS {name}2`")
                continue
            out[name] = Value(name, expr, kind, element, span=measure.name.span)
        return tuple(out.values())

    def _reserved(self, name: Word) -> None:
        hint = f"reserved names: {', '.join(RESERVED_OUTPUT)}"
        hint += "; write `AS cls`" if name.text == "label" else "; choose another name with `AS`"
        self.source.report("reserved-name", f"`{name}` cannot be the name of a column", name.span, hint)

    def columns(
        self, partition: Sequence[str], order: Sequence[Key], measures: Sequence[Value], input: Columns
    ) -> tuple[dict[str, Type], tuple[str, ...]]:
        """The columns of the clause without time, and those of the input that stand behind the measures."""
        out = {name: input.types.get(name, Type.NULL) for name in partition}
        every = self.clause.rows != syntax.ONE
        if every:
            out |= {k.column: input.types.get(k.column, Type.NULL) for k in order}
        before = set(out) if self.free else {*out, "time"}
        out |= {m.name: m.type for m in measures}
        others = tuple(n for n, t in input.types.items() if every and n not in before and t is not Type.RECORD)
        out |= {name: input.types[name] for name in others}
        if not self.free:
            out.pop("time", None)  # every row has its time in front
        return out, others

    def outputs(self, outside: Outside, columns: Mapping[str, Type], elements: Mapping[str, Type]) -> tuple[Value, ...]:
        """The columns of the derived rows; reports names that are there twice, reserved, or missing."""
        out: dict[str, Value] = {}
        for item in self.query.items:
            for made in self._item(item, outside, columns, elements):
                if made.name in out:
                    place = Place("the first is here", self.source.file, out[made.name].span)
                    message, hint = f"two columns are called `{made.name}`", f"rename one: `.. AS {made.name}2`"
                    self.source.report("duplicate-name", message, made.span, hint, "error", (place,))
                out.setdefault(made.name, made)
        return tuple(out.values())

    def _item(
        self, item: syntax.Item, outside: Outside, columns: Mapping[str, Type], elements: Mapping[str, Type]
    ) -> list[Value]:
        span = item.span
        if item.expr is None:
            if item.qualifier is not None and not outside.qualified(item.qualifier):
                return []
            outside.used |= set(columns)
            return [Value(n, Ref(None, n), t, elements.get(n, Type.NULL), span=span) for n, t in columns.items()]
        bare = isinstance(item.expr, syntax.Column)
        if item.name is None and not bare:
            message = f"the column `{expr_text(item.expr)}` has no name"
            self.source.report("syntax", message, span, "name it: `.. AS name`")
            return []
        made, kind = outside.value(item.expr)
        column = made.name if isinstance(made, Ref) else ""
        name = column if item.name is None else item.name.text
        if not self.free and name == column == "time":
            return []  # every row has its time in front
        if item.name is not None and name in RESERVED_OUTPUT and not self.free:
            self._reserved(item.name)
        return [Value(name, made, kind, elements.get(column, Type.NULL) if bare else Type.NULL, span=span)]

    def no_lists(self, outside: Outside, outputs: Sequence[Value], where: Expr | None) -> None:
        """Report lists that are part of an expression."""
        inside = [v.expr for v in outputs if not isinstance(v.expr, Ref)] + ([] if where is None else [where])
        for node in (n for e in inside for n in e.walk()):
            if isinstance(node, Ref) and outside.columns.types.get(node.name) is Type.RECORD:
                message = f"`{node.name}` is a list, which can only be selected as it is"
                self.source.report("type-mismatch", message, node.span, None)


def _schema(outputs: Sequence[Value]) -> Schema:
    """The columns of the derived rows."""
    lists = tuple((v.name, pa.list_(arrow_type(v.element))) for v in outputs if v.type is Type.RECORD)
    return Schema(tuple((v.name, v.type) for v in outputs), records=lists)
