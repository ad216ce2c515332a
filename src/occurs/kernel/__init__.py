"""Kernels: the few sequential loops, compiled by Numba where that pays.

A module that defines kernels imports this one in place of Numba.  To import Numba and read a compiled kernel takes some
tenths of a second, to compile one takes seconds; over a few thousand rows the same function in plain Python is done
before.  So a kernel runs as plain Python while its work is small, and Numba is neither imported nor asked until it is
not.  While a kernel that has to be compiled runs often, another process compiles it (:mod:`occurs.kernel.work`).
:data:`types` stands for ``numba.types`` and :data:`List` for ``numba.typed.List`` in signatures and in kernels.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from occurs.errors import UsageProblem
from occurs.kernel import cache

#: ``plain`` or ``compiled`` for all kernels, or by the work that they have (``OCCURS_KERNELS``)
MODE = os.environ.get("OCCURS_KERNELS") or "auto"
if MODE not in ("plain", "compiled", "auto"):
    raise UsageProblem.of("bad-option", f"invalid OCCURS_KERNELS={MODE!r}", hint="use plain, compiled or auto")
#: a folder where every process notes the kernels that it calls and the kinds of their arguments
SEEN = os.environ.get("OCCURS_KERNELS_SEEN", "")
#: steps of work from which on compiled code pays that an earlier process has left, and that has to be made
CACHED, COLD = 20_000, 300_000
#: seconds that a process spends in plain kernels before it takes compiled ones for whatever comes
PATIENCE = 0.3
#: the same where Numba is imported: only the code of one kernel has to be read, its seconds count
READ, READING = 3_000, 0.005

_spent = [0.0]
#: what makes an array or a list in a kernel
_MAKERS = frozenset(
    [
        "List", "append", "arange", "argsort", "array", "astype", "concatenate", "copy", "cumsum", "diff", "empty",
        "empty_like", "flatnonzero", "full", "full_like", "maximum", "minimum", "nonzero", "ones", "ravel", "repeat",
        "sort", "take", "unique", "where", "zeros", "zeros_like",
    ]
)  # fmt: skip
#: annotations of what is no array
_NUMBERS = re.compile(r"(tuple\[|\]|, |None|int|bool|float|np\.u?int64|np\.float64|np\.bool_)+")


class Later:
    """A part of Numba that is looked up when it is needed: ``make`` does that.

    ``plain``: what stands for it in kernels that are not compiled.  ``text``: what it is, for the hash of a kernel.
    """

    def __init__(self, make: Callable[[], Any], plain: Any = None, *, text: str = "") -> None:
        self._make = make
        self._made: Any = None
        self._text = text
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

        real = self.real()
        context = cpu_target.typing_context
        context.refresh()  # it may have been made just now
        return context.resolve_value_type(real)

    def made_from(self) -> tuple[Any, str]:
        """What it depends on: the function that makes it, and its text."""
        return self._make if isinstance(self._make, partial) else None, self._text


class _Type(Later):
    """An expression over ``numba.types``: attributes, calls and subscripts are noted."""

    def __getattr__(self, name: str) -> _Type:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Type(lambda: getattr(self.real(), name), text=f"{self._text}.{name}")

    def __call__(self, *arguments: Any, **more: Any) -> _Type:
        text = ", ".join([*map(_text, arguments), *(f"{name}={_text(value)}" for name, value in more.items())])
        return _Type(lambda: self.real()(*map(real, arguments), **more), text=f"{self._text}({text})")

    def __getitem__(self, item: Any) -> _Type:
        return _Type(lambda: self.real()[item], text=f"{self._text}[{item!r}]")


def real(value: Any) -> Any:
    """What stands for a part of Numba, made real."""
    if isinstance(value, Later):
        return value.real()
    return tuple(map(real, value)) if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    if isinstance(value, Later):
        return value.made_from()[1]
    return str(tuple(map(_text, value)) if isinstance(value, tuple) else value)


def _of_numba(name: str) -> Any:
    import numba.typed

    return numba.typed.List if name == "List" else numba.types


#: ``numba.types``
types = _Type(partial(_of_numba, "types"), text="types")


class _Lists:
    """What :data:`List` is in a kernel that is not compiled."""

    @staticmethod
    def empty_list(item: Any, room: int = 0) -> list[Any]:
        return []


#: ``numba.typed.List``, as a name in kernels and as an annotation
List: Any = Later(partial(_of_numba, "List"), _Lists, text="List")


class Arrays:
    """A list of arrays of one kind that kernels read and change in place, in the form that they need.

    ``kind``: as :mod:`occurs.kernel.work` writes it.
    """

    def __init__(self, kind: str, arrays: Iterable[np.ndarray]) -> None:
        self.kind = kind
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
            from occurs.kernel.work import numba_type

            made = List.real().empty_list(numba_type(self.kind))
            for array in self._arrays:
                made.append(array)
            self._arrays = made
        return self._arrays


class Kernel:
    """A function that Numba compiles once it has enough to do; until then it runs as plain Python.  Both give the same.

    It is called with arrays and numbers by position.  The choice is made where ordinary code calls a kernel, and holds
    for all kernels that it calls.  A kernel is found again by its name, so it can go to other processes.
    """

    def __init__(
        self, function: Callable[..., Any], signature: Any, inline: str, work: Callable[..., int] | None
    ) -> None:
        self.py_func = function
        self.inline = inline
        self.signature = signature
        self._work = _sizes if work is None else work
        self._compiled: Any = None
        self._ready: Any = None
        self._spent = 0.0
        self._plain: Callable[..., Any] | None = None
        self.__module__, self.__name__ = function.__module__, function.__name__
        self.__qualname__, self.__doc__ = function.__qualname__, function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        if self._ready is not None:
            return self._ready(*arguments)
        if SEEN:
            _see(self, arguments)
        if self._compiled is None and self._small(arguments):
            return self._run_plain(arguments)
        given = [a.typed() if isinstance(a, Arrays) else a for a in arguments]
        compiled = self.dispatcher
        if not SEEN and all(a is b for a, b in zip(given, arguments)):  # so it is always: its arguments are of one kind
            self._ready = compiled
        return compiled(*given)

    # -- plain ---------------------------------------------------------------------------------------------------------
    def _small(self, arguments: tuple[Any, ...]) -> bool:
        """Is the work too little for compiled code to pay, as far as that can be seen before?"""
        if MODE != "auto":
            return MODE == "plain"
        work = self._work(*arguments)
        if self in cache.LISTING:
            if "numba" in sys.modules:
                return self._spent <= READING and work < READ
            return _spent[0] <= PATIENCE and work < CACHED
        if work >= COLD:
            return False
        if _spent[0] <= PATIENCE:
            return True
        from occurs.kernel.work import BESIDE

        return BESIDE.compiles(self, arguments)

    def _run_plain(self, arguments: tuple[Any, ...]) -> Any:
        began = time.perf_counter()
        with np.errstate(all="ignore"):  # whole numbers wrap, as in compiled code
            found = self.plain(*[a.plain() if isinstance(a, Arrays) else a for a in arguments])
        took = time.perf_counter() - began
        self._spent += took
        _spent[0] += took
        return _boxed(found)

    @property
    def plain(self) -> Callable[..., Any]:
        """The function itself, which calls plain functions where it names kernels."""
        if self._plain is None:
            with _lock:  # whoever sees it sees all names that it reads
                self._plain = _plain_function(self)
        return self._plain

    # -- compiled ------------------------------------------------------------------------------------------------------
    @property
    def dispatcher(self) -> Any:
        """Numba's form of it; with a signature it is compiled by now, or read from the cache."""
        if self._compiled is None:
            from numba import njit
            from numba.core.compiler_lock import global_compiler_lock

            with global_compiler_lock:  # Numba holds it, too, when it asks here for a kernel that another one calls
                if self._compiled is None:
                    options: Any = {"nogil": True, **self.targetoptions}
                    made = njit(**options)(self.py_func)
                    cache.keep(made, self)
                    if self.signature is not None:
                        made.compile(real(self.signature))
                        made.disable_compile()
                    self._compiled = made
        return self._compiled

    @cached_property
    def digest(self) -> str:
        """A hash of all that it is compiled from."""
        return cache.digest(self)

    @cached_property
    def targetoptions(self) -> dict[str, Any]:
        """How Numba compiles it.  ``_nrt``: with counts of the references to arrays.

        A count is an atomic step, and kernels that call small ones spend up to half of their time on such steps.  A
        kernel that only uses the arrays of its caller needs no counts.  Numba refuses to compile it if it makes an
        array after all, as ``a[i] = a[j]`` does with whole rows.
        """
        return {"inline": self.inline, "_nrt": self.makes_arrays or not self.gives_numbers}

    @property
    def gives_numbers(self) -> bool:
        """Does it return numbers or nothing, and no arrays?"""
        return _NUMBERS.fullmatch(str(self.py_func.__annotations__.get("return"))) is not None

    @cached_property
    def makes_arrays(self) -> bool:
        """May there be arrays or lists that it makes itself, or gets from kernels that it calls?"""
        names = self.py_func.__code__.co_names
        if not _MAKERS.isdisjoint(names):
            return True
        values = [self.py_func.__globals__.get(name) for name in names]
        values += [vars(v).get(n) for v in values if isinstance(v, ModuleType) for n in names]
        called = [v for v in values if isinstance(v, Kernel)]
        return any(k.makes_arrays if k.inline == "always" else not k.gives_numbers for k in called)

    @property
    def _numba_type_(self) -> Any:
        """What it is in the code of another kernel."""
        from numba.core.types import Dispatcher

        return Dispatcher(self.dispatcher)

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"


