"""Plots: one PNG per item (pipes.md, 4.8)."""

from occurs.pipes.processors import functions

globals().update(functions("plot"))
