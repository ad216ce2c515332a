"""Which process of pytest-xdist runs which tests."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling


class ByFile(LoadGroupScheduling):  # type: ignore[misc]
    """Tests of one group go to one process, and so do the tests of one file; in the order of collection."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # else what has most tests would be first

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return scope if scope != nodeid else nodeid.split("::")[0]
