"""EPL statements as coloured Petri nets with black sequencing transitions (epl-and-nets.md, section 4B).

The core (events, ``every``, ``->``) is translated as the paper does it (:mod:`core`); ``and``, ``or``, ``not`` and
``timer:within`` with a construction of our own (:mod:`extended`).  Everything else is refused, with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, Problem, raise_problems
from occurs.expr.text import Text
from occurs.expr.tree import Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import Analysis, ResolvedQuery, analyse
from occurs.languages.epl.define import Epl
from occurs.languages.epl.nets.analysis import is_core, optional, refusals, slots
from occurs.languages.epl.nets.builder import Builder, Origin
from occurs.languages.epl.nets.core import Core, Firing, common, input_flow
from occurs.languages.epl.nets.extended import Clocks, Extended
from occurs.languages.epl.nets.terms import Unsupported
from occurs.languages.epl.nets.types import Types, types_of
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.nets.net import Marking, Net, Role

#: times are numbers of nobody knows what
TICKS = TimeKind(False, None)
#: one text, several, or the EPL part of a program
Source = syntax.File | Sequence[syntax.File] | Epl
#: an event: (type, time, attributes), or an Occurrence
Row = Occurrence | tuple[str, int, Mapping[str, Any]]


@dataclass(frozen=True)
class Translation:
    """A net with the meaning of its names.

    Attributes:
        net: The net.
        types: The types of the program, as colours.
        queries: The statements in the order of their evaluation.
        prefixes: For each statement the prefix of the names of its places.
        firings: What each transition of a statement does.
        extended: Whether the net uses the extended translation.
        origins: The part of the program that each place, transition and page comes from, by name; those that all
            statements share have none.
        left_out: Why statements are not in the net, if ``partial`` was asked for.
    """

    net: Net
    types: Types
    queries: tuple[ResolvedQuery, ...]
    prefixes: tuple[str, ...]
    firings: Mapping[str, Firing]
    extended: bool
    origins: Mapping[str, Origin] = field(default_factory=dict)
    left_out: tuple[Problem, ...] = ()

    def outputs(self, marking: Marking) -> list[tuple[str, int, dict[str, Any]]]:
        """Return the derived events in a marking, as (type, time, values), in the order of their numbers on F."""
        return [self.types.event(v) for v in _derived(self.net, marking)]

    @cached_property
    def outputs_of(self) -> dict[str, str]:
        """The place F' of every statement, by its prefix."""
        places = [p.name for p in self.net.places.values() if p.role is Role.OUTPUT]
        return dict(zip(self.prefixes, dict.fromkeys(self.net.holder(p) for p in places), strict=True))


def to_net(
    source: Source,
    first: int = 0,
    sink_exits: bool = False,
    rows: Iterable[Row] | None = None,
    extended: bool = False,
    **more: Any,
) -> Net:
    """Translate an EPL program into a coloured Petri net.

    The arguments, and the problems that are raised, are those of :func:`translate`.  The events in ``rows`` become
    tokens of the Input place; an event is an Occurrence or a tuple of type, time and attributes.

    Returns:
        The net.
    """
    return translate(source, first, sink_exits, rows, extended, **more).net


def translate(
    source: Source,
    first: int = 0,
    sink_exits: bool = False,
    rows: Iterable[Row] | None = None,
    extended: bool = False,
    *,
    inputs: Mapping[str, Schema] | None = None,
    kind: TimeKind = TICKS,
    start: int | None = None,
    name: str = "net",
    partial: bool = False,
) -> Translation:
    """Translate an EPL program into a coloured Petri net, and return the net with the meaning of its names.

    Args:
        source: A parsed text, several, or the EPL part of a program.
        first: The number at which searches start: 0 as in the paper's counts of firings, or 1 as in its text.
        sink_exits: Whether to keep the Exit places below ``every`` empty; otherwise they grow.
        rows: The events, in the order of time; they become tokens of the Input place.  Rows of types that the program
            does not know are left out.
        extended: Whether to translate ``and``, ``or``, ``not`` and ``timer:within`` as well.
        inputs: The types of the input.
        kind: The unit of times, for durations and for the times of events.
        start: The time at which the clock starts; by default the time of the first row.
        name: The name of the net.
        partial: Whether to leave out statements that cannot be translated, and those that read what they derive, if
            any others are there.

    Returns:
        The net, the types of the program, and what each transition does.

    Raises:
        SyntaxProblem: The program cannot be parsed.
        DefinitionProblem: The program is wrong, or has a pattern that cannot be translated (``unsupported``).
        InputProblem: The rows are not sorted by time, or have a value that a token cannot hold.
    """
    files, analysis = _checked(source, inputs, kind)
    texts = {f.file: Text(f.text, f.file) for f in files}
    queries = _in_order(analysis.queries)
    given = [_occurrence(r) for r in rows or ()]
    wrong = {q.number: found for q in queries if (found := refusals(q, texts[q.file], extended))}
    while True:
        if partial:
            _left_out(queries, wrong, texts)
        problems = [p for q in queries for p in wrong.get(q.number, ())]
        kept = tuple(q for q in queries if q.number not in wrong)
        if problems and not (partial and kept):
            raise DefinitionProblem(problems)
        some = replace(analysis, queries=kept)
        made, more = _made(some, given, first, sink_exits, extended, kind, start, name, texts)
        if not more:
            return replace(made, left_out=tuple(problems))
        wrong |= more


