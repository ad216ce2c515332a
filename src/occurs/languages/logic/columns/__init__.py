"""Triggers evaluated over whole columns (spec 5.4): which can be, and how they become a network of operators."""
