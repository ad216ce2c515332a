"""Quantitative analysis: many runs of a net over random input, and how much of each type it derives.

(epl-and-nets.md, section 4B, Simulation; the streams: :mod:`occurs.nets.random_input`.)
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev
from typing import Any

from occurs.errors import UsageProblem
from occurs.languages.epl.nets import Translation
from occurs.nets.firing import Element
from occurs.nets.net import Marking, Net, Role
from occurs.nets.random_input import Stream
from occurs.nets.simulate import Simulator
from occurs.nets.transform import to_priority_net

#: called with the number of runs that are done and that of all
Progress = Callable[[int, int], None]
#: a confidence interval
Interval = tuple[float, float]


@dataclass(frozen=True)
class Counted:
    """How often something was there in each run.

    ``mean`` with ``interval`` (Student's, None for a single run), ``least`` and ``most`` of one run; ``share``: of the
    runs in which it was there at all, with ``share_interval`` (Wilson's).
    """

    counts: tuple[int, ...]
    mean: float
    interval: Interval | None
    least: int
    most: int
    share: float
    share_interval: Interval

    @classmethod
    def of(cls, counts: tuple[int, ...], confidence: float) -> Counted:
        n, mean = len(counts), fmean(counts)
        interval = None
        if n > 1:
            half = student(confidence, n - 1) * stdev(counts) / math.sqrt(n)
            interval = (mean - half, mean + half)
        some = sum(c > 0 for c in counts)
        return cls(counts, mean, interval, min(counts), max(counts), some / n, wilson(some, n, confidence))


@dataclass(frozen=True)
class Analysis:
    """The result of runs over random input.

    Attributes:
        runs: The number of runs.
        confidence: The confidence of the intervals.
        outputs: The detections by type, in the order of the statements.
        rows: The input rows by type.
        firings: The firings of the net.
        complete: Whether every run ended before its limit of firings.
    """

    runs: int
    confidence: float
    outputs: dict[str, Counted]
    rows: dict[str, Counted]
    firings: Counted
    complete: bool


def analysis(
    translation: Translation,
    stream: Stream,
    runs: int = 100,
    seed: int = 0,
    *,
    encoded: bool = False,
    at_random: bool = False,
    confidence: float = 0.95,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Run a net on many random streams and count its detections.

    Args:
        translation: The net of a program; an extended translation must be made with ``start=stream.start``.
        stream: The description of the streams.
        runs: The number of runs, each on a stream of its own.
        seed: Determines all streams and choices.
        encoded: Whether to replace black transitions by normal transitions with priorities.
        at_random: Whether to choose firings at random instead of the first enabled one.
        confidence: The confidence of the intervals, between 0 and 1.
        limit: The maximum number of firings per run.
        progress: A function that is called after each run with the number of finished runs and of all runs.

    Raises:
        InputProblem: The stream does not fit the program.
        UsageProblem: An option is out of range.
    """
    if runs < 1:
        raise UsageProblem.of("bad-option", f"the number of runs is {runs}, but must be at least 1")
    if not 0 < confidence < 1:
        raise UsageProblem.of("bad-option", f"the confidence is {confidence}, but must be between 0 and 1")
    made = {q.name for q in translation.queries}
    schemas = {n: t.schema for n, t in translation.types.events.items() if n not in made}
    stream = stream.fitted(schemas)
    net = to_priority_net(translation.net) if encoded else translation.net
    simulator = Simulator(net)
    complete = True
    outputs: list[Counter[str]] = []
    rows: list[Counter[str]] = []
    firings: list[int] = []
    for k in range(runs):
        rng = random.Random(f"{seed}/{k}")
        marking, count = _filled(translation, net, stream, rng)
        simulator.reset(marking, rng.getrandbits(63) if at_random else None)
        simulator.run(limit, each=_unheard)
        complete = complete and not (limit is not None and simulator.steps == limit and simulator.enabled())
        outputs.append(_derived(translation, simulator))
        rows.append(count)
        firings.append(simulator.steps)
        if progress is not None:
            progress(k + 1, runs)

    def counted(found: list[Counter[str]], name: str) -> Counted:
        return Counted.of(tuple(c[name] for c in found), confidence)

    names = dict.fromkeys(q.name for q in translation.queries)
    return Analysis(
        runs,
        confidence,
        {n: counted(outputs, n) for n in names},
        {n: counted(rows, n) for n in stream.types},
        Counted.of(tuple(firings), confidence),
        complete,
    )


def _unheard(element: Element) -> None:
    """The firings of so many runs are not kept."""


def _filled(translation: Translation, net: Net, stream: Stream, rng: random.Random) -> tuple[Marking, Counter[str]]:
    """The marking at the start with a stream on Input, and its rows by type."""
    place = next(p.name for p in net.places.values() if p.role is Role.INPUT)
    tokens: Counter[Any] = Counter()
    count: Counter[str] = Counter()
    for number, row in enumerate(stream.draw(rng), 1):
        tokens[translation.types.token(number, row)] += 1
        count[row.type] += 1
    marking = net.initial.copy()
    marking.tokens[net.holder(place)] = tokens
    return marking, count


def _derived(translation: Translation, simulator: Simulator) -> Counter[str]:
    """How many events of each type are on the statements' own places."""
    found: Counter[str] = Counter()
    for query, prefix in zip(translation.queries, translation.prefixes, strict=True):
        found[query.name] += simulator.count(translation.outputs_of[prefix])
    return found


# --- intervals --------------------------------------------------------------------------------------------------


def wilson(some: int, n: int, confidence: float) -> Interval:
    """Wilson's interval of a share, ``some`` of ``n``.

    >>> low, high = wilson(0, 10, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.2775)
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = some / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


@lru_cache(maxsize=256)
def student(confidence: float, freedom: int) -> float:
    """The t within which Student's distribution has ``confidence``, with ``freedom`` degrees of freedom.

    >>> round(student(0.95, 9), 4), round(student(0.99, 4), 4)
    (2.2622, 4.6041)
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if freedom > 1000:
        # the beginning of Fisher's expansion, by then exact to more digits than are shown
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, 2.0
    while _between(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, freedom) < confidence else (low, middle)
    return (low + high) / 2


def _between(t: float, freedom: int) -> float:
    """The share of Student's distribution from -t to t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = total = cosine if odd else 1.0
    for k in range(3 if odd else 2, freedom, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))
