"""Statistics of the items so far; nulls are ignored (pipes.md, 4.3)."""

from occurs.pipes.processors import functions

globals().update(functions("stats"))
