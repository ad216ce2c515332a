"""Nets that an editor shows and steps through: their drawing and their states, as data."""

from __future__ import annotations

import heapq
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from occurs.errors import LimitProblem, Problem, UsageProblem
from occurs.languages.epl.nets import Translation
from occurs.languages.epl.nets.core import Firing
from occurs.loading import language_of
from occurs.model.occurrence import Occurrence
from occurs.model.source import Source
from occurs.model.time import TimeKind
from occurs.nets.colours import Colour, Value
from occurs.nets.drawing import DrawnArc, DrawnPage, DrawnPlace, DrawnTransition, Note, drawing, grid
from occurs.nets.editing import Change as Change
from occurs.nets.editing import edited
from occurs.nets.firing import Element, number_of, plan_of
from occurs.nets.layout import Point, placed
from occurs.nets.ml import right_token, token_text
from occurs.nets.net import Net, Place, Role, priority_text
from occurs.nets.stepping import Breaks as Breaks
from occurs.nets.stepping import Stepper
from occurs.nets.transform import encoded
from occurs.program import Program
from occurs.services.answers import (
    NetArc,
    NetChoice,
    NetDerived,
    NetDrawing,
    NetFiring,
    NetOpened,
    NetOrigin,
    NetPage,
    NetPlace,
    NetRow,
    NetState,
    NetStop,
    NetTaken,
    NetText,
    NetTransition,
    Token,
    Tokens,
)
from occurs.services.checks import told
from occurs.services.events import Reader, RunOptions, sources_of, time_text
from occurs.services.net_sources import Loaded, first_in_order, of_file, of_program, size_of

#: tokens of a place, bindings of a transition, bindings of all transitions, firings and rows that are listed
MOST_TOKENS, MOST_BINDINGS, MOST_LISTED, MOST_FIRED, MOST_ROWS = 200, 100, 1_000, 200, 1_000
#: characters of a token, and of the value of a variable
LONGEST = 2_000
#: texts of values that are kept
MOST_KEPT = 100_000
#: seconds after which a run that is not at its end is answered
PATIENCE = 0.5
#: the gap around and between pages, the height of their titles, their least width
GAP, MARGIN, TITLE, LEAST = 24.0, 24.0, 30.0, 160.0

Format = Literal["cpn", "net.json", "svg"]


# --- drawings ---------------------------------------------------------------------------------------------------------


def drawn(net: Net, translation: Translation | None = None, texts: Texts | None = None) -> NetDrawing:
    """Draw a net.

    Args:
        net: The net.
        translation: Of the net, or of that which it encodes: elements then have the statements that they come from.
        texts: Of the net's values, to be kept.
    """
    texts = texts or Texts()
    pages = list(drawing(net, lambda place: ("00000",)))
    sizes = [_size(page) for page in pages]
    corners = grid(sizes, GAP)
    parts = zip(pages, corners, sizes, strict=True)
    views = [_View(net, page, corner, size, translation, texts) for page, corner, size in parts]
    width = max((x + w for (x, _), (w, _) in zip(corners, sizes, strict=True)), default=0.0)
    height = max((y + h for (_, y), (_, h) in zip(corners, sizes, strict=True)), default=0.0)
    return NetDrawing(net.name, _tenth(width), _tenth(height), tuple(view.page() for view in views))


def _size(page: DrawnPage) -> Point:
    return max(page.right - page.left, LEAST) + 2 * MARGIN, page.high - page.low + 2 * MARGIN + TITLE


def _tenth(x: float) -> float:
    return round(x, 1)


