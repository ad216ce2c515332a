"""What firings of triggers do on a stream: texts are told.  Statements need a database, which only `watch` has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.languages.kit.language import suffixes
from occurs.languages.logic import LANGUAGES, syntax
from occurs.languages.logic.parser import parse
from occurs.languages.logic.render import render
from occurs.loading import text_of
from occurs.watch.actions import Carried, carrying, filled, given

if TYPE_CHECKING:
    from occurs.hosts.stream.batches import MicroBatch


def definitions(paths: Sequence[str], language: str | None) -> tuple[list[syntax.Definition], list[str]]:
    """The definitions in the files of triggers, which have been checked; the other files."""
    found: list[syntax.Definition] = []
    others: list[str] = []
    for path in paths:
        one = language or suffixes().get(Path(path).suffix)
        if one not in LANGUAGES:
            others.append(path)
            continue
        found += parse(text_of(Path(path)), path, past=one == "ptl")[0].definitions
    return found, others


def counted(rules: Iterable[syntax.Definition], found: Mapping[str, int]) -> tuple[int, int]:
    """How many texts and statements the firings have; ``found``: events by type.

    Of several triggers that make one type the least is taken, as nobody knows which of them has fired.
    """
    makers: dict[str, list[tuple[int, int]]] = {}
    for t in rules:
        if isinstance(t, syntax.Trigger):
            done = [a for a in t.actions if not isinstance(a, syntax.Emit) and not a.never]
            texts = sum(isinstance(a, syntax.Notify) for a in done)
            made = (t.name if t.emit is None else t.emit.type).text
            makers.setdefault(made, []).append((texts, len(done) - texts))
    texts = sum(found.get(type_, 0) * min(n for n, _ in of) for type_, of in makers.items())
    return texts, sum(found.get(type_, 0) * min(n for _, n in of) for type_, of in makers.items())


class Acts:
    """What is told of a stream.

    ``carried``: the triggers as they are run; ``tell``: gets the texts; ``only``: the types that are asked for.
    ``statements``: how many would have been executed.

    A micro-batch that is written again is told again: at least once.
    """

    def __init__(self, carried: Carried, tell: Callable[[str], None], only: Sequence[str] | None = None) -> None:
        self.carried, self.tell, self.only = carried, tell, only
        triggers = [d for d in carried.definitions if isinstance(d, syntax.Trigger)]
        self.never = {t.name.text: t for t in triggers if any(a.never for a in _do(t))}
        self.statements = 0

    @property
    def needed(self) -> list[str]:
        """Types of which the actions take what they say."""
        return list(self.carried.carriers)

    def given(self, done: MicroBatch) -> MicroBatch:
        """The micro-batch without what only the actions need."""
        unwanted = {*self.carried.twins, *(() if self.only is None else set(self.needed) - set(self.only))}
        found = {t: table.select(given(table.column_names)) for t, table in done.found.items() if t not in unwanted}
        never = {t: n for t, n in done.never.items() if t not in self.carried.twins}
        return replace(done, found=found, never=never)

    def do(self, done: MicroBatch) -> None:
        """Tell what the firings and the notices of a micro-batch tell, in the order of their times."""
        texts: list[tuple[Any, str]] = []
        for type_, carrier in self.carried.carriers.items():
            for row in _rows(done.found.get(type_)):
                known = {**{n: row[c] for n, c in carrier.generics.items()}, "time": row["time"]}
                texts += self._acted(carrier.trigger, known, False)
        for name, trigger in self.never.items():
            for row in _rows(done.never.get(name)):
                texts += self._acted(trigger, row, True)
        for _, text in sorted(texts, key=lambda t: t[0]):
            self.tell(text)

    def _acted(self, trigger: syntax.Trigger, known: Mapping[str, Any], never: bool) -> list[tuple[Any, str]]:
        actions = [a for a in _do(trigger) if a.never == never]
        self.statements += sum(isinstance(a, syntax.Execute) for a in actions)
        return [(known["time"], filled(a.text, known)) for a in actions if isinstance(a, syntax.Notify)]


def acting(
    paths: Sequence[str], language: str | None, max_formula: int | None, values: Mapping[str, Any] | None = None
) -> tuple[CheckedProgram, Carried]:
    """A program that gives what its actions need, and how to take that from what it finds."""
    rules, others = definitions(paths, language)
    found = carrying(rules)
    texts: list[tuple[str, str | None, str]] = [(render(d), None, "ftl") for d in found.definitions]
    texts += [(text_of(Path(p)), p, language or suffixes()[Path(p).suffix]) for p in others]
    folders = {p: Path(p).parent.absolute() for p in others}
    return CheckedProgram(texts, max_formula=max_formula, folders=folders, values=values), found


def _do(trigger: syntax.Trigger) -> list[syntax.Notify | syntax.Execute]:
    return [a for a in trigger.actions if not isinstance(a, syntax.Emit)]


def _rows(table: pa.Table | None) -> list[dict[str, Any]]:
    return [] if table is None else table.to_pylist()
