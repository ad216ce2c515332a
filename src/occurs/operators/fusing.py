"""What an operator has that runs what others would run."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from occurs.operators.contract import Operator, Port


def joint_identity(members: Iterable[Operator]) -> str:
    """The identity of an operator that runs what others would run."""
    return blake2b("\0".join(one.identity for one in members).encode(), digest_size=16).hexdigest()


def joint_ports(members: Iterable[Operator]) -> tuple[Port, ...]:
    """The ports of all of them: of each type the one that keeps most."""
    ports: dict[str, Port] = {}
    for port in (p for one in members for p in one.ports):
        if port.type not in ports or port.keep > ports[port.type].keep:
            ports[port.type] = port
    return tuple(ports.values())
