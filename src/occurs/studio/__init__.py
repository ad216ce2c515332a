"""Occurs Studio: a page on a directory, where people write, see, run and question rules (docs/studio.md).

The server process does not import the engine: a language worker and the job workers do.
"""
