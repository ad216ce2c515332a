"""Compiled kernels on disk: a file per kernel and kinds of arguments, named by a hash of all that it was compiled from.

Versions, virtual environments and the workers of a machine share one folder (:mod:`occurs.cachefolder`).  A file is
written beside its place and renamed, and holds a checksum; there is no index.

Numba's own cache asks for the time stamp of the one file that a kernel is in.  It misses a change of a kernel that is
called there, and two processes that extend its index at a time lose entries.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import tempfile
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs import cachefolder

if TYPE_CHECKING:
    from occurs.kernel import Kernel

log = logging.getLogger("occurs.kernels")
#: changes when files are to be written in another way
_FORMAT = "1"


# -- what a kernel is made of ------------------------------------------------------------------------------------------
def digest(kernel: Kernel) -> str:
    """A hash of the code of a kernel, of all kernels that it calls, and of the values that these name."""
    made = hashlib.sha256()
    _add(made, kernel.__module__, kernel.__qualname__, kernel.targetoptions)
    _add_value(made, kernel.signature, ())
    _add_code(made, kernel.py_func.__code__, kernel.py_func.__globals__)
    return made.hexdigest()[:32]


def _add(made: Any, *texts: Any) -> None:
    for text in texts:
        raw = text if isinstance(text, bytes) else str(text).encode()
        made.update(len(raw).to_bytes(8, "little") + raw)


def _add_code(made: Any, code: CodeType, names: dict[str, Any]) -> None:
    _add(made, code.co_code, code.co_argcount, code.co_flags)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(made, constant, names)
        else:
            _add(made, type(constant).__name__, repr(constant))
    for name in code.co_names:
        _add(made, name)
        if name in names:
            _add_value(made, names[name], code.co_names)


def _add_value(made: Any, value: Any, attributes: tuple[str, ...]) -> None:
    """What a name in a kernel stands for.  ``attributes``: the names that may be read of a module of ours."""
    from occurs.kernel import Kernel, Later

    if isinstance(value, Kernel):
        _add(made, "kernel", value.digest)
    elif isinstance(value, Later):
        maker, text = value.made_from()
        _add(made, "later", text)
        _add_value(made, maker, ())
    elif isinstance(value, partial):
        _add_value(made, value.func, ())
        _add(made, value.args)
    elif isinstance(value, ModuleType):
        _add(made, "module", value.__name__)
        if value.__name__.startswith("occurs."):
            for name in attributes:
                if name in vars(value):
                    _add_value(made, vars(value)[name], ())
    elif isinstance(value, FunctionType):
        _add_code(made, value.__code__, {})
    elif isinstance(value, np.ndarray):
        _add(made, value.dtype.str, value.shape, value.tobytes())
    elif isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        _add(made, getattr(value, "__module__", ""), value.__name__)
    elif isinstance(value, (int, float, str, bytes, tuple, np.generic, type(None))):
        _add(made, type(value).__name__, repr(value))
    else:
        raise TypeError(f"a kernel refers to a {type(value).__name__}, whose changes cannot be tracked")


# -- the folder --------------------------------------------------------------------------------------------------------
def folder() -> Path | None:
    """Where compiled kernels are; None if no folder can be trusted."""
    return cachefolder.folder(f"kernels-{_FORMAT}")


@cache
def versions() -> str:
    """What compiled code depends on beside the code: found without an import of Numba."""
    from importlib.metadata import version

    found = f"{sys.implementation.cache_tag} {np.__version__} {version('numba')} {version('llvmlite')}"
    return hashlib.sha256(found.encode()).hexdigest()[:8]


class Listing:
    """The kernels that have a file, for whatever arguments; looked at once, and again when asked to."""

    def __init__(self) -> None:
        self._found: frozenset[str] | None = None

    def __contains__(self, kernel: Kernel) -> bool:
        found = self._found
        if found is None:
            ending = f".{versions()}"
            found = self._found = frozenset(name.partition(".")[0] for name in _names() if name.endswith(ending))
        return kernel.digest in found

    def again(self) -> None:
        """Look again at the next question."""
        self._found = None


def _names() -> list[str]:
    place = folder()
    try:
        return [] if place is None else os.listdir(place)
    except OSError:  # it was removed meanwhile, which is allowed at any time
        return []


LISTING = Listing()


# -- what Numba asks ---------------------------------------------------------------------------------------------------
class Cache:
    """Numba's idea of a cache (``numba.core.caching._Cache``) of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @property
    def cache_path(self) -> str | None:
        place = folder()
        return None if place is None else str(place)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for arguments of these types, or None."""
        from numba.core.compiler import CompileResult

        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        payload = None if path is None else _read(path)
        if payload is None:
            tell("compiling kernels; this takes a few seconds, once per machine")
            return None
        return CompileResult._rebuild(target_context, *payload)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        from numba.core.serialize import dumps

        path = self._path(sig, data.codegen)
        if path is None or data.library.has_dynamic_globals or any(not one.can_cache for one in data.lifted):
            return
        raw = dumps(data._reduce())
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)  # it may have been removed meanwhile
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as file:
                file.write(hashlib.sha256(raw).digest() + raw)
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except PermissionError:  # what another user has left is only read
            log.debug("a compiled kernel could not be stored in %s", path.parent)
        except OSError as problem:  # it will be compiled again; a full disk is no reason to stop here
            log.warning("a compiled kernel could not be stored in %s: %s", path.parent, problem)

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        place = folder()
        if place is None:
            return None
        kind = hashlib.sha256(repr((str(sig), codegen.magic_tuple())).encode()).hexdigest()[:16]
        return place / f"{self._kernel.digest}.{kind}.{versions()}"

    def enable(self) -> None:
        """It is always in use."""

    disable = flush = enable


def _read(path: Path) -> Any:
    """What a file holds; None if there is none, or if it is damaged."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(raw[32:]).digest() != raw[:32]:
        log.warning("%s is damaged; the kernel will be compiled again", path)
        return None
    return pickle.loads(raw[32:])  # Numba's form; nobody but this user and root can write there, see cachefolder


def keep(dispatcher: Any, kernel: Kernel) -> None:
    """Let a dispatcher of Numba find compiled code here; a Numba that lacks what this takes uses its own cache."""
    try:
        from numba.core.caching import _Cache as _  # noqa: F401
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps as _dumps  # noqa: F401

        known = hasattr(dispatcher, "_cache") and hasattr(CompileResult, "_rebuild")
    except ImportError:
        known = False
    if known:
        dispatcher._cache = Cache(kernel)
    else:
        dispatcher.enable_caching()


# -- telling -----------------------------------------------------------------------------------------------------------
_told: set[str] = set()


def tell(what: str) -> None:
    """Whoever waits reads why, once in a process: Python writes it to stderr if nothing else is set up."""
    if what not in _told:
        _told.add(what)
        log.warning("%s", what)
