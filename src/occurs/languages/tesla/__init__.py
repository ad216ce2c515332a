"""TESLA: rules over events (Cugola & Margara, DEBS 2010), files with the suffix ``.tesla``."""

SUFFIXES = (".tesla",)
#: the first words of statements, in lower case
BEGINS = ("define", "rule", "event", "subscribe", "assign")
