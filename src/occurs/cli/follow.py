"""``occurs follow``: a stream, live."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import pyarrow as pa

from occurs.cli import _input, _options
from occurs.cli._output import check_targets, ended, left_out, not_done, rich_table, rows
from occurs.cli._output import never as tell_never
from occurs.connect.installed import need_pyspark
from occurs.connect.places import split_type
from occurs.errors import UsageProblem
from occurs.follow.acting import Acts, acting, counted, definitions
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.figures import Line, Totals
from occurs.follow.follower import Asked, Follower
from occurs.follow.outputs import Outputs
from occurs.follow.places import source_of
from occurs.follow.sinks import SUFFIXES, Files, Lines, Shown, Sink, Topic
from occurs.hosts.windows import unsupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command("follow")
@_options.rules
@_options.inputs(required=True, live=True)
@_options.severity
@click.option("--checkpoint", required=True, metavar="DIR", help="Where it notes what is done, to go on after a stop.")
@click.option("--out", "-o", metavar="DIR|kafka://..", help="A file per micro-batch there; - is JSON lines on stdout.")
@click.option(
    "--out-format", type=click.Choice(list(SUFFIXES)), default="jsonl", show_default=True, help="Of the files."
)
@click.option("--watermark", metavar="DURATION", help="How late an event may come: 10s, 5min.  [default: not at all]")
@click.option("--trigger", metavar="DURATION", help="How often to look for events.  [default: 1s; a record: at once]")
@click.option("--speed", type=float, metavar="X", help="Replay recorded events X times as fast as they happened.")
@click.option("--metrics", metavar="PATH", help="Append a JSON object per micro-batch.")
@click.option("--late", metavar="DIR", help="Write the rows that came too late, as they came (JSON lines).")
@click.option("--bad", metavar="DIR", help="Write the rows left out, with reason and place (implies --bad-rows skip).")
@_options.timeouts
@_options.never
@click.option("--because", is_flag=True, help="Add every detection's label and constituents, with their attributes.")
@click.option("--label", is_flag=True, help="Add the label of every detection.")
@click.option("--provisional", is_flag=True, help="Tell what still holds before it has ended, too (column final).")
@click.option("--only", metavar="TYPE,..", help="Report these types only.")
@click.option("--actions", is_flag=True, help="Tell on stderr what triggers notify (FTL, PTL).")
@_options.instances
@_options.formula
@_options.windows
@click.option("--buckets", type=int, default=4, show_default=True, help="Parts of the state; fixed for a checkpoint.")
@click.option(
    "--replay-from", multiple=True, metavar="PATH|TYPE=PATH", help="Recorded events, for the past of new rules."
)
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    strict: bool,
    require_bounds: bool,
    checkpoint: str,
    out: str | None,
    out_format: str,
    watermark: str | None,
    trigger: str | None,
    speed: float | None,
    metrics: str | None,
    late: str | None,
    bad: str | None,
    timeouts: str | None,
    never: str | None,
    because: bool,
    label: bool,
    provisional: bool,
    only: str | None,
    actions: bool,
    max_instances: int | None,
    max_formula: int | None,
    buckets: int,
    replay_from: tuple[str, ...],
    window: str | None,
    step: str | None,
) -> None:
    """Find what RULES define in events while they come.

    Without --out the detections are shown as tables, or as JSON lines if stdout is no terminal.  Ctrl-C stops after the
    current micro-batch; the same command goes on from there.
    """
    began = time.monotonic()
    if window is not None or step is not None:
        raise unsupported()
    program = _input.load(
        rules, language, strict=strict, require_bounds=require_bounds, max_formula=max_formula
    )  # fmt: skip
    targets = {"--out": None if out == "-" else out, "--late": late, "--bad": bad, "--timeouts": timeouts}
    targets["--never"] = never
    if never is not None and not program.tells_never:
        text = f"--never {never}: no definition of this program has such rows"
        raise UsageProblem.of("bad-option", text, hint="they come from triggers that look ahead, in FTL")
    directories = {o: None if t and _is_topic(t) else t for o, t in targets.items()}
    check_targets(directories, given.events, overwrite=True)  # it goes on in its own directories, and takes no others
    source = source_of(given.events, speed)
    for option, target in {**targets, "--checkpoint": checkpoint, "--metrics": metrics}.items():
        if target and not _is_topic(target):
            source.refuse_inside(option, target)
    facts = _input.facts(given)
    line = Line()
    types = None if only is None else tuple(t.strip() for t in only.split(","))
    acts = None
    if actions:
        program, carried = acting(rules, language, max_formula)

        def tell(text: str) -> None:
            with line.aside():
                click.echo(text, err=True)

        acts = Acts(carried, tell, types)
    program = program.adjusted(
        zone=given.zone, facts=facts, strict=strict, require_bounds=require_bounds, provisional=provisional,
        timeouts=timeouts is not None, max_instances=max_instances,
    ).noticing()  # fmt: skip
    program = program.reasoning() if because else program
    asked = Asked(
        source,
        given.options(skip=bad is not None),
        watermark,
        trigger,
        given.ended,
        because,
        label,
        types,
        buckets,
        given.zone,
        replay_from,
    )
    need_pyspark()  # before anything is written
    topics = any(map(_is_topic, [*given.events, *(t for t in targets.values() if t)]))
    session = functools.cache(functools.partial(_session, topics))

    def side(option: str, target: str | None, suffix: str, checkpoint: Checkpoint) -> Files | Topic | None:
        if target is None:
            return None
        if _is_topic(target):
            return Topic(target, f"{checkpoint.id}{option[1:]}", checkpoint.path / "kafka", session)
        return Files(target, suffix, checkpoint.id, option)

    def outputs(checkpoint: Checkpoint) -> Outputs:
        found: Sink
        if out is None and sys.stdout.isatty():
            found = Shown(rich_table, line)
        else:
            found = side("--out", None if out == "-" else out, out_format, checkpoint) or Lines()
        too_late, wrong = side("--late", late, "jsonl", checkpoint), side("--bad", bad, out_format, checkpoint)
        partial = side("--timeouts", timeouts, out_format, checkpoint)
        suffixes = [out_format if isinstance(sink, Files) else None for sink in (found, partial)]
        no_more = side("--never", never, out_format, checkpoint) or Told()
        return Outputs(found, too_late, wrong, suffixes[0], partial, suffixes[1], no_more)

    follower = Follower(program, asked, _input.warn, acts)
    try:
        with line:
            went = follower.follow(checkpoint, outputs, session, metrics, line.show)
    except KeyboardInterrupt:  # while it was starting, or a second time
        click.echo("stopped; a micro-batch that was not done is done at the next start", err=True)
        return
    if not went:
        click.echo(f"{checkpoint}: this stream has been read to its end; a new --checkpoint begins anew", err=True)
        return
    lasting = sorted(t for t in program.external if t in program.declared and program.declared[t].lasting)
    _summary(follower.totals, time.monotonic() - began, lasting)
    if acts is not None:
        not_done(0, acts.statements)
    else:
        not_done(*counted(definitions(rules, language)[0], follower.totals.found))
    if timeouts is not None:
        ended(follower.totals.ended)


class Told:
    """Notices of triggers that can fire no more, said on stderr."""

    def write(self, batch: int, tables: Mapping[str, pa.Table]) -> None:
        tell_never(tables)


def _is_topic(text: str) -> bool:
    return split_type(text)[1].startswith("kafka:")


def _session(topics: bool) -> SparkSession:
    if topics:
        from occurs.connect.kafka import kafka_session

        return kafka_session()
    from occurs.connect.spark import local_session

    return local_session()


def _summary(totals: Totals, seconds: float, lasting: list[str]) -> None:
    """How many of each type in this run, and what was left out, on stderr.  ``lasting``: types of input that last."""
    found = ", ".join(f"{name} {n:,}" for name, n in totals.found.items()) or "nothing"
    batches = totals.batches
    many = "micro-batch" if batches == 1 else "micro-batches"
    click.echo(f"found in {rows(totals.counts['rows'])}: {found} ({batches:,} {many}, {seconds:.1f} s)", err=True)
    left_out(totals.counts)
    if totals.counts["late"]:
        click.echo(f"left out {rows(totals.counts['late'])} that came too late (--watermark, --late)", err=True)
        if lasting:
            names = ", ".join(f"`{t}`" for t in lasting)
            text = f"a row of {names} comes at its time: delivered when it ends it is late by its length"
            click.echo(f"hint: {text}; declare it `as changes`, or give a longer --watermark", err=True)
