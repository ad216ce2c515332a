"""Where events are: ``PATH``, ``TYPE=PATH``, a directory; which files, in which format."""

from __future__ import annotations

import glob
import gzip
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from occurs.errors import InputProblem, Problem, UsageProblem, did_you_mean
from occurs.model.values import short

#: suffix -> format; also with .gz or .zst behind it, except Parquet
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}


#: suffixes of files that are packed
PACKED = (".gz", ".zst")
#: what ``--format`` may say, and the format that it names
GIVEN = {"csv": "csv", "jsonl": "json", "json": "json", "parquet": "parquet"}
STDIN = Path("<stdin>")
#: what the address of a table of Spark begins with (:mod:`occurs.connect.sparktables`)
TABLES = ("table", "delta", "iceberg", "jdbc")


@dataclass(frozen=True, slots=True)
class Place:
    """One file: ``type`` is the event type of all its rows, None if a column says it.  ``data``: its bytes, unpacked,
    where there is no file on this machine: they came through standard input or from ``address``."""

    path: Path
    format: str
    type: str | None = None
    data: bytes | None = None
    address: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.address or str(self.path)

    @property
    def packed(self) -> str | None:
        """The suffix by which it is packed."""
        return None if self.path.suffix.lower() not in PACKED else self.path.suffix.lower()

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.data is None else len(self.data)

    def content(self) -> bytes:
        """All of it, unpacked.  Raises OSError, EOFError and zlib.error."""
        return self.unpacked(self.path.read_bytes()) if self.data is None else self.data

    def unpacked(self, data: bytes) -> bytes:
        """The bytes of a file of this name, unpacked.  Raises EOFError, OSError and zlib.error."""
        if self.packed == ".gz":
            return gzip.decompress(data)
        if self.packed == ".zst":
            with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
                return bytes(stream.read())
        return data


