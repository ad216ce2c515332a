"""``occurs run``: a history to its end."""

from __future__ import annotations

import time

import click
import pyarrow as pa

from occurs.cli import _input, _options
from occurs.cli._group import show
from occurs.cli._output import put, summary
from occurs.connect.tables import to_arrow
from occurs.connect.writers import check_target, write_rows


@click.command("run")
@_options.rules
@_options.inputs(required=True)
@_options.severity
@click.option("--out", "-o", metavar="PATH", help=".jsonl, .csv, .parquet or a directory; - is JSON lines on stdout.")
@click.option("--because", is_flag=True, help="Add the label and the constituents of every detection.")
@click.option("--label", is_flag=True, help="Add the label of every detection.")
@click.option("--bad", metavar="PATH", help="Write the rows left out, with reason and place (implies --bad-rows skip).")
@click.option("--only", metavar="TYPE,..", help="Report these types only.")
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    strict: bool,
    require_bounds: bool,
    out: str | None,
    because: bool,
    label: bool,
    bad: str | None,
    only: str | None,
) -> None:
    """Find everything that RULES define in the events.

    Without --out the detections are shown as tables, or as JSON lines if stdout is no terminal.
    """
    began = time.monotonic()
    for target in (out, bad):
        if target not in (None, "-"):
            check_target(target)
    program = _input.load(rules, language, strict=strict, require_bounds=require_bounds)
    keywords = _input.arguments(given, skip=bad is not None)
    counts: dict[str, int] = {}
    left_out: pa.Table | None = None
    if given.host == "spark":
        events, keywords, history = _input.spark_events(program, given, keywords)
        if history is not None:
            counts, left_out = history.counts, history.bad
            show_all(history.notices)
    else:
        with _input.doing("reading"):
            events = _input.read(program, given)
    chosen = [t.strip() for t in only.split(",")] if only is not None else None
    with _input.doing("detecting"):
        found = program.detect(events, because=because, with_label=label, only=chosen, **keywords)
        tables = {name: to_arrow(found[name]) for name in found}
    if not counts:
        counts = dict(found.counts)
        left_out = None if found.bad is None else to_arrow(found.bad)
        show_all(found.notices)
    put(tables, out)
    if bad is not None:
        write_rows(bad, left_out)
    summary(tables, counts, time.monotonic() - began)


def show_all(notices: list) -> None:
    for problem in notices:
        show([problem])
