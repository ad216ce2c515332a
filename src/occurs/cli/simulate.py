"""``occurs simulate``: run a net, or explore all that it can do."""

from __future__ import annotations

import sys
import time
from collections import Counter

import click

from occurs.cli import _input, _nets, _options
from occurs.cli._output import check_targets, counted, put
from occurs.cli._progress import counting
from occurs.errors import UsageProblem
from occurs.nets.firing import Element
from occurs.nets.ml import value_text
from occurs.nets.net import Marking, Net


@click.command("simulate")
@click.argument("sources", nargs=-1, required=True, metavar="RULES.epl...|NET")
@_options.inputs(required=False)
@click.option("--language", metavar="NAME", help="Language of all rules; overrides the suffix.")
@click.option("--seed", type=int, metavar="N", help="Choose enabled firings at random with this seed.")
@click.option(
    "--deterministic", is_flag=True, help="Choose the first enabled firing in the order of the net (default)."
)
@click.option("--steps", type=click.IntRange(0), metavar="N", help="Maximum number of firings.")
@click.option("--trace", is_flag=True, help="Print every firing with the values of its variables on stderr.")
@click.option(
    "--black/--encoded", default=True, show_default=True, help="Use black transitions, or encode them with priorities."
)
@_options.first
@_nets.sink_exits
@click.option(
    "--out", "-o", metavar="PATH", help="Write the detections to a .jsonl, .csv or .parquet file, or a directory."
)
@_options.overwrite
@_nets.max_events
@click.option("--space", is_flag=True, help="Explore the state space and print a report like that of CPN Tools.")
@click.option(
    "--random", "random_file", metavar="FILE",
    help="Run on random streams described in FILE (.toml, .json), print counts.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(1), default=100, show_default=True, metavar="N", help="Number of runs of --random."
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Maximum number of markings that --space explores.",
)
def command(
    given: _options.Input,
    sources: tuple[str, ...],
    language: str | None,
    seed: int | None,
    deterministic: bool,
    steps: int | None,
    trace: bool,
    black: bool,
    first: int,
    sink_exits: bool,
    out: str | None,
    overwrite: bool,
    max_events: int,
    space: bool,
    random_file: str | None,
    runs: int,
    max_states: int,
) -> None:
    """Simulate the net of EPL statements, or a net from a file.

    For rules, the detections are printed on stdout; for a NET (.cpn, .net.json), the final marking.  The number of
    firings of each transition is printed on stderr.  With --space, every order of firings is explored; exit status 1 if
    there are more than --max-states markings.

    With --random, the net runs on many random streams.  FILE describes the distributions of types, gaps and values
    (docs/nets.md).  The number of detections of each type is printed with confidence intervals.
    """
    if seed is not None and deterministic:
        raise UsageProblem.of("bad-option", "--seed and --deterministic exclude each other", hint="use one of them")
    check_targets({"--out": None if out == "-" else out}, given.events, overwrite=overwrite)
    if random_file is not None:
        if given.events or space or trace or out:
            text = "--random cannot be combined with --events, --space, --trace or --out"
            raise UsageProblem.of("bad-option", text, hint="--random only prints counts")
        _counted(
            sources, given, language, random_file, runs, 0 if seed is None else seed, steps, black, first, sink_exits
        )
        return
    loaded = _nets.load(sources, given, language, first=first, sink_exits=sink_exits, max_events=max_events, runs=True)
    if out is not None and loaded.translation is None:
        text = f"--out {out}: {sources[0]} is a net and has no detections"
        raise UsageProblem.of("bad-option", text, hint="--out is for EPL rules")
    net = loaded.with_encoding(not black)
    if space:
        _explored(net, max_states)
        return
    marking = _run(net, seed, steps, trace)
    if loaded.translation is not None:
        put(loaded.outputs(marking), out)
    else:
        click.echo(marking_text(net, marking))


def _run(net: Net, seed: int | None, steps: int | None, trace: bool) -> Marking:
    from occurs.nets.simulate import Simulator

    colours = dict(net.variables)
    fired: Counter[str] = Counter()

    def told(element: Element) -> None:
        name, binding = element
        fired[name] += 1
        if trace:
            values = ", ".join(f"{v} = {value_text(x, colours[v])}" for v, x in sorted(binding.items()))
            click.echo(f"{fired.total():>6}  {name}  {values}", err=True)

    began = time.monotonic()
    simulator = Simulator(net, seed)
    with _input.doing("running"):
        done = simulator.run(steps, told)
    ended = "no transition is enabled" if not simulator.enabled() else "stopped by --steps"
    each = ", ".join(f"{name}: {n:,}" for name, n in fired.items())
    fired_text = counted(fired.total(), "firing") + (f" ({each})" if each else "")
    click.echo(f"{fired_text} in {time.monotonic() - began:.1f} s, {ended}", err=True)
    return done.marking


def _counted(
    sources: tuple[str, ...],
    given: _options.Input,
    language: str | None,
    file: str,
    runs: int,
    seed: int,
    steps: int | None,
    black: bool,
    first: int,
    sink_exits: bool,
) -> None:
    """Counts over random streams, as a table."""
    from occurs.languages.epl.nets.random_runs import analysis
    from occurs.nets.random_input import read

    stream = read(file)
    loaded = _nets.load(sources, given, language, first=first, sink_exits=sink_exits, start=stream.start)
    if loaded.translation is None:
        text = f"--random cannot be used with the net {sources[0]}"
        raise UsageProblem.of("bad-option", text, hint="random streams need EPL rules, which declare the event types")
    with counting("running", runs) as told:
        done = analysis(loaded.translation, stream, runs, seed, encoded=not black, limit=steps, progress=told)
    rows = [("", "mean", f"{done.confidence:.0%} interval", "least", "most", "runs with any")]
    for what, counts in (("in ", done.rows), ("", done.outputs), ("", {"firings": done.firings})):
        for name, c in counts.items():
            interval = "" if c.interval is None else f"{c.interval[0]:.2f} .. {c.interval[1]:.2f}"
            low, high = c.share_interval
            share = f"{c.share:.0%} ({low:.0%} .. {high:.0%})"
            rows.append((what + name, f"{c.mean:.2f}", interval, str(c.least), str(c.most), share))
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for r in rows:
        cells = (c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True))
        click.echo("  ".join((r[0].ljust(widths[0]), *cells)).rstrip())
    click.echo(f"{done.runs:,} runs" + ("" if done.complete else f"; some stopped after {steps:,} firings"), err=True)


def _explored(net: Net, limit: int) -> None:
    from occurs.nets.explore import explore
    from occurs.nets.report import report

    began = time.monotonic()
    with _input.doing("exploring"):
        found = explore(net, limit)
    click.echo(report(found, time.monotonic() - began), nl=False)
    sys.stdout.flush()
    if not found.complete:
        raise SystemExit(1)


def marking_text(net: Net, marking: Marking) -> str:
    """The tokens of every place that has any, fused places once."""
    from occurs.nets.report import multiset

    lines = [f"{p}: {multiset(c, net.places[p].colour, '  ')}" for p, c in marking.tokens.items() if c]
    lines += [f"time: {marking.time}"] if net.timed else []
    return "\n".join(lines) or "no tokens"
