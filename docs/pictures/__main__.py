"""``python docs/pictures`` (or ``make pictures``): draw the pictures of the documentation into this folder.

Each module here draws some of them; ``--check`` writes nothing, and fails if an SVG in the folder is not the one that
its script draws.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import concepts
import net
import system
import timeline
from kit import THEMES, Picture

FOLDER = Path(__file__).parent


def pictures() -> Iterator[Picture]:
    yield from concepts.pictures()
    yield from system.pictures()


def files() -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of every file.  Raises SystemExit if text in a picture overlaps."""
    for picture in pictures():
        if problems := picture.problems():
            raise SystemExit("\n".join(problems))
        for theme in THEMES:
            yield f"{picture.name}-{theme}.svg", picture.svg(theme).encode()
    yield from timeline.files()
    yield from net.files()


def main() -> None:
    stale = []
    for name, data in files():
        path = FOLDER / name
        if "--check" not in sys.argv:
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            stale.append(name)
    if stale:
        raise SystemExit(f"not what the scripts draw (make pictures): {', '.join(stale)}")


if __name__ == "__main__":
    main()
