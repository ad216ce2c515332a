"""The types that a checker sees."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = """
import occurs
import polars as pl
from pyspark.sql import DataFrame

program = occurs.parse("define Fire(A) from Smoke(A = $a) where A = $a")
table = pl.DataFrame({"time": [1]})
reveal_type(program.detect(table)["Fire"])
reveal_type(program.detect({"Smoke": table}, time_unit="s", because=True)["Fire"])
reveal_type(program.detect(table).get("Fire"))
reveal_type(program.detect(table).timeline())
reveal_type(program.explain())

def on_spark(frame: DataFrame) -> None:
    reveal_type(program.detect(frame)["Fire"])
    reveal_type(program.detect({"Smoke": frame})["Fire"])
"""


@pytest.mark.slow
def test_a_checker_knows_the_tables(tmp_path):
    (tmp_path / "own.py").write_text(TEXT)
    (tmp_path / "wrong.py").write_text(TEXT + "\nprogram.detect(table, becuase=True)\n")
    root = Path(__file__).parents[1]
    config = str(root / "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", str(tmp_path)]
    done = subprocess.run(
        [*command, str(tmp_path / "own.py"), str(tmp_path / "wrong.py")],
        capture_output=True, text=True, cwd=tmp_path, env=_environment(root),
    )  # fmt: skip
    lines = done.stdout.splitlines()
    own, wrong = ([line for line in lines if line.startswith(name)] for name in ("own.py", "wrong.py"))
    assert [re.findall(r'Revealed type is "(.*)"', line) for line in own] == [
        ["polars.dataframe.frame.DataFrame"],
        ["polars.dataframe.frame.DataFrame"],
        ["polars.dataframe.frame.DataFrame | None"],
        ["occurs.plot.timeline.Timeline"],
        ["occurs.explanation.Explanation"],
        ["pyspark.sql.dataframe.DataFrame"],
        ["pyspark.sql.dataframe.DataFrame"],
    ]
    assert done.returncode == 1
    assert [line for line in wrong if "error: " in line and "becuase" in line]


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "MYPYPATH": str(root / "src")}
