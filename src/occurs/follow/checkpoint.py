"""The folder of ``--checkpoint``: what must not change while it lives, and which of Spark's files are damaged.

``identity``: of this folder and no other; ``occurs.json``: what the stream was started with; ``lock`` or ``lease/``:
who follows it now; ``spark/``: offsets and state; ``control/``: whether the stream was told that nothing comes any
more; ``history/``: for new rules; ``spool/``: of a replay; ``closed``: all is done.

The folder is a directory of this machine or an address that Spark reaches.  Occurs only uses the operations of
:class:`occurs.connect.store.Store`.
"""

from __future__ import annotations

import json
import re
import uuid
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlparse

from occurs.connect.atomic_files import sealed, unsealed, writing
from occurs.connect.places import user_path
from occurs.connect.store import Disk, Store
from occurs.errors import CheckpointProblem, OccursError, Problem, UsageProblem
from occurs.follow.lease import FileLock, Lease, Lock
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
_NUMBERED: dict[int, dict[str, Any]] = {
    2: {"buckets": int},
    3: {"ranges": int, "even": bool, "one_scan?": bool, "divide?": int},
}
#: what a start makes before it settles, and all that there may be
_BEFORE = {"identity", "lock", "lease", "control", "history", "spool"}
_OURS = {*_BEFORE, "spark", "closed", "kafka"}
#: folders of a checkpoint
SPARK, CONTROL, PAST, SPOOL = "spark", "control", "history", "spool"
_IDENTITY, _ENTRY, _CLOSED, _TOLD = "identity", "occurs.json", "closed", "control/closing.txt"
_CLOSING = b"closing\n"
_FRESH = "use a new --checkpoint (its past is empty), or the options that this one was started with"


