"""Checks the packages in dist/ as a user gets them: in a fresh environment, outside the repository.

It installs the wheel, runs the first example of the README with it and starts the command.  It also looks for files
that a package must have, and for links of the README that would break on PyPI.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
NEEDED = (
    "occurs/py.typed",
    "occurs/languages/kit/expression.lark",
    "occurs/languages/tesla/grammar.lark",
    "occurs/kernel/kernels.txt",
    "occurs/plot/page.html",
    "occurs/studio/static/index.html",
    "occurs/studio/examples/flights/studio.json",
)


def main() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = [name for name in NEEDED if name not in names]
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")
    (metadata,) = (name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    broken = re.findall(r"\]\((?!https?:|#)[^)]*\)", text)
    if broken:
        sys.exit(f"links of the README that PyPI cannot follow: {', '.join(broken)}")
    with tarfile.open(sdist) as archive:
        outside = [m.name for m in archive if not m.isfile() and not m.isdir()]
    if outside:
        sys.exit(f"{sdist.name} has entries that are neither files nor folders: {', '.join(outside)}")
    readme = (ROOT / "README.md").read_text()
    example = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[0]
    lines = example.rstrip().split("\n")
    code = "\n".join([*lines[:-1], f"found = {lines[-1]}", "assert found['room'].to_pylist() == ['kitchen'], found"])
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        bin = Path(folder, "env", "bin")
        for command in (
            [bin / "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
            [bin / "python", "-W", "error", "-c", code],
            [bin / "occurs", "--version"],
            [bin / "occurs", "functions", "round"],
        ):
            subprocess.run(command, check=True, cwd=folder)
    print(f"{wheel.name} and {sdist.name} are right")


if __name__ == "__main__":
    main()