_seen: set[str] = set()


def _see(kernel: Kernel, arguments: tuple[Any, ...]) -> None:
    from occurs.kernel.work import line

    found = line(kernel, arguments)
    if found not in _seen:
        _seen.add(found)
        with open(os.path.join(SEEN, f"{os.getpid()}.txt"), "a") as file:
            file.write(found + "\n")


def _sizes(*arguments: Any) -> int:
    """The work of a kernel that goes over its arrays: their elements."""
    return sum([a.size for a in arguments if isinstance(a, np.ndarray)])


def over_ranges(*arguments: Any) -> int:
    """The work of a kernel whose first two arrays say where ranges begin and end, and that goes over all of them."""
    lo, hi = arguments[:2]
    return _sizes(*arguments) + int(np.maximum(hi - lo, 0).sum())


def kernel(signature: Any = None, *, inline: str = "never", work: Callable[..., int] | None = None) -> Any:
    """Make a function a :class:`Kernel`: ``@kernel`` or ``@kernel(types.int64(types.int64))``.

    ``signature``: the one form that it is compiled for; without one a form for every kind of arguments.  ``inline``:
    ``"always"`` puts its code where it is called.  ``work``: tells of its arguments how many steps it takes, if that is
    not the elements of its arrays.
    """
    if callable(signature) and not isinstance(signature, Later):
        return Kernel(signature, None, inline, work)
    return lambda function: Kernel(function, signature, inline, work)


