"""The plugin for pytest: ``*.case`` files are collected as tests; the fixture ``replay`` replays events as a stream.

Options: ``--update-cases`` writes what was detected into the files, ``--case-coverage`` prints which clauses of the
rules no case depends on.  The option ``occurs_cases`` in the configuration file names other patterns of files.

Nothing of Occurs but this module is imported before a case is collected: pytest loads the plugin in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from occurs.testing.rules import RuleCase, Verdict

#: verdicts to write, by file and line of the heading
_UPDATES: pytest.StashKey[dict[Path, dict[int, Verdict]]] = pytest.StashKey()
#: the cases that ran
_RAN: pytest.StashKey[list[RuleCase]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("occurs", "test cases of Occurs rules (*.case)")
    group.addoption("--update-cases", action="store_true", help="Write what was detected into the files of cases.")
    group.addoption("--case-coverage", action="store_true", help="Print which clauses of rules no case depends on.")
    parser.addini("occurs_cases", "Patterns of the names of files with test cases.", type="args", default=["*.case"])


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what several processes cannot do."""
    config.stash[_UPDATES], config.stash[_RAN] = {}, []
    for option in ("--update-cases", "--case-coverage"):
        if config.getoption(option) and (config.getoption("numprocesses", None) or hasattr(config, "workerinput")):
            raise pytest.UsageError(f"{option} needs a single process; leave out -n")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect a file of cases."""
    if any(fnmatch(file_path.name, pattern) for pattern in parent.config.getini("occurs_cases")):
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """A file of test cases."""

    def collect(self) -> Iterable[CaseItem]:
        """The cases of the file.  CollectError names the file and the line of a case that is wrong."""
        from occurs.errors import OccursError
        from occurs.testing.rules import load

        try:
            cases = load(self.path)
        except (ValueError, OccursError) as problem:
            raise self.CollectError(str(problem)) from problem
        for case in cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)


class CaseFailed(Exception):
    """A case detects something else than it expects."""


class CaseItem(pytest.Item):
    """A test case."""

    def __init__(self, *, case: RuleCase, **given: Any) -> None:
        super().__init__(**given)
        self.case = case

    def runtest(self) -> None:
        """Run the case; with ``--update-cases`` a difference is written, and no failure."""
        from occurs.testing.rules import verdict

        found = verdict(self.case)
        self.config.stash[_RAN].append(self.case)
        if found.failure is None:
            return
        if self.config.getoption("--update-cases") and found.out is not None:
            self.config.stash[_UPDATES].setdefault(self.path, {})[self.case.line] = found
            return
        raise CaseFailed(found.failure)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The difference of rows, without a traceback."""
        if isinstance(excinfo.value, CaseFailed):
            return f"{self.path}:{self.case.line}: {self.case.name}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place of the case."""
        return self.path, self.case.line - 1, self.name


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the updates."""
    for path, found in session.config.stash[_UPDATES].items():
        from occurs.testing.rules import update

        update(path, found)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was updated, and the coverage."""
    for path, found in config.stash[_UPDATES].items():
        terminalreporter.write_line(f"updated {len(found)} case{'' if len(found) == 1 else 's'} in {path}")
    ran = config.stash[_RAN]
    if config.getoption("--case-coverage") and ran:
        from occurs.testing.coverage import coverage

        terminalreporter.section("coverage of rules")
        terminalreporter.write_line(coverage(ran).report)


@pytest.fixture
def replay() -> Callable[..., Any]:
    """Return :func:`occurs.testing.replay.replay`, which replays events with disorder, late events and restarts."""
    from occurs.testing.replay import replay as run

    return run
