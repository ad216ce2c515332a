"""The timers of EPL that are patterns on their own, each declared once (epl-and-nets.md, sections 2 to 5).

A timer has its alternative of ``atomp`` in the grammar, a declaration here, a node in the operator
(:mod:`occurs.operators.sequence.timers`), its next instant in the machine (kernels/pattern_timers.py), and an instance
in the reference semantics.  All else - text, checks, retention, messages - is read from the declaration.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from occurs.errors import Span, did_you_mean
from occurs.expr import tree as core
from occurs.languages.epl import syntax
from occurs.languages.epl.render.expressions import constant_text, duration_text, whole_text
from occurs.languages.epl.words import UNITS
from occurs.languages.kit.complaints import SET_UNIT
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.operators.sequence import timers as tree

if TYPE_CHECKING:
    from occurs.languages.epl.checks.bounds import Bounds
    from occurs.languages.epl.compile import Nodes
    from occurs.languages.epl.parser.tree import Builder
    from occurs.languages.kit.expressions import Node

T = TypeVar("T", bound=syntax.Timer)


class Timer(ABC, Generic[T]):
    """A timer.

    ``alternative``: its name in the grammar.  ``word``: what users call it.  ``node``: its class in the tree.
    ``stays``: is it true again and again, directly below an ``every``?  ``meaning``: what an editor says of the word.
    ``snippet``, ``offered``: what it writes, and says, where a pattern may begin.
    """

    alternative: ClassVar[str]
    word: ClassVar[str]
    meaning: ClassVar[str]
    snippet: ClassVar[str]
    offered: ClassVar[str]
    node: ClassVar[type[syntax.Timer]]
    stays: ClassVar[bool] = False

    @abstractmethod
    def read(self, builder: Builder, tree: Node) -> T:
        """The timer of lark's tree; reports and raises Refused if it cannot stand."""

    @abstractmethod
    def text(self, timer: T) -> str:
        """Its canonical text."""

    @abstractmethod
    def check(self, timer: T, bounds: Bounds) -> None:
        """Report what is wrong with its numbers."""

    @abstractmethod
    def longest(self, timer: T) -> Fraction | None:
        """How long it waits at most, as durations count; None: for ever."""

    @abstractmethod
    def build(self, timer: T, nodes: Nodes) -> tree.Timer:
        """Its node in the operator; it has no problem."""

    def instant(self, timer: T) -> bool:
        """Is it true as soon as it is started?"""
        return False


# --- lengths of time --------------------------------------------------------------------------------------------------


class Interval(Timer[syntax.Interval]):
    """``timer:interval(5 min)``."""

    alternative, word, node = "interval", "timer:interval", syntax.Interval
    meaning = "is true when this time has passed since the search for it began"
    snippet, offered = "timer:interval(${5 minutes})", "true when this time has passed"

    def read(self, builder: Builder, tree: Node) -> syntax.Interval:
        return syntax.Interval(builder.length(tree.children[0]), span=builder.span(tree))

    def text(self, timer: syntax.Interval) -> str:
        return f"timer:interval({duration_text(timer.duration)})"

    def check(self, timer: syntax.Interval, bounds: Bounds) -> None:
        if timer.duration.amount != 0:
            bounds.duration(timer.duration, timer.span)

    def longest(self, timer: syntax.Interval) -> Fraction | None:
        return timer.duration.amount

    def build(self, timer: syntax.Interval, nodes: Nodes) -> tree.Timer:
        return tree.Interval(nodes.ticks(timer.duration), nodes.shift(timer.duration), nodes.length(timer.duration))

    def instant(self, timer: syntax.Interval) -> bool:
        return timer.duration.amount == 0


# --- calendars --------------------------------------------------------------------------------------------------------

