"""The tree of the one expression language all languages share (common.md, section 6).

Nodes are frozen dataclasses; ``span`` is the place in the text and takes no part in equality.  A language adds nodes of
its own by subclassing :class:`Expr` (TESLA: Aggregate).  Every node lists its operands in ``children`` and can be built
anew with others by ``with_children``, so that walks and rewrites need no case per class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from occurs.errors import Span
from occurs.model.time import Duration
from occurs.model.types import Type

_OPERANDS: dict[type, tuple[str, ...]] = {}
#: the names of all fields of a class of nodes
_FIELDS: dict[type, tuple[str, ...]] = {}


def _operands(node: type[Expr]) -> tuple[str, ...]:
    """The fields of a class of nodes in which there may be operands, looked up once per class."""
    found = _OPERANDS.get(node)
    if found is None:
        found = _OPERANDS[node] = tuple(f.name for f in fields(node) if f.compare)
    return found


@dataclass(frozen=True)
class Expr:
    """Any expression."""

    @property
    def children(self) -> tuple[Expr, ...]:
        out: list[Expr] = []
        for name in _operands(type(self)):
            value = getattr(self, name)
            if isinstance(value, Expr):
                out.append(value)
            elif isinstance(value, tuple):
                out += [v for v in value if isinstance(v, Expr)]
        return tuple(out)

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        left = list(new)
        changes: dict[str, Any] = {}
        for name in _operands(type(self)):
            value = getattr(self, name)
            if isinstance(value, Expr):
                changes[name] = left.pop(0)
            elif isinstance(value, tuple) and any(isinstance(v, Expr) for v in value):
                changes[name] = tuple(left.pop(0) if isinstance(v, Expr) else v for v in value)
        return _with(self, changes) if changes else self

    def walk(self) -> Iterator[Expr]:
        """This node and all below it, parents first."""
        left = [self]
        while left:
            node = left.pop()
            yield node
            left += node.children[::-1]


def _with(node: Expr, changes: Mapping[str, Any]) -> Expr:
    """A copy with other values of some fields: ``dataclasses.replace`` takes several times as long."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(f.name for f in fields(node))
    made = object.__new__(kind)
    held = made.__dict__
    for name in names:
        held[name] = changes[name] if name in changes else getattr(node, name)
    return made


def rewrite(node: Expr, rule: Callable[[Expr], Expr | None]) -> Expr:
    """Bottom up: replace every node for which ``rule`` returns another."""
    children = node.children
    if children:
        new = tuple(rewrite(c, rule) for c in children)
        if any(a is not b for a, b in zip(children, new, strict=True)):
            node = node.with_children(new)
    changed = rule(node)
    return node if changed is None else changed


def _span() -> Any:
    return field(default=None, compare=False, repr=False, kw_only=True)


class _Leaf(Expr):
    """An expression without operands."""

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        return self


@dataclass(frozen=True)
class Literal(_Leaf):
    """A constant: None, bool, int, float, str; a TIMESTAMP is int microseconds since 1970 UTC."""

    value: bool | int | float | str | None
    type: Type
    span: Span | None = _span()


@dataclass(frozen=True)
class DurationLiteral(_Leaf):
    """``5 min``: its ticks are known once the time kind of the run is."""

    value: Duration
    span: Span | None = _span()


@dataclass(frozen=True)
class Ref(_Leaf):
    """An attribute: of the role, tag or variable ``scope``, or (None) of the event at hand.

    ``time`` as name is the occurrence time.  ``index``: which of the events (from 0) that a repeated tag has.
    """

    scope: str | None
    name: str
    index: int | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Param(_Leaf):
    """``$name``: stands for the attribute that binds it."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True)
class Unary(Expr):
    """``op``: ``neg`` or ``not``."""

    op: str
    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Binary(Expr):
    """``op``: ``+ - * / % mod div  = != < <= > >=  and or``.

    ``%`` has the dividend's sign, ``mod`` and ``div`` floor.
    """

    op: str
    left: Expr
    right: Expr
    span: Span | None = _span()

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class IsNull(Expr):
    arg: Expr
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class In(Expr):
    arg: Expr
    items: tuple[Expr, ...]
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Like(Expr):
    """SQL's LIKE: ``%`` any text, ``_`` one character, backslash escapes."""

    arg: Expr
    pattern: Expr
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Call(Expr):
    """A function of the catalogue, by its lower-case name; ``written`` in words of the language, such as `case`."""

    name: str
    args: tuple[Expr, ...]
    span: Span | None = _span()
    written: str | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Annotated(Expr):
    """``[string]x``: a claim about a type, checked and then forgotten."""

    type: Type
    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Slot(_Leaf):
    """A place for constant number ``index``: what is left of a constant when rules that differ in constants alone share
    one expression (see :func:`occurs.expr.evaluate.shape`)."""

    index: int
    type: Type
    span: Span | None = _span()


ARITHMETIC = ("+", "-", "*", "/", "%", "mod", "div")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


def conjuncts(node: Expr) -> Iterator[Expr]:
    """The operands of a chain of ``and``, left to right."""
    if isinstance(node, Binary) and node.op == "and":
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    else:
        yield node


def conjunction(parts: list[Expr]) -> Expr | None:
    """``a and b and ...``; None for no parts."""
    out: Expr | None = None
    for p in parts:
        out = p if out is None else Binary("and", out, p)
    return out
