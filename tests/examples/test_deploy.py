"""The files of ``examples/deploy``: checked as text, and the image is built where Docker runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from occurs.cli import main
from occurs.monitoring.prometheus import address
from occurs.testing.coverage import coverage
from occurs.testing.rules import load, verdict

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined, without comments."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def value(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def test_the_image_is_slim_has_a_user_of_its_own_and_compiled_kernels() -> None:
    found = instructions()
    names = [name for name, _ in found]
    bases = [text.split()[0] for name, text in found if name == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    last = len(names) - 1 - names[::-1].index("FROM")
    final = found[last:]
    users = [text for name, text in final if name == "USER"]
    assert users
    assert users[-1] not in ("root", "0")
    user = next(i for i, (name, _) in enumerate(final) if name == "USER")
    warm = next(i for i, (name, text) in enumerate(final) if name == "RUN" and "occurs warm" in text)
    assert user < warm
    assert any("OCCURS_CACHE=/var/cache/occurs" in text for name, text in final if name == "ENV")
    assert any(f"-o {users[-1]} " in text and "/var/cache/occurs" in text for name, text in final if name == "RUN")
    (entry,) = (json.loads(text) for name, text in final if name == "ENTRYPOINT")
    assert entry == ["tini", "--", "occurs"]


def test_the_layers_are_clean() -> None:
    for name, text in instructions():
        if name == "RUN" and "apt-get install" in text:
            assert text.startswith("apt-get update")
            assert "--no-install-recommends" in text
            assert "rm -rf /var/lib/apt/lists/*" in text
        if name == "RUN" and "pip install" in text:
            assert "--no-cache-dir" in text
        assert name != "ADD"


def test_the_linter_of_dockerfiles_finds_nothing() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([linter, "--no-color", DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_image_is_built_and_detects() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no Docker runs here")
    file = ["-f", str(DEPLOY / "Dockerfile"), "-t", "occurs-test", str(ROOT)]
    subprocess.run([docker, "build", "--quiet", *file], check=True, timeout=1200)
    rules = ["--network", "none", "-v", f"{DEPLOY / 'rules'}:/rules:ro"]
    done = subprocess.run(
        [docker, "run", "--rm", *rules, "occurs-test", "test", "/rules"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_is_copied_is_there_and_in_the_context() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for name, text in instructions():
        if name == "COPY" and "--from" not in text:
            for source in shlex.split(text)[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in ignored
    sdist = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    assert {f"!{path.removeprefix('/')}" for path in sdist["include"]} <= set(ignored)


def test_the_extras_of_the_image_exist() -> None:
    (extras,) = (re.search(r'"\.\[(.*?)\]"', text)[1] for _, text in instructions() if "pip install" in text)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= set(known)
    assert {"spark", "java", "monitoring"} <= set(extras.split(","))


def test_images_have_versions_and_services_wait_for_each_other() -> None:
    services = compose()["services"]
    assert set(services) == {"kafka", "topics", "follow", "prometheus"}
    for service in services.values():
        if "image" in service:
            assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", service["image"])
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[other]
    build = services["follow"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")


def test_the_follower_has_options_topics_and_rules_that_exist() -> None:
    services = compose()["services"]
    name, *words = services["follow"]["command"]
    context = click.Context(main)
    command = main.get_command(context, name)
    assert command is not None
    command.make_context(name, list(words))  # refuses unknown options and values
    mounts = dict(text.split(":")[:2][::-1] for text in services["follow"]["volumes"])
    for word in (w for w in words if w.startswith("/rules/")):
        assert (DEPLOY / mounts["/rules"] / word.removeprefix("/rules/")).is_file()
    assert value(words, "--checkpoint").startswith("/data/")
    assert mounts["/data"] in compose()["volumes"]
    (script,) = services["topics"]["command"]
    created = re.search(r"for topic in (.*); do", script)[1].split()
    used = [t for o in ("--events", "--out") for t in value(words, o).rpartition("/")[2].split(",")]
    assert sorted(used) == sorted(created)
    brokers = {re.match(r"kafka://(.*)/", value(words, o))[1] for o in ("--events", "--out")}
    assert brokers == {services["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].removeprefix("PLAINTEXT://")}


def test_prometheus_scrapes_the_follower() -> None:
    words = compose()["services"]["follow"]["command"]
    host, port = address(value(words, "--monitor"))
    assert host == "0.0.0.0"
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"follow:{port}"]}]
    assert f":{port}/healthz" in compose()["services"]["follow"]["healthcheck"]["test"][-1]
    assert ("EXPOSE", str(port)) in instructions()


@pytest.mark.parametrize("case", load(DEPLOY / "rules" / "fire.case"), ids=str)
def test_the_rules_have_cases_that_pass(case: Any) -> None:
    assert verdict(case).failure is None


def test_the_cases_cover_every_clause() -> None:
    assert coverage(load(DEPLOY / "rules" / "fire.case")).percent == 100
