"""Selections over the past: rules that select events before a terminator (tesla.md)."""
