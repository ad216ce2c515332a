"""Nets: firings per second beside SNAKES, what an event costs the longer the input, and a state space.

Priorities, of which SNAKES knows nothing, are applied from outside: the most urgent transitions are asked first, and
the first that has a mode fires it.
"""

from __future__ import annotations

import gc
import importlib.util
import time as clock
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import nets_work
from benchmarks.nets_work import Nets
from benchmarks.report import Report, ratio
from occurs.nets.explore import explore
from occurs.nets.firing import Element
from occurs.nets.net import Net
from occurs.nets.simulate import Simulator

#: steps per second as recorded: SNAKES 0.9.33 (200 rows: on 22 November 2026, two quiet cores), CPN Tools (elsewhere)
SNAKES = {50: 703.0, 200: 595.0}
CPN_TOOLS = {200: 25_100.0, 1000: 3_068.0}
_PEER = Path(__file__).resolve().parent.parent / "tests" / "nets" / "snakes_engine.py"

#: the steps of a run, and the CPU-seconds that it took
Run = Callable[[], tuple[int, float]]


def ours(net: Net, seed: int | None = None) -> Run:
    """The fast simulator to the end; the simulator made beforehand, its firings dropped."""

    def run() -> tuple[int, float]:
        simulator = Simulator(net, seed)
        gc.collect()
        start = clock.process_time()
        simulator.run(each=_unheard)
        return simulator.steps, clock.process_time() - start

    return run


def _unheard(element: Element) -> None:
    pass


def snakes(net: Net) -> Run | None:
    """SNAKES to the end; None if it is not installed."""
    module = _peer()
    if module is None:
        return None

    def run() -> tuple[int, float]:
        peer = module.Snakes(net)
        levels = [[peer.engine.transition(t) for t in peer.levels[level]] for level in sorted(peer.levels)]
        gc.collect()
        start, steps = clock.process_time(), 0
        while _fired(levels):
            steps += 1
        return steps, clock.process_time() - start

    return run


def _fired(levels: list[list[Any]]) -> bool:
    for transitions in levels:
        for t in transitions:
            modes = t.modes()
            if modes:
                t.fire(modes[0])
                return True
    return False


def _peer() -> Any:
    """The tests have the one translation of nets for SNAKES."""
    if importlib.util.find_spec("snakes") is None:
        return None
    spec = importlib.util.spec_from_file_location("snakes_engine", _PEER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_turns(jobs: Mapping[str, Run], repetitions: int, budget: float) -> dict[str, list[tuple[int, float]]]:
    """All jobs in turns; no new round after ``budget`` seconds."""
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in jobs}
    start = clock.perf_counter()
    for number in range(repetitions):
        if number and clock.perf_counter() - start > budget:
            break
        for name, run in jobs.items():
            found[name].append(run())
    return found


def speed(runs: list[tuple[int, float]]) -> float:
    """Steps per CPU-second, the median."""
    return median(steps / max(seconds, 1e-9) for steps, seconds in runs)


def steps(counts: list[int], beside: list[int], repetitions: int, *, peer: bool = True) -> Report:
    """Case 7 over more and more rows.  ``beside``: the numbers of rows at which SNAKES runs, too."""
    out = Report(
        "Nets: case 7, `every (A -> B)`; steps per CPU-second, one thread; all steps counted",
        [
            ("rows", ",d"),
            ("steps", ",d"),
            ("ours", ",.0f"),
            ("SNAKES", ",.0f"),
            ("ours / SNAKES", ".0f"),
            ("ours / SNAKES at 200", ".0f"),
            ("by 1,000 rows", ".2f"),
            ("at random", ",.0f"),
            ("black steps", ",d"),
            ("black", ",.0f"),
            ("rows/s", ",.0f"),
            ("spread", ".2f"),
            ("SNAKES*", ",.0f"),
            ("CPN Tools*", ",.0f"),
        ],
        notes=[
            "steps, ours, at random: the net without black transitions; black, rows/s: the one with them. Wanted: 100 "
            "times SNAKES at 200 rows, 16 times its rate at 200 rows with 1,000, at 10,000 at least 0.7 of the rate "
            "at 1,000. spread: slowest by fastest run of `ours`. * recorded on another day and machine.",
        ],
    )
    nets = {n: Nets.of(7, nets_work.noise(n)) for n in counts}
    jobs: dict[str, Run] = {}
    for n, pair in nets.items():
        jobs[f"ours {n}"], jobs[f"random {n}"], jobs[f"black {n}"] = (
            ours(pair.encoded),
            ours(pair.encoded, 1),
            ours(pair.black),
        )
        other = snakes(pair.encoded) if peer and n in beside else None
        if other is not None:
            jobs[f"snakes {n}"] = other
    if not any(name.startswith("snakes") for name in jobs):
        out.notes.append("No SNAKES here: `pip install SNAKES`.")
    for run in jobs.values() if repetitions > 1 else ():
        run()
    found = in_turns(jobs, repetitions, 240.0)
    rates = {name: speed(runs) for name, runs in found.items()}
    for n in counts:
        (encoded, _), (drawn, _), (black, _) = (found[f"{job} {n}"][0] for job in ("ours", "random", "black"))
        nets_work.check(n, encoded, black)
        if any(made != encoded for made, _ in [*found.get(f"snakes {n}", []), (drawn, 0.0)]):
            raise AssertionError(f"case 7, {n} rows: SNAKES or a random run took other than {encoded} steps")
        seconds = [s for _, s in found[f"ours {n}"]]
        rate, theirs = rates[f"ours {n}"], rates.get(f"snakes {n}")
        out.add(
            n,
            encoded,
            rate,
            theirs,
            ratio(rate, theirs),
            ratio(rate, rates.get("snakes 200")),
            ratio(rate, rates.get("ours 1000")),
            rates[f"random {n}"],
            black,
            rates[f"black {n}"],
            n * rates[f"black {n}"] / black,
            max(seconds) / max(min(seconds), 1e-9),
            SNAKES.get(n),
            CPN_TOOLS.get(n),
        )
    return out


def spaces(repetitions: int) -> Report:
    """The state spaces of case 8 over the rows of Table 1."""
    out = Report(
        "Nets: state spaces of case 8, `every A -> every B`, over Table 1",
        [("net", ""), ("nodes", ",d"), ("arcs", ",d"), ("seconds", ".2f"), ("nodes/s", ",.0f"), ("spread", ".2f")],
        notes=["seconds: CPU-seconds, the median. Wanted: less than 3 for the net without black transitions."],
    )
    nets = Nets.of(8, nets_work.TABLE_1)
    for name, net, wanted in (("PCPN", nets.encoded, (3033, 3356)), ("BPCPN", nets.black, (493, 492))):
        seconds = []
        for _ in range(repetitions):
            gc.collect()
            start = clock.process_time()
            space = explore(net)
            seconds.append(clock.process_time() - start)
            size = (len(space.nodes), len(space.steps))
            if size != wanted:
                raise AssertionError(f"case 8, {name}: {size} nodes and arcs, not {wanted}")
        middle = median(seconds)
        spread = max(seconds) / max(min(seconds), 1e-9)
        out.add(name, *wanted, middle, wanted[0] / max(middle, 1e-9), spread)
    return out


def reports(quick: bool) -> Iterator[Report]:
    yield steps([50, 100, 200, 1000, 10_000], [50, 200], 3 if quick else 7)
    yield spaces(3 if quick else 7)
