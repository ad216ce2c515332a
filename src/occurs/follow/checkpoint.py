"""The directory of ``--checkpoint``: what must not change while it lives, and which of Spark's files are damaged.

``identity``: of this directory and no other; ``occurs.json``: what the stream was started with; ``lock``: who follows
it now; ``spark/``: offsets and state; ``control/``: whether the stream was told that nothing comes any more;
``history/``: for new rules; ``spool/``: of a replay; ``closed``: all is done.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import uuid
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlparse

from occurs.connect.atomic_files import durable, sealed, unsealed, writing
from occurs.connect.places import user_path
from occurs.errors import CheckpointProblem, OccursError, Problem, ResourceProblem, UsageProblem
from occurs.hosts.stream.state_migration import quoted

#: of the files here; Spark's and the state's have versions of their own.  In version 2 buckets were fixed
VERSION = 3
READ = (2, VERSION)
#: what of the entry must be the same after a restart -> how a message calls it
_FIXED = {
    "source": "the kind of source (--events)",
    "events": "--events",
    "labelled": "--because or --label",
    "because": "--because",
    "provisional": "--provisional",
    "window": "--window or --step",
    "only": "--only",
    "start": "--start",
    "zone": "--zone",
    "facts": "--facts",
    "special": "--time-unit or the column names",
    "stages": "the number of stages with different keys",
}
#: what an entry looks like (see :func:`misfit`); what was added later may be missing
_TEXTS = [str]
_SHAPE = {
    "version": int,
    "id": str,
    "pinned": {
        "schemas": {...: list},
        "kind": list,
        "sequence": bool,
        "label": bool,
        "end?": bool,
        "lists?": {...: str},
    },
    "source": str,
    "events": _TEXTS,
    "labelled": bool,
    "because?": (bool, None),
    "provisional?": (bool, None),
    "window?": (_TEXTS, None),
    "only": (_TEXTS, None),
    "start": (str, None),
    "zone?": str,
    "facts?": (_TEXTS, None),
    "special": _TEXTS,
    "stages": int,
    "rules": {...: str},
    "history?": _TEXTS,
}
#: by version, how an entry says into how many parts the state is cut
_NUMBERED: dict[int, dict[str, Any]] = {2: {"buckets": int}, 3: {"ranges": int, "even": bool, "one_scan?": bool}}
#: what a start makes before it settles, and all that there may be
_BEFORE = {"identity", "lock", "control", "history", "spool"}
_OURS = {*_BEFORE, "spark", "closed", "kafka"}
_CLOSING = b"closing\n"
_FRESH = "use a new --checkpoint (its past is empty), or the options that this one was started with"


class Checkpoint:
    """One follower's directory, held by a lock while the object is open.

    Raises ResourceProblem (``locked``, ``disk``), CheckpointProblem (``bad-checkpoint``, ``other-program``) and
    UsageProblem (``bad-option``) for a directory that is something else.
    """

    def __init__(self, path: str):
        self.path = user_path(path, "--checkpoint").absolute()
        self._lock: IO[str] | None = None
        with writing(self.path, "disk"):
            if self.path.exists() and not self.path.is_dir():
                raise UsageProblem.of("bad-option", f"--checkpoint {path} is a file, not a directory")
            if not self.path.parent.is_dir():
                text = f"--checkpoint {path}: there is no directory {self.path.parent}"
                raise UsageProblem.of("missing-file", text)
            self._be_ours(path)
            self.path.mkdir(exist_ok=True)
            self._take()
        #: what the latest start was settled with; None: no start has come so far
        self.entry: dict[str, Any] | None = self._read()
        if self.entry is None:
            with writing(self.path, "disk"):
                for left in self.history.glob("*"):  # for rules that another start had
                    left.unlink()
        #: of this directory and no other
        self.id: str = self._begun() if self.entry is None else str(self.entry["id"])

    def _be_ours(self, named: str) -> None:
        """Without an entry there is nothing but what a start leaves that is stopped before it settles."""
        if not self.path.is_dir() or self._file.exists():
            return
        # a kill leaves parts of the two files that are written first
        torn = tuple(f".{p.name}." for p in (self._identity, self._file))
        names = {p.name for p in self.path.iterdir() if not p.name.startswith(torn)}
        if not names <= _OURS:
            text = f"--checkpoint {named}: the directory is not an Occurs checkpoint"
            hint = "name a new directory, or the checkpoint of an earlier `occurs follow`"
            raise CheckpointProblem.of("bad-checkpoint", text, hint=hint)
        if not names <= _BEFORE:
            raise CheckpointProblem.damaged(self._file, "it is missing")

    @property
    def _file(self) -> Path:
        return self.path / "occurs.json"

    @property
    def _identity(self) -> Path:
        return self.path / "identity"

    def _begun(self) -> str:
        """The identity of a checkpoint that no start has settled: on the disk before anything is claimed with it."""
        if not self._identity.exists():
            self._write(self._identity, uuid.uuid4().hex.encode())
        found = self._identity.read_bytes()
        if not re.fullmatch(rb"[0-9a-f]{32}", found):
            raise CheckpointProblem.damaged(self._identity, f"{len(found)} bytes that are not an identity")
        return found.decode()

    @property
    def spark(self) -> Path:
        return self.path / "spark"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    @property
    def history(self) -> Path:
        return self.path / "history"

    @property
    def control(self) -> Path:
        return self.path / "control"

    # -- one at a time -------------------------------------------------------------------------------------------------
    def _take(self) -> None:
        """The lock is the system's on an open file: it ends with the process that has it, however that ends."""
        lock = open(self.path / "lock", "a+", errors="replace")  # noqa: SIM115  it stays open
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            pid = next(iter(re.findall(r"\A\d{1,10}$", lock.read(20), re.MULTILINE)), "unknown")
            lock.close()
            text = f"--checkpoint {self.path} is in use by another follower (process {pid})"
            raise ResourceProblem.of("locked", text, hint="stop that follower, or use another --checkpoint") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    # -- what must not change ------------------------------------------------------------------------------------------
    def _read(self) -> dict[str, Any] | None:
        """The entry of the latest start, which is whole and of the right shape; None in a new checkpoint."""
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            entry = unsealed(data)
        except ValueError as error:
            raise CheckpointProblem.damaged(self._file, error) from error
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, int) and version not in READ:
            text = f"{self._file} has version {version}, but this Occurs reads versions {READ[0]} to {READ[-1]}"
            raise CheckpointProblem.of("bad-checkpoint", text, hint="use a new --checkpoint")
        why = misfit(entry, {**_SHAPE, **_NUMBERED[entry["version"]]} if version in READ else _SHAPE)
        if why is not None:
            raise CheckpointProblem.damaged(self._file, why)
        gone = [name for name in entry.get("history", ()) if not (self.history / name).exists()]
        if gone:
            raise CheckpointProblem.damaged(self.history / gone[0], "it is missing")
        return dict(entry)

    def compare(self, entry: Mapping[str, Any], *, learns: bool = False) -> list[Problem]:
        """What has changed since the start before, and may; ``learns``: new rules are given history.

        Raises CheckpointProblem for what must not change.
        """
        if self.entry is None:
            return []
        problems: list[Problem] = []
        for name, called in _FIXED.items():
            if self.entry.get(name) != entry.get(name):
                before, now = _shown(self.entry.get(name)), _shown(entry.get(name))
                text = f"{self.path}: {called} cannot change: it was {before}, not {now}"
                problems.append(Problem("other-options", text))
        old, new = self.entry["rules"], entry["rules"]
        if old != new and entry["source"] == "record":
            text = f"{self.path}: rules cannot change while recorded events are replayed"
            problems.append(Problem("other-program", text))
        if problems:  # the way out is the same for all: it is told once
            raise CheckpointProblem([*problems[:-1], replace(problems[-1], hint=_FRESH)])
        return [Problem("changed-program", _changes(old, new, learns), severity="notice")] if old != new else []

    def settle(self, entry: Mapping[str, Any]) -> None:
        """Remember ``entry`` as that of the latest start."""
        laid = sorted(p.name for p in self.history.glob("*.parquet"))
        now = {"version": VERSION, "id": self.id, **entry, "history": laid}
        if self.entry != now:
            self.entry = now
            self._write(self._file, sealed(now))

    # -- the end -------------------------------------------------------------------------------------------------------
    @property
    def closed(self) -> bool:
        """Has the stream been read to its end, and the last instant been judged?"""
        return (self.path / "closed").exists()

    def note_closed(self) -> None:
        self._write(self.path / "closed", b"")

    def tell_closing(self) -> None:
        """Nothing comes any more: a row for the query's control stream."""
        self.control.mkdir(exist_ok=True)
        told = self.control / "closing.txt"
        if not told.exists() or told.read_bytes() != _CLOSING:  # Spark takes it once, whatever is in it
            self._write(told, _CLOSING)

    def _write(self, path: Path, data: bytes) -> None:
        with writing(path, "disk"), durable(path) as out:
            out.write(data)


