"""The options of `detect` are declared once: signatures and docstrings say what the table says."""

from __future__ import annotations

import inspect
import re

import pyarrow as pa
import pytest

import occurs
from occurs.checked_program import CheckedProgram
from occurs.options import OPTIONS, DetectOptions

DECLARED = {o.name: o for o in OPTIONS}


def defaults(called):
    """The options of a function with their defaults, in order."""
    given = inspect.signature(called).parameters.values()
    return {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY and p.name != "schemas"}


def test_detect_has_every_option():
    declared = {o.name: o.default for o in OPTIONS if o.of not in ("spark", "stream")}
    assert list(defaults(occurs.Program.detect).items()) == list(declared.items())
    assert list(DetectOptions.__annotations__) == list(DECLARED)


@pytest.mark.parametrize("called", [occurs.Program.live, CheckedProgram.adjusted], ids=lambda c: c.__name__)
def test_others_have_some_of_them(called):
    found = defaults(called)
    assert found == {name: DECLARED[name].default for name in found}


def test_the_plan_is_adjusted_by_the_options_that_change_it():
    assert defaults(CheckedProgram.adjusted).keys() == {o.name for o in OPTIONS if o.of in ("rules", "run")}


def test_the_docstring_says_what_the_table_says():
    text = inspect.getdoc(occurs.Program.detect).split("Args:\n")[1].split("\n\n")[0]
    said = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text, flags=re.M)
    words = {name: " ".join(line.split()) for name, line in said}
    assert words == {
        "events": words["events"],
        **{o.name: " ".join(o.words.split()) for o in OPTIONS if o.of not in ("spark", "stream")},
        "host": words["host"],
    }


def test_a_program_shows_few_members():
    program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
    shown = {n for n in dir(program) if not n.startswith("_")}
    assert shown == {
        "problems", "outline", "declared", "check", "detect", "live", "stream", "explain", "verify", "checked",
            "why", "why_not",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"partition": 2}, "unknown option `partition`"),
        ({"partitions": 2}, "`partitions` is only available for a run on Spark"),
        ({"watermark": "1 s"}, "`watermark` is only available for a stream on Spark"),
        ({"divide": 2}, "`divide` is only available for a stream on Spark"),
    ],
)
def test_options_of_spark_elsewhere(given, message):
    program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
    with pytest.raises(occurs.UsageProblem, match=message):
        program.detect(pa.table({"type": ["Temp"], "time": [0], "Value": [50]}), time_unit="s", **given)


@pytest.mark.spark
def test_a_history_has_no_options_of_streams(spark):
    program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
    frame = spark.createDataFrame([("Temp", 0, 50)], "type string, time long, Value long")
    with pytest.raises(occurs.UsageProblem, match="`divide` is only available for a stream on Spark"):
        program.detect(frame, time_unit="s", divide=2)
