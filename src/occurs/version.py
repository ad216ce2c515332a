"""The version of Occurs."""

__version__ = "0.1.0"
