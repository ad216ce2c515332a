"""The folder of what is made once on a machine and then found again: ``OCCURS_CACHE``, else ``occurs`` in
``XDG_CACHE_HOME`` or ``~/.cache``.  It may be removed at any time.

Files in it hold pickles.  So a folder is not used if somebody else but root owns it or may write it, or a folder above.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from functools import cache
from pathlib import Path

_log = logging.getLogger("occurs.cache")


@cache
def folder(name: str) -> Path | None:
    """A folder in it, made if it is not there; None if none can be trusted."""
    named = os.environ.get("OCCURS_CACHE")
    if named:
        wanted = [Path(named)]
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        wanted = [Path(home) / "occurs", Path(tempfile.gettempdir()) / f"occurs-{os.getuid()}"]
    for place in wanted:
        found = place.absolute() / name
        try:
            found.mkdir(mode=0o755, parents=True, exist_ok=True)
            trusted = _trusted(found.resolve())
        except OSError as problem:
            _log.debug("compiled kernels cannot be stored in %s: %s", found, problem)
            continue
        if trusted:
            return found
        _log.warning(
            "compiled kernels are not stored in %s: it belongs to another user, or other users can write to it", found
        )
    return None


def _trusted(place: Path) -> bool:
    """Can nobody but this user and root change what is there?  What root has left for all is read, not written."""
    for at, one in enumerate((place, *place.parents)):
        about = one.stat()
        shared = about.st_mode & (stat.S_IWOTH | (stat.S_IWGRP if at == 0 else 0))
        if about.st_uid not in (os.getuid(), 0) or (shared and not (at and about.st_mode & stat.S_ISVTX)):
            return False
    return True
