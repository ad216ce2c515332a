"""What all tests share: slow ones are left out unless CI=true or --slow; one Spark session for the whole run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests, too (so does CI=true)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow") or os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        return
    skip = pytest.mark.skip(reason="slow: --slow or CI=true runs it")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one Spark session of a run; starting it takes some seconds.  Mark tests that use it with ``spark``."""
    from occurs.connect.spark import local_session

    session = local_session("local[2]", spark__sql__shuffle__partitions="4")
    yield session
    session.stop()
