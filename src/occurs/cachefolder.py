"""The folder of what is made once on a machine and then found again: ``OCCURS_CACHE``, else ``occurs`` in
``XDG_CACHE_HOME`` or ``~/.cache``.  It may be removed at any time.

Files in it hold pickles, so a folder that somebody else owns or may write is not used.
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
            found.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = found.stat()
        except OSError as problem:
            _log.debug("nothing can be kept in %s: %s", found, problem)
            continue
        if about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return found
        _log.warning("%s belongs to another user or others may write it: nothing is kept there", found)
    return None
