"""What a function takes and gives: the declarations of the catalogue, and how they are resolved for given types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from occurs.model.types import Type, widen

Kind = frozenset[Type]

INT: Kind = frozenset((Type.INT,))
#: a float parameter takes ints too: they are widened
FLOAT: Kind = frozenset((Type.FLOAT,))
STRING: Kind = frozenset((Type.STRING,))
BOOL: Kind = frozenset((Type.BOOL,))
TIMESTAMP: Kind = frozenset((Type.TIMESTAMP,))
NUMBER: Kind = INT | FLOAT
AMOUNT: Kind = NUMBER | {Type.DURATION}
ORDERED: Kind = AMOUNT | STRING | TIMESTAMP
ANY: Kind = ORDERED | BOOL

Types = tuple[Type | None, ...]


class Mismatch(Exception):
    """Argument ``position`` (from 0) does not fit; ``expected`` says what would."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(position, expected)
        self.position = position
        self.expected = expected


@dataclass(frozen=True)
class Function:
    """One function of the catalogue.

    ``params``: what each argument may be; the last one repeats if ``most`` is None.  ``least``, ``most``: the number of
    arguments.  ``result``: a type, the position of the argument whose type it has, or ``alike``: the least type that
    holds all the arguments at the positions of ``alike`` (None: of all), to which they are widened first.
    ``run(*args)`` works on whole Arrow columns (int64, float64, string, bool) and gives one; the arguments at the
    positions of ``literal`` are Python values.  Null arguments make the result null whatever ``run`` says, unless
    ``lazy``: then the evaluation itself knows the function.  ``typed``: ``run`` wants ``types=``.  ``scalars``: ``run``
    takes Arrow scalars among columns.  ``topic``: what it is about.  ``example``: arguments and result.
    ``problem``: what is wrong with a constant at a position of ``literal``, or None.  ``reference``: the function of
    plain Python values without nulls, for the reference semantics (``typed``: and of the type of the first); it shares
    no code with ``run``.
    """

    name: str
    doc: str
    params: tuple[Kind, ...]
    result: Type | int | str
    least: int
    most: int | None
    run: Callable[..., Any] | None
    literal: frozenset[int] = frozenset()
    typed: bool = False
    scalars: bool = False
    topic: str = "values"
    example: tuple[tuple[Any, ...], Any] = ((), None)
    problem: Mapping[int, Callable[[Any], str | None]] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None

    @property
    def lazy(self) -> bool:
        return self.run is None

    @property
    def arity(self) -> str:
        """The number of arguments in words."""
        if self.most is None:
            return f"at least {self.least} argument{'s' * (self.least != 1)}"
        if self.least == self.most:
            return f"{self.least} argument{'s' * (self.least != 1)}"
        return f"{self.least} to {self.most} arguments"

    def takes(self, count: int) -> bool:
        """Whether ``count`` arguments are as many as there may be."""
        if self.name == "if" and count % 2 == 0:
            return False
        return self.least <= count and (self.most is None or count <= self.most)

    def resolve(self, types: Sequence[Type | None]) -> tuple[Types, Type | None]:
        """The types that the arguments are widened to, and that of the result; None is unknown.  Raises Mismatch."""
        if self.name == "if":
            return _resolve_if(types)
        wanted: list[Type | None] = []
        for i, t in enumerate(types):
            kind = self.params[min(i, len(self.params) - 1)]
            wanted.append(_fit(t, kind, i))
        if self.result != "alike":
            if isinstance(self.result, int):
                return tuple(wanted), wanted[self.result]
            assert isinstance(self.result, Type)
            return tuple(wanted), self.result
        joint = _unify(types, range(len(types)))
        return tuple(joint if t is not None else None for t in wanted), joint


def _fit(t: Type | None, kind: Kind, position: int) -> Type | None:
    if t is None or t is Type.NULL or t in kind:
        return t
    if t is Type.INT and Type.FLOAT in kind:
        return Type.FLOAT
    raise Mismatch(position, one_of(kind))


def _unify(types: Sequence[Type | None], positions: Sequence[int]) -> Type | None:
    joint: Type | None = Type.NULL
    for i in positions:
        t = types[i]
        if t is None:
            return None
        assert joint is not None
        wider = widen(joint, t)
        if wider is None:
            raise Mismatch(i, f"{joint} like the values before it")
        joint = wider
    return joint


def _resolve_if(types: Sequence[Type | None]) -> tuple[Types, Type | None]:
    """``if(condition, value, condition, value, ..., otherwise)``."""
    last = len(types) - 1
    values = [i for i in range(len(types)) if i % 2 == 1 or i == last]
    for i in range(0, last, 2):
        _fit(types[i], BOOL, i)
    joint = _unify(types, values)
    return tuple(joint if i in values else Type.BOOL for i in range(len(types))), joint


def one_of(kind: Kind) -> str:
    """``int or float``: the types of a kind in words."""
    names = [t.value for t in Type if t in kind]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


_PLAIN: dict[Callable[..., Any], Callable[..., Any]] = {}


def reference(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note the plain function that says the same in the reference semantics; stands below :func:`function`."""

    def note(run: Callable[..., Any]) -> Callable[..., Any]:
        _PLAIN[run] = plain
        return run

    return note


#: name -> function; filled where the functions stand
CATALOGUE: dict[str, Function] = {}


def function(
    *params: Kind,
    topic: str,
    result: Type | int | str,
    example: tuple[tuple[Any, ...], Any],
    least: int | None = None,
    repeats: bool = False,
    literal: tuple[int, ...] = (),
    typed: bool = False,
    scalars: bool = False,
    name: str | None = None,
    problem: Mapping[int, Callable[[Any], str | None]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put the decorated function into the catalogue, under its name without underscores at the ends."""

    def register(run: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
        known = name or run.__name__.strip("_")
        if known in CATALOGUE:
            raise ValueError(f"the function {known} already exists")
        CATALOGUE[known] = Function(
            known,
            " ".join((run.__doc__ or "").split()),
            params,
            result,
            len(params) if least is None else least,
            None if repeats else len(params),
            run,
            frozenset(literal),
            typed,
            scalars,
            topic,
            example,
            problem or {},
            _PLAIN.get(run),
        )
        return run

    return register


def single(known: Function) -> Callable[..., Any]:
    """The function of values that are not null; an int beyond 64 bits where a number leaves their range."""
    run = known.run
    assert run is not None

    def apply(*values: Any) -> Any:
        wide = any(type(v) is float for v in values)
        columns = []
        for i, value in enumerate(values):
            kind = known.params[min(i, len(known.params) - 1)]
            real = type(value) is int and Type.FLOAT in kind and (Type.INT not in kind or wide)
            columns.append(value if i in known.literal else pa.array([float(value) if real else value]))
        try:
            return run(*columns)[0].as_py()
        except pa.ArrowInvalid:  # a number leaves the 64 bits of an int
            return 1 << 64

    return apply
