"""Addresses of tables of Spark, and the libraries that they need."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.connect import libraries
from occurs.connect.places import split_type
from occurs.connect.sparktables import session
from occurs.connect.sparktables.place import BATCH, STREAM, TablePlace, table_places
from occurs.connect.sparktables.session import DELTA, ICEBERG, POSTGRESQL, libraries_of
from occurs.errors import ResourceProblem, UsageProblem


def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path)
    parse = TablePlace.parse
    assert (parse("delta:x").name, parse("delta:s3a://b/x/").name) == (f"{here}/x", "s3a://b/x")
    assert parse("delta:/a b").sql == "delta.`/a b`"
    assert (parse("table:a.b").sql, parse("iceberg:lake.a.b").sql) == ("a.b", "lake.a.b")
    place = parse("iceberg:./x")
    assert place.catalog is not None
    name, settings = place.catalog
    assert place.sql == f"{name}.`x`"
    assert settings[f"spark.sql.catalog.{name}.warehouse"] == here
    assert parse("delta:/x?versionAsOf=3").options_for(BATCH, "--events") == {"versionAsOf": "3"}
    assert parse("delta:/found/{type}").of("Fire").name == "/found/Fire"
    assert [split_type(t)[0] for t in ("table:a?versionAsOf=1", "A=table:a?versionAsOf=1", "A=x")] == [None, "A", "A"]
    assert [(t, str(p)) for t, p in table_places(["a.csv", "A=delta:/x", "table:y"])] == [
        ("A", "delta:/x"),
        (None, "table:y"),
    ]


def test_jdbc_options_of_spark_are_taken_out_of_the_url(tmp_path):
    (tmp_path / "db").write_text("user=me\npassword=hush\n")
    place = TablePlace.parse(f"jdbc:postgresql://u:hush@h/d?ssl=true&dbtable=t&fetchsize=10&config={tmp_path / 'db'}")
    assert place.name == "jdbc:postgresql://u:hush@h/d?ssl=true"
    options = {"dbtable": "t", "fetchsize": "10", "user": "me", "password": "hush"}
    assert place.options_for(BATCH, "--events") == options
    assert str(place) == "jdbc:postgresql://h/d (t)"
    assert "hush" not in repr(place)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delta:", "delta: has no table"),
        ("delta:/x?versionOf=1", "delta:/x: unknown option `versionOf`"),
        ("delta:/x?versionAsOf=", "delta:/x: option `versionAsOf` has no value"),
        ("delta:/x?versionAsOf=1&versionAsOf=2", "delta:/x: option `versionAsOf` is given twice"),
        ("delta:/x?mode=overwrite", "delta:/x: invalid `mode`: `overwrite`"),
        ("jdbc:postgresql://h/d", "one of `dbtable` and `query` is needed"),
        ("jdbc:postgresql://h/d?dbtable=a&query=b", "one of `dbtable` and `query` is needed"),
        ("file:/x", "this is not the address of a table"),
    ],
)
def test_bad_addresses(text, message):
    with pytest.raises(UsageProblem) as caught:
        TablePlace.parse(text)
    assert message in caught.value.message


def test_options_apply_to_one_use():
    with pytest.raises(UsageProblem, match="option `startingVersion` only applies when a stream is read"):
        TablePlace.parse("delta:/x?startingVersion=1").options_for(BATCH, "--events")
    with pytest.raises(UsageProblem, match="option `versionAsOf` only applies when a history is read"):
        TablePlace.parse("delta:/x?versionAsOf=1").options_for(STREAM, "--events")
    with pytest.raises(UsageProblem, match="option `mode` only applies when detections are written"):
        TablePlace.parse("delta:/x?mode=append").options_for(BATCH, "--events")


@pytest.fixture
def maven(monkeypatch):
    """A Maven Central of its own: modules to versions; None: out of reach."""
    there: dict[str, frozenset[str] | None] = {}
    monkeypatch.setattr(session, "_versions", lambda group, artifact: there.get(artifact, frozenset()))
    monkeypatch.setattr(session, "scala_version", lambda: "2.13")
    session._last_minor.cache_clear()
    yield there
    session._last_minor.cache_clear()


def test_the_newest_release_for_this_spark_is_taken(maven, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr("pyspark.__version__", "4.1.4")
    maven["delta-spark_4.1_2.13"] = frozenset({"4.1.0", "4.10.0", "4.4.0", "5.0.0-rc1"})
    assert DELTA.coordinate() == "io.delta:delta-spark_4.1_2.13:4.10.0"
    maven["delta-spark_4.1_2.13"] = None
    assert DELTA.coordinate() == f"io.delta:delta-spark_4.1_2.13:{session.DELTA_VERSION}"


def test_a_spark_without_a_release_is_named_with_the_one_to_use(maven, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr("pyspark.__version__", "4.3.0")
    maven["iceberg-spark-runtime-4.1_2.13"] = frozenset({"1.12.0"})
    with pytest.raises(ResourceProblem) as caught:
        ICEBERG.coordinate()
    assert caught.value.kind == "no-library"
    assert caught.value.message == "Iceberg has no release for Spark 4.3.0; the latest Spark that it supports is 4.1"
    assert caught.value.first.hint == 'pip install "pyspark==4.1.*"'
    linkage = session._translated("java.lang.NoSuchMethodError: x", TablePlace.parse("iceberg:a.b"), "--events")
    assert linkage is not None
    assert "Iceberg was built for another version of Spark than this one, 4.3.0" in linkage.message
    assert linkage.first.hint is not None
    assert "the latest Spark that it supports is 4.1" in linkage.first.hint


def test_settings_of_several_libraries_are_joined(tmp_path, monkeypatch):
    for name in ("delta", "iceberg"):
        (tmp_path / f"{name}.jar").write_text("")
        monkeypatch.setenv(f"OCCURS_{name.upper()}_JARS", str(tmp_path / f"{name}.jar"))
    found = libraries.settings_of([DELTA, ICEBERG])
    assert found["spark__jars"] == f"{tmp_path}/delta.jar,{tmp_path}/iceberg.jar"
    assert found["spark__sql__extensions"] == "io.delta.sql.DeltaSparkSessionExtension"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")  # spark-submit: its command has extensions and catalogs
    assert list(libraries.settings_of([DELTA])) == ["spark__jars"]


def test_a_table_needs_the_library_of_its_format(monkeypatch):
    monkeypatch.delenv("OCCURS_JDBC_JARS", raising=False)
    texts = ["delta:/x", "delta:/y", "table:z", "jdbc:postgresql://h/d?dbtable=t", "jdbc:h2:mem?dbtable=t"]
    assert libraries_of(map(TablePlace.parse, texts)) == [DELTA, POSTGRESQL]
    monkeypatch.setenv("OCCURS_JDBC_JARS", "/driver.jar")
    assert libraries_of([TablePlace.parse("jdbc:h2:mem?dbtable=t")]) == [POSTGRESQL]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "-e", "delta:/x?startingVersion=1", "--host", "local"], "only applies when a stream is read"),
        (["run", "-e", "e.csv", "--out", "jdbc:postgresql://h/d?dbtable=t"], "only applies when a history is read"),
        (["run", "-e", "e.csv", "--facts", "F=delta:/x"], "`delta:/x` is a table of Spark, not a file"),
        (["follow", "-e", "delta:/x", "-e", "in", "--checkpoint", "cp"], "tables cannot be combined with files"),
        (["follow", "-e", "delta:/x", "-e", "delta:/y", "--checkpoint", "cp"], "--events has 2 tables"),
        (["follow", "-e", "jdbc:postgresql://h/d?dbtable=t", "--checkpoint", "cp"], "when a history is read"),
    ],
)
def test_what_does_not_fit_is_rejected_before_spark_starts(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("occurs.connect.spark.local_session", lambda *_, **__: None)
    (tmp_path / "r.tesla").write_text("event A()\ndefine B() from A()\n")
    (tmp_path / "e.csv").write_text("type,time\nA,2024-01-05T09:00:00Z\n")
    (tmp_path / "in").mkdir()
    done = CliRunner().invoke(main, [arguments[0], "r.tesla", *arguments[1:]])
    assert done.exit_code == 2
    assert message in done.stderr
