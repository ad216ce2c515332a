"""Processors of signals (pipes.md, 4.3)."""

from occurs.pipes.processors import functions

globals().update(functions("signal"))
