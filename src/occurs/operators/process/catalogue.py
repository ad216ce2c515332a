"""The functions of pipes: their names, what they take and what they give (pipes.md, 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occurs.expr.functions import CATALOGUE, Function
from occurs.expr.signature import INT as WHOLE
from occurs.expr.signature import STRING
from occurs.model.types import Type
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    DURATION,
    INT,
    JSON,
    NULL,
    NUMBER,
    SLICES,
    TEXT,
    TIME,
    TROOLEAN,
    XML,
    Kind,
    bag_of,
    goes_into,
    join,
    list_of,
    set_of,
)

Kinds = Sequence[Kind]


@dataclass(frozen=True)
class Signature:
    """A function: what its parameters may be (the last one repeats up to ``most``; None: without end).

    ``result``: a type, or a function of the types of the arguments.  ``words``: the parameters as people read them.
    """

    words: str
    takes: tuple[Callable[[Kind], bool], ...]
    result: Kind | Callable[[Kinds], Kind]
    least: int
    most: int | None

    def parameter(self, i: int) -> str:
        """What argument ``i`` may be, as people read it."""
        parts = self.words.replace("[", "").replace("]", "").split(", ")
        return parts[i] if len(parts) == len(self.takes) and i < len(parts) else self.words

    def takes_as(self, i: int, given: Kind) -> bool:
        """Whether argument ``i`` may be of this type."""
        return self.takes[min(i, len(self.takes) - 1)](given)


def _of(*kinds: Kind) -> Callable[[Kind], bool]:
    return lambda given: any(goes_into(given, k) for k in kinds)


def _collection(given: Kind) -> bool:
    return given in (ANY, NULL) or given.collection


def _values_of(*kinds: Kind) -> Callable[[Kind], bool]:
    """A collection of these, or a map to them."""
    return lambda given: (_collection(given) or given.name == "map") and all(_of(*kinds)(a) for a in given.args[-1:])


def _named(*names: str) -> Callable[[Kind], bool]:
    return lambda given: given in (ANY, NULL) or given.name in names


_any = _of(ANY)
_number, _text, _bool, _truth, _whole = _of(NUMBER), _of(TEXT), _of(BOOL), _of(BOOL, TROOLEAN), _of(INT)


def _first(kinds: Kinds) -> Kind:
    return kinds[0]


def joined(kinds: Kinds) -> Kind:
    found = NULL
    for k in kinds:
        # ``#`` is no value: it stands beside the keys
        found = found if k == SLICES else join(found, k)
    return found


def _element(kinds: Kinds) -> Kind:
    """The elements of a collection, the values of a map."""
    return kinds[0].args[-1] if kinds[0].args else ANY


def _branches(kinds: Kinds) -> Kind:
    """Of ``if``: all but the conditions."""
    return joined([*kinds[1::2], kinds[-1]])


def _sum(kinds: Kinds) -> Kind:
    of = _element(kinds)
    return of if of.numeric else NUMBER


def _truths(kinds: Kinds) -> Kind:
    of = _element(kinds)
    return of if of in (BOOL, TROOLEAN) else ANY if of == ANY else BOOL


def _keys(kinds: Kinds) -> Kind:
    return set_of(kinds[0].args[0] if kinds[0].args else ANY)


def _values(kinds: Kinds) -> Kind:
    return bag_of(_element(kinds))


def _make(
    words: str, *takes: Callable[[Kind], bool], result: Kind | Callable[[Kinds], Kind], least: int | None = None
) -> Signature:
    return Signature(words, takes, result, len(takes) if least is None else least, len(takes))


_ordered = _of(NUMBER, TEXT, TIME, DURATION)
_measured = _named("text", "list", "set", "bag", "map")

#: by their lower-case names; ``power implies in element`` are written as operators
FUNCTIONS: dict[str, Signature] = {
    **dict.fromkeys(("abs", "floor", "ceil", "round"), _make("number", _number, result=_first)),
    "sqrt": _make("number", _number, result=NUMBER),
    "signum": _make("number", _number, result=INT),
    "maximum": _make("two numbers, texts or times", _ordered, _ordered, result=joined),
    "minimum": _make("two numbers, texts or times", _ordered, _ordered, result=joined),
    "power": _make("number, number", _number, _number, result=NUMBER),
    "implies": _make("bool, bool", _truth, _truth, result=joined),
    "if": Signature("bool, value, .., value", (_any,), _branches, 3, None),
    "coalesce": Signature("value, ..", (_any,), joined, 1, None),
    "number": _make("any value", _any, result=NUMBER),
    "text": _make("any value", _any, result=TEXT),
    "size": _make("a text, a collection or a map", _measured, result=INT),
    "values": _make("a map", _named("map"), result=_values),
    "keys": _make("a map", _named("map"), result=_keys),
    "get": _make("a map or a list, a key or a place", _named("map", "list", "tuple"), _any, result=_element),
    "element": _make("a list or a map, a place or a key", _named("map", "list", "tuple"), _any, result=_element),
    "contains": _make("a collection, a map or a text, a value", _measured, _any, result=BOOL),
    "in": _make("a value, a collection, a map or a text", _any, _measured, result=BOOL),
    "sum": _make("a collection of numbers or a map to them", _values_of(NUMBER), result=_sum),
    "mean": _make("a collection of numbers or a map to them", _values_of(NUMBER), result=NUMBER),
    "all": _make("a collection of bool or a map to them", _values_of(BOOL, TROOLEAN), result=_truths),
    "any": _make("a collection of bool or a map to them", _values_of(BOOL, TROOLEAN), result=_truths),
    "concat": Signature("value, ..", (_any,), TEXT, 1, None),
    "split": _make("text, text", _text, _text, result=list_of(TEXT)),
    **dict.fromkeys(("starts_with", "ends_with", "matches"), _make("text, text", _text, _text, result=BOOL)),
    "replace": _make("text, text, text", _text, _text, _text, result=TEXT),
    "substring": _make("text, int[, int]", _text, _whole, _whole, result=TEXT, least=2),
    **dict.fromkeys(("troolean", "hard", "soft"), _make("bool", _truth, result=TROOLEAN)),
    "xpath": _make("text, xml", _text, _of(XML), result=list_of(TEXT)),
    "xpath_text": _make("text, xml", _text, _of(XML), result=TEXT),
    "xpath_number": _make("text, xml", _text, _of(XML), result=NUMBER),
    "json_path": _make("json, text", _of(JSON), _text, result=ANY),
}
# functions of texts and whole numbers that pipes have from the catalogue of all languages
_KINDS = {Type.STRING: TEXT, Type.INT: INT, Type.BOOL: BOOL}
SHARED = tuple(
    name for name, known in CATALOGUE.items()
    if name not in FUNCTIONS and known.result in _KINDS and all(kind in (STRING, WHOLE) for kind in known.params)
)  # fmt: skip


def _of_catalogue(known: Function) -> Signature:
    words = ["text" if kind == STRING else "int" for kind in known.params]
    least = known.least
    text = ", ".join(words[:least]) + "".join(f"[, {word}]" for word in words[least:])
    takes = tuple(_text if kind == STRING else _whole for kind in known.params)
    assert isinstance(known.result, Type)
    return Signature(text, takes, _KINDS[known.result], least, known.most)


FUNCTIONS |= {name: _of_catalogue(CATALOGUE[name]) for name in SHARED}
#: those that are no names in the text of functions
OPERATORS = ("power", "implies", "in", "element")
