"""Durations of pipes, judged by what times count (common.md, sections 1 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from occurs.errors import Problem
from occurs.model.time import Duration, TimeKind
from occurs.operators.process.declared import Length, Parameter
from occurs.operators.process.tree import Node, Pipe, every_node


def duration_problems(pipes: Sequence[Pipe], kind: TimeKind | None) -> list[Problem]:
    """What is wrong with the durations that these pipes have; ``kind`` None: what times count is not known yet.

    ``missing-unit``; ``bad-duration`` of a duration that is not whole in ticks (EVERY), ``inexact-duration`` (a
    warning) of one that need not be (a window).
    """
    found = (p for node, of, width in _durations(every_node(pipes)) for p in _of(node, of, width, kind))
    return list({(p.kind, p.file, p.span, p.message): p for p in found}.values())


def _durations(nodes: Iterable[Node]) -> Iterator[tuple[Node, Parameter, Duration]]:
    """The parameters of processors that are durations."""
    for node in nodes:
        for name, (_, kind) in node.processor.parameters().items():
            value = getattr(node.processor, name)
            if isinstance(value, Duration):
                yield node, kind, value


def _of(node: Node, of: Parameter, width: Duration, kind: TimeKind | None) -> Iterator[Problem]:
    ticks = width.amount if width.ticks and kind is None else None
    if kind is not None:
        ticks = kind.convert(width)
        if ticks is None:
            yield _no_unit(node, width)
    if ticks is None or ticks.denominator == 1:
        return
    unit = f"one tick is 1 {kind.unit}" if kind is not None and kind.unit else "times are whole numbers of ticks"
    what = node.processor.kind_name
    if isinstance(of, Length):
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
