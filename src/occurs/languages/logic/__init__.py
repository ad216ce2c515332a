"""Temporal triggers: FTL, which looks forward, and PTL, which looks back."""

#: what a trigger is that does not say it
SUFFIXES = {".ftl": "ftl", ".ptl": "ptl"}
LANGUAGES = tuple(SUFFIXES.values())
