"""Files that a manifest publishes: the protocol of :class:`occurs.follow.sinks.Objects`, for those who write and read.

A micro-batch that has rows is one or more files ``part-BATCH-ATTEMPT-TASK.SUFFIX`` (of Spark's tasks
``part-BATCH-ATTEMPT-TASK-JOB.SUFFIX``) and then one object ``_batch-BATCH.json``, the manifest, which names them.  The
manifest is written if there is none of its name, so a micro-batch is published once, whoever writes it and however
often.  A part that no manifest names was left by a process that was stopped, and does not count.  Spark and most
readers ignore names that begin with ``_``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from occurs.connect.atomic_files import sealed, unsealed
from occurs.connect.store import Store
from occurs.errors import InputProblem

_VERSION = 1
_MANIFEST = re.compile(r"_batch-\d{12,}\.json")
_PART = re.compile(r"part-\d{12,}-[0-9a-f]+-\d+(-[\w-]+)?(\.\w+)+")


def manifest_name(batch: int) -> str:
    """The name of the manifest of a micro-batch."""
    return f"_batch-{batch:012}.json"


def part_name(batch: int, attempt: str, task: int, suffix: str) -> str:
    """The name of a part; ``attempt``: of one process, unlike that of every other."""
    return f"{begin_of_parts(batch, attempt)}-{task}.{suffix}"


def begin_of_parts(batch: int, attempt: str) -> str:
    """What the names of the parts of an attempt begin with; behind it is a number."""
    return f"part-{batch:012}-{attempt}"


def parts_of(names: list[str], batch: int) -> list[str]:
    """Those of the names in a folder that are parts of a micro-batch, or beginnings of one."""
    return [name for name in names if name.removeprefix(".").startswith(f"part-{batch:012}-")]


def is_output(name: str) -> bool:
    """Is this the name of a part or of a manifest?"""
    return _MANIFEST.fullmatch(name) is not None or _PART.fullmatch(name) is not None


def manifest(batch: int, files: Mapping[str, Mapping[str, int]]) -> bytes:
    """The content of a manifest; ``files``: by name what is known of each, such as ``rows`` and ``bytes``."""
    entry = {"version": _VERSION, "batch": batch, "files": [{"name": name, **facts} for name, facts in files.items()]}
    return sealed(entry)


def named_by(data: bytes, place: str) -> list[str]:
    """The files that a manifest names, in order.  Raises InputProblem (``bad-value``); ``place``: of the manifest."""
    try:
        entry: Any = unsealed(data)
        if entry["version"] != _VERSION:
            why = f"it has version {entry['version']}, but this Occurs reads version {_VERSION}"
        else:
            names = [str(file["name"]) for file in entry["files"]]
            others = [name for name in names if _PART.fullmatch(name) is None]
            if not others:
                return names
            why = f"it names {others[0]!r}, which is not a part"
    except (ValueError, TypeError, KeyError) as error:
        why = f"it is not a manifest ({error!r})"
    raise InputProblem.of("bad-value", f"{place}: {why}", file=place)


def published(store: Store, folder: str = "") -> list[str] | None:
    """The files in a folder that manifests name, by micro-batch; None if no manifest is there.

    Raises InputProblem (``bad-value``) for a manifest that is damaged, OSError if the store does not answer.
    """
    base = f"{folder}/" if folder else ""
    manifests = [name for name in store.list(folder) if _MANIFEST.fullmatch(name.removeprefix(base))]
    if not manifests:
        return None
    found = []
    for name in manifests:
        data = store.get(name)
        if data is not None:
            found += [base + part for part in named_by(data, store.address(name))]
    return found
