"""What the names at a place of a text mean: the statement around it, what it binds, the types of the whole program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache

from occurs.expr.text import Text
from occurs.languages.kit.editing import Binding, Entry, Token, openings
from occurs.languages.kit.language import folder, language
from occurs.languages.kit.statements import Piece
from occurs.model.types import Schema, Type
from occurs.services.answers import Words
from occurs.services.checks import Snapshot, snapshot
from occurs.services.tokens import tokens_of
from occurs.services.vocabulary import words_of


@dataclass(frozen=True)
class Attribute:
    """An attribute of a type of event; ``kind`` is None if it is not known."""

    name: str
    of: str
    kind: str | None


class Types:
    """The types of a program: their attributes and where they are defined.

    ``events``: types of the input, which count where no text declares them.
    """

    def __init__(self, program: Snapshot, events: Mapping[str, Schema]) -> None:
        self.program = program
        self.schemas: Mapping[str, Schema] = {**events, **program.schemas}
        read = frozenset[str]() if program.bound is None else program.bound.reads
        self.entries: list[tuple[str, Entry]] = list(program.entries())
        outputs = {e.output for _, e in self.entries if e.output is not None}
        self.names: frozenset[str] = frozenset({*self.schemas, *read, *outputs})

    @cached_property
    def used(self) -> dict[str, list[str]]:
        """The attributes of types that nobody declares, as the texts use them."""
        out: dict[str, dict[str, None]] = {t: {} for t in self.names if t not in self.schemas}
        for text, _, name in self.program.texts if out else ():
            for tokens in statements(name, text):
                tags = {b.name: b.type for b in bindings(name, tokens, self.schemas) if b.type is not None}
                for i, token in enumerate(tokens[:-2]):
                    of = tags.get(token.name, token.name) if token.named else ""
                    if of in out and tokens[i + 1].text == "." and tokens[i + 2].named:
                        out[of][tokens[i + 2].name] = None
        return {t: sorted(found) for t, found in out.items()}

    def attributes(self, name: str) -> list[Attribute]:
        """The attributes of a type, as far as they are known."""
        if name in self.schemas:
            return [Attribute(n, name, None if t is Type.NULL else str(t)) for n, t in self.schemas[name]]
        return [Attribute(n, name, None) for n in self.used.get(name, ())]

    def shown(self, name: str) -> str:
        """A type with its attributes: ``Temp(room: string, celsius)``."""
        inside = ", ".join(a.name if a.kind is None else f"{a.name}: {a.kind}" for a in self.attributes(name))
        return f"{name}({inside})"

    def defined(self, name: str) -> list[tuple[str, Entry]]:
        """The statements that define or declare a type, each with its path."""
        return [(path, e) for path, e in self.entries if e.output == name]


def statements(name: str, text: str) -> Iterator[list[Token]]:
    """The tokens of the statements of a text in the language ``name``, without comments."""
    for piece in pieces(name, text):
        yield words_in(name, text, piece)


def words_in(name: str, text: str, piece: Piece) -> list[Token]:
    """The tokens of a statement, without comments."""
    end = piece.start + len(piece.words)
    return [t for t in tokens_of(name, text, piece.start, end) if t.kind != "comment"]


def pieces(name: str, text: str) -> Sequence[Piece]:
    """The statements of a text; the whole text if its language does not cut it."""
    cut = getattr(language(folder(name)), "pieces", None)
    return [Piece(0, text)] if cut is None else list(cut(text))


def bindings(name: str, tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> list[Binding]:
    """What a statement binds, the latest of a name first."""
    bound = getattr(language(folder(name)), "bound", None)
    return [] if bound is None else list(reversed(list(bound(tokens, schemas))))


class Scope:
    """A place in a text of a program.

    ``tokens``: of the statement around it, without comments.  ``events``: types of the input.
    """

    def __init__(
        self, path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema] | None = None
    ) -> None:
        program = snapshot(texts)
        self.events = events or {}
        self.path, self.text = path, texts.get(path, "")
        self.offset = max(0, min(offset, len(self.text)))
        self.language = next((name for _, p, name in program.texts if p == path), "")
        self.program = program

    def moved(self, offset: int) -> Scope:
        """Another place in the same text."""
        out = copy(self)
        out.offset = offset
        for name in ("number", "all_tokens", "tokens", "hidden", "at", "bound"):
            out.__dict__.pop(name, None)
        return out

    @property
    def known(self) -> bool:
        """Whether the language of the text is known, and declares its words."""
        return bool(self.language) and words_of(self.language) is not None

    @cached_property
    def words(self) -> Words:
        return words_of(self.language) or Words()

    @cached_property
    def types(self) -> Types:
        return types_of(self.program, self.events)

    @cached_property
    def source(self) -> Text:
        return Text(self.text, self.path)

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        """The statements of the text."""
        return pieces(self.language, self.text)

    @cached_property
    def number(self) -> int:
        """How many statements begin before the place, or at it."""
        return bisect_right(self.pieces, self.offset, key=lambda p: p.start)

    @property
    def piece(self) -> Piece | None:
        """The last statement that begins before the place, or at it, if it has not ended."""
        found = self.pieces[self.number - 1] if self.number else None
        return None if found is None or self.ended(found.start + len(found.words)) else found

    @cached_property
    def all_tokens(self) -> list[Token]:
        """The tokens around the place, comments among them: from the statement before it to the one behind."""
        first = self.pieces[self.number - 1].start if self.number else 0
        last = self.pieces[self.number].start if self.number < len(self.pieces) else len(self.text)
        return tokens_of(self.language, self.text, first, last)

    @cached_property
    def hidden(self) -> bool:
        """Whether the place is in a comment or a string."""
        for t in self.all_tokens:
            if t.start < self.offset and t.kind in ("comment", "string"):
                ends = t.kind == "comment" and not t.text.startswith(tuple(a for a, _ in self.words.block_comments))
                closed = len(t.text) > 1 and t.text[-1] == t.text[0] and t.kind == "string"
                if self.offset < t.end or (self.offset == t.end and (ends or (t.kind == "string" and not closed))):
                    return True
        return False

    @cached_property
    def tokens(self) -> list[Token]:
        """Of the statement around the place; of the one before it if that has not ended."""
        return [] if self.piece is None else words_in(self.language, self.text, self.piece)

    def ended(self, end: int) -> bool:
        """Whether the sign that ends a statement stands between ``end`` and the place."""
        sign = self.words.statement_end
        return bool(sign) and any(t.text == sign for t in self.all_tokens if end <= t.start < self.offset)

    @cached_property
    def at(self) -> int | None:
        """The number of the token that the place is in, or else ends at."""
        found = [i for i, t in enumerate(self.tokens) if t.start <= self.offset <= t.end]
        return max(found, key=lambda i: (self.tokens[i].kind != "sign", self.tokens[i].start), default=None)

    @cached_property
    def bound(self) -> list[Binding]:
        """What the statement binds; attributes of its types, too, where they may be used by their names."""
        found = bindings(self.language, self.tokens, self.types.schemas)
        direct = sorted({e.output for p, e in self.types.entries if e.direct and e.output and p == self.path})
        return found + [Binding(a.name, "attribute", t) for t in direct for a in self.types.attributes(t)]

    def binding(self, name: str) -> Binding | None:
        """What a name is bound to here."""
        return next((b for b in self.bound if b.name == name), None)

    def type_of(self, name: str) -> str | None:
        """The type of the events that a name stands for: a tag, or a type itself."""
        bound = next((b for b in self.bound if b.name == name and b.kind == "tag"), None)
        if bound is not None:
            return bound.type
        return name if name in self.types.names else None

    def chain(self, i: int) -> list[Token]:
        """The names of `a.b.c` of which token ``i`` is one, up to it; `T(k).v` and `a[0].v` begin at `T` and `a`."""
        out = [self.tokens[i]]
        while i >= 2 and self.tokens[i - 1].text == ".":
            i -= 2
            if self.tokens[i].text in (")", "]"):
                opening = self.opening(i)
                if opening == 0:
                    break
                i = opening - 1
            if not self.tokens[i].named:
                break
            out.insert(0, self.tokens[i])
        return out

    def opening(self, i: int) -> int:
        """The number of the parenthesis that token ``i`` closes."""
        depth = 0
        for k in range(i, -1, -1):
            depth += (self.tokens[k].text in (")", "]")) - (self.tokens[k].text in ("(", "["))
            if depth == 0:
                return k
        return 0

    def around(self, i: int) -> str | None:
        """The type whose parentheses are around token ``i``, the innermost one."""
        inside = openings(self.tokens)
        opening = inside[i]
        while opening is not None and opening > 0:
            before = self.tokens[opening - 1]
            if self.tokens[opening].text == "(" and before.named and before.name in self.types.names:
                return before.name
            opening = inside[opening]
        return None


def types_of(program: Snapshot, events: Mapping[str, Schema] | None = None) -> Types:
    """The types of a program, and of ``events``; the latest ones are kept."""
    return _types(program, tuple((events or {}).items()))


@lru_cache(maxsize=4)
def _types(program: Snapshot, events: tuple[tuple[str, Schema], ...]) -> Types:
    return Types(program, dict(events))
