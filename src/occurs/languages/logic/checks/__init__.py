"""Names, types, bounds and every other static check of a program (temporal-logic.md, section 3)."""
