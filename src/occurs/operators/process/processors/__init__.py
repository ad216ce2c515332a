"""The boxes that run: one class per processor (:func:`occurs.operators.process.operator.operator` registers it)."""
