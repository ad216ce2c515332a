"""The laws (operators.md, section 5) for Phenesthe programs, as functions over one case and anything that runs it.

Cutting (with finality), Restart, Splitting, Forgetting and Meaning; each raises AssertionError with the difference.
What runs a program is an :class:`Opener`; rows come and go as values, so that nothing here knows the engine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from tests.laws.new_keys import renewing
from tests.textcases.phenesthe import LastingCase, Line, Loaded, shown

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics import Row, clocked, derived, evaluate, evaluation_order, inputs
from occurs.languages.phenesthe.semantics.formulas import Formulas

#: so many times a history is repeated, to see whether the state grows
PERIODS = 8


class Run(Protocol):
    """A program at work; rows come out as :func:`tests.textcases.phenesthe.line` makes them."""

    def advance(self, rows: Sequence[Row], frontier: int) -> Iterable[Line]:
        """Take the rows after the frontier before, up to this one; what became final (nothing that is open)."""
        ...

    def close(self) -> Iterable[Line]:
        """What is left, open rows too; *now* is the latest frontier."""
        ...

    def save(self) -> Any:
        """The state, for the opener."""
        ...

    def held(self) -> int:
        """How many rows the state has."""
        ...


#: runs a case, from the beginning or from a saved state
Opener = Callable[[Loaded, Any], Run]
#: the attributes by which the rows of each input type may be split, None if the program cannot be split
Key = Mapping[str, Sequence[str]] | None
Answer = list[Line] | str


class Subject:
    """A case and what runs it.  An error is an answer too, by its kind."""

    def __init__(self, case: LastingCase, opener: Opener) -> None:
        self.loaded, self.opener = Loaded(case), opener
        times = case.times
        rows = clocked(self.loaded.history, times.get("start"), times.get("until"))
        self.rows = sorted(rows, key=lambda r: r.time)
        ends = [t for r in self.rows for t in (r.time, r.end) if t is not None]
        self.first = min(ends, default=0)
        self.now = times.get("until", max(ends, default=0))

    @cached_property
    def reference(self) -> set[Line] | str:
        return self.at(self.now)

    def at(self, now: int, rows: Sequence[Row] | None = None) -> set[Line] | str:
        """The answer of the reference semantics if nothing came after ``now``."""
        given = self.rows if rows is None else rows
        try:
            return shown(
                evaluate(self.loaded.file, given, kind=self.loaded.case.kind, facts=self.loaded.facts, until=now)
            )
        except OccursError as error:
            return error.kind

    def pieces(self, frontiers: Sequence[int], rows: Sequence[Row] | None = None) -> list[tuple[int, list[Row]]]:
        """(frontier, the rows up to it) for ascending frontiers."""
        out, before = [], -math.inf
        for frontier in frontiers:
            out.append((frontier, [r for r in (self.rows if rows is None else rows) if before < r.time <= frontier]))
            before = frontier
        return out

    def answers(
        self, frontiers: Sequence[int], *, restart: bool = False, rows: Sequence[Row] | None = None
    ) -> list[list[Line]] | str:
        """What comes out up to each of ``frontiers``, and at closing."""
        try:
            run = self.opener(self.loaded, None)
            out = []
            for frontier, part in self.pieces(frontiers, rows):
                out.append(list(run.advance(part, frontier)))
                if restart:
                    run = self.opener(self.loaded, run.save())
            return [*out, list(run.close())]
        except OccursError as error:
            return error.kind

    def answer(self, frontiers: Sequence[int], *, restart: bool = False) -> Answer:
        found = self.answers(frontiers, restart=restart)
        return found if isinstance(found, str) else [line for part in found for line in part]

    def frontiers(self, rng: random.Random) -> list[int]:
        """Ascending frontiers up to *now*, calls without rows included."""
        places = [t + d for r in self.rows for t in (r.time, r.end) if t is not None for d in (-1, 0, 0, 1)]
        some = {rng.choice(places) for _ in range(rng.choice((0, 1, 2, 5, 12, 40)))} if places else set()
        return [*sorted(t for t in some if t < self.now), self.now]


def agree(one: Answer | set[Line], other: Answer | set[Line], what: str) -> None:
    """Both answers are the same error, or the same rows, each once."""
    if isinstance(one, str) or isinstance(other, str):
        assert one == other, f"{what}: {one if isinstance(one, str) else 'rows'} / {other}"
        return
    for rows in (one, other):
        twice = sorted({r for r in rows if list(rows).count(r) > 1}, key=repr) if len(set(rows)) < len(rows) else []
        assert not twice, f"{what}: given twice: {twice}"
    missing, extra = sorted(set(one) - set(other), key=repr), sorted(set(other) - set(one), key=repr)
    assert (missing, extra) == ([], []), f"{what}\nmissing: {missing}\nnot expected: {extra}"


def meaning(subject: Subject) -> None:
    """Law 5: the output equals the reference semantics."""
    agree(subject.reference, subject.answer([subject.now]), "reference and engine")


def cutting(subject: Subject, rng: random.Random) -> None:
    """Law 1: however a history is cut between instants, the same comes out, by every common frontier too, and nothing
    that is open or that could be otherwise if nothing more came."""
    frontiers = subject.frontiers(rng)
    with renewing():
        found = subject.answer(frontiers)
    agree(subject.answer([subject.now]), found, f"cut at {frontiers}")
    finer = sorted({*frontiers, *subject.frontiers(rng)})
    one, other = subject.answers(frontiers), subject.answers(finer)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other, f"cut at {frontiers} / {finer}: {one} / {other}"
        return
    by_then: set[Line] = set()
    for number, frontier in enumerate(frontiers):
        by_then |= set(one[number])
        finely = {line for part in other[: finer.index(frontier) + 1] for line in part}
        agree(by_then, finely, f"up to {frontier}, cut at {frontiers} / {finer}")
        provisional = [line for line in one[number] if len(line) == 4 and line[2] is None]
        assert not provisional, f"open before closing, at {frontier}: {provisional}"
    frontier = rng.choice(frontiers)
    here = {line for part in one[: frontiers.index(frontier) + 1] for line in part}
    if not isinstance(there := subject.at(frontier), str):
        assert here <= there, f"not final at {frontier}, cut at {frontiers}: {sorted(here - there, key=repr)}"


def restart(subject: Subject, rng: random.Random) -> None:
    """Law 2: writing the state out and reading it back between any two calls changes nothing."""
    frontiers = subject.frontiers(rng)
    agree(subject.answer([subject.now]), subject.answer(frontiers, restart=True), f"restarted at {frontiers}")


def splitting(subject: Subject, key: Key, rng: random.Random, parts: int = 3) -> None:
    """Law 3: running each partition's rows apart, with the same frontiers, and merging gives the same output."""
    if not key:
        return
    frontiers = subject.frontiers(rng)
    merged: list[Line] = []
    for part in range(parts):
        rows = [r for r in subject.rows if _part(r, key.get(r.type, ()), parts) == part]
        found = subject.answers(frontiers, rows=rows)
        if isinstance(found, str):
            agree(subject.reference, found, f"split by {dict(key)}")
            return
        merged += [line for lines in found for line in lines]
    agree(subject.answer([subject.now]), merged, f"split by {dict(key)}, cut at {frontiers}")


