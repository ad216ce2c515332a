"""Counts, durations, and patterns that can never be completed (epl-and-nets.md, section 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from occurs.errors import Span
from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.timers import timer_of
from occurs.languages.kit.complaints import SET_UNIT, refuse_inexact
from occurs.model.time import Duration, TimeKind


@dataclass
class Bounds:
    """Checks the nodes of patterns one by one; problems go to ``source``.  ``kind``: what times count, None if that is
    not yet known: then nothing is said about units."""

    source: Text
    kind: TimeKind | None

    def check(self, node: syntax.Pattern) -> None:
        """Report what is wrong with the numbers of a node, and with the places of ``not`` among its operands."""
        match node:
            case syntax.Within():
                at = self._piece(node, r"timer\s*:\s*within(max)?\s*\(.*", node.operand.span)
                self.duration(node.duration, at)
                if node.count is not None and node.count < 0:
                    message = f"the maximum number of matches cannot be {node.count}"
                    self.source.report(
                        "bad-bound", message, at, "write a number from 0, as in `timer:withinmax(10 sec, 2)`"
                    )
            case syntax.EveryDistinct() if node.expiry is not None:
                self.duration(node.expiry, self._piece(node, r"every-distinct\s*\("))
            case syntax.Repeat():
                if isinstance(node.count, int) and node.count < 1:
                    self._count(f"[{node.count}]", "a pattern must be repeated at least once", node)
            case syntax.Until():
                self._until(node)
            case syntax.Followed():
                for i, limit in enumerate(node.limits):
                    if limit is not None and limit < 1:
                        at = self._arrow(node, i)
                        message = f"`-[{limit}]>`: the limit must be at least 1"
                        self.source.report("bad-bound", message, at, "write `-[1]>`, or `->` for no limit")
            case syntax.Timer():
                timer_of(node).check(node, self)
        self._absence(node)

    # --- counts ------------------------------------------------------------------------------------------------------

    def _until(self, node: syntax.Until) -> None:
        low, high = (n if isinstance(n, int) else None for n in (node.low, node.high))
        text = f"[{low}]" if low == high and low is not None else f"[{_bound(low)}:{_bound(high)}]"
        if low is not None and high is not None and low > high:
            self._count(text, "the lower bound is greater than the upper bound", node)
        elif (high is not None and high < 1) or (low is not None and low < 0):
            self._count(text, "a pattern must be repeated at least once", node)

    def _count(self, text: str, why: str, node: syntax.Pattern) -> None:
        hint = "write `[2] p`, or `[2:5] p until q`, `[:5] p until q`, `[2:] p until q`"
        self.source.report("bad-bound", f"`{text}`: {why}", self._piece(node, r"\[[^\]]*\]"), hint)

    # --- times -------------------------------------------------------------------------------------------------------

    def duration(self, duration: Duration, span: Span | None) -> None:
        """Report a length that is not positive, or that times cannot count."""
        if isinstance(duration, syntax.Computed):
            if self.kind is not None and self.kind.tick is None:
                message = "a duration needs the unit of the integer time column"
                self.source.report("missing-unit", message, span, f"{SET_UNIT}; it is in seconds")
            return
        if duration.amount <= 0:
            self.source.report(
                "bad-duration", "a duration must be greater than zero", span, "write for example `5 min`"
            )
            return
        if self.kind is None:
            return
        if isinstance(duration, syntax.Period):
            if self.kind.tick is None:
                self.source.report("missing-unit", "months need the unit of the integer time column", span, SET_UNIT)
                return
            duration = Duration(duration.rest)
        ticks = self.kind.convert(duration)
        if ticks is None:
            message = "a duration needs the unit of the integer time column"
            hint = f"{SET_UNIT}; a duration without a unit is in seconds"
            self.source.report("missing-unit", message, span, hint)
        elif ticks.denominator != 1:
            refuse_inexact(ticks, span, self.source, self.kind)
        elif ticks >= 2**63:
            message = "the duration does not fit in 64 bits"
            self.source.report("bad-duration", message, span, "write a shorter duration")

    # --- absence -----------------------------------------------------------------------------------------------------

    def _absence(self, node: syntax.Pattern) -> None:
        if isinstance(node, syntax.And):
            if all(isinstance(o, syntax.Not) for o in node.operands):
                hint = "add an operand that can complete: `timer:interval(10 sec) and not B`"
                self.source.report("never-completes", "an `and` of `not` alone never completes", node.span, hint)
            return
        for child in node.children:
            if isinstance(child, syntax.Not):
                self._not(child)
        why = _never(node)
        if why is not None:
            hint = "put something before it that waits: `every (a=A -> ..)`, `timer:interval(10 sec) and not B`"
            self.source.report("never-completes", why, node.span, hint)

    def _not(self, node: syntax.Not) -> None:
        """Warn of a `not` that does not stand under `and`: it does not wait."""
        message = "this `not` is true as soon as it starts: it does not wait for the absence"
        hint = "to wait, combine it with an operand that completes: `timer:interval(10 sec) and not B`, `C and not B`"
        self.source.warn("always-fires", message, node.span, hint)

    def root(self, pattern: syntax.Pattern) -> None:
        """Warn of a pattern that is a ``not`` as a whole."""
        if isinstance(pattern, syntax.Not):
            self._not(pattern)

    # --- places ------------------------------------------------------------------------------------------------------

    def _piece(self, node: syntax.Pattern, regex: str, after: Span | None = None) -> Span | None:
        """The place of what ``regex`` describes in the text of a node, behind ``after``; else the whole node."""
        if node.span is None:
            return None
        start, end = self.source.offsets(node.span)
        begin = start if after is None else self.source.offsets(after)[1]
        found = re.compile(regex, re.IGNORECASE | re.DOTALL).search(self.source.text, begin, end)
        return self.source.span(*found.span()) if found else node.span

    def _arrow(self, node: syntax.Followed, number: int) -> Span | None:
        left, right = node.operands[number].span, node.operands[number + 1].span
        if left is None or right is None:
            return node.span
        found = re.compile(r"-\s*\[.*?>", re.DOTALL).search(
            self.source.text, self.source.offsets(left)[1], self.source.offsets(right)[0]
        )
        return self.source.span(*found.span()) if found else node.span


def at_once(node: syntax.Pattern) -> bool:
    """Is a pattern true as soon as it is started?"""
    match node:
        case syntax.Timer():
            return timer_of(node).instant(node)
        case syntax.Not():
            return True
        case syntax.Followed():
            return all(map(at_once, node.operands))
        case syntax.And():
            return all(at_once(o) for o in node.operands if not isinstance(o, syntax.Not))
        case syntax.Until():
            return at_once(node.end)
        case syntax.Or() | syntax.Within() | syntax.While():
            return any(map(at_once, node.children))
    return False


def _never(node: syntax.Pattern) -> str | None:
    """Why a pattern whose operand is true as soon as it is started is never true, or has no end."""
    match node:
        case syntax.Every() | syntax.EveryDistinct() if at_once(node.operand):
            return "`every` repeats a pattern that is true as soon as it starts"
        case syntax.Repeat() if at_once(node.operand):
            return "this repeats a pattern that is true as soon as it starts"
        case syntax.Until() if at_once(node.operand):
            return "`until` repeats a pattern that is true as soon as it starts"
        case syntax.Until() if at_once(node.end) and isinstance(node.low, int) and node.low:
            return "the end of this `until` is true before anything can be collected"
        case syntax.Not() if at_once(node.operand):
            return "this `not` is never true, because its operand is true as soon as it starts"
        case syntax.Within() if at_once(node.operand) and node.count == 0:
            return "this guard ends a pattern that is true as soon as it starts"
        case syntax.While() if at_once(node.operand):
            return "`while` guards a pattern that is true as soon as it starts"
    return None





def _bound(value: int | None) -> str:
    return "" if value is None else str(value)
