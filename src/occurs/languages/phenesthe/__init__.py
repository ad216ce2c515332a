"""Phenesthe: events, states and dynamic phenomena, files with the suffix ``.phen``."""

SUFFIXES = (".phen",)
#: the first words of statements, in lower case
BEGINS = ("input", "input_phenomenon", "event", "state", "dynamic", "fact")
