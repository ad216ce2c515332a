"""The recipe of the conda package: rattler-build renders it, and it needs what `pyproject.toml` says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rattler_build import Stage0Recipe, VariantConfig

from occurs.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: packages that conda-forge calls otherwise
NAMES = {
    "tzdata": "python-tzdata",
    "matplotlib": "matplotlib-base",
    "prometheus-client": "prometheus_client",
}
#: extras without packages that rules need; Java is `openjdk` there
APART = {"java", "connect", "all", "docs", "examples", "dev"}


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    (found,) = Stage0Recipe.from_file(str(ROOT / "packaging/conda/recipe.yaml")).render(VariantConfig())
    return found.recipe.to_dict()


def conda(requirement: str) -> str:
    """A requirement of pip as conda writes it: `psycopg[binary]>=3.2` is `psycopg >=3.2`."""
    name, bounds = re.fullmatch(r"([\w.-]+)(?:\[.*?\])?(.*)", requirement.replace(" ", "")).groups()  # type: ignore[union-attr]
    return f"{NAMES.get(name, name)} {bounds}".strip()


def test_it_needs_what_the_wheel_needs(recipe: dict[str, Any]) -> None:
    run = recipe["requirements"]["run"]
    assert run[0] == f"python {PROJECT['requires-python']}"
    assert sorted(run[1:]) == sorted(map(conda, PROJECT["dependencies"]))
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert set(map(conda, build)) <= set(recipe["requirements"]["host"])


def test_packages_of_extras_have_to_fit(recipe: dict[str, Any]) -> None:
    extras = PROJECT["optional-dependencies"]
    every = {conda(r) for name, own in extras.items() if name not in APART for r in own}
    every -= {conda("pandas>=2.2,<3")}  # PySpark warns of pandas 3, and everything else takes it
    assert set(recipe["requirements"]["run_constraints"]) == every


def test_it_has_the_version_the_command_and_the_license(recipe: dict[str, Any]) -> None:
    assert recipe["package"] == {"name": PROJECT["name"], "version": __version__}
    assert PROJECT["version"] == __version__
    commands = [f"{name} = {where}" for name, where in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands
    assert recipe["build"]["noarch"] == "python"
    assert [recipe["about"]["license"], recipe["about"]["license_file"]] == [
        PROJECT["license"],
        PROJECT["license-files"],
    ]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["source"] == [{"path": f"../../dist/occurs-{__version__}.tar.gz"}]
