"""The two algorithms of the paper (temporal-logic.md 5.1), written down plainly, to compare the others with."""
