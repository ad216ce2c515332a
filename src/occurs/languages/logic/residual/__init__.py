"""The two algorithms of the paper, written down as they are told (spec 5.1), to compare the others with."""
