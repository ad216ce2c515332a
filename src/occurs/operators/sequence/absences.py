"""Where the ``not`` of a pattern were open: from the event before to the one that completed them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from occurs.operators.sequence.bindings import Bindings
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Interval, Node, Not, Or, Sequence, While, Within


@dataclass(frozen=True)
class Absence:
    """A ``not`` beside other operands of an ``and``.

    ``types``: of the events that must not come.  ``before``: the tags of the step before it; empty where it is not
    known when it began to look.  ``beside``: the tags of the other operands; ``wait``: ticks of a timer among them.
    ``last``: nothing comes behind it, so that the time of the match is its end.  ``branch``: it is in one of the
    operands of an ``or``, which matches need not have taken.
    """

    types: tuple[str, ...]
    before: tuple[str, ...]
    beside: tuple[str, ...]
    wait: int | None
    last: bool
    branch: bool = False


def absences(pattern: Sequence) -> list[Absence]:
    """Those of a pattern in its order, but those inside of repetitions, of which there may be many."""
    return list(_below(pattern.root, (), True))


def _below(node: Node, before: tuple[str, ...], last: bool, branch: bool = False) -> Iterator[Absence]:
    match node:
        case Every():
            yield from _below(node.operand, (), last, branch)
        case Within() | While():
            yield from _below(node.operand, before, last, branch)
        case Or():
            for operand in node.operands:
                yield from _below(operand, before, last, True)
        case Followed():
            for k, operand in enumerate(node.operands):
                behind = before if k == 0 else _tags(node.operands[k - 1])
                yield from _below(operand, behind, last and k == len(node.operands) - 1, branch)
        case And():
            others = [o for o in node.operands if not isinstance(o, Not)]
            beside = tuple(t for o in others for t in _tags(o))
            wait = max((o.ticks for o in others if isinstance(o, Interval)), default=None)
            for operand in node.operands:
                if isinstance(operand, Not):
                    types = tuple(dict.fromkeys(t for a in _atoms(operand.operand) for t in a.types))
                    yield Absence(types, before, beside, wait, last, branch)
                else:
                    yield from _below(operand, before, False, branch)


def _atoms(node: Node) -> Iterator[Atom]:
    if isinstance(node, Atom):
        yield node
    for child in node.children:
        yield from _atoms(child)


def _tags(node: Node) -> tuple[str, ...]:
    """The tags that a node binds."""
    if isinstance(node, Not):
        return ()
    own = (node.tag,) if isinstance(node, Atom) else ()
    return (*own, *(t for child in node.children for t in _tags(child)))


@dataclass(frozen=True)
class Checked:
    """Per match that has looked for an absence its ``number``, and the ticks from ``start`` to ``end`` at which an
    event would have prevented it; ``known``: is it known where that begins?"""

    absence: Absence
    number: np.ndarray
    start: np.ndarray
    known: np.ndarray
    end: np.ndarray


def checked(bindings: Bindings, absence: Absence) -> Checked:
    """Where an absence was looked for.  Ticks at which it depends on the order of an instant do not belong to it."""
    start, known = _latest(bindings, absence.before)
    end, taken = _latest(bindings, absence.beside)
    some = taken
    if absence.wait is not None:
        due = start + absence.wait
        end, some = np.where(known & (~some | (due > end)), due, end), some | known
    if absence.last:
        end, some = bindings.matches.time[bindings.chosen], some | (absence.wait is not None) | (not absence.beside)
    some = some & taken if absence.branch else some
    looked = np.flatnonzero(some & ~(known & (start + 1 > end - 1)))
    return Checked(absence, looked, start[looked] + 1, known[looked], end[looked] - 1)


def _latest(bindings: Bindings, tags: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Per match the time of the last event of these tags, and whether there is one."""
    events, n = bindings.constituents, len(bindings)
    numbers = [k for k, (tag, _) in enumerate(bindings.pattern.tags) if tag in tags]
    mine = np.flatnonzero(np.isin(events.tag, numbers))
    match = np.repeat(np.arange(n), np.diff(events.offsets))[mine]
    time, there = np.full(n, np.iinfo(np.int64).min, np.int64), np.zeros(n, np.bool_)
    np.maximum.at(time, match, bindings.times_of(events)[mine])
    there[match] = True
    return np.where(there, time, 0), there
