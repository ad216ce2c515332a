"""What a notebook shows: programs, detections, plans, errors; the cell magic; how far a run is."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace

import pyarrow as pa
import pytest

import occurs
from occurs.errors import UnknownTypeProblem
from occurs.hosts import local

FIRE = """define Fire(Area, Value)
from Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
where Area = $a, Value = Temp.Value"""
SEEN = "define Seen(Area) from Smoke(Area = $a) where Area = $a"
EVENTS = {
    "Smoke": pa.table({"time": [180, 400], "Area": ["hall", "<b>"], "Sensor": [7, 8]}),
    "Temp": pa.table({"time": [60, 120, 390], "Area": ["hall", "hall", "<b>"], "Value": [50.0, 60.5, 70.0]}),
}


def text_of(html: str) -> str:
    """What a person reads in the HTML, without the timeline."""
    html = re.sub(r"<style>.*?</style>|<iframe.*?</iframe>", "", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_a_program_shows_its_definitions_and_inputs():
    program = occurs.parse(f"event Smoke(Area: string)\nevent Temp(Area: string, Value: float)\n{FIRE}")
    assert repr(program) == "Program(Fire)"
    assert text_of(program._repr_html_()) == (
        "1 definition defines attributes language reads Fire Area: string, Value: float tesla Smoke, Temp "
        "Inputs type attributes Smoke Area: string Temp Area: string, Value: float "
        "On Spark Fire: partitioned by key (Smoke by Area; Temp by Area); "
        "each partition runs in time order and keeps its own state"
    )


def test_a_program_shows_the_languages_by_their_names():
    program = occurs.parse("event e(a int)\ntrigger t: eventually e(a = 1)", "ftl")
    assert "t ftl/ptl e" in text_of(program._repr_html_())


def test_a_program_shows_its_warnings():
    program = occurs.parse("insert into X select b.v as v from pattern [every (a=A -> b=B(k = a.k))]", "epl")
    assert program.problems
    shown = text_of(program._repr_html_())
    assert all(p.message in shown for p in program.problems)


def test_detections_show_counts_rows_and_a_timeline():
    html = occurs.parse(FIRE).detect(EVENTS, time_unit="s")._repr_html_()
    assert text_of(html) == "2 detections in 5 events Fire 2 time Area Value 180 hall 60.5 400 <b> 70.0"
    assert "<b>" not in html.replace("<b>Fire</b>", "")
    assert html.count("<iframe srcdoc=") == 1


def test_detections_show_what_they_are_made_of():
    html = occurs.parse(FIRE).detect(EVENTS, time_unit="s", because=True)._repr_html_()
    assert text_of(html) == (
        '2 detections in 5 events Fire 2 Fire 180 Area = "hall", Value = 60.5 because of time values '
        'Smoke 180 Area = "hall", Sensor = 7 Temp 120 Area = "hall", Value = 60.5 '
        'Fire 400 Area = "<b>", Value = 70.0 because of time values '
        'Smoke 400 Area = "<b>", Sensor = 8 Temp 390 Area = "<b>", Value = 70.0'
    )


def test_detections_without_rows_show_no_timeline():
    nothing = {t: table.slice(0, 0) for t, table in EVENTS.items()}
    html = occurs.parse(FIRE).detect(nothing, time_unit="s")._repr_html_()
    assert text_of(html) == "0 detections in 0 events no detections of Fire"
    assert "<iframe" not in html


def test_many_detections_are_cut():
    smoke = pa.table({"time": list(range(30)), "Area": ["hall"] * 30})
    found = occurs.parse(SEEN).detect({"Smoke": smoke}, time_unit="s")
    assert text_of(found._repr_html_()).endswith("9 hall … and 20 more")


def test_many_types_are_cut():
    rules = "\n".join(f"define Seen{n}(Area) from Smoke(Area = $a) where Area = $a" for n in range(25))
    rules += "\n" + "\n".join(f"define Never{n}(Area) from Smoke(Area = 'x') where Area = Smoke.Area" for n in range(2))
    smoke = pa.table({"time": [1], "Area": ["hall"]})
    shown = text_of(occurs.parse(rules).detect({"Smoke": smoke}, time_unit="s")._repr_html_())
    assert shown.startswith("25 detections in 1 event Seen0 1 time Area 1 hall Seen1 1")
    assert "Seen19 1" in shown
    assert "Seen20" not in shown
    assert shown.endswith("… and 5 more types with detections no detections of Never0, Never1")


@pytest.mark.spark
def test_detections_on_spark_are_not_computed_to_be_shown(spark):
    program = occurs.parse(f"event Smoke(Area: string)\nevent Temp(Area: string, Value: float)\n{FIRE}")
    found = program.detect({t: spark.createDataFrame(table) for t, table in EVENTS.items()}, time_unit="s")
    assert text_of(found._repr_html_()) == (
        "SparkDetections type columns Fire type, time, Area, Value "
        "Spark computes the detections of a type when an action needs them."
    )
    with pytest.raises(KeyError, match="did you mean `Fire`"):
        found["Fir"]
    found.unpersist()


def test_a_plan_prints_itself():
    plan = occurs.parse(FIRE).explain()
    assert isinstance(plan, str)
    assert repr(plan) == str(plan)
    assert str(plan).startswith("Inputs (2 types):\n")
    assert "<h4>Inputs (2 types)</h4><ul><li>Smoke: " in plan._repr_html_()


@pytest.mark.parametrize("mapping", ["found", "timeouts"])
def test_a_name_that_is_not_there_is_told_with_the_nearest(mapping):
    text = "insert into Fire select a.v as v from pattern [every (a=A -> B) where timer:within(5 sec)]"
    rows = pa.table({"time": [1], "v": [1]})
    found = occurs.parse(text, "epl").detect({"A": rows, "B": rows}, time_unit="s", timeouts=True)
    tables = found if mapping == "found" else found.timeouts
    with pytest.raises(KeyError) as raised:
        tables["Fir"]
    assert isinstance(raised.value, UnknownTypeProblem)
    assert str(raised.value) == "error[unknown-name]: `Fir` is not reported\n  hint: did you mean `Fire`?"
    assert "Fir" not in tables
    assert tables.get("Fir") is None


# --- the shell --------------------------------------------------------------------------------------------------------
def test_errors_have_no_traceback(shell):
    shell.run("import occurs")
    _, out = shell.run("x = 1\noccurs.parse('define Fire(A) from Smoke() where A = Temp.V')")
    assert out.splitlines() == [
        "<text>:1:39: error[unknown-name]: no event of this rule is called `Temp`",
        "  define Fire(A) from Smoke() where A = Temp.V",
        "                                        ^^^^^^",
        "  hint: events of this rule: `Smoke`",
        "  raised by line 2: occurs.parse('define Fire(A) from Smoke() where A = Temp.V')",
    ]


def test_syntax_errors_have_no_traceback_without_the_extension(shell):
    shell.run("import occurs")
    _, out = shell.run("occurs.parse('define Fire(A frm Smoke()')")
    assert out.startswith("<text>:1:15: error[syntax]: unexpected `frm`")
    assert "Traceback" not in out
    assert out.count("\n") < 10


def test_syntax_errors_of_python_are_shown_as_ever(shell):
    shell.run("import occurs\noccurs.parse('define F(A) from S(A = $a) where A = $a')")
    with pytest.raises(AssertionError):
        shell.run("1 +")
    _, out = shell.run("exec('1 +')")
    assert "SyntaxError: invalid syntax" in out


def test_a_handler_of_somebody_else_stays(shell):
    shell.ipython.set_custom_exc((ZeroDivisionError,), lambda *_, **__: ["mine"])
    shell.run("%load_ext occurs")
    assert shell.ipython.custom_exceptions == (ZeroDivisionError,)


def test_the_magic_makes_a_program(shell):
    shell.run("%load_ext occurs")
    shown, out = shell.run(f"%%occurs tesla fire\n{FIRE}")
    assert out.startswith("Out") or out == ""
    assert shown is shell.names()["fire"]
    assert repr(shown) == "Program(Fire)"
    found = shell.names()["fire"].detect(EVENTS, time_unit="s")
    assert found["Fire"]["Area"].to_pylist() == ["hall", "<b>"]


def test_places_in_a_cell_are_those_of_its_lines(shell):
    shell.run("%load_ext occurs")
    _, out = shell.run("%%occurs tesla fire\n\ndefine Fire(A) from Smoke() where A = Temp.V")
    assert out.startswith("%%occurs tesla fire:3:39: error[unknown-name]")
    assert "raised by" not in out
    assert "fire" not in shell.names()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tesla", "%%occurs needs two words, not 1"),
        ("", "%%occurs needs two words, not 0"),
        ("tesla a-b", "%%occurs: `a-b` is not a valid variable name"),
        ('tesla "x', '%%occurs: `tesla "x` cannot be split into words: no closing quotation'),
        ("tesla class", "%%occurs: `class` is not a valid variable name"),
        ("tesle fire", "unknown language `tesle`"),
    ],
)
def test_wrong_words_behind_the_magic(shell, line, message):
    shell.run("%load_ext occurs")
    _, out = shell.run(f"%%occurs {line}\n{FIRE}")
    assert message in out
    assert "hint:" in out


# --- how far a run is -------------------------------------------------------------------------------------------------
@pytest.fixture
def slow(monkeypatch):
    """Small calls, each of which takes longer than anybody waits for a bar."""
    monkeypatch.setattr(local, "LEAST", 10)
    monkeypatch.setattr("occurs.progress.PATIENCE", 0)


SMOKE = {"Smoke": pa.table({"time": list(range(100)), "Area": ["hall"] * 100})}


def test_a_notebook_shows_how_far_a_run_is(shell, slow, monkeypatch):
    displayed, updated = [], []

    def display(html, display_id):
        displayed.append(html.data)
        return SimpleNamespace(update=lambda html: updated.append(html.data))

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(type(shell.ipython), "kernel", object(), raising=False)
    found = occurs.parse(SEEN).detect(SMOKE, time_unit="s")
    assert len(found["Seen"]) == 100
    assert displayed == ['<progress value="10" max="100"></progress> detecting: 10 of 100 rows']
    assert updated[-2:] == ['<progress value="100" max="100"></progress> detecting: 100 of 100 rows', ""]
    occurs.parse(SEEN).detect(SMOKE, time_unit="s", progress=False)
    assert len(displayed) == 1


def test_a_terminal_shows_it_if_asked(slow, capsys):
    occurs.parse(SEEN).detect(SMOKE, time_unit="s")
    assert capsys.readouterr().err == ""
    occurs.parse(SEEN).detect(SMOKE, time_unit="s", progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""


def test_smaller_calls_give_the_same(slow):
    program = occurs.parse(FIRE)
    wanted = program.detect(EVENTS, time_unit="s")["Fire"]
    assert program.detect(EVENTS, time_unit="s", progress=True)["Fire"].equals(wanted)


def test_progress_is_yes_or_no():
    with pytest.raises(occurs.UsageProblem, match="progress must be True or False, not 'yes'"):
        occurs.parse(SEEN).detect(SMOKE, time_unit="s", progress="yes")
