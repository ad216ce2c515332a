"""The tree of a Phenesthe text (phenesthe.md, section 2).

One kind of node for every construct of the one grammar of relations; which sort (event, state, dynamic, condition) each
operand must have is for the checks.  Terms and comparisons are of :mod:`occurs.expr.tree`: a variable is
``Ref(None, name)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any

from occurs.errors import Span
from occurs.expr.text import Name as Name
from occurs.expr.tree import Expr
from occurs.model.time import Duration
from occurs.model.types import Type

#: ``rel`` of the grammar; the second line is of step 2
RELATIONS = ("before", "meets", "overlaps", "finishes", "starts", "equals", "contains")
INVERSES = ("after", "met_by", "overlapped_by", "finished_by", "started_by", "during")
#: the sorts of declarations and definitions
SORTS = ("event", "state", "dynamic")
#: what ``filter`` compares a length with a duration by
LENGTHS = ("less", "at_most", "equal", "at_least", "greater")
_WORDS = (
    "input input_phenomenon fact as changes where union minus complement intersection or and aand in not tnot gtnot "
    "start end filter true false timestamp mod int float string bool"
)
#: words that name no phenomenon unless they stand in backquotes
KEYWORDS = frozenset((*RELATIONS, *INVERSES, *SORTS, *LENGTHS, *(f"{s}_phenomenon" for s in SORTS), *_WORDS.split()))


def _place() -> Any:
    return field(default=None, compare=False, repr=False)


# -- arguments ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Variable:
    """A name that begins with an upper-case letter or ``_``; ``_`` alone is :class:`Anything`."""

    name: str
    span: Span | None = _place()


@dataclass(frozen=True)
class Constant:
    """``value`` of ``type``; a symbol is the string of its name."""

    value: Any
    type: Type
    span: Span | None = _place()


@dataclass(frozen=True)
class Anything:
    """``_``: not looked at."""

    span: Span | None = _place()


Value = Variable | Constant | Anything


@dataclass(frozen=True)
class Argument:
    """By position, or ``name = value``."""

    value: Value
    name: Name | None = None
    span: Span | None = _place()


# -- relations ---------------------------------------------------------------------------------------------------------
@cache
def _members(of: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(of))


@dataclass(frozen=True)
class Relation:
    """Any formula."""

    @property
    def parts(self) -> tuple[Relation, ...]:
        """The formulas directly below."""
        kind: Any = type(self)  # as a class it is no Hashable to mypy
        return tuple(v for name in _members(kind) if isinstance(v := getattr(self, name), Relation))

    def walk(self) -> Iterator[Relation]:
        """This formula and all below it, from the top."""
        todo: list[Relation] = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += reversed(node.parts)


@dataclass(frozen=True)
class _One(Relation):
    operand: Relation
    span: Span | None = _place()


@dataclass(frozen=True)
class _Two(Relation):
    left: Relation
    right: Relation
    span: Span | None = _place()


@dataclass(frozen=True)
class Atom(Relation):
    """``name(arguments)``: a phenomenon or a fact; ``rest``: it ends with ``...``."""

    name: Name
    arguments: tuple[Argument, ...] = ()
    rest: bool = False
    span: Span | None = _place()


@dataclass(frozen=True)
class Comparison(Relation):
    """A condition on variables: a comparison, or ``term in {constants}``."""

    condition: Expr
    span: Span | None = _place()


@dataclass(frozen=True)
class Not(_One):
    """``¬φ``."""


@dataclass(frozen=True)
class And(Relation):
    """``φ ∧ ψ``; ``ported``: written ``aand``, as in Phenesthe's own files."""

    left: Relation
    right: Relation
    ported: bool = field(default=False, compare=False, repr=False, kw_only=True)
    span: Span | None = _place()


@dataclass(frozen=True)
class Or(_Two):
    """``φ ∨ ψ``."""


@dataclass(frozen=True)
class In(_Two):
    """``φ in ψ`` (step 2)."""


@dataclass(frozen=True)
class Start(_One):
    """``start(φ)``."""


@dataclass(frozen=True)
class End(_One):
    """``end(φ)``."""


