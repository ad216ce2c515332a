"""The declarations that operators over windows share: where rows come from, by what they are equated, and when."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.expr.tree import Expr


@dataclass(frozen=True)
class Source:
    """Rows of ``type`` that pass ``filters``, which speak of the row alone (``Ref(None, attribute)``).

    ``strict``: only rows of strictly earlier instants (inside a recursive component).
    """

    type: str
    filters: tuple[Expr, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class KeyPart:
    """The candidate's attribute ``own`` equals ``attribute`` of role number ``role``; null equals nothing."""

    own: str
    role: int
    attribute: str


@dataclass(frozen=True)
class Within:
    """The ``length`` ticks up to and with the time of role number ``role``."""

    role: int
    length: int


@dataclass(frozen=True)
class Between:
    """From the time of role number ``early`` to that of ``late``."""

    early: int
    late: int
