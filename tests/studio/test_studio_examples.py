"""The examples of the studio: small, the same rules as in `examples`, and what a run of them detects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import occurs
from occurs.cli._group import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "src" / "occurs" / "studio" / "examples"
FOUND = {
    "labor": {"Duration": 3, "TimeOnLabor": 9},
    "flights": {"WeatherDelay": 67, "CalledOff": 10, "MeanDelay": 779, "Blind": 3, "storm": 3},
    "maritime": {"moored": 67, "docked": 67, "Dark": 10},
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_an_example_runs_by_the_command_as_the_studio_runs_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = EXAMPLES / name
    program = json.loads((folder / "studio.json").read_text())["program"]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 200_000
    out = tmp_path / "out.jsonl"
    events = [part for given in program["events"] for part in ("--events", given)]
    options = [part for key, value in program["options"].items() for part in (f"--{key.replace('_', '-')}", value)]
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(["run", *program["rules"], *events, *options, "--out", str(out)])
    assert ended.value.code == 0
    rows = [json.loads(line)["type"] for line in out.read_text().splitlines()]
    assert {type: rows.count(type) for type in FOUND[name]} == FOUND[name]


@pytest.mark.parametrize("name", ["flights", "maritime"])
def test_the_rules_are_those_of_the_examples(name: str) -> None:
    theirs = {p.name: p.read_text() for p in (ROOT / "examples" / name).iterdir() if p.suffix in (".tesla", ".phen")}
    assert {file: (EXAMPLES / name / file).read_text() for file in theirs} == theirs


def test_flights_has_a_file_of_every_language() -> None:
    rules = [p for p in (EXAMPLES / "flights").iterdir() if p.suffix not in (".csv", ".json")]
    assert {p.suffix for p in rules} == {".tesla", ".epl", ".ftl", ".phen", ".esql"}
    occurs.load(*sorted(map(str, rules)))