def misfit(value: Any, shape: Any, where: str = "") -> str | None:
    """Why a JSON value does not have a shape; None: it has.

    A shape is a type, None, a tuple of shapes of which one must fit, ``[shape]`` for a list of values, or an object by
    its keys: ``"key?"`` may be missing, ``...`` stands for all keys that are not named, which else are not looked at.
    """
    if isinstance(shape, tuple):
        found = [misfit(value, one, where) for one in shape]
        return None if None in found else found[0]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return _unlike(where, "an object", value)
        optional = {str(k).removesuffix("?") for k in shape if str(k).endswith("?")}
        named = {str(k).removesuffix("?"): one for k, one in shape.items() if k is not ...}
        missing = sorted(named.keys() - value.keys() - optional)
        if missing:
            return f"`{where}{missing[0]}` is missing"
        shapes = {k: named.get(k, shape.get(...)) for k in value if k in named or ... in shape}
        return next((why for k, one in shapes.items() if (why := misfit(value[k], one, f"{where}{k}."))), None)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return _unlike(where, "a list", value)
        return next((why for v in value if (why := misfit(v, shape[0], where))), None)
    if shape is None:
        return None if value is None else _unlike(where, "null", value)
    return None if type(value) is shape else _unlike(where, _CALLED[shape], value)


