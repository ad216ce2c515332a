"""What a language offers to a program, and how it is found.

A language is one folder of ``languages``.  Its ``__init__`` names its ``SUFFIXES`` (a mapping, if some of them stand
for a language of another name than the folder's, that is read a little differently), and with ``BEGINS`` the words that
its statements begin with; its module ``define`` is a
:class:`Language`: it reads texts and checks them, which gives a :class:`Part` of a program.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar, cast

import pyarrow as pa

from occurs.errors import Problem
from occurs.model.history import History
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.definition import Definition, Node, Subscribed

#: subformulas with free variables that a trigger may have, if nothing is said
MAX_FORMULA = 64


class Written(str):
    """A value as text, which is read as one of the type that is wanted."""


@dataclass(frozen=True)
class Known:
    """What is known beside the texts of a language.

    ``inputs``: the types seen in the data (None: no data is known).  ``kind``: what times count, None if not yet known.
    ``zone``: of calendars that name none.  ``facts``: the columns of tables without time that were given.  ``foreign``:
    types that other languages define, or declare and this one does not define; ``made``: those that they define, each
    with the types it is made of.  ``window``: in window mode its length in ticks.
    ``max_formula``: subformulas with free variables that a trigger may have.  ``values``: of variables and parameters.
    """

    inputs: Mapping[str, Schema] | None = None
    kind: TimeKind | None = None
    zone: str = "UTC"
    facts: Mapping[str, Schema] = field(default_factory=dict)
    foreign: Mapping[str, Schema] = field(default_factory=dict)
    made: Mapping[str, frozenset[str]] = field(default_factory=dict)
    window: int | None = None
    max_formula: int = MAX_FORMULA
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Slot:
    """A definition in the evaluation order of the whole program: its ``place``, and the types (of its recursive
    component) that it sees strictly before."""

    place: int
    strict: frozenset[str] = frozenset()


File = TypeVar("File", covariant=True)
#: a text, the name of its file, and the name of its language
Given = tuple[str, str | None, str]


@dataclass(frozen=True)
class Texts(Generic[File]):
    """The parsed files of one language, with the problems of their syntax."""

    files: tuple[File, ...]
    problems: tuple[Problem, ...]

    @classmethod
    def read(
        cls, texts: Sequence[Given], parse: Callable[[str, str | None], tuple[File, Sequence[Problem]]]
    ) -> Texts[File]:
        """Parse (text, file name, language) triples; all problems are kept."""
        parsed = [parse(text, name) for text, name, _ in texts]
        return cls(tuple(file for file, _ in parsed), tuple(p for _, found in parsed for p in found))

    def places(self, of: type) -> list[tuple[int, int]]:
        """The number of the text, and of the statement in it, of every statement of a kind."""
        files = enumerate(cast(Any, f).statements for f in self.files)
        return [(i, j) for i, statements in files for j, s in enumerate(statements) if isinstance(s, of)]


class Part(Protocol):
    """The texts of one language, checked.  Where ``problems`` has errors only the schemas are to be looked at.

    ``defined``: types that definitions make.  ``schemas``: all types that are known.  ``reads``: types that definitions
    read, or that are asked for.  ``nodes``: the definitions in the order of the text, ``at``: (number of the text, of
    the statement) of each.  A language that derives its class from this one says the rest only where it differs.
    """

    #: what the checks found, ``problems`` among it
    analysis: Any

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems of the checks."""
        found: Sequence[Problem] = self.analysis.problems
        return found

    @property
    def declared(self) -> Mapping[str, Schema]:
        """Types of the input, as its rows must be."""
        return {}

    @property
    def defined(self) -> Mapping[str, Schema]: ...

    @property
    def schemas(self) -> Mapping[str, Schema]: ...

    @property
    def reads(self) -> frozenset[str]: ...

    @property
    def facts(self) -> Mapping[str, Schema]:
        """Tables without time that definitions read."""
        return {}

    @property
    def owned(self) -> frozenset[str]:
        """Types of which the input must have no rows."""
        return frozenset()

    @property
    def elements(self) -> frozenset[str]:
        """The elements of lists and maps that definitions read, by their names as columns."""
        return frozenset()

    @property
    def takes(self) -> frozenset[str]:
        """The names of variables and parameters whose values may be given."""
        return frozenset()

    def spelled(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts with values in the places of variables and parameters."""
        return texts

    @property
    def assigned(self) -> Mapping[int, str]:
        """Names of numeric types."""
        return {}

    @property
    def hosts(self) -> frozenset[str]:
        """Where its definitions run: ``local``, ``spark``."""
        return frozenset({"local", "spark"})

    @property
    def windows(self) -> bool:
        """Do its definitions run in window mode?"""
        return False

    @property
    def looks_ahead(self) -> bool:
        """Are there definitions of which it may be known that they find nothing more?"""
        return False

    @property
    def reads_all(self) -> bool:
        """Do its definitions want the rows of all types, whatever they are?"""
        return False

    @property
    def closed_only(self) -> Sequence[Problem]:
        """Problems of its definitions that need a history which is closed, with any other input."""
        return ()

    @property
    def subscribed(self) -> Sequence[Subscribed]:
        """The types that are asked for, with the conditions on their rows."""
        return ()

    @property
    def nodes(self) -> Sequence[Node]: ...

    @property
    def at(self) -> Sequence[tuple[int, int]]: ...

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """The compiled definitions, in the order of ``nodes``.  Raises DefinitionProblem."""

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives with the definitions ``chosen`` (numbers in ``nodes``): per type
        ``time`` (int64 ticks), ``end`` of what lasts (null: open), the attributes.  ``history`` has the rows of all
        types that they read and do not define."""

    def asked(self, history: History) -> dict[str, pa.Table] | None:
        """The rows of a history, derived ones included, that are asked for, by the reference semantics; None if
        nothing is asked for: then all derived rows are."""
        return None


class Language(Protocol):
    """The module ``define`` of a language.

    It may have further members.  ``LISTS``, if it is true: definitions read columns of lists.  For editors, of the
    shapes in :mod:`occurs.languages.kit.editing`:

    - ``words(name)``: a ``Words``, how texts in the language called ``name`` look;
    - ``outline(file)``: an ``Entry`` for every statement of a parsed file, in their order;
    - ``pieces(text)``: a ``Piece`` for every statement of any text, which cuts it as ``read`` does;
    - ``begun(text)``: a ``Begun``, what may stand behind the beginning of a statement, None if that is not known;
    - ``bound(tokens, schemas)``: a ``Binding`` for every name that a statement binds; ``schemas``: of the types;
    - ``layout(statement)``: the lines of a parsed statement in its canonical text.
    """

    def read(self, texts: Sequence[Given]) -> Texts[Any]:
        """Parse (text, file name, language) triples; all problems are kept."""

    def check(self, texts: Any, known: Known) -> Part:
        """Check texts that were read."""


def derived_table(schema: Schema, found: Iterable[Occurrence]) -> pa.Table:
    """Events that a reference semantics derived as rows: int64 ``time``, and the attributes of their type."""
    fields = [("time", pa.int64()), *((n, schema.arrow_of(n, of)) for n, of in schema)]
    return pa.Table.from_pylist([{"time": e.time, **e.attributes} for e in found], pa.schema(fields))


def input_tables(history: History) -> dict[str, pa.Table]:
    """The rows of the input by their types: those of a history without what definitions made, which stand behind."""
    made = Counter[str]()
    for m in history.made:
        made[m.type] += len(m.table)
    return {t: table.slice(0, len(table) - made[t]) for t, table in history.tables.items()}


@lru_cache(maxsize=1)
def _found() -> dict[str, tuple[str, str]]:
    """Suffix of a file to the name of its language and the folder of this."""
    import occurs.languages as package

    out = {}
    for folder in sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.ispkg and m.name != "kit"):
        own = importlib.import_module(f"occurs.languages.{folder}").SUFFIXES
        out.update({s: (own[s] if isinstance(own, Mapping) else folder, folder) for s in own})
    return out


def suffixes() -> dict[str, str]:
    """Suffix of a file to the name of its language."""
    return {suffix: name for suffix, (name, _) in _found().items()}


def names() -> tuple[str, ...]:
    """The names of all languages."""
    return tuple(dict.fromkeys(suffixes().values()))


def folder(name: str) -> str:
    """The folder of the language called ``name``, one of :func:`names`; some languages share one."""
    return next(folder for own, folder in _found().values() if own == name)


def language(name: str) -> Language:
    """The language in the folder ``name``."""
    return cast(Language, importlib.import_module(f"occurs.languages.{name}.define"))
