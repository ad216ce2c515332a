"""Pipes: processors that are composed like expressions or connected like boxes (pipes.md)."""
