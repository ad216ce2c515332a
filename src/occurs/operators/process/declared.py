"""What a processor says of itself, once: its parameters, ports, spellings, types, rates and what it remembers.

A processor is one class (:class:`Processor`).  From it come the class of boxes and the methods of pipes
(:mod:`occurs.pipes.processors`), the forms and phrases of eSQL, their checks and their canonical text
(:mod:`occurs.languages.esql.grammar`), the types and rates, and the lists of the documentation.  Those of pipes.md are
in :mod:`occurs.operators.process.tree`; a module in :mod:`occurs.operators.process.further` may add another one, with
its evaluation.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from occurs.expr.functions_text import regexp_problem
from occurs.expr.tree import Expr
from occurs.operators.process.kinds import ANY, Kind

if TYPE_CHECKING:
    from occurs.operators.process.tree import Inner
    from occurs.operators.process.typing import At

# --- parameters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """What a parameter may be.  ``slot``: how it is written in a form; ``python``: its type in signatures."""

    slot: ClassVar[str] = ""
    python: ClassVar[str] = "Any"


@dataclass(frozen=True)
class Whole(Parameter):
    """A number of items.  ``words``: what problems of eSQL call it (else the words of the form before it).

    ``missing``: message and hint, if a form may leave it out but it must not be.
    """

    least: int
    words: str = ""
    missing: tuple[str, str] | None = None
    slot: ClassVar[str] = "number"
    python: ClassVar[str] = "int"


@dataclass(frozen=True)
class Number(Parameter):
    """A number of the text."""

    slot: ClassVar[str] = "number"
    python: ClassVar[str] = "float"


@dataclass(frozen=True)
class Flag(Parameter):
    """True or false."""

    python: ClassVar[str] = "bool"


@dataclass(frozen=True)
class Word(Parameter):
    """One of some values, by the words of eSQL."""

    values: Mapping[str, str]
    slot: ClassVar[str] = "choice"
    python: ClassVar[str] = "str"

    def __hash__(self) -> int:
        return hash(tuple(self.values))


@dataclass(frozen=True)
class OnBad(Parameter):
    """``error`` or ``null``."""

    python: ClassVar[str] = "str"


@dataclass(frozen=True)
class Length(Parameter):
    """A duration."""

    slot: ClassVar[str] = "length"


@dataclass(frozen=True)
class Width(Parameter):
    """A number of items or a duration."""

    words: str
    slot: ClassVar[str] = "count"


@dataclass(frozen=True)
class Function(Parameter):
    """A function of so many ``inputs``; of none: constants and variables.  ``sees``: a variable of the processor."""

    inputs: int = 1
    sees: str = ""
    slot: ClassVar[str] = "expression"


@dataclass(frozen=True)
class Constant(Function):
    """A function of no inputs that is a primary."""

    inputs: int = 0
    slot: ClassVar[str] = "primary"


@dataclass(frozen=True)
class Combination(Parameter):
    """A function of the value so far and the item: a word, or an expression."""

    slot: ClassVar[str] = "word"


@dataclass(frozen=True)
class Phi(Parameter):
    """An inner processor.  ``what`` it is, for messages, and in eSQL."""

    what: str
    esql: str
    sees: str = ""
    slot: ClassVar[str] = "operand"
    python: ClassVar[str] = "Callable[..., Any]"


@dataclass(frozen=True)
class Text(Parameter):
    """A text that is constant."""

    slot: ClassVar[str] = "text"
    python: ClassVar[str] = "str"

    def problem(self, text: str) -> str | None:
        """What is wrong with a text."""
        return None


@dataclass(frozen=True)
class Pattern(Text):
    """A regular expression."""

    def problem(self, text: str) -> str | None:
        wrong = regexp_problem(text)
        return f"not a regular expression: {wrong}" if wrong else None


@dataclass(frozen=True)
class Names(Parameter):
    """Names, all of them different; ``what`` they are of."""

    what: str
    slot: ClassVar[str] = "name, .."
    python: ClassVar[str] = "str"


#: ``likes(person, dish)``: a name, and names with commas between
_SIGNATURE = re.compile(r"\s*([^\s(),]+)\s*\(\s*([^\s(),]+(?:\s*,\s*[^\s(),]+)*)\s*\)\s*")


@dataclass(frozen=True)
class Signatures(Names):
    """Predicates with the domains of their arguments: ``likes(person, dish)``.

    A predicate and a domain never have one name: both are columns of one tuple.
    """

    slot: ClassVar[str] = "signature, .."

    @staticmethod
    def parts(text: str) -> tuple[str, tuple[str, ...]] | None:
        """The name of a predicate and its domains; None if the text is not a predicate."""
        found = _SIGNATURE.fullmatch(text)
        return found and (found[1], tuple(re.split(r"\s*,\s*", found[2])))

    def problem(self, texts: Sequence[str]) -> tuple[str, str] | None:
        """The kind of the problem of these predicates, and what is wrong with them."""
        if not texts:
            return "bad-bound", "there is no predicate; write for example `likes(person, dish)`"
        names: set[str] = set()
        domains: dict[str, str] = {}
        for text in texts:
            parts = self.parts(text)
            if parts is None:
                return "syntax", f"{text!r} is not a predicate; write for example `likes(person, dish)`"
            if parts[0] in names:
                return "duplicate-name", f"two {self.what} are called `{parts[0]}`"
            names.add(parts[0])
            domains |= dict.fromkeys(parts[1], text)
        both = next((d for d in domains if d in names), None)
        if both is not None:
            return "duplicate-name", f"`{both}` is both a predicate and a domain of `{domains[both]}`"
        return None


@dataclass(frozen=True)
class Pixels(Parameter):
    """A width and a height."""

    python: ClassVar[str] = "tuple[int, int]"


def parameter(kind: Parameter, default: Any = MISSING, python: str = "") -> Any:
    """The field of a parameter.  ``python``: its name in Python, if that is another one."""
    metadata = {"parameter": kind, "python": python}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


# --- where it is in Python --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """How a processor is called in Python.

    ``name``: ``Trim`` a box, ``.trim`` a method of pipes, ``stats.mean`` a function of a module, ``merge`` one of
    :mod:`occurs.pipes`.  ``fixed``: the parameters that are no arguments; ``needed``: those without their default.
    ``port``: the name of the pipe among the arguments of a function.
    """

    name: str
    doc: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    port: str = "x"


# --- rates ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """How fast the items of a pipe come: item ``i`` comes with item ``i * period + offset`` of its base.

    ``base``: the identity of a node; ``words`` names it.  ``offset`` None: of pending verdicts, it is not known.
    """

    base: int
    words: str
    period: Fraction = Fraction(1)
    offset: Fraction | None = Fraction(0)

    @property
    def text(self) -> str:
        per = 1 / self.period if self.period else Fraction(0)
        return f"{per} per item of {self.words}"

    def later(self, items: int | Fraction) -> Rate:
        """After so many items more."""
        return self if self.offset is None else replace(self, offset=self.offset + items * self.period)

    def slower(self, times: int | Fraction) -> Rate:
        """One item where there were so many."""
        return replace(self, period=self.period * times)


# --- the processor ----------------------------------------------------------------------------------------------------


@dataclass_transform(frozen_default=True, field_specifiers=(field, parameter))
@dataclass(frozen=True)
class Processor:
    """What a box does: a value, which is compared by its parameters.  Every subclass is a frozen dataclass.

    In Python: ``calls``, its names there.  In eSQL: ``text``, the spellings of its form, of which the first is printed;
    ``suffix``, the words behind a pipe; ``phrases`` that stand for it, with the parameters that they fix.

    A spelling is words and slots: ``{n}`` a parameter or a port, ``{form?}`` one that may be left out, ``[WITHIN {n}]``
    what may be left out, ``[last: , LAST TOO]`` what sets a flag, ``<ST|ND>`` words that mean nothing.
    """

    #: the names of its inputs; empty of a source
    ports: ClassVar[tuple[str, ...]] = ("pipe",)
    #: it takes any number of inputs, but at least so many; 0: those of ``ports``
    several: ClassVar[int] = 0
    calls: ClassVar[Sequence[str | Call]] = ()
    text: ClassVar[Sequence[str]] = ()
    suffix: ClassVar[str] = ""
    #: words of forms that differ in them only: hints name them together
    alike: ClassVar[str] = ""
    phrases: ClassVar[Sequence[tuple[str, Mapping[str, Any]]]] = ()
    #: items of several inputs meet by their positions
    joins: ClassVar[bool] = True
    #: its inner processor sees only some of the items, so that nothing in it grows
    bounded: ClassVar[bool] = False
    #: every item or front makes one item at once
    steady: ClassVar[bool] = False
    #: an item makes as many items or fewer, without regard to the items before
    stateless: ClassVar[bool] = False
    #: what its inputs must be, by their numbers, and what its output is (None: what input 0 is)
    takes: ClassVar[Sequence[tuple[int, Kind]]] = ()
    makes: ClassVar[Kind | None] = None
    #: why its state has no bound, as a warning and a hint
    grows: ClassVar[tuple[str, str | None] | None] = None
    #: what it keeps, in words; empty if only its queues
    kept: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    @property
    def kind_name(self) -> str:
        """The name of its class, for messages: ``Trim``."""
        return type(self).__name__

    @property
    def inners(self) -> tuple[Inner, ...]:
        """The inner processors it has."""
        inner = getattr(self, "inner", None)
        return () if inner is None else (inner,)

    @property
    def functions_within(self) -> list[Expr]:
        """All its functions, but for those of inner processors."""
        return [v for v in vars(self).values() if isinstance(v, Expr)]

    def outputs(self, inputs: int) -> int:
        """How many outputs it has over so many inputs."""
        return 1

    @staticmethod
    def meaning(p: Any, inputs: Sequence[Any], scope: Any) -> list[Any]:
        """Its meaning in the reference semantics, if that is not said there (:mod:`occurs.languages.esql.semantics`).

        A plain function of the processor, the traces of its inputs and their scope, to the traces of its outputs: it
        uses nothing of the engine.
        """
        raise NotImplementedError(f"{type(p).__name__} has no meaning")

    # --- types and rates ---

    def kinds(self, at: At) -> list[Kind]:
        """The types of its outputs, for those of its inputs; raises Mismatch if one does not fit."""
        for port, kind in self.takes:
            at.need(port, kind)
        return [self.makes or at.inputs[0]]

    @classmethod
    def inside(cls, inputs: Sequence[Kind]) -> Sequence[Kind]:
        """The types of the inputs of its inner processor."""
        return inputs

    def rate(self, front: Rate, own: Rate) -> Rate:
        """How fast its items come: ``front`` is the rate of its fronts, ``own`` one that is not known."""
        return front if self.steady else own

    # --- its parameters ---

    @classmethod
    @cache
    def parameters(cls) -> dict[str, tuple[Field[Any], Parameter]]:
        """The fields that are parameters, by name."""
        return {f.name: (f, f.metadata["parameter"]) for f in fields(cls) if "parameter" in f.metadata}


def element_of(kind: Kind) -> Kind:
    """The type of the elements of a collection."""
    return kind.args[0] if kind.args else ANY


@cache
def processors() -> tuple[type[Processor], ...]:
    """All processors, in the order of their declarations."""
    from occurs.operators.process import further, tree

    modules = [tree, *(import_module(f"{further.__name__}.{m.name}") for m in pkgutil.iter_modules(further.__path__))]
    every = [c for module in modules for c in vars(module).values() if isinstance(c, type)]
    names = {m.__name__ for m in modules}
    return tuple(c for c in every if issubclass(c, Processor) and c is not Processor and c.__module__ in names)