def prepare() -> None:
    """Load what all compiled kernels need, in a process that others are forked from."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


_lock = threading.RLock()
_plain_functions: dict[Kernel, Callable[..., Any]] = {}
_plain_modules: dict[str, dict[str, Any]] = {}


def _plain_function(kernel: Kernel) -> Callable[..., Any]:
    """A kernel as plain kernels call it."""
    found = _plain_functions.get(kernel)
    if found is None:
        found = FunctionType(kernel.py_func.__code__, _plain_names(kernel.__module__), kernel.__name__)
        _plain_functions[kernel] = found
    return found


def _plain_names(module: str) -> dict[str, Any]:
    """The names of a module as plain kernels see them."""
    found = _plain_modules.get(module)
    if found is None:
        found = _plain_modules[module] = {}
        found.update({name: _plain_value(value) for name, value in vars(sys.modules[module]).items()})
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, Kernel):
        return _plain_function(value)
    if isinstance(value, Later):
        return value if value.plain is None else value.plain
    if isinstance(value, ModuleType) and value.__name__.startswith("occurs."):
        return _Names(value.__name__)
    return value


class _Names:
    """A module as plain kernels see it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        with _lock:
            found = _plain_names(self._module)[name]
        setattr(self, name, found)
        return found


def _boxed(value: Any) -> Any:
    """A result as compiled code returns it: numbers are those of Python."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple([_boxed(v) for v in value]) if isinstance(value, tuple) else value
