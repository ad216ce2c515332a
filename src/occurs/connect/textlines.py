"""The lines of text files as events of a program: ``FILE "f"`` of eSQL (pipes.md, 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, UsageProblem
from occurs.model.source import LINE, InputOptions, Source, TextFile

_INSIDE = "the path must be relative to the folder of the rules and inside it"


def line_sources(files: Mapping[str, TextFile], folders: Mapping[str, Path], options: InputOptions) -> list[Source]:
    """The lines of ``files`` (by type of event) as tables with the times 0, 1, 2 ..

    ``folders``: of the rules that were read of files.  Raises InputProblem (``missing-file``), and UsageProblem if a
    special column is called as the column of the lines.
    """
    if files and LINE in options.special:
        text = f"a special column is called `{LINE}`, which is the name of the column with the lines of FILE"
        raise UsageProblem.of("bad-option", text, hint="rename the column of the tables")
    out = []
    for type, file in files.items():
        lines = pa.array(_lines(file, folders), pa.string())
        out.append(Source(pa.table({options.time: np.arange(len(lines)), LINE: lines}), type, file.path))
    return out


def _lines(file: TextFile, folders: Mapping[str, Path]) -> list[str]:
    """The lines, without what ends them."""
    place = _place(file, folders)
    try:
        lines = place.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise _problem(file, f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise _problem(file, f"it cannot be read: {error.strerror or error}") from error
    return lines if lines[-1] else lines[:-1]


def _place(file: TextFile, folders: Mapping[str, Path]) -> Path:
    """Where a file is.  Raises InputProblem if it is not inside of the folder of its rules, links followed, or if it is
    no file; nothing is opened then."""
    if file.file is None or file.file not in folders:
        hint = "write the rules to a file and use occurs.load(path); paths are relative to the folder of the rules"
        raise _problem(file, "these rules are text, so there is no folder for relative paths", hint)
    folder, path = folders[file.file], PurePath(file.path)
    if path.is_absolute() or ".." in path.parts:
        raise _problem(file, f"this path may be outside {folder}", _INSIDE)
    try:
        found = (folder / path).resolve()
        inside, there, whole = found.is_relative_to(folder.resolve()), found.is_file(), found.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that no file can have
        raise _problem(file, f"it cannot be opened: {error}") from error
    if not inside:
        raise _problem(file, f"a link leads outside {folder}", _INSIDE)
    if not there:
        text = f"{folder / path} is not a file" if whole else f"there is no file {folder / path}"
        raise _problem(file, text, _INSIDE)
    return found


def _problem(file: TextFile, what: str, hint: str | None = None) -> InputProblem:
    """FILE cannot be read, and why."""
    message = f"`{file.definition}` reads FILE {file.path!r}: {what}"
    return InputProblem.of(
        "missing-file", message, file=file.file, span=file.span, hint=hint, value=file.path, definition=file.definition
    )
