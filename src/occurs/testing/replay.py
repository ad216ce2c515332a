"""A replay of events as a stream, in this process: out of order, late, and with restarts from saved state."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.engine import Engine
from occurs.errors import UsageProblem
from occurs.hosts.local import detect, history_rows
from occurs.loading import load
from occurs.model.source import InputOptions
from occurs.model.ticks import duration
from occurs.model.time import TimeKind, ceil_ticks
from occurs.program import Program
from occurs.testing.rules import detected, difference


@dataclass(frozen=True)
class Replayed:
    """The result of a replay.

    Attributes:
        found: A table of detections per reported type, in order of time.
        late: The number of events that arrived after the frontier had passed them, and were skipped.
        restarts: The number of restarts from saved state.
        difference: What differs from the detections in the complete history, as text; None if nothing does.
    """

    found: Mapping[str, pa.Table]
    late: int
    restarts: int
    difference: str | None


class _Tables(dict[str, pa.Table]):
    """Tables with the method that results of runs have."""

    def arrow(self, name: str) -> pa.Table:
        return self[name]


def replay(
    rules: Program | str | Path | Sequence[str | Path],
    events: Any,
    *,
    disorder: str | int = 0,
    watermark: str | int | None = None,
    restarts: int = 3,
    batches: int = 20,
    seed: int = 0,
    time_unit: str | None = None,
    zone: str = "UTC",
    ended: bool = True,
) -> Replayed:
    """Replay events as a stream and compare with the complete history.

    Args:
        rules: A program, or one or more files of rules.
        events: A table, or a mapping from event types to tables, as for :meth:`occurs.Program.detect`.
        disorder: How late an event arrives at most, a duration such as ``"10 s"`` or ticks.  The delay of each event is
            random.
        watermark: How long the stream waits for late events, as ``occurs follow --watermark``.  None: as long as the
            disorder, so that no event is late.
        restarts: How often the state is saved and a new engine continues from it.
        batches: The number of micro-batches.
        seed: Of the random order of arrival, cuts and restarts.
        time_unit: The unit of integer times.
        zone: The time zone of timers that do not name one.
        ended: Whether the stream is closed behind the last event.

    Returns:
        The detections, and how they differ from those in the complete history.

    Raises:
        InputProblem: If the events cannot be read.
        UsageProblem: If an option is invalid.
    """
    if batches < 1 or restarts < 0:
        raise UsageProblem.of("bad-option", "replay: needs batches >= 1 and restarts >= 0")
    program = _program(rules).checked.adjusted(zone=zone)
    history = program.history(events, InputOptions(time_unit=time_unit))
    stage = program.plan(history.schemas, history.kind)
    whole = detect(program, history, ended=ended, progress=False)
    delay = _ticks(disorder, history.kind, "disorder")
    patience = delay if watermark is None else _ticks(watermark, history.kind, "watermark")
    names = [t for t in stage.reported if t not in stage.notices]
    if history.clock is None:
        return Replayed({t: whole.arrow(t) for t in names}, 0, 0, None)
    rows = history_rows(stage, history, False)
    start, until = history.clock
    draw = random.Random(seed)
    # all rows in the order of their arrival: (when, type, place)
    arriving = sorted(
        (int(time) + draw.randint(0, delay), t, place) for t in rows for place, time in enumerate(rows[t].time)
    )
    cuts = sorted(draw.sample(range(1, len(arriving)), min(batches, len(arriving)) - 1)) if len(arriving) > 1 else []
    parts = [arriving[a:b] for a, b in zip([0, *cuts], [*cuts, len(arriving)])]
    restarted = set(draw.sample(range(len(parts)), min(restarts, len(parts))))
    engine, late = Engine(stage), 0
    waiting: dict[str, list[int]] = {t: [] for t in rows}
    frontier: int | None = None
    newest = start
    made: dict[str, list[pa.Table]] = {t: [] for t in names}
    for number, part in enumerate(parts):
        for _, t, place in part:
            time = int(rows[t].time[place])
            newest = max(newest, time)
            if frontier is not None and time <= frontier:
                late += 1
            else:
                waiting[t].append(place)
        last = number == len(parts) - 1
        passed = until if last else newest - patience - 1
        if not last and (passed < start or (frontier is not None and passed <= frontier)):
            continue
        frontier = passed
        ready = {}
        for t, places in waiting.items():
            at = np.array(sorted(places), np.int64)
            now = rows[t].time[at] <= frontier
            ready[t] = rows[t].take(at[now])
            waiting[t] = at[~now].tolist()
        done = engine.advance({t: r for t, r in ready.items() if len(r)}, frontier, start, closing=last and ended)
        for t in names:
            made[t].append(done.table(t))
        if number in restarted:
            engine = Engine.restore(stage, engine.save())
    found = _Tables({t: pa.concat_tables(tables, promote_options="permissive") for t, tables in made.items()})
    one, other = detected(whole, names), detected(found, names)
    return Replayed(found, late, len(restarted), difference(one.rows, other.rows, history.kind))


def _ticks(value: str | int, kind: TimeKind, option: str) -> int:
    return ceil_ticks(duration(value, kind, option))


def _program(rules: Program | str | Path | Sequence[str | Path]) -> Program:
    if isinstance(rules, Program):
        return rules
    return load(*([rules] if isinstance(rules, str | Path) else rules))