class Checkpoint:
    """One follower's folder, held by a lock while the object is open.

    Raises ResourceProblem (``locked``, ``disk``), CheckpointProblem (``bad-checkpoint``, ``other-program``) and
    UsageProblem (``bad-option``) for a folder that is something else.
    """

    def __init__(self, path: str, store: Store | None = None):
        """``store``: of an address; without one, ``path`` is a directory of this machine."""
        self.store = _directory(path) if store is None else store
        self.path = self.store.address()
        self._lock: Lock | None = None
        #: history of another start, which is gone though a store may still show it
        self._dropped: set[str] = set()
        with writing(self.path, "disk"):
            self._be_ours(path)
            if isinstance(self.store, Disk):
                self.store.path.mkdir(exist_ok=True)
                self._lock = FileLock(self.store.path)
            else:
                self._lock = Lease(self.store)
            try:
                #: what the latest start was settled with; None: no start has come so far
                self.entry: dict[str, Any] | None = self._read()
                if self.entry is None:
                    for left in self.store.list(PAST):  # for rules that another start had
                        self.store.delete(left)
                        self._dropped.add(left)
                #: of this folder and no other
                self.id: str = self._begun() if self.entry is None else str(self.entry["id"])
            except BaseException:
                self.close()
                raise

    def _be_ours(self, named: str) -> None:
        """Without an entry there is nothing but what a start leaves that is stopped before it settles."""
        if self.store.get(_ENTRY) is not None:
            return
        # a kill leaves parts of the two files that are written first
        torn = tuple(f".{name}." for name in (_IDENTITY, _ENTRY))
        names = {name for name in self.store.list() if not name.startswith(torn)}
        if _ENTRY in names:  # another follower has settled just now: the lock tells
            return
        if not names <= _OURS:
            text = f"--checkpoint {named}: the directory is not an Occurs checkpoint"
            hint = "name a new directory, or the checkpoint of an earlier `occurs follow`"
            raise CheckpointProblem.of("bad-checkpoint", text, hint=hint)
        if not names <= _BEFORE:
            raise CheckpointProblem.damaged(self.store.address(_ENTRY), "it is missing")

    def _begun(self) -> str:
        """The identity of a checkpoint that no start has settled: it is stored before anything is claimed with it."""
        found = self.store.get(_IDENTITY)
        if found is None:
            self.store.put_new(_IDENTITY, uuid.uuid4().hex.encode())
            found = self.store.get(_IDENTITY) or b""
        if not re.fullmatch(rb"[0-9a-f]{32}", found):
            why = f"{len(found)} bytes that are not an identity"
            raise CheckpointProblem.damaged(self.store.address(_IDENTITY), why)
        return found.decode()

    # -- one at a time -------------------------------------------------------------------------------------------------
    @property
    def lost(self) -> bool:
        """Is it known that another follower has this checkpoint now?"""
        return self._lock is not None and self._lock.lost

    def check_held(self) -> None:
        """Raise ResourceProblem: ``locked`` if another follower has this checkpoint now, ``disk`` if that cannot be
        found out.  Called before each commit."""
        if self._lock is not None:
            with writing(self.path, "disk"):
                self._lock.check()

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -- what must not change ------------------------------------------------------------------------------------------
    def _read(self) -> dict[str, Any] | None:
        """The entry of the latest start, which is whole and of the right shape; None in a new checkpoint."""
        data = self.store.get(_ENTRY)
        if data is None:
            return None
        place = self.store.address(_ENTRY)
        try:
            entry = unsealed(data)
        except ValueError as error:
            raise CheckpointProblem.damaged(place, error) from error
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, int) and version not in READ:
            text = f"{place} has version {version}, but this Occurs reads versions {READ[0]} to {READ[-1]}"
            raise CheckpointProblem.of("bad-checkpoint", text, hint="use a new --checkpoint")
        why = misfit(entry, {**_SHAPE, **_NUMBERED[entry["version"]]} if version in READ else _SHAPE)
        if why is not None:
            raise CheckpointProblem.damaged(place, why)
        there = set(self.store.list(PAST))
        gone = [name for name in entry.get("history", ()) if f"{PAST}/{name}" not in there]
        if gone:
            raise CheckpointProblem.damaged(self.store.address(f"{PAST}/{gone[0]}"), "it is missing")
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

    def lay(self, name: str, data: bytes) -> None:
        """Leave a Parquet file of history, which the start that settles next remembers."""
        self._write(f"{PAST}/{name}", data)
        self._dropped.discard(f"{PAST}/{name}")

    def settle(self, entry: Mapping[str, Any]) -> None:
        """Remember ``entry`` as that of the latest start."""
        with writing(self.path, "disk"):
            laid = [name for name in self.store.list(PAST) if name not in self._dropped]
        names = [name.removeprefix(f"{PAST}/") for name in laid]
        shown = [name for name in names if name.endswith(".parquet") and not name.startswith(".")]
        now = {"version": VERSION, "id": self.id, **entry, "history": shown}
        if self.entry != now:
            self.entry = now
            self._write(_ENTRY, sealed(now))

    # -- the end -------------------------------------------------------------------------------------------------------
    @property
    def closed(self) -> bool:
        """Has the stream been read to its end, and the last instant been judged?"""
        with writing(self.path, "disk"):
            return self.store.get(_CLOSED) is not None

    def note_closed(self) -> None:
        self._write(_CLOSED, b"")

    def tell_closing(self) -> None:
        """Nothing comes any more: a row for the query's control stream."""
        with writing(self.path, "disk"):
            told = self.store.get(_TOLD)
        if told != _CLOSING:  # Spark takes it once, whatever is in it
            self._write(_TOLD, _CLOSING)

    def _write(self, name: str, data: bytes) -> None:
        self.check_held()
        with writing(self.store.address(name), "disk"):
            self.store.put(name, data)


def _directory(path: str) -> Disk:
    """A directory of this machine that may be a checkpoint.  Raises UsageProblem."""
    found = user_path(path, "--checkpoint").absolute()
    with writing(found, "disk"):
        if found.exists() and not found.is_dir():
            raise UsageProblem.of("bad-option", f"--checkpoint {path} is a file, not a directory")
        if not found.parent.is_dir():
            text = f"--checkpoint {path}: there is no directory {found.parent}"
            raise UsageProblem.of("missing-file", text)
    return Disk(found)


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


