"""``occurs run`` from a table and a query of a real PostgreSQL, by JDBC."""

from __future__ import annotations

import json
import socket

import psycopg
import pytest

import pgserver
from cli.conftest import EVENTS, FIRE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tables")]


@pytest.fixture
def database(lacks):
    """The JDBC URL of a database with the table `events`."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    try:
        server = pgserver.Server(port=port)
    except pgserver.Unavailable as error:
        lacks(str(error))
    try:
        server.start()
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute('create table events (type text, time timestamptz, "Area" text, "Value" int)')
            rows = [[v or None for v in line.split(",")] for line in EVENTS.splitlines()[1:]]
            connection.cursor().executemany("insert into events values (%s, %s, %s, %s::int)", rows)
        yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=postgres"
    finally:
        server.stop()


def test_a_table_and_a_query_of_a_database(console, database):
    done = console.occurs("run", "fire.tesla", "-e", f"{database}&dbtable=events", "--out", "-")
    assert done.status == 0, done.err
    assert json.loads(done.out) == FIRE
    smoke = "select time, \"Area\" from events where type = 'Smoke'"
    queries = ["-e", f"Smoke={database}&query={smoke}", "-e", f"Temp={database}&dbtable=events"]
    done = console.occurs("run", "fire.tesla", *queries, "--out", "-")
    assert done.status == 0, done.err
    assert json.loads(done.out) == FIRE
    done = console.occurs("run", "fire.tesla", "-e", f"{database}&dbtable=nothing")
    assert done.status == 2
    assert "error[missing-table]: jdbc:postgresql://127.0.0.1:" in done.err
    assert 'relation "nothing" does not exist' in done.err
    silent = "jdbc:postgresql://127.0.0.1:9/d?user=hush&password=hush&dbtable=events"
    done = console.occurs("run", "fire.tesla", "-e", silent)
    assert done.status == 1
    assert "error[unreachable]: jdbc:postgresql://127.0.0.1:9/d (events): the database does not answer" in done.err
    assert "hush" not in done.err
