"""The clauses of eSQL definitions and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from occurs.expr.render import name_text
from occurs.expr.text import Text
from occurs.expr.tree import COMPARISONS, Binary, Call, Expr, Literal, Ref, Unary
from occurs.languages.esql import syntax
from occurs.languages.esql.define import Esql
from occurs.languages.kit.clauses import (
    VALUE,
    Box,
    Clause,
    Declaration,
    Edit,
    RuleClauses,
    Splice,
    Where,
    comparison,
    distinct,
    of_text,
    sign_of,
    span_of,
    spliced,
)
from occurs.model.time import TimeKind
from occurs.model.types import Type

#: what ends a statement
ENDING = ".\n"
TRUE = "TRUE"
#: by so much at most a count that may grow is raised
MOST = 40
#: the forms with a number, what its part is called, the least that it may be (None: it grows)
COUNTS = {"Trim": ("n", 0), "Decimate": ("n", 1), "Window": ("n", 1), "First": ("n", None), "Repeat": ("n", None)}

#: what is written before these numbers
FORMS = {"Trim": "TRIM", "Decimate": "EVERY", "Window": "ON A WINDOW OF", "First": "THE FIRST", "Repeat": "REPEAT"}


def rules(part: Esql, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all definitions, in the order of the text."""
    out = []
    for text, statement in part.at:
        written = part.texts.files[text].statements[statement]
        assert isinstance(written, syntax.Definition)
        out.append(_Pipe(part, written, text, Text(texts[text], None), kind).clauses(written.output))
    return out


