"""A started studio: the real server on a copy of a small project, and a client with its token."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio_server import LABOR, Started, shared_engine

PAGE = '<!doctype html><title>Occurs Studio</title><meta name="csp-nonce" content="__NONCE__">'


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in the place of a build."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "index.html").write_text(PAGE)
    (folder / "assets").mkdir()
    (folder / "assets" / "index-abc123.js").write_text("export {}")
    return folder


@pytest.fixture(scope="module")
def start_studio(
    pages: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Started]]:
    """Starts a studio on ``files`` (path -> text or bytes) or on the example ``labor``; all end with the module.

    A module with ``OWN_ENGINE`` looks at the processes of a studio: there each has an engine of its own.
    """
    started: list[Started] = []
    own = getattr(request.module, "OWN_ENGINE", False)

    def start(files: dict[str, str | bytes] | None = None, *arguments: str, **environment: str) -> Started:
        folder = tmp_path_factory.mktemp("project") / "labor"
        if files is None:
            shutil.copytree(LABOR, folder)
        else:
            folder.mkdir()
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        engine = "" if own or "OCCURS_KERNELS" in environment else shared_engine()
        started.append(Started(folder, pages, *arguments, engine=engine, **environment))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture(scope="module")
def studio(start_studio: Callable[..., Started]) -> Started:
    """A studio on the example ``labor``, one for the module."""
    return start_studio()
