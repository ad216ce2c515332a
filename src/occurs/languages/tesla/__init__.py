"""TESLA: rules over events (Cugola & Margara, DEBS 2010), files with the suffix ``.tesla``."""

SUFFIXES = (".tesla",)
