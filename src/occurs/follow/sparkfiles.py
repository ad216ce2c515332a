"""The files that Spark keeps in a checkpoint, and those that it reads from there: which of them are damaged.

Spark reads its logs when a query starts, and the state with the first micro-batch.  Of a damaged file it often says
neither the name nor what to do.  So the logs are checked before Spark reads them, and a query that fails while it reads
its state is explained by the file that is damaged.  Where Hadoop's file system has written a checksum beside a file
(``.NAME.crc``) it is compared.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from occurs.connect.sparkerrors import translate
from occurs.errors import CheckpointProblem, OccursError

#: errors of Spark that are about what it keeps in the checkpoint
_STATE = re.compile(r"CANNOT_LOAD_STATE_STORE|STDS_FAILED|STREAMING_(?:CHECKPOINT|STATEFUL)|STATE_STORE_\w*SCHEMA")
#: causes that are not damage, whatever Spark was about to read
_OTHER = re.compile(r"No space left|Too many open files|OutOfMemory|Cannot allocate memory|Permission denied")
#: in the text of an exception the plan of the query, which names the checkpoint, too
_PLAN = re.compile(r"^\s*[+:~|-].*$|^(?:Current|Identifier|Logical).*$", re.MULTILINE)
_CAUSE = re.compile(r"^(?:: |Caused by: )?([\w.$]+(?:Exception|Error)(?:: \S.*)?)$", re.MULTILINE)
_COMPACT = ".compact"


def check(spark: Path) -> None:
    """Check what Spark reads from the checkpoint before it reads state.  Raises CheckpointProblem (``bad-checkpoint``).

    ``spark``: Spark's directory in the checkpoint; beside it are the directories that it reads files from.
    """
    offsets, commits = _numbers(spark / "offsets"), _numbers(spark / "commits")
    _be_there(spark / "metadata", bool(offsets or commits))
    last = max([*offsets, *commits], default=None)
    if last is not None:
        for number in (last - 1, last):
            _be_there(spark / "offsets" / str(number), number >= 0)
        done = [spark / "commits" / str(n) for n in commits[-1:]]
        for path in [*(spark / "offsets" / str(n) for n in offsets[-2:]), *done]:
            _log(path)
        if not isinstance(_log(spark / "metadata")[0].get("id"), str):
            raise _strange(spark / "metadata")
        _sources(spark, spark / "offsets" / str(last))
    for name in ("_metadata", "_stateSchema"):
        for path in sorted(spark.glob(f"state/*/{name}/**/*")):
            if path.is_file() and not path.name.startswith("."):
                _intact(path)
    for path in sorted(p for name in ("spool", "history") for p in (spark.parent / name).glob("*.parquet")):
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 4))
            if file.read() != b"PAR1":
                raise CheckpointProblem.damaged(path, "its end is missing")


def _sources(spark: Path, offsets: Path) -> None:
    """The logs of the files that each source has handed out, up to the latest offsets; those of ours must be there."""
    lines = offsets.read_text().splitlines()
    if len(lines) < 3:
        raise _strange(offsets)
    for number, line in enumerate(lines[2:] if lines[0] == "v1" else ()):
        folder = spark / "sources" / str(number)
        offset = json.loads(line) if line != "-" else None
        last = offset.get("logOffset", -1) if isinstance(offset, dict) else -1
        if last == -1:
            _intact(folder / "0")  # where a topic begins
        whole = [n for n in _numbers(folder, _COMPACT) if n <= last]
        names = [f"{n}{_COMPACT}" for n in whole[-1:]] + [str(n) for n in range(max(whole, default=-1) + 1, last + 1)]
        for path in (folder / name for name in names):
            _be_there(path, True)
            for entry in _log(path):
                if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
                    raise _strange(path)
                file = Path(unquote(urlparse(entry["path"]).path))
                if file.is_relative_to(spark.parent):
                    _be_there(file, True)


def _numbers(folder: Path, suffix: str = "") -> list[int]:
    """The numbers of the files of a log, least first."""
    names = [p.name.removesuffix(suffix) for p in folder.glob(f"[0-9]*{suffix}")] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isdecimal())


def _be_there(path: Path, wanted: bool) -> None:
    if wanted and not path.is_file():
        raise CheckpointProblem.damaged(path, "it is missing")


def _log(path: Path) -> list[Any]:
    """The JSON values of a file of a log: lines behind one with a version; or the file is one object."""
    _intact(path)
    try:
        lines = path.read_text().splitlines()
        versioned = re.fullmatch(r"v\d+", lines[0]) is not None if lines else False
        found = [json.loads(line) for line in lines[versioned:] if line != "-"]
    except ValueError as error:
        raise CheckpointProblem.damaged(path, error) from error
    if not found or not isinstance(found[0], dict):
        raise _strange(path)
    return found


def _strange(path: Path) -> CheckpointProblem:
    return CheckpointProblem.damaged(path, "it does not have Spark's format")


def _intact(path: Path) -> None:
    if _differs(path):
        raise CheckpointProblem.damaged(path, "its checksum is wrong")


def _differs(path: Path) -> bool:
    """Is a file unlike the checksum beside it?  False if there is none, or none that can be read."""
    beside = path.parent / f".{path.name}.crc"
    if not beside.is_file() or not path.is_file():
        return False
    sums = beside.read_bytes()
    size = int.from_bytes(sums[4:8], "big")
    if sums[:4] != b"crc\0" or not 0 < size <= 1 << 20:
        return False
    with open(path, "rb") as file:
        for at in range(8, len(sums), 4):
            if zlib.crc32(file.read(size)).to_bytes(4, "big") != sums[at : at + 4]:
                return True
        return bool(file.read(1))


# -- a query that has failed -------------------------------------------------------------------------------------------
@contextmanager
def explained(spark: Path) -> Iterator[None]:
    """The body runs a query of this checkpoint: if Spark fails at a damaged file, a CheckpointProblem names it."""
    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        ours = translate(error)
        if isinstance(ours, CheckpointProblem) and ours.kind == "bad-checkpoint":  # of a worker, which knows no paths
            placed = [replace(p, message=f"{spark / 'state'}: {p.message}") for p in ours.problems]
            raise CheckpointProblem(placed) from error
        found = None if ours is not None else _damage(spark, str(error))
        if found is not None:
            raise found from error
        raise


def _damage(spark: Path, text: str) -> CheckpointProblem | None:
    """What is damaged, if the text of Spark's exception is about reading files of the checkpoint."""
    said = unquote(_PLAN.sub("", text))
    named = [Path(p.rstrip(".,;:)")) for p in re.findall(rf"{re.escape(str(spark.parent))}/[^\s'\"]+", said)]
    if _OTHER.search(said) or not (named or _STATE.search(said)):
        return None
    state = [p for p in sorted((spark / "state").rglob("*")) if p.is_file()]
    for path in (p for p in state if _differs(p)):
        return CheckpointProblem.damaged(path, "its checksum is wrong")
    for path in named:
        if not path.exists():
            return CheckpointProblem.damaged(path, "it is missing")
    for path in state:
        if path.suffix == ".crc" and not (path.parent / path.name[1:-4]).exists():
            return CheckpointProblem.damaged(path.parent / path.name[1:-4], "it is missing")
    causes = ["Spark cannot read it", *(c for c in _CAUSE.findall(said) if "awaitResult" not in c)]
    return CheckpointProblem.damaged(named[0] if named else spark / "state", causes[-1])
