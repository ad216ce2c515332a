"""Kernels: plain or compiled they give the same, and compiled code is found again by what it was made from."""

from __future__ import annotations

import importlib
import itertools
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from occurs import cachefolder
from occurs import kernel as kernels
from occurs.errors import ResourceProblem
from occurs.kernel import Kernel
from occurs.kernel import cache as kernelcache
from occurs.kernel import work as kernelwork

INNER = """
from occurs.kernel import kernel
SCALE = 3

@kernel
def scaled(x):
    return x * SCALE
"""
OUTER = """
import numpy as np
from occurs.kernel import kernel, types, List
import {inner} as other
from {inner} import scaled

@kernel
def total(values):
    "The sum."
    out = 0
    for i in range(len(values)):
        out += scaled(values[i])
    return out

@kernel
def by_module(values):
    return other.scaled(values[0]) + other.SCALE

@kernel(types.Tuple((types.int64, types.float64))(types.int64[::1], types.float64))
def declared(values, factor):
    return values[0] + 1, values[1] * factor

@kernel
def wrapped(a, b):
    return a[0] * b[0], np.uint64(a[0]) >> np.uint64(60), a[0] // b[0], a[0] % b[0], -(a[0] >> 3)

@kernel
def divided(a, b):
    return a[0] / b[0], a[0] // b[0], a[0] % b[0]

@kernel
def listed(values):
    made = List.empty_list(types.int64[::1])
    made.append(values)
    made.append(values[1:].copy())
    out = 0
    for one in made:
        out += len(one)
    return out

@kernel
def slow(values):
    out = 0.0
    for i in range(len(values)):
        out += values[i] * 0.5
    return out
"""
_names = (f"kernels_of_a_test_{n}" for n in itertools.count())
Make = Callable[..., ModuleType]


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """That of users, which other tests do without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "PATIENCE", 0.3)
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of compiled kernels."""
    monkeypatch.setenv("OCCURS_CACHE", str(tmp_path / "cache"))
    cachefolder.folder.cache_clear()
    kernelcache.LISTING.again()
    yield tmp_path / "cache" / "kernels-1"
    monkeypatch.undo()
    cachefolder.folder.cache_clear()
    kernelcache.LISTING.again()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Make:
    """Writes two modules of kernels and imports the outer one."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(outer: str = OUTER, inner: str = INNER, name: str | None = None) -> ModuleType:
        name = name or next(_names)
        (tmp_path / f"{name}_inner.py").write_text(inner)
        (tmp_path / f"{name}.py").write_text(outer.format(inner=f"{name}_inner"))
        for known in (name, f"{name}_inner"):
            sys.modules.pop(known, None)
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            return importlib.import_module(name)
        finally:
            sys.dont_write_bytecode = before

    return make


def both(kernel: Kernel, *arguments: object) -> object:
    """What it gives, which must be the same plain and compiled."""
    plain = kernel._run_plain(arguments)
    compiled = kernel.dispatcher(*arguments)
    assert repr(plain) == repr(compiled)
    return plain


def test_values_are_the_same_plain_and_compiled(made: Make) -> None:
    module = made()
    big = np.array([2**62 + 5, 7], np.int64)
    assert both(module.total, big) == (2**62 + 12) * 3 - 2**64  # it wraps
    assert both(module.by_module, big[1:]) == 24
    assert both(module.declared, big, 0.5) == (2**62 + 6, 3.5)
    assert both(module.listed, big) == 3
    for a, b in itertools.product((2**63 - 1, -(2**63), -7, -1, 3), (-3, 2, 2**40)):
        both(module.wrapped, np.array([a], np.int64), np.array([b], np.int64))
        both(module.divided, np.array([a], np.float64), np.array([b], np.float64))


def test_a_kernel_goes_to_other_processes_by_its_name() -> None:
    from occurs.operators.kernels.row_index import is_sorted

    assert pickle.loads(pickle.dumps(is_sorted)) is is_sorted


def test_small_work_never_imports_numba(tmp_path: Path) -> None:
    script = """if True:
        import sys, occurs, pyarrow as pa
        rules = '''
            input event A(K), B(K).
            state on(K) : A(K) ~> B(K).
            state long(K) : filter(on(K), at_least(1 ms)).
        '''
        found = occurs.parse(rules, language="phenesthe").detect(
            pa.table({"type": ["A", "C", "B"], "time": [1, 2, 3], "K": [1, 1, 1]}), time_unit="ms"
        )
        assert found["on"].num_rows == 1
        print("numba" in sys.modules)
    """
    environment = {**os.environ, "OCCURS_KERNELS": "auto", "OCCURS_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_mode_is_one_of_three() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import occurs.kernel"], env={**os.environ, "OCCURS_KERNELS": "fast"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "invalid OCCURS_KERNELS='fast'" in done.stderr
    assert "hint: use plain, compiled or auto" in done.stderr


def test_much_work_is_compiled(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [0.0])
    module = made()
    assert module.total(np.ones(10, np.int64)) == 30
    assert module.total._compiled is None
    assert module.total(np.ones(kernels.COLD, np.int64)) == 3 * kernels.COLD
    assert module.total._compiled is not None
    again = made(name=module.__name__)
    kernelcache.LISTING.again()
    assert again.total in kernelcache.LISTING
    assert again.total(np.ones(kernels.CACHED, np.int64)) == 3 * kernels.CACHED
    assert again.total._compiled is not None
    assert not sum(again.total._compiled.stats.cache_misses.values())


def test_work_may_be_told(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [0.0])
    module = made(OUTER.replace("@kernel\ndef slow", "@kernel(work=lambda values: 10**9)\ndef slow"))
    assert module.slow(np.ones(2)) == 1.0
    assert module.slow._compiled is not None


@pytest.mark.parametrize(
    ("outer", "inner", "same"),
    [
        ((), (), True),
        (("The sum.", "Another text of one line."), (), False),  # a docstring is a constant: harmless
        (("import numpy", "\n\nimport numpy"), (), True),
        (("out += scaled(values[i])", "out -= scaled(values[i])"), (), False),
        ((), ("x * SCALE", "x + SCALE"), False),
        ((), ("SCALE = 3", "SCALE = 4"), False),
        ((), ("SCALE = 3", "SCALE = 3.0"), False),
    ],
)
def test_compiled_code_is_found_by_what_it_was_made_from(
    made: Make, outer: tuple[str, str] | tuple[()], inner: tuple[str, str] | tuple[()], same: bool
) -> None:
    first = made()
    total, by_module = first.total.digest, first.by_module.digest
    changed = made(OUTER.replace(*outer) if outer else OUTER, INNER.replace(*inner) if inner else INNER, first.__name__)
    assert (changed.total.digest == total) == same
    if inner:
        assert changed.by_module.digest != by_module
        assert changed.total(np.ones(2, np.int64)) == changed.total.dispatcher(np.ones(2, np.int64))


def test_every_kernel_has_a_hash_and_a_plain_form() -> None:
    found = _all_kernels()
    assert len(found) > 200
    assert len({one.digest for one in found}) == len(found)
    for one in found:
        assert callable(one.plain)


COUNTED = """
from __future__ import annotations

