"""The types of the page are made from the shapes of the interface."""

from __future__ import annotations

import json
from pathlib import Path

from occurs.studio.app import _calls
from occurs.studio.openapi import described

WRITTEN = Path(__file__).parents[2] / "studio-ui" / "src" / "api" / "schemas.json"


def schemas() -> str:
    found = described(_calls())["components"]["schemas"]
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_page_knows_the_shapes_of_the_interface() -> None:
    command = "python -m tests.studio.test_studio_shapes && npm --prefix studio-ui run shapes"
    assert WRITTEN.read_text() == schemas(), f"the shapes have changed: {command}"


if __name__ == "__main__":
    WRITTEN.write_text(schemas())
