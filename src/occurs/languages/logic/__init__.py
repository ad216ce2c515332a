"""Temporal triggers: FTL, which looks forward, and PTL, which looks back."""

#: none yet: without an engine no file is of this language
SUFFIXES: tuple[str, ...] = ()
