"""The built pages of the studio: how much script they are, what they say of licences, that they fetch nothing."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

import occurs

STATIC = Path(occurs.__file__).parent / "studio" / "static"
#: bytes of script, compressed: what the first load takes, and all of it
FIRST, ALL = 180_000, 650_000
LICENCES = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"}


@pytest.fixture(scope="module")
def page() -> str:
    if not (STATIC / "index.html").exists():
        assert not os.environ.get("CI"), "the pages are not built: make studio-ui"
        pytest.skip("the pages of the studio are not built: make studio-ui (Node 20.19 or later)")
    return (STATIC / "index.html").read_text()


def compressed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))


def test_the_first_load_and_all_scripts_are_small(page: str) -> None:
    named = {Path(name).name for name in re.findall(r'(?:src|href)="([^"]+\.js)"', page)}
    scripts = {path.name: compressed(path) for path in STATIC.rglob("*.js")}
    assert named
    assert named <= scripts.keys()
    assert sum(scripts[name] for name in named) <= FIRST
    assert sum(scripts.values()) <= ALL


def test_no_source_maps_and_nothing_from_elsewhere(page: str) -> None:
    assert not list(STATIC.rglob("*.map"))
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    styles = "".join(path.read_text() for path in STATIC.rglob("*.css"))
    assert not re.findall(r"@import|url\(\s*['\"]?(?:https?:)?//", styles)


def test_all_shipped_code_has_a_licence_that_allows_it(page: str) -> None:
    """The notices name each package with its licence: a heading `## NAME - VERSION (LICENCE)`."""
    (notices,) = STATIC.rglob("licenses.md")
    found = dict(re.findall(r"^## (\S+) - \S+ \(([^)]+)\)$", notices.read_text(), re.MULTILINE))
    assert {"react", "react-dom", "react-aria-components", "@codemirror/state", "zustand"} <= found.keys()
    assert {name: licence for name, licence in found.items() if licence not in LICENCES} == {}