import numpy as np
from occurs.kernel import kernel

@kernel
def given(a: np.ndarray) -> int:
    return len(a)

@kernel
def passed(a: np.ndarray) -> np.ndarray:
    return a

@kernel
def made(n: int) -> int:
    return len(np.zeros(n, np.int64))

@kernel(inline="always")
def inside(n: int) -> int:
    return len(np.zeros(n, np.int64))

@kernel
def calls_given(a: np.ndarray) -> tuple[int, bool]:
    return given(a), True

@kernel
def calls_made(n: int) -> None:
    made(n)

@kernel
def calls_passed(a: np.ndarray) -> int:
    return len(passed(a))

@kernel
def calls_inside(n: int) -> int:
    return inside(n)
"""


def test_references_are_counted_where_a_kernel_has_arrays_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counted_kernels.py").write_text(COUNTED)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("counted_kernels")
    counted = {name: k.targetoptions["_nrt"] for name, k in vars(module).items() if isinstance(k, Kernel)}
    assert counted == {
        "given": False, "calls_given": False, "calls_made": False,
        "passed": True, "made": True, "inside": True, "calls_passed": True, "calls_inside": True,
    }  # fmt: skip
    del sys.modules["counted_kernels"]


@pytest.mark.slow
def test_kernels_return_arrays_if_they_say_so() -> None:
    """Else the references to these arrays would be counted wrongly."""
    for line in kernelwork.all_lines():
        kernelwork.compile_line(line)
        kernel = kernelwork.kernel_of(line)
        for signature in kernel.dispatcher.nopython_signatures:
            assert kernel.gives_numbers == ("array" not in str(signature.return_type).lower()), line


def _all_kernels() -> list[Kernel]:
    import occurs.operators.kernels as package

    folders = [Path(package.__file__).parent, Path(package.__file__).parents[1] / "process"]
    files = [file for folder in folders for file in folder.glob("*.py")]
    source = Path(package.__file__).parents[3]
    names = [str(file.relative_to(source).with_suffix("")).replace(os.sep, ".") for file in files]
    more = ["occurs.model.labels", "occurs.operators.codes"]
    modules = [importlib.import_module(name.removesuffix(".__init__")) for name in [*names, *more]]
    return list({v for m in modules for v in vars(m).values() if isinstance(v, Kernel)})


# -- the cache ---------------------------------------------------------------------------------------------------------
def test_a_damaged_file_is_compiled_again(made: Make, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = made()
    values = np.ones(3, np.int64)
    assert module.total.dispatcher(values) == 9
    files = [file for file in cache.iterdir() if file.name.startswith(module.total.digest)]
    assert len(files) == 1
    whole = files[0].read_bytes()
    for damaged in (b"", whole[:20], whole[:-1], whole[:100] + b"x" + whole[101:]):
        files[0].write_bytes(damaged)
        with caplog.at_level(logging.WARNING):
            assert made(name=module.__name__).total.dispatcher(values) == 9
        assert "is damaged" in caplog.text
        caplog.clear()
    assert made(name=module.__name__).total.dispatcher(values) == 9
    assert "is damaged" not in caplog.text


def test_a_folder_that_others_may_write_is_not_used(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert kernelcache.folder() is None
    assert "other users can write to it" in caplog.text
    cachefolder.folder.cache_clear()
    cache.chmod(0o700)
    assert kernelcache.folder() == cache


def test_without_a_folder_kernels_run_all_the_same(made: Make, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCCURS_CACHE", "/dev/null/nowhere")
    cachefolder.folder.cache_clear()
    assert kernelcache.folder() is None
    module = made()
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [kernels.PATIENCE + 1])
    assert module.total(np.ones(3, np.int64)) == 9
    assert module.total._compiled is not None  # nobody could hand it over


def test_processes_that_compile_at_a_time_lose_nothing(made: Make, cache: Path, tmp_path: Path) -> None:
    module = made()
    lines = [kernelwork.line(module.total, [np.ones(2, np.dtype(kind))]) for kind in ("i8", "i4", "f8", "u1")]
    kernelwork.warm(lines * 2, 2, lambda done, of: None)
    files = [file for file in cache.iterdir() if file.name.startswith(module.total.digest)]
    assert len(files) == 4
    assert not [file for file in cache.iterdir() if file.name.startswith("new-")]


def test_who_waits_is_told_once(made: Make, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernelcache, "_told", set())
    module = made()
    module.total.dispatcher(np.ones(3, np.int64))
    module.slow.dispatcher(np.ones(3))
    told = [record.message for record in caplog.records]
    assert told == ["compiling kernels; this takes a few seconds, once per machine"]


# -- beside the work ---------------------------------------------------------------------------------------------------
def test_kernels_are_compiled_beside_the_work(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    module = made()
    beside = kernelwork.Beside()
    monkeypatch.setattr(kernelwork, "BESIDE", beside)
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [kernels.PATIENCE + 1])
    values = np.ones(4)
    assert module.slow(values) == 2.0
    assert module.slow._compiled is None
    until = time.monotonic() + 120
    while module.slow._compiled is None and time.monotonic() < until:
        time.sleep(0.1)
        assert module.slow(values) == 2.0
    assert module.slow._compiled is not None
    assert not sum(module.slow._compiled.stats.cache_misses.values())
    assert beside._process is None
    assert not beside._useless


def test_a_process_that_fails_is_not_waited_for(made: Make, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    module = made()
    beside = kernelwork.Beside()
    monkeypatch.setattr(kernelwork, "BESIDE", beside)
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [kernels.PATIENCE + 1])
    monkeypatch.setattr(sys, "path", [])  # nothing can be imported there
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    module.slow(np.ones(4))
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernelwork, "BESIDE", beside)
    monkeypatch.setattr(kernels, "_spent", [kernels.PATIENCE + 1])
    assert beside._process is not None
    beside._process.wait()
    beside._looked = 0.0
    assert module.slow(np.ones(4)) == 2.0
    assert module.slow._compiled is not None


def test_threads_compile_one_kernel_once(made: Make) -> None:
    module = made()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(module.total.dispatcher)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len({id(one) for one in found}) == 1


# -- kinds of arguments as text ----------------------------------------------------------------------------------------
def test_kinds_of_arguments_are_those_of_numba(made: Make) -> None:
    from numba import typeof

    frozen = np.ones(3)
    frozen.flags.writeable = False
    values: list[object] = [
        np.ones(3, np.int64), np.ones((3, 2)), np.ones((3, 2)).T, np.ones((4, 4), bool)[::2, ::2], frozen, 3, 2.5, True,
        None, np.uint64(3), (1, (2.0, np.ones(1))), (), np.array(["2024-01-01"], "datetime64[us]"),
    ]  # fmt: skip
    for value in values:
        assert kernelwork.numba_type(kernelwork.line(made().total, [value]).split()[2]) == typeof(value)


def test_the_kernels_that_warm_compiles_exist() -> None:
    lines = kernelwork.all_lines()
    assert len(lines) > 100
    assert lines == sorted(set(lines))
    for one in lines:
        module, name, *_ = one.split()
        assert isinstance(getattr(importlib.import_module(module), name), Kernel), one


# -- a hostile place ---------------------------------------------------------------------------------------------------
def test_sums_beyond_doubles_are_infinite_plain_and_compiled() -> None:
    from occurs.operators.kernels.range_aggregates import _scaled

    for m, e in ((2.0**53 - 1, 971), (2.0**53 - 1, 972), (-1.0, 1024), (1.0, 1023), (1.0, -1080), (0.0, 5000)):
        both(_scaled, m, e)
    assert both(_scaled, -1.0, 5000) == -np.inf


def test_the_folder_may_be_removed_at_any_time(made: Make, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MODE", "auto")
    monkeypatch.setattr(kernels, "_spent", [0.0])
    assert kernelcache.folder() == cache
    cache.rmdir()
    module = made()
    assert module.total(np.ones(3, np.int64)) == 9
    assert module.total.dispatcher(np.ones(3, np.int64)) == 9
    assert [file for file in cache.iterdir() if file.name.startswith(module.total.digest)]


def test_modules_of_the_current_folder_are_not_imported(
    made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "numpy.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path / "here")
    lines = [kernelwork.line(made().slow, [np.ones(2)])]
    kernelwork.warm(lines, 1, lambda done, of: None)


def test_warm_tells_of_a_kernel_that_cannot_be_kept(made: Make, cache: Path) -> None:
    module = made()
    assert kernelcache.folder() == cache
    lines = [kernelwork.line(module.slow, [np.ones(2)])]
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); import signal; " \
           "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from occurs.kernel.work import main; main(True)"  # fmt: skip
    with pytest.MonkeyPatch.context() as small:
        small.setattr(kernelwork, "_COMMAND", [sys.executable, "-c", code])
        with pytest.raises(ResourceProblem, match="slow was not compiled: a compiled kernel could not be stored"):
            kernelwork.warm(lines, 1, lambda done, of: None)


def test_a_copy_of_a_process_starts_its_own(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    module = made()
    beside = kernelwork.Beside()
    assert beside.compiles(module.slow, [np.ones(2)])
    process = beside._process
    assert process is not None
    copied = kernelwork.Beside()
    copied._process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True)
    mine = copied._process
    copied.forked()
    assert copied._process is None
    assert os.waitpid(mine.pid, 0)[0] == mine.pid
    beside.leave()
    beside.leave()  # once more does no harm
    process.wait()


@pytest.mark.parametrize("line", kernelwork.all_lines())
def test_kernels_to_compile_in_advance_are_there(line: str) -> None:
    module, name, *kinds = line.split(" ")
    kernel = getattr(importlib.import_module(module), name)
    assert isinstance(kernel, Kernel)
    # a kernel with a signature has its kinds there
    assert len(kinds) == (0 if kernel.signature else kernel.py_func.__code__.co_argcount)
