"""Patterns over the order of events: one after the other, both, either, absence, repetition (epl-and-nets.md, 4A)."""
