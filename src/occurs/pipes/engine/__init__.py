"""The engine of pipes: every processor as an incremental operator on columns (pipes.md, section 5)."""