def check(store: Store) -> None:
    """Check what Spark reads from a checkpoint before it reads state.

    Raises CheckpointProblem (``bad-checkpoint``), and ResourceProblem (``disk``) if the store fails.
    """
    offsets, commits = numbers(store, f"{SPARK}/offsets"), numbers(store, f"{SPARK}/commits")
    _be_there(store, f"{SPARK}/metadata", bool(offsets or commits))
    last = max([*offsets, *commits], default=None)
    if last is not None:
        for number in (last - 1, last):
            _be_there(store, f"{SPARK}/offsets/{number}", number >= 0)
        for name in [f"{SPARK}/offsets/{n}" for n in offsets[-2:]] + [f"{SPARK}/commits/{n}" for n in commits[-1:]]:
            _log(store, name)
        if not isinstance(_log(store, f"{SPARK}/metadata")[0].get("id"), str):
            raise _strange(store, f"{SPARK}/metadata")
        _sources(store, f"{SPARK}/offsets/{last}")
    if isinstance(store, Disk):  # elsewhere nothing is beside a file that it could be compared with
        for name in store.list(f"{SPARK}/state", deep=True):
            if ("/_metadata/" in name or "/_stateSchema/" in name) and not name.rpartition("/")[2].startswith("."):
                _intact(store, name)
    for folder in (SPOOL, PAST):
        for name in (n for n in store.list(folder) if n.endswith(".parquet")):
            if _content(store, name, last=4) not in (b"PAR1", None):
                raise CheckpointProblem.damaged(store.address(name), "its end is missing")


def _sources(store: Store, offsets: str) -> None:
    """The logs of the files that each source has handed out, up to the latest offsets; those of ours must be there."""
    lines = (_content(store, offsets) or b"").decode().splitlines()
    if len(lines) < 3:
        raise _strange(store, offsets)
    for number, line in enumerate(lines[2:] if lines[0] == "v1" else ()):
        folder = f"{SPARK}/sources/{number}"
        offset = json.loads(line) if line != "-" else None
        last = offset.get("logOffset", -1) if isinstance(offset, dict) else -1
        if last == -1:
            _intact(store, f"{folder}/0")  # where a topic begins
        whole = [n for n in numbers(store, folder, _COMPACT) if n <= last]
        names = [f"{n}{_COMPACT}" for n in whole[-1:]] + [str(n) for n in range(max(whole, default=-1) + 1, last + 1)]
        for path in (f"{folder}/{name}" for name in names):
            _be_there(store, path, True)
            for entry in _log(store, path):
                if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
                    raise _strange(store, path)
                file = _own(store, entry["path"])
                if file is not None:
                    _be_there(store, file, True)


def _own(store: Store, address: str) -> str | None:
    """The name of a file that a log of Spark names, if it is in the checkpoint."""
    root = f"{store.address()}/"
    found = unquote(address if "://" in root else urlparse(address).path)
    return found.removeprefix(root) if found.startswith(root) else None


def numbers(store: Store, folder: str, suffix: str = "") -> list[int]:
    """The numbers of the files of a log, least first."""
    with writing(store.address(folder), "disk"):
        names = [name.rpartition("/")[2] for name in store.list(folder)]
    found = [name.removesuffix(suffix) for name in names if name.endswith(suffix)]
    return sorted(int(name) for name in found if name.isdecimal())


def _content(store: Store, name: str, *, last: int | None = None) -> bytes | None:
    """The content of a file; None if it is not there.  Raises CheckpointProblem if its file system finds damage."""
    try:
        return store.get(name, last=last)
    except OSError as error:
        if "hecksum" in str(error):
            raise CheckpointProblem.damaged(store.address(name), "its checksum is wrong") from error
        with writing(store.address(name), "disk"):
            raise


