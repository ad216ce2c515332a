"""What building a package adds: the pages of Occurs Studio, which Node makes from studio-ui.

The sdist holds the built pages, so that a wheel is built from it without Node.  An editable installation builds none:
there ``make studio-ui`` does.  With ``OCCURS_STUDIO=skip`` a package is built without the pages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = "src/occurs/studio/static/index.html"


class Pages(BuildHookInterface[Any]):
    """Builds the pages if they are not there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sources = Path(self.root, "studio-ui")
        if version == "editable" or Path(self.root, PAGES).exists() or os.environ.get("OCCURS_STUDIO") == "skip":
            return
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit(
                "The pages of Occurs Studio are not built, and npm, which builds them, is not there.\n"
                "Install Node 20.19 or later; or leave the pages out: set OCCURS_STUDIO=skip."
            )
        for arguments in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([npm, *arguments], cwd=sources, check=True)
