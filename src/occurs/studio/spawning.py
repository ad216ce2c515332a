"""How the processes of the studio are started: nothing of the project is imported, and one thread for numbers."""

from __future__ import annotations

import os
import sys

_ONE_THREAD = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def command(module: str) -> list[str]:
    """The command of a module; ``-P``: the working directory, which may be the project, is not a place of modules."""
    return [sys.executable, "-P", "-m", module]


def environment(**more: str) -> dict[str, str]:
    """The environment of this process without the token; paths of modules are those of this working directory."""
    out = {k: v for k, v in os.environ.items() if k != "OCCURS_STUDIO_TOKEN"}
    if "PYTHONPATH" in out:
        paths = filter(None, out["PYTHONPATH"].split(os.pathsep))
        out["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths))
    return {**out, **dict.fromkeys(_ONE_THREAD, "1"), **more}
