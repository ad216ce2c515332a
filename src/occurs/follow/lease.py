"""Who follows a checkpoint: a lock of the system on this machine, a lease in a store that others reach, too.

**The lease.**  An object ``lease/EPOCH.json`` names the follower.  To take the checkpoint, a follower writes the object
of the next epoch if there is none; of two that do this at once one succeeds.  The follower of the greatest epoch has
the checkpoint.  It writes its object again every few seconds.  Another one may take the checkpoint when the object has
not changed for :data:`PATIENCE` seconds, by the clock of the one that waits: no two clocks are compared.  It need not
wait if the follower has let go, or ran on the same machine and is gone.

**Fencing.**  A follower that was only slow does not know that it has lost the checkpoint.  So it looks for a greater
epoch before each commit, and stops.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

from occurs.connect.store import Store
from occurs.errors import ResourceProblem

log = logging.getLogger("occurs.follow")
#: seconds between two renewals of a lease, and without one until another follower may take it
RENEWAL, PATIENCE = 10.0, 30.0
_LEASE = re.compile(r"lease/\d{12}\.json")
#: of the leases that this process has
_OWN: set[str] = set()


class Lock(Protocol):
    """What a follower has while it follows a checkpoint.  ``lost``: is it known that another one has it?"""

    lost: bool

    def check(self) -> None:
        """Raise ResourceProblem (``locked``) if another follower has the checkpoint now, OSError if that cannot be
        found out."""

    def close(self) -> None:
        """Let others have it."""


class FileLock:
    """A lock of the system on an open file: it ends with the process that has it, however that ends.

    Raises ResourceProblem (``locked``) if another process has it.
    """

    lost = False

    def __init__(self, folder: Path):
        lock = open(folder / "lock", "a+", errors="replace")  # noqa: SIM115  it stays open
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            pid = next(iter(re.findall(r"\A\d{1,10}$", lock.read(20), re.MULTILINE)), "unknown")
            lock.close()
            raise _locked(str(folder), f"process {pid}") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock: IO[str] | None = lock

    def check(self) -> None:
        """Nobody can take it."""

    def close(self) -> None:
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None


def _locked(place: str, who: str) -> ResourceProblem:
    text = f"--checkpoint {place} is in use by another follower ({who})"
    return ResourceProblem.of("locked", text, hint="stop that follower, or use another --checkpoint")


class Lease:
    """The lease of a checkpoint in a store.  ``epoch``: its number.

    Raises ResourceProblem (``locked``) if another follower has it and renews it, OSError if the store fails.
    """

    def __init__(
        self,
        store: Store,
        *,
        patience: float = PATIENCE,
        renewal: float = RENEWAL,
        wait: Callable[[float], object] = time.sleep,
    ):
        """``wait``: sleeps for seconds, while the lease of another one is watched."""
        self._store = store
        self._id = uuid.uuid4().hex
        self._renewals = 0
        self.lost = False
        self.epoch = self._take(patience, wait)
        _OWN.add(self._id)
        self._closing = threading.Event()
        self._renewing = threading.Thread(target=self._renew, args=(renewal,), name="occurs-lease", daemon=True)
        self._renewing.start()

    def _take(self, patience: float, wait: Callable[[float], object]) -> int:
        held = self._latest()
        if held is not None:
            self._outlast(held, patience, wait)
        epoch = 1 if held is None else _epoch(held) + 1
        name, mine = f"lease/{epoch:012}.json", self._entry()
        if not self._store.put_new(name, mine):
            data = self._store.get(name)
            if data != mine:  # else the store has repeated the request
                raise _locked(self._store.address(), _who(_read(data)))
        for other in self._leases():
            if _epoch(other) > epoch:  # of one that was faster, and has deleted the lease of the epoch before
                raise _locked(self._store.address(), _who(_read(self._store.get(other))))
            if _epoch(other) < epoch:
                self._store.delete(other)
        return epoch

    def _outlast(self, held: str, patience: float, wait: Callable[[float], object]) -> None:
        """Return when a lease is nobody's; raise ``locked`` if its follower renews it, or another one takes it."""
        data = first = self._store.get(held)
        began, step = time.monotonic(), max(patience / 30, 0.01)
        waited = 0.0
        while not _free(_read(data)) and waited < patience:
            if waited == 0:
                log.info("%s has the checkpoint: wait up to %g s for a sign of life", _who(_read(data)), patience)
            wait(step)
            waited = max(waited + step, time.monotonic() - began)
            latest = self._latest()
            data = self._store.get(held)
            if latest is not None and _epoch(latest) > _epoch(held):
                raise _locked(self._store.address(), _who(_read(self._store.get(latest))))
            if data != first and not _free(_read(data)):
                raise _locked(self._store.address(), _who(_read(data)))

    def _leases(self) -> list[str]:
        return [name for name in self._store.list("lease") if _LEASE.fullmatch(name)]

    def _latest(self) -> str | None:
        """The lease of the greatest epoch.  It is never deleted; older ones may be shown after they were."""
        return max(self._leases(), default=None)

    def _entry(self, *, released: bool = False) -> bytes:
        entry = {"id": self._id, "host": socket.gethostname(), "process": os.getpid(), "renewals": self._renewals}
        return json.dumps({**entry, "released": released}).encode()

    def _renew(self, renewal: float) -> None:
        """Write the lease again and again, until it is closed or lost."""
        while not self._closing.wait(renewal):
            self._renewals += 1
            try:
                self._store.put(f"lease/{self.epoch:012}.json", self._entry())
                self.check()
            except ResourceProblem:
                return
            except OSError as error:  # if it stays like this, a commit fails or another follower takes over
                log.warning("the lease of %s cannot be renewed: %s", self._store.address(), error)

    def check(self) -> None:
        latest = self._latest()
        if latest is None or _epoch(latest) <= self.epoch:
            return
        self.lost = True
        who = _who(_read(self._store.get(latest)))
        text = f"--checkpoint {self._store.address()} was taken over by another follower ({who}): this one stops"
        raise ResourceProblem.of("locked", text, hint="use a checkpoint of its own for each follower")

    def close(self) -> None:
        if self._closing.is_set():
            return
        self._closing.set()
        self._renewing.join(PATIENCE)  # a store that does not answer does not keep a follower from its end
        _OWN.discard(self._id)
        if self.lost:
            return
        try:
            self._store.put(f"lease/{self.epoch:012}.json", self._entry(released=True))
        except OSError as error:  # then the next follower waits
            log.warning("the lease of %s is not released: %s", self._store.address(), error)


def _epoch(name: str) -> int:
    return int(name.removeprefix("lease/").removesuffix(".json"))


def _read(data: bytes | None) -> dict[str, Any]:
    """What a lease says; nothing if it is damaged."""
    try:
        found = json.loads(data or b"")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _who(entry: dict[str, Any]) -> str:
    return f"process {entry.get('process', 'unknown')} on {entry.get('host', 'an unknown machine')}"


def _free(entry: dict[str, Any]) -> bool:
    """Is it certain that nobody has a lease?"""
    if entry.get("released") is True:
        return True
    pid = entry.get("process")
    if entry.get("host") != socket.gethostname() or not isinstance(pid, int) or pid <= 0:
        return False
    if pid == os.getpid():
        return entry.get("id") not in _OWN  # in a container that was started again
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
