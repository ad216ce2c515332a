"""EPL: patterns of events as Esper writes them, files with the suffix ``.epl``."""

SUFFIXES = (".epl",)
#: the first words of statements, in lower case
BEGINS = ("create", "insert", "select", "@")
