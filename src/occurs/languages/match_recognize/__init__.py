"""Row patterns in SQL: the clause MATCH_RECOGNIZE, files with the suffix ``.sql``."""

SUFFIXES = (".sql",)
#: the first words of statements, in lower case
BEGINS = ("create", "select")
