"""A rule set of 1,000 cases: they share what is made of the same rules."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from occurs.cli import main

FLIGHTS = Path(__file__).parents[2] / "src" / "occurs" / "studio" / "examples" / "flights" / "flights.tesla"
FLIGHT = "Flight='A1', Carrier='A', Tail='T1', Origin='JFK', Dest='BOS'"


def case(n: int) -> str:
    """A case of a kind by its number; the types of its events differ from those of the next one."""
    delay, wind = 55 + n % 10, 20.0 + n % 13
    report = f"Weather@0(Origin='JFK', Temperature=30.0, Wind={wind}, Rain=0.0, Visibility=10.0)"
    departure = f"Departure@{n % 25}m({FLIGHT}, Delay={delay}, Seats=100)"
    events, late = (departure, report + departure, report)[n % 3], delay >= 60 and n % 3 < 2
    out = []
    if late:
        at = n % 25 * 60
        out.append(f"Late@{at}(Flight='A1', Tail='T1', Origin='JFK', Delay={delay})")
        seen = f"Wind={wind}, Rain=0.0, Visibility=10.0"
        if n % 3 == 1 and wind > 25:
            out.append(f"WeatherDelay@{at}(Flight='A1', Origin='JFK', Delay={delay}, {seen})")
            out.append(f"WeatherAlert@{at}(Origin='JFK', Flight='A1', Delay={delay}, {seen})")
        elif n % 3 == 1:
            out.append(f"LateInGoodWeather@{at}(Flight='A1', Origin='JFK', Delay={delay})")
    rows = "\n".join(out) or "(nothing)"
    return f"## Case {n}\n```in\n{events}\n```\n```out\n{rows}\n```\n"


@pytest.mark.slow
def test_a_thousand_cases_take_less_than_twenty_seconds(tmp_path: Path) -> None:
    head = f"```options\nunit: s\n```\n```rules\n{FLIGHTS}\n```\n"
    for n in range(10):
        (tmp_path / f"{n}.case").write_text(head + "".join(case(100 * n + m) for m in range(100)))
    began = time.process_time()
    done = CliRunner().invoke(main, ["test", str(tmp_path)])
    assert done.stdout == ""
    assert "1,000 cases: 1000 passed, 0 failed" in done.stderr
    assert time.process_time() - began < 20
