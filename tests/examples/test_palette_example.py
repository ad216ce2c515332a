"""The example palette: found by its entry point, used in texts and in Python."""

import shutil
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

import occurs
from occurs import pipes
from occurs.languages.esql import parser
from occurs.languages.esql.checks.functions import function
from occurs.operators.process import palettes

KEPT = (palettes.palettes, palettes.functions, parser.phrases_of_palettes, function)
FOLDER = Path(__file__).parents[2] / "examples" / "palette"


def forget() -> None:
    """Palettes are looked for anew."""
    for kept in KEPT:
        kept.cache_clear()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as an installer leaves it: its modules and what names its entry points."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    shutil.copytree(FOLDER / "src" / "bearings", tmp_path / "bearings")
    info = tmp_path / f"bearings-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bearings\nVersion: {project['version']}\n")
    entries = project["entry-points"][palettes.GROUP]
    (info / "entry_points.txt").write_text(
        f"[{palettes.GROUP}]\n" + "".join(f"{n} = {v}\n" for n, v in entries.items())
    )
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield
    forget()
    sys.modules.pop("bearings", None)


def reports() -> pa.Table:
    ships = ["a", "b"] * 4
    headings = [350.0, 90.0, 10.0, 95.0, 200.0, 100.0, 30.0, 280.0]
    lat = [1.0, 1.0, -1.0, 2.0, -2.0, 3.0, 4.0, -1.0]
    return pa.table({"type": ["Report"] * 8, "time": list(range(8)), "ship": ships, "heading": headings, "lat": lat})


def test_phrases_and_functions_are_known_in_texts(installed) -> None:
    found = occurs.load(FOLDER / "ships.esql").detect(reports())

    def values(name: str) -> list[tuple]:
        return [(r["time"], r["key"], r["value"]) for r in found.arrow(name).to_pylist()]

    assert values("Turn") == [(2, "a", 20.0), (3, "b", 5.0), (4, "a", 170.0), (5, "b", 5.0), (6, "a", 170.0),
                              (7, "b", 180.0)]  # fmt: skip
    assert [v for _, _, v in values("Sharp")] == [170.0, 170.0, 180.0]
    assert values("Crossed")[-2:] == [(6, "a", 2), (7, "b", 1)]


def test_functions_and_processors_are_there_in_python(installed) -> None:
    import bearings

    x = pipes.source("x", type=float)
    assert bearings.crossings(x).run([1, -1, -2, 3, 4, -1]) == [1, 1, 2, 2, 3]
    assert pipes.fn.angle_between(x, x.trim(1)).run([350.0, 10.0, 200.0]) == [20.0, 170.0]
    assert pipes.fn("angle_between($0, 10)").expression == pipes.fn.angle_between.bind(right=10).expression


def test_without_the_package_its_names_are_unknown() -> None:
    forget()
    with pytest.raises(occurs.SyntaxProblem):
        occurs.load(FOLDER / "ships.esql")
    with pytest.raises(occurs.DefinitionProblem) as problem:
        pipes.fn("angle_between($0, 10)")
    assert problem.value.kind == "unknown-function"
