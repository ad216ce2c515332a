"""Kernels: the few sequential loops, compiled by Numba where that pays.

A module that defines kernels imports this one in place of Numba.  To import Numba and read a compiled kernel takes some
tenths of a second, to compile one takes seconds; over a few thousand rows the same function in plain Python is done
before.  So a kernel runs as plain Python while its work is small, and Numba is neither imported nor asked until it is
not.  :data:`types` stands for ``numba.types`` and :data:`List` for ``numba.typed.List`` in signatures and in kernels.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

#: ``plain`` or ``compiled`` for all kernels, or by the work that they have (``OCCURS_KERNELS``)
MODE = os.environ.get("OCCURS_KERNELS", "auto")
#: elements of arrays from which on compiled code pays that an earlier process has left, and that has to be made
CACHED, COLD = 20_000, 300_000
#: seconds that a process spends in plain kernels before it compiles whatever comes
PATIENCE = 0.3

_lock = threading.RLock()
_spent = [0.0]


class Later:
    """A part of Numba that is looked up when it is needed: ``make`` does that.

    ``plain``: what stands for it in kernels that are not compiled.
    """

    def __init__(self, make: Callable[[], Any], plain: Any = None) -> None:
        self._make = make
        self._made: Any = None
        self.plain = plain

    def real(self) -> Any:
        """What it stands for."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def _numba_type_(self) -> Any:
        """Numba's type of the real thing: it asks for this when the code of a kernel names the stand-in."""
        from numba.core.registry import cpu_target

        return cpu_target.typing_context.resolve_value_type(self.real())


class _Type(Later):
    """An expression over ``numba.types``: attributes, calls and subscripts are noted."""

    def __getattr__(self, name: str) -> _Type:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Type(lambda: getattr(self.real(), name))

    def __call__(self, *arguments: Any, **more: Any) -> _Type:
        return _Type(lambda: self.real()(*map(_real, arguments), **more))

    def __getitem__(self, item: Any) -> _Type:
        return _Type(lambda: self.real()[item])


def _real(value: Any) -> Any:
    if isinstance(value, Later):
        return value.real()
    return tuple(map(_real, value)) if isinstance(value, tuple) else value


def _types() -> Any:
    from numba import types

    return types


def _list() -> Any:
    from numba.typed import List

    return List


#: ``numba.types``
types = _Type(_types)


class _Lists:
    """What :data:`List` is in a kernel that is not compiled."""

    @staticmethod
    def empty_list(item: Any, room: int = 0) -> list[Any]:
        return []


#: ``numba.typed.List``, as a name in kernels and as an annotation
List: Any = Later(_list, _Lists)


class Arrays:
    """A list of arrays of one type that kernels read and change in place, in the form that they need."""

    def __init__(self, item: _Type, arrays: Iterable[np.ndarray]) -> None:
        self._item = item
        self._arrays: Any = list(arrays)

    def __getitem__(self, at: int) -> np.ndarray:
        found: np.ndarray = self._arrays[at]
        return found

    def __len__(self) -> int:
        return len(self._arrays)

    def plain(self) -> list[np.ndarray]:
        """For kernels that are not compiled."""
        if not isinstance(self._arrays, list):
            self._arrays = list(self._arrays)
        found: list[np.ndarray] = self._arrays
        return found

    def typed(self) -> Any:
        """For compiled kernels."""
        if isinstance(self._arrays, list):
            made = List.real().empty_list(self._item.real())
            for array in self._arrays:
                made.append(array)
            self._arrays = made
        return self._arrays


