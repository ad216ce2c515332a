"""The notebook in examples/ runs from its first cell to its last."""

from __future__ import annotations

import json
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "first_steps.ipynb"


def cells():
    return [c for c in json.loads(NOTEBOOK.read_text())["cells"] if c["cell_type"] == "code"]


def test_it_is_stored_without_results():
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells())


def test_every_cell_runs(shell):
    shown = []
    for cell in cells():
        fails = "raises-exception" in cell["metadata"].get("tags", ())
        text = "".join(cell["source"])
        result, out = shell.run(text)
        assert ("error[" in out) == fails, f"{text}\n{out}"
        assert "Traceback" not in out
        shown.append(result)
    names = shell.names()
    assert names["found"]["Fire"]["area"].tolist() == ["hall", "hall"]
    assert names["found"]["Fire"]["value"].tolist() == [51.5, 58.0]
    assert names["lasting"]["alarm"]["A"].tolist() == ["hall", "hall", "kitchen"]
    pictures = [r._repr_html_() for r in shown if hasattr(r, "_repr_html_")]
    assert len(pictures) == 7
    assert sum("<iframe" in p for p in pictures) == 2