@dataclass(frozen=True)
class _View:
    """One page, from the coordinates of drawings to those of a screen."""

    net: Net
    drawn: DrawnPage
    corner: Point
    size: Point
    translation: Translation | None
    texts: Texts

    def page(self) -> NetPage:
        (x, y), (width, height) = self.corner, self.size
        return NetPage(
            self.drawn.page.name, _tenth(x), _tenth(y), _tenth(width), _tenth(height),
            tuple(map(self._place, self.drawn.places)),
            tuple(map(self._transition, self.drawn.transitions)),
            tuple(map(self._arc, self.drawn.arcs)),
        )  # fmt: skip

    def _at(self, at: Point) -> Point:
        return _tenth(at[0] - self.drawn.left + MARGIN), _tenth(self.drawn.high - at[1] + MARGIN + TITLE)

    def _box(self, at: Point, size: Point) -> tuple[float, float, float, float]:
        """The middle and the size."""
        return (*self._at(at), _tenth(size[0]), _tenth(size[1]))

    def _text(self, notes: Iterable[Note], kind: str) -> NetText | None:
        note = next((n for n in notes if n.kind == kind), None)
        return None if note is None else NetText(note.lines, *self._at(note.at))

    def _place(self, drawn: DrawnPlace) -> NetPlace:
        place = drawn.place
        note, tokens = self._text(drawn.notes, "note"), self._text(drawn.notes, "tokens")
        assert note is not None
        assert tokens is not None
        return NetPlace(
            place.name, *self._box(drawn.at, drawn.size), place.colour.name,
            None if place.role is None else place.role.value, place.fusion, self.net.holder(place.name),
            self.texts.tokens(place, Counter(place.initial)), note, (tokens.x, tokens.y),
            origin(self.translation, place.name),
        )  # fmt: skip

    def _transition(self, drawn: DrawnTransition) -> NetTransition:
        transition = drawn.transition
        return NetTransition(
            transition.name, *self._box(drawn.at, drawn.size), transition.black is not None,
            transition.priority, priority_text(transition.priority), drawn.guard,
            self._text(drawn.notes, "note"), self._text(drawn.notes, "guard"),
            origin(self.translation, transition.name),
        )  # fmt: skip

    def _arc(self, drawn: DrawnArc) -> NetArc:
        points = [drawn.begin, *([drawn.bend] if drawn.bend is not None else []), drawn.end]
        label = None if drawn.label is None else self._text([drawn.label], "label")
        line = drawn.line
        return NetArc(
            line.arc.place, line.arc.transition, line.into, line.out, tuple(map(self._at, points)), drawn.text, label
        )  # fmt: skip


def origin(translation: Translation | None, name: str) -> NetOrigin | None:
    """The statement that an element comes from, also one that stands for a black transition."""
    if translation is None:
        return None
    found = translation.origins.get(name)
    if found is None:
        found = translation.origins.get(_encoding(translation).get(name, ""))
    if found is None:
        return None
    query = translation.queries[found.statement]
    return NetOrigin(query.title or query.name, query.file, found.span)


def _encoding(translation: Translation) -> dict[str, str]:
    """The black transitions by the names of what stands for them in the encoded net."""
    memo = translation.net.memo
    if "encoding" not in memo:
        memo["encoding"] = {
            name: t.name
            for t in translation.net.transitions.values()
            if t.black is not None
            for e in (encoded(t.name),)
            for name in (e.place, e.t1, e.next, e.t2)
        }
    found: dict[str, str] = memo["encoding"]
    return found


class Texts:
    """Values as texts.  Those of a net are kept, as most tokens of an answer were in the one before."""

    def __init__(self) -> None:
        # colours have names of their own in a net, and their hashes take long
        self._known: dict[str, dict[Value, str]] = {}
        self._count = 0

    def of(self, value: Value, colour: Colour) -> str:
        """A value of a colour, cut if it is long."""
        known = self._known.setdefault(colour.name, {})
        text = known.get(value)
        if text is None:
            if self._count >= MOST_KEPT:
                self._known, self._count = {}, 0
                known = self._known.setdefault(colour.name, {})
            text = token_text(value, colour) if right_token(value, colour) else repr(value)
            text = known[value] = text if len(text) <= LONGEST else text[: LONGEST - 2] + ".."
            self._count += 1
        return text

    def tokens(self, place: Place, counts: Mapping[Value, int]) -> Tokens:
        """The tokens of a place; of a flow the last ones, as they are the newest."""
        some: list[Any] = list(counts)
        if len(some) > MOST_TOKENS:
            newest = place.role in (Role.F, Role.INPUT, Role.OUTPUT)
            some = heapq.nlargest(MOST_TOKENS, some) if newest else heapq.nsmallest(MOST_TOKENS, some)
        listed = tuple(Token(self.of(v, place.colour), counts[v]) for v in sorted(some))
        total = sum(counts.values())
        return Tokens(total, listed, total - sum(t.count for t in listed))


