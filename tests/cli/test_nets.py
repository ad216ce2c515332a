"""``occurs net`` and ``occurs simulate``: the example of the paper, files of nets, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RULES = """create schema Patient(name string, contrDuration int, ts int);
@Name('Duration') insert into Duration select a1.name as patientId, a2.ts-a1.ts as last_delay
from pattern [(every a1=Patient(a1.contrDuration>35))
  -> a2=Patient(a2.name=a1.name and a2.contrDuration>35 and a2.ts-a1.ts<=5)];
@Name('TimeOnLabor') insert into TimeOnLabor select a1.name as patientId, a3.ts-a1.ts as before_delay
from pattern [every a1=Patient(a1.contrDuration>5)
  -> (every a2=Patient(a2.contrDuration>35 and a2.name=a1.name)
  -> a3=Patient(a3.name=a1.name and a3.contrDuration>35 and a3.ts-a2.ts<=5))];
"""
#: Table 2 of the paper
ROWS = "A12@1 B10@1 A45@15 B45@17 A15@21 B38@23 B38@26 A36@30 A45@34 B38@34 A15@37 B38@39"


@pytest.fixture
def rules(here):
    (here / "labor.epl").write_text(RULES)
    lines = []
    for n, row in enumerate(ROWS.split()):
        duration, at = map(int, row[1:].split("@"))
        values = {"type": "Patient", "time": at, "sequence": n, "name": row[0], "contrDuration": duration, "ts": at}
        lines.append(json.dumps(values))
    (here / "rows.jsonl").write_text("\n".join(lines) + "\n")
    return ("labor.epl", "-e", "rows.jsonl", "--time-unit", "min")


def derived(text):
    rows = [json.loads(line) for line in text.splitlines()]
    return sorted((r["type"], r["time"], r["patientId"], r.get("last_delay", r.get("before_delay"))) for r in rows)


def test_the_net_derives_what_the_engine_finds(occurs, rules):
    run = occurs("run", *rules, "--host", "local", "--out", "-")
    assert len(derived(run.out)) == 12
    black = occurs("simulate", *rules)
    assert (black.status, derived(black.out)) == (0, derived(run.out))
    assert "67 firings" in black.err
    assert "no transition is enabled" in black.err
    for options, firings in (((), 224), (("--first", "1"), 221), (("--seed", "5"), 224)):
        encoded = occurs("simulate", *rules, "--encoded", *options)
        assert derived(encoded.out) == derived(run.out)
        assert f"{firings} firings" in encoded.err


def test_steps_and_their_trace(occurs, rules):
    done = occurs("simulate", *rules, "--steps", "2", "--trace")
    assert (done.status, done.out) == (0, "")
    assert '     1  enter  c = pPatient({name="A", contrDuration=12, ts=1})' in done.err
    assert "2 firings" in done.err
    assert "stopped by --steps" in done.err


def test_a_net_is_summed_up(occurs, rules):
    done = occurs("net", *rules)
    assert done.status == 0
    assert "9 transitions (6 black)" in done.out
    assert "  place Input: CF (fused as Input, Input, 12 tokens)" in done.out
    assert "21 transitions," in occurs("net", *rules, "--encoded").out


@pytest.mark.parametrize(("name", "firings"), [("labor.cpn", 224), ("labor.net.json", 67)])
def test_a_net_in_a_file_runs_as_the_rules_do(occurs, rules, here, name, firings):
    done = occurs("net", *rules, "-o", name)
    assert (done.status, done.out) == (0, "")
    ran = occurs("simulate", name)
    assert ran.status == 0
    assert f"{firings} firings" in ran.err
    assert "Duration_Fp: 1`(" in ran.out
    assert occurs("net", name, "-o", f"again-{name}").status == 0
    assert (here / f"again-{name}").read_bytes() == (here / name).read_bytes()


def test_a_drawing(occurs, rules, here):
    assert occurs("net", *rules, "-o", "labor.svg").status == 0
    assert (here / "labor.svg").read_text().lstrip().startswith(("<svg", "<?xml"))


def test_a_compact_drawing(occurs, rules, here):
    full = occurs("net", *rules, "-o", "labor.svg")
    done = occurs("net", *rules, "-o", "compact.svg", "--compact")
    assert done.status == 0
    assert "9 transitions (6 black)" in full.err
    # the input, and a page per statement
    assert done.err == "compact.svg: 3 pages, 22 places, 9 transitions (6 black), 42 arcs\n"
    assert len((here / "compact.svg").read_text()) < len((here / "labor.svg").read_text())
    for wrong in ((), ("-o", "x.cpn"), ("-o", "x.svg", "--encoded")):
        refused = occurs("net", *rules, "--compact", *wrong)
        assert refused.status == 2
        assert "--compact is a view for drawings of nets with black transitions" in refused.err


def test_a_state_space(occurs, here):
    (here / "one.epl").write_text("create schema A(v int);\nselect a.v as v from pattern [a=A(v > 1)];\n")
    (here / "a.csv").write_text("type,time,v\nA,1,1\nA,2,2\n")
    done = occurs("simulate", "one.epl", "-e", "a.csv", "--time-unit", "s", "--space")
    assert done.status == 0
    assert "Statistics" in done.out
    assert "Dead Markings" in done.out
    some = occurs("simulate", "one.epl", "-e", "a.csv", "--time-unit", "s", "--space", "--max-states", "2")
    assert some.status == 1
    assert "PARTIAL" in some.out


def test_what_is_refused(occurs, rules, here):
    (here / "until.epl").write_text("select b.v as v from pattern [a=A until b=B];\n")
    (here / "fire.tesla").write_text("Define F() From Smoke();\n")
    for arguments, message in (
        (("net", "until.epl"), "until.epl:1:31: error[unsupported]"),
        (("net", "fire.tesla"), "definitions in TESLA cannot be translated to nets"),
        (("net", "labor.epl", "-o", "x.png"), "unsupported output format"),
        (("net", "labor.epl", "--black", "-o", "x.cpn"), "CPN Tools has no black transitions"),
        (("simulate", "no.cpn"), "no.cpn: No such file or directory"),
        (("simulate", *rules, "--seed", "1", "--deterministic"), "--seed and --deterministic exclude each other"),
    ):
        done = occurs(*arguments)
        assert (done.status, done.out) == (2, "")
        assert message in done.err
    few = occurs("simulate", *rules, "--max-events", "3")
    assert few.status == 1
    assert "12 events are too many for a net (at most 3)" in few.err
    (here / "null.csv").write_text("type,time,name,contrDuration,ts\nPatient,1,A,,1\n")
    none = occurs("simulate", "labor.epl", "-e", "null.csv", "--time-unit", "s")
    assert none.status == 2
    assert "row 1" in none.err


def test_engine_reference_and_nets_are_compared(occurs, rules, here):
    done = occurs("verify", *rules)
    assert done.status == 0
    lines = done.out.splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["Duration", "3", "3", "3", "3"],
        ["TimeOnLabor", "9", "9", "9", "9"],
    ]
    assert lines[3:] == ["12 events; BPCPN: 67 firings, PCPN: 224 firings", "engine, reference, BPCPN and PCPN agree"]
    assert "PCPN: 221 firings" in occurs("verify", *rules, "--first", "1").out
    (here / "until.epl").write_text("select b.name as v from pattern [a=Patient until b=Patient];\n")
    without = occurs("verify", "until.epl", *rules[1:])
    assert without.status == 0
    assert "no net: `until` cannot be translated into a net (until.epl:1:34)" in without.out


def test_random_streams_are_counted(occurs, rules, here):
    (here / "stream.toml").write_text(
        "rows = 12\ngap = {distribution = 'exponential', mean = 3}\n[types.Patient.attributes]\n"
        "name = {values = ['A', 'B']}\ncontrDuration = {distribution = 'normal', mean = 35, deviation = 10, low = 0}\n"
        "ts = {distribution = 'time'}\n"
    )
    given = ("simulate", "labor.epl", "--random", "stream.toml", "--runs", "5", "--time-unit", "min")
    done = occurs(*given)
    assert done.status == 0
    assert "5 runs" in done.err
    lines = {line.split("  ")[0]: line.split() for line in done.out.splitlines()}
    assert lines["in Patient"][2] == "12.00"
    assert {"Duration", "TimeOnLabor", "firings"} <= lines.keys()
    assert occurs(*given).out == done.out != occurs(*given, "--seed", "2").out
    wrong = occurs(*given, "--trace")
    assert wrong.status == 2
    assert "--random only prints counts" in wrong.err
    (here / "stream.toml").write_text("rows = 12\ngap = 1\n[types.Nobody]\n")
    assert "Nobody" in occurs(*given).err


def test_a_net_that_means_more_than_is_read_does_not_run(occurs, here):
    file = Path(__file__).parents[1] / "nets" / "files" / "delivery.cpn"
    read = occurs("net", str(file))
    assert read.status == 0
    assert "warning[unsupported]" in read.err
    done = occurs("simulate", str(file))
    assert (done.status, done.out) == (2, "")
    assert "error[unsupported]" in done.err


def broken(here, occurs, rules, drop):
    """The net of the rules as a file, without the arcs that ``drop`` names by place, transition and direction."""
    occurs("net", rules[0], "-o", "net.net.json", "--black")
    model = json.loads((here / "net.net.json").read_text())
    before = sum(len(p["arcs"]) for p in model["pages"])
    for page in model["pages"]:
        page["arcs"] = [a for a in page["arcs"] if not drop(a)]
    assert sum(len(p["arcs"]) for p in model["pages"]) < before
    (here / "broken.net.json").write_text(json.dumps(model))


READERS = [
    ("net",), ("net", "-o", "x.cpn"), ("net", "-o", "x.svg"), ("net", "-o", "x.net.json"), ("simulate",),
    ("simulate", "--encoded"), ("simulate", "--space"), ("simulate", "--steps", "0"),
]  # fmt: skip


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_net_that_breaks_a_rule_of_nets_is_refused_by_every_command(occurs, here, rules, command):
    name, *options = command
    broken(here, occurs, rules, lambda a: a["place"] == "Duration_a1_F" and not a["input"])
    done = occurs(name, "broken.net.json", *options)
    assert (done.status, done.out) == (2, "")
    assert "broken.net.json: error[black-f-output]: its F place" in done.err
    assert not list(here.glob("x.*"))
    broken(here, occurs, rules, lambda a: a["place"] == "Duration_a1_Control")
    done = occurs(name, "broken.net.json", *options)
    assert (done.status, done.out) == (2, "")
    assert "broken.net.json: error[control]: it takes none from Control" in done.err


def test_rules_without_events_need_no_unit_of_time(occurs, here):
    schema = "create schema A(k string); create schema B(k string);"
    rule = "insert into O select a.k as k from pattern [every a=A -> (b=B(k=a.k) where timer:within(30 min))];"
    (here / "a.epl").write_text(schema + rule)
    done = occurs("net", "a.epl")
    assert (done.status, done.err) == (0, "")
    assert occurs("simulate", "a.epl").status == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tesla", "define C() from A() and last B() within 5 min from A"),
        ("a.tesla", "define C() from A() and last B() within 5 from A"),
        ("a.phen", "input event a(k).\nstate s(K) : filter(a(K) ~> a(K), less(3 min))."),
        ("a.esql", "DEFINE Out AS EVERY 3 s OF X0.v."),
    ],
)
def test_rules_of_other_languages_have_no_nets(occurs, here, name, text):
    (here / name).write_text(text)
    done = occurs("net", name)
    assert done.status == 2
    assert "cannot be translated to nets" in done.err
    assert "missing-unit" not in done.err