#: the fields of timer:at with the numbers that they may have
FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 6),
    ("second", 0, 59),
)
#: those below the second
BELOW = (("millisecond", 0, 999), ("microsecond", 0, 999))
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class At(Timer[syntax.At]):
    """``timer:at(0, 8, *, *, *)``."""

    alternative, word, node = "at", "timer:at", syntax.At
    meaning = "is true at the times of a schedule: minute, hour, day of month, month, day of week, second"
    snippet, offered = "timer:at(${0}, ${8}, *, *, *)", "true at times: minute, hour, day, month, day of week"

    def read(self, builder: Builder, tree: Node) -> syntax.At:
        if not 5 <= len(tree.children) <= 9:
            hint = (
                "the fields are minute, hour, day of month, month, day of week and optionally second, time zone, "
                "millisecond, microsecond: `timer:at(0, 8, *, *, *)`"
            )
            raise builder.refuse("syntax", f"`timer:at` takes 5 to 9 fields, not {len(tree.children)}", tree, hint)
        zone = None
        for node in tree.children[6:7]:
            if node.data == "cron_zone":
                zone = builder.unquoted(node.children[0])
            elif node.data != "cron_any":
                hint = "write a time zone, as in `timer:at(0, 8, *, *, *, 0, 'Europe/Madrid')`, or `*`"
                raise builder.refuse("syntax", "the seventh field of `timer:at` is a time zone", node, hint)
        fields = [self.field(node, builder) for i, node in enumerate(tree.children) if i != 6]
        return syntax.At(tuple(fields[:6]), zone, tuple(fields[6:]), span=builder.span(tree))

    def field(self, tree: Node, builder: Builder) -> syntax.Cron:
        """A field; lists may nest."""
        builder.deeper(1, tree)
        kind, span, items = str(tree.data).removeprefix("cron_"), builder.span(tree), tree.children
        if kind == "zone":
            hint = "the seventh field is the time zone: `timer:at(0, 8, *, *, *, 0, 'Europe/Madrid')`"
            raise builder.refuse("syntax", "a field of `timer:at` is a number", tree, hint)
        if kind == "list":
            built = syntax.Cron("list", items=tuple(self.field(item, builder) for item in items), span=span)
        else:
            found = [builder.number(t, "a field of `timer:at`") for t in items if t.type in ("NUMBER", "PARAMETER")]
            low, high = (*found, 0, 0)[:2]
            built = syntax.Cron(kind, low, high, span=span)
        builder.depth -= 1
        return built

    def text(self, timer: syntax.At) -> str:
        fields = [*map(cron_text, timer.fields)]
        if timer.zone is not None or timer.below:
            fields.append("*" if timer.zone is None else constant_text(timer.zone))
        return f"timer:at({', '.join([*fields, *map(cron_text, timer.below)])})"

    def check(self, timer: syntax.At, bounds: Bounds) -> None:
        source = bounds.source
        before = len(source.problems)
        if not 5 <= len(timer.fields) <= 6:
            names = ", ".join(n for n, _, _ in FIELDS)
            source.report("bad-bound", "`timer:at` takes five or six fields", timer.span, f"the fields are {names}")
            return
        for written, (name, low, high) in zip(
            (*timer.fields, *timer.below), (*FIELDS, *BELOW)[: 6 + len(timer.below)]
        ):
            self._field(written, name, low, high, timer.span, bounds)
        self._days(timer, bounds)
        if timer.zone is not None and not _known_zone(timer.zone):
            hint = "write a name such as 'Europe/Madrid' or 'UTC'"
            source.report("unknown-name", f"there is no time zone `{timer.zone}`", timer.span, hint)
        _needs_unit(self, timer, bounds)
        if len(source.problems) > before:
            return
        # with a day of the week, too, either of the two will do
        if timer.fields[2].kind in syntax.DAY_RULES:
            return
        days, months = numbers(timer.fields[2], 1, 31), numbers(timer.fields[3], 1, 12)
        if timer.fields[4].kind == "any" and not any(d <= _LENGTHS[m - 1] for d in days for m in months):
            message = "none of these months has this day, so the timer never fires"
            source.report("bad-bound", message, timer.span, "the fields are minute, hour, day of month, month, ..")

    def _days(self, timer: syntax.At, bounds: Bounds) -> None:
        """Report days by the calendar of their month beside another choice of days, or where none belongs."""
        for i, (written, (name, _, _)) in enumerate(zip((*timer.fields, *timer.below), (*FIELDS, *BELOW))):
            if written.kind not in syntax.DAY_RULES:
                continue
            at = written.span or timer.span
            if i not in (2, 4):
                hint = f"write a number for the {name}"
                bounds.source.report("bad-bound", "`last` and `weekday` choose days", at, hint)
            elif timer.fields[6 - i].kind != "any":
                message = "the day is chosen by the day of the month and by the day of the week"
                bounds.source.report("bad-bound", message, at, "write `*` for one of the two")
            elif written.kind == "last_of" and i == 2:
                hint = f"the last of these days of a month: `timer:at(.., *, .., {written.low} last)`"
                message = "a number before `last` is a day of the week, and belongs into the fifth field"
                bounds.source.report("bad-bound", message, at, hint)
            else:
                low, high = {"last_of": (0, 6), "weekday": (1, 31)}.get(written.kind, (0, 0))
                if not low <= written.low <= high:
                    bounds.source.report("bad-bound", f"{written.low} is not a valid day", at, f"from {low} to {high}")

    def _field(self, field: syntax.Cron, name: str, low: int, high: int, span: Span | None, bounds: Bounds) -> None:
        at = field.span or span
        if field.kind == "list":
            for item in field.items:
                self._field(item, name, low, high, at, bounds)
            return
        hint = f"the {name} is a number from {low} to {high}"
        if field.kind == "step":
            if not 1 <= field.low <= high:
                bounds.source.report("bad-bound", f"`*/{field.low}` is not a valid step for the {name}", at, hint)
            return
        ends = {"at": (field.low,), "range": (field.low, field.high)}.get(field.kind, ())
        for end in ends:
            if not low <= end <= high:
                bounds.source.report("bad-bound", f"{end} is not a valid {name}", at, hint)
                return
        if field.kind == "range" and field.low > field.high:
            message = f"`{field.low}:{field.high}`: the lower bound is greater than the upper bound"
            bounds.source.report("bad-bound", message, at, "write two ranges as a list: `[22:23, 0:4]`")

    def longest(self, timer: syntax.At) -> Fraction | None:
        """The longest time between two instants, or more than that."""
        hour, day, week = UNIT_MICROSECONDS["h"], UNIT_MICROSECONDS["d"], UNIT_MICROSECONDS["w"]
        _, at_hour, at_day, at_month, at_week_day = timer.fields[:5]
        if at_month.kind != "any":
            return Fraction(8 * 366 * day)  # the 29th of February
        if at_day.kind in syntax.DAY_RULES or at_week_day.kind in syntax.DAY_RULES:
            return Fraction(62 * day)
        if at_week_day.kind != "any":
            return Fraction(week)
        if at_day.kind != "any":
            return Fraction(62 * day)
        if at_hour.kind != "any":
            return Fraction(day)
        every_minute = numbers(timer.fields[0], 0, 59) == frozenset(range(60))
        return Fraction(UNIT_MICROSECONDS["min"] if every_minute else hour)

    def build(self, timer: syntax.At, nodes: Nodes) -> tree.Timer:
        """Its fields in the order of the node: second, minute, hour, day of month, month, day of week."""
        tick = nodes.kind.tick
        assert tick is not None
        fields: list[tuple[int, ...] | None] = []
        for written, (_, low, high) in zip(timer.fields, FIELDS, strict=False):
            found = numbers(written, low, high)
            fields.append(None if _any(written) else tuple(sorted(found)))
        second = fields[5] if len(fields) > 5 else (0,)
        if fields[2] is not None and fields[4] is not None and (len(fields[2]) == 31 or len(fields[4]) == 7):
            fields[2] = fields[4] = None  # either will do, and one of them always does
        below: list[tuple[int, ...]] = [(0,), (0,)]
        for i, (written, (_, low, high)) in enumerate(zip(timer.below, BELOW, strict=False)):
            below[i] = tuple(sorted(numbers(written, low, high)))
        day = None
        if timer.fields[4].kind == "last":
            fields[4] = (6,)  # the last day of the week, as in Esper
        else:
            day = next(((f.kind, f.low) for f in timer.fields if f.kind in syntax.DAY_RULES), None)
        return tree.At((second, *fields[:5]), tick, timer.zone or nodes.zone, tuple(below), day)


