"""Engine, reference and nets side by side: what the report says, and how it explains a difference."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from occurs.errors import LimitProblem
from occurs.expr.tree import Literal
from occurs.loading import parse
from occurs.model.history import InputOptions
from occurs.model.types import Type
from occurs.nets.net import Net, Transition
from occurs.program import Program
from occurs.verify.nets import (
    BLACK,
    ENCODED,
    Sides,
    Witness,
    black_run,
    encoded_run,
    in_engine_order,
    sides_of,
)

RULES = """
create schema A(k string, v int); create schema B(k string, v int);
insert into X select a.v as v, b.v as w from pattern [every a=A(v > 1) -> b=B(k = a.k)];
insert into Y select x.v as v from pattern [every x=X(w > 5)];
"""


def table(rows: list[tuple[int, str, int]]) -> pa.Table:
    times, keys, values = zip(*rows, strict=True)
    return pa.table({"time": list(times), "k": list(keys), "v": list(values)})


EVENTS = {
    "A": table([(1, "p", 0), (2, "p", 2), (3, "q", 3)]),
    "B": table([(4, "r", 9), (5, "q", 4), (6, "p", 8)]),
}


def program(text: str = RULES) -> Program:
    return parse(text, language="epl")


def sides(text: str = RULES) -> Sides:
    p = program(text)
    return sides_of(p.checked, p.checked.history(EVENTS, InputOptions()))


def test_all_sides_agree() -> None:
    result = program().verify(EVENTS)
    assert result.equal
    assert result.report.splitlines() == [
        "type  engine  reference  BPCPN  PCPN",
        "X          2          2      2     2",
        "Y          1          1      1     1",
        "6 events; BPCPN: 11 firings, PCPN: 38 firings",
        "engine, reference, BPCPN and PCPN agree",
    ]
    assert "PCPN: 35 firings" in program().verify(EVENTS, first=1).report
    assert result.sides == ("engine", "reference", "BPCPN", "PCPN")
    assert (result.counts, result.differences) == ({"X": (2, 2, 2, 2), "Y": (1, 1, 1, 1)}, ())
    assert (result.firings, result.without) == ({"BPCPN": 11, "PCPN": 38}, None)


@pytest.mark.parametrize("nets", [True, False])
def test_progress_is_told_side_by_side(nets: bool) -> None:
    told: list[tuple[int, int]] = []
    if nets:
        program().verify(EVENTS, progress=lambda done, of: told.append((done, of)))
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    else:
        hot = parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
        result = hot.verify(events, time_unit="s", progress=lambda done, of: told.append((done, of)))
        assert told == [(1, 2), (2, 2)]
        assert (result.sides, result.counts, result.firings) == (("engine", "reference"), {"Hot": (1, 1)}, {})


def test_programs_without_net_say_why() -> None:
    text = RULES.replace("every x=X(w > 5)", "every [2] x=X").replace("x.v as v", "x[0].v as v")
    report = program(text).verify(EVENTS).report
    assert "no net: `[n]` cannot be translated into a net (<text>:4:54)" in report
    assert "engine and reference agree" in report
    assert "BPCPN" not in report
    nulls = table([(1, "p", 0)]).set_column(2, "v", pa.array([None], pa.int64()))
    history = program().checked.history({**EVENTS, "A": nulls}, InputOptions())
    assert sides_of(program().checked, history).without == "row 1, A at 1: `v` is null, which a token cannot hold"


def test_too_many_events() -> None:
    with pytest.raises(LimitProblem):
        program().verify(EVENTS, max_events=5)


def test_guards_over_timestamps_are_not_counted_out() -> None:
    times = pa.array([0, 10_000_000], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    events = {"A": pa.table({"time": times, "v": [1, 2]})}
    text = "create schema A(v int); insert into X select a.v as v from pattern [every (a=A where timer:within(4 sec))]"
    report = parse(text, language="epl").verify(events)
    assert report.equal
    lines = report.report.splitlines()
    assert lines[:2] == ["type  engine  reference  BPCPN", "X          2          2      2"]
    # from the start on every microsecond up to the second end before the second row, and the rows themselves
    assert lines[2].startswith("only one net: the net without black transitions would need 80000")
    assert lines[-1] == "engine, reference and BPCPN agree"


def changed(name: str, guard: tuple[Literal, ...]) -> Sides:
    """The sides with another guard of one transition."""
    s = sides()
    assert s.translation is not None

    def other(t: Transition) -> Transition:
        return replace(t, guard=guard) if t.name == name else t

    net = s.translation.net
    pages = tuple(replace(p, transitions=tuple(map(other, p.transitions))) for p in net.pages)
    wrong = replace(s.translation, net=Net(net.name, net.colours, net.variables, pages))
    runs = {BLACK: black_run(wrong, in_engine_order), ENCODED: encoded_run(wrong, in_engine_order)}
    return replace(s, translation=wrong, nets=runs, answers={**s.answers, **{n: r.derived for n, r in runs.items()}})


def test_what_a_net_derives_too_much_is_explained() -> None:
    result = changed("X_a_t", ()).report()
    assert not result.equal
    lines = result.report.splitlines()
    first = result.differences[0]
    assert (first.type, first.side, first.time, first.text) == ("X", "BPCPN", 6, "unexpected (1):\n  X@6(v=0, w=8)")
    assert first.why[0] == "BPCPN derived it in firing 11, `X_b_t`, as number 8 on F, from:"
    at = lines.index("X at 6, BPCPN compared with the reference:")
    assert lines[at + 1 : at + 6] == [
        "  unexpected (1):",
        "    X@6(v=0, w=8)",
        "  BPCPN derived it in firing 11, `X_b_t`, as number 8 on F, from:",
        "    a = A@1(k='p', v=0), number 1 on F",
        "    b = B@6(k='p', v=8), number 7 on F",
    ]
    assert any("PCPN derived it in firing" in line and "`X_b_t_t2`" in line for line in lines)


def test_what_a_net_lacks_is_explained() -> None:
    never = (Literal(False, Type.BOOL),)
    result = changed("X_b_t", never).report()
    assert not result.equal
    lines = result.report.splitlines()
    at = lines.index("X at 5, BPCPN compared with the reference:")
    assert lines[at + 1 : at + 9] == [
        "  missing (1):",
        "    X@5(v=3, w=4)",
        "  the match of X at 5:",
        "    a = A@3(k='q', v=3), number 3 on F",
        "    b = B@5(k='q', v=4), number 5 on F",
        "  BPCPN took a in firing 5, `X_a_t`",
        "  BPCPN never took number 5 as b with the events before it",
        "    on its place `X_b_X_followed_End1` at the end: (4, [3])",
    ]
    assert "Y at 6, BPCPN compared with the reference:" in lines


def test_an_event_taken_by_another_search_is_named() -> None:
    s = changed("X_b_t", ())
    assert s.translation is not None
    assert s.nets is not None
    (match,) = [e for e in s.matches if e.type == "X" and e.time == 5]
    text = list(Witness(s.translation, s.nets[BLACK], s.rows).why_missing(match))
    assert "  firing 8, `X_b_t`, took B@4(k='r', v=9), number 4 on F instead" in text