def helpers(part: Esql, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of named pipes, which make no rows of their own."""
    out = []
    for number, file in enumerate(part.texts.files):
        for s in file.statements:
            if isinstance(s, syntax.Let):
                out.append(_Pipe(part, s, number, Text(texts[number], None), kind).clauses(s.name.text))
    return out


def declared(part: Esql, texts: Sequence[str]) -> list[Declaration]:
    """The phrases, without which no statement can be read."""
    out = []
    for number, file in enumerate(part.texts.files):
        source = Text(texts[number], None)
        for s in file.statements:
            if isinstance(s, syntax.Phrase) and s.span is not None:
                out.append(Declaration(number, *source.offsets(s.span), "", (0, 0)))
    return out


class _Pipe:
    def __init__(
        self, part: Esql, written: syntax.Definition | syntax.Let, text: int, source: Text, kind: TimeKind
    ) -> None:
        self.part, self.written, self.number, self.source, self.kind = part, written, text, source, kind
        self.text = source.text
        self.start, self.stop = source.offsets(of_text(written.span))
        self.lets = {s.name.text for f in part.texts.files for s in f.statements if isinstance(s, syntax.Let)}
        self.known = set(part.reads) | set(part.defined) | self.lets

    def clauses(self, defines: str) -> RuleClauses:
        found = distinct(self._all())
        reads = frozenset(n for _, n, _ in self._names())
        return RuleClauses(
            self.number, self.start, self.stop, defines, None, tuple(found), reads, renamed=self._renamed,
            named=self._named, constants=tuple(self._constants()), boxes=self._boxes,
        )  # fmt: skip

    def _names(self) -> Iterator[tuple[tuple[int, int], str, syntax.Node | None]]:
        """The types and pipes that are named: place, name, and the source that names it."""
        for node, source in _pipes(self.written.pipe, None):
            if isinstance(node, syntax.Named) and node.name in self.known and node.span is not None:
                yield self.source.offsets(node.span), node.name, source
            elif isinstance(node, syntax.Form) and node.kind == "events":
                for name in node["types"]:
                    yield self.source.offsets(of_text(name.span)), name.text, None

    def _constants(self) -> Iterator[Any]:
        for node in self.written.pipe.walk():
            if isinstance(node, syntax.Number | syntax.Text):
                yield node.value

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        for place, name, _ in self._names():
            if name not in self.lets:
                yield Clause("missing", *place, self.text[slice(*place)], role="about", type=name)
        yield from self._walk(self.written.pipe, False, True)

    def _walk(self, node: syntax.Node, formula: bool, good: bool) -> Iterator[Clause]:
        if isinstance(node, syntax.Where):
            yield from self._suffix(node)
            yield from self._walk(node.pipe, formula, good)
            return
        if isinstance(node, syntax.Form):
            yield from self._form(node)
            if node.kind == "select" and node["where"] is not None:
                for part in _conjuncts(node["where"]):
                    yield self._condition(part, node)
            for name, value in node.parts:
                if name != "where":
                    for child in value if isinstance(value, tuple) else (value,):
                        if isinstance(child, syntax.Node):
                            yield from self._walk(child, formula, good)
            return
        if isinstance(node, syntax.Binary) and formula and good and node.op in COMPARISONS:
            yield self._condition(node)
            return
        if isinstance(node, syntax.Unary):
            yield from self._walk(node.operand, formula or node.op != "-", good != (node.op == "NOT"))
            return
        if isinstance(node, syntax.Binary) and node.op in ("->", "IMPLIES"):
            yield from self._walk(node.left, True, not good)
            yield from self._walk(node.right, True, good)
            return
        if isinstance(node, syntax.Quantifier):
            formula = True
        if isinstance(node, syntax.Binary) and node.op in ("U", "UPTO"):
            formula = True
        for child in node.children:
            yield from self._walk(child, formula, good)

    def _suffix(self, node: syntax.Where) -> Iterator[Clause]:
        if node.word == "WHERE":
            for part in _conjuncts(node.condition):
                yield self._condition(part, node)
            return
        low, high = self._extent(node.pipe)[1], self._extent(node.condition)[1]
        start = low + len(self.text[low:high]) - len(self.text[low:high].lstrip())
        drop = Edit((Splice(low, high, ""),))
        written = self.text[start:high]
        yield Clause("choice", start, high, written, drop, needed="removed",
                     detail={"message": f"the item was dropped by `{written}`"})  # fmt: skip

    def _form(self, node: syntax.Form) -> Iterator[Clause]:
        if node.kind == "Filter":
            start = self.source.offsets(of_text(node.span))[0]
            low, high = self._extent(node["pipe"])
            stop = self.source.offsets(of_text(node.span))[1]
            drop = Edit((Splice(start, low, ""), Splice(high, stop, "")), self.text[low:high])
            yield Clause("choice", start, stop, self.text[start:stop], drop, needed=self.text[low:high],
                         detail={"message": "the item was dropped by FILTER"})  # fmt: skip
        if node.kind not in COUNTS:
            return
        name, least = COUNTS[node.kind]
        number = node[name]
        if not isinstance(number, syntax.Number) or not isinstance(number.value, int):
            number = next((v for _, v in node.parts if isinstance(v, syntax.Number) and isinstance(v.value, int)), None)
        if number is None:
            return
        at, n = self.source.offsets(of_text(number.span)), int(number.value)
        values = range(n + 1, n + MOST) if least is None else range(n - 1, least - 1, -1)
        edits = tuple(Edit((Splice(*at, str(v)),), str(v), abs(v - n)) for v in values)
        yield Clause("count", *at, self.text[slice(*at)], others=edits, role="about", detail={"form": FORMS[node.kind]})

    def _condition(self, part: syntax.Node, node: syntax.Node | None = None) -> Clause:
        """A condition on the items of ``node``, or (None) a comparison in a formula."""
        drop = Edit((Splice(*self.source.offsets(of_text(part.span)), TRUE),))

        def where(expr: Expr) -> Where | None:
            return ("about", expr.name) if isinstance(expr, Ref) else None

        core = _core(part)
        made = comparison(
            self.text, lambda s: self.source.offsets(of_text(s)), core, drop, "about", self.kind, where=where,
            shown=lambda e: self.source.piece(of_text(e.span)),  # type: ignore[attr-defined]
            stamp=lambda t: f"TIME {t}",
        )  # fmt: skip
        if made.kind != "threshold" or not isinstance(core, Binary):
            return made
        other = self.source.offsets(of_text(span_of(core.right if sign_of(core.left) is not None else core.left)))
        if node is None:  # a formula has its positions from what it reads
            written = self.text[slice(*other)]
            made = replace(made, drop=Edit((Splice(made.start, made.stop, f"({written} = {written} OR {TRUE})"),)))
        return replace(made, shown=self._shown(other, drop, node))

    def _shown(self, other: tuple[int, int], drop: Edit, node: syntax.Node | None) -> Edit:
        """The definition as a pipe of the values of an expression: over the items that a condition is for, or (None)
        of a formula that of the pipe which is compared."""
        start, stop = self._extent(self.written.pipe)
        head = f"SELECT ({self.text[slice(*other)]}) AS {VALUE} FROM "
        define: tuple[Splice, ...] = ()
        if isinstance(self.written, syntax.Let):  # whose items are not reported
            name = self.source.offsets(of_text(self.written.name.span))
            define = Splice(self.start, name[0], "DEFINE "), Splice(name[1], start, " AS ")
        if isinstance(node, syntax.Where):
            low, high = self._extent(node.pipe)
            return Edit((*define, Splice(start, low, f"{head}("), Splice(high, stop, ")")))
        if isinstance(node, syntax.Form):
            low = self._extent(node["sources"][0])[0]
            end = self.source.offsets(of_text(node.span))[1]
            return Edit((*define, Splice(start, low, head), *drop.splices, Splice(end, stop, "")))
        return Edit((*define, Splice(start, other[0], ""), Splice(other[1], stop, "")))

    def _extent(self, node: Any) -> tuple[int, int]:
        """The place of a pipe with the parentheses around it."""
        start, stop = self.source.offsets(of_text(node.span))
        while True:
            before = len(self.text[:start].rstrip())
            after = stop + len(self.text[stop:]) - len(self.text[stop:].lstrip())
            if before == 0 or self.text[before - 1] != "(" or after >= len(self.text) or self.text[after] != ")":
                return start, stop
            start, stop = before - 1, after + 1

    # -- operators -----------------------------------------------------------------------------------------------------
    def _boxes(self, at: int) -> list[Box]:
        """The operators above one another of which one has the place ``at``, from the source to the output."""
        out: list[Box] = []
        node: syntax.Node | None = self.written.pipe
        while node is not None:
            inner = [n for n in _inputs(node) if n.span is not None]
            place = self._extent(node)
            below = next(
                (n for n in inner if self._extent(n)[0] <= at < self._extent(n)[1]), inner[0] if inner else None
            )
            out.append(Box(self._titled(node, below), partial(self._written, place)))
            node = below
        return out[::-1]

    def _titled(self, node: syntax.Node, below: syntax.Node | None) -> str:
        """An operator without the pipes that it reads."""
        start, stop = self.source.offsets(of_text(node.span))
        text = self.text[start:stop]
        if below is not None and not isinstance(below, syntax.Named):
            low, high = self._extent(below)
            text = self.text[high:stop] if low <= start else f"{self.text[start:low]}(..){self.text[high:stop]}"
        return " ".join(text.split())

    def _written(self, place: tuple[int, int], name: str, splices: Sequence[Splice]) -> str:
        """The pipe at a place as a definition."""
        own = [s for s in splices if place[0] <= s.start and s.stop <= place[1]]
        return f"DEFINE {name_text(name)} AS {spliced(self.text, own, *place)}{ENDING}"

    # -- other texts -------------------------------------------------------------------------------------------------
    def _named(self, name: str) -> list[Splice]:
        given = self.written.name
        if given is not None:
            return [Splice(*self.source.offsets(of_text(given.span)), name_text(name))]
        return [Splice(self.start, self.start, f"DEFINE {name_text(name)} AS ")]

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        out = []
        for place, name, source in self._names():
            if name in names:
                alias = isinstance(source, syntax.Source) and source.name is None
                out.append(Splice(*place, f"`{names[name]}`" + (f" AS {name_text(name)}" if alias else "")))
        return out


def _inputs(node: syntax.Node) -> list[syntax.Node]:
    """The pipes that an operator reads."""
    if isinstance(node, syntax.Where):
        return [node.pipe]
    if not isinstance(node, syntax.Form):
        return []
    parts = [v for name, value in node.parts if name not in _FUNCTIONS
             for v in (value if isinstance(value, tuple) else (value,))]  # fmt: skip
    pipes = [v.pipe if isinstance(v, syntax.Source) else v for v in parts]
    return [p for p in pipes if isinstance(p, syntax.Form | syntax.Where | syntax.Named)]


#: the parts of forms that are functions, in which names are those of attributes and sources
_FUNCTIONS = frozenset(("columns", "where", "function", "key", "until", "start", "value"))


def _pipes(node: Any, source: syntax.Source | None) -> Iterator[tuple[syntax.Node, syntax.Source | None]]:
    """The nodes of a pipe that are pipes, each with the source that it is, if it is one."""
    if isinstance(node, tuple):
        for part in node:
            yield from _pipes(part, None)
    elif isinstance(node, syntax.Source):
        yield from _pipes(node.pipe, node)
    elif isinstance(node, syntax.Form):
        yield node, source
        for name, value in node.parts:
            if name not in _FUNCTIONS:
                yield from _pipes(value, None)
    elif isinstance(node, syntax.Where):
        yield from _pipes(node.pipe, None)
    elif isinstance(node, syntax.Quantifier):
        yield from _pipes(node.on, None)
    elif isinstance(node, syntax.Node):
        yield node, source
        for child in node.children:
            yield from _pipes(child, None)


def _conjuncts(node: syntax.Node) -> Iterator[syntax.Node]:
    if isinstance(node, syntax.Binary) and node.op == "AND":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def _core(node: syntax.Node) -> Expr:
    """A condition in the nodes that all languages share, as far as clauses look at it."""
    if isinstance(node, syntax.Binary) and node.op in COMPARISONS:
        return Binary(node.op, _core(node.left), _core(node.right), span=node.span)
    if isinstance(node, syntax.Number):
        return Literal(node.value, Type.INT if isinstance(node.value, int) else Type.FLOAT, span=node.span)
    if isinstance(node, syntax.Text):
        return Literal(node.value, Type.STRING, span=node.span)
    if isinstance(node, syntax.Unary) and node.op == "-":
        return Unary("neg", _core(node.operand), span=node.span)
    if isinstance(node, syntax.Named):
        return Ref(None, node.name, span=node.span)
    if isinstance(node, syntax.Access):
        return Ref(None, node.name, span=node.span)
    return Call("value", tuple(_core(c) for c in node.children), span=node.span)
