"""eSQL: pipes as text, files with the suffix ``.esql``."""

SUFFIXES: tuple[str, ...] = ()