_CALLED = {str: "text", int: "a whole number", bool: "true or false", list: "a list"}


def _unlike(where: str, wanted: str, value: Any) -> str:
    place = f"`{where.removesuffix('.')}`" if where else "the content"
    return f"{place} is {json.dumps(value)[:40]}, not {wanted}"


def _changes(old: Mapping[str, str], new: Mapping[str, str], learns: bool) -> str:
    """What has become of every rule."""
    sees = "learn from --replay-from" if learns else "read only later events"
    added = [d for d in new if d not in old]
    changed = [d for d in new if d in old and old[d] != new[d]]
    gone = [d for d in old if d not in new]
    kept = len(new) - len(added) - len(changed)
    parts = [f"{len(added)} new, which {sees}"] * bool(added)
    parts += [f"{len(changed)} changed, which lose their partial matches and {sees}"] * bool(changed)
    parts += [f"{len(gone)} removed"] * bool(gone)
    parts += [f"{kept} unchanged"] * bool(kept)
    named = (("new", added), ("changed", changed), ("removed", gone))
    which = "; ".join(f"{word}: {quoted(found)}" for word, found in named if found)
    return f"the rules have changed since the last start: {'; '.join(parts)} ({which})"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "not given" if value is None else f"{value}"


# --- damage to Spark's files -----------------------------------------------------------------------------------------
# Spark reads its logs when a query starts, and the state with the first micro-batch.  Of a damaged file it often says
# neither the name nor what to do.  So the logs are checked before Spark reads them, and a query that fails while it
# reads its state is explained by the file that is damaged.  Where Hadoop's file system has written a checksum beside a
# file (``.NAME.crc``) it is compared.

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
    offsets, commits = numbers(spark / "offsets"), numbers(spark / "commits")
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
        whole = [n for n in numbers(folder, _COMPACT) if n <= last]
        names = [f"{n}{_COMPACT}" for n in whole[-1:]] + [str(n) for n in range(max(whole, default=-1) + 1, last + 1)]
        for path in (folder / name for name in names):
            _be_there(path, True)
            for entry in _log(path):
                if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
                    raise _strange(path)
                file = Path(unquote(urlparse(entry["path"]).path))
                if file.is_relative_to(spark.parent):
                    _be_there(file, True)


def numbers(folder: Path, suffix: str = "") -> list[int]:
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
    from occurs.connect.sparkerrors import translate

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
