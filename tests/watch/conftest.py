"""One PostgreSQL server for all tests of a process, a database of its own for each."""

from __future__ import annotations

import itertools
import os

import pytest

import pgserver

_numbers = itertools.count(1)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(items):
    """One process has all tests that need the server."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def postgres():
    """A running server.  Without its programs tests are skipped; under CI=true they fail."""
    try:
        server = pgserver.Server()
    except pgserver.Unavailable as error:
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def pg_url(postgres):
    """The address of a database that nobody else has."""
    import psycopg

    name = f"case{next(_numbers)}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return postgres.url(name)
