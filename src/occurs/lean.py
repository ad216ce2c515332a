"""Programs of Occurs start without pandas.

At the first value of Python that it turns into an array, Arrow imports pandas to know whether it is one of its: a
second of CPU, half of a short run of the command.  In a process of our own that can wait until somebody imports pandas.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def postpone_pandas() -> None:
    """Let Arrow, if it is imported, do without pandas until this process imports pandas.

    From then on all is as ever: arrays of series, nulls where a series has NaN.  Nothing is done where pandas is
    imported already.  Only for programs of Occurs, which have the process to themselves.
    """
    if "pyarrow" not in sys.modules or "pandas" in sys.modules or any(isinstance(f, _Noticed) for f in sys.meta_path):
        return
    import pyarrow as pa

    finder = _Noticed()
    sys.meta_path.insert(0, finder)
    pa.array([None])  # Arrow tries once
    finder.absent = False


class _Noticed(MetaPathFinder):
    """Tells Arrow when pandas is imported; ``absent``: is it not to be found?"""

    absent = True

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "pandas":
            return None
        if self.absent:
            raise ModuleNotFoundError("pandas is put off", name=fullname)
        sys.meta_path.remove(self)
        found = importlib.util.find_spec("pandas")
        if found is not None and found.loader is not None:
            execute = found.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                from pyarrow.lib import _pandas_api

                execute(module)
                assert _pandas_api.version  # to ask for it is to import it

            found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found
