"""Phenesthe: events, states and dynamic phenomena."""
