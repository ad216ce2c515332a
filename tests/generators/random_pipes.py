"""Random graphs of pipes with small histories, right by construction.

All makers are functions of their ``random.Random`` alone, so a failing graph is found again by its seed.  A case has
its text in eSQL, if there is one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.generators.pipes_text import text_of
from tests.generators.random_pipes_functions import KINDS, TEXTS
from tests.generators.random_pipes_graph import Graphs
from tests.textcases.pipes import PipesCase

from occurs.model.occurrence import Occurrence
from occurs.operators.process.tree import Definition, Pipe
from occurs.testing.cases import KINDS as TIMES

#: every way to make a pipe, by name: one per processor
PROCESSORS = tuple(sorted(n.removeprefix("make_") for n in dir(Graphs) if n.startswith("make_")))


def random_pipe(
    rng: random.Random, *, processor: str | None = None, depth: int = 2, most_events: int = 14
) -> PipesCase:
    """One definition; ``processor``: one of :data:`PROCESSORS` that must be the last of it."""
    graphs = Graphs(rng)
    if processor is None:
        pipe = graphs.pipe(rng.choice(KINDS), depth)
    else:
        pipe = graphs.made(processor, depth)
    return _case(rng, [Definition("Out", pipe, about=rng.random() < 0.5)], most_events)


def random_pipes(rng: random.Random, *, depth: int = 2, most_events: int = 14) -> PipesCase:
    """A program of several definitions that share pipes."""
    graphs = Graphs(rng)
    definitions = []
    for i in range(rng.randint(2, 4)):
        kind = rng.choice(KINDS)
        pipe: Pipe = graphs.pipe(kind, rng.randint(1, depth))
        graphs.known.setdefault(kind, []).append(pipe)
        definitions.append(Definition(f"Out{i}", pipe, about=rng.random() < 0.3))
    return _case(rng, definitions, most_events)


def _case(rng: random.Random, definitions: Sequence[Definition], most_events: int) -> PipesCase:
    history = random_events(rng, rng.randint(0, most_events))
    return PipesCase(
        name="random",
        rules=text_of(definitions) or "",
        events=tuple(history),
        kind=TIMES["s"],
        given=tuple(definitions),
        ended=rng.random() < 0.5,
        until=max((e.time for e in history), default=0) + 3 if rng.random() < 0.2 else None,
    )


def random_events(rng: random.Random, count: int) -> list[Occurrence]:
    """Events of X0 and X1 with the attributes v, f, b, k: nulls, ties in time, equal values."""
    time, nulls = rng.choice((0, 0, -3)), rng.choice((0.0, 0.0, 0.15))
    out = []
    for _ in range(count):
        time += rng.choice((0, 1, 1, 1, 2, 5))
        attributes = {
            "v": rng.randint(-2, 6),
            "f": rng.choice((0.5, 1.0, -2.25, 3.0)),
            "b": rng.random() < 0.5,
            "k": rng.choice(TEXTS),
        }
        left = {n: None if rng.random() < nulls else v for n, v in attributes.items()}
        out.append(Occurrence(rng.choice(("X0", "X0", "X1")), time, left))
    return out
