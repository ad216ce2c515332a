"""The words of every language, for highlighting."""

from __future__ import annotations

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
