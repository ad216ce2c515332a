"""Which files make the program that a document belongs to, with the texts that are open in the editor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from occurs.languages.kit.language import suffixes

#: the project file of the studio
PROJECT = "studio.json"
_EVENTS = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True)
class Files:
    """The files of a program.

    Attributes:
        root: The folder to which the paths are relative; None for a document that is not a file.
        texts: The texts of the rules by path.
        events: Files of events as ``PATH`` or ``TYPE=PATH``.
        chosen: Whether the project names ``events``; otherwise these are the files of the folder.
        options: How the events are read.
    """

    root: Path | None
    texts: Mapping[str, str]
    events: tuple[str, ...] = ()
    chosen: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def files_of(path: Path, unsaved: Mapping[Path, str], top: Path | None) -> Files:
    """The files of the program that a file of rules belongs to.

    The nearest project file (``studio.json``) in its folder or above that has the file among its rules decides.
    Without one, the program is all files of rules in the folder.

    Args:
        path: The file of rules.
        unsaved: Texts in place of those on disk.
        top: The folder in which the search for a project file ends; None: only the folder of the file is searched.
    """
    folder = path.parent
    above = [folder, *folder.parents]
    last = above.index(top) if top is not None and top in above else 0
    for root in above[: last + 1]:
        program = _project(root)
        named = program.get("rules")
        if named is None and (root != folder or not (root / PROJECT).is_file()):
            continue
        rules = _rules(root, unsaved) if named is None else [root / name for name in named]
        if path in rules:
            return _files(root, rules, unsaved, program)
    return _files(folder, sorted({*_rules(folder, unsaved), path}), unsaved, {})


def _project(root: Path) -> dict[str, Any]:
    """The program of a project file; empty if there is none, or if it is wrong: the studio reports what is."""
    try:
        found = json.loads((root / PROJECT).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}
    program = found.get("program") if isinstance(found, dict) else None
    if not isinstance(program, dict):
        return {}
    lists = {name: program[name] for name in ("rules", "events") if _names(program.get(name))}
    options = program.get("options")
    return {**lists, "options": options if isinstance(options, dict) else {}}


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _rules(folder: Path, unsaved: Mapping[Path, str]) -> list[Path]:
    """The files of rules in a folder, those that are only open in the editor among them."""
    known = suffixes()
    here = [*_listed(folder), *(path for path in unsaved if path.parent == folder)]
    return sorted({path for path in here if path.suffix in known and _is_rules(path, unsaved)})


def _is_rules(path: Path, unsaved: Mapping[Path, str]) -> bool:
    """Files of SQL are rules only if they have row patterns."""
    return path.suffix != ".sql" or "match_recognize" in (_text(path, unsaved) or "").lower()


def _listed(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        return []


def _files(root: Path, rules: list[Path], unsaved: Mapping[Path, str], program: Mapping[str, Any]) -> Files:
    texts = {}
    for path in rules:
        text = _text(path, unsaved)
        if text is not None:
            texts[path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)] = text
    events = program.get("events")
    found = sorted(p.name for p in _listed(root) if p.suffix in _EVENTS)
    chosen = events is not None
    return Files(root, texts, tuple(found if events is None else events), chosen, program.get("options", {}))


def _text(path: Path, unsaved: Mapping[Path, str]) -> str | None:
    """The text of a file; None if it cannot be read."""
    if path in unsaved:
        return unsaved[path]
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
