"""Processors that stand alone: each module declares one, with its evaluation, and is found by being here."""