def cron_text(field: syntax.Cron) -> str:
    """A field of ``timer:at``."""
    low, high = whole_text(field.low), whole_text(field.high)
    parts: dict[str, str | Sequence[str]] = {"any": "*", "at": low, "step": f"*/{low}", "range": f"{low}:{high}",
                                             "last": "last", "last_of": f"{low} last", "weekday": f"{low} weekday",
                                             "last_weekday": "lastweekday"}  # fmt: skip
    return f"[{', '.join(map(cron_text, field.items))}]" if field.kind == "list" else str(parts[field.kind])


def numbers(field: syntax.Cron, low: int, high: int) -> frozenset[int]:
    """The numbers that a field of a calendar allows."""
    match field.kind:
        case "any" | "last" | "last_of" | "last_weekday" | "weekday":
            return frozenset(range(low, high + 1))
        case "step":
            return frozenset(n for n in range(low, high + 1) if n % field.low == 0)
        case "list":
            return frozenset().union(*(numbers(i, low, high) for i in field.items))
        case "range":
            return frozenset(range(field.low, field.high + 1))
    return frozenset((field.low,))


def _any(field: syntax.Cron) -> bool:
    """Is a field not restricted at all?"""
    return field.kind in ("any", *syntax.DAY_RULES) or any(_any(i) for i in field.items)


