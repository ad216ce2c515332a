"""Another name for a type, an attribute or a tag, in all texts of a program."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from occurs.errors import Problem, Span
from occurs.expr.text import Text
from occurs.languages.kit.editing import Attributed, Named, Token, openings
from occurs.languages.kit.language import language
from occurs.model.types import Schema
from occurs.services.answers import Edit, Place, Renamed, Words
from occurs.services.answers import Problem as Told
from occurs.services.checks import Snapshot, internal, snapshot, told
from occurs.services.scope import Types, bindings, pieces, statements, types_of
from occurs.services.vocabulary import is_reserved, is_word, words_of, written


def rename(
    path: str, texts: Mapping[str, str], offset: int, to: str | None = None,
    events: Mapping[str, Schema] | None = None,
) -> Renamed:  # fmt: skip
    """Rename what stands at a place, wherever the program names it.

    Args:
        path: The path of the text.
        texts: The texts of the whole program by path.
        offset: The place, as a number of code points.
        to: The new name, perhaps in back-quotes; None: only say what can be renamed.
        events: Types of the input, whose names are taken.

    Returns:
        The name at the place and the edits.  Types can be renamed in all languages, attributes and tags in EPL.  With
        problems nothing is edited: `no-name`, `bad-name`, `reserved-name`, `taken-name`, or `not-renamed` with a place
        that cannot be rewritten.

    Examples:
        >>> from occurs.services import rename
        >>> rules = {"a.epl": "create schema A(v int); select x.v as v from pattern [every x=A(v > 1)];"}
        >>> found = rename("a.epl", rules, rules["a.epl"].index("A"), "B")
        >>> found.name, found.kind, [(e.start, e.to, e.insert) for e in found.edits["a.epl"]]
        ('A', 'type', [(14, 15, 'B'), (64, 65, 'B')])
    """
    try:
        return _Rename(path, texts, offset, events or {}).to(to)
    except MemoryError:
        raise
    except Exception as error:
        return Renamed(problems=tuple(told([internal(error)])))


def named_uses(path: str, texts: Mapping[str, str], offset: int) -> list[Place]:
    """All places of the attribute or the tag at a place; none if there is none."""
    found = _Rename(path, texts, offset, {})
    if found.at is None or found.at.kind == "type":
        return []
    return [Place(file, source.span(start, end)) for file, source, start, end, _ in found.named_places()]


LETTERS = "use letters, digits and _"
#: path, text, start, end, and whether the name stands in a string
_Found = tuple[str, Text, int, int, bool]


class _Refused(Exception):
    """There are no edits, but a problem."""

    def __init__(self, kind: str, message: str, hint: str | None = None, place: tuple[str, Span] | None = None) -> None:
        super().__init__(message)
        file, span = place or (None, None)
        self.problem = Told(kind, "error", message, hint, file, span)


class _Rename:
    """The name at a place of a program.  ``at``: None if there is none that can be renamed."""

    def __init__(self, path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema]) -> None:
        self.path, self.texts, self.offset = path, texts, offset
        self.program: Snapshot = snapshot(texts)
        self.types: Types = types_of(self.program, events)

    def to(self, name: str | None) -> Renamed:
        """The edits for a new name."""
        if self.at is None:
            message = "there is nothing here that can be renamed"
            hint = "types can be renamed in all languages, attributes and tags in EPL"
            problem = Told("no-name", "error", message, hint)
            return Renamed(problems=() if name is None else (problem,))
        here = Renamed(self.at.name, cast(Any, self.at.kind), self.at.span)
        if name is None:
            return here
        try:
            edits = self._edits(name)
        except _Refused as error:
            return Renamed(here.name, here.kind, here.span, problems=(error.problem,))
        return Renamed(here.name, here.kind, here.span, edits)

    # --- what there is ------------------------------------------------------------------------------------------------

    @cached_property
    def sources(self) -> dict[str, Text]:
        return {path: Text(text, path) for path, text in self.texts.items()}

    @cached_property
    def languages(self) -> dict[str, str]:
        """The language of each text."""
        return {path: name for _, path, name in self.program.texts}

    @cached_property
    def named(self) -> dict[str, list[Named]]:
        """The names in texts of languages that say what each of them is."""
        out = {}
        for name, path, _, tree in self.program.files():
            ask = getattr(language(name), "named", None)
            if ask is not None:
                out[path] = list(ask(tree, self.types.schemas))
        return out

    @cached_property
    def at(self) -> Named | None:
        """What stands at the place."""
        if self.path not in self.languages:
            return None
        source = self.sources[self.path]
        for one in self.named.get(self.path, ()):
            start, end = source.offsets(one.span)
            if start <= self.offset <= end:
                return one
        if self.path in self.named:
            return None
        for tokens in statements(self.languages[self.path], source.text):
            for i, t in enumerate(tokens):
                here = t.start <= self.offset <= t.end and t.named and not _member(tokens, i)
                if here and t.name in self.types.names:
                    return Named("type", t.name, source.span(t.start, t.end))
        return None

    @cached_property
    def family(self) -> set[Attributed]:
        """The attributes that must have one name with the one at the place."""
        assert self.at is not None
        links: dict[Attributed, set[Attributed]] = {}
        for name, _, _, tree in self.program.files():
            ask = getattr(language(name), "alike", None)
            for a, b in () if ask is None else ask(tree, self.types.schemas):
                if a[1] == b[1] and a[1] in (self.at.name, "*"):
                    one, other = (a[0], self.at.name), (b[0], self.at.name)
                    links.setdefault(one, set()).add(other)
                    links.setdefault(other, set()).add(one)
        found = {(self.at.of or "", self.at.name)}
        waiting = [*found]
        while waiting:
            more = links.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found

    def named_places(self) -> Iterator[_Found]:
        """Where the name stands in texts whose language says what each name is."""
        assert self.at is not None
        for path, names in sorted(self.named.items()):
            source = self.sources[path]
            for n in sorted(names, key=lambda n: source.offsets(n.span)):
                if (n.name, n.kind) == (self.at.name, self.at.kind) and self._same(path, n):
                    yield (path, source, *source.offsets(n.span), n.text)

    def other_places(self) -> Iterator[_Found]:
        """Where the name stands in the other texts.  Refuses what may be something else."""
        assert self.at is not None
        for path in sorted(self.languages.keys() - self.named.keys()) if self.at.kind != "tag" else ():
            for tokens in statements(self.languages[path], self.texts[path]):
                yield from self._tokens(path, self.sources[path], tokens)

    def _same(self, path: str, other: Named) -> bool:
        assert self.at is not None
        if other.kind == "attribute":
            return (other.of, other.name) in self.family
        return other.kind == "type" or (path == self.path and other.of == self.at.of)

    def _tokens(self, path: str, source: Text, tokens: Sequence[Token]) -> Iterator[_Found]:
        """The type in a statement whose language does not say what its names are."""
        assert self.at is not None
        types = {t for t, _ in self.family} if self.at.kind == "attribute" else {self.at.name}
        if not any(t.named and t.name in types for t in tokens):
            return
        inside = openings(tokens)
        bound = {b.name for b in bindings(self.languages[path], tokens, self.types.schemas)}
        for i, t in enumerate(tokens):
            if t.name != self.at.name or not (t.named or t.kind == "variable"):
                continue
            before = inside[i]
            of = tokens[before - 1] if before else None
            argument = of is not None and of.named and of.name in self.types.names and not _called(tokens, i)
            if self.at.kind == "attribute" or _member(tokens, i) or argument or t.name in bound:
                text = f"`{t.name}` may have another meaning here than the type `{t.name}`"
                if self.at.kind == "attribute":
                    text = f"attributes can be renamed in EPL only, and this file of another language uses `{t.name}`"
                place = (path, source.span(t.start, t.end))
                raise _Refused("not-renamed", text, "rename it by hand in all files", place)
            yield path, source, t.start, t.end, False

    # --- the edits ----------------------------------------------------------------------------------------------------

    def _edits(self, given: str) -> dict[str, tuple[Edit, ...]]:
        assert self.at is not None
        to = self._checked(given)
        if to == self.at.name:
            return {}
        self._refuse_unread()
        self._refuse_taken(to)
        edits: dict[str, list[Edit]] = {}
        for path, source, start, end, text in (*self.named_places(), *self.other_places()):
            edits.setdefault(path, []).append(Edit(start, end, self._written(path, source, start, end, text, to)))
        after = {path: _edited(text, edits.get(path, ())) for path, text in self.texts.items()}
        self._compare(snapshot(after), edits, to)
        return {path: tuple(found) for path, found in edits.items()}

    def _words(self, path: str) -> Words:
        return words_of(self.languages[path]) or Words()

    def _checked(self, given: str) -> str:
        """The name that is meant.  Refuses what is none."""
        words = self._words(self.path)
        mark = words.quoted_names
        quoted = bool(mark) and len(given) > 2 and given[0] == given[-1] == mark
        name = given[1:-1] if quoted else given
        wrong = not name or (mark and mark in name) or not name.isprintable() or name != name.strip()
        if wrong or ("." in name and not quoted) or not (quoted or is_word(words, name)):
            hint = f"put it in {mark}{mark}: {mark}{name}{mark}" if mark and not wrong else LETTERS
            raise _Refused("bad-name", f"`{given}` is not a name", hint)
        if not quoted and is_reserved(words, name):
            hint = f"put it in quotes: {mark}{name}{mark}" if mark else "choose another name"
            raise _Refused("reserved-name", f"`{name}` is a word of the language", hint)
        return name

    def _refuse_unread(self) -> None:
        """Refuses texts that cannot be read where they may have the name."""
        assert self.at is not None
        for p in () if self.program.read is None else self.program.read.problems:
            if p.severity == "error" and p.file is not None and self.at.name in self.texts.get(p.file, ""):
                place = (p.file, p.span) if p.span is not None else None
                raise _Refused("not-renamed", f"{p.file} cannot be read: {p.message}", "correct it first", place)

    def _refuse_taken(self, to: str) -> None:
        assert self.at is not None
        taken = f"`{to}` exists already"
        if self.at.kind == "type" and to in self.types.names:
            found = [(path, span) for path, e in self.types.defined(to) if (span := e.place or e.span) is not None]
            raise _Refused("taken-name", f"the type {taken}", "choose another name", found[0] if found else None)
        if "." in self.at.name and self.at.kind == "attribute":
            text = f"`{self.at.name}` is part of a record, whose names are those of the input"
            raise _Refused("not-renamed", text, None, (self.path, self.at.span))
        for path, names in self.named.items():
            for n in names if self.at.kind != "type" else ():
                own = n.kind == "attribute" and (n.of or "", self.at.name) in self.family and n.name == to
                tag = n.name == to if n.kind == "tag" else n.name.startswith(f"{to}.") and not self._behind_dot(path, n)
                if own if self.at.kind == "attribute" else tag and self._in_statement(path, n):
                    raise _Refused("taken-name", f"the name {taken}", "choose another name", (path, n.span))
        if self.at.kind == "attribute":
            for of, _ in self.family:
                if any(a.name == to for a in self.types.attributes(of)):
                    raise _Refused("taken-name", f"the attribute {taken} in `{of}`", "choose another name")

    def _behind_dot(self, path: str, name: Named) -> bool:
        source = self.sources[path]
        return source.text[: source.offsets(name.span)[0]].rstrip().endswith(".")

    def _in_statement(self, path: str, other: Named) -> bool:
        """Whether a name stands in the statement whose tag is renamed."""
        assert self.at is not None
        if path != self.path:
            return False
        starts = [piece.start for piece in pieces(self.languages[path], self.texts[path])]
        place = self.sources[path].offsets(other.span)[0]
        return bisect_right(starts, place) == bisect_right(starts, self.offset)

    def _written(self, path: str, source: Text, start: int, end: int, text: bool, to: str) -> str:
        """The new name as it stands in a text."""
        words, old = self._words(path), source.text[start:end]
        place = (path, source.span(start, end))
        if text:
            if any(c in to for c in "'\"\\"):
                raise _Refused("bad-name", f"a string cannot name the type `{to}`", LETTERS, place)
            return to
        assert self.at is not None
        mark = words.quoted_names
        new = written(words, to)
        if not mark and (not is_word(words, to) or is_reserved(words, to) or "." in to):
            raise _Refused("bad-name", f"`{to}` is not a name in {self.languages[path]}", LETTERS, place)
        needless = mark and old.startswith(mark) and written(words, self.at.name) == self.at.name
        return f"{mark}{to}{mark}" if needless or ("." in to and mark) else new

    # --- the program before and after ---------------------------------------------------------------------------------

    def _compare(self, after: Snapshot, edits: Mapping[str, Sequence[Edit]], to: str) -> None:
        """Refuses edits that change more than the name."""
        before = Counter((p.kind, p.file) for p in self.program.problems)
        for p in after.problems:
            if before[p.kind, p.file] <= 0:
                text = f"`{to}` is not possible: {p.message}"
                raise _Refused("not-renamed", text, p.hint, self._back(p, after, edits))
            before[p.kind, p.file] -= 1
        if +before or self._schemas(self.program, to) != self._schemas(after, None):
            assert self.at is not None
            text = f"`{self.at.name}` cannot be renamed, as other names follow from it"
            raise _Refused("not-renamed", text, "rename it by hand", (self.path, self.at.span))

    def _back(self, p: Problem, after: Snapshot, edits: Mapping[str, Sequence[Edit]]) -> tuple[str, Span] | None:
        """The place of a problem of the edited texts, in those before."""
        text = next((t for t, path, _ in after.texts if path == p.file), None)
        if text is None or p.span is None or p.file is None:
            return None
        start, end = (_before(at, edits.get(p.file, ())) for at in Text(text, p.file).offsets(p.span))
        return p.file, self.sources[p.file].span(start, max(start, end))

    def _schemas(self, program: Snapshot, to: str | None) -> dict[str, list[tuple[str, str]]]:
        """The types of a program with their attributes; ``to``: as they are to be."""
        assert self.at is not None
        at = self.at
        reads = frozenset[str]() if program.bound is None else program.bound.reads
        found = {t: [(n, str(kind)) for n, kind in s] for t, s in program.schemas.items()}
        out = {t: found.get(t, []) for t in {*found, *reads}}
        if to is None:
            return out
        if at.kind == "type":
            return {to if t == at.name else t: a for t, a in out.items()}
        family = self.family if at.kind == "attribute" else self._columns()
        return {t: [(to if (t, n) in family and n == at.name else n, kind) for n, kind in a] for t, a in out.items()}

    def _columns(self) -> set[Attributed]:
        """The columns that are called as the tag at the place."""
        assert self.at is not None
        start = f"\n{self.at.of}:"
        out: set[Attributed] = set()
        for name, path, _, tree in self.program.files():
            ask = getattr(language(name), "alike", None)
            if ask is not None and path == self.path:
                out |= {b for a, b in ask(tree, self.types.schemas) if a == (f"{start}{self.at.name}", self.at.name)}
        return out


def _member(tokens: Sequence[Token], i: int) -> bool:
    """Whether a name stands behind a dot: an attribute."""
    return i > 0 and tokens[i - 1].text == "." and tokens[i - 1].end == tokens[i].start


def _called(tokens: Sequence[Token], i: int) -> bool:
    """Whether parentheses or a dot follow a name, as they do a type's."""
    return i + 1 < len(tokens) and tokens[i + 1].text in ("(", ".")


def _edited(text: str, edits: Sequence[Edit]) -> str:
    for edit in reversed(edits):
        text = text[: edit.start] + edit.insert + text[edit.to :]
    return text


def _before(offset: int, edits: Sequence[Edit]) -> int:
    """An offset of an edited text as one of the text before."""
    moved = 0
    for edit in edits:
        start, grown = edit.start + moved, len(edit.insert) - (edit.to - edit.start)
        if offset <= start:
            break
        if offset < start + len(edit.insert):
            return min(edit.start + offset - start, edit.to)
        moved += grown
    return offset - moved
