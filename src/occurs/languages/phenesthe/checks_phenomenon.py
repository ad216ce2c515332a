"""What is known of a phenomenon or fact, and how it is named to the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from occurs.errors import Place
from occurs.languages.phenesthe import syntax
from occurs.model.types import Schema, Type

#: the sort of facts, beside those of `syntax.SORTS`
FACT = "fact"


@dataclass(frozen=True)
class Phenomenon:
    """What is known under a name.

    ``attributes``: in order, NULL is an unknown type.  ``rest``: there are more, of which nothing is known.
    ``ordered``: arguments may stand by position.  ``origin``: ``input``, ``definition``, ``facts`` (rows written in the
    program only) or ``foreign``.
    """

    name: str
    sort: str
    attributes: tuple[tuple[str, Type], ...]
    origin: str
    rest: bool = False
    ordered: bool = True
    changes: bool = False
    #: the rows of facts written in the program
    rows: tuple[syntax.Fact, ...] = ()
    place: Place | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.attributes)

    @property
    def schema(self) -> Schema:
        return Schema(self.attributes, self.ordered, self.sort in ("state", "dynamic"))

    def type_of(self, attribute: str) -> Type:
        """The type of an attribute, NULL if it is not known."""
        return dict(self.attributes).get(attribute, Type.NULL)

    def arguments(self, atom: syntax.Atom) -> tuple[tuple[str, syntax.Value], ...]:
        """The arguments of an atom without problems, each with the attribute it looks at."""
        names = self.names
        return tuple((a.name.text if a.name else names[i], a.value) for i, a in enumerate(atom.arguments))

    def listed(self) -> str:
        """The attributes as they are shown to the user."""
        names = ", ".join(f"`{n}`" for n in self.names) or "no attributes"
        return names + (", ..." if self.rest else "")


class SortsOf(Mapping[str, str]):
    """The sorts of phenomena by their names, as they are when they are asked for."""

    def __init__(self, phenomena: Mapping[str, Phenomenon]):
        self._phenomena = phenomena

    def __getitem__(self, name: str) -> str:
        return self._phenomena[name].sort

    def __iter__(self) -> Iterator[str]:
        return iter(self._phenomena)

    def __len__(self) -> int:
        return len(self._phenomena)


def article(sort: str) -> str:
    """``an event``, ``a state``, ``a dynamic phenomenon``, ``a condition``."""
    words = {"event": "an event", "dynamic": "a dynamic phenomenon", FACT: "a condition"}
    return words.get(sort, f"a {sort}")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
