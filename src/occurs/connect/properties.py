"""Files of settings, as Java's tools read them."""

from __future__ import annotations

import re
from pathlib import Path

from occurs.errors import UsageProblem


def read_properties(place: str, path: Path) -> dict[str, str]:
    """The settings of a file: ``name=value`` a line, comments, lines that go on behind a ``\\``.

    Args:
        place: What needs the file, for messages.
        path: The file.

    Raises:
        UsageProblem: If the file cannot be read (``missing-file``) or a line is not a setting (``bad-option``).
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageProblem.of("missing-file", f"{place}: {path} cannot be read: {why}", file=str(path)) from None
    out = {}
    for number, line in enumerate(re.sub(r"\\\n\s*", "", text).splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        match = re.match(r"^([\w.-]+)\s*[=:]\s*(.*)$", line)
        if match is None:
            raise UsageProblem.of("bad-option", f"{path}: setting {number} is not name=value", file=str(path))
        out[match[1]] = match[2]
    return out
