"""``occurs follow``: a stream, live."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from occurs.cli import _input, _monitor, _options
from occurs.cli._messages import logged, say
from occurs.cli._output import check_targets, counted, detections, ended, left_out, not_done, rich_table
from occurs.cli._output import never as tell_never
from occurs.connect.places import format_of, here, is_address, is_table, split_type
from occurs.connect.spark import need_pyspark
from occurs.errors import UsageProblem
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.follower import Asked, Follower, reached
from occurs.follow.metrics import Line, Totals
from occurs.follow.sinks import (
    SUFFIXES,
    Files,
    FileSink,
    Lines,
    Objects,
    Outputs,
    ParquetObjects,
    Shown,
    Sink,
    Table,
    Topic,
)
from occurs.follow.sources import Source, source_of
from occurs.follow.stream_actions import Acts, acting, definitions
from occurs.follow.stream_actions import counted as counted_actions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command("follow")
@logged("occurs.follow")
@_options.rules
@_options.inputs(required=True, live=True)
@_options.severity
@click.option(
    "--checkpoint", required=True, metavar="DIR|URL", help="Folder for progress and state; a restart resumes from it."
)
@click.option(
    "--out",
    "-o",
    metavar="DIR|URL|TABLE",
    help="Write to a directory or an address (s3a://..), one file per micro-batch, a topic (kafka://..), or a table "
    "of Spark (table:NAME, delta:PATH, iceberg:NAME); - is stdout (JSON lines).",
)
@click.option(
    "--out-format",
    type=click.Choice(list(SUFFIXES)),
    default="jsonl",
    show_default=True,
    help="Format of the files of --out.",
)
@click.option(
    "--watermark", metavar="DURATION", help="How late an event may arrive, such as 10s or 5min.  [default: 0]"
)
@click.option(
    "--trigger",
    metavar="DURATION",
    help="Time between micro-batches, such as 5s.  [default: 1s; a replay has no pauses]",
)
@click.option("--speed", type=float, metavar="X", help="Replay recorded events at X times their original speed.")
@click.option("--metrics", metavar="PATH", help="Append one JSON object per micro-batch to PATH.")
@_monitor.option
@click.option("--late", metavar="DIR|URL", help="Write late rows as they arrived (JSON lines).")
@click.option(
    "--bad", metavar="DIR|URL", help="Write the skipped rows, each with reason and place (implies --bad-rows skip)."
)
@_options.timeouts("DIR|URL")
@_options.never("DIR|URL")
@_options.option("because")
@_options.option("with_label", "--label")
@_options.option("provisional")
@_options.option("only", metavar="TYPE,..")
@click.option("--actions", is_flag=True, help="Print the notifications of triggers on stderr (FTL, PTL).")
@_options.instances
@_options.formula
@_options.windows
@click.option("--buckets", type=int, help="Number of tasks that share the state.  [default: one per core]")
@click.option(
    "--ranges",
    type=int,
    help="Number of key ranges of the state, the most --buckets; fixed per checkpoint.  [default: 4 per core, min. 8]",
)
@_options.option("divide", type=int, default=None)
@click.option(
    "--limit",
    type=int,
    metavar="MB",
    help="Most input per bucket in a micro-batch; 0: no limit.  [default: 256 for one directory, else no limit]",
)
@click.option(
    "--replay-from",
    multiple=True,
    metavar="PATH|TYPE=PATH",
    help="Recorded events that fill the past of new rules.  Repeatable.",
)
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    strict: bool,
    require_bounds: bool,
    checkpoint: str,
    out: str | None,
    out_format: str,
    watermark: str | None,
    trigger: str | None,
    speed: float | None,
    metrics: str | None,
    monitor: str | None,
    otlp: str | None,
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
    max_steps: int | None,
    max_formula: int | None,
    buckets: int | None,
    ranges: int | None,
    divide: int | None,
    limit: int | None,
    replay_from: tuple[str, ...],
    window: str | None,
    step: str | None,
) -> None:
    """Detect in a live stream, or in a replay of recorded events.

    Prints the detections of RULES as events arrive.  Without --out, detections are printed as tables on a terminal and
    as JSON lines otherwise.  Ctrl-C stops after the current micro-batch; the same command resumes from there.
    """
    began = time.monotonic()
    program = _input.load(
        rules, language, strict=strict, require_bounds=require_bounds, max_formula=max_formula, values=values
    ).checked  # fmt: skip
    targets = {"--out": None if out == "-" else out, "--late": late, "--bad": bad, "--timeouts": timeouts}
    targets = {option: target and here(target) for option, target in {**targets, "--never": never}.items()}
    if never is not None and not program.tells_never:
        text = f"--never {never}: none of these triggers can become unable to fire"
        raise UsageProblem.of("bad-option", text, hint="only FTL triggers that look ahead can become unable to fire")
    directories = {o: None if t and _no_directory(t) else t for o, t in targets.items()}
    check_targets(directories, given.events, overwrite=True)  # it goes on in its own directories, and takes no others
    checkpoint = here(checkpoint)
    _check_addresses(targets)
    source = source_of(given.events, speed)
    for option, target in {**targets, "--checkpoint": checkpoint, "--metrics": metrics}.items():
        if target and (is_address(target) or not _no_directory(target)):
            source.refuse_inside(option, target)
    facts = _input.facts(given)
    line = Line()
    types = None if only is None else tuple(t.strip() for t in only.split(","))
    acts = None
    if actions:
        program, carried = acting(rules, language, max_formula, values)

        def tell(text: str) -> None:
            with line.aside():
                say(text)

        acts = Acts(carried, tell, types)
    program = program.adjusted(
        zone=given.zone, facts=facts, strict=strict, require_bounds=require_bounds, provisional=provisional,
        timeouts=timeouts is not None, max_instances=max_instances, max_steps=max_steps, window=window, step=step,
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
        ranges,
        divide,
        limit,
        given.zone,
        replay_from,
    )
    need_pyspark()  # before anything is written
    written = [t for t in targets.values() if t]
    topics = any(map(_is_topic, [*given.events, *written]))
    session = functools.cache(functools.partial(_session, source, topics, list(filter(is_table, written))))

    def side(option: str, suffix: str, checkpoint: Checkpoint) -> FileSink | Topic | Table | None:
        target = targets[option]
        if target is None:
            return None
        if is_table(target):
            return Table(target, option, checkpoint.id, session)
        if _is_topic(target):
            return Topic(target, f"{checkpoint.id}{option[1:]}", checkpoint.store, session)
        if is_address(target):
            made = ParquetObjects if suffix == "parquet" else Objects
            return made(reached(session(), target, option), suffix, checkpoint.id, option, checkpoint.check_held)
        return Files(target, suffix, checkpoint.id, option)

    def outputs(checkpoint: Checkpoint) -> Outputs:
        found: Sink
        if out is None and sys.stdout.isatty():
            found = Shown(rich_table, line)
        else:
            found = side("--out", out_format, checkpoint) or Lines()
        too_late, wrong = side("--late", "jsonl", checkpoint), side("--bad", out_format, checkpoint)
        partial = side("--timeouts", out_format, checkpoint)
        suffixes = [out_format if isinstance(sink, FileSink) else None for sink in (found, partial)]
        no_more = side("--never", out_format, checkpoint) or Told()
        return Outputs(found, too_late, wrong, suffixes[0], partial, suffixes[1], no_more)

    try:
        with _monitor.monitored(monitor, otlp, "follow") as to, line:
            follower = Follower(program, asked, _input.warn, acts, to)
            went = follower.follow(checkpoint, outputs, session, metrics, line.show)
    except KeyboardInterrupt:  # while it was starting, or a second time
        say("stopped; the next start repeats the incomplete micro-batch")
        return
    if not went:
        say(f"{checkpoint}: this stream was already read to its end; use a new --checkpoint to read it again")
        return
    lasting = sorted(t for t in program.external if t in program.declared and program.declared[t].lasting)
    _summary(follower.totals, time.monotonic() - began, lasting)
    if acts is not None:
        not_done(0, acts.statements)
    else:
        not_done(*counted_actions(definitions(rules, language)[0], follower.totals.found))
    if timeouts is not None:
        ended(follower.totals.ended)


class Told:
    """Notices of triggers that can no longer fire, printed on stderr."""

    def write(self, batch: int, tables: Mapping[str, pa.Table]) -> None:
        tell_never(tables)


def _is_topic(text: str) -> bool:
    return split_type(text)[1].startswith("kafka:")


def _no_directory(text: str) -> bool:
    return _is_topic(text) or is_table(text) or is_address(text)


def _check_addresses(targets: Mapping[str, str | None]) -> None:
    """Raise UsageProblem (``bad-option``) for an address with the name of a file, or one that two options name."""
    taken: dict[str, str] = {}
    for option, target in targets.items():
        if not target or not is_address(target):
            continue
        folder = target.rstrip("/")
        if format_of(Path(folder)) is not None:
            hint = "use a name without a suffix; --out-format chooses jsonl, csv, .."
            text = f"{option} {target}: a stream writes to a folder, with files for each micro-batch"
            raise UsageProblem.of("bad-option", text, hint=hint)
        if taken.setdefault(folder, option) != option:
            text = f"{option} {target} is the address of {taken[folder]}, too"
            raise UsageProblem.of("bad-option", text, hint="use an address for each of them")


def _session(source: Source, topics: bool, tables: list[str]) -> SparkSession:
    """``tables``: that are written to."""
    if tables or source.name == "table":
        from occurs.connect.kafka.session import KAFKA
        from occurs.follow.tables import stream_session

        return stream_session(tables, source, [KAFKA] if topics else [])
    if topics:
        from occurs.connect.kafka import kafka_session

        return kafka_session()
    from occurs.connect.spark import local_session

    return local_session()


def _summary(totals: Totals, seconds: float, lasting: list[str]) -> None:
    """How many detections of each type in this run, and which rows were skipped, on stderr.

    ``lasting``: the types of the input that are intervals.
    """
    batches = f"{totals.batches:,} micro-batch{'' if totals.batches == 1 else 'es'}"
    read = counted(totals.counts["rows"], "row" if lasting else "event")
    found = detections(totals.found, totals.lasting)
    say(f"{read} read, {found} in {batches}, {seconds:.1f} s")
    left_out(totals.counts)
    if totals.counts["late"]:
        say(f"skipped {counted(totals.counts['late'], 'late row')} (--watermark, --late)")
        if lasting:
            names = ", ".join(f"`{t}`" for t in lasting)
            text = (
                f"an interval of {names} belongs to its start, so one that arrives when it ends is late by its length"
            )
            say(f"hint: {text}; declare the type `as changes`, or use a longer --watermark")
