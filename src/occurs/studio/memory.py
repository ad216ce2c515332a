"""The limit of memory that a process of the studio sets for itself."""

from __future__ import annotations

import sys


def limit_memory(size: int) -> None:
    """At most ``size`` bytes of address space, where the system has such a limit; 0: none.

    A lower limit that the process has already stays.
    """
    if size and sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        size = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))
