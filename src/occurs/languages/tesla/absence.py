"""Absence after an event, as English has it: `not Reply() within 5 min after Request`.

TESLA looks back from the event that completes a rule, so a rule cannot begin with what does not come.  What is meant is
rewritten in the two ways that there are: in TESLA with a Timer, which looks back at both; and in EPL, which waits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_EVENT = r"(?P<{0}>[^\W\d]\w*)\s*(?P<{0}_in>\((?:[^()]|\([^()]*\))*\))?(?:\s+as\s+\w+)?"
_LENGTH = r"(?P<{0}>\d[\d.]*\s*[^\W\d]+(?:\s+\d[\d.]*\s*[^\W\d]+)*)"
_AFTER = r"(?:after|since|following)"
_WITHIN = r"(?:within|for|in|during)"
_HEAD = re.compile(r"\s*(?:rule\s+\w+\s*:\s*)?define\s+(?P<name>[^\W\d]\w*)\s*(?P<head>\([^()]*\))?", re.IGNORECASE)
_ABSENT = re.compile(
    rf"\bnot\s+{_EVENT.format('absent')}\s*"
    rf"(?:{_WITHIN}\s+{_LENGTH.format('length')}\s+)?{_AFTER}"
    rf"\s*(?P<after>[^\W\d]\w*)?\s*(?P<after_in>\((?:[^()]|\([^()]*\))*\))?(?:\s+{_WITHIN}\s+{_LENGTH.format('then')})?",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    rf"\b(?P<policy>each|first|last)\s+{_EVENT.format('next')}\s*{_WITHIN}\s+{_LENGTH.format('length')}\s+{_AFTER}\s+"
    r"(?P<before>[^\W\d]\w*)",
    re.IGNORECASE,
)
_FROM = re.compile(rf"\bfrom\s+(?!not\b){_EVENT.format('event')}", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b(?P<values>.*?)(?:\bconsuming\b.*)?$", re.IGNORECASE | re.DOTALL)
#: unit (its first letters) -> how often a timer looks
_EVERY = {"us": "MS % 1", "ms": "MS % 10", "s": "S % 1", "m": "M % 1", "h": "M % 1", "d": "H % 1", "w": "H % 1"}
_EPL_UNITS = {"us": "microseconds", "ms": "msec", "s": "sec", "h": "hours", "d": "days"}


@dataclass(frozen=True)
class Rewritten:
    """``message``: what the rule says; ``hint``: the rule as it is meant; ``at``: the word that cannot stand there."""

    message: str
    hint: str
    at: tuple[int, int]


def rewritten(piece: str) -> Rewritten | None:
    """The rule that was meant by a statement that looks forward; None if it does not."""
    head = _HEAD.match(piece)
    absent, following = _ABSENT.search(piece), _FOLLOWING.search(piece)
    if head is None or (absent is None and following is None):
        return None
    begins = _FROM.search(piece)
    event = "" if begins is None else begins["event"] + (begins["event_in"] or "()")
    values = _WHERE.search(piece)
    where = "" if values is None else f" where {_plain(values['values'])}"
    define = _plain(f"define {head['name']}{head['head'] or '()'}")
    if absent is None:
        assert following is not None
        later = following["next"] + (following["next_in"] or "()")
        rule = (
            f"{define} from {_plain(later)} and {following['policy']} {_plain(event or following['before'] + '()')} "
            f"within {_plain(following['length'])} from {following['next']}{where}"
        )
        message = "a window looks back: the event that comes last begins the rule"
        return Rewritten(message, f"write `{rule}`", _word(following, piece))
    before = absent["after"] or (begins["event"] if begins is not None else None)
    if before is None:
        return None
    inside = absent["after_in"] or (begins["event_in"] if begins is not None and begins["event"] == before else None)
    length = _plain(absent["length"] or absent["then"] or "5 min")
    tesla = (
        f"{define} from Timer({_every(length)} == 0) and each {before}{_plain(inside or '()')} "
        f"within {_twice(length)} from Timer and not {absent['absent']}{_plain(absent['absent_in'] or '()')} "
        f"between {before} and Timer and Timer.time - {before}.time >= {length}{where} consuming {before}"
    )
    tag = before[0].lower()
    bound = {p: f"{tag}.{a}" for a, p in re.findall(r"(\w+)\s*=\s*\$(\w+)", inside or "")}

    def tagged(text: str) -> str:
        text = re.sub(r"\$(\w+)", lambda m: bound.get(m[1], m[0]), text)
        return re.sub(rf"\b{re.escape(before)}\.", f"{tag}.", text)

    own = ", ".join(c for c in _parts(inside) if not re.fullmatch(r"\w+\s*=\s*\$\w+", c))
    assigned = _parts("" if values is None else values["values"])
    taken = [re.fullmatch(r"(\w+)\s*=\s*(.+)", v, re.DOTALL) for v in assigned]
    columns = [f"{tagged(v[2])} as {v[1]}" for v in taken if v is not None]
    others = tagged(_plain(absent["absent_in"] or ""))
    epl = (
        f"insert into {head['name']} select {', '.join(columns) or '*'} from pattern "
        f"[every {tag}={before}{f'({own})' if own else ''} -> "
        f"(timer:interval({_in_epl(length)}) and not {absent['absent']}{others if others != '()' else ''})];"
    )
    message = "a rule looks back: it cannot begin with an event and wait for what does not come"
    return Rewritten(message, f"in a .epl file write `{epl}`; or with a Timer `{tesla}`", _word(absent, piece))


def _word(found: re.Match[str], piece: str) -> tuple[int, int]:
    """The word `after`, or all that was found."""
    word = re.search(rf"\b{_AFTER}\b", piece[found.start() : found.end()], re.IGNORECASE)
    if word is None:
        return found.start(), found.end()
    return found.start() + word.start(), found.start() + word.end()


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _parts(text: str | None) -> list[str]:
    """What stands between the commas, without the parentheses around it."""
    inner = _plain(text or "")
    inner = inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner
    return [p.strip() for p in re.split(r",(?![^()]*\))", inner) if p.strip()]


def _in_epl(length: str) -> str:
    """A length with the units of EPL, which has no letters for them."""
    return re.sub(r"(?<![^\W\d])(us|ms|s|h|d)\b", lambda m: _EPL_UNITS[m[1]], length)


def _every(length: str) -> str:
    unit = re.sub(r"^[\d.\s]+", "", length).lower()
    short = "us" if unit.startswith(("us", "µ", "micro")) else "ms" if unit.startswith(("ms", "milli")) else unit[:1]
    return _EVERY.get(short, "M % 1")


def _twice(length: str) -> str:
    return re.sub(r"\d+(\.\d+)?", lambda m: f"{float(m[0]) * 2:g}", length)
