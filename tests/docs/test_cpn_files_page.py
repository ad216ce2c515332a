"""The page on files of CPN Tools counts every file once."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("railroad")
ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import reference_pages  # noqa: E402

FILES = json.loads((ROOT / "tests/nets/files/public_cpn.json").read_text())["files"]


def test_every_file_is_counted_once() -> None:
    summary, table = reference_pages.cpn_files().split("\n\n", 1)
    counts = [int(n) for n in re.findall(r"^\| [^|]+ \| (\d+) \|", summary, re.MULTILINE)]
    assert sum(counts) == len(FILES) == table.count("\n") - 2
    assert counts[0] == sum(f["result"] == "runs" for f in FILES)
    assert "<!-- generated: cpn_files -->" in (ROOT / "docs/reference/cpn-files.md").read_text()