@dataclass(frozen=True)
class Iteration(Relation):
    """``φ <@ D`` (step 2); ``op``: ``< <= = >= >``."""

    operand: Relation
    op: str
    duration: Duration
    span: Span | None = _place()
    duration_span: Span | None = _place()


@dataclass(frozen=True)
class MaximalRange(_Two):
    """``φ ↣ ψ``."""


@dataclass(frozen=True)
class MinimalRange(_Two):
    """``φ ~>> ψ`` (step 2)."""


@dataclass(frozen=True)
class Union(_Two):
    """``φ ⊔ ψ``."""


@dataclass(frozen=True)
class Intersection(_Two):
    """``φ ⊓ ψ``."""


@dataclass(frozen=True)
class Complement(_Two):
    r"""``φ \ ψ``."""


@dataclass(frozen=True)
class Filter(Relation):
    """``filter(φ, op(D))`` (step 2); ``op``: ``less at_most equal at_least greater``."""

    operand: Relation
    op: str
    duration: Duration
    span: Span | None = _place()
    duration_span: Span | None = _place()


@dataclass(frozen=True)
class Related(Relation):
    """``φ rel ψ``; ``rel``: one of ``RELATIONS`` and ``INVERSES``."""

    rel: str
    left: Relation
    right: Relation
    span: Span | None = _place()


# -- statements --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Attribute:
    """``name: type``; the type None if it is left open."""

    name: Name
    type: Type | None = None


@dataclass(frozen=True)
class Declaration:
    """``input sort name(attributes)``; ``sort``: one of ``SORTS`` or ``fact``; ``rest``: it ends with ``...``;
    ``changes``: ``as changes``."""

    sort: str
    name: Name
    attributes: tuple[Attribute, ...] = ()
    rest: bool = False
    changes: bool = False
    span: Span | None = _place()


@dataclass(frozen=True)
class Fact:
    """``fact name(constants).``"""

    name: Name
    values: tuple[Constant, ...]
    span: Span | None = _place()


@dataclass(frozen=True)
class Measure:
    """What is computed of each interval (an extension): its ``length``, in ``unit``s if one is given; or ``count sum
    avg min max`` (of ``variable``) over the events of ``atom`` in it."""

    function: str
    atom: Atom | None = None
    variable: Variable | None = None
    unit: Duration | None = None
    span: Span | None = _place()


@dataclass(frozen=True)
class HeadArgument:
    """``Variable``, or ``name = Variable``, constant or measure; ``name`` is the attribute's in any case."""

    name: Name
    value: Variable | Constant | Measure


@dataclass(frozen=True)
class Definition:
    """``sort name(head): body where condition.``; ``ported``: written with ``:=``, as in Phenesthe's own files."""

    sort: str
    name: Name
    head: tuple[HeadArgument, ...]
    body: Relation
    where: Relation | None = None
    ported: bool = False
    span: Span | None = _place()
    #: the text of the statement
    source: str = field(default="", compare=False, repr=False)

    @property
    def variables(self) -> tuple[tuple[Name, Variable], ...]:
        """The attributes of the head that are variables."""
        return tuple((a.name, a.value) for a in self.head if isinstance(a.value, Variable))

    @property
    def formulas(self) -> tuple[Relation, ...]:
        """The body and, if there is one, the condition of ``where``."""
        return (self.body,) if self.where is None else (self.body, self.where)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of all formulas, then those of the measures."""
        return (*(n for f in self.formulas for n in f.walk() if isinstance(n, Atom)), *self.measured)

    @property
    def measures(self) -> tuple[tuple[Name, Measure], ...]:
        """The attributes that are computed of each interval."""
        return tuple((a.name, a.value) for a in self.head if isinstance(a.value, Measure))

    @property
    def measured(self) -> tuple[Atom, ...]:
        """The atoms of the events that are counted or aggregated."""
        return tuple(m.atom for _, m in self.measures if m.atom is not None)


Statement = Declaration | Fact | Definition


@dataclass(frozen=True)
class File:
    """The statements of a text that could be read, in order; ``unread``: what the others were to declare or define."""

    statements: tuple[Statement, ...]
    name: str | None = None
    text: str = field(default="", compare=False, repr=False)
    unread: frozenset[str] = frozenset()
