"""Push, pull and whole columns give the same on random pipes, and what the reference semantics says."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.generators.random_pipes import PROCESSORS, random_pipe, random_pipes
from tests.textcases.pipes import alike, difference, plain, reference, rows

from occurs.languages.esql.semantics import Run
from occurs.model.occurrence import Occurrence
from occurs.operators.process.kinds import ANY
from occurs.operators.process.network import fused
from occurs.operators.process.tree import every_node, nodes
from occurs.pipes.box import Box
from occurs.pipes.pipe import Pipe
from occurs.pipes.running import types_of
from occurs.testing.cases import KINDS


class Ready(Box):
    """A pipe of a graph, as a box."""

    def __init__(self, made):
        self.ready = made
        super().__init__(None, 0, 1)

    def kinds_for(self, given):
        return [ANY]

    def make(self, inputs):
        return [self.ready]


def comparable(values):
    """A value of the interface as the comparison has it: maps as pairs, sets as sorted lists."""
    return [as_compared(v) for v in values]


def as_compared(value):
    if isinstance(value, dict):
        names = all(isinstance(k, str) and k in ("key", "value", "p", "q", "r", "v", "f", "b", "k") for k in value)
        parts = {k: as_compared(v) for k, v in value.items()}
        return parts if names and value else list(parts.items())
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=lambda v: (v is not None, v))
    return [as_compared(v) for v in value] if isinstance(value, (list, tuple)) else value


def unordered(value):
    """Bags come in any order."""
    return sorted(value, key=repr) if isinstance(value, list) else value


def columns(case, types):
    """The events of each type as a list; item i of each is at time i."""
    return {t: [dict(e.attributes) for e in case.events if e.type == t] for t in sorted(types)}


def pushed(pipe, sources, ended):
    run = pipe.open()
    out = []
    for time in range(max(map(len, sources.values()), default=0)):
        for name, items in sources.items():
            if time < len(items):
                out += run.push(items[time], to=name, time=time)
    return out + (run.end() if ended else [])


def by_reference(definition, sources, ended):
    """Events at the same time are in the order of the names of their sources, as they are pushed."""
    history = [
        Occurrence(name, time, item, sequence=rank)
        for rank, (name, items) in enumerate(sources.items())
        for time, item in enumerate(items)
    ]
    run = Run([definition], history, kind=KINDS["none"], ended=ended)
    return [plain(f.value) for f in run.of(definition)]


def check(definition, case):
    pipe = Pipe(Ready(definition.pipe))
    if any(not isinstance(w, int) and not w.ticks for w in widths(definition)):
        return  # durations with units have no meaning over positions
    sources = columns(case, types_of(pipe))
    expected = by_reference(definition, sources, case.ended)
    answers = [pipe.run(sources, ended=case.ended), pushed(pipe, sources, case.ended)]
    if case.ended:
        answers.append(list(pipe.pull(sources)))
    for values in answers:
        found = comparable(values)
        assert alike([unordered(v) for v in found], [unordered(v) for v in expected]), (found, expected)


def widths(definition):
    """The durations that processors have."""
    for node in every_node([definition.pipe]):
        width = getattr(node.processor, "width", None)
        if width is not None:
            yield width


@pytest.mark.parametrize("processor", [p for p in PROCESSORS if p not in ("every", "time_window")])
def test_push_pull_and_columns_give_the_same(processor):
    for seed in range(3):
        case = random_pipe(random.Random(f"push {processor} {seed}"), processor=processor, most_events=10)
        check(case.definitions[0], case)


@pytest.mark.parametrize("processor", ["lift", "tuple"])
def test_functions_of_functions_give_the_same_as_one(processor):
    fewer = 0
    for seed in range(12):
        case = random_pipe(random.Random(f"fused {processor} {seed}"), processor=processor, depth=3)
        (definition,) = case.definitions
        (pipe,) = fused([definition.pipe])
        fewer += len(nodes([pipe])) < len(nodes([definition.pipe]))
        found = reference(replace(case, given=(replace(definition, pipe=pipe),)))
        assert difference(rows(found), rows(reference(case))) is None, seed
    assert fewer


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300))
def test_push_pull_and_columns_give_the_same_for_programs(seed):
    case = random_pipes(random.Random(f"programs {seed}"), depth=3)
    for definition in case.definitions:
        check(definition, case)
