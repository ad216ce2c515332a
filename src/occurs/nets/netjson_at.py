"""Places in a JSON text, for what is said of it when it is read (epl-and-nets.md, section 4B, `.net.json`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from occurs.errors import DefinitionProblem, Problem, did_you_mean

#: what a JSON text is read to
Json = Any


@dataclass(frozen=True)
class At:
    """A place in a JSON text, for errors: ``pages[0].places[2].colour``."""

    file: str
    path: str = ""

    def key(self, name: str) -> At:
        return At(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, number: int) -> At:
        return At(self.file, f"{self.path}[{number}]")

    def wrong(self, found: Json, expected: str, kind: str = "bad-value", hint: str | None = None) -> NoReturn:
        shown = repr(found) if len(repr(found)) < 60 else repr(found)[:57] + ".."
        message = f"{self.path or 'the text'}: found {shown}, expected {expected}"
        raise DefinitionProblem(Problem(kind, message, file=self.file, hint=hint))

    def refuse(self, kind: str, message: str, hint: str | None = None) -> NoReturn:
        raise self.refusal(kind, message, hint)

    def refusal(self, kind: str, message: str, hint: str | None = None) -> DefinitionProblem:
        return DefinitionProblem(Problem(kind, f"{self.path or 'the text'}: {message}", file=self.file, hint=hint))


def members(found: Json, at: At, needed: Sequence[str], other: Sequence[str] = ()) -> dict[str, Json]:
    """An object with all of ``needed``, and at most ``other`` besides."""
    if not isinstance(found, dict):
        at.wrong(found, "an object")
    for name in needed:
        if name not in found:
            at.refuse("missing-key", f"`{name}` is missing")
    for name in found:
        if name not in needed and name not in other:
            at.refuse("unknown-key", f"unknown key `{name}`", did_you_mean(name, (*needed, *other), "keys"))
    return found


def array(found: Json, at: At) -> list[tuple[Json, At]]:
    """The items of an array, each with its place."""
    if not isinstance(found, list):
        at.wrong(found, "an array")
    return [(item, at.item(k)) for k, item in enumerate(found)]


def text(found: Json, at: At) -> str:
    if not isinstance(found, str):
        at.wrong(found, "a text")
    return found


def texts(found: Json, at: At) -> tuple[str, ...]:
    return tuple(text(f, a) for f, a in array(found, at))


def whole(found: Json, at: At) -> int:
    """A number from 0 on."""
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        at.wrong(found, "a whole number from 0")
    return found


def flag(found: Json, at: At) -> bool:
    if not isinstance(found, bool):
        at.wrong(found, "true or false")
    return found
