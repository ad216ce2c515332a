"""A call that needs more memory than there is ends the process that keeps it all; it is no problem of the rules."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from occurs import services
from occurs.checked_texts import Read

TEXTS = {"a.epl": "select * from pattern [a=A]; // no other test has this text"}
WORKER = """
from occurs import services
from occurs.studio import worker
def full(*_): raise MemoryError
services.peek = full
worker.main()
"""


@pytest.mark.parametrize(
    "ask",
    [
        lambda: services.check(TEXTS),
        lambda: services.complete("a.epl", TEXTS, 20),
        lambda: services.hover("a.epl", TEXTS, 20),
        lambda: services.definition("a.epl", TEXTS, 20),
        lambda: services.format_text("a.epl", TEXTS["a.epl"]),
    ],
)
def test_the_end_of_the_memory_is_not_swallowed(monkeypatch, ask):
    def full(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Read, "of", full)
    with pytest.raises(MemoryError):
        ask()


def test_the_worker_ends_without_memory():
    asked = {"texts": {}, "events": [], "options": {}, "default": False, "rows": 1}
    line = json.dumps({"id": 1, "call": "peek", "args": asked})
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["ready"]
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == ""
        assert process.wait(30) == 3
