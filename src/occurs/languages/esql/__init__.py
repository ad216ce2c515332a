"""eSQL: pipes as text, files with the suffix ``.esql``."""

SUFFIXES = (".esql",)
#: the first words of statements, in lower case
BEGINS = ("define", "let", "when")
