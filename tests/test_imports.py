"""What ``import occurs`` costs and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.firstuse import EVENTS, PROGRAMS


@pytest.mark.parametrize("statement", ["import occurs", "import occurs.cli", "import occurs.connect.spark"])
def test_importing_brings_neither_pyspark_nor_pandas(statement):
    command = [sys.executable, "-X", "importtime", "-c", statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "occurs" in names
    assert not names & {"pyspark", "pandas", "polars", "py4j"}


@pytest.mark.parametrize(
    "arguments", [["-c", "import occurs"], ["-m", "occurs.cli", "--help"], ["-m", "occurs.cli", "--version"]]
)
def test_help_imports_no_library_of_arrays(arguments):
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    names = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "occurs" in names
    assert not names & {"numba", "numpy", "pyarrow", "lark", "rich", "elementpath"}


def test_languages_are_loaded_without_their_reference_semantics():
    code = "import sys; from occurs.services import words; words(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = done.stdout.split()
    assert "occurs.languages.esql.compile" in names
    assert not [name for name in names if ".semantics" in name or name == "elementpath"]


def test_every_public_name_is_there():
    import occurs

    assert {name: getattr(occurs, name) for name in occurs.__all__}.keys() <= set(dir(occurs))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = occurs.nothing


def test_help_shows_the_first_sentence_of_every_command():
    import click

    from occurs.cli import main

    group = click.Context(main, terminal_width=400, max_content_width=400)
    text = main.get_help(group)
    for name in main.list_commands(group):
        command = main.get_command(group, name)
        assert command is not None
        sentence = command.get_short_help_str(300)
        assert sentence
        assert any(line.split() == [name, *sentence.split()] for line in text.splitlines()), name


#: what `pip install occurs` does not bring, and Numba, which small work does without
_LACKING = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "pyspark", "polars", "numba", "matplotlib", "psycopg"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
"""


def _lacking(code: str, *arguments: str, cwd: Path) -> str:
    environment = {**os.environ, "OCCURS_KERNELS": "auto", "OCCURS_CACHE": str(cwd / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", _LACKING + code, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_example_needs_no_extra(tmp_path):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    snippet = text.split("```python\n")[1].split("```")[0]
    shown = "\nprint(program.detect(events)['Fire'].to_pylist())"  # the page shows the value of the last line
    assert "kitchen" in _lacking(snippet + shown, cwd=tmp_path)


@pytest.mark.parametrize("language", PROGRAMS)
def test_every_language_runs_without_extras(language, tmp_path):
    (tmp_path / f"rules.{language}").write_text(PROGRAMS[language])
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    command = f"""
from occurs.cli import main
for name in ("check", "explain"):
    main([name, "rules.{language}"], standalone_mode=False)
print("then")
main(["run", "rules.{language}", "--events", "events.jsonl", "--time-unit", "ms"])
"""
    lines = _lacking(command, cwd=tmp_path).partition("\nthen\n")[2].splitlines()
    assert lines
    assert all("type" in json.loads(line) for line in lines)
