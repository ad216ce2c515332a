"""What ``why`` and ``why-not`` have in common: the question, the events, and where answers go."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from occurs.cli import _input, _options
from occurs.connect.places import user_path
from occurs.connect.writers import write_rows
from occurs.errors import ResourceProblem, UsageProblem
from occurs.program import Program
from occurs.services.questions import schema_of, value_of

#: suffixes of files with tables, with an answer as JSON, and with a timeline
TABLES, DATA, PICTURES = (".jsonl", ".csv", ".parquet"), (".json",), (".png", ".svg", ".html")


def question(command: _options.Decorated) -> _options.Decorated:
    """The options that say which detection is meant."""
    options: list[Callable[[_options.Decorated], _options.Decorated]] = [
        click.option("--where", multiple=True, metavar="NAME=VALUE",
                     help="Value of an attribute of the detection; NAME= is null.  Repeatable."),
        click.option("--between", nargs=2, metavar="T1 T2", help="Earliest and latest time of the detection."),
        click.option("--at", metavar="T", help="Time of the detection."),
        click.option("--limit", type=click.IntRange(1), default=10, show_default=True, metavar="N",
                     help="Maximum number of answers."),
        click.option("--max-rows", type=click.IntRange(1), default=100_000, show_default=True, metavar="N",
                     help="Maximum number of events to read into this process."),
        click.option("--out", "-o", metavar="PATH",
                     help="Write the table to a .jsonl, .csv or .parquet file, everything to .json, or the timeline "
                     "to .png, .svg or .html."),
        _options.overwrite,
    ]  # fmt: skip
    for one in reversed(options):
        command = one(command)
    return command


def between(pair: Sequence[str] | None, at: str | None) -> Any:
    """The asked time; None: any."""
    if pair and at is not None:
        raise UsageProblem.of("bad-option", "--at is --between with one time: use one of them")
    return tuple(pair) if pair else at


def values(
    program: Program, type: str, given: Sequence[str], events: Any, keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """``--where`` as values of the attributes of a type."""
    if not given:
        return {}
    named = {text.partition("=")[0]: text for text in given}
    schema = schema_of(program, type, named, events, keywords)
    out = {}
    for name, text in named.items():
        _, sign, value = text.partition("=")
        if not sign:
            raise UsageProblem.of("bad-option", f"--where {text}", hint="write NAME=VALUE")
        out[name] = value_of(type, name, value or None, schema, f"--where {text}")
    return out


def events_of(program: Program, given: _options.Input) -> tuple[Any, dict[str, Any]]:
    """The events and the input options as keywords."""
    _input.need_events(program.checked, given)
    keywords = _input.arguments(given)
    if _input.host(program.checked, given) == "spark":
        events, _ = _input.on_spark(program.checked, given, skip=False)
        return events, keywords
    with _input.doing("reading"):
        return _input.read(program.checked, given), keywords


def check_out(out: str | None, events: Sequence[str], *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before any work."""
    from occurs.connect.atomic_files import refuse_existing

    if out is None:
        return
    suffix = Path(out).suffix.lower()
    if suffix not in (*TABLES, *DATA, *PICTURES):
        text = f"--out {out}: unsupported format `{suffix}`"
        raise UsageProblem.of("bad-option", text, hint=f"use one of {' '.join((*TABLES, *DATA, *PICTURES))}")
    path = user_path(out, "--out")
    if not path.parent.is_dir():
        raise ResourceProblem.of("cannot-write", f"--out {out}: there is no directory {path.parent}")
    if any(user_path(e.rpartition("=")[2]).resolve() == path.resolve() for e in events):
        raise UsageProblem.of("bad-option", f"--out {out} would overwrite --events")
    if not overwrite:
        refuse_existing(path, f"--out {out}")


def put(out: str, table: pa.Table, data: Any, timeline: Callable[[], Any], *, overwrite: bool) -> None:
    """Write an answer to a file, in the form that its suffix names."""
    suffix = Path(out).suffix.lower()
    if suffix in PICTURES:
        timeline().save(out, overwrite=overwrite)
    elif suffix in DATA:
        user_path(out, "--out").write_text(json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n", "utf-8")
    else:
        write_rows(out, table, "--out")


def plain_signs() -> bool:
    """Whether the terminal has no signs but ASCII."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return not encoding.startswith("utf")
