"""The types of the page are made from the shapes of the interface."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
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


def test_shapes_that_threads_use_are_known_before_any_thread_starts() -> None:
    """msgspec 0.22 crashes if two threads use a shape for the first time at once."""
    code = """
        import sys
        import msgspec
        from occurs.studio.project import Options, Sidecar

        called = []
        sys.setprofile(lambda frame, *_: called.append(frame.f_code.co_name))
        program = {"rules": ["a.epl"], "options": {"time_unit": "min"}}
        drawn = {"icons": {"A": {"character": "x"}}, "drafts": {"a": {"b": {"canvas": {}}}}}
        msgspec.convert({"version": 1, "program": program, **drawn}, Sidecar)
        msgspec.convert({}, Options)
        sys.setprofile(None)
        assert "get_class_annotations" not in called, "a shape is looked at only now"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


if __name__ == "__main__":
    WRITTEN.write_text(schemas())
