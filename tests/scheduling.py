"""Which process of pytest-xdist runs which tests.

pytest-xdist writes the group of a test behind its name, which pytest 9.2 no longer lets it do: each process therefore
notes the groups of its tests in a folder, which the process that gives out the tests reads.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling


def group_of(item: pytest.Item) -> str | None:
    """The group that a test is marked with."""
    mark = item.get_closest_marker("xdist_group")
    return None if mark is None else str(mark.args[0])


def note(folder: Path, process: str, items: list[pytest.Item]) -> None:
    """Write down the groups of the tests of a process."""
    groups = {item.nodeid: group for item in items if (group := group_of(item)) is not None}
    (folder / f"{process}.json").write_text(json.dumps(groups))


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Tests of one group go to one process, and so do the tests of one file; in the order of collection."""

    def __init__(self, config: pytest.Config, log: Any, folder: Path) -> None:
        super().__init__(config, log)
        self.folder = folder
        config.option.loadscopereorder = False  # else what has most tests would be first

    @cached_property
    def groups(self) -> dict[str, str]:
        """The groups of tests by their names; every process has collected by now, and all the same."""
        found: dict[str, str] = json.loads(next(self.folder.glob("*.json")).read_text())
        return found

    def _split_scope(self, nodeid: str) -> str:
        name, at, group = nodeid.rpartition("@")
        if at and "]" not in group and name in self.groups:
            return group
        return self.groups.get(nodeid) or nodeid.split("::")[0]
