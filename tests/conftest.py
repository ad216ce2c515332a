"""What all tests share: slow ones are left out unless CI=true or --slow; one Spark session per process.

With ``--dist loadgroup`` (pytest-xdist) one process has all tests of Spark, another those with a broker; in CI, where
there are many, a third has those of streams on Spark.  These begin first.  Other tests go to processes by file, so that
what a module makes once is made once.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

import sparkclasses
from occurs import kernel

#: CI runs the slow tests, and has compiled all kernels
_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")


#: where the processes of pytest-xdist note the groups of tests
_GROUPS = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist there is no such hook
def pytest_configure_node(node: Any) -> None:
    if _GROUPS not in node.config.stash:
        node.config.stash[_GROUPS] = tempfile.TemporaryDirectory()
    node.workerinput["groups"] = node.config.stash[_GROUPS].name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadgroup":
        return None
    from scheduling import ByFile

    return ByFile(config, log, Path(config.stash[_GROUPS].name))


def pytest_configure(config: pytest.Config) -> None:
    # nor in the processes that tests start; those of pytest-xdist have read it by now
    tests_run_here = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if tests_run_here and not _CI:
        os.environ.setdefault("OCCURS_KERNELS", "plain")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests, too (so does CI=true)")
    parser.addoption("--long", action="store_true", help="run those that take minutes each, too (kills, restarts)")
    parser.addoption("--one-in", type=int, default=1, help="of the parameters of a test the first and one in so many")


os.environ.setdefault("SPARK_SUBMIT_OPTS", sparkclasses.options())

# how fast examples are made says more about the machine than about a test
settings.register_profile(
    "occurs", derandomize=_CI, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("occurs")

#: tests that take long on Spark because something is live
_LIVE = ("tests/cli/test_follow", "tests/hosts/test_stream_")

#: tests in a browser take five seconds of a core each: the fast run has the first of these files
_PAGES = "tests/studio/browser/"
_FAST_PAGES = (
    "test_access.py",
    "test_editor_in_browser.py",
    "test_graph_in_browser.py",
    "test_net_in_browser.py",
    "test_run_in_browser.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays: the garbage collector, which would look at it again and again, need not."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module")
def frozen() -> None:
    """For tests that collect garbage themselves: what other tests have left is not looked at, as that takes longer than
    they do.  It stays frozen, as what was collected would thaw with it."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "kafka" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("kafka"))
        elif "spark" in item.keywords:
            live = (_CI or config.getoption("--slow")) and item.nodeid.startswith(_LIVE)
            item.add_marker(pytest.mark.xdist_group("live" if live else "spark"))
        elif _CI and item.nodeid.startswith(_PAGES):  # they would last longest
            group = f"browser {crc32(item.path.name.encode()) % 2}"
            item.add_marker(pytest.mark.xdist_group(group), append=False)
    if hasattr(config, "workerinput"):  # a process of pytest-xdist: groups, which last longest, begin first
        from scheduling import group_of, note

        items.sort(key=lambda item: group_of(item) is None)
        note(Path(config.workerinput["groups"]), config.workerinput["workerid"], items)
    if not config.getoption("--long"):
        items[:], long = _apart(items, "long")
        config.hook.pytest_deselected(items=long)
    if not (config.getoption("--slow") or _CI):
        _leave_out(items, config.getoption("--one-in"))
        items[:], slow = _apart(items, "slow")
        config.hook.pytest_deselected(items=slow)


def _leave_out(items: list[pytest.Item], one_in: int) -> None:
    """Mark as slow what ``share`` and ``--one-in`` leave out of the fast run.  The name of a test decides, and not its
    number: it stays where it is when a case is added, and tests of other hosts take other cases of the same file."""
    begun = set()
    for item in items:
        mark = item.get_closest_marker("share")
        if "slow" in item.keywords:
            continue
        if item.nodeid.startswith(_PAGES):
            if item.path.name not in _FAST_PAGES or item.path in begun:
                item.add_marker("slow")
            begun.add(item.path)
        else:
            name = item.nodeid.partition("[")[0]
            if name in begun and crc32(item.nodeid.encode()) % ((mark.args[0] if mark else 1) * one_in):
                item.add_marker("slow")
            begun.add(name)


def _apart(items: list[pytest.Item], mark: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Those without a mark, and those with it."""
    return [i for i in items if mark not in i.keywords], [i for i in items if mark in i.keywords]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not (config.getoption("--slow") or _CI):
        terminalreporter.write_line("Without the tests marked slow: --slow or CI=true runs them.")
    if not config.getoption("--long"):
        terminalreporter.write_line("Without the tests marked long: --long runs them.")


# a run in the background ignores Ctrl-C, and so would the processes that tests start and interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# kernels that were not compiled before are not compiled while few tests run: that takes longer than they do
if not _CI:
    kernel.PATIENCE = math.inf
#: settings for small queries, of which each runs once: to compile a query takes longer than to run it
_SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
}


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The one Spark session of a run; starting it takes some seconds.  Mark tests that use it with ``spark``."""
    from occurs.connect.spark import local_session

    more = _connector(request.session.items)
    small = {name.replace(".", "__"): value for name, value in _SMALL.items()}
    session = local_session("local[2]", **small, **more)
    yield session
    session.stop()


@pytest.fixture
def usual_spark(spark: Any) -> Iterator[Any]:
    """The Spark session with Spark's own settings, as users have it."""
    usual = {name: value for name, value in _SMALL.items() if "shuffle" not in name}
    for name in usual:
        spark.conf.unset(name)
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    yield spark
    for name, value in usual.items():
        spark.conf.set(name, value)


def _connector(items: list[pytest.Item]) -> dict[str, str]:
    """Jars are given to a session when it starts: those for Kafka if a test of this run needs its broker."""
    if not any("kafka" in getattr(item, "fixturenames", ()) for item in items):
        return {}
    import mavenjars

    try:
        return {"spark__jars": ",".join(map(str, mavenjars.connector()))}
    except mavenjars.Unavailable:
        return {}  # the fixture `kafka` meets the same, and skips or fails