# --- nets that are open -----------------------------------------------------------------------------------------------


@dataclass
class OpenNet:
    """A net that is shown and stepped through.

    Attributes:
        net: As it is shown: with black transitions or encoded.
        loaded: The net with the meaning of its names.
        rows: The rows of its input that the program knows, in the order in which they enter.
        runs: Whether it can be run: nothing in its file is left out.
    """

    net: Net
    loaded: Loaded
    rows: Sequence[Occurrence] = ()
    sources: Sequence[Source] = ()
    lines: Sequence[np.ndarray | None] = ()
    problems: Sequence[Problem] = ()
    runs: bool = True
    stepper: Stepper = field(init=False)
    seed: int | None = None
    #: (firings so far, rows so far) behind every firing that let a row in
    _entries: list[tuple[int, int]] = field(default_factory=list)
    #: the rows of the events on F by their numbers there; of those that statements derive None
    _on_f: dict[Any, int | None] = field(default_factory=dict)
    #: places whose tokens an answer has only counted
    _untold: set[str] = field(default_factory=set)
    _kept: Texts = field(default_factory=Texts)

    def __post_init__(self) -> None:
        translation = self.loaded.translation
        self._firings: dict[str, Firing] = {}
        if translation is not None:
            for name, firing in translation.firings.items():
                self._firings |= dict.fromkeys((name, encoded(name).t2), firing)
        self._entering = ("enter", encoded("enter").t2) if translation is not None else ()
        if self.runs:
            self.stepper = Stepper(self.net)

    def opened(self) -> NetOpened:
        """The drawing and the first state."""
        state = None
        if self.runs:
            state = self._state({p for p in self.net.initial if self.stepper.simulator.tokens(p)})
        rows = tuple(self._row(k + 1) for k in range(min(len(self.rows), MOST_ROWS)))
        return NetOpened(drawn(self.net, self.loaded.translation, self._kept), state, rows, tuple(told(self.problems)))

    # -- firing --------------------------------------------------------------------------------------------------------

    def run(
        self,
        steps: int | None = None,
        row: int | None = None,
        breaks: Breaks | None = None,
        patience: float = PATIENCE,
    ) -> NetState:
        """Fire until something stops it, or for a moment.

        Args:
            steps: The number of firings; None for no limit.
            row: The row behind whose entry it stops; if it has entered already, firings are taken back.
            breaks: Where to stop.
            patience: The seconds after which to return whatever is reached.

        Raises:
            UsageProblem: There is no such row, or no such element.
            InputProblem: A transition puts a token on a place that cannot hold it.
        """
        if row is not None:
            if not 1 <= row <= len(self.rows):
                raise UsageProblem.of("bad-option", f"there is no row {row}: the net has {len(self.rows)} rows")
            if row <= self._entered:
                return replace(self.back(self.stepper.steps - self._entries[row - 1][0]), stopped="row")
        work = _Run(self, row, time.monotonic() + patience)
        stop = self.stepper.run(steps, breaks, work.heard)
        reason: NetStop = work.reason if stop.reason == "asked" else _REASONS[stop.reason]
        at = stop.element if reason == "break" else None
        return replace(work.state(values=reason != "time"), stopped=reason, at=at)

    def fire(self, transition: str, binding: Mapping[str, str] | None = None) -> NetState:
        """Fire a transition with a binding, as :attr:`NetState.enabled` lists it; None: with its first one.

        Raises:
            UsageProblem: It is not enabled (``not-enabled``).
            InputProblem: It puts a token on a place that cannot hold it.
        """
        element = self._chosen(transition, binding)
        self.stepper.fire(element)
        work = _Run(self, None, 0.0)
        work.heard(element)
        return work.state()

    def _chosen(self, transition: str, binding: Mapping[str, str] | None) -> Element:
        found = next((c for c in self.stepper.choices(1) if c.transition == transition), None)
        if found is not None and binding is not None:
            all_of = (c for c in self.stepper.choices(found.count) if c.transition == transition)
            bindings = next(all_of).bindings
            chosen = next((b for b in bindings if self._texts(b) == binding), None)
            return transition, {} if chosen is None else chosen
        # an element that is not enabled is refused when it is fired
        return transition, found.bindings[0] if found is not None else {}

    def back(self, n: int) -> NetState:
        """Take firings back.  Raises UsageProblem if there were fewer."""
        before = self._tokens()
        self.stepper.back(n)
        while self._entries and self._entries[-1][0] > self.stepper.steps:
            self._entries.pop()
        return self._state(self._changed(before))

    def reset(self, seed: int | None = None) -> NetState:
        """Restart; with a seed, firings are chosen at random."""
        before = self._tokens()
        self.stepper.reset(seed)
        self.seed = seed
        self._entries.clear()
        self._on_f.clear()
        return self._state(self._changed(before))

    # -- states --------------------------------------------------------------------------------------------------------

    @property
    def _entered(self) -> int:
        return self._entries[-1][1] if self._entries else 0

    def _tokens(self) -> dict[str, Counter[Value]]:
        return self.stepper.marking.tokens

    def _changed(self, before: Mapping[str, Counter[Value]]) -> set[str]:
        after = self._tokens()
        return {place for place in after if after[place] != before[place]}

    def _state(
        self, changed: Iterable[str], fired: Sequence[NetFiring] = (), more: int = 0, values: bool = True
    ) -> NetState:
        on = self.stepper.simulator.tokens
        if values:
            places = sorted({*changed, *self._untold})
            tokens = {p: self._kept.tokens(self.net.places[p], on(p)) for p in places}
            self._untold.clear()
        else:
            counts = {p: sum(on(p).values()) for p in sorted(changed)}
            tokens = {p: Tokens(n, (), n) for p, n in counts.items()}
            self._untold.update(counts)
        return NetState(
            self.stepper.steps, self._entered, len(self.rows), self.seed, tokens, tuple(self._choices()),
            tuple(fired), more,
        )  # fmt: skip

    def _choices(self) -> Iterable[NetChoice]:
        left = MOST_LISTED
        for choice in self.stepper.choices(MOST_BINDINGS):
            listed = tuple(map(self._texts, choice.bindings[:left]))
            left -= len(listed)
            yield NetChoice(choice.transition, listed, choice.count, choice.count > len(listed))

    def _texts(self, binding: Mapping[str, Value]) -> dict[str, str]:
        return {name: self._kept.of(value, self.net.colour_of[name]) for name, value in sorted(binding.items())}

    # -- firings and rows ----------------------------------------------------------------------------------------------

    def note(self, step: int, element: Element) -> None:
        """Keep what a firing says of rows."""
        name, binding = element
        number = binding.get("s")
        if (row := self._entry(element)) is not None:
            self._entries.append((step, row))
            self._on_f[number] = row
        elif name in self._firings and self._firings[name].final:
            self._on_f[number] = None

    def _entry(self, element: Element) -> int | None:
        """The row that a firing lets in."""
        row: Any = element[1].get("i") if element[0] in self._entering else None
        return row if isinstance(row, int) and 1 <= row <= len(self.rows) else None

    def firing(self, step: int, element: Element) -> NetFiring:
        """A firing as data."""
        name, binding = element
        firing = self._firings.get(name)
        row = derived = None
        if (entered := self._entry(element)) is not None:
            row = self._row(entered)
        elif firing is not None:
            if firing.tag is not None:
                row = self._taken(firing, firing.tag, binding)
            if firing.final:
                derived = self._derived(name, firing, binding)
        return NetFiring(step, name, self._texts(binding), row, derived)

    def _taken(self, firing: Firing, tag: str, binding: Mapping[str, Value]) -> NetRow | None:
        """The row that is bound to a tag; None for a derived event, and where an edited net has no such variable."""
        value = binding.get(dict(firing.numbers)[tag])
        row = None if value is None else self._on_f.get(number_of(value))
        return None if row is None else self._row(row)

    def _derived(self, name: str, firing: Firing, binding: Mapping[str, Value]) -> NetDerived | None:
        translation, kind = self.loaded.translation, self.loaded.kind
        assert translation is not None
        assert kind is not None
        prefix = translation.prefixes[firing.statement]
        place = self.net.holder(translation.outputs_of[prefix])
        token = next((p.term(binding) for p in plan_of(self.net, name).puts if p.holder == place), None)
        if token is None:
            return None
        type_, at, values = translation.types.event(token)
        there = [tag for tag, v in firing.numbers if v in binding and number_of(binding[v])]
        taken = tuple(NetTaken(tag, self._taken(firing, tag, binding)) for tag in there)
        return NetDerived(type_, time_text(at, kind), at, values, taken)

    def _row(self, number: int) -> NetRow:
        row = self.rows[number - 1]
        kind = self.loaded.kind or TimeKind()
        file = line = at = None
        if row.label:
            s, k = row.label
            source = self.sources[s]
            file = source.file
            at = k + 1 if source.rows is None else int(source.rows[k])
            lines = self.lines[s] if s < len(self.lines) else None
            # a text file whose lines are the rows has no table of lines
            line = (int(lines[k]) or None) if lines is not None else at if s >= len(self.lines) else None
        return NetRow(number, row.type, time_text(row.time, kind), row.time, file, line, at)

    # -- editing and files ---------------------------------------------------------------------------------------------

    def edit(self, changes: Sequence[Change]) -> NetOpened:
        """Change texts of elements and restart.

        Raises:
            DefinitionProblem: A text is wrong, or the net breaks rules: nothing is changed.
        """
        # nodes stay where they are drawn, whatever the new texts need
        net = edited(placed(self.net), changes)
        if self.runs:
            self.stepper = Stepper(net, self.seed)
        self.net = net
        self._entries.clear()
        self._on_f.clear()
        self._untold.clear()
        return self.opened()

    def export(self, format: Format, theme: str = "light") -> str:
        """The net as the text of a file: a drawing with the tokens of now, or a net with the initial ones.

        A file of CPN Tools encodes black transitions.

        Raises:
            DefinitionProblem: The net cannot be written.
        """
        if format == "svg":
            from occurs.nets import svg

            return svg.draw(self.net, self.stepper.marking if self.runs else None, theme=theme)
        if format == "cpn":
            from occurs.nets import cpn_write

            return cpn_write.write(self.net, transform=True).decode("iso-8859-1")
        from occurs.nets import netjson

        return netjson.write(self.net)


