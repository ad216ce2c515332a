"""The law of restart across processes: a stream that is begun in one process goes on in another one, under another hash
seed, as if nothing had happened.  Whatever a checkpoint, a label or a fingerprint is made of is thus the same there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from halves import LANGUAGES
from tests.amount import amount

#: every twelfth case in CI, every fortieth in the fast run
STEP = amount(40, 12)


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder to which both processes wrote what they found, in all languages."""
    folder, script = tmp_path_factory.mktemp("halves"), Path(__file__).with_name("halves.py")
    path = os.pathsep.join([*map(str, (script.parent, *script.parents[1:3])), os.environ.get("PYTHONPATH", "")])
    for half, seed in (("begin", 0), ("end", 2)):
        done = subprocess.run(
            [sys.executable, str(script), half, str(folder), str(STEP)],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.xdist_group("halves")  # one process runs the two
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stream_goes_on_in_another_process(language: str, halves: Path) -> None:
    begun, ended = (json.loads((halves / language / f"{half}.json").read_text()) for half in ("begin", "end"))
    assert begun.keys() == ended.keys()
    assert len(begun) > 50 / STEP
    for name, first in begun.items():
        second = ended[name]
        assert first["program"] == second["program"], f"{name}: a checkpoint describes it in another way"
        assert sorted(first["part"] + second["part"]) == first["whole"], name
        assert first["warnings"] == second["warnings"] == [], name
    assert sum(bool(one["part"]) for one in begun.values()) > 10 / STEP
