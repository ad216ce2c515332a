"""What ``import occurs`` costs and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("statement", ["import occurs", "import occurs.cli", "import occurs.connect.spark"])
def test_importing_brings_neither_pyspark_nor_pandas(statement):
    command = [sys.executable, "-X", "importtime", "-c", statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "occurs" in names
    assert not names & {"pyspark", "pandas", "polars", "py4j"}