def _known_zone(name: str) -> bool:
    """Is there a time zone of this name?"""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _needs_unit(timer: Timer[Any], node: syntax.Timer, bounds: Bounds) -> bool:
    """Report that times have no unit, which a calendar needs."""
    if bounds.kind is None or bounds.kind.tick is not None:
        return False
    message = f"`{timer.word}` needs the unit of the integer time column"
    bounds.source.report("missing-unit", message, node.span, SET_UNIT)
    return True


# --- schedules --------------------------------------------------------------------------------------------------------


class Schedule(Timer[syntax.Schedule]):
    """``timer:schedule(iso: 'R3/2024-05-01T08:00:00Z/PT1H')``."""

    alternative, word, node = "schedule", "timer:schedule", syntax.Schedule
    meaning = "is true at times that lie a period apart: iso, or date, repetitions and period"
    snippet, offered = "timer:schedule(iso: '${R3/2024-05-01T08:00:00Z/PT1H}')", "true at times a period apart"
    stays = True

    def read(self, builder: Builder, tree: Node) -> syntax.Schedule:
        found: dict[str, Any] = {}
        for argument in tree.children:
            if argument is None:
                continue
            name = builder.name(argument.children[0]).text.lower()
            if name not in ("iso", "date", "repetitions", "period"):
                hint = did_you_mean(name, ("iso", "date", "repetitions", "period"), "arguments")
                raise builder.refuse("syntax", f"`timer:schedule` has no argument `{name}`", argument, hint)
            if name in found:
                raise builder.refuse("duplicate-name", f"the argument `{name}` is given twice", argument)
            found[name] = self._argument(name, argument.children[1], builder)
        example = "write for example `timer:schedule(iso: 'R3/2024-05-01T08:00:00Z/PT1H')`"
        if "iso" in found and len(found) > 1:
            raise builder.refuse("syntax", "the argument `iso` excludes the other arguments", tree, example)
        if not found.keys() & {"iso", "date", "period"}:
            raise builder.refuse("syntax", "`timer:schedule` needs a date or a period", tree, example)
        if "repetitions" in found and "period" not in found:
            raise builder.refuse("syntax", "`repetitions` needs a period", tree, example)
        arguments = tuple(found.items())
        try:
            parts = _from_iso(found["iso"]) if "iso" in found else found
            date = parts.get("date")
            at = _microseconds_of(date) if isinstance(date, str) else None if date is None else 1000 * date
        except ValueError as e:
            raise builder.refuse("syntax", f"this is not a schedule of ISO 8601: {e}", tree, example) from None
        return syntax.Schedule(arguments, at, parts.get("repetitions"), parts.get("period"), span=builder.span(tree))

    def _argument(self, name: str, tree: Node, builder: Builder) -> Any:
        """The value of an argument."""
        if name == "period":
            found = builder.length(tree)
            if tree.data != "duration" or len(tree.children) < 3:
                hint = "write a number with a unit: `period: 10 sec`"
                raise builder.refuse("unsupported", "the period of `timer:schedule` is a fixed length", tree, hint)
            if found.amount <= 0:
                hint = "write `period: 10 sec`"
                raise builder.refuse("bad-duration", "a period must be greater than zero", tree, hint)
            return found
        whole = tree.data == "duration" and len(tree.children) == 2
        if whole and name != "iso":
            sign, number = tree.children
            value = builder.whole(number, f"the {name}")
            return value if sign is None else -value
        built = builder.expr(tree.children[0]) if tree.data == "computed_length" else None
        if isinstance(built, core.Literal) and isinstance(built.value, str) and name != "repetitions":
            return built.value
        hint = "write a constant: a number of repetitions, a text for `iso` and `date`"
        raise builder.refuse("unsupported", f"the argument `{name}` must be a constant", tree, hint)

    def text(self, timer: syntax.Schedule) -> str:
        def given(value: Any) -> str:
            return duration_text(value) if isinstance(value, Duration) else constant_text(value)

        return f"timer:schedule({', '.join(f'{name}: {given(value)}' for name, value in timer.arguments)})"

    def check(self, timer: syntax.Schedule, bounds: Bounds) -> None:
        if not _needs_unit(self, timer, bounds) and timer.period is not None:
            bounds.duration(timer.period, timer.span)

    def longest(self, timer: syntax.Schedule) -> Fraction | None:
        """None: its date may be past, or far ahead."""
        one = timer.repetitions == 1  # the start itself, which is past
        return None if timer.date is not None or timer.period is None or one else timer.period.amount

    def build(self, timer: syntax.Schedule, nodes: Nodes) -> tree.Timer:
        """Its date, if it has one, in ticks: the first that is not before it."""
        tick = nodes.kind.tick
        assert tick is not None
        date = None if timer.date is None else -(-timer.date // tick)
        ticks = 0 if timer.period is None else nodes.ticks(timer.period)
        shift = None if timer.period is None else nodes.shift(timer.period)
        count = 1 if timer.repetitions is None else None if timer.repetitions < 0 else timer.repetitions
        leads = date is not None and (timer.repetitions is not None or timer.period is None)
        return tree.Schedule(date, count, leads, ticks, shift)


_PERIOD = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


def _from_iso(text: str) -> dict[str, Any]:
    """The arguments ``date``, ``repetitions`` and ``period`` of a schedule; raises ValueError with the reason."""
    parts = text.strip().split("/")
    out: dict[str, Any] = {}
    if len(parts) > 1 and parts[0].startswith("R"):
        repeat = parts.pop(0)[1:]
        if repeat and not repeat.isdecimal():
            raise ValueError(f"`R{repeat}` is not a number of repetitions")
        out["repetitions"] = int(repeat) if repeat else -1
        if not parts[-1].startswith("P"):
            raise ValueError("a period is missing behind the number of repetitions")
    if len(parts) > 2 or not all(parts):
        raise ValueError(f"`{text}` has not the parts `R<n>/<date>/<period>`")
    if parts[-1].startswith("P"):
        out["period"] = _period_of(parts.pop())
    if parts:
        _microseconds_of(parts[0])
        out["date"] = parts[0]
    return out


def _period_of(text: str) -> Duration:
    """``P1Y2M10DT2H30M``; raises ValueError."""
    found = _PERIOD.fullmatch(text)
    counts = [int(n or 0) for n in found.groups()] if found else []
    if not any(counts):
        raise ValueError(f"`{text}` is not a period such as `P1DT2H`")
    years, months, weeks, days, hours, minutes, seconds = counts
    rest = Fraction(hours * UNITS["hour"] + minutes * UNITS["min"] + seconds * UNITS["sec"])
    fixed = (7 * weeks + days) * UNITS["day"]
    if not years and not months:
        return Duration(fixed + rest)
    most = (366 * years + 31 * months) * UNITS["day"] + fixed + rest
    return syntax.Period(most, False, years, months, weeks, days, rest)


def _microseconds_of(text: str) -> int:
    """A time of ISO 8601, UTC without a zone, in microseconds since 1970; raises ValueError."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a time such as `2024-05-01T08:00:00Z`") from None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


TIMERS: dict[str, Timer[Any]] = {timer.alternative: timer for timer in (Interval(), At(), Schedule())}
_OF = {timer.node: timer for timer in TIMERS.values()}


def timer_of(node: syntax.Timer) -> Timer[Any]:
    """The declaration of a timer."""
    return _OF[type(node)]
