"""The reference: what a trigger means over a finite history (spec sections 4.1-4.4), without a thought of speed."""
