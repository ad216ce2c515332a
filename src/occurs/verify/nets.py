"""Engine, reference, the net with black transitions and the net without, side by side (``occurs verify``).

Where they differ, the report says why: an event is named with its number on F, a firing with its place in the run
(from 1).  What a net derives at one instant may come in any order, and where a statement reads what others derive, that
order may matter: so that runs can be compared, the net fires in the order in which the engine derives
(:func:`engine_order`), which is one of its runs (epl-and-nets.md, section 4B, verify).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from occurs.checked_program import CheckedProgram
from occurs.errors import DefinitionProblem, InputProblem, LimitProblem, OccursError
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import run_history
from occurs.languages.epl.define import Epl
from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.nets.core import Firing
from occurs.languages.epl.semantics import evaluate
from occurs.model.history import History, InputOptions
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.time import TimeKind
from occurs.nets.firing import Element, Run, run
from occurs.nets.net import Net, Role
from occurs.nets.simulate import Simulator
from occurs.nets.transform import encoded, steps_encoded, to_priority_net
from occurs.verify.compare import Row, first_difference, row_of, same_row, show, unmatched
from occurs.verify.reference import (
    ENGINE,
    REFERENCE,
    Difference,
    Progress,
    Verification,
    counted,
    detected,
    expected,
)

BLACK, ENCODED = "BPCPN", "PCPN"
#: so often a net without black transitions may fire: it counts every tick that a guard waits
MOST_FIRINGS = 500_000


@dataclass(frozen=True)
class Sides:
    """What all sides derived from one history, in the order of the columns.

    ``matches``: what the reference derived, with the constituents.  ``nets``: the runs of the nets, by side.
    ``without``: why there are no nets, or one only.
    """

    answers: Mapping[str, Sequence[Occurrence]]
    matches: Sequence[Occurrence] = ()
    translation: Translation | None = None
    nets: Mapping[str, NetRun] | None = None
    rows: Sequence[Occurrence] = ()
    without: str | None = None

    def report(self) -> Verification:
        """The table of counts, and per type and side the first instant that differs from the reference."""
        counts, names = counted(self.answers), (*self.answers,)
        lines = [*_table(counts, names), *self._nets()]
        differences = tuple(d for t in counts for d in self._differences(t))
        for d in differences:
            lines.append(f"{d.type} at {d.time}, {d.side} compared with the reference:")
            lines += map(_indented, (d.text, *d.why))
        if not differences:
            lines.append(f"{', '.join(names[:-1])} and {names[-1]} agree")
        firings = {side: ran.run.steps for side, ran in (self.nets or {}).items()}
        return Verification(
            not differences, "\n".join(lines), names, counts, differences, firings, self.without
        )  # fmt: skip

    def _nets(self) -> Iterator[str]:
        if self.without is not None:
            yield f"{'only one net' if self.nets else 'no net'}: {self.without}"
        if self.nets:
            runs = ", ".join(f"{side}: {ran.run.steps} firings" for side, ran in self.nets.items())
            yield f"{len(self.rows)} event{'s' * (len(self.rows) != 1)}; {runs}"

    def _differences(self, type_: str) -> Iterator[Difference]:
        wanted = self.answers[REFERENCE]
        for side, found in self.answers.items():
            other = None if side == REFERENCE else first_difference(wanted, found, type_)
            if other is None:
                continue
            time, text = other
            why: tuple[str, ...] = ()
            if self.nets and side in self.nets and self.translation is not None:
                witness = Witness(self.translation, self.nets[side], self.rows)
                why = tuple(self._explained(witness, type_, time, found))
            yield Difference(type_, side, time, text, why)

    def _explained(self, witness: Witness, type_: str, time: int, found: Sequence[Occurrence]) -> Iterator[str]:
        """One event that is missing, and one that is too much."""
        here = [e for e in self.matches if (e.type, e.time) == (type_, time)]
        missing, extra = unmatched(here, [e for e in found if (e.type, e.time) == (type_, time)])
        for row in extra[:1]:
            yield from witness.why_derived(row)
        for row in missing[:1]:
            match = next(e for e in here if unmatched([e], [Occurrence(row[0], row[1], dict(row[2]))])[0] == [])
            yield from witness.why_missing(match)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _table(counts: Mapping[str, Sequence[int]], names: Sequence[str]) -> Iterator[str]:
    """Counts per type and side."""
    rows = [["type", *names], *([t, *map(str, numbers)] for t, numbers in counts.items())]
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for r in rows:
        cells = (c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True))
        yield "  ".join((r[0].ljust(widths[0]), *cells))


def verify(
    program: CheckedProgram,
    events: Any,
    options: InputOptions,
    *,
    first: int = 0,
    max_events: int = 20_000,
    progress: Progress | None = None,
) -> Verification:
    """Run engine, reference and nets over the same events and compare the detections as multisets.

    If the program is not in EPL only, or nets do not support one of its patterns, only engine and reference are
    compared, and the report states the reason.

    Args:
        program: The program.
        events: The events, in any form that :meth:`occurs.Program.detect` accepts.
        options: How the events are read.
        first: The number at which searches start; see :func:`occurs.languages.epl.nets.translate`.
        max_events: The maximum number of events; the reference semantics and the nets are slow.
        progress: A function that is called when a side is done.

    Returns:
        Whether all sides agree, and a report: the counts, and the first difference of each side and type.

    Raises:
        LimitProblem: There are more than ``max_events`` events.
    """
    history = program.history(events, options, declared=True)
    n = sum(len(t) for t in history.tables.values())
    if n > max_events:
        text = f"{n} events are more than the limit of {max_events} for the reference and the nets"
        raise LimitProblem.of("max-events", text, hint="raise the limit with --max-events N")
    return sides_of(program, history, first, progress).report()


def sides_of(
    program: CheckedProgram, history: History, first: int = 0, progress: Progress | None = None
) -> Sides:
    """What all sides derive from a history."""
    done = progress or (lambda ready, of: None)
    stage = program.plan(history.schemas, history.kind)
    engine = detected(LocalDetections(stage, run_history(stage, history), history, None, False, False, None))
    done(1, 4)
    bound = program.bind(history.schemas, history.kind)
    answers: dict[str, Sequence[Occurrence]] = {ENGINE: engine, REFERENCE: expected(program, history)}
    done(2, 4)
    epl = bound.parts.get("epl")
    others = [name for name, part in bound.parts.items() if name != "epl" and part.nodes]
    if not isinstance(epl, Epl) or not epl.nodes or others:
        return Sides(answers, without="only programs in EPL can be translated into nets")
    given = occurrences(history.tables)
    start, until = history.clock if history.clock is not None else (None, None)
    inside = [e for e in given if (start is None or e.time >= start) and (until is None or e.time <= until)]
    rows = rows_in_order([_as_declared(e, epl) for e in inside])
    try:
        translation = translate(
            epl, first, rows=rows, extended=True, inputs=history.schemas, kind=history.kind, start=start
        )
    except (DefinitionProblem, InputProblem) as refused:
        return Sides(answers, without=_reason(refused))
    runs = {BLACK: black_run(translation, fast)}
    done(3, 4)
    steps, without = steps_encoded(translation.net, runs[BLACK].run.firings), None
    if steps <= MOST_FIRINGS:
        runs[ENCODED] = encoded_run(translation, fast)
    else:
        without = f"the net without black transitions would need {steps} firings, more than {MOST_FIRINGS}"
    done(4, 4)
    answers |= {side: ran.derived for side, ran in runs.items()}
    return Sides(answers, matches_of(epl, rows, history.kind, start, until), translation, runs, rows, without)


def _as_declared(e: Occurrence, epl: Epl) -> Occurrence:
    """With the attributes that the program knows of."""
    schema = epl.schemas.get(e.type)
    return e if schema is None else replace(e, attributes={n: e.attributes.get(n) for n in schema.names})


def _reason(refused: OccursError) -> str:
    found = refused.first
    return f"{found.message} ({found.file or '<text>'}:{found.line}:{found.column})" if found.span else found.message


def matches_of(
    epl: Epl, rows: Sequence[Occurrence], kind: TimeKind, start: int | None, until: int | None
) -> list[Occurrence]:
    """What the reference derives, with the events of the matches."""
    statements = [s for f in epl.texts.files for s in f.statements]
    return evaluate(statements, epl.schemas, rows, kind=kind, zone=epl.zone, start=start, until=until)


# --- why they differ: the firings, looked through ---------------------------------------------------------------------


@dataclass(frozen=True)
class Fired:
    """A firing of a search: its place in the run, the transition, the tag it took (None: it derived), and the numbers
    of all events bound by then."""

    step: int
    transition: str
    tag: str | None
    numbers: Mapping[str, int]
    statement: int
    #: the number on F that the derived event got
    made: int | None


@dataclass(frozen=True)
class Witness:
    """The run of a net, to be asked.  ``rows``: those of the input, in order."""

    translation: Translation
    ran: NetRun
    rows: Sequence[Occurrence]

    @cached_property
    def on_f(self) -> dict[int, tuple[str, int, dict[str, Any]]]:
        """All events on F by their numbers."""
        net = self.ran.net
        (f,) = {net.holder(p.name) for p in net.places.values() if p.role is Role.F and p.fusion == "F"}
        tokens: Any = self.ran.run.marking.tokens[f]
        return {token[0]: self.translation.types.event(token) for token in tokens}

    @cached_property
    def entered(self) -> dict[int, int]:
        """The number on F of each row that entered, by its place among all rows (from 0)."""
        known = [k for k, row in enumerate(self.rows) if row.type in self.translation.types.events]
        names = ("enter", encoded("enter").t2)
        firings: list[Any] = [b for name, b in self.ran.run.firings if name in names]
        return {known[b["i"] - 1]: b["s"] for b in firings}

    @cached_property
    def fired(self) -> list[Fired]:
        """All firings of searches."""
        by_name = {n: (n, f) for name, f in self.translation.firings.items() for n in (name, encoded(name).t2)}
        out = []
        for step, (name, binding) in enumerate(self.ran.run.firings, 1):
            if name in by_name:
                out.append(_fired(step, name, by_name[name][1], binding))
        return out

    # --- too much ----------------------------------------------------------------------------------------------------

    def why_derived(self, row: Row) -> Iterator[str]:
        """How the net came to derive a row."""
        for k, event in self.on_f.items():
            if not same_row(row_of(Occurrence(event[0], event[1], event[2])), row):
                continue
            made = next((f for f in self.fired if f.made == k), None)
            if made is None:
                continue
            yield f"{self.ran.name} derived it in firing {made.step}, `{made.transition}`, as number {k} on F, from:"
            yield from self.events(made.numbers)
            return

    def events(self, numbers: Mapping[str, int]) -> Iterator[str]:
        """Bound events, one per line."""
        for tag, number in numbers.items():
            yield f"  {tag} = {self.event(number)}" if number else f"  {tag}: no event"

    def event(self, number: int) -> str:
        """An event on F."""
        type_, time, values = self.on_f[number]
        return f"{show(row_of(Occurrence(type_, time, values)))}, number {number} on F"

    # --- too little --------------------------------------------------------------------------------------------------

    def why_missing(self, match: Occurrence) -> Iterator[str]:
        """How far the net came with a match of the reference (with its constituents)."""
        bound = self.numbers(match)
        if bound is None:
            yield f"{self.ran.name} does not have all events of the match on F"
            return
        yield f"the match of {match.type} at {match.time}:"
        yield from self.events(bound)
        statement = next(k for k, q in enumerate(self.translation.queries) if q.number == match.label[0])
        mine = [f for f in self.fired if f.statement == statement]
        for tag, number in bound.items():
            took = [f for f in mine if f.tag == tag and f.numbers[tag] == number and _agree(f.numbers, bound)]
            if took:
                yield f"{self.ran.name} took {tag} in firing {took[0].step}, `{took[0].transition}`"
                continue
            yield f"{self.ran.name} never took number {number} as {tag} with the events before it"
            yield from self.instead(mine, tag, number, bound)
            return
        yield f"{self.ran.name} took all events of the match, but did not derive the output event"

    def instead(self, mine: Sequence[Fired], tag: str, number: int, bound: Mapping[str, int]) -> Iterator[str]:
        """What became of the search that should have taken an event."""
        before = {t: n for t, n in bound.items() if t != tag}
        other = [f for f in mine if f.tag == tag and _agree({**f.numbers, tag: 0}, before) and f.numbers[tag] < number]
        for f in other[-1:]:
            yield f"  firing {f.step}, `{f.transition}`, took {self.event(f.numbers[tag])} instead"
        net = self.ran.net
        for name, firing in self.translation.firings.items():
            black = self.translation.net.transitions[name].black
            if firing.tag != tag or black is None:
                continue
            tokens: Any = self.ran.run.marking.tokens[net.holder(black.init)]
            waiting = sorted(v for v in tokens if {n for n in before.values() if n} >= {e[0] for e in v[1] if e[1]})
            left = ", ".join(f"({v[0]}, {[e[0] for e in v[1]]})" for v in waiting[:5])
            yield f"  on its place `{black.init}` at the end: {left or 'no tokens'}"

    def numbers(self, match: Occurrence) -> dict[str, int] | None:
        """The numbers on F of the events of a match of the reference, by tag; None if one is not there."""
        out: dict[str, int] = {}
        for (tag, _, label), event in zip(match.label[2], match.constituents, strict=True):
            found = self.entered.get(label[1]) if label[0] == "row" else self.derived(event)
            if found is None:
                return None
            out[tag] = found
        return out

    def derived(self, event: Occurrence) -> int | None:
        """The number on F of an event that a statement derived."""
        wanted = row_of(event)
        return next((k for k, (t, x, v) in self.on_f.items() if same_row(row_of(Occurrence(t, x, v)), wanted)), None)


def _fired(step: int, name: str, firing: Firing, binding: Mapping[str, Any]) -> Fired:
    numbers = {tag: number_of(binding[var]) for tag, var in firing.numbers}
    return Fired(step, name, firing.tag, numbers, firing.statement, binding.get("s") if firing.final else None)


def _agree(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Do two have the same events where both have any?"""
    return all(other.get(t, n) == n for t, n in one.items() if n)


# --- runs of nets, and what they derive -----------------------------------------------------------------------------

#: runs a net to its end
Runner = Callable[[Net, "Translation"], Run]


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


def plain(events: Sequence[Occurrence]) -> list[Occurrence]:
    """Only type, time and values."""
    return [replace(e, sequence=None, label=(), constituents=()) for e in events]
