"""Events as an editor names them: files of the working directory, and options as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.connect.files import read_place, read_places
from occurs.connect.lines import line_numbers
from occurs.connect.places import Place, places, split_type
from occurs.errors import InputProblem, LimitProblem, Problem, UsageProblem, did_you_mean
from occurs.model.astext import plain_text
from occurs.model.source import InputOptions, Source
from occurs.model.time import TimeKind
from occurs.options import OPTIONS, among

#: options that say how text files are read, beside those of `detect`, in words
TEXT = {
    "delimiter": "Column delimiter of CSV files.",
    "encoding": "Encoding of text files.",
    "format": "Format of the files, whatever their suffixes.",
}
#: options of `detect` that are not for editors: they always ask why, and have no stream and no Spark
_NOT_HERE = ("because", "with_label", "progress", "provisional", "timeouts")
#: what an option may be, as data
KNOWN = (*(o.name for o in OPTIONS if o.of not in ("spark", "stream") and o.name not in _NOT_HERE), *TEXT)
#: what the help of commands says of their own form
_OF_COMMANDS = re.compile(r"\s*(\(empty: none\)|\[default: [^\]]*\])(?=\.?)|``|\s*Repeatable\.")


def described() -> dict[str, tuple[str, str]]:
    """By option, what it describes or changes (as in ``OPTIONS``; ``text``: how text files are read), and its meaning.

    >>> described()["time_unit"]
    ('input', 'Unit of integer times: us, ms, s, min, h or d.')
    """
    of = {o.name: (str(o.of), _OF_COMMANDS.sub("", o.help or o.words)) for o in OPTIONS}
    return {name: of.get(name) or ("text", TEXT[name]) for name in KNOWN}


class RunOptions:
    """Options of `detect` and of text files, as data: ``facts`` are names with paths.

    ``input``: how the events are read; ``plan``: what changes the plan or the run.  Raises UsageProblem for an option
    that is not known.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in KNOWN:
                hint = did_you_mean(name, KNOWN, "options")
                raise UsageProblem.of("bad-option", f"unknown option `{name}`", hint=hint)
        self._given = dict(given)
        self.input = InputOptions(**among(given, "input"), **{n: given[n] for n in TEXT if n in given})
        self.plan = among(given, "rules", "run")
        if isinstance(facts := self.plan.get("facts"), Mapping):
            self.plan["facts"] = {name: self._facts(str(path)) for name, path in facts.items()}
        self.ended = bool(given.get("ended", True))
        self.only: list[str] | None = given.get("only")

    def to_verify(self) -> dict[str, Any]:
        """The keywords of :meth:`occurs.Program.verify`."""
        return {**among(self._given, "input"), **among(self.plan, "rules")}

    def _facts(self, path: str) -> pa.Table:
        files = files_of([path], self.input)
        tables = [s.table for s in read_places(files, schemas={}, options=self.input)]
        return pa.concat_tables(tables, promote_options="permissive")


def files_of(events: Sequence[str], options: InputOptions) -> list[Place]:
    """The files that ``PATH`` and ``TYPE=PATH`` name, as on the command line.

    Raises InputProblem for one outside of the working directory, links followed, and for standard input.
    """
    root = Path.cwd().resolve()
    for text in events:
        path = split_type(text)[1]
        if path == "-" or not _inside(Path(path), root):  # before anything is said about what is there
            raise _forbidden(path)
    files = places(events, options.format)
    for place in files:
        if not _inside(place.path, root):
            raise _forbidden(str(place.path))
    return files


@dataclass(frozen=True)
class Reader:
    """Who reads events, for errors, and how many bytes of files it reads at most; and who is told how far that is."""

    name: str
    most_bytes: int
    hint: str
    #: is told, before each file, its path, the bytes of the files before it, and those of all
    told: Callable[[str, int, int], None] = lambda path, done, total: None


def sources_of(
    events: Sequence[str], declared: Mapping[str, Any], options: InputOptions, reader: Reader
) -> tuple[list[Source], list[np.ndarray | None]]:
    """The tables of files, and for each the lines on which its rows stand (None: they are no lines).

    Args:
        events: ``PATH`` or ``TYPE=PATH``.
        declared: The schemas of the program's types.
        options: How the files are read.
        reader: Who reads them.

    Raises:
        LimitProblem: The files have too many bytes.
        InputProblem: Files cannot be read; all problems are named.
    """
    files = files_of(events, options)
    size = sum(place.size for place in files)
    if size > reader.most_bytes:
        text = f"the events have {size:,} bytes, and {reader.name} reads at most {reader.most_bytes:,}"
        raise LimitProblem.of("too-large", text, hint=reader.hint)
    sources: list[Source] = []
    lines: list[np.ndarray | None] = []
    problems: list[Problem] = []
    done = 0
    for place in files:
        reader.told(str(place.path), done, size)
        done += place.size
        try:
            for source in read_place(place, declared, options):
                sources.append(source)
                lines.append(line_numbers(place, source, options))
        except InputProblem as error:
            problems += error.problems
    if problems:
        raise InputProblem(problems)
    return sources, lines


def time_text(ticks: int, kind: TimeKind) -> str | int:
    """A time as people see it: a timestamp as text, an integer as it is."""
    if not kind.timestamp:
        return ticks
    text: str = plain_text(pa.chunked_array([pa.array([ticks]).cast(pa.timestamp("us", tz="UTC"))]))[0].as_py()
    return text


def _inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
        return False


def _forbidden(path: str) -> InputProblem:
    return InputProblem.of("forbidden-path", f"{path} is not a file of the project", file=path)
