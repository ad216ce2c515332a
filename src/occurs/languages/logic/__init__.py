"""Temporal triggers: FTL, which looks forward, and PTL, which looks back."""

#: what a trigger is that does not say it
SUFFIXES = {".ftl": "ftl", ".ptl": "ptl"}
LANGUAGES = tuple(SUFFIXES.values())
#: the first words of statements, in lower case
BEGINS = ("table", "event", "state", "view", "constant", "trigger")
