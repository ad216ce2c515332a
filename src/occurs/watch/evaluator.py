"""What judges states: the seam between the watch and whatever evaluates triggers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from occurs.connect.changes.model import Commit


@dataclass(frozen=True)
class Firing:
    """An event is derived, a trigger has fired, or (``never``) can fire no more, at a time in ticks.

    ``event`` and ``attributes``: what is given out; no event: it is only to be acted.  ``acts``: ``trigger`` has
    actions, for which are ``generics``, the values of its generic variables, and ``values``, per action those of its
    arguments.  Values that are times are datetimes.  ``label``: the identity.
    """

    trigger: str
    time: int
    generics: Mapping[str, Any]
    event: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[Mapping[str, Any], ...] = ()
    label: str = ""
    never: bool = False
    acts: bool = False


class Evaluator(Protocol):
    """Goes from state to state."""

    def advance(self, commits: Sequence[Commit]) -> list[tuple[int, Firing]]:
        """The next states; (position, firing) in order of time, then of type and attributes, notices behind.

        Raises InputProblem; what it has kept is then not to be used any more.
        """

    def save(self) -> Mapping[str, bytes | None]:
        """What has changed of what it keeps since the last time, by piece; None: that piece is gone."""
