"""Triggers evaluated state by state: what is left of a formula is rewritten at each state (temporal-logic.md 5.1)."""
