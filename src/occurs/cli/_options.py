"""Options that several commands have, as decorators (common.md, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from occurs.connect.places import Place, by_spark, format_of, is_address, places, split_type
from occurs.errors import UsageProblem
from occurs.languages.kit.language import Written
from occurs.model.source import InputOptions
from occurs.options import OPTIONS

if TYPE_CHECKING:
    from occurs.connect.sparktables.address import Files
    from occurs.connect.sparktables.place import TablePlace

Decorated = Callable[..., Any]


def rules(command: Decorated) -> Decorated:
    command = click.option("--language", metavar="NAME", help="Language of all rules; overrides the suffix.")(command)
    text = "Value of a variable (`create variable`) or a parameter (`?:name`) of EPL.  Repeatable."
    command = click.option("--set", "values", multiple=True, callback=_values, metavar="NAME=VALUE", help=text)(command)
    return click.argument("rules", nargs=-1, required=True, metavar="RULES...")(command)


def _values(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Written]:
    """Texts `NAME=VALUE` by their names."""
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        found[name.strip()] = Written(value)
    return found


def option(name: str, flag: str | None = None, **how: Any) -> Callable[[Decorated], Decorated]:
    """An option of `detect` as its table declares it: its default and help; ``flag``: under another name."""
    declared = next(o for o in OPTIONS if o.name == name)
    if declared.default is False:
        how["is_flag"] = True
    else:
        how = {"default": declared.default, "show_default": isinstance(declared.default, str), **how}
    return click.option(flag or f"--{name.replace('_', '-')}", **{"help": declared.help or declared.words, **how})


def severity(command: Decorated) -> Decorated:
    return option("require_bounds")(option("strict")(command))


def windows(command: Decorated) -> Decorated:
    """The window mode of Phenesthe."""
    window, step = (option(name, metavar="DURATION") for name in ("window", "step"))
    return window(step(command))


def timeouts(target: str = "PATH") -> Callable[[Decorated], Decorated]:
    """Partial matches that ran out of time; ``target``: where they may go."""
    text = f"Write partial matches that `timer:within` (EPL) or WITHIN (row patterns) ended to {target}."
    return click.option("--timeouts", metavar=target, help=text)


def formula(command: Decorated) -> Decorated:
    text = "Maximum number of subformulas with free variables per trigger (FTL, PTL).  [default: 64]"
    return click.option("--max-formula", type=click.IntRange(0), metavar="N", help=text)(command)


def never(target: str = "PATH") -> Callable[[Decorated], Decorated]:
    """Triggers that can no longer fire; ``target``: where they may go."""
    text = f"Write FTL triggers that can no longer fire to {target} instead of stderr."
    return click.option("--never", metavar=target, help=text)


def overwrite(command: Decorated) -> Decorated:
    return click.option("--overwrite", is_flag=True, help="Replace existing output files.")(command)


def instances(command: Decorated) -> Decorated:
    command = option("max_steps", type=click.IntRange(1), metavar="N")(command)
    return option("max_instances", type=click.IntRange(1), metavar="N")(command)


def first(command: Decorated) -> Decorated:
    text = "Number of the first search: 0 as in the paper's counts of firings, 1 as in its text."
    return click.option("--first", type=click.IntRange(0, 1), default=0, show_default=True, help=text)(command)


_HISTORY = (
    "PATH|TYPE=PATH|URL|TABLE",
    "CSV, JSON lines or Parquet file; a directory or glob pattern of files; - is standard input; files at an address "
    "that Spark reads (s3a://..); a table of Spark (table:NAME, delta:PATH, iceberg:NAME, jdbc:URL).  Repeatable.",
)
_STREAM = (
    "DIR|TYPE=DIR|FILE|URL|kafka://..|TABLE",
    "Directory to watch for new files, here or at an address that Spark reads (s3a://..), Kafka topics, a table of "
    "Spark to follow (table:NAME, delta:PATH, iceberg:NAME), or a file of recorded events to replay.  Repeatable.",
)


def inputs(*, required: bool, live: bool = False, typed: bool = True) -> Callable[[Decorated], Decorated]:
    """Input and clock options, of a history or of what is ``live``; they arrive as one :class:`Input` called ``given``.

    ``typed``: ``--type`` names the type of events; otherwise the command has its own option of this name.

    What is live runs on Spark, and says for itself whether it ends if nothing is said (``ended`` is None).
    """
    metavar, text = _STREAM if live else _HISTORY
    ends = "Stop at the end of the input that is available now, or wait for more.  [default: --ended only for FILE]"
    options: list[Callable[[Decorated], Decorated]] = [
        click.option("--events", "-e", multiple=True, required=False, metavar=metavar, help=text),
        *(
            [click.option("--type", metavar="TYPE", help="Event type of --events that are given without TYPE=.")]
            if typed
            else []
        ),
        click.option(
            "--format", type=click.Choice(["csv", "jsonl", "json", "parquet"]),
            help="Format of --events; overrides the suffix.",
        ),
        click.option("--delimiter", default=",", show_default=True, metavar="C", help="Column delimiter of CSV files."),
        click.option("--encoding", default="utf-8", show_default=True, metavar="NAME", help="Encoding of text."),
        option("facts", multiple=True, metavar="NAME=PATH"),
        *(option(n, f"--{n}-column", metavar="NAME") for n in ("type", "time", "end", "sequence", "label")),
        option("time_unit", metavar="UNIT"),
        option("time_format", metavar="FORMAT"),
        option("zone", metavar="NAME"),
        option("bad_rows", type=click.Choice(["error", "skip"])),
        option("start", metavar="TIME"),
        option("until", metavar="TIME"),
        option("ended", "--ended/--open", **({"default": None, "help": ends} if live else {})),
    ]  # fmt: skip
    if not live:
        options.append(click.option(
            "--host", type=click.Choice(["auto", "local", "spark"]), default="auto", show_default=True,
            help="Where to run: in this process (local) or on Spark.  auto: on Spark if the files are large, or if a "
            "Spark session or server is configured.",
        ))  # fmt: skip

    def decorate(command: Decorated) -> Decorated:
        def call(**arguments: Any) -> Any:
            names = Input.__dataclass_fields__
            if live:
                arguments["host"] = "spark"
            own = {} if typed else {"type": arguments.pop("type", None)}
            arguments |= {} if typed else {"type": None}
            if "rules" in arguments:
                arguments["rules"], more = _sorted_out(arguments["rules"])
                arguments["events"] += more
            if required and not arguments["events"]:
                raise click.UsageError("Missing option '--events' / '-e'.")
            given = Input(**{n: arguments.pop(n) for n in names})
            if given.type is not None:
                named = (text if split_type(text)[0] else f"{given.type}={text}" for text in given.events)
                given = replace(given, events=tuple(named))
            return command(given=given, **own, **arguments)

        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
        decorated: Decorated = call
        for one in reversed(options):
            decorated = one(decorated)
        return decorated

    return decorate


def _sorted_out(rules: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of rules, and files of events among them: `-e a.csv b.csv`, as a shell makes of `-e *.csv`, means both."""
    events = tuple(r for r in rules if format_of(Path(split_type(r)[1])) is not None)
    kept = tuple(r for r in rules if r not in events)
    if not kept:
        text = f"RULES contains only event files: {', '.join(events)}"
        raise UsageProblem.of("bad-option", text, hint="put the rules first: occurs COMMAND RULES... --events PATH")
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
        return places((text for text in self.events if not by_spark(text)), self.format)

    @cached_property
    def tables(self) -> list[tuple[str | None, TablePlace | Files]]:
        """What Spark reads of the events of a history, tables and files at addresses, each with its type if one is
        given."""
        if not any(map(by_spark, self.events)):
            return []  # most runs need no module of tables
        from occurs.connect.sparktables.address import Files
        from occurs.connect.sparktables.place import BATCH, table_places

        found = table_places(self.events)
        for _, place in found:
            place.options_for(BATCH, "--events")
        pairs = [split_type(text) for text in self.events]
        return [*found, *((name, Files.of(text, self.format)) for name, text in pairs if is_address(text))]

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
