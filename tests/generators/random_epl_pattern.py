"""Random patterns of EPL as text: every operator, nested, with conditions on events that are bound before."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

#: how tight a text binds: what may stand where without parentheses
CHAIN, OR, AND, UNTIL, QUALIFIED, GUARDED, ATOM = range(7)


@dataclass(frozen=True)
class Tag:
    """A tag: its type, and whether it has a list.  ``value``: what its events have in the place of ``v``."""

    name: str
    type: str
    many: bool = False
    value: str = "v"

    def ref(self, attribute: str, index: int = 0) -> str:
        attribute = self.value if attribute == "v" else attribute
        return f"{self.name}[{index}].{attribute}" if self.many else f"{self.name}.{attribute}"


@dataclass
class Piece:
    """A pattern: its text, how tight it binds, the tags that it may bind, and those it never does."""

    text: str
    tightness: int
    tags: list[Tag] = field(default_factory=list)
    never: list[Tag] = field(default_factory=list)

    def within(self, tightness: int) -> str:
        return self.text if self.tightness >= tightness else f"({self.text})"


class PatternWriter:
    """Writes one pattern.

    ``types``: those that filters may read, with the attributes of each besides ``k`` and ``v``.  ``core``: only events,
    ``every`` and ``->``.  ``filters``: how many are left; ``longest``: of a duration in seconds.  ``days``: histories
    are some months long, and so are durations.  ``values``: variables and parameters, whole numbers from 1 to 3.
    ``listed``: the types whose events have a list ``l`` and a map ``m`` of such numbers.
    """

    def __init__(
        self,
        rng: random.Random,
        types: Sequence[str],
        *,
        core: bool,
        filters: int,
        longest: int = 6,
        days: bool = False,
        values: Sequence[str] = (),
        listed: Sequence[str] = (),
    ) -> None:
        self.rng, self.types, self.core = rng, types, core
        self.days, self.values, self.listed = days, values, listed
        self.left = filters
        self.longest = longest
        self.count = 0
        self.consuming = not core and self.chance(0.12)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pattern(self, depth: int) -> Piece:
        """A pattern that is worth running: mostly it begins with ``every``."""
        if depth > 0 and self.chance(0.6):
            return self.chain(depth, [], first_every=True)
        return self.any(depth, [], False)

    # --- conditions ---------------------------------------------------------------------------------------------

    def whole(self, number: int) -> str:
        """A number in a pattern, or the parameter that gives one."""
        return "?:p0" if self.values and self.chance(0.5) else str(number)

    def value(self, type_: str) -> str:
        """Which number of an event of a type stands for ``v``."""
        elements = type_ in self.listed and self.chance(0.6)
        return self.rng.choice(("l[0]", "l[1]", "m('j')", "m('i')")) if elements else "v"

    def own(self, prefix: str = "", value: str = "v") -> str:
        """A condition on the attributes of one event."""
        k, v = f"{prefix}k", f"{prefix}{value}"
        forms = [f"{v} > {self.rng.randint(0, 2)}", f"{k} = '{self.rng.choice('pq')}'", f"{v} != {self.number()}"]
        if not self.core:
            forms += [
                f"{v} is not null",
                f"{k} is null",
                f"{v} between {self.number()} and {self.number()}",
                f"{v} in ({self.number()}, {self.number()}, null)",
                f"{v} in [{self.number()}:{self.number()})",
                f"{k} like '%p%'",
                f"{v} % 2 = 1",
                f"coalesce({v}, 1) >= {self.number()}",
                f"case when {v} > 1 then {k} else 'p' end = 'p'",
                f"not ({v} < 2 and {k} = 'q')",
                f"{v} / 2 < 1.5",
                f"{k} || '!' != 'q!'",
                f"min({v}, 2) = 2 or {k} is null",
            ]
        return self.rng.choice(forms)

    def number(self) -> str:
        return self.rng.choice(self.values) if self.values and self.chance(0.5) else str(self.rng.randint(0, 3))

    def compared(self, prefix: str, tag: Tag, value: str = "v") -> str:
        """A condition on an event and one that was bound before."""
        forms = [
            f"{prefix}k = {tag.ref('k')}",
            f"{prefix}k = {tag.ref('k')}",
            f"{prefix}k = {tag.ref('k')}",
            f"{prefix}{value} > {tag.ref('v')}",
            f"{prefix}{value} != {tag.ref('v')}",
            f"{prefix}{value} <= {tag.ref('v')}",
        ]
        if not self.core:
            forms += [
                f"{prefix}{value} = {tag.ref('v')} + 1",
                f"{tag.ref('k', 1)} = {prefix}k or {prefix}{value} > 2",
                f"abs({prefix}{value} - {tag.ref('v')}) <= 1",
                f"max({prefix}{value}, {tag.ref('v')}) > 1",
            ]
        return self.rng.choice(forms)

    # --- atoms ----------------------------------------------------------------------------------------------------

    def filter(self, scope: list[Tag], every: bool = False) -> Piece:
        self.left -= 1
        type_ = self.rng.choice(self.types)
        named = self.core or self.chance(0.85)
        tag = Tag(f"e{self.count}", type_, value=self.value(type_))
        self.count += named
        prefix = f"{tag.name}." if named and self.chance(0.2) else ""
        conditions = []
        if scope and self.chance(0.5):
            conditions.append(self.compared(prefix, self.rng.choice(scope), tag.value))
        if self.chance(0.3):
            conditions.append(self.own(prefix, tag.value))
        text = f"{tag.name}={type_}" if named else type_
        if conditions:
            text += f"({self.rng.choice((', ', ' and ')).join(self.bracket(c) for c in conditions)})"
        elif self.chance(0.1):
            text += "()"
        if self.consuming and self.chance(0.4):
            text += self.rng.choice(("@consume", "@consume(2)", f"@consume({self.whole(1)})"))
        return Piece(text, ATOM, [tag] if named else [])

    def bracket(self, condition: str) -> str:
        return f"({condition})" if " or " in condition or " and " in condition else condition

    def length(self, scope: list[Tag]) -> str:
        """A duration, perhaps one that an earlier event says."""
        flat = [t for t in scope if not t.many]
        if flat and self.chance(0.25):
            value = f"coalesce({self.rng.choice(flat).ref('v')}, 0) + 1"
            return f"({value}) * {4 * 86_400}" if self.days else value
        return self.duration()

    def duration(self) -> str:
        n = self.rng.randint(1, self.longest)
        if self.days:
            return self.rng.choice((f"{4 * n} days", "1 month", "1 month", f"1 month {n} days", f"{n} weeks 12 hours"))
        if self.values and self.chance(0.4):
            value = self.rng.choice(self.values)
            return self.rng.choice((value, f"{value.strip('()')} sec"))
        return self.rng.choice((f"{n} sec", f"{n} seconds", str(n)))

    def timer(self, scope: list[Tag]) -> Piece:
        if self.chance(0.4 if self.days else 0.7):
            return Piece(f"timer:interval({self.length(scope)})", ATOM)
        if self.chance(0.3):
            return Piece(f"timer:schedule({self.schedule()})", ATOM)
        if self.days:
            day = self.rng.choice(
                ("last, *, *", "*, *, 5 last", "*, *, last", "lastweekday, *, *", "15 weekday, *, *",
                 "31 weekday, *, *", "1 weekday, 3, *", "last, 2, *", "10, *, *", "*, *, 3")
            )  # fmt: skip
            zone = self.rng.choice(("", "", ", 0, 'America/New_York'", ", 30, *, 250", ", 0, 'Asia/Tokyo', 1, 500"))
            return Piece(f"timer:at(0, {self.rng.choice((0, 2, 12))}, {day}{zone})", ATOM)
        at = self.rng.choice(("*/5", "[3, 11, 17]", "4:6", "7", "*/3"))
        return Piece(f"timer:at(*, *, *, *, *, {at})", ATOM)

    def schedule(self) -> str:
        """The arguments of `timer:schedule`: dates among those of the history, if it has dates, and before it."""
        rng = self.rng
        date = rng.choice(
            ("2024-01-20T00:00:00Z", "2024-01-31T02:30:00+01:00", "2024-02-29T12:00:00", "1970-01-01T00:00:03Z")
        )
        period, iso = rng.choice(
            (("4 days", "P4D"), ("1 month", "P1M"), ("1 week 12 hours", "P1WT12H"), ("1 month 2 days", "P1M2D"))
            if self.days
            else (("2 sec", "PT2S"), ("5 sec", "PT5S"), ("3 sec", "PT3S"))
        )
        count = rng.randint(1, 4)
        if not self.days:
            date = rng.choice(
                ("1970-01-01T00:00:03Z", "1970-01-01T00:00:07Z", "2024-05-01T00:00:05Z", "2024-05-01T02:00:02+02:00")
            )
        return rng.choice(
            (
                f"iso: 'R{count}/{date}/{iso}'",
                f"iso: 'R/{date}/{iso}'",
                f"iso: 'R{count}/{iso}'",
                f"iso: '{date}'",
                f"iso: '{iso}'",
                f"date: '{date}'",
                f"period: {period}",
                f"date: '{date}', period: {period}",
                f"repetitions: {count}, period: {period}",
                f"date: '{date}', repetitions: {rng.choice((-1, count))}, period: {period}",
            )
        )

    # --- operators ------------------------------------------------------------------------------------------------

    def any(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        """Any pattern; ``every``: is it below one?"""
        if depth == 0 or self.left <= 1:
            if not self.core and self.chance(0.08):
                return self.timer(scope)
            return self.filter(scope)
        if self.core:
            choices: list[tuple[float, Callable[[], Piece]]] = [
                (2, lambda: self.filter(scope)),
                (3, lambda: self.every(depth, scope, every)),
                (4, lambda: self.chain(depth, scope, every=every)),
            ]
        else:
            choices = [
                (1.5, lambda: self.filter(scope)),
                (2 if self.days else 0.5, lambda: self.timer(scope)),
                (3, lambda: self.every(depth, scope, every)),
                (1, lambda: self.distinct(depth, scope, every)),
                (4, lambda: self.chain(depth, scope, every=every)),
                (2, lambda: self.both(depth, scope, every)),
                (1.5, lambda: self.either(depth, scope, every)),
                (1, lambda: self.repeat(depth, scope, every)),
                (1.5, lambda: self.until(depth, scope, every)),
                (1.5, lambda: self.guard(depth, scope, every)),
                (0.7, lambda: self.while_(depth, scope, every)),
            ]
        (made,) = self.rng.choices([c for _, c in choices], [w for w, _ in choices])
        piece = made()
        return Piece(f"({piece.text})", ATOM, piece.tags, piece.never) if self.chance(0.05) else piece

    def every(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        # instances multiply below two of them
        if every and not self.chance(0.04):
            return self.filter(scope)
        if self.chance(0.4):
            p = self.filter(scope)
        else:
            p = self.any(depth - 1, scope, True)
        return Piece(f"every {p.within(GUARDED)}", QUALIFIED, p.tags, p.never)

    def distinct(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        if every and not self.chance(0.04):
            return self.filter(scope)
        p = self.filter(scope) if self.chance(0.6) else self.any(depth - 1, scope, True)
        if not p.tags:
            return p
        tag = self.rng.choice(p.tags)
        keys = self.rng.choice((tag.ref("k"), tag.ref("v"), f"{tag.ref('k')}, {tag.ref('v')}", f"{tag.ref('v')} % 2"))
        if len(p.tags) == 1 and not tag.many and not scope and self.chance(0.3):
            keys = self.rng.choice(("k", "v", "k, v"))
        expiry = ""
        if self.chance(0.5):
            expiry = f", {self.duration() if self.days else f'{self.rng.randint(1, self.longest)} sec'}"
        return Piece(f"every-distinct({keys}{expiry}) {p.within(GUARDED)}", QUALIFIED, p.tags, p.never)

    def chain(self, depth: int, scope: list[Tag], *, every: bool = False, first_every: bool = False) -> Piece:
        steps: list[Piece] = []
        seen = list(scope)
        for i in range(self.rng.choice((2, 2, 2, 3))):
            if i == 0 and first_every:
                p = self.every(1, seen, False)
            else:
                # filters behind a search that begins again and again would multiply with every further one
                p = self.any(depth - 1, seen, every)
                if i and not self.core and self.chance(0.1):
                    p = self.at_once(p, seen)
            steps.append(p)
            seen += p.tags
        text = steps[0].within(OR)
        for p in steps[1:]:
            arrow = "->" if self.core or self.chance(0.85) else f"-[{self.whole(self.rng.randint(1, 3))}]>"
            text += f" {arrow} {p.within(OR)}"
        return Piece(text, CHAIN, *_together(steps))

    def at_once(self, p: Piece, scope: list[Tag]) -> Piece:
        """A step that is true as soon as it starts, perhaps with ``p`` in it."""
        below = self.filter(scope)
        absent, never = f"not {below.within(GUARDED)}", [*below.tags, *below.never]
        tags, lost = _repeated(p)
        return self.rng.choice(
            (
                Piece("timer:interval(0)", ATOM),
                Piece(absent, QUALIFIED, [], never),
                Piece(f"{p.within(AND)} or {absent}", OR, p.tags, [*p.never, *never]),
                Piece(f"{absent} or {p.within(AND)}", OR, p.tags, [*never, *p.never]),
                Piece(f"{p.within(QUALIFIED)} until {absent}", UNTIL, tags, [*lost, *never]),
                Piece(f"({absent}) where timer:within({self.duration()})", GUARDED, [], never),
                Piece(f"timer:interval(0) and {absent}", AND, [], never),
            )
        )

    def both(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        parts = [self.any(depth - 1, scope, every) for _ in range(self.rng.choice((1, 2, 2)))]
        if len(parts) == 1 or self.chance(0.4):
            below = self.any(self.rng.choice((0, 0, 0, depth - 1)), scope, True)
            absent = Piece(f"not {below.within(GUARDED)}", QUALIFIED, [], [*below.tags, *below.never])
            parts.insert(self.rng.randint(0, len(parts)), absent)
        return Piece(" and ".join(p.within(UNTIL) for p in parts), AND, *_together(parts))

    def either(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        parts = [self.any(depth - 1, scope, every) for _ in range(self.rng.choice((2, 2, 3)))]
        if self.chance(0.3):
            self.share(parts)
        return Piece(" or ".join(p.within(AND) for p in parts), OR, *_together(parts))

    def share(self, parts: list[Piece]) -> None:
        """Give an event of the last part the tag of one of the first, if they are of one type."""
        first, last = parts[0], parts[-1]
        pairs = [(a, b) for a in first.tags for b in last.tags if (a.type, a.many) == (b.type, b.many)]
        if pairs:
            one, other = self.rng.choice(pairs)
            text = re.sub(rf"\b{other.name}\b", one.name, last.text)
            tags = [t for t in last.tags if t is not other]
            parts[-1] = Piece(text, last.tightness, tags, last.never)

    def repeat(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        p = self.any(depth - 1, scope, every)
        return Piece(f"[{self.times(scope)}] {p.within(QUALIFIED)}", UNTIL, *_repeated(p))

    def times(self, scope: list[Tag]) -> str:
        """A number of repetitions, perhaps one that an earlier event gives."""
        flat = [t for t in scope if not t.many]
        if flat and self.chance(0.4):
            value = self.rng.choice(flat).ref("v")
            return self.rng.choice((f"coalesce({value}, 0) + 1", f"coalesce({value} % 2, 1) + 1"))
        if self.values and self.chance(0.5):
            return self.rng.choice(self.values)
        return str(self.rng.randint(1, 3))

    def until(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        p, q = self.any(depth - 1, scope, every), self.any(self.rng.choice((0, depth - 1)), scope, every)
        low, high = sorted((self.rng.randint(1, 3), self.rng.randint(1, 3)))
        bounds = self.rng.choice(("", "", "", f"[{low}:{high}] ", f"[{low}:] ", f"[:{high}] ", f"[{low}] "))
        flat = [t for t in scope if not t.many]
        if bounds and flat and self.chance(0.4):
            one, other = self.times(flat), self.times(flat)
            least = self.rng.choice(flat).ref("v")
            bounds = self.rng.choice((f"[{least}:{other}] ", f"[{least}:] ", f"[:{other}] ", f"[{one}] "))
        tags, never = _repeated(p)
        text = f"{bounds}{p.within(QUALIFIED)} until {q.within(QUALIFIED)}"
        return Piece(text, UNTIL, tags + q.tags, never + q.never)

    def guard(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        p = self.any(depth - 1, scope, every)
        length = self.length(scope)
        most = f"max({length}, {self.rng.randint(0, 3)})" if self.chance(0.3) else f"({length})"
        return Piece(f"{p.within(ATOM)} where timer:within{most}", GUARDED, p.tags, p.never)

    def while_(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        p = self.any(depth - 1, scope, every)
        if not p.tags:
            return p
        tag = self.rng.choice(p.tags)
        condition = (
            self.own(tag.ref(""))
            if self.chance(0.6) or not scope
            else self.compared(tag.ref(""), self.rng.choice(scope))
        )
        return Piece(f"{p.within(ATOM)} while ({condition})", GUARDED, p.tags, p.never)


def _together(parts: Sequence[Piece]) -> tuple[list[Tag], list[Tag]]:
    return [t for p in parts for t in p.tags], [t for p in parts for t in p.never]


def _repeated(p: Piece) -> tuple[list[Tag], list[Tag]]:
    """What a repetition makes of tags."""
    return [replace(t, many=True) for t in p.tags], [replace(t, many=True) for t in p.never]
