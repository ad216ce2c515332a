"""Nets beside engine and reference: do all derive the same from one history? (epl-and-nets.md, section 4B, verify).

What a net derives at one instant may come in any order, and where a statement reads what others derive, that order may
matter: so that runs can be compared, the net fires in the order in which the engine derives (:func:`engine_order`),
which is one of its runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occurs.languages.epl.nets import Translation
from occurs.languages.epl.nets.core import Firing
from occurs.model.occurrence import Occurrence
from occurs.nets.firing import Element, Run, run
from occurs.nets.net import Net
from occurs.nets.simulate import Simulator
from occurs.nets.transform import encoded, to_priority_net
from occurs.verify.compare import difference

#: runs a net to its end
Runner = Callable[[Net, "Translation"], Run]
ENGINE, REFERENCE, BLACK, ENCODED = "engine", "reference", "BPCPN", "PCPN"


def engine_order(translation: Translation) -> Callable[[list[Element]], Element]:
    """Picks the binding element whose events the engine would derive first.

    Statement by statement in evaluation order; within one, searches go on before anything is derived, then matches by
    the row that completes them and by their events tag by tag.
    """
    firings = dict(translation.firings)
    for name in translation.firings:
        names = encoded(name)
        firings |= dict.fromkeys((names.t1, names.t2), translation.firings[name])

    def key(element: Element) -> tuple[Any, ...]:
        firing = firings.get(element[0])
        return () if firing is None else _place(firing, element[1])

    def choose(elements: list[Element]) -> Element:
        return elements[0] if len(elements) == 1 else min(elements, key=key)

    return choose


def _place(firing: Firing, binding: Mapping[str, Any]) -> tuple[Any, ...]:
    numbers = [number_of(binding[n]) for _, n in firing.numbers]
    # an event that is not there has the number 0, and comes last
    return (firing.statement, firing.final, max(numbers, default=0), [(n == 0, n) for n in numbers])


def number_of(value: Any) -> int:
    """Of an event: the number itself, or the event's first field."""
    return value[0] if isinstance(value, tuple) else value


def in_engine_order(net: Net, translation: Translation) -> Run:
    """The run of a net, or of what :func:`to_priority_net` makes of it, in the order of the engine, by definition."""
    return run(net, choose=engine_order(translation))


def fast(net: Net, translation: Translation) -> Run:
    """The same by the fast simulator, in any order where that does not matter."""
    return Simulator(net, choose=engine_order(translation) if depends_on_order(translation) else None).run()


def at_random(seed: int) -> Runner:
    """A random run by the fast simulator."""
    return lambda net, translation: Simulator(net, seed).run()


def depends_on_order(translation: Translation) -> bool:
    """Does a statement read what others derive?"""
    made = {q.name for q in translation.queries}
    return any(made & set(q.reads) for q in translation.queries)


@dataclass(frozen=True)
class NetRun:
    """What a net has done: its name among the sides, its firings, and what it derived, in the order of F."""

    name: str
    net: Net
    run: Run
    derived: tuple[Occurrence, ...]


def black_run(translation: Translation, runner: Runner = in_engine_order) -> NetRun:
    """The run of the net with black transitions."""
    return _ran(BLACK, translation.net, translation, runner)


def encoded_run(translation: Translation, runner: Runner = in_engine_order) -> NetRun:
    """The run of the net that Transformation 1 makes of it."""
    return _ran(ENCODED, to_priority_net(translation.net), translation, runner)


def _ran(name: str, net: Net, translation: Translation, runner: Runner) -> NetRun:
    done = runner(net, translation)
    return NetRun(name, net, done, tuple(Occurrence(t, x, v) for t, x, v in translation.outputs(done.marking)))


def rows_in_order(events: Sequence[Occurrence]) -> list[Occurrence]:
    """The rows of an input in the total order: time, sequence (null least), type, values by attribute name."""

    def ascending(value: Any) -> tuple[Any, ...]:
        return () if value is None else (value,)

    def place(e: Occurrence) -> tuple[Any, ...]:
        return (e.time, ascending(e.sequence), e.type, tuple(ascending(e.attributes[n]) for n in sorted(e.attributes)))

    return sorted(events, key=place)


def by_instant(events: Sequence[Occurrence]) -> dict[tuple[str, int], list[Occurrence]]:
    """Events by type and time."""
    out: dict[tuple[str, int], list[Occurrence]] = {}
    for e in events:
        out.setdefault((e.type, e.time), []).append(e)
    return out


def plain(events: Sequence[Occurrence]) -> list[Occurrence]:
    """Only type, time and values."""
    return [replace(e, sequence=None, label=(), constituents=()) for e in events]


def first_difference(one: Sequence[Occurrence], other: Sequence[Occurrence], type_: str) -> tuple[int, str] | None:
    """The first instant at which two sides derived otherwise of a type, and how; None if they agree."""
    left, right = by_instant(one), by_instant(other)
    for kind, time in sorted({k for k in (*left, *right) if k[0] == type_}, key=lambda k: k[1]):
        text = difference(left.get((kind, time), []), right.get((kind, time), []))
        if text:
            return time, text
    return None
