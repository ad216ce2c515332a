"""Detections to stdout or a file, counts to stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping

import click
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from occurs.cli._group import hush_stdout
from occurs.cli._messages import say
from occurs.connect.atomic_files import refuse_existing
from occurs.connect.because_text import has_reasons, reasons, shown
from occurs.connect.places import by_spark, split_type, user_path
from occurs.connect.writers import check_target, json_blocks, write
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.astext import plain_text

#: rows of one type on a terminal
SHOWN = 40


def check_targets(targets: Mapping[str, str | None], events: Iterable[str], *, overwrite: bool) -> None:
    """Find out before any work where nothing can be written, or where input or other output would be overwritten.

    ``targets``: option to path; ``overwrite``: files that exist may be replaced.  Raises UsageProblem, ResourceProblem.
    """
    files = [text for text in events if not by_spark(text)]
    taken = {user_path(split_type(text)[1]).resolve(): f"--events {text}" for text in files}
    for option, target in targets.items():
        if target is None:
            continue
        if target == "-":
            raise UsageProblem.of(
                "bad-option", f"{option} - is not allowed: stdout is for detections", hint="name a file"
            )
        check_target(target, option)
        path = user_path(target, option).resolve()
        if path in taken:
            text = f"{option} {target} would overwrite the file named by {taken[path]}"
            raise UsageProblem.of("bad-option", text, hint="write to another file")
        taken[path] = f"{option} {target}"
        if not overwrite:
            refuse_existing(path, f"{option} {target}")


def put(tables: Mapping[str, pa.Table], out: str | None) -> None:
    """To the file ``out``; ``-``: JSON lines on stdout.  None: tables if stdout is a terminal, else JSON lines."""
    if out is not None and out != "-":
        write(out, tables)
    elif out == "-" or not sys.stdout.isatty():
        try:
            for text in json_blocks(tables):
                click.echo(text, nl=False)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            hush_stdout()
            raise ResourceProblem.of("cannot-write", f"stdout: {error.strerror or error}") from error
    else:
        console = Console()
        for name, table in tables.items():
            if len(table):
                console.print(rich_trees(name, table) if has_reasons(table) else rich_table(name, table))


def rich_trees(name: str, table: pa.Table) -> Group:
    """The first detections of a type, each as a tree: below it its constituents with role, type, time and values."""
    left = len(table) - SHOWN
    out: list[RenderableType] = [Text(f"{name}: {len(table):,}", style="italic")]
    for reason in reasons(name, table.slice(0, SHOWN)):
        tree = Tree(Text(str(reason.detection), style="bold"), guide_style="dim")
        for line in shown(reason.constituents):
            tree.add(Text(line))
        out.append(tree)
    out += [Text(f"... and {left:,} more (all of them: --out FILE)", style="italic")] if left > 0 else []
    return Group(*out, Text(""))


def rich_table(name: str, table: pa.Table) -> Table:
    """The first rows of a type; what is left out is said below them."""
    left = len(table) - SHOWN
    title = f"{name}: {len(table):,}"
    caption = f"... and {left:,} more (all of them: --out FILE)" if left > 0 else None
    out = Table(title=title, caption=caption, box=SIMPLE_HEAD, title_justify="left", caption_justify="left")
    table = table.drop_columns("type") if "type" in table.column_names else table
    for field in table.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        out.add_column(field.name, justify="right" if number else "left", overflow="fold")
    head = table.slice(0, SHOWN)
    columns = [plain_text(c).to_pylist() for c in head.columns]
    for row in zip(*columns, strict=True):
        out.add_row(*(Text("null", style="dim") if v is None else Text(v) for v in row))
    return out


def summary(
    found: Mapping[str, int],
    lasting: Collection[str],
    counts: Mapping[str, int],
    seconds: float,
    *,
    intervals: bool = False,
) -> None:
    """How many detections of each type, and which rows were skipped, on stderr.

    ``found``: the number of detections by type; ``lasting``: the types that are intervals; ``intervals``: some input
    has ends.
    """
    read = f"{counted(counts['rows'], 'row' if intervals else 'event')} read, " if "rows" in counts else ""
    say(f"{read}{detections(found, lasting)} in {seconds:.1f} s")
    left_out(counts)


def detections(counts: Mapping[str, int], lasting: Collection[str] = ()) -> str:
    """``3 detections (Fire: 1, stopped: 2 intervals)``, of rows by type; ``lasting``: the types that are intervals."""
    total = sum(counts.values())
    if lasting and all(name in lasting for name, n in counts.items() if n or not total):
        what, units = "interval", {}
    else:
        what, units = "detection", {name: f" interval{'' if counts[name] == 1 else 's'}" for name in lasting}
    types = ", ".join(f"{name}: {n:,}{units.get(name, '')}" for name, n in counts.items())
    return counted(total, what) + (f" ({types})" if types else "")


def not_done(texts: int, statements: int) -> None:
    """Actions of triggers that were not done, if there are any, on stderr."""
    counts = [f"{word} {n:,}" for word, n in (("notify", texts), ("execute", statements)) if n]
    if counts:
        where = "`follow --actions` prints notifications; `watch` also executes statements"
        say(f"actions not executed: {', '.join(counts)} ({where})")


def ended(counts: Mapping[str, int]) -> None:
    """How many partial matches guards have ended, of each statement, on stderr."""
    say(f"timed-out partial matches: {', '.join(f'{name}: {n:,}' for name, n in counts.items()) or 'none'}")


def never(tables: Mapping[str, pa.Table]) -> None:
    """Which triggers can fire no more, since when, on stderr."""
    for name, table in tables.items():
        own = [n for n in table.column_names if n not in ("type", "time", "label", "because")]
        columns = [plain_text(table.slice(0, SHOWN).column(n)).to_pylist() for n in ("time", *own)]
        for time, *values in zip(*columns, strict=True):
            of = ", ".join(f"{n} {v}" for n, v in zip(own, values, strict=True))
            say(f"never: `{name}`{f' ({of})' if of else ''} can no longer fire since {time}")
        if len(table) > SHOWN:
            say(f"never: `{name}`: {len(table) - SHOWN:,} more (all of them: --never FILE)")


def counted(n: int, what: str) -> str:
    """``1 event``, ``2,000 events``."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def left_out(counts: Mapping[str, int]) -> None:
    """Rows that are no part of the history, by reason."""
    if counts.get("bad"):
        reasons = ", ".join(f"{k.removeprefix('bad: ')}: {n:,}" for k, n in counts.items() if k.startswith("bad: "))
        say(f"skipped {counted(counts['bad'], 'bad row')} ({reasons})")
    if counts.get("outside"):
        say(f"skipped {counted(counts['outside'], 'row')} outside the clock (--start, --until)")
    if counts.get("empty"):
        say(f"skipped {counted(counts['empty'], 'interval')} of length 0 (the end equals the start)")
    for name, n in counts.items():
        if name.startswith("coalesced: "):
            say(f"merged {counted(n, 'row')} of {name.removeprefix('coalesced: ')} with earlier ones")
    for name, n in counts.items():
        if name.startswith(("deletes of absent", "inserts of present", "rows without a key")):
            say(f"accepted {n:,} {name}")
    nulls = {k.removeprefix("null: "): n for k, n in counts.items() if k.startswith("null: ")}
    if nulls:
        say(f"rows with a null, which formulas ignore: {', '.join(f'{k}: {n:,}' for k, n in nulls.items())}")
