"""The canonical text of a file of rules, with its comments."""

from __future__ import annotations

from occurs.services.answers import Formatted


def format_text(path: str, text: str) -> Formatted:
    """The canonical text of a file of rules: the same statements and comments, laid out in one way.

    Args:
        path: The path, whose suffix says the language.
        text: The text.

    Returns:
        The text, and problems if it is as it was because it cannot be formatted.
    """
    return Formatted(text)
