"""How large an expression becomes when operands that stand once in the text are repeated.

``case x when 1 then ..`` compares ``x`` once for every ``when``, and ``x between 1 and y`` becomes comparisons that
repeat ``x``.  Nested, they double with every level, so that a short text would stand for more than any memory holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from occurs.expr.tree import Expr

#: parts that any expression may have, and how many times more than it has in the text
_FREE, _TIMES = 2_000, 8


class Sizes:
    """The sizes of the expressions of one statement, which are built from the leaves upwards.

    ``repeated``: of classes of nodes that stand for larger expressions, how often each operand is repeated there.
    """

    def __init__(self, repeated: Mapping[type[Expr], tuple[int, ...]]) -> None:
        self._repeated = repeated
        self._built = 0
        #: by the identity of a node, which is kept so that no other node gets its identity
        self._known: dict[int, tuple[Expr, int]] = {}

    def too_large(self, node: Expr) -> bool:
        """Whether ``node``, which was built just now, has far more parts than the text has."""
        self._built += 1
        return self._size(node) > _FREE + _TIMES * self._built

    def _size(self, node: Expr) -> int:
        known = self._known.get(id(node))
        if known is None:
            sizes = [self._size(c) for c in node.children]
            times = self._repeated.get(type(node))
            if times is not None:
                sizes = [n * size for n, size in zip(times, sizes, strict=True)] + [sum(times)]
            known = self._known[id(node)] = node, 1 + sum(sizes)
        return known[1]
