"""Operators: what definitions compile to (operators.md).

``contract`` is what the plan and the engine know of an operator, ``definition`` what they know of a definition.  Each
family has a folder: ``select`` (TESLA), ``sequence`` (EPL), ``interval`` (Phenesthe), ``temporal`` (FTL, PTL) and
``process`` (eSQL, pipes).
"""
