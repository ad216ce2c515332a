"""Analyses of nets as data: the state space, and counts over random streams."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from occurs.languages.epl.nets.random_runs import Counted, Progress, analysis
from occurs.nets.explore import Properties, explore
from occurs.nets.net import Net
from occurs.nets.random_input import Stream, parsed, stream_of
from occurs.nets.report import report
from occurs.program import Program
from occurs.services.answers import Bar, NetCounted, NetRandom, NetSpace
from occurs.services.net_sources import of_program

#: the bars of a histogram, at most
MOST_BARS = 20


def space(net: Net, most: int, progress: Progress | None = None) -> NetSpace:
    """Explore what a net can do.

    Args:
        net: The net.
        most: The number of markings at which the search stops.
        progress: A function that is called with the numbers of markings that are expanded, and that are known.
    """
    began = time.monotonic()
    told = None if progress is None else lambda nodes, expanded: progress(expanded, nodes)
    found = explore(net, most, progress=told)
    if told is not None:
        told(len(found.nodes), found.expanded)
    known = Properties(found)
    homes = known.home_markings
    return NetSpace(
        report(found, time.monotonic() - began), found.complete, len(found.nodes), len(found.steps),
        len(known.dead_markings), None if homes is None else len(homes), tuple(known.dead_transitions),
    )  # fmt: skip


def stream(given: Mapping[str, Any] | str, file: str | None = None) -> Stream:
    """A random stream, of its description or of the text of a file.

    Raises:
        InputProblem: The description is wrong.
    """
    if isinstance(given, str):
        return parsed(given, file or "stream.toml")
    return stream_of(given)


def random_runs(
    program: Program,
    stream: Stream,
    *,
    runs: int = 100,
    seed: int = 0,
    steps: int | None = None,
    black: bool = True,
    first: int = 0,
    sink_exits: bool = False,
    unit: str | None = None,
    progress: Progress | None = None,
) -> NetRandom:
    """Run the net of a program on many random streams, and count.

    Args:
        program: The program, whose statements must all have nets.
        stream: The description of the streams.
        runs: The number of runs.
        seed: Determines all streams.
        steps: The maximum number of firings of a run.
        black: Whether to keep black transitions.
        first: The number at which searches start.
        sink_exits: Whether to keep the Exit places below ``every`` empty.
        unit: The unit of times.
        progress: A function that is called with the numbers of finished runs and of all.

    Raises:
        DefinitionProblem: A statement has no net.
        InputProblem: The stream does not fit the program.
        UsageProblem: An option is wrong, or the program has other definitions than EPL statements.
    """
    loaded = of_program(
        program, None, [], name="net", first=first, sink_exits=sink_exits, start=stream.start, unit=unit
    )
    translation = loaded.translation
    assert translation is not None
    done = analysis(translation, stream, runs, seed, encoded=not black, limit=steps, progress=progress)
    counted = [_counted(name, "input", c) for name, c in done.rows.items()]
    counted += [_counted(name, "output", c) for name, c in done.outputs.items()]
    counted.append(_counted("firings", "firings", done.firings))
    return NetRandom(done.runs, done.confidence, done.complete, tuple(counted))


def _counted(name: str, of: Any, found: Counted) -> NetCounted:
    return NetCounted(
        name, of, found.mean, found.interval, found.least, found.most, found.share, found.share_interval,
        histogram(found.counts),
    )  # fmt: skip


def histogram(counts: tuple[int, ...]) -> tuple[Bar, ...]:
    """Bars of equal width over all counts, one for each count if they are few.

    >>> [(b.low, b.high, b.runs) for b in histogram((0, 2, 2, 3))]
    [(0, 0, 1), (1, 1, 0), (2, 2, 2), (3, 3, 1)]
    """
    low, high = min(counts), max(counts)
    width = -(-(high - low + 1) // MOST_BARS)
    bars = Counter((n - low) // width for n in counts)
    return tuple(
        Bar(low + k * width, min(high, low + (k + 1) * width - 1), bars[k]) for k in range((high - low) // width + 1)
    )
