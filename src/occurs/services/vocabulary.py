"""The words of every language, for highlighting."""

from __future__ import annotations

import re
from functools import cache

from occurs.languages.kit.language import folder, language, names
from occurs.services.answers import Words


def words() -> dict[str, Words]:
    """The words of every language that declares them, by the name of the language.

    Examples:
        >>> from occurs.services import words
        >>> words()["epl"].block_comments
        (('/*', '*/'),)
        >>> "timer:within" in words()["epl"].keywords
        True
    """
    return {name: found for name in names() if (found := words_of(name)) is not None}


@cache
def words_of(name: str) -> Words | None:
    """The words of a language; None if it declares none."""
    made = getattr(language(folder(name)), "words", None)
    found: Words | None = None if made is None else made(name)
    return found


def written(words: Words, name: str) -> str:
    """A name as it is written: in quotes if it is no word, and the language has them."""
    mark = words.quoted_names
    return f"{mark}{name}{mark}" if mark and not (is_word(words, name) and not is_reserved(words, name)) else name


def is_word(words: Words, name: str) -> bool:
    """Whether a name can be written without quotes, but for words with a meaning."""
    return bool(re.fullmatch(rf"[$@]?(?:[^\W\d]|[{re.escape(words.word_signs or '_')}])[\w.$]*", name))


def is_reserved(words: Words, name: str) -> bool:
    """Whether a name is a word with a meaning."""
    known = (name.lower(), {k.lower() for k in words.keywords}) if words.ignore_case else (name, {*words.keywords})
    return known[0] in known[1]
