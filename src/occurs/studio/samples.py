"""The examples that are shipped, and copying one into a project."""

from __future__ import annotations

from pathlib import Path

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