#: why a stepper stops, as the interface says it
_REASONS: dict[str, NetStop] = {"end": "end", "steps": "steps", "break": "break"}


class _Run:
    """What is heard of the firings of one call."""

    def __init__(self, net: OpenNet, row: int | None, end: float) -> None:
        self._net = net
        self._row = row
        self._end = end
        self._last: deque[tuple[int, Element]] = deque(maxlen=MOST_FIRED)
        self._count = 0
        self._changed: set[str] = set()
        self.reason: NetStop = "time"

    def heard(self, element: Element) -> bool:
        """Shall it go on?"""
        net, step = self._net, self._net.stepper.steps
        self._count += 1
        self._last.append((step, element))
        self._changed.update(net.stepper.simulator.changes(element[0]))
        net.note(step, element)
        if self._row is not None and net._entered >= self._row:
            self.reason = "row"
            return False
        return self._count % 16 != 0 or time.monotonic() < self._end

    def state(self, values: bool = True) -> NetState:
        """The state behind them; without ``values``, tokens are only counted."""
        fired = [self._net.firing(step, element) for step, element in self._last]
        return self._net._state(self._changed, fired, self._count - len(fired), values)


# --- opening ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """The nodes that a net may have, and the bytes of files with events that are read."""

    nodes: int = 10_000
    bytes: int = 100_000_000


