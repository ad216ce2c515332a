"""Options that several commands have, as decorators (common.md, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from occurs.connect.places import Place, format_of, places, split_type
from occurs.errors import UsageProblem
from occurs.model.source import InputOptions

Decorated = Callable[..., Any]


def rules(command: Decorated) -> Decorated:
    command = click.option("--language", metavar="NAME", help="The language of all rules, whatever their suffix.")(
        command
    )
    return click.argument("rules", nargs=-1, required=True, metavar="RULES...")(command)


def severity(command: Decorated) -> Decorated:
    for option in (
        click.option("--strict", is_flag=True, help="Warnings are errors."),
        click.option("--require-bounds", is_flag=True, help="State that grows without bound is an error."),
    ):
        command = option(command)
    return command


def windows(command: Decorated) -> Decorated:
    """The window mode of Phenesthe."""
    step = click.option("--step", metavar="DURATION", help="With --window: from one query to the next.")
    text = "Give at every query what reaches into the last DURATION (Phenesthe only): 2h, or ticks."
    return click.option("--window", metavar="DURATION", help=text)(step(command))


def timeouts(command: Decorated) -> Decorated:
    text = "Write the partial matches that ran out of time (EPL: `timer:within`), with what they had by then."
    return click.option("--timeouts", metavar="PATH", help=text)(command)


def formula(command: Decorated) -> Decorated:
    text = "Subformulas with free variables that a trigger may have (FTL, PTL).  [default: 64]"
    return click.option("--max-formula", type=click.IntRange(0), metavar="N", help=text)(command)


def never(command: Decorated) -> Decorated:
    text = "Write when triggers (FTL) were found to be able to fire no more, instead of saying it on stderr."
    return click.option("--never", metavar="PATH", help=text)(command)


def overwrite(command: Decorated) -> Decorated:
    return click.option("--overwrite", is_flag=True, help="Replace output files that exist.")(command)


def instances(command: Decorated) -> Decorated:
    text = "Partial matches of a definition at a time (EPL; on Spark per partition): more are an error."
    return click.option("--max-instances", type=click.IntRange(1), metavar="N", help=f"{text}  [default: 10,000,000]")(
        command
    )


def first(command: Decorated) -> Decorated:
    text = "The number from which searches begin: 0 as in the paper's counts of firings, 1 as in its text."
    return click.option("--first", type=click.IntRange(0, 1), default=0, show_default=True, help=text)(command)


_HISTORY = (
    "PATH|TYPE=PATH",
    "CSV, JSON lines or Parquet; a directory or a pattern of them; - is standard input; may be repeated.",
)
_STREAM = (
    "DIR|TYPE=DIR|FILE|kafka://..",
    "Directories into which files are moved, topics, or recorded events to replay; may be repeated.",
)


def inputs(*, required: bool, live: bool = False) -> Callable[[Decorated], Decorated]:
    """Input and clock options, of a history or of what is ``live``; they arrive as one :class:`Input` called ``given``.

    What is live runs on Spark, and says for itself whether it ends if nothing is said (``ended`` is None).
    """
    metavar, text = _STREAM if live else _HISTORY
    ends = "--ended: read what is there, to its end, and judge the last instant, too.  [default: only a record ends]"
    options = [
        click.option("--events", "-e", multiple=True, required=False, metavar=metavar, help=text),
        click.option("--type", metavar="TYPE", help="The event type of all rows of --events that name none."),
        click.option(
            "--format", type=click.Choice(["csv", "jsonl", "json", "parquet"]),
            help="What --events hold, whatever their suffixes; needed for standard input.",
        ),
        click.option("--delimiter", default=",", show_default=True, metavar="C", help="The character between columns."),
        click.option("--encoding", default="utf-8", show_default=True, metavar="NAME", help="Of text files."),
        click.option("--facts", multiple=True, metavar="NAME=PATH", help="A table without time; may be repeated."),
        *(
            click.option(f"--{name}-column", default=name, show_default=True, metavar="NAME", help=text)
            for name, text in (
                ("type", "The column with the event type (empty: none)."),
                ("time", "The column with the time."),
                ("end", "The column with the end of what lasts (empty: none)."),
                ("sequence", "The column that orders events of one time (empty: none)."),
                ("label", "The column with the identity of a row (empty: none)."),
            )
        ),
        click.option("--time-unit", metavar="UNIT", help="What integer times count: us, ms, s, min, h or d."),
        click.option(
            "--time-format", metavar="FORMAT", help='How times are written: "%d/%m/%Y %H:%M:%S".  [default: ISO 8601]'
        ),
        click.option("--zone", default="UTC", show_default=True, metavar="NAME", help="The time zone of timers."),
        click.option(
            "--bad-rows", type=click.Choice(["error", "skip"]), default="error", show_default=True,
            help="Refuse input with unreadable rows, or leave them out and count them.",
        ),
        click.option("--start", metavar="TIME", help="Start of the clock (default: the first event)."),
        click.option("--until", metavar="TIME", help="End of the clock (default: the last event)."),
        click.option(
            "--ended/--open", default=None if live else True,
            help=ends if live else "Does nothing come any more?  [default: ended]",
        ),
    ]  # fmt: skip
    if not live:
        options.append(click.option(
            "--host", type=click.Choice(["auto", "local", "spark"]), default="auto", show_default=True,
            help="Where to run: in this process, on Spark (started here if there is none), or on Spark only if the "
            "files are large or a Spark is set up.",
        ))  # fmt: skip

    def decorate(command: Decorated) -> Decorated:
        def call(**arguments: Any) -> Any:
            names = Input.__dataclass_fields__
            if live:
                arguments["host"] = "spark"
            if "rules" in arguments:
                arguments["rules"], more = _sorted_out(arguments["rules"])
                arguments["events"] += more
            if required and not arguments["events"]:
                raise click.UsageError("Missing option '--events' / '-e'.")
            given = Input(**{n: arguments.pop(n) for n in names})
            if given.type is not None:
                typed = (text if split_type(text)[0] else f"{given.type}={text}" for text in given.events)
                given = replace(given, events=tuple(typed))
            return command(given=given, **arguments)

        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
        decorated: Decorated = call
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _sorted_out(rules: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of rules, and files of events among them: `-e a.csv b.csv`, as a shell makes of `-e *.csv`, means both."""
    events = tuple(r for r in rules if format_of(Path(split_type(r)[1])) is not None)
    kept = tuple(r for r in rules if r not in events)
    if not kept:
        text = f"no rules are given, only events: {', '.join(events)}"
        raise UsageProblem.of("bad-option", text, hint="rules come first: occurs COMMAND RULES.. --events PATH")
    return kept, events


@dataclass(frozen=True)
class Input:
    """What the input options say."""

    events: tuple[str, ...]
    type: str | None
    format: str | None
    delimiter: str
    encoding: str
    facts: tuple[str, ...]
    type_column: str
    time_column: str
    end_column: str
    sequence_column: str
    label_column: str
    time_unit: str | None
    time_format: str | None
    zone: str
    bad_rows: str
    start: str | None
    until: str | None
    #: None: nothing was said (only of what is live)
    ended: bool | None
    host: str

    @cached_property
    def places(self) -> list[Place]:
        """The files of the events; standard input is read here, once."""
        return places(self.events, self.format)

    def options(self, *, skip: bool = False) -> InputOptions:
        """For the intake; ``skip`` as ``--bad`` implies it."""
        return InputOptions(
            type=self.type_column or None,
            time=self.time_column,
            end=self.end_column or None,
            sequence=self.sequence_column or None,
            label=self.label_column or None,
            time_unit=self.time_unit,
            start=self.start,
            until=self.until,
            bad_rows="skip" if skip or self.bad_rows == "skip" else "error",
            time_format=self.time_format,
            delimiter=self.delimiter.replace("\\t", "\t"),
            encoding=self.encoding,
            format=self.format,
        )
