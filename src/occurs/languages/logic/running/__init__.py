"""Triggers evaluated state by state: what is left of a formula is rewritten at each state (spec 5.1)."""