def _part(row: Row, attributes: Sequence[str], parts: int) -> int:
    """The part of a row by its key values; equal values (1 and 1.0) fall together, null is a value of its own."""
    values = repr(
        [v if isinstance(v, bool | str) or v is None else float(v) for v in map(row.attributes.get, attributes)]
    )
    return random.Random(values).randrange(parts)


# --- forgetting -------------------------------------------------------------------------------------------------------


def forgetting(subject: Subject) -> bool:
    """Law 4: a history that is repeated again and again, and that leaves nothing open, has a state that does not grow.

    Returns whether the case says something about it (:func:`settles`)."""
    rows = [r for r in subject.rows if r.end is not None or subject.loaded.sorts[r.type] in ("event", "changes")]
    ends = [t for r in rows for t in (r.time, r.end) if t is not None]
    if not rows or not settles(subject.loaded, rows, max(ends)):
        return False
    longest = max(_lengths(subject.loaded), default=0)
    step = max(ends) - min(ends) + longest + 10
    run = subject.opener(subject.loaded, None)
    sizes = []
    for period in range(PERIODS):
        moved = [replace(r, time=r.time + period * step, end=_plus(r.end, period * step)) for r in rows]
        run.advance(moved, max(ends) + period * step + longest + 5)
        sizes.append(run.held())
    half = PERIODS // 2
    assert max(sizes[half:]) <= max(sizes[:half]), f"the state grows: {sizes}"
    return True


def _plus(end: int | None, ticks: int) -> int | None:
    return None if end is None else end + ticks


def _formulas(loaded: Loaded) -> list[syntax.Relation]:
    bodies = [s.body for s in loaded.file.statements if isinstance(s, syntax.Definition)]
    return [node for body in bodies for node in body.walk()]


def _lengths(loaded: Loaded) -> list[int]:
    timed = [n for n in _formulas(loaded) if isinstance(n, syntax.Iteration | syntax.Filter)]
    return [int(loaded.case.kind.convert(n.duration) or 0) for n in timed]


def settles(loaded: Loaded, rows: Sequence[Row], now: int) -> bool:
    """Whether no formula of a case waits without end: none of unbounded delay, and no interval open at the end."""
    for node in _formulas(loaded):
        if isinstance(node, syntax.MinimalRange) or (isinstance(node, syntax.Iteration) and node.op in (">", ">=")):
            return False
    statements = loaded.file.statements
    known: Any = dict(inputs(statements, rows, loaded.facts))
    meanings = Formulas(known, loaded.case.kind, now)
    for definition in evaluation_order(statements):
        known[definition.name.text] = derived(definition, meanings, None)
    lasting = (x for m in meanings.found.values() for items in m.values() for x in items if not isinstance(x, int))
    return all(end < math.inf for _, end in lasting)


def all_laws(case: LastingCase, opener: Opener, rng: random.Random, key: Key = None) -> None:
    """Every law, on one case."""
    subject = Subject(case, opener)
    meaning(subject)
    cutting(subject, rng)
    restart(subject, rng)
    splitting(subject, key, rng)
    forgetting(subject)


__all__ = ["Subject", "all_laws", "cutting", "forgetting", "meaning", "restart", "splitting"]
