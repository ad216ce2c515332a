"""``occurs run`` from tables and into tables of Delta Lake and Iceberg, with the real libraries."""

from __future__ import annotations

import json

import pytest

from cli.conftest import FIRE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tables")]
ROW = {"type": "Fire", "Area": "kitchen", "Value": 50}
#: a table of events in each format, by its address, and as Spark SQL has it
EVENTS = {
    "delta": ("delta:events.delta", "delta.`{folder}/events.delta`"),
    "iceberg": ("iceberg:lake.events", "lake.events"),
    "catalog": ("table:events", "default.events"),
}


@pytest.fixture(scope="module", params=list(EVENTS))
def events(request, console):
    """The address of a table with the events of a file."""
    address, name = EVENTS[request.param]
    format = {"catalog": "parquet"}.get(request.param, request.param)
    name = name.format(folder=console.folder)
    source = f"csv.`{console.folder}/events.csv`"
    columns = "_c0 as type, to_timestamp(_c1) as time, _c2 as Area, cast(_c3 as int) as Value"
    console.sql(f"create table {name} using {format} as select {columns} from {source} where _c0 != 'type'")
    return address


def test_a_table_is_read_by_spark_and_in_this_process(console, events):
    for host in ("auto", "local"):
        done = console.occurs("run", "fire.tesla", "-e", events, "--host", host, "--out", "-")
        assert done.status == 0, done.err
        assert json.loads(done.out) == FIRE
    assert "5 events read" in done.err


@pytest.mark.parametrize("events", ["iceberg", "catalog"], indirect=True)  # of Delta Lake: test_tables_follow.py
def test_a_table_is_followed(console, events):
    options = ("--checkpoint", f"cp-{events.partition(':')[0]}", "--ended", "--buckets", "1", "--ranges", "1")
    done = console.occurs("follow", "fire.tesla", "-e", events, "--out", "-", *options)
    assert done.status == 0, done.err
    assert json.loads(done.out) == FIRE


def test_a_missing_table_is_named(console):
    for address in ("delta:/nowhere", "table:nowhere", "iceberg:lake.nowhere", "iceberg:/no/where"):
        done = console.occurs("run", "fire.tesla", "-e", address)
        assert done.status == 2
        assert f"error[missing-table]: --events {address}: there is no such table" in done.err
    console.sql(f"create table delta.`{console.folder}/other.delta` using delta as select 'x' as Area, 'x' as time")
    done = console.occurs("run", "fire.tesla", "-e", "events.csv", "--out", "delta:other.delta?mode=append")
    assert done.status == 2
    assert "error[schema-conflict]: --out delta:" in done.err


def test_each_type_may_have_a_table(console):
    done = console.occurs("run", "fire.tesla", "-e", "events.csv", "--out", "table:found_{type}", "--bad", "table:bad")
    assert done.status == 0, done.err
    assert [r["Area"] for r in console.sql("select * from found_Fire")] == ["kitchen"]
    assert console.sql("select * from bad") == []


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("delta:found.delta", "delta.`{folder}/found.delta`"),
        ("iceberg:./found.iceberg", None),
        ("table:found", "found"),
        pytest.param("iceberg:lake.found", "lake.found", marks=pytest.mark.long),
        pytest.param("table:kept?provider=delta", "kept", marks=pytest.mark.long),
    ],
)
def test_detections_go_into_a_table_once_or_again_if_asked(console, address, name):
    run = ("run", "fire.tesla", "-e", "events.csv", "--out")

    def count():
        plain = address.partition("?")[0]
        again = console.occurs("run", "fire.tesla", "-e", plain, "--until", "2030-01-01", "--out", "-")
        assert again.status == 0, again.err
        return int(again.err.split(" event")[-2].split()[-1])

    done = console.occurs(*run, address)
    assert (done.status, done.out) == (0, ""), done.err
    if name is not None:
        [row] = console.sql(f"select * from {name.format(folder=console.folder)}")
        assert ROW.items() <= row.items()
        assert row["time"].startswith("2024-01-05 09:04:00")
    done = console.occurs(*run, address)
    assert done.status == 2
    assert "the table already exists" in done.err
    done = console.occurs(*run, address + ("&" if "?" in address else "?") + "mode=append")
    assert done.status == 0, done.err
    assert count() == 2
    done = console.occurs(*run, address, "--overwrite")
    assert done.status == 0, done.err
    assert count() == 1
