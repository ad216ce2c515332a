"""The texts of a program, in any mix of languages, checked as one (common.md, sections 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.errors import Problem
from occurs.languages.kit.language import Known, Language, Part, Slot, Texts, folder, language
from occurs.languages.kit.mixed_up import in_another_language
from occurs.model.collector import uncollected
from occurs.model.source import TextFile
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type, widen
from occurs.operators.definition import Definition, Node, Subscribed
from occurs.plan.graph import order


@dataclass(frozen=True)
class Read:
    """The parsed texts of a program by language; ``numbers``: of each text among all; ``empty``: warnings about texts
    without a statement."""

    texts: Mapping[str, Texts[Any]]
    numbers: Mapping[str, tuple[int, ...]]
    empty: tuple[Problem, ...] = ()
    #: what was checked last, behind what was known then
    _checked: list[tuple[Known, Bound]] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    @uncollected()
    def of(cls, texts: Sequence[tuple[str, str | None, str]]) -> Read:
        """Parse (text, file name, language) triples."""
        parsed, numbers, empty = {}, {}, []
        for name in dict.fromkeys(folder(n) for _, _, n in texts):
            own = [(i, given) for i, given in enumerate(texts) if folder(given[2]) == name]
            parsed[name] = language(name).read([given for _, given in own])
            numbers[name] = tuple(i for i, _ in own)
            parsed[name] = _told_apart([given for _, given in own], parsed[name])
            for (_, (_, file, _)), tree in zip(own, parsed[name].files, strict=True):
                if not tree.statements and not parsed[name].problems:
                    text = "this text has no statement"
                    empty.append(Problem("no-statement", text, severity="warning", file=file))
        return cls(parsed, numbers, tuple(empty))

    @property
    def problems(self) -> list[Problem]:
        return [p for texts in self.texts.values() for p in texts.problems]

    def check(self, known: Known | None = None) -> Bound:
        """Check all texts against what is known of the input.

        What one language defines the others may read, both ways: so all are checked again until no schema changes.
        """
        known = known or Known()
        if not self._checked or self._checked[0][0] != known:
            self._checked[:] = [(known, self._check(known))]
        return self._checked[0][1]

    @uncollected()
    def _check(self, known: Known) -> Bound:
        languages: dict[str, tuple[Language, Any]] = {n: (language(n), t) for n, t in self.texts.items()}
        parts = {n: one.check(texts, known) for n, (one, texts) in languages.items()}
        # every round settles the types of one more definition of a chain
        rounds = sum(len(p.nodes) for p in parts.values()) + 1 if len(parts) > 1 else 0
        before: dict[str, Known] = {}
        for _ in range(rounds):
            now = {n: _seen_by(n, parts, known) for n in parts}
            if now == before:
                break
            parts = {n: one.check(texts, now[n]) for n, (one, texts) in languages.items()}
            before = now
        return Bound(parts, self.numbers, self.empty)


def _told_apart(given: Sequence[tuple[str, str | None, str]], read: Texts[Any]) -> Texts[Any]:
    """What was read, with one problem for each text that is in another language, instead of those of its syntax."""
    problems = read.problems
    for (text, file, name), tree in zip(given, read.files, strict=True):
        wrong = [p for p in problems if p.file == file and p.kind == "syntax"]
        if wrong and not tree.statements:
            other = in_another_language(text, file, name)
            problems = problems if other is None else (*(p for p in problems if p.file != file), other)
    return replace(read, problems=problems)


def _seen_by(name: str, parts: Mapping[str, Part], known: Known) -> Known:
    """What a language must know of the others."""
    others = [p for n, p in parts.items() if n != name]
    own = parts[name].defined
    foreign: dict[str, Schema] = {}
    for p in others:
        foreign |= {t: _typed(s) for t, s in p.declared.items() if t not in own}
    for p in others:
        foreign |= {t: _readable(s) for t, s in p.defined.items()}
    made: dict[str, frozenset[str]] = {}
    for p in others:
        for node in p.nodes:
            made[node.defines] = made.get(node.defines, frozenset()) | node.now | node.back
    inputs = known.inputs
    if inputs is not None and not _reads_lists(name):
        inputs = {t: _readable(s) for t, s in inputs.items()}
    return replace(known, inputs=inputs, foreign=foreign, made=made)


def _reads_lists(name: str) -> bool:
    """Whether definitions of a language read columns of lists: its module says so."""
    return bool(getattr(language(name), "LISTS", False))


def _readable(defined: Schema) -> Schema:
    """A defined type as others see it: records are only given out."""
    if not defined.records:
        return defined
    return replace(defined, attributes=tuple(a for a in defined if a[1] is not Type.RECORD), records=())


def _typed(declared: Schema) -> Schema:
    """A declared type as others see it: one that is given by its changes lasts."""
    if declared.optional:
        return Schema(tuple(a for a in declared if a[0] not in declared.optional), declared.ordered)
    if not declared.changes:
        return declared
    return Schema(tuple(a for a in declared if a[0] != "holds"), declared.ordered, lasting=True)


@dataclass(frozen=True)
class Bound:
    """Checked texts: the parts of the program by language; ``empty``: warnings about texts without a statement."""

    parts: Mapping[str, Part]
    numbers: Mapping[str, tuple[int, ...]]
    empty: tuple[Problem, ...] = ()

    @cached_property
    def problems(self) -> list[Problem]:
        """Of all languages, by file and place."""
        found = list(dict.fromkeys([*self.empty, *(p for part in self.parts.values() for p in part.problems)]))
        return found if len(self.parts) == 1 else sorted(found, key=Problem.sort_key)

    @cached_property
    def declared(self) -> dict[str, Schema]:
        """The schemas that the texts declare: rows of the input must fit them."""
        out: dict[str, Schema] = {}
        for part in self.parts.values():
            for t, schema in part.declared.items():
                out[t] = schema if t not in out else _both(out[t], schema)
        return {t: s for t, s in out.items() if t not in self.owned}

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """All types that are declared, defined or observed."""
        out: dict[str, Schema] = {}
        for part in self.parts.values():
            out |= {t: s for t, s in part.schemas.items() if t not in out}
        for t, schema in self.declared.items():
            # of a type with more attributes than are declared those of the data are known besides
            more = tuple(a for a in out[t] if a[0] not in schema) if schema.rest else ()
            out[t] = replace(schema, attributes=schema.attributes + more, records=out[t].records)
        for part in self.parts.values():
            out |= part.defined
        return out

    @cached_property
    def defined(self) -> frozenset[str]:
        return frozenset(t for p in self.parts.values() for t in p.defined)

    @cached_property
    def owned(self) -> frozenset[str]:
        """Types of which the input must have no rows."""
        return frozenset(t for p in self.parts.values() for t in p.owned)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Every type that definitions read or that is asked for."""
        return frozenset(t for p in self.parts.values() for t in p.reads)

    @cached_property
    def reads_lists(self) -> bool:
        """Do definitions read columns of lists?"""
        return any(part.nodes and _reads_lists(name) for name, part in self.parts.items())

    @cached_property
    def elements(self) -> frozenset[str]:
        """The elements of lists and maps that definitions read, by their names as columns."""
        return frozenset().union(*(p.elements for p in self.parts.values()))

    @property
    def reads_all(self) -> bool:
        """Do definitions want the rows of all types?"""
        return any(p.reads_all for p in self.parts.values())

    @property
    def closed_only(self) -> list[Problem]:
        """Problems of the definitions that need a history which is closed, with any other input."""
        return [problem for p in self.parts.values() for problem in p.closed_only]

    @cached_property
    def facts(self) -> dict[str, Schema]:
        """Tables without time that are declared."""
        return {n: s for p in self.parts.values() for n, s in p.facts.items()}

    @cached_property
    def text_files(self) -> dict[str, TextFile]:
        """Text files whose lines definitions read, by the type of event that these are; not every language has such."""
        found = [getattr(p, "text_files", {}) for p in self.parts.values()]
        return {t: f for files in found for t, f in files.items()}

    @cached_property
    def assigned(self) -> dict[int, str]:
        """Names given to numeric type ids of the data."""
        return {i: n for p in self.parts.values() for i, n in p.assigned.items()}

    @cached_property
    def subscribed(self) -> list[Subscribed]:
        """What is asked for; where a language asks for some of its types, those of the others are reported as well."""
        out = [s for p in self.parts.values() for s in p.subscribed]
        others = [p for p in self.parts.values() if not p.subscribed]
        return out + [Subscribed(t, None) for p in others for t in p.defined] if out else []

    @cached_property
    def entries(self) -> list[tuple[str, int, Node]]:
        """Every definition, in the order of the texts: its language, its number there, and what it reads."""
        found = []
        for name, part in self.parts.items():
            for i, (node, (file, statement)) in enumerate(zip(part.nodes, part.at, strict=True)):
                found.append((self.numbers[name][file], statement, name, i, node))
        found.sort(key=lambda e: e[:2])
        return [(name, i, node) for _, _, name, i, node in found]

    @cached_property
    def slots(self) -> list[Slot]:
        """The places of ``entries`` in the evaluation order of the whole program."""
        graph = order([node for _, _, node in self.entries])
        return [Slot(place, strict) for place, strict in zip(graph.places, graph.strict, strict=True)]

    @cached_property
    def turns(self) -> list[tuple[str, list[int]]]:
        """Language by language the definitions that can be evaluated in turn: (language, their numbers in its part).

        The numbers of a turn ascend: the order of the text, which decides ties of the evaluation order.
        """
        nodes = [node for _, _, node in self.entries]
        levels = order(nodes).levels
        out: list[tuple[str, list[int]]] = []
        for i in (i for level in levels for unit in level for i in unit):
            name, number, _ = self.entries[i]
            # with the last turn of its language, if nothing in between makes what it reads
            since = next((k for k in reversed(range(len(out))) if out[k][0] == name), None)
            between = set() if since is None else self._made(out[since + 1 :])
            if since is None or (nodes[i].now | nodes[i].back) & between:
                out.append((name, [number]))
            else:
                out[since][1].append(number)
        return [(name, sorted(numbers)) for name, numbers in out]

    def _made(self, turns: Sequence[tuple[str, list[int]]]) -> set[str]:
        return {self.parts[name].nodes[i].defines for name, numbers in turns for i in numbers}

    def definitions(self, kind: TimeKind, facts: Mapping[str, pa.Table]) -> list[Definition]:
        """The compiled definitions in the order of the texts.  Raises DefinitionProblem."""
        compiled: dict[tuple[str, int], Definition] = {}
        for name, part in self.parts.items():
            mine = {i: slot for (n, i, _), slot in zip(self.entries, self.slots, strict=True) if n == name}
            made = part.definitions(kind, [mine[i] for i in range(len(part.nodes))], facts)
            compiled |= {(name, i): d for i, d in enumerate(made)}
        return [compiled[name, i] for name, i, _ in self.entries]


def _both(one: Schema, other: Schema) -> Schema:
    """Two declarations of one type, which the checks have found to agree: int widens to float."""
    types = dict(one.attributes)
    for name, t in other:
        types[name] = widen(types.get(name, Type.NULL), t) or t
    return Schema(
        tuple(types.items()), one.ordered or other.ordered, one.lasting or other.lasting,
        one.changes or other.changes, one.rest and other.rest, one.loose or other.loose,
        optional=(*one.optional, *(n for n in other.optional if n not in one.optional)),
    )  # fmt: skip
