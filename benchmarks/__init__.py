"""Ratios against peers, against a bare script and against Spark doing nothing."""
