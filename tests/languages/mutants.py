"""Rule texts that are almost right: the texts of the text cases, changed at random by tokens and by characters."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from occurs.model.types import Schema, Type, widen
from occurs.testing.cases import parse_events, sections, type_of

FOLDER = Path(__file__).parents[1] / "cases"
#: languages by the words of their blocks
BLOCKS = {"tesla": "tesla", "epl": "epl", "phen": "phenesthe", "ftl": "ftl", "ptl": "ptl", "esql": "esql",
          "sql": "match_recognize"}  # fmt: skip
LANGUAGES = tuple(BLOCKS.values())

_TOKEN = re.compile(r"\s+|\w+|\"[^\"\n]*\"|'[^'\n]*'|->|<=|>=|!=|:=|~>>?|.", re.DOTALL)
#: what numbers are replaced by
NUMBERS = (
    "0", "1", "-1", "0.5", "1e-9", "1e400", "1e999999999", "1e-999999999", "2147483648", "9223372036854775807",
    "9223372036854775808", "99999999999999999999", "9" * 400 + ".5", "9" * 5000, "007", ".", "1.", "1e", "٣", "²",
)  # fmt: skip
#: what is put anywhere
CHARACTERS = "()[]{}<>=!~@#$%^&*+-/\\|,.;:'\"`?_ \n\r\t\0\ufeff\u2028\xa0éß→≤∧¬ı０\U0001f600abXYZ019\ud800"


@dataclass(frozen=True)
class Source:
    """The rules of a text case, with the schemas of its events as far as they can be told."""

    name: str
    language: str
    text: str
    schemas: Mapping[str, Schema]

    @property
    def tokens(self) -> list[str]:
        return _TOKEN.findall(self.text)


@lru_cache(maxsize=1)
def sources() -> tuple[Source, ...]:
    """All rule texts of the text cases."""
    return tuple(_sources())


def _sources() -> Iterator[Source]:
    for file in sorted(FOLDER.rglob("*.md")):
        for heading, line, _, blocks in sections("## whole\n" + file.read_text(encoding="utf-8")):
            for block, language in BLOCKS.items():
                if block in blocks:
                    name = f"{file.name}:{line - 1} {heading}"
                    yield Source(name, language, blocks[block], _schemas(blocks.get("in", "")))


def _schemas(events: str) -> dict[str, Schema]:
    """Of the events of a case; none, if they are written in another way."""
    try:
        found = parse_events(events)
    except ValueError:
        return {}
    columns: dict[str, dict[str, Type]] = {}
    for event in found:
        of = columns.setdefault(event.type, {})
        for name, value in event.attributes.items():
            of[name] = widen(of.get(name, Type.NULL), type_of(value)) or Type.STRING
    return {t: Schema(tuple(c.items())) for t, c in columns.items()}


@lru_cache(maxsize=8)
def vocabulary(language: str) -> tuple[str, ...]:
    """The tokens of a language, as often as they occur."""
    return tuple(t for s in sources() if s.language == language for t in s.tokens if not t.isspace())


def mutant(source: Source, rng: random.Random) -> str:
    """A text near that of the source: one to four changes."""
    text = source.text
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice((_by_token, _by_token, _by_token, _by_character, _by_slice))(text, source.language, rng)
    return text


def _by_token(text: str, language: str, rng: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    if not tokens:
        return rng.choice(vocabulary(language))
    at = rng.randrange(len(tokens))
    numbers = [i for i, t in enumerate(tokens) if t[0].isdigit()]
    match rng.randrange(7):
        case 0:
            del tokens[at]
        case 1:
            tokens.insert(at, tokens[rng.randrange(len(tokens))])
        case 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            tokens[at] = rng.choice(vocabulary(language))
        case 4:
            tokens.insert(at, f" {rng.choice(vocabulary(language))} ")
        case 5:
            tokens[at] = f" {rng.choice(vocabulary(rng.choice(LANGUAGES)))} "
        case 6 if numbers:
            tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
    return "".join(tokens)


def _by_character(text: str, language: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    match rng.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + rng.choice(CHARACTERS) + text[at:]
        case 2:
            return text[:at] + rng.choice(CHARACTERS) + text[at + 1 :]
    return text[:at] if rng.random() < 0.5 else text[at:]


def _by_slice(text: str, language: str, rng: random.Random) -> str:
    """A part of the text repeated, moved, put into parentheses, or taken from another text."""
    tokens = _TOKEN.findall(text)
    start = rng.randrange(len(tokens) + 1)
    end = min(len(tokens), start + rng.randrange(1, 12))
    part, rest = tokens[start:end], tokens[:start] + tokens[end:]
    match rng.randrange(5):
        case 0:
            part = part * rng.choice((2, 3, 40))
        case 1:
            part = ["("] * (n := rng.choice((1, 2, 200))) + part + [")"] * n
        case 2:
            at = rng.randrange(len(rest) + 1)
            return "".join([*rest[:at], *part, *rest[at:]])
        case 3:
            other = rng.choice([s for s in sources() if s.language == language]).tokens
            at = rng.randrange(len(other) + 1)
            part = other[at : at + rng.randrange(1, 12)]
        case 4:
            part = [rng.choice(("not ", "NOT ", "every ", "-", "always ", "[x <- 1] ", "start(", "abs("))] * 200 + part
    return "".join([*tokens[:start], *part, *tokens[end:]])