class Kernel:
    """A function that Numba compiles once it has enough to do; until then it runs as plain Python.  Both give the same.

    It is called with arrays and numbers by position.  The choice is made where ordinary code calls a kernel, and holds
    for all kernels that it calls.  A kernel is found again by its name, so it can go to other processes.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, inline: str, weight: float) -> None:
        self.py_func = function
        self.targetoptions = {"inline": inline}
        self._signature = signature
        self._weight = weight
        self._dispatcher: Any = None
        self._cached: bool | None = None
        self.__module__, self.__name__ = function.__module__, function.__name__
        self.__qualname__, self.__doc__ = function.__qualname__, function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        if self._dispatcher is None and self._small(arguments):
            return self._run_plain(arguments)
        return self.dispatcher(*[a.typed() if isinstance(a, Arrays) else a for a in arguments])

    # -- plain ---------------------------------------------------------------------------------------------------------
    def _small(self, arguments: tuple[Any, ...]) -> bool:
        """Is the work too little for compiled code to pay, as far as that can be seen before?"""
        if MODE != "auto":
            return MODE == "plain"
        if _spent[0] > PATIENCE:
            return False
        work = sum([a.size for a in arguments if isinstance(a, np.ndarray)]) * self._weight
        return work < (CACHED if self.cached else COLD)

    @property
    def cached(self) -> bool:
        """Is there compiled code of an earlier process?  It is looked for once."""
        if self._cached is None:
            code = self.py_func.__code__
            folder, stem = os.path.split(code.co_filename)
            beside = f"{os.path.splitext(stem)[0]}.{self.__qualname__}-{code.co_firstlineno}."
            self._cached = any(name.startswith(beside) for name in _names(os.path.join(folder, "__pycache__")))
        return self._cached

    def _run_plain(self, arguments: tuple[Any, ...]) -> Any:
        began = time.perf_counter()
        with np.errstate(all="ignore"):  # whole numbers wrap, as in compiled code
            found = self.plain(*[a.plain() if isinstance(a, Arrays) else a for a in arguments])
        _spent[0] += time.perf_counter() - began
        return _boxed(found)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function itself, which calls plain functions where it names kernels."""
        made = FunctionType(self.py_func.__code__, _plain_names(self.__module__), self.__name__)
        made.__module__ = self.__module__
        return made

    # -- compiled ------------------------------------------------------------------------------------------------------
    @property
    def dispatcher(self) -> Any:
        """Numba's form of it; with a signature it is compiled by now, or read from the cache."""
        with _lock:
            if self._dispatcher is None:
                from numba import njit

                options: Any = {"cache": True, "nogil": True, **self.targetoptions}
                self._dispatcher = njit(_real(self._signature), **options)(self.py_func)
            return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What it is in the code of another kernel."""
        from numba.core import types as real

        return real.Dispatcher(self.dispatcher)

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"


def kernel(signature: Any = None, *, inline: str = "never", weight: float = 1.0) -> Any:
    """Make a function a :class:`Kernel`: ``@kernel`` or ``@kernel(types.int64(types.int64))``.

    ``signature``: the one form that it is compiled for; without one a form for every kind of arguments.  ``inline``:
    ``"always"`` puts its code where it is called.  ``weight``: the steps that an element of its arrays takes, as a
    multiple of those of a loop over them.
    """
    if callable(signature) and not isinstance(signature, Later):
        return Kernel(signature, None, inline, weight)
    return lambda function: Kernel(function, signature, inline, weight)


_plain_modules: dict[str, dict[str, Any]] = {}


def _plain_names(module: str) -> dict[str, Any]:
    """The names of a module as plain kernels see them."""
    found = _plain_modules.get(module)
    if found is None:
        found = _plain_modules[module] = {}
        for name, value in vars(sys.modules[module]).items():
            found[name] = _plain_value(value)
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, Kernel):
        return value.plain
    if isinstance(value, Later):
        return value.plain
    if isinstance(value, ModuleType) and value.__name__.startswith("occurs."):
        return _Names(value.__name__)
    return value


class _Names:
    """A module as plain kernels see it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = _plain_names(self._module)[name]
        setattr(self, name, found)
        return found


def _boxed(value: Any) -> Any:
    """A result as compiled code returns it: numbers are those of Python."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple([_boxed(v) for v in value]) if isinstance(value, tuple) else value


@cache
def _names(folder: str) -> tuple[str, ...]:
    return tuple(os.listdir(folder)) if os.path.isdir(folder) else ()
