"""The law of restart across processes: a stream that is begun in one process goes on in another one, under another hash
seed, as if nothing had happened.  Whatever a checkpoint, a label or a fingerprint is made of is thus the same there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from halves import LANGUAGES

#: every case in CI, every fifth in the fast run
STEP = 1 if os.environ.get("CI") else 5


def half(language: str, which: str, folder: Path, seed: int) -> dict[str, Any]:
    script = Path(__file__).with_name("halves.py")
    path = os.pathsep.join([str(script.parent), str(script.parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), language, which, str(folder), str(STEP)],
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / f"{which}.json").read_text())
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stream_goes_on_in_another_process(language: str, tmp_path: Path) -> None:
    begun, ended = half(language, "begin", tmp_path, 0), half(language, "end", tmp_path, 2)
    assert begun.keys() == ended.keys()
    assert len(begun) > 50 / STEP
    for name, first in begun.items():
        second = ended[name]
        assert first["program"] == second["program"], f"{name}: a checkpoint describes it in another way"
        assert sorted(first["part"] + second["part"]) == first["whole"], name
        assert first["warnings"] == second["warnings"] == [], name
    assert sum(bool(one["part"]) for one in begun.values()) > 10 / STEP