def of_rules(
    texts: Mapping[str, str],
    events: Sequence[str],
    options: Mapping[str, Any] | None = None,
    *,
    black: bool = True,
    first: int = 0,
    sink_exits: bool = False,
    most_rows: int = 1_000,
    name: str = "net",
    limits: Limits | None = None,
) -> OpenNet:
    """Open the net of the EPL statements of a program.

    Statements without a net are left out, with a warning.

    Args:
        texts: The texts of the whole program by path.
        events: ``PATH`` or ``TYPE=PATH``; the first rows become tokens.
        options: The options of :meth:`occurs.Program.detect`, as data.
        black: Whether to keep black transitions; they are encoded with priorities otherwise.
        first: The number at which searches start.
        sink_exits: Whether to keep the Exit places below ``every`` empty.
        most_rows: The maximum number of rows.
        name: The name of the net.
        limits: What is refused.

    Raises:
        SyntaxProblem: A text is not in its language.
        DefinitionProblem: The rules are wrong, or no statement has a net.
        InputProblem: The events cannot be read, or a row has a value that a token cannot hold.
        LimitProblem: The net has too many nodes, or the files too many bytes.
        UsageProblem: The program has no EPL statements, or an option is wrong.
    """
    limits = limits or Limits()
    program = Program(
        [(text.removeprefix("\ufeff"), path, language_of(path)) for path, text in texts.items()],
        folders={path: Path(path).parent.absolute() for path in texts},
    )
    run = RunOptions(options or {})
    history = None
    rows: list[Occurrence] = []
    problems: list[Problem] = []
    sources: list[Source] = []
    lines: list[np.ndarray | None] = []
    if events:
        reader = Reader("a net", limits.bytes, "choose fewer or smaller files")
        sources, lines = sources_of(events, program.declared, run.input, reader)
        history = program.checked.history(sources, replace(run.input, places=True), declared=True)
        rows = first_in_order(history, most_rows)
        if (size := size_of(history)) > len(rows):
            text = f"the net has the first {len(rows):,} of {size:,} rows"
            problems.append(Problem("rows-left-out", text, "notice", hint="choose another number of rows"))
    loaded = of_program(
        program, history, rows, name=name, first=first, sink_exits=sink_exits, unit=run.input.time_unit, partial=True
    )
    translation = loaded.translation
    assert translation is not None
    others = [n for n in program.checked.languages if n != "epl"]
    if others:
        text = f"definitions in {', '.join(n.upper() for n in others)} are not part of the net"
        problems.append(Problem("unsupported", text, "notice", hint="only EPL statements have nets"))
    problems += [replace(p, severity="warning") for p in translation.left_out]
    known = [row for row in rows if row.type in translation.types.events]
    return OpenNet(_sized(loaded.with_encoding(not black), limits), loaded, known, sources, lines, problems)


def of_net_file(path: str, data: bytes, *, black: bool = True, limits: Limits | None = None) -> OpenNet:
    """Open the net of a ``.cpn`` or ``.net.json`` file.

    A net of a file that has parts which are not supported is shown, but does not run.

    Raises:
        SyntaxProblem: The file cannot be read.
        DefinitionProblem: The net breaks rules.
        LimitProblem: It has too many nodes.
    """
    net, problems = of_file(data, path)
    loaded = Loaded(_sized(net, limits or Limits()))
    runs = not any(p.severity == "warning" for p in problems)
    return OpenNet(loaded.with_encoding(not black), loaded, problems=problems, runs=runs)


def _sized(net: Net, limits: Limits) -> Net:
    nodes = len(net.places) + len(net.transitions)
    if nodes > limits.nodes:
        text = f"the net has {nodes:,} places and transitions, and at most {limits.nodes:,} are supported"
        raise LimitProblem.of("too-large", text, hint="choose fewer statements")
    return net


