"""Temporal triggers (temporal-logic.md): what runs one is the operator of :mod:`.trigger`."""
