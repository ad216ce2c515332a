"""The examples that are shipped, and copying one into a project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from occurs.studio.files import SIDECAR
from occurs.studio.project import split_events

HOME = Path(__file__).parent / "examples"


def names() -> list[str]:
    """The names of the examples."""
    return sorted(p.name for p in HOME.iterdir() if p.is_dir() and not p.name.startswith(("_", ".")))


def copy(name: str, root: Path) -> list[str]:
    """Copy an example into ``root / name``; returns its files.  Raises FileExistsError, and OSError of the system."""
    target = root / name
    target.mkdir()
    out = []
    for file in sorted(p for p in (HOME / name).iterdir() if p.is_file()):
        (target / file.name).write_bytes(file.read_bytes())
        out.append(f"{name}/{file.name}")
    return out


def taken_in(project: Any, name: str) -> Any:
    """A project that takes in the program of an example, whose files are below ``name``, in the place of its own.

    Icons and places are taken, too; everything else stays.
    """
    example = json.loads((HOME / name / SIDECAR).read_text(encoding="utf-8"))
    program = example["program"]
    options = dict(program.get("options", {}))
    if "facts" in options:
        options["facts"] = {fact: f"{name}/{path}" for fact, path in options["facts"].items()}
    own = {
        "rules": [f"{name}/{path}" for path in program["rules"]],
        "events": [_below(name, text) for text in program["events"]],
        "options": options,
    }
    out = {**project, "program": {**project.get("program", {}), **own}}
    if "icons" in example:
        out["icons"] = {**example["icons"], **project.get("icons", {})}
    for member in {"layout", "drafts"} & example.keys():
        below = {f"{name}/{path}": value for path, value in example[member].items()}
        out[member] = {**project.get(member, {}), **below}
    return out


def _below(name: str, text: str) -> str:
    type, path = split_events(text)
    return f"{name}/{path}" if type is None else f"{type}={name}/{path}"
