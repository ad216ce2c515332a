"""Kernels: the few sequential loops, compiled by Numba when one of them is first called.

A module that defines kernels imports this one in place of Numba.  Nothing is imported, typed or compiled until then: an
import, ``occurs check`` and ``occurs --help`` never load Numba.  :data:`types` stands for ``numba.types`` and
:class:`List` for ``numba.typed.List`` in signatures and in the code of kernels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_lock = threading.RLock()


class Later:
    """A part of Numba that is looked up when it is needed: ``make`` does that."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

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


class _List(Later):
    """``numba.typed.List``, as a name in kernels and as an annotation."""

    def empty_list(self, item: Any) -> Any:
        """A list of items of a type; for code that is not compiled."""
        return self.real().empty_list(_real(item))


List: Any = _List(_list)


class Kernel:
    """A function that Numba compiles when it is first called, or when a kernel that calls it is compiled.

    Called with arrays and numbers by position.  It is found again by its name, so it can go to other processes.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, inline: str) -> None:
        self.py_func = function
        self.targetoptions = {"inline": inline}
        self._signature = signature
        self._dispatcher: Any = None
        self.__module__, self.__name__ = function.__module__, function.__name__
        self.__qualname__, self.__doc__ = function.__qualname__, function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        found = self._dispatcher
        return (self.dispatcher if found is None else found)(*arguments)

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


def kernel(signature: Any = None, *, inline: str = "never") -> Any:
    """Make a function a :class:`Kernel`: ``@kernel`` or ``@kernel(types.int64(types.int64))``.

    ``signature``: the one form that it is compiled for; without one a form for every kind of arguments.  ``inline``:
    ``"always"`` puts its code where it is called.
    """
    if callable(signature) and not isinstance(signature, Later):
        return Kernel(signature, None, inline)
    return lambda function: Kernel(function, signature, inline)
