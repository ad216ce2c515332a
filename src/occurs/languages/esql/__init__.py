"""eSQL: pipes as text, files with the suffix ``.esql``."""

SUFFIXES = (".esql",)