def decodes(data: bytes) -> bool:
    """Is this UTF-8?"""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def places(texts: Iterable[str], format: str | None = None) -> list[Place]:
    """The files that ``--events`` arguments name, a directory's and those of a pattern in the order of their names.

    ``format``: of all files, whatever their suffixes (one of ``GIVEN``).  ``-`` is standard input.  Raises InputProblem
    (``missing-file``, with the nearest names) and UsageProblem (``unknown-format``).  All problems are reported
    together.
    """
    out: list[Place] = []
    problems = []
    texts = list(texts)
    if sum(split_type(text)[1] == "-" for text in texts) > 1:
        hint = "save it as a file, or name it once and use a type column"
        raise UsageProblem.of("bad-option", "standard input, `-`, is named twice but can only be read once", hint=hint)
    for text in texts:
        try:
            out += _place(text, format)
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
    if option is not None and "://" in str(text) and not os.path.exists(text):
        hint = "copy it to a local file; on a cluster, use a folder that is mounted on the driver and on all workers"
        raise UsageProblem.of("unsupported", f"{option} {text} is an address, not a path on this machine", hint=hint)
    try:
        path = Path(text).expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path
    except (OSError, RuntimeError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = short(str(text)).removeprefix("'").removesuffix("'")
        message = f"{shown} is not a valid path: {why}"
        if option is not None:
            raise UsageProblem.of("missing-file", f"{option} {message}") from error
        raise InputProblem.of("missing-file", message) from error
    return path


def is_table(text: str) -> bool:
    """Is this the address of a table of Spark, such as ``delta:PATH``?"""
    return text.partition(":")[0] in TABLES and ":" in text


#: schemes of addresses that are not those of a file system
_OTHERS = ("http", "https", "ftp", "kafka")


def is_address(text: str) -> bool:
    """Is this an address in a file system, such as ``hdfs://name/folder``?"""
    scheme, found, _ = text.partition("://")
    return bool(found) and scheme.isalnum() and scheme.lower() not in _OTHERS


def here(text: str) -> str:
    """The path that a ``file://`` address names; any other text as it is.  Two names of a place are to be one."""
    return text[len("file://") :] if text.startswith("file:///") else text


def by_spark(text: str) -> bool:
    """Does Spark read this ``--events`` argument: a table, or files at an address?"""
    _, place = split_type(text)
    return is_table(place) or is_address(place)


def split_type(text: str) -> tuple[str | None, str]:
    """``TYPE=PATH`` or ``PATH``.  A path that exists as written, or has a ``/`` before its ``=``, is a path; so is the
    address of a table."""
    name, equals, path = text.partition("=")
    if not equals or "/" in name or "\\" in name or is_table(name) or os.path.exists(text):
        return None, text
    if not name or not path:
        hint = "write TYPE=PATH, without blanks around the `=`, or PATH"
        raise UsageProblem.of("bad-option", f"events `{text}`", hint=hint)
    return name, path


def format_of(path: Path) -> str | None:
    """``csv``, ``json`` or ``parquet`` by the suffix; None for any other."""
    suffix = path.suffix.lower()
    if suffix in PACKED:
        found = FORMATS.get(Path(path.stem).suffix.lower())
        return None if found == "parquet" else found
    return FORMATS.get(suffix)


def place_of(path: Path, type: str | None, format: str | None) -> Place:
    """A file as it is read: of the ``format`` that is given, else of that which its suffix names."""
    return Place(path, str(format_of(path)) if format is None else GIVEN[format], type)


def _place(text: str, format: str | None) -> list[Place]:
    if by_spark(text):
        hint = "--events reads tables and addresses; write the rows to a file first"
        what = "a table of Spark" if is_table(split_type(text)[1]) else "an address"
        raise UsageProblem.of("unsupported", f"`{text}` is {what}, not a file", hint=hint)
    if "://" in text:
        address = text.split("=", 1)[-1]
        scheme = address.split("://")[0]
        hint = f"download it first, or use `curl {address} | occurs run .. --events - --format csv`"
        if scheme == "kafka":
            hint = f"to read topics, use `occurs follow RULES --events {address} --checkpoint DIR`"
        message = f"events from `{scheme}://` cannot be read as a history: `{text}`"
        raise UsageProblem.of("unsupported", message, hint=hint)
    name, spelled = split_type(text)
    if spelled == "-":
        if format is None:
            hint = "specify the format with --format csv, jsonl or parquet"
            raise UsageProblem.of("unknown-format", "the format of standard input is unknown", hint=hint)
        return [Place(STDIN, GIVEN[format], name, sys.stdin.buffer.read())]
    path = user_path(spelled)
    if path.is_dir():  # also one called x.parquet: so Spark writes
        return [place_of(p, name, format) for p in _inside(path, format)]
    if not path.exists() and glob.has_magic(spelled):
        found = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]
        if not found:
            here = ", ".join(f"`{p.name}`" for p in _siblings(path)[:12]) or "nothing"
            hint = f"files in {path.parent}: {here}"
            raise InputProblem.of("missing-file", f"no file matches the pattern {path}", file=str(path), hint=hint)
        return [place for p in found for place in _one(p, name, format)]
    return _one(path, name, format)


def _siblings(path: Path) -> list[Path]:
    """The files beside a path, without hidden ones."""
    here = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    return [p for p in here if not p.name.startswith(".")]


def _one(path: Path, name: str | None, format: str | None) -> list[Place]:
    if path.is_dir():
        return [place_of(p, name, format) for p in _inside(path, format)]
    if not path.exists():
        hint = did_you_mean(path.name, [p.name for p in _siblings(path)], f"files in {path.parent}")
        if not path.parent.is_dir():
            hint = f"the directory {path.parent} does not exist either"
        raise InputProblem.of("missing-file", f"there is no file {path}", file=str(path), hint=hint)
    if (format or format_of(path)) is None:
        known = "specify the format with --format csv, jsonl or parquet; known suffixes: " + " ".join(FORMATS)
        known += " (text files also with .gz or .zst)"
        if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
            known = "spreadsheets cannot be read; save it as CSV (and use --delimiter ';' for semicolons)"
        raise UsageProblem.of("unknown-format", f"{path}: the suffix does not identify a format", hint=known)
    return [place_of(path, name, format)]


def _inside(folder: Path, format: str | None) -> list[Path]:
    """The readable files below a directory; hidden ones and Spark's _SUCCESS are passed over."""
    out = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if (format or format_of(path)) and path.is_file() and not any(p.startswith((".", "_")) for p in parts):
            out.append(path)
    if not out:
        hint = "known suffixes: " + " ".join(FORMATS)
        raise InputProblem.of("missing-file", f"there are no event files in {folder}", file=str(folder), hint=hint)
    return out
