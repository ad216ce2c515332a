"""Occurs in a notebook: what its objects look like there, how far a run is, and the cell magic ``%%occurs``."""
