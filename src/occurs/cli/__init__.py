"""The command ``occurs``: one module per command, found by its name (common.md, section 8)."""

from occurs.cli._group import Commands
from occurs.cli._group import main as main

__all__ = ["Commands", "main"]
