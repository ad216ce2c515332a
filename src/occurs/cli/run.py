"""``occurs run``: a history to its end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from occurs.cli import _input, _options
from occurs.cli._output import check_targets, ended, not_done, put, summary
from occurs.cli._output import never as tell_never
from occurs.cli._progress import detecting
from occurs.cli._tables import OutputTables
from occurs.connect.tables import to_arrow
from occurs.connect.writers import in_order, write, write_rows
from occurs.errors import UsageProblem
from occurs.languages.kit.language import suffixes
from occurs.languages.logic import LANGUAGES


@click.command("run")
@_options.rules
@_options.inputs(required=False)
@_options.severity
@click.option(
    "--out",
    "-o",
    metavar="PATH|TABLE|URL",
    help="Write to a .jsonl, .csv or .parquet file, a directory, a table of Spark (table:NAME, delta:PATH, "
    "iceberg:NAME), or a folder at an address that Spark reaches (s3a://..); - is JSON lines on stdout.",
)
@_options.option("because")
@_options.option("with_label", "--label")
@click.option(
    "--bad", metavar="PATH", help="Write the skipped rows, each with reason and place (implies --bad-rows skip)."
)
@click.option("--late", metavar="PATH", help="Write late rows to PATH (always empty for a finished history).")
@_options.never()
@_options.timeouts()
@_options.overwrite
@_options.instances
@_options.formula
@_options.windows
@_options.option("only", metavar="TYPE,..")
@_options.option("partitions", type=click.IntRange(1), metavar="N")
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    strict: bool,
    require_bounds: bool,
    out: str | None,
    because: bool,
    label: bool,
    bad: str | None,
    late: str | None,
    never: str | None,
    timeouts: str | None,
    overwrite: bool,
    max_instances: int | None,
    max_steps: int | None,
    max_formula: int | None,
    only: str | None,
    window: str | None,
    step: str | None,
    partitions: int | None,
) -> None:
    """Detect in a finished history.

    Prints every detection of RULES in --events.  Without --out, detections are printed as tables on a terminal and as
    JSON lines otherwise.
    """
    began = time.monotonic()
    targets = {"--out": None if out == "-" else out, "--bad": bad, "--late": late, "--timeouts": timeouts}
    targets["--never"] = never
    outputs = OutputTables.of(targets, overwrite=overwrite)
    check_targets(outputs.others, given.events, overwrite=overwrite)
    program = _input.load(
        rules, language, strict=strict, require_bounds=require_bounds, max_formula=max_formula, values=values
    )  # fmt: skip
    _input.need_events(program.checked, given)
    keywords = _input.arguments(given, skip=bad is not None)
    keywords |= {"strict": strict, "require_bounds": require_bounds}
    keywords |= {"timeouts": timeouts is not None, "max_instances": max_instances, "max_steps": max_steps}
    # refuses before anything is read
    program.checked.adjusted(
        zone=given.zone, facts=keywords.get("facts"), window=window, step=step, timeouts=timeouts is not None
    )
    host = _input.host(program.checked, given)
    keywords |= {"window": window, "step": step}
    chosen = [t.strip() for t in only.split(",")] if only is not None else None
    if host == "spark":
        events, keywords["session"] = _input.on_spark(
            program.checked, given, skip=bad is not None, targets=targets.values()
        )
        keywords["partitions"] = partitions
    elif partitions is not None:
        text = f"--partitions {partitions}: this run is not on Spark"
        raise UsageProblem.of("bad-option", text, hint="add --host spark, or leave --partitions out")
    else:
        with _input.doing("reading"):
            events = _input.read(program.checked, given, targets.values())
    outputs.open(lambda: _input.session_for(given, targets.values()), chosen or sorted(program.checked.defined))
    if never is not None and not program.checked.tells_never:
        text = f"--never {never}: none of these triggers can become unable to fire"
        raise UsageProblem.of("bad-option", text, hint="only FTL triggers that look ahead can become unable to fire")
    with detecting(host == "spark") as told:
        keywords |= {} if told is None else {"progress": told}
        found: Any = program.detect(events, because=because, with_label=label, only=chosen, **keywords)
        by_tasks = host == "spark" and "--out" in outputs.targets
        tables, partial = _tables(found, spark=host == "spark", detections=not by_tasks)
        numbers = found.counted() if by_tasks else {name: len(table) for name, table in tables.items()}
        gone = None if found.never is None else to_arrow(found.never)
    _input.judge(found.notices, strict=strict, require_bounds=require_bounds)
    counts, left_out = dict(found.counts), found.bad
    lasting = {name for name, table in tables.items() if "end" in table.column_names}
    if by_tasks:
        outputs.put_frames("--out", found)
        lasting = {name for name in found if "end" in found[name].columns}
        found.unpersist()
    elif not outputs.put("--out", tables):
        put(tables, out)
    no_more = {} if gone is None else {n: gone.filter(pc.equal(gone.column("type"), n)) for n in _names(gone)}
    if never is not None and not outputs.put("--never", no_more):
        write(never, no_more, "--never")
    elif never is None and no_more:
        tell_never(no_more)
    if bad is not None:
        rows = None if left_out is None else to_arrow(left_out)
        if not outputs.rows("--bad", rows):
            write_rows(bad, rows, "--bad")
    if late is not None:
        rows = None if found.late is None else to_arrow(found.late)
        if not outputs.rows("--late", rows):
            write_rows(late, rows, "--late")
    if timeouts is not None and not outputs.put("--timeouts", partial):
        write(timeouts, partial, "--timeouts")
    intervals = any(program.declared[t].lasting for t in program.checked.external if t in program.declared)
    summary(numbers, lasting, counts, time.monotonic() - began, intervals=intervals)
    if any((language or suffixes().get(Path(path).suffix)) in LANGUAGES for path in rules):
        from occurs.follow.stream_actions import counted, definitions

        not_done(*counted(definitions(rules, language)[0], numbers))
    if timeouts is not None:
        ended({name: len(table) for name, table in partial.items()})


def _tables(found: Any, *, spark: bool, detections: bool) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """The detections by type and the partial matches that ended by statement, in order, as tables of this process;
    without ``detections`` only the latter."""
    if not spark:
        partial = {name: to_arrow(table) for name, table in (found.timeouts or {}).items()}
        return {name: to_arrow(found[name]) for name in found}, partial
    tables, partial = found.collected(detections=detections)
    return {n: in_order(t) for n, t in tables.items()}, {n: in_order(t) for n, t in partial.items()}


def _names(notices: pa.Table) -> list[str]:
    """The triggers that notices are of."""
    found: list[str] = pc.unique(notices.column("type")).to_pylist()
    return sorted(found)
