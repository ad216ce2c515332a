"""Where events are: ``PATH``, ``TYPE=PATH``, a directory; which files, in which format."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from occurs.errors import InputProblem, Problem, UsageProblem, did_you_mean
from occurs.model.values import short

#: suffix -> format; also with .gz behind it, except Parquet
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One file: ``type`` is the event type of all its rows, None if a column says it."""

    path: Path
    format: str
    type: str | None = None


def places(texts: Iterable[str]) -> list[Place]:
    """The files that ``--events`` arguments name, a directory's in the order of their names.

    Raises InputProblem (``missing-file``, with the nearest names) and UsageProblem (``unknown-format``).  All problems
    are reported together.
    """
    out: list[Place] = []
    problems = []
    for text in texts:
        try:
            out += _place(text)
        except InputProblem as error:
            problems += error.problems
        except OSError as error:  # no right to look there, a name that is too long
            problems.append(Problem("missing-file", f"{text}: {error.strerror or error}", file=text))
    if problems:
        raise InputProblem(problems)
    return out


def user_path(text: str | Path, option: str | None = None) -> Path:
    """The path that a user names, with ``~`` expanded.  Nothing needs to be there.

    Raises InputProblem (``missing-file``) if no file can have that name (a loop of links, a NUL, a name that is too
    long, the home of nobody); UsageProblem if the value of an ``option`` is such a name.
    """
    try:
        path = Path(text).expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path
    except (OSError, RuntimeError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = short(str(text)).removeprefix("'").removesuffix("'")
        message = f"{shown} cannot be the path of a file: {why}"
        if option is not None:
            raise UsageProblem.of("missing-file", f"{option} {message}") from error
        raise InputProblem.of("missing-file", message) from error
    return path


def split_type(text: str) -> tuple[str | None, str]:
    """``TYPE=PATH`` or ``PATH``.  A path that exists as written, or has a ``/`` before its ``=``, is a path."""
    name, equals, path = text.partition("=")
    if not equals or "/" in name or "\\" in name or os.path.exists(text):
        return None, text
    if not name or not path:
        raise UsageProblem.of("bad-option", f"events `{text}`", hint="PATH, or TYPE=PATH for one type per file")
    return name, path


def format_of(path: Path) -> str | None:
    """``csv``, ``json`` or ``parquet`` by the suffix; None for any other."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        found = FORMATS.get(Path(path.stem).suffix.lower())
        return None if found == "parquet" else found
    return FORMATS.get(suffix)


def _place(text: str) -> list[Place]:
    if "://" in text:
        scheme = text.split("=", 1)[-1].split("://")[0]
        raise UsageProblem.of("unsupported", f"events from `{scheme}://` cannot be read as a history: `{text}`")
    name, spelled = split_type(text)
    path = user_path(spelled)
    if path.is_dir():  # also one called x.parquet: so Spark writes
        return [Place(p, f, name) for p, f in _inside(path)]
    if not path.exists():
        here = path.parent.iterdir() if path.parent.is_dir() else ()
        siblings = [p.name for p in here if not p.name.startswith(".")]
        hint = did_you_mean(path.name, siblings, f"files in {path.parent}")
        if not path.parent.is_dir():
            hint = f"there is no directory {path.parent} either"
        raise InputProblem.of("missing-file", f"there is no file {path}", file=str(path), hint=hint)
    found = format_of(path)
    if found is None:
        known = "known suffixes: " + " ".join(FORMATS) + " (.csv and .jsonl also with .gz)"
        raise UsageProblem.of("unknown-format", f"{path}: the suffix does not tell what is in it", hint=known)
    return [Place(path, found, name)]


def _inside(folder: Path) -> list[tuple[Path, str]]:
    """The readable files below a directory; hidden ones and Spark's _SUCCESS are passed over."""
    out = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        found = format_of(path)
        if found and path.is_file() and not any(p.startswith((".", "_")) for p in parts):
            out.append((path, found))
    if not out:
        hint = "wanted: " + " ".join(FORMATS)
        raise InputProblem.of("missing-file", f"there are no event files in {folder}", file=str(folder), hint=hint)
    return out
