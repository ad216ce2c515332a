"""Random programs with small histories, for every language."""
