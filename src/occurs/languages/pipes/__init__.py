"""Pipes of Python as definitions of a program: no text, so files of no suffix are of this language."""

SUFFIXES: tuple[str, ...] = ()
BEGINS: tuple[str, ...] = ()
