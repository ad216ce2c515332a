"""The clauses of Phenesthe definitions and how each is relaxed (why.md, section 6)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from occurs.expr.dialect import PHENESTHE
from occurs.expr.render import name_text
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal, Ref, Unary
from occurs.languages.kit.clauses import (
    DROPPED,
    Clause,
    Declaration,
    Edit,
    RuleClauses,
    Source,
    Splice,
    Where,
    comparison,
    declarations,
    distinct,
    duration_of,
    of_text,
    span_of,
)
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.define import Phenesthe
from occurs.languages.phenesthe.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Type

#: what ends a statement
ENDING = ".\n"
#: a condition that is always true
TRUE = "0 = 0"
_SIGN = re.compile(r"union\b|minus\b|complement\b|intersection\b|[⊔⊓\\]")

#: the words of filters, as sentences have them
_LENGTHS = {"less": "less than", "at_most": "at most", "at_least": "at least", "greater": "more than"}


def rules(part: Phenesthe, texts: Sequence[str], kind: TimeKind) -> list[RuleClauses]:
    """The clauses of all definitions, in the order of the text."""
    out = []
    for text, statement in part.at:
        written = part.texts.files[text].statements[statement]
        assert isinstance(written, syntax.Definition)
        out.append(_Definition(part, written, text, Text(texts[text], None), kind).clauses())
    return out


def declared(part: Phenesthe, texts: Sequence[str]) -> list[Declaration]:
    """Where texts declare their input, and write facts."""

    def written(s: syntax.Declaration | syntax.Fact, name: str) -> str:
        return render(replace(s, name=syntax.Name(name))).rstrip().removesuffix(".")

    kinds = syntax.Declaration | syntax.Fact
    files = [file.statements for file in part.texts.files]
    return declarations(files, texts, lambda s: s.name if isinstance(s, kinds) else None, written)


class _Definition:
    def __init__(self, part: Phenesthe, written: syntax.Definition, text: int, source: Text, kind: TimeKind):
        self.part, self.written, self.number, self.source, self.kind = part, written, text, source, kind
        self.text = source.text
        self.start, self.stop = source.offsets(of_text(written.span))
        self.types = set(part.schemas)
        self.sources: dict[str, Source] = {}
        self.places = self._places()

    def _places(self) -> dict[str, Where]:
        """Where the witness has the value of a variable: the first atom that binds it."""
        out: dict[str, Where] = {}
        for number, atom in enumerate(self.written.atoms):
            schema = self.part.schemas.get(atom.name.text)
            names = () if schema is None else schema.names
            for i, argument in enumerate(atom.arguments):
                if isinstance(argument.value, syntax.Variable):
                    name = argument.name.text if argument.name else names[i] if i < len(names) else None
                    if name is not None:
                        out.setdefault(argument.value.name, (atom.name.text, name))
                        self.sources.setdefault(argument.value.name, Source(str(number), atom.name.text, name))
        return out

    def clauses(self) -> RuleClauses:
        found = distinct(self._all())
        positive: set[str] = set()
        negative: set[str] = set()
        for formula in self.written.formulas:
            for node, good in _signed(formula, True):
                if isinstance(node, syntax.Atom) and node.name.text in self.types:
                    (positive if good else negative).add(node.name.text)
        folded = {a.name.text for a in self.written.measured if a.name.text in self.types}
        fixed = {
            a.name.text: (a.value.value, self.source.offsets(of_text(a.name.span))[0])
            for a in self.written.head
            if isinstance(a.value, syntax.Constant) and a.name.span is not None
        }
        return RuleClauses(
            self.number, self.start, self.stop, self.written.name.text, None, tuple(found), frozenset(positive),
            frozenset(negative), frozenset(folded), renamed=self._renamed, named=self._named,
            durations=tuple(self._durations()), constants=tuple(self._constants()), fixed=fixed,
        )  # fmt: skip

    def _ticks(self, duration: Any) -> int:
        return math.floor(self.kind.convert(duration) or 0)

    def _durations(self) -> Iterator[int]:
        for f in self.written.formulas:
            for n in f.walk():
                if isinstance(n, syntax.Filter | syntax.Iteration):
                    yield self._ticks(n.duration)

    def _constants(self) -> Iterator[Any]:
        for atom in self.written.atoms:
            yield from (a.value.value for a in atom.arguments if isinstance(a.value, syntax.Constant))
        for f in self.written.formulas:
            for n in f.walk():
                if isinstance(n, syntax.Comparison):
                    for e in n.condition.walk():
                        if isinstance(e, Literal) and e.type is not Type.NULL:
                            yield e.value
                        elif (
                            isinstance(e, Unary) and isinstance(e.arg, Literal) and isinstance(e.arg.value, int | float)
                        ):
                            yield -e.arg.value

    # -- clauses -----------------------------------------------------------------------------------------------------
    def _all(self) -> Iterator[Clause]:
        for formula in self.written.formulas:
            for node, good in _signed(formula, True):
                if good:
                    yield from self._node(node)

    def _node(self, node: syntax.Relation) -> Iterator[Clause]:
        if isinstance(node, syntax.Atom):
            yield from self._atom(node)
        elif isinstance(node, syntax.Comparison):
            yield self._comparison(node)
        elif isinstance(node, syntax.And):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(side, syntax.Not) and not isinstance(other, syntax.Comparison):
                    yield self._absent(side, other)
        elif isinstance(node, syntax.Complement):
            low, high = self._extent(node.left)[1], self._extent(node.right)
            found = _SIGN.search(self.text, low, high[0])
            assert found is not None
            drop = Edit((Splice(low, high[1], ""),))
            type = node.right.name.text if isinstance(node.right, syntax.Atom) else None
            written = self.text[found.start() : high[1]]
            yield Clause("absence", found.start(), high[1], written, drop, needed="none", type=type,
                         detail={"bound": self._bound(node.right)})  # fmt: skip
        elif isinstance(node, syntax.Filter | syntax.Iteration):
            yield from self._length(node)
        elif isinstance(node, syntax.Related):
            yield self._relation(node)

    def _atom(self, node: syntax.Atom) -> Iterator[Clause]:
        name = node.name.text
        place = self.source.offsets(of_text(node.name.span))
        schema = self.part.schemas.get(name)
        tests = []
        for i, argument in enumerate(node.arguments):
            if isinstance(argument.value, syntax.Constant):
                at = self.source.offsets(of_text(argument.value.span))
                written = self.text[slice(*at)]
                attribute = argument.name.text if argument.name else (schema.names[i] if schema else f"a{i + 1}")
                tests.append((f"{attribute} = {written}", None))
                drop = Edit((Splice(*at, "_"),), "_")
                yield Clause(
                    "equality", *at, written, drop, role=name, subject=f"{name}.{attribute}", needed="=",
                    detail={"own": (name, attribute), "other": None, "other_text": written},
                )  # fmt: skip
        if schema is not None and not schema.changes:
            yield Clause("missing", *place, self.text[slice(*place)], role=name, type=name, detail={"tests": tests})

    def _comparison(self, node: syntax.Comparison) -> Clause:
        part = replace(node.condition, span=node.span) if node.condition.span is None else node.condition  # type: ignore[attr-defined,call-arg]
        drop = Edit((Splice(*self.source.offsets(of_text(span_of(part))), TRUE),))

        def where(expr: Expr) -> Where | None:
            return self.places.get(expr.name) if isinstance(expr, Ref) else None

        names = [n.name for n in part.walk() if isinstance(n, Ref) and n.name in self.places]
        role = self.places[names[0]][0] if names else None
        return comparison(
            self.text, lambda s: self.source.offsets(of_text(s)), part, drop, role, self.kind, where=where,
            shown=lambda e: self.source.piece(of_text(e.span)),  # type: ignore[attr-defined]
            duration=lambda t: duration_of(t, self.kind), dialect=PHENESTHE,
            source=lambda e: self.sources.get(e.name) if isinstance(e, Ref) else None,
        )  # fmt: skip

    def _absent(self, node: syntax.Not, other: syntax.Relation) -> Clause:
        start, stop = self.source.offsets(of_text(node.span))
        mine, its = self._extent(node), self._extent(other)
        splice = Splice(its[1], mine[1], "") if its[1] <= mine[0] else Splice(mine[0], its[0], "")
        if isinstance(other, syntax.Not):  # both may go, and the operator with one of them only
            splice = Splice(*mine, TRUE)
        type = node.operand.name.text if isinstance(node.operand, syntax.Atom) else None
        return Clause("absence", start, stop, self.text[start:stop], Edit((splice,)), needed="none", type=type,
                      detail={"bound": self._bound(node.operand)})  # fmt: skip

    def _bound(self, node: syntax.Relation) -> dict[str, list[tuple[Any, ...]]]:
        """Per attribute of a negated atom the values that it is compared with: constants, or those of other atoms."""
        schema = self.part.schemas.get(node.name.text) if isinstance(node, syntax.Atom) else None
        if schema is None or not isinstance(node, syntax.Atom):
            return {}
        out: dict[str, list[tuple[Any, ...]]] = {}
        for i, argument in enumerate(node.arguments):
            name = argument.name.text if argument.name else schema.names[i]
            if isinstance(argument.value, syntax.Constant):
                out[name] = [("is", argument.value.value)]
            elif isinstance(argument.value, syntax.Variable):
                variable = argument.value.name
                heads = [h for h in self.written.head if getattr(h.value, "name", None) == variable]
                out[name] = [("at", *self.places[variable])] if variable in self.places else []
                out[name] += [("out", h.name.text) for h in heads if h.name is not None]
        return out

    def _length(self, node: syntax.Filter | syntax.Iteration) -> Iterator[Clause]:
        at = self.source.offsets(of_text(node.duration_span))
        op = {"<": "less", "<=": "at_most", ">=": "at_least", ">": "greater"}.get(node.op, node.op)
        if op in ("equal", "="):
            return
        limit = self._ticks(node.duration)
        longer = op in ("less", "at_most")
        further = {"less": 1, "at_most": 0, "at_least": 0, "greater": -1}[op]

        def moved(value: Any) -> Edit | None:
            if value is None:
                return None
            ticks = int(value) + further
            if ticks <= 0 or (ticks <= limit if longer else ticks >= limit):
                return None
            text = str(ticks) if node.duration.ticks else duration_of(ticks, self.kind)
            return Edit((Splice(*at, text),), text, abs(ticks - limit))

        written = self.text[slice(*at)]
        atoms = [n.name.text for n in node.operand.walk() if isinstance(n, syntax.Atom)]
        yield Clause(
            "window", *at, written, None, None, moved, role=atoms[0] if atoms else None,
            needed=f"{_LENGTHS[op]} {written}", detail={"length": True, "between": isinstance(node, syntax.Iteration)},
        )  # fmt: skip

    def _relation(self, node: syntax.Related) -> Clause:
        low, high = self._extent(node.left)[1], self._extent(node.right)[0]
        found = re.compile(rf"\b{node.rel}\b").search(self.text, low, high)
        assert found is not None
        others = (*syntax.RELATIONS, *syntax.INVERSES)
        edits = tuple(Edit((Splice(*found.span(), r),), r, DROPPED) for r in others if r != node.rel)
        sides = [
            (
                " ".join(self.source.piece(of_text(s.span)).split()),  # type: ignore[attr-defined]
                s.name.text if isinstance(s, syntax.Atom) else None,
                self._bound(s),
            )
            for s in (node.left, node.right)
        ]
        return Clause("relation", *found.span(), node.rel, others=edits, needed=node.rel, detail={"sides": sides})

    def _extent(self, node: Any) -> tuple[int, int]:
        """The place of a formula with the parentheses around it."""
        start, stop = self.source.offsets(of_text(node.span))
        while True:
            before = len(self.text[:start].rstrip())
            after = stop + len(self.text[stop:]) - len(self.text[stop:].lstrip())
            if before == 0 or self.text[before - 1] != "(" or after >= len(self.text) or self.text[after] != ")":
                return start, stop
            if re.search(r"\w\s*\Z", self.text[: before - 1]) and not re.search(
                r"(and|or|not|in|union|minus|complement|intersection|aand|tnot|gtnot|before|meets|overlaps|finishes|"
                r"starts|equals|contains|after|met_by|overlapped_by|finished_by|started_by|during)\s*\Z",
                self.text[: before - 1],
            ):
                return start, stop
            start, stop = before - 1, after + 1

    # -- other texts of the definition -------------------------------------------------------------------------------
    def _named(self, name: str) -> list[Splice]:
        return [Splice(*self.source.offsets(of_text(self.written.name.span)), name_text(name))]

    def _renamed(self, names: Mapping[str, str]) -> list[Splice]:
        return [
            Splice(*self.source.offsets(of_text(a.name.span)), f"`{names[a.name.text]}`")
            for a in self.written.atoms
            if a.name.text in names
        ]


def _signed(node: syntax.Relation, good: bool) -> Iterator[tuple[syntax.Relation, bool]]:
    """All parts of a formula, and whether each stands positively."""
    yield node, good
    if isinstance(node, syntax.Complement):
        yield from _signed(node.left, good)
        yield from _signed(node.right, not good)
        return
    for part in node.parts:
        yield from _signed(part, good != isinstance(node, syntax.Not))


def copied(file: syntax.File, name: str, output: str | None, names: Mapping[str, str]) -> syntax.File:
    """A file with other names: its own ``name``, the ``output`` of its definition, the phenomena that it reads."""

    def called(n: syntax.Name) -> syntax.Name:
        return replace(n, text=names[n.text]) if n.text in names else n

    def formula(node: Any) -> Any:
        if isinstance(node, syntax.Atom):
            return replace(node, name=called(node.name))
        changed = {f.name: formula(v) for f in fields(node) if isinstance(v := getattr(node, f.name), syntax.Relation)}
        return replace(node, **changed) if changed else node

    def head(a: syntax.HeadArgument) -> syntax.HeadArgument:
        value = a.value
        if isinstance(value, syntax.Measure) and value.atom is not None:
            return replace(a, value=replace(value, atom=formula(value.atom)))
        return a

    def statement(s: syntax.Statement) -> syntax.Statement:
        if isinstance(s, syntax.Declaration):
            return replace(s, name=called(s.name))
        if not isinstance(s, syntax.Definition):
            return s
        where = None if s.where is None else formula(s.where)
        own = s.name if output is None else replace(s.name, text=output)
        return replace(s, name=own, head=tuple(map(head, s.head)), body=formula(s.body), where=where)

    return replace(file, name=name, statements=tuple(map(statement, file.statements)))
