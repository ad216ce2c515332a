"""A language of one statement: ``summit Output of Input.attribute per key``.  Attributes are
integers, keys are texts."""

SUFFIXES = (".summit",)
BEGINS = ("summit",)
