"""``occurs plot``: a timeline of detections."""

from __future__ import annotations

import click
import pyarrow as pa

from occurs.cli import _input, _options
from occurs.connect.files import read_sources
from occurs.connect.places import user_path
from occurs.errors import UsageProblem, did_you_mean
from occurs.model.history import History, normalise
from occurs.model.source import InputOptions


@click.command("plot")
@click.argument("detections", nargs=-1, required=True, metavar="DETECTIONS...")
@click.option("--out", "-o", required=True, metavar="PATH", help="A picture (.png) or a page to move about in (.html).")
@_options.overwrite
@click.option("--key", metavar="ATTR,..", help="Group rows by the values of these attributes.")
@click.option("--only", metavar="TYPE,..", help="Show these types only, in this order.")
@click.option("--from", "start", metavar="TIME", help="Begin here (default: with the first row).")
@click.option("--to", "end", metavar="TIME", help="End here (default: with the last row).")
@click.option("--title", default="", metavar="TEXT", help="What stands above it.")
@click.option("--time-unit", metavar="UNIT", help="What integer times count: us, ms, s, min, h or d.")
@click.option("--lasting", metavar="TYPE,..", help="Types that last although no row of theirs has an end.")
def command(
    detections: tuple[str, ...],
    out: str,
    overwrite: bool,
    key: str | None,
    only: str | None,
    start: str | None,
    end: str | None,
    title: str,
    time_unit: str | None,
    lasting: str | None,
) -> None:
    """Draw a timeline of DETECTIONS: files that `occurs run --out` wrote, or directories of them.

    What has an `end` is a bar, which reaches to the right border if it still holds; other rows are marks.
    """
    from occurs.plot.timeline import Timeline, check

    target = user_path(out, "--out")
    check(target, f"--out {out}", overwrite=overwrite)
    with _input.doing("reading"):
        history = normalise(read_sources(detections), options=InputOptions(time_unit=time_unit))
    tables = dict(history.tables)
    # a file cannot tell a row of what lasts without an end from a row of what does not last
    for name, table in tables.items():
        if "end" in table.column_names and table["end"].null_count == len(table):
            tables[name] = table.drop_columns(["end"])
    for name in _listed(lasting):
        if _known(name, history, "--lasting") and "end" not in tables[name].column_names:
            tables[name] = tables[name].append_column("end", pa.nulls(len(tables[name]), pa.int64()))
    if only is not None:
        tables = {name: tables[name] for name in _listed(only) if _known(name, history, "--only")}
    line = Timeline.of(tables, history.kind, key=_listed(key), start=start, end=end, title=title)
    with _input.doing("drawing"):
        shown = line.save(target, overwrite=overwrite)
    rows = sum(len(lane.start) for group in shown.groups for lane in group.lanes)
    click.echo(f"{out}: {rows:,} rows of {sum(map(len, tables.values())):,}", err=True)
    for notice in shown.notices:
        click.echo(f"not all is shown: {notice}", err=True)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def _known(name: str, history: History, option: str) -> bool:
    if name not in history.tables:
        hint = did_you_mean(name, history.tables, "types")
        raise UsageProblem.of("unknown-name", f"{option}: there are no rows of `{name}`", hint=hint)
    return True
