"""Problems and hints that several languages word alike."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from fractions import Fraction

from occurs.errors import Span
from occurs.expr.text import Text
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

#: what to do where events are read and something lasts
LASTING_HINT = "define an event for its start: `event s_start(V) : start(s(V)).` in a .phen file"
#: what to do where integer times have no unit
SET_UNIT = "set it with `--time-unit s` (or us, ms, min, h, d)"


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with blanks for what matches, which has no line breaks: every other character stays where it is."""
    return pattern.sub(lambda m: " " * len(m[0]), text)


def in_words(
    expected: Set[str], names: Mapping[str, str], groups: Sequence[tuple[Set[str], Set[str], str]], end: str
) -> str:
    """Terminals as a list in words: `a value`, `a comparison` instead of all that can begin one.

    ``names``: of single terminals, in the order in which they are listed; ``end``: the name of the end.
    """
    left, parts = set(expected), []
    for needed, taken, name in groups:
        if needed <= left:
            left -= taken
            parts += [name] * bool(name)
    parts = [word for name, word in names.items() if name in left] + parts + [end] * ("$END" in left)
    return listed(parts, "or") or "something else"


def meant(word: str, known: Sequence[str], likeness: float = 0.6) -> str | None:
    """The hint that a word was to be one of the ``known`` ones; None if it is not like any of them."""
    near = difflib.get_close_matches(word.lower(), known, 1, likeness)
    return f"did you mean `{near[0]}`?" if near else None


def listed(parts: Sequence[str], word: str) -> str:
    """``a, b or c``, with ``word`` before the last."""
    return f" {word} ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def columns_text(attributes: Mapping[str, Type]) -> str:
    """Attributes as a declaration has them: ``a int, b``."""
    return ", ".join(n if t is Type.NULL else f"{n} {t}" for n, t in attributes.items())


def lasting_text(name: str, but: str) -> str:
    """The message that rows of a type last; ``but``: what the language does with events, as in ``pipes read``."""
    return f"`{name}` has intervals (rows with an `end`), but {but} events"


def warn_also_in_input(
    made: Iterable[tuple[str, Text, Span | None]], inputs: Collection[str] | None, readers: str
) -> None:
    """Warn of every type that is made here and is in the data, too; ``readers``: what reads such rows all the same."""
    seen: set[str] = set()
    for name, source, span in made:
        if inputs is not None and name in inputs and name not in seen:
            seen.add(name)
            message = f"`{name}` is defined here and is also in the input: "
            message += f"{readers} read those rows, but they are not reported as detections"
            source.warn("external-input", message, span)


def missing_unit(kind: TimeKind) -> tuple[str, str]:
    """Message and hint for a duration that has no common unit with times, where a program is compiled."""
    if kind.timestamp:
        return "a duration needs a unit if times are timestamps", "write a unit: `5 min`, `300 s`"
    hint = "set it with `--time-unit s` (or us, ms, min, h, d), in Python `time_unit='s'`"
    return "a duration needs the unit of the integer time column", hint


def ticks_of(
    duration: Duration, span: Span | None, source: Text, kind: TimeKind, hint: str = "write a unit: `5 min`, `300 s`"
) -> Fraction | None:
    """The exact number of ticks of a duration; reports a duration whose unit does not go with the times."""
    exact = kind.convert(duration)
    if exact is None and duration.ticks:
        source.report("missing-unit", "a duration needs a unit if times are timestamps", span, hint)
    elif exact is None:
        hint = f"{SET_UNIT}, or write a number of ticks without a unit"
        source.report("missing-unit", "a duration needs the unit of the integer time column", span, hint)
    return exact


def warn_inexact(ticks: Fraction, span: Span | None, source: Text) -> None:
    """Warn of a duration that is not a whole number of ticks, and that is compared exactly."""
    if ticks.denominator != 1:
        message = f"this duration is {float(ticks):g} ticks, which is not a whole number; it is compared exactly"
        source.warn("inexact-duration", message, span)


def refuse_inexact(ticks: Fraction, span: Span | None, source: Text, kind: TimeKind) -> None:
    """Report a duration that is not a whole number of ticks."""
    if ticks.denominator != 1:
        hint = f"one tick is 1 {kind.unit}: write a multiple of that"
        source.report("bad-duration", "the duration is not a whole number of ticks", span, hint)
