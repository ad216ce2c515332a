"""Hosts: they bring rows to engines, and carry rows between stages.

``local`` runs a history in this process, ``live`` takes pushed events, ``spark`` runs a history on Spark, and
``stream`` runs on Structured Streaming.  A host takes a checked program, plans it, gives each call of an engine the
rows of whole instants, and returns ``detections``.  :mod:`occurs.program` picks the host.
"""
