"""Occurs Studio: a page on a directory, where people write, draw, see, run and question rules (docs/studio.md)."""
