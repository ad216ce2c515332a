"""Text cases of EPL, temporal logic, Phenesthe and pipes: their notation, and what the reference semantics answers."""