def _made(
    analysis: Analysis,
    given: Sequence[Occurrence],
    first: int,
    sink_exits: bool,
    extended: bool,
    kind: TimeKind,
    start: int | None,
    name: str,
    texts: Mapping[str | None, Text],
) -> tuple[Translation, dict[int, list[Problem]]]:
    """The net of all queries, which are in their order, and why some of them cannot be in it after all."""
    queries = tuple(analysis.queries)
    beyond = extended and not all(is_core(q.query) for q in queries)
    builder = Builder(name)
    types = types_of(analysis, _nullable(queries), builder, absent=beyond)
    builder.colours = types.colours
    tokens = _tokens(types, given)
    shared = common(builder, types, first, tokens, 0)
    input_flow(shared)
    if beyond:
        begun = start if start is not None else min((r.time for r in given), default=0)
        clocks = Clocks(
            shared, kind, begun, any(isinstance(p, syntax.Within) for q in queries for p in q.pattern.walk())
        )
    prefixes: list[str] = []
    firings: dict[str, Firing] = {}
    problems: dict[int, list[Problem]] = {}
    for rank, q in enumerate(queries):
        prefixes.append(builder.elements.of(q.name, ("statement", q.number)))
        try:
            with builder.of(rank, q.query.span):
                if beyond:
                    Extended(shared, q, prefixes[-1], sink_exits, firings, rank, clocks=clocks).statement()
                else:
                    Core(shared, q, prefixes[-1], sink_exits, firings, rank).statement()
        except Unsupported as e:
            problems[q.number] = [texts[q.file].problem("unsupported", e.message, e.span or q.query.span)]
    net = builder.net() if not problems else Net(name, (), (), ())
    return Translation(net, types, queries, tuple(prefixes), firings, beyond, builder.origins), problems


def _left_out(
    queries: Sequence[ResolvedQuery], wrong: dict[int, list[Problem]], texts: Mapping[str | None, Text]
) -> None:
    """Statements that read what those in ``wrong`` derive go the same way: they would miss events."""
    for q in queries:
        lacking = next((o for o in queries if o.number in wrong and o.name in q.reads), None)
        if lacking is not None and q.number not in wrong:
            text = f"`{q.name}` reads `{lacking.name}`, whose statement cannot be translated into a net"
            wrong[q.number] = [texts[q.file].problem("unsupported", text, q.query.span)]


def outputs(net: Net, marking: Marking) -> list[tuple[str, int, dict[str, Any]]]:
    """What a net has derived, in the order of the numbers on F: (type, time, values).

    Types and attributes have the names that they have in the net: those of the program, if they are identifiers of ML.
    """
    out = []
    for _, _, time, (constructor, payload) in _derived(net, marking):
        union: Any = next(c for c in net.colours if c.name == "C")
        record = union.case(constructor)
        names = [n for n, _ in record.fields] if record is not None else []
        out.append((constructor.removeprefix("p"), time, dict(zip(names, payload, strict=True))))
    return out


def _derived(net: Net, marking: Marking) -> list[Any]:
    places = dict.fromkeys(net.holder(p.name) for p in net.places.values() if p.role is Role.OUTPUT)
    found: list[Any] = [v for p in places for v, n in marking.tokens[p].items() for _ in range(n)]
    return sorted(found, key=lambda v: v[0])


def _checked(
    source: Source, inputs: Mapping[str, Schema] | None, kind: TimeKind
) -> tuple[Sequence[syntax.File], Analysis]:
    if isinstance(source, Epl):
        raise_problems(source.problems)
        return source.texts.files, source.analysis
    files = [source] if isinstance(source, syntax.File) else list(source)
    analysis = analyse(files, inputs, kind=kind)
    raise_problems(analysis.problems)
    return files, analysis


def _in_order(queries: Sequence[ResolvedQuery]) -> tuple[ResolvedQuery, ...]:
    """Each behind all that derive what it reads; else as in the text."""
    left, out = list(queries), []
    while left:
        ready = next(q for q in left if not any(o.name in q.reads for o in left if o is not q))
        left.remove(ready)
        out.append(ready)
    return tuple(out)


def _nullable(queries: Sequence[ResolvedQuery]) -> dict[str, frozenset[str]]:
    """By type the attributes that some statement may leave null: they speak of events that may not be there."""
    found: dict[str, set[str]] = {}
    for q in queries:
        lacking = (frozenset(q.atoms) - frozenset(slots(q.pattern))) | optional(q.pattern)
        for o in q.outputs:
            asked = {o.struct.tag} if o.struct is not None else set()
            asked |= {r.scope for r in o.expr.walk() if isinstance(r, Ref) and r.scope} if o.expr is not None else set()
            if asked & lacking:
                found.setdefault(q.name, set()).add(o.name)
    return {t: frozenset(names) for t, names in found.items()}


def _occurrence(row: Row) -> Occurrence:
    return row if isinstance(row, Occurrence) else Occurrence(*row)


def _tokens(types: Types, rows: Sequence[Occurrence]) -> list[Any]:
    """The rows that the program knows as tokens, numbered; the numbers in messages are those among all rows."""
    out: list[Any] = []
    before: int | None = None
    for n, row in enumerate(rows, 1):
        if before is not None and row.time < before:
            text = f"row {n} ({row.type}) at {row.time} follows a row at {before}"
            raise InputProblem(Problem("bad-time", text, hint="sort the rows by time", row=n))
        before = row.time
        if row.type in types.events:
            token: Any = types.token(n, row)
            out.append((len(out) + 1, *token[1:]))
    return out
