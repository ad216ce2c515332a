"""Phenesthe: events, states and dynamic phenomena, files with the suffix ``.phen``."""

SUFFIXES = (".phen",)
