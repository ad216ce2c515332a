"""Durations of pipes, judged by what times count (common.md, sections 1 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from occurs.errors import Problem
from occurs.model.time import Duration, TimeKind
from occurs.operators.process.tree import Every, Node, Pipe, Window, every_node


def duration_problems(pipes: Sequence[Pipe], kind: TimeKind | None) -> list[Problem]:
    """What is wrong with the durations that these pipes have; ``kind`` None: what times count is not known yet.

    ``missing-unit``; ``bad-duration`` of an EVERY that is not whole in ticks, ``inexact-duration`` (a warning) of a
    window that is not.
    """
    found = (p for node, width in _durations(every_node(pipes)) for p in _of(node, width, kind))
    return list({(p.kind, p.file, p.span, p.message): p for p in found}.values())


def _durations(nodes: Iterable[Node]) -> Iterator[tuple[Node, Duration]]:
    for node in nodes:
        if isinstance(node.processor, (Every, Window)) and isinstance(node.processor.width, Duration):
            yield node, node.processor.width


def _of(node: Node, width: Duration, kind: TimeKind | None) -> Iterator[Problem]:
    ticks = width.amount if width.ticks and kind is None else None
    if kind is not None:
        ticks = kind.convert(width)
        if ticks is None:
            yield _no_unit(node, width)
    if ticks is None or ticks.denominator == 1:
        return
    unit = f"one tick is 1 {kind.unit}" if kind is not None and kind.unit else "times are whole numbers of ticks"
    what = node.processor.kind_name
    if isinstance(node.processor, Every):
        message = f"{what} needs a whole number of ticks, not {float(ticks):g}"
        yield Problem("bad-duration", message, hint=f"{unit}: write a multiple of that", **node.place)
    else:
        message = f"the duration of the {what} is not a whole number of ticks: {float(ticks):g}"
        yield Problem("inexact-duration", message, "warning", hint=f"{unit}; it is compared exactly", **node.place)


def _no_unit(node: Node, width: Duration) -> Problem:
    if width.ticks:
        text, hint = "a duration needs a unit if times are timestamps", "write a unit: `10 min`, `30 s`"
    else:
        text = "a duration needs the unit of the integer time column"
        hint = "set it with `--time-unit s` (or us, ms, min, h, d), or write a number of ticks: `100 ticks`"
    return Problem("missing-unit", f"{node.processor.kind_name}: {text}", hint=hint, **node.place)
