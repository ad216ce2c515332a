"""Text cases of five languages, all but TESLA: their notation, and what the reference semantics answers."""