def _be_there(store: Store, name: str, wanted: bool) -> None:
    if wanted and _content(store, name, last=0) is None:
        raise CheckpointProblem.damaged(store.address(name), "it is missing")


def _log(store: Store, name: str) -> list[Any]:
    """The JSON values of a file of a log: lines behind one with a version; or the file is one object."""
    _intact(store, name)
    try:
        lines = (_content(store, name) or b"").decode().splitlines()
        versioned = re.fullmatch(r"v\d+", lines[0]) is not None if lines else False
        found = [json.loads(line) for line in lines[versioned:] if line != "-"]
    except ValueError as error:
        raise CheckpointProblem.damaged(store.address(name), error) from error
    if not found or not isinstance(found[0], dict):
        raise _strange(store, name)
    return found


def _strange(store: Store, name: str) -> CheckpointProblem:
    return CheckpointProblem.damaged(store.address(name), "it does not have Spark's format")


def _intact(store: Store, name: str) -> None:
    if _differs(store, name):
        raise CheckpointProblem.damaged(store.address(name), "its checksum is wrong")


def _differs(store: Store, name: str) -> bool:
    """Is a file unlike the checksum beside it?  False if there is none, or none that can be read."""
    if not isinstance(store, Disk):  # other file systems have checksums of their own, and compare them
        return False
    folder, _, file = name.rpartition("/")
    beside, data = store.get(f"{folder}/.{file}.crc"), store.get(name)
    if beside is None or data is None:
        return False
    size = int.from_bytes(beside[4:8], "big")
    if beside[:4] != b"crc\0" or not 0 < size <= 1 << 20:
        return False
    read = 0
    for at in range(8, len(beside), 4):
        if zlib.crc32(data[read : read + size]).to_bytes(4, "big") != beside[at : at + 4]:
            return True
        read += size
    return len(data) > read


# -- a query that has failed -------------------------------------------------------------------------------------------
@contextmanager
def explained(store: Store) -> Iterator[None]:
    """The body runs a query of this checkpoint: if Spark fails at a damaged file, a CheckpointProblem names it."""
    from occurs.connect.sparkerrors import translate

    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        ours = translate(error)
        if isinstance(ours, CheckpointProblem) and ours.kind == "bad-checkpoint":  # of a worker, which knows no paths
            state = store.address(f"{SPARK}/state")
            raise CheckpointProblem([replace(p, message=f"{state}: {p.message}") for p in ours.problems]) from error
        found = None if ours is not None else _damage(store, str(error))
        if found is not None:
            raise found from error
        raise


def _damage(store: Store, text: str) -> CheckpointProblem | None:
    """What is damaged, if the text of Spark's exception is about reading files of the checkpoint."""
    said = unquote(_PLAN.sub("", text))
    named = [p.rstrip(".,;:)") for p in re.findall(rf"{re.escape(store.address())}/[^\s'\"]+", said)]
    if _OTHER.search(said) or not (named or _STATE.search(said)):
        return None
    there = store.list(SPARK, deep=True)
    state = [name for name in there if name.startswith(f"{SPARK}/state/")]
    for name in (n for n in state if _differs(store, n)):
        return CheckpointProblem.damaged(store.address(name), "its checksum is wrong")
    for address in named:
        name = address.removeprefix(f"{store.address()}/")
        if name not in there and not store.list(name) and store.get(name) is None:
            return CheckpointProblem.damaged(address, "it is missing")
    for name in state:
        folder, _, file = name.rpartition("/")
        if file.endswith(".crc") and f"{folder}/{file[1:-4]}" not in there:
            return CheckpointProblem.damaged(store.address(f"{folder}/{file[1:-4]}"), "it is missing")
    causes = ["Spark cannot read it", *(c for c in _CAUSE.findall(said) if "awaitResult" not in c)]
    return CheckpointProblem.damaged(named[0] if named else store.address(f"{SPARK}/state"), causes[-1])
