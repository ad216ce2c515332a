"""The build hook of the packages, which adds the pages of the studio; a wheel is built from the sdist without Node."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = "src/occurs/studio/static/index.html"
SHEBANG = "#!/bin/sh\n"


def built(root: Path, version: str = "standard") -> None:
    """Run the hook over a folder, as a build does."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Pages(str(root), {}, None, None, str(root), "wheel").initialize(version, {})


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout without pages, on a machine without npm."""
    (tmp_path / "studio-ui").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("OCCURS_STUDIO", raising=False)
    return tmp_path


def npm(checkout: Path, then: str) -> None:
    """Put an npm there that notes its calls."""
    place = checkout / "bin" / "npm"
    place.write_text(f'{SHEBANG}echo "$@" >> "{checkout}/calls"\n{then}\n')
    place.chmod(0o755)


def test_without_npm_a_build_stops_and_says_what_to_do(checkout: Path) -> None:
    with pytest.raises(SystemExit, match=r"Node 20\.19 or later; .* OCCURS_STUDIO=skip"):
        built(checkout)


def test_the_pages_are_built_by_npm(checkout: Path) -> None:
    npm(checkout, "")
    built(checkout)
    assert (checkout / "calls").read_text().splitlines() == ["ci --no-audit --no-fund", "run build"]


def test_pages_that_cannot_be_built_stop_the_build(checkout: Path) -> None:
    npm(checkout, "exit 1")
    with pytest.raises(subprocess.CalledProcessError):
        built(checkout)


def test_pages_that_are_there_are_taken(checkout: Path) -> None:
    npm(checkout, "")
    (checkout / PAGE).parent.mkdir(parents=True)
    (checkout / PAGE).touch()
    built(checkout)
    assert not (checkout / "calls").exists()


def test_editable_installations_and_skipped_pages_need_no_npm(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(checkout, "editable")
    monkeypatch.setenv("OCCURS_STUDIO", "skip")
    built(checkout)
    assert not (checkout / PAGE).exists()


@pytest.mark.slow
def test_a_wheel_of_the_sdist_has_the_pages_and_needs_no_node(tmp_path: Path) -> None:
    if not (ROOT / PAGE).exists():
        assert not os.environ.get("CI"), "the pages are not built: make studio-ui"
        pytest.skip("the pages of the studio are not built: make studio-ui (Node 20.19 or later)")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, "--sdist", str(ROOT)], check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (f for f in tmp_path.iterdir() if f.is_dir())
    bare = {**os.environ, "PATH": str(tmp_path / "nothing")}
    subprocess.run([*build, "--wheel", str(source)], check=True, capture_output=True, env=bare)
    (wheel,) = tmp_path.glob("*.whl")
    static = ROOT / "src" / "occurs" / "studio" / "static"
    pages = {str(p.relative_to(ROOT / "src")) for p in static.rglob("*") if p.is_file()}
    assert pages <= set(zipfile.ZipFile(wheel).namelist())
