"""A shell of IPython in this process, as a notebook has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


@dataclass
class Shell:
    """``run``: a cell; returns its result, and what it printed."""

    ipython: InteractiveShell

    def run(self, cell: str) -> tuple[Any, str]:
        with capture_output() as captured:
            done = self.ipython.run_cell(cell)
        assert done.error_before_exec is None
        return done.result, captured.stdout

    def names(self) -> dict[str, Any]:
        return self.ipython.user_ns


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[Shell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    yield Shell(InteractiveShell.instance(config=config))
    InteractiveShell.clear_instance()
