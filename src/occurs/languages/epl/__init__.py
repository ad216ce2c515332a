"""EPL: patterns of events as Esper writes them, files with the suffix ``.epl``."""

SUFFIXES = (".epl",)
