"""Live databases: a log of committed changes, and what a watcher saves beside it (temporal-logic.md 5.5)."""
