"""From the input options to what ``Program.detect`` takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
from rich.console import Console

import occurs
from occurs.cli._messages import show
from occurs.cli._options import Input
from occurs.connect.files import read_places, read_sources, spark_can_read
from occurs.connect.places import is_address, is_table, split_type
from occurs.connect.spark import INSTALL, has_pyspark, runs_spark
from occurs.connect.tables import to_arrow
from occurs.errors import DefinitionProblem, Problem, UsageProblem, hardened
from occurs.model.source import Source
from occurs.options import among

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from occurs.checked_program import CheckedProgram
    from occurs.program import Program

#: files of more bytes together than this run on Spark if nothing is said
LOCAL_READS = 512 << 20
_SIZES = (("MB", 1_000_000), ("kB", 1_000))
#: text files beyond so many bytes together are read by Spark itself (bad rows are then named without their place)
SPARK_READS = 1 << 30


@contextmanager
def doing(what: str) -> Iterator[None]:
    """A spinner on stderr, if a person is looking at it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def load(
    paths: tuple[str, ...],
    language: str | None,
    *,
    strict: bool = False,
    require_bounds: bool = False,
    max_formula: int | None = None,
    values: Mapping[str, Any] | None = None,
) -> Program:
    """The program of some files; its warnings and notices go to stderr.  Raises what it finds wrong."""
    program = occurs.load(*paths, language=language, max_formula=max_formula, values=values)
    judge(program.problems, strict=strict, require_bounds=require_bounds)
    return program


def judge(problems: list[Problem], *, strict: bool, require_bounds: bool) -> None:
    """Show problems that are no errors; raise DefinitionProblem if an option makes errors of them."""
    problems = hardened(problems, strict=strict, require_bounds=require_bounds)
    if any(p.severity == "error" for p in problems):
        raise DefinitionProblem(problems)
    warn(problems)


def warn(problems: list[Problem]) -> None:
    """Problems that stop nothing, on stderr."""
    for problem in problems:
        show([problem])


def facts(given: Input) -> dict[str, pa.Table]:
    """``--facts NAME=PATH`` as tables."""
    out = {}
    for text in given.facts:
        name, path = split_type(text)
        if name is None:
            raise UsageProblem.of("bad-option", f"--facts {text}", hint="NAME=PATH")
        parts = [s.table for s in read_sources([path], options=given.options())]
        out[name] = pa.concat_tables(parts, promote_options="permissive")
    return out


def arguments(given: Input, *, skip: bool = False) -> dict[str, Any]:
    """The input options as keywords of ``detect``, ``explain`` and ``verify``, without those at their defaults."""
    out = among(vars(given.options(skip=skip)), "input")
    if given.ended is False:
        out["ended"] = False
    if given.zone != "UTC":
        out["zone"] = given.zone
    if given.facts:
        out["facts"] = facts(given)
    return out


def need_events(program: CheckedProgram, given: Input) -> None:
    """Refuse a run without events, unless all that the rules read is text files."""
    if not given.events and (program.external or not program.reads):
        raise click.UsageError("Missing option '--events' / '-e'.")


def host(program: CheckedProgram, given: Input) -> str:
    """Where a run goes, ``local`` or ``spark``.  What ``--host auto`` has chosen is told on stderr, with the reason."""
    if given.host != "auto":
        program.require(given.host)
        return given.host
    chosen, why = _automatic(program, given)
    click.echo(f"running {'on Spark' if chosen == 'spark' else 'in this process'}: {why} (--host)", err=True)
    program.require(chosen)
    return chosen


def _automatic(program: CheckedProgram, given: Input) -> tuple[str, str]:
    """The host that fits, and the reason."""
    if given.tables:
        first = str(given.tables[0][1])
        found = f"{first} is {'an address' if is_address(first) else 'a table'} that Spark reads"
        return ("spark", found) if program.runs_on("spark") else ("local", f"{found}, but the rules cannot run there")
    size = sum(place.size for place in given.places)
    events = next((f"{size / n:,.0f} {unit} of events" for unit, n in _SIZES if size >= n), f"{size} bytes of events")
    if os.environ.get("SPARK_REMOTE"):
        found = "SPARK_REMOTE is set"
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        found = "spark-submit started this process"
    elif runs_spark():
        found = "a Spark session is already running"
    elif size > LOCAL_READS:
        found = events
    else:
        return "local", events
    if not has_pyspark():
        return "local", f"{found}, but PySpark is not installed ({INSTALL})"
    if not program.runs_on("spark"):
        return "local", f"{found}, but the rules cannot run on Spark"
    return "spark", found


def session_for(given: Input, targets: Iterable[str | None] = ()) -> SparkSession:
    """The Spark session of a command, with the libraries that the tables of its events and ``targets`` need."""
    from occurs.connect.sparktables.place import TablePlace
    from occurs.connect.sparktables.session import table_session

    out = [TablePlace.parse(text) for text in targets if text is not None and is_table(text)]
    with doing("starting Spark"):
        return table_session([*(place for _, place in given.tables if isinstance(place, TablePlace)), *out])


def frames(session: SparkSession, given: Input, *, skip: bool = False) -> list[tuple[str | None, DataFrame]]:
    """The tables of the events, and their files at addresses, as DataFrames; ``skip`` leaves torn lines out."""
    from occurs.connect.sparktables.place import TablePlace
    from occurs.connect.sparktables.read import frame_of

    options = given.options(skip=skip)
    return [
        (name, frame_of(session, place) if isinstance(place, TablePlace) else place.frame(session, options, skip=skip))
        for name, place in given.tables
    ]


def read(program: CheckedProgram, given: Input, targets: Iterable[str | None] = ()) -> list[Any]:
    """All files and tables in this process, as sources with their places.

    Spark reads the tables and the files at addresses, with the libraries of ``targets`` in its session.
    """
    found = read_places(given.places, schemas=program.declared, options=given.options())
    if not given.tables:
        return found
    from occurs.connect.sparkcolumns import PLACE

    for (name, frame), (_, place) in zip(frames(session_for(given, targets), given), given.tables, strict=True):
        found.append(Source(to_arrow(frame.drop(*PLACE)), name, str(place)))
    return found


def on_spark(
    program: CheckedProgram, given: Input, *, skip: bool, targets: Iterable[str | None] = ()
) -> tuple[Any, SparkSession | None]:
    """Events for a run on Spark, and the session if they are sources that were read in this process.

    Parquet, and text of more than ``SPARK_READS`` bytes, is read by Spark, and so are tables and all files beside
    tables.  Other text, and Parquet that Spark does not read, is read in this process, where every bad row has a file
    and a number.  ``targets``: where output goes; tables among them need their libraries in the session.
    """
    from occurs.connect.spark import read_frames
    from occurs.connect.sparkerrors import own_errors

    files = given.places
    here = [p for p in files if p.data is not None or p.format != "parquet" or not spark_can_read(p.path)]
    sources = None
    if not given.tables and (here or not files) and sum(p.size for p in here) <= SPARK_READS:
        with doing("reading"):
            sources = read(program, given)
    session = session_for(given, targets)
    if sources is not None:
        return sources, session
    options = given.options(skip=skip)
    tables = frames(session, given, skip=options.bad_rows == "skip")
    with own_errors():
        return read_frames(session, files, options, skip=options.bad_rows == "skip", tables=tables), None
