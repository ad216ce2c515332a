"""What ``import occurs`` costs and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest


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
