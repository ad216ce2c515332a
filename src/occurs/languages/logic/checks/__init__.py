"""Names, types, bounds and every other static check of a program (spec section 3)."""
