"""A changed statement as text: what was not changed keeps the text that it has, its comments among it.

A statement, an item and a pattern are *units*; a unit is made of words and of parts (its operands, conditions, columns
..), which may be units themselves.  The words of the old text are laid beside those of its canonical text, and these
beside those of the new canonical text: what is the same in all three is written as it stood.  Parts that are the same
objects as before are copied; only new ones are printed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.graph.sources import Source, comments_of, kids_of, words_of
from occurs.languages.epl.render import (
    ATOM,
    GUARDED,
    WrittenPattern,
    annotation_text,
    clauses,
    item_text,
    level_of,
    render,
    source_text,
)
from occurs.languages.epl.render.expressions import WrittenExpr, duration_text, expr_text
from occurs.languages.epl.timers import cron_text
from occurs.model.time import Duration

#: signs that stand for the parts of a unit: of the private use of Unicode, so that no text needs them
_FIRST = 0xF0000
_NEWLINE = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True)
class Change:
    """A new query in the place of an old one.

    ``base``: by the identity of a new object the old one that it replaces; ``typed``: by the identity of a new
    expression, duration or field its text.
    """

    new: syntax.Query
    old: syntax.Query
    base: Mapping[int, Any]
    typed: Mapping[int, str]


def changed_text(source: Source, start: int, end: int, change: Change) -> str:
    """The text of a changed query, which stood at ``[start, end)`` of the source."""
    text = _Writer(source, start, end, change).whole()
    return _NEWLINE.sub("\r\n", text) if source.crlf else text


@dataclass
class _Piece:
    """A word or a part of a unit in a text.  ``lead``: what stands before it there; ``before``, ``behind``:
    parentheses around a part that group it, with what stands between them; ``part``: its number among the parts."""

    key: str
    text: str
    lead: str
    part: int | None = None
    before: str = ""
    behind: str = ""


#: behind the last piece of a unit
_END = _Piece("end", "", "")


class _Writer:
    def __init__(self, source: Source, start: int, end: int, change: Change) -> None:
        self.source, self.change = source, change
        self.place: dict[int, tuple[int, int]] = {}
        self.parent: dict[int, Any] = {}
        self.pieces: dict[int, list[_Piece]] = {}
        self.units: dict[int, Any] = {}
        self._enter(change.old, start, end)
        self.alive = {id(change.old), *self._alive(change.new)}

    def whole(self) -> str:
        return self.text(self.change.new)

    def _enter(self, unit: Any, start: int, end: int) -> None:
        """Note where an old unit and its parts stand."""
        self.place[id(unit)], self.units[id(unit)] = (start, end), unit
        for kid in kids_of(unit):
            place = self.source.range_of(kid, unit, start, end)
            if place is None:
                raise Unplaced
            self.parent[id(kid)] = unit
            self._enter(kid, *place)

    def _alive(self, unit: Any) -> Iterator[int]:
        """The identities of the old objects that are in a new unit, or are replaced by one in it."""
        if id(unit) in self.place:
            yield from (id(u) for u in _walk(unit))
            return
        if id(unit) in self.change.base:
            yield id(self.change.base[id(unit)])
        for kid in kids_of(unit):
            yield from self._alive(kid)

    # --- texts -------------------------------------------------------------------------------------------------------

    def text(self, part: Any) -> str:
        """The text of a part, without parentheses around it."""
        if id(part) in self.place:
            return self.source.text[slice(*self.place[id(part)])]
        typed = self.change.typed.get(id(part))
        if typed is not None:
            return typed
        if isinstance(part, Expr):
            return expr_text(part)
        if isinstance(part, Duration):
            return duration_text(part)
        if isinstance(part, syntax.Cron):
            return cron_text(part)
        base = self.change.base.get(id(part))
        alike = type(base) is type(part) and self._simple(part) == self._simple(base)
        return self._merged(part, base if alike else None)

    def _simple(self, unit: Any) -> bool:
        """Whether a unit is the filter of a simple query, whose text begins with `from`."""
        return any(q.simple and q.pattern is unit for q in (self.change.new, self.change.old))

    def moved(self, part: Any, grouped: bool) -> str:
        """The text of a part that stands elsewhere now, with the comments that stood before it; ``grouped``: it needs
        parentheses."""
        old = part if id(part) in self.place else self.change.base.get(id(part))
        text = self.text(part)
        notes: list[str] = []
        if old is not None and id(old) in self.parent:
            notes = self._notes(old)
            piece = self._piece_of(old)
            if _has_comment(piece.before) or _has_comment(piece.behind):
                text, grouped = f"{piece.before}{text}{piece.behind}", False
        return _block(notes) + (f"({text})" if grouped else text)

    def _notes(self, old: Any) -> list[str]:
        """The comments directly before an old part; of operators around it that are gone, too."""
        parent = self.parent[id(old)]
        if id(parent) in self.alive:
            return _comments(self._piece_of(old).lead)
        kids = kids_of(parent)
        number = next(i for i, k in enumerate(kids) if k is old)
        start = self.place[id(parent)][0] if number == 0 else self.place[id(kids[number - 1])][1]
        notes = comments_of(self.source.blank, self.source.text, start, self.place[id(old)][0])
        return [*(self._notes(parent) if number == 0 and id(parent) in self.parent else ()), *notes]

    def _piece_of(self, old: Any) -> _Piece:
        pieces = self._pieces(self.parent[id(old)])
        number = next(i for i, k in enumerate(kids_of(self.parent[id(old)])) if k is old)
        return next(p for p in pieces if p.part == number)

    # --- pieces ------------------------------------------------------------------------------------------------------

    def _pieces(self, unit: Any) -> list[_Piece]:
        """The words and parts of an old unit as they are written."""
        found = self.pieces.get(id(unit))
        if found is None:
            start, end = self.place[id(unit)]
            kids = [(i, *self.place[id(k)]) for i, k in enumerate(kids_of(unit))]
            found = self.pieces[id(unit)] = _grouped(unit, self._cut(start, end, kids))
        return found

    def _cut(self, start: int, end: int, kids: Sequence[tuple[int, int, int]]) -> list[_Piece]:
        out: list[_Piece] = []
        waiting = list(kids)
        at = start
        for word in self.source.between(start, end):
            if word.start < at:
                continue
            lead = self.source.text[at : word.start]
            if waiting and word.start == waiting[0][1]:
                number, _, at = waiting.pop(0)
                out.append(_Piece(f"part {number}", "", lead, number))
            else:
                at = word.end
                out.append(_Piece(word.key, word.text, lead))
        if waiting:
            raise Unplaced
        return out

    # --- merging -----------------------------------------------------------------------------------------------------

    def _merged(self, new: Any, old: Any | None) -> str:
        """The text of a new unit, as much of it as can be as in the old one."""
        kids = kids_of(new)
        lines = old is None or "\n" in self.source.text[slice(*self.place[id(old)])]
        slots = self._slots(kids, old)
        simple = self._simple(new)
        keys = [f"part {s}" if s is not None else f"new {i}" for i, s in enumerate(slots)]
        target = _canonical(new, keys, lines, simple)
        if old is None:
            return self._printed(kids, target)
        before = _canonical(old, [f"part {i}" for i in range(len(kids_of(old)))], lines, simple)
        runs = _runs([*self._pieces(old), _END], [*before, _END])
        return _Weave(self, kids, old, [*target, _END], runs).text()

    def _slots(self, kids: Sequence[Any], old: Any | None) -> list[int | None]:
        """For each part of a new unit the number of the old one in whose place it stands."""
        if old is None:
            return [None] * len(kids)
        before = kids_of(old)
        inside = [{id(u) for u in _walk(k)} for k in before]
        out: list[int | None] = [None] * len(kids)
        free = set(range(len(before)))

        def take(i: int, number: int | None) -> None:
            if number is not None and number in free:
                out[i] = number
                free.discard(number)

        for i, kid in enumerate(kids):
            mine = kid if id(kid) in self.place else self.change.base.get(id(kid))
            take(i, next((n for n, k in enumerate(before) if k is mine), None))
        for i, kid in enumerate(kids):
            if out[i] is None and isinstance(kid, syntax.Pattern):
                shared = set(self._alive(kid))
                take(i, next((n for n in sorted(free) if inside[n] & shared), None))
            elif out[i] is None and i in free and _sort(before[i]) is _sort(kid):
                take(i, i)
        return out

    def _printed(self, kids: Sequence[Any], target: Sequence[_Piece]) -> str:
        out = []
        for piece in target:
            text = piece.text if piece.part is None else self.moved(kids[piece.part], bool(piece.before))
            out.append(piece.lead + text)
        return "".join(out)


class Unplaced(Exception):
    """A part of a statement whose place in the text is not known."""


class _Weave:
    """Writes the pieces of a new unit, those that did not change as they were."""

    def __init__(
        self, writer: _Writer, kids: Sequence[Any], old: Any, target: Sequence[_Piece], runs: Sequence[_Run]
    ) -> None:
        self.writer, self.kids, self.old, self.target, self.runs = writer, kids, kids_of(old), target, runs
        self.out: list[str] = []
        self.notes: list[str] = []

    def text(self) -> str:
        kept = _kept(self.runs, self.target)
        done, place, last = 0, 0, -2
        while place < len(self.target):
            number = kept.get(place)
            if number is None:
                piece = self.target[place]
                text = piece.text
                if piece.part is not None:
                    text = self.writer.moved(self.kids[piece.part], bool(piece.before))
                self._add(piece.lead, text)
                place += 1
                last = -2
                continue
            self._dropped(self.runs[done:number])
            run = self.runs[number]
            for i, piece in enumerate(run.written):
                follows = i > 0 or last == number - 1
                self._keep(piece, self.target[place], follows)
            place += len(run.keys)
            done, last = number + 1, number
        self._dropped(self.runs[done:])
        return ("".join(self.out) + (f" {_block(self.notes)}" if self.notes else "")).rstrip(" ")

    def _dropped(self, runs: Sequence[_Run]) -> None:
        """Keep the comments among words that are gone; those before parts go or move with them."""
        for piece in (p for run in runs for p in run.written):
            self.notes += _comments(piece.lead) if piece.part is None else self._behind(piece)

    def _behind(self, piece: _Piece) -> list[str]:
        """The comments behind a part that is gone, in the parentheses around it."""
        assert piece.part is not None
        return [] if id(self.old[piece.part]) in self.writer.alive else _comments(piece.behind)

    def _keep(self, piece: _Piece, target: _Piece, follows: bool) -> None:
        lead = piece.lead if follows or _has_comment(piece.lead) else target.lead
        if piece.part is None:
            self._add(lead, piece.text)
            return
        number = next(t for t in self.target if t.key == piece.key)
        assert number.part is not None
        kid, was = self.kids[number.part], self.old[piece.part]
        writer = self.writer
        if kid is was or (writer.change.base.get(id(kid)) is was and not (piece.before == "" and number.before)):
            self._add(lead, piece.before + writer.text(kid) + piece.behind)
        elif writer.change.base.get(id(kid)) is was:
            self._add(lead, f"({writer.text(kid)})")
        elif isinstance(kid, syntax.Pattern):
            self._add(_blank(lead), writer.moved(kid, bool(number.before)))
            self.notes += self._behind(piece)
        else:
            self._add(lead, writer.text(kid))

    def _add(self, lead: str, text: str) -> None:
        notes, self.notes = self.notes, []
        if not self.out:
            lead = _block(_comments(lead))
        if notes:
            block = _block(notes)
            lead = (" " if self.out else "") + block + (lead if _has_comment(lead) else "")
        self.out.append(lead + text)


@dataclass
class _Run:
    """Pieces as they are written, and the keys of those of the canonical text that they stand for."""

    keys: list[str] = field(default_factory=list)
    written: list[_Piece] = field(default_factory=list)


def _runs(written: Sequence[_Piece], canonical: Sequence[_Piece]) -> list[_Run]:
    """The pieces of a text beside those of its canonical text: the shortest runs that stand for each other.

    What only one of the texts has is in one run with its neighbours.
    """
    ours, theirs = [p.key for p in written], [p.key for p in canonical]
    out: list[_Run] = []
    joined = False
    for op, i, i_end, j, j_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if op == "equal":
            found = [_Run([theirs[j + n]], [written[i + n]]) for n in range(i_end - i)]
        else:
            found = [_Run(theirs[j:j_end], list(written[i:i_end]))]
        alone = op in ("insert", "delete")
        if (joined or alone) and out:
            out[-1].keys += found[0].keys
            out[-1].written += found[0].written
            del found[0]
        out += found
        joined = alone
    return out


def _kept(runs: Sequence[_Run], target: Sequence[_Piece]) -> dict[int, int]:
    """The runs that are in the new text as a whole, by where they begin there."""
    keys = [k for run in runs for k in run.keys]
    match: dict[int, int] = {}
    blocks = SequenceMatcher(None, keys, [p.key for p in target], autojunk=False).get_matching_blocks()
    for a, b, size in blocks:
        match.update((a + n, b + n) for n in range(size))
    out: dict[int, int] = {}
    at = 0
    for number, run in enumerate(runs):
        first = match.get(at)
        if first is not None and all(match.get(at + n) == first + n for n in range(len(run.keys))):
            out[first] = number
        at += len(run.keys)
    return out


# --- canonical texts of units -----------------------------------------------------------------------------------------


def _canonical(unit: Any, keys: Sequence[str], lines: bool, simple: bool) -> list[_Piece]:
    """The pieces of the canonical text of a unit; ``keys``: of its parts; ``lines``: clauses have lines; ``simple``: it
    is the filter of a simple query."""
    marks = [chr(_FIRST + i) for i in range(len(keys))]
    text = _glue(unit, marks, lines)
    if simple:
        written = replace(unit, conditions=tuple(map(WrittenExpr, marks)))
        text = f"from {source_text(syntax.Query((), written, simple=True))}"
    pieces: list[_Piece] = []
    end = 0
    for word in words_of(text):
        lead, end = text[end : word.start], word.end
        number = ord(word.text) - _FIRST if len(word.text) == 1 else -1
        if 0 <= number < len(keys):
            pieces.append(_Piece(keys[number], "", lead, number))
        else:
            pieces.append(_Piece(word.key, word.text, lead))
    return _grouped(unit, pieces)


def _glue(unit: Any, marks: Sequence[str], lines: bool) -> str:
    """The canonical text of a unit with marks for its parts."""
    match unit:
        case syntax.Query():
            return _query_glue(unit, marks, lines)
        case syntax.Item():
            return item_text(unit if unit.expr is None else replace(unit, expr=WrittenExpr(marks[0])))
        case syntax.Annotation():
            return annotation_text(unit)
        case syntax.At():
            return f"timer:at({', '.join(marks)})"
        case syntax.Filter():
            return render(replace(unit, conditions=tuple(map(WrittenExpr, marks))))
    parts = iter(marks)
    if isinstance(unit, syntax.EveryDistinct):
        keys = tuple(WrittenExpr(next(parts)) for _ in unit.keys)
        keys += () if unit.expiry is None else (WrittenExpr(next(parts)),)
        return render(replace(unit, keys=keys, expiry=None, operand=_mark(unit, unit.operand, next(parts))))
    written_operands = [_mark(unit, k, next(parts)) for k in unit.children]
    match unit:
        case syntax.Followed() | syntax.And() | syntax.Or():
            return render(replace(unit, operands=tuple(written_operands)))
        case syntax.Until():
            return render(replace(unit, operand=written_operands[0], end=written_operands[1]))
        case syntax.While():
            return render(replace(unit, operand=written_operands[0], condition=WrittenExpr(next(parts))))
        case syntax.Interval():
            return f"timer:interval({next(parts)})"
        case syntax.Within():
            text = render(replace(unit, operand=written_operands[0]))
            before, _, behind = text.rpartition(duration_text(unit.duration))
            return before + next(parts) + behind
    return render(replace(unit, operand=written_operands[0]))


def _mark(unit: syntax.Pattern, kid: syntax.Pattern, mark: str) -> syntax.Pattern:
    level = level_of(kid)
    counted = isinstance(unit, syntax.Every | syntax.EveryDistinct | syntax.Not) and isinstance(kid, syntax.Repeat)
    if counted and isinstance(kid, syntax.Repeat) and level_of(kid.operand) >= GUARDED:
        level = GUARDED  # `every [2] a=A`
    return WrittenPattern(mark, level)


def _query_glue(unit: syntax.Query, marks: Sequence[str], lines: bool) -> str:
    n, m = len(unit.annotations), len(unit.items)
    written = replace(
        unit,
        annotations=(),
        items=tuple(syntax.Item(WrittenExpr(mark)) for mark in marks[n : n + m]),
        pattern=WrittenPattern(marks[n + m], ATOM),
        where=None if unit.where is None else WrittenExpr(marks[-1]),
        simple=False,
    )
    found = [*marks[:n], *clauses(written)]
    if unit.simple:
        found = [marks[n + m] if c.startswith("from ") else c for c in found]
    return ("\n" if lines else " ").join(found)


def _grouped(unit: Any, pieces: list[_Piece]) -> list[_Piece]:
    """The pieces of a unit, each part one with the parentheses that only group it."""
    kids = kids_of(unit)
    structural = _structural(unit, pieces)
    out = list(pieces)
    i = 1
    while i < len(out) - 1:
        before, piece, behind = out[i - 1], out[i], out[i + 1]
        groups = piece.part is not None and isinstance(kids[piece.part], syntax.Pattern | Expr | syntax.Item)
        if groups and before.text == "(" and behind.text == ")" and before is not structural:
            opened, closed = f"({piece.lead}{piece.before}", f"{piece.behind}{behind.lead})"
            out[i - 1 : i + 2] = [_Piece(piece.key, "", before.lead, piece.part, opened, closed)]
            i = max(i - 1, 1)
        else:
            i += 1
    return out


def _structural(unit: Any, pieces: Sequence[_Piece]) -> _Piece | None:
    """The parenthesis of a unit that belongs to its form."""
    if isinstance(unit, syntax.Filter | syntax.EveryDistinct):
        return next((p for p in pieces if p.text == "("), None)
    if isinstance(unit, syntax.While):
        at = next(i for i, p in enumerate(pieces) if p.key == "while")
        return next(p for p in pieces[at:] if p.text == "(")
    return None


def _walk(unit: Any) -> Iterator[Any]:
    yield unit
    for kid in kids_of(unit):
        yield from _walk(kid)


def _sort(part: Any) -> type:
    return next(t for t in (Expr, syntax.Item, syntax.Annotation, syntax.Pattern, object) if isinstance(part, t))


# --- comments ---------------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^[^\S\n]*(?:#|--)[^\n]*", re.DOTALL | re.MULTILINE)


def _comments(space: str) -> list[str]:
    """The comments in white space."""
    return [m.group().strip() for m in _COMMENT.finditer(space)]


def _has_comment(space: str) -> bool:
    return bool(_COMMENT.search(space))


def _blank(space: str) -> str:
    """White space without its comments."""
    bare = _COMMENT.sub("", space)
    return "\n" + bare.rpartition("\n")[2] if "\n" in bare else " " * bool(bare)


def _block(notes: Collection[str]) -> str:
    """Comments, and the white space that must stand behind them."""
    out = ""
    for note in notes:
        if note.startswith(("#", "--")):
            out = f"{out.rstrip(' ')}\n{note}\n"
        else:
            out += note + (" " if note.endswith("*/") else "\n")
    return out
