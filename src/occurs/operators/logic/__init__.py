"""Temporal triggers (temporal-logic.md): what evaluates one is an operator with the interface of :mod:`triggering`."""
