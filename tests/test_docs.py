"""Every Python snippet of the README and of docs/ runs; every link to a file leads somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from occurs.languages.language import names

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def snippets():
    """The snippets of a page, one after the other, are one program; those that need Spark are marked."""
    out = []
    for page in PAGES:
        found = SNIPPET.findall(page.read_text())
        if found:
            marks = [pytest.mark.spark] if "local_session" in "".join(found) else []
            out.append(pytest.param(page, "\n".join(found), id=page.name, marks=marks))
    return out


class Borrowed:
    """The session of the tests, which snippets cannot stop."""

    def __init__(self, session: Any):
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def stop(self) -> None:
        """Others go on with it."""


@pytest.mark.parametrize(("page", "code"), snippets())
def test_snippets_run(page, code, tmp_path, monkeypatch, request):
    if "local_session" in code:
        session = Borrowed(request.getfixturevalue("spark"))
        monkeypatch.setattr("occurs.connect.spark.local_session", lambda *_, **__: session)
    path = tmp_path / f"{page.stem}.py"
    path.write_text(code)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_readme_names_every_language_that_is_there():
    status = (ROOT / "README.md").read_text().split("\n## The state of things\n")[1]
    missing = [name for name in names() if not re.search(rf"\b{name}\b", status, re.IGNORECASE)]
    assert not missing
