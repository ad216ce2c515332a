"""``occurs plot``: a timeline of detections, with the input events beside them."""

from __future__ import annotations

import click
import pyarrow as pa

import occurs
from occurs.cli import _input, _options
from occurs.connect.files import read_places, read_sources
from occurs.connect.places import places, user_path
from occurs.errors import UsageProblem, did_you_mean
from occurs.model.history import History, normalise
from occurs.model.source import InputOptions


@click.command("plot")
@click.argument("detections", nargs=-1, required=True, metavar="DETECTIONS...")
@click.option(
    "--out", "-o", required=True, metavar="PATH", help="Write an image (.png, .svg) or an interactive page (.html)."
)
@_options.overwrite
@click.option(
    "--events",
    "-e",
    multiple=True,
    metavar="PATH|TYPE=PATH",
    help="Draw these input events above the detections, their numeric attributes as lines.  Repeatable.",
)
@click.option(
    "--rules", "-r", multiple=True, metavar="PATH", help="Rules; the rows are grouped by their partition key."
)
@click.option("--language", metavar="NAME", help="Language of all rules; overrides the suffix.")
@click.option(
    "--key",
    metavar="ATTR,..",
    help="Draw one group of lanes per value of these attributes (empty: no groups).  [default: the partition key of "
    "--rules, or an attribute that all types have]",
)
@click.option("--only", metavar="TYPE,..", help="Show only these types of detections, in this order.")
@click.option(
    "--signals",
    metavar="ATTR,..",
    help="Draw these numeric attributes of the events as lines (empty: none).  [default: measured values]",
)
@click.option("--from", "start", metavar="TIME", help="Start of the timeline.  [default: first row]")
@click.option("--to", "end", metavar="TIME", help="End of the timeline.  [default: last row]")
@click.option("--title", default="", metavar="TEXT", help="Title of the timeline.")
@click.option(
    "--theme", type=click.Choice(["light", "dark"]), help="Colours of an image.  [default: both in .svg, light in .png]"
)
@click.option(
    "--width", type=click.IntRange(320, 10_000), metavar="PIXELS", help="Width of an image in pixels.  [default: 1200]"
)
@click.option(
    "--type-column", default="type", show_default=True, metavar="NAME", help="Column of --events with the type."
)
@click.option(
    "--time-column", default="time", show_default=True, metavar="NAME", help="Column of --events with the time."
)
@click.option("--time-format", metavar="FORMAT", help="Format of times in --events.  [default: ISO 8601]")
@_options.option("time_unit", metavar="UNIT")
@click.option("--lasting", metavar="TYPE,..", help="Types to draw as intervals even if no row has an end.")
def command(
    detections: tuple[str, ...],
    out: str,
    overwrite: bool,
    events: tuple[str, ...],
    rules: tuple[str, ...],
    language: str | None,
    key: str | None,
    only: str | None,
    signals: str | None,
    start: str | None,
    end: str | None,
    title: str,
    theme: str | None,
    width: int | None,
    type_column: str,
    time_column: str,
    time_format: str | None,
    time_unit: str | None,
    lasting: str | None,
) -> None:
    """Draw a timeline of detections.

    DETECTIONS are files that `occurs run --out` wrote, or directories of such files.  A row with an `end` is drawn as a
    bar, which reaches the right border if the interval is still open; other rows are drawn as marks.  With --events,
    input events are drawn as marks, their numeric attributes as lines, and input intervals as bars.
    """
    from occurs.plot.timeline import WIDTH, Timeline, check, input_events, split

    target = user_path(out, "--out")
    check(target, f"--out {out}", overwrite=overwrite)
    program = occurs.load(*rules, language=language) if rules else None
    options = InputOptions(time_unit=time_unit)
    with _input.doing("reading"):
        history = normalise(read_sources(detections), options=options)
        given = None
        if events:
            options = InputOptions(
                time_unit=time_unit, type=type_column or None, time=time_column, time_format=time_format
            )
            declared = {} if program is None else program.declared
            sources = read_places(places(events), schemas=declared, options=options)
            given = input_events(sources, history.kind, options)
    tables = dict(history.tables)
    # a file cannot tell an open interval from an event
    for name, table in tables.items():
        if "end" in table.column_names and table["end"].null_count == len(table):
            tables[name] = table.drop_columns(["end"])
    for name in _listed(lasting):
        if _known(name, history, "--lasting") and "end" not in tables[name].column_names:
            tables[name] = tables[name].append_column("end", pa.nulls(len(tables[name]), pa.int64()))
    if only is not None:
        tables = {name: tables[name] for name in _listed(only) if _known(name, history, "--only")}
    stages = []
    if program is not None and key is None:
        read = None if given is None else {t: s for t, s in given.schemas.items() if t in program.checked.reads}
        stages = split(program.checked.plan(read, history.kind))
    inputs = {} if given is None else given.tables
    line = Timeline.of(
        tables, history.kind, key=None if key is None else _listed(key), start=start, end=end, title=title,
        stages=stages, inputs=inputs, signals=None if signals is None else _listed(signals),
    )  # fmt: skip
    with _input.doing("drawing"):
        shown = line.save(target, overwrite=overwrite, width=width or WIDTH, theme=theme)
    rows = sum(len(lane.start) for group in shown.groups for lane in group.lanes)
    total = sum(map(len, tables.values())) + sum(map(len, inputs.values()))
    click.echo(f"{out}: {rows:,} of {total:,} rows drawn", err=True)
    for notice in shown.notices:
        click.echo(notice, err=True)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def _known(name: str, history: History, option: str) -> bool:
    if name not in history.tables:
        hint = did_you_mean(name, history.tables, "types")
        raise UsageProblem.of("unknown-name", f"{option}: there are no rows of type `{name}`", hint=hint)
    return True
