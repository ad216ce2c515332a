"""`occurs functions`: every function is listed, and every example that is printed is right."""

from __future__ import annotations

import pyarrow as pa
import pytest

import occurs as library
from occurs.expr.aggregates import written
from occurs.expr.functions import CATALOGUE

WRITTEN = written()


def value_of(text: str, name: str = "X", **columns: list) -> list:
    """The value of an expression in TESLA, over timestamps."""
    rows = pa.table({"time": pa.array([0] * len(columns["V"]), pa.timestamp("us")), **columns})
    found = library.parse(f"define R(V) from {name}() where V = {text}").detect(
        {"X": rows, "A": pa.table({"time": pa.array([1], pa.timestamp("us"))})}, sequence="i"
    )
    return found["R"]["V"].to_pylist()


def test_every_function_is_listed(occurs):
    done = occurs("functions")
    assert (done.status, done.err) == (0, "")
    for name in CATALOGUE:
        assert f"  {name}(" in done.out
    for found in WRITTEN.values():
        assert f"  {found.text}" in done.out


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_the_printed_example_is_right(occurs, name):
    out = occurs("functions", name.upper()).out
    line = next(line for line in out.replace("\n    ", " ").splitlines() if line.startswith("  example: "))
    call, _, value = line.removeprefix("  example: ").rpartition(" = ")
    one = {"V": [1], "i": [1]}
    # sines differ in the last bit from processor to processor
    found, printed = value_of(call, **one), value_of(value, **one)
    assert found == (pytest.approx(printed, rel=1e-15, abs=0) if isinstance(printed[0], float) else printed)
    assert "tesla" in out.splitlines()[-1]


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_the_example_of_an_aggregate_is_right(occurs, name):
    found = WRITTEN[name]
    columns = {"V": list(found.values), "i": list(range(len(found.values)))}
    assert value_of(f"{found.text} within 1 s from A", "A", **columns) == [found.value]
    assert found.text in occurs("functions", name).out


def test_names_in_other_languages(occurs):
    assert "epl (max)" in occurs("functions", "greatest").out


def test_an_unknown_name(occurs):
    done = occurs("functions", "haversin")
    assert done.status == 2
    assert "error[unknown-function]" in done.err
    assert occurs("functions", "sqr").err.count("did you mean `sqrt`") == 1
