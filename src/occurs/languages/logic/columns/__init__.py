"""Triggers evaluated over whole columns: which can be, and how they become a network (temporal-logic.md 5.4)."""
