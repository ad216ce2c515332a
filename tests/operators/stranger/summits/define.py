"""Reads and checks the statements, and compiles each to a definition of the family."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from occurs.languages.summits.family import definition

from occurs.errors import Problem
from occurs.languages.kit.language import Known, Texts
from occurs.model.types import Schema, Type
from occurs.operators.definition import Node

_STATEMENT = re.compile(r"summit (\w+) of (\w+)\.(\w+) per (\w+)")


@dataclass(frozen=True)
class File:
    statements: tuple[tuple[str, ...], ...]


def read(texts) -> Texts[File]:
    """Statements, one a line."""
    files, problems = [], []
    for text, name, _ in texts:
        lines = [(line, _STATEMENT.fullmatch(line.strip())) for line in text.splitlines() if line.strip()]
        files.append(File(tuple(m.groups() for _, m in lines if m)))
        problems += [Problem("syntax", f"`{line}` is not a statement", file=name) for line, m in lines if not m]
    return Texts(tuple(files), tuple(problems))


def check(texts: Texts[File], known: Known) -> Part:
    return Part(texts, {**(known.inputs or {}), **known.foreign})


@dataclass(frozen=True)
class Part:
    """The part of a program that is in this language."""

    texts: Texts[File]
    given: dict[str, Schema]
    declared = facts = assigned = {}  # noqa: RUF012
    owned = takes = elements = frozenset()
    windows = looks_ahead = reads_all = False
    subscribed = closed_only = ()
    hosts = frozenset({"local", "spark"})

    @property
    def problems(self):
        return self.texts.problems

    @cached_property
    def statements(self):
        return [s for f in self.texts.files for s in f.statements]

    @property
    def at(self):
        return [(i, j) for i, f in enumerate(self.texts.files) for j in range(len(f.statements))]

    @cached_property
    def defined(self):
        return {out: Schema(((key, Type.STRING), (value, Type.INT))) for out, _, value, key in self.statements}

    @property
    def schemas(self):
        return {**{t: self.given[t] for t in self.reads if t in self.given}, **self.defined}

    @property
    def reads(self):
        return frozenset(s[1] for s in self.statements)

    @property
    def nodes(self):
        return [Node(out, frozenset({t}), frozenset()) for out, t, _, _ in self.statements]

    def definitions(self, kind, slots, facts):
        return [definition(*s, slot.place) for s, slot in zip(self.statements, slots, strict=True)]
