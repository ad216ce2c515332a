"""Coloured Petri nets with black sequencing transitions (epl-and-nets.md, section 4B; the paper's sections 3 and 4)."""
