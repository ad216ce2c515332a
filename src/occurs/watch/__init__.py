"""Rules over a live database: what `occurs watch` runs (temporal-logic.md 5.5)."""
