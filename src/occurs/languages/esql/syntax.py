"""The tree of an eSQL text (pipes.md, 2.2): what stands there, before names are looked up and phrases put in.

A pipe and a function are written alike, so they are one kind of tree; what the names in it mean is known where it
stands.  Nodes are compared by value, without their places.  Most prefix forms are a :class:`Form`: see
:mod:`occurs.languages.esql.grammar`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from occurs.errors import Span
from occurs.expr.text import Name
from occurs.model.time import Duration


@dataclass(frozen=True)
class Node:
    """Any part of a pipe or a function."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> list[Node]:
        """The nodes directly below; of the use of a phrase its arguments."""
        return [n for f in fields(self) for n in _nodes(getattr(self, f.name))]

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first; the arguments of phrases are entered, their bodies are not."""
        yield self
        for child in self.children:
            yield from child.walk()


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for v in value:
            yield from _nodes(v)


# --- what has no parts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number(Node):
    value: int | float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


@dataclass(frozen=True)
class Text(Node):
    value: str


@dataclass(frozen=True)
class Constant(Node):
    """``word``: ``TRUE FALSE NULL ? #``."""

    word: str


@dataclass(frozen=True)
class Time(Node):
    """``TIME "2026-01-31T12:00:00Z"``: microseconds since 1970 UTC."""

    microseconds: int


@dataclass(frozen=True)
class Length(Node):
    """A number with a unit; ``unit`` is the short word: ``s``, ``min``, ``tick``."""

    duration: Duration
    amount: int | float
    unit: str


@dataclass(frozen=True)
class Variable(Node):
    """``$name``, ``$0``."""

    name: str


@dataclass(frozen=True)
class Parameter(Node):
    """``@name``, in the body of a phrase."""

    name: str


@dataclass(frozen=True)
class Named(Node):
    name: str


@dataclass(frozen=True)
class Signature(Node):
    """``likes(person, dish)``: a predicate and the domains of its arguments."""

    name: Name
    domains: tuple[Name, ...]


@dataclass(frozen=True)
class Star(Node):
    pass


# --- operators ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Access(Node):
    """``of.name``."""

    of: Node
    name: str


@dataclass(frozen=True)
class Element(Node):
    """``of[at]``."""

    of: Node
    at: Node


@dataclass(frozen=True)
class Call(Node):
    """``name(args)``; also ``|a|`` (abs), ``√a`` (sqrt), ``TURN a INTO A NUMBER`` (number)."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Items(Node):
    """``[a, b]``, or ``{a, b}`` if it is a set."""

    items: tuple[Node, ...]
    set: bool = False


@dataclass(frozen=True)
class Unary(Node):
    """``op``: ``NOT -``, and the temporal ``G F X ALWAYS SOMETIME AFTER``."""

    op: str
    operand: Node


@dataclass(frozen=True)
class Binary(Node):
    """``op``: ``-> OR AND U UPTO = != < <= > >= IN + - * / MOD DIV ^``."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True)
class IsNull(Node):
    operand: Node
    negated: bool = False


@dataclass(frozen=True)
class Quantifier(Node):
    """``word``: ``FOR ALL``, ``EXISTS``, ``EVERY``, ``SOME``; ``on`` None: ``*``."""

    word: str
    variable: str
    domain: Node
    on: Node | None
    body: Node


@dataclass(frozen=True)
class Where(Node):
    """``pipe WHERE condition``, ``pipe STOPPING WHEN condition``, ``pipe THRESHOLD number``; ``word`` says which."""

    word: str
    pipe: Node
    condition: Node


# --- forms and phrases ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form(Node):
    """A prefix form; ``parts`` are what its pattern names, in the order of the pattern."""

    kind: str
    parts: tuple[tuple[str, Any], ...]

    def __getitem__(self, name: str) -> Any:
        """A part; None if it is not there."""
        return next((v for n, v in self.parts if n == name), None)


@dataclass(frozen=True)
class Column(Node):
    """``expression AS name``."""

    value: Node
    name: str | None = None


@dataclass(frozen=True)
class Source(Node):
    """``operand AS name`` behind FROM, ``operand AS $name`` behind APPLY .. WITH."""

    pipe: Node
    name: str | None = None


@dataclass(frozen=True)
class Register(Node):
    """``$name := value``."""

    name: str
    value: Node


@dataclass(frozen=True)
class Transition(Node):
    """``condition`` None: OTHERWISE."""

    condition: Node | None
    target: Name
    sets: tuple[Register, ...] = ()


@dataclass(frozen=True)
class State(Node):
    name: Name
    output: Node | None
    transitions: tuple[Transition, ...]


@dataclass(frozen=True)
class Machine(Node):
    inputs: tuple[Node, ...]
    registers: tuple[Register, ...]
    start: Name
    states: tuple[State, ...]


@dataclass(frozen=True)
class Use(Node):
    """A phrase where it is used: ``args`` are what stands for its parameters, in the order of the pattern."""

    phrase: Phrase
    args: tuple[Node, ...]


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Phrase:
    """``pattern``: words, and parameters with their ``@``.  ``parameters``: category of each in the order of WHEN.

    A built-in phrase has no ``body``.
    """

    pattern: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    category: str
    body: Node | None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the parameters in the order of the pattern."""
        return tuple(w[1:] for w in self.pattern if w.startswith("@"))

    @property
    def shape(self) -> tuple[str, ...]:
        """The pattern without the names of its parameters: phrases of one shape replace one another."""
        return tuple("@" if w.startswith("@") else w for w in self.pattern)


@dataclass(frozen=True)
class Let:
    name: Name
    pipe: Node
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Definition:
    """``name`` None: the query without one, Result.  ``at_end``: ``NOTHING FINITE NULL``, None if nothing is said."""

    name: Name | None
    pipe: Node
    about: bool = False
    at_end: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def output(self) -> str:
        """The type that it defines."""
        return self.name.text if self.name is not None else "Result"


Statement: TypeAlias = Let | Definition | Phrase


@dataclass(frozen=True)
class File:
    """``unread``: names that statements with problems were to define."""

    statements: tuple[Statement, ...]
    name: str | None = field(default=None, compare=False)
    text: str = field(default="", compare=False, repr=False)
    unread: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
