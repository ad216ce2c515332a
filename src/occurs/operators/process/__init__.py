"""Processes: graphs of processors over items, run as one operator on columns (pipes.md, section 5)."""
