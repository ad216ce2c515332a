"""The reference: what a trigger means over a finite history (temporal-logic.md 4.1-4.4), without a thought of speed."""
