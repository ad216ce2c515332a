"""The errors of Occurs: one root, few kin, and the problems they carry.

A :class:`Problem` is one finding about a text, an option or a row.  An :class:`OccursError` carries all problems that
were found together, ordered by file, line and column; its own ``kind``, ``line`` ... are those of the first.
"""

from __future__ import annotations

import difflib
import os
import traceback
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, Self

Severity = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text.  Lines and columns count from 1; ``end_column`` is the first column after the place."""

    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of ``other``."""
        return Span(self.line, self.column, other.end_line, other.end_column)


@dataclass(frozen=True, slots=True)
class Place:
    """A related place, which is shown as ``see:`` below a problem."""

    message: str
    file: str | None
    span: Span | None


@dataclass(frozen=True, slots=True)
class Problem:
    """One error, warning or notice, with its place and a hint (common.md, section 5).

    Attributes:
        kind: The kind of problem, such as ``unknown-name``.  Programs should test the kind, not the message.
        message: The description of the problem.
        severity: ``error``, ``warning`` or ``notice``.
        file: The file of the rules or of the input.
        span: The place in the file.
        hint: How to fix it.
        related: Other places that belong to the problem.
        source: The line of text in which the span starts.
        row: The number of the row, from 1 (input only).
        value: The value that is wrong (input only).
        definition: The name of the definition.
        node: The element of a net.

    Examples:
        >>> import occurs
        >>> try:
        ...     occurs.parse("define Hot(v) from Temp() where v = Tmp.Value")
        ... except occurs.DefinitionProblem as error:
        ...     problem = error.problems[0]
        >>> problem.kind, problem.line, problem.column
        ('unknown-name', 1, 37)
    """

    kind: str
    message: str
    severity: Severity = "error"
    file: str | None = None
    span: Span | None = None
    hint: str | None = None
    related: tuple[Place, ...] = ()
    #: the line of text the span starts in, for the caret
    source: str | None = None
    #: for InputProblem
    row: int | None = None
    value: Any = None
    definition: str | None = None
    node: str | None = None

    @property
    def line(self) -> int | None:
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        return self.span.column if self.span else None

    @property
    def end_column(self) -> int | None:
        return self.span.end_column if self.span else None

    def sort_key(self) -> tuple[str, int, int, str]:
        return (self.file or "", self.line or 0, self.column or 0, self.kind)

    def render(self) -> str:
        """Return the problem as text: ``file:line:column: error[kind]: message``, the line with a caret, the hint."""
        where = ""
        if self.file or self.span:
            where = self.file or "<text>"
            if self.span:
                where += f":{self.span.line}:{self.span.column}"
            where += ": "
        out = [f"{where}{self.severity}[{self.kind}]: {self.message}"]
        if self.source is not None and self.span is not None:
            text = self.source.rstrip("\n").replace("\t", " ")
            stop = self.span.end_column if self.span.end_line == self.span.line else len(text) + 1
            width = max(1, min(stop, len(text) + 1) - self.span.column)
            out += [f"  {text}", "  " + " " * (self.span.column - 1) + "^" * width]
        if self.hint:
            out.append(f"  hint: {self.hint}")
        for place in self.related:
            at = place.file or "<text>"
            if place.span:
                at += f":{place.span.line}:{place.span.column}"
            out.append(f"  see: {at}: {place.message}")
        return "\n".join(out)


@dataclass(eq=False)
class OccursError(Exception):
    """The base class of all errors that Occurs raises.

    ``kind``, ``message``, ``hint``, ``file``, ``line``, ``column`` and ``end_column`` describe the first error.

    Attributes:
        problems: All problems that were found together, ordered by file, line and column.

    Examples:
        >>> import occurs
        >>> try:
        ...     occurs.parse("define Hot(v) from Temp() where v = Tmp.Value")
        ... except occurs.OccursError as error:
        ...     error.kind
        'unknown-name'
    """

    problems: list[Problem] = field(default_factory=list)

    def __init__(self, problems: Problem | Iterable[Problem]):
        found = [problems] if isinstance(problems, Problem) else list(problems)
        self.problems = sorted(found, key=Problem.sort_key)
        Exception.__init__(self, "\n".join(p.render() for p in self.problems))

    def __reduce__(self) -> tuple[type[OccursError], tuple[list[Problem]]]:
        return (type(self), (self.problems,))

    @property
    def first(self) -> Problem:
        return next((p for p in self.problems if p.severity == "error"), self.problems[0])

    kind = property(lambda self: self.first.kind)
    file = property(lambda self: self.first.file)
    line = property(lambda self: self.first.line)
    column = property(lambda self: self.first.column)
    end_column = property(lambda self: self.first.end_column)
    message = property(lambda self: self.first.message)
    hint = property(lambda self: self.first.hint)

    def _render_traceback_(self) -> list[str]:
        """The lines that a notebook shows: the problems, and the line of the caller's own that led to them."""
        lines = str(self).split("\n")
        home = os.path.dirname(__file__) + os.sep
        frames = traceback.extract_tb(self.__traceback__)
        for caller, called in pairwise(frames):
            if called.filename.startswith(home):
                magic = f"{os.sep}IPython{os.sep}" in caller.filename
                return lines if magic else [*lines, f"  raised by line {caller.lineno}: {caller.line}"]
        return lines

    @classmethod
    def of(cls, kind: str, message: str, **fields: Any) -> Self:
        """Return the error with one problem of this ``kind``."""
        return cls(Problem(kind, message, **fields))


class SyntaxProblem(OccursError, SyntaxError):
    """Rules that do not follow the grammar of their language.  The error also lists the other problems of the rules."""

    def __init__(self, problems: Problem | Iterable[Problem]):
        OccursError.__init__(self, problems)
        self.msg = str(self)

    __str__ = Exception.__str__


class DefinitionProblem(OccursError, ValueError):
    """Rules that are wrong although their syntax is correct: unknown names, types that do not fit, cycles, limits."""


class ConnectionProblem(DefinitionProblem):
    """Two connected ports of pipes have incompatible types.

    Attributes:
        box: The name of the box.
        port: The number of the port.
    """

    box: str | None = None
    port: int | None = None

    @classmethod
    def at(cls, kind: str, message: str, box: str, port: int | None = None) -> Self:
        """Return the error with one problem at a port of a box."""
        found = cls.of(kind, message)
        found.box, found.port = box, port
        return found


class InputProblem(OccursError, ValueError):
    """Input that cannot be read: a missing file or column, or a row with an unreadable time or a wrong value.

    Attributes:
        row: The number of the row, from 1; None if the problem is not in a row.
        value: The value that is wrong.
        definition: The name of the definition that reads the input.
    """

    row = property(lambda self: self.first.row)
    value = property(lambda self: self.first.value)
    definition = property(lambda self: self.first.definition)


class UsageProblem(OccursError, ValueError):
    """An invalid option or argument, or options that exclude each other."""


class UnknownTypeProblem(UsageProblem, KeyError):
    """A type that the program does not report.  As a KeyError, it lets ``in`` and ``get`` work as with any mapping."""

    __str__ = Exception.__str__

    @classmethod
    def among(cls, name: object, reported: Iterable[str]) -> Self:
        """Return the error for ``name``, with a hint that names similar ``reported`` types."""
        return cls.of("unknown-name", f"`{name}` is not reported", hint=did_you_mean(str(name), reported, "types"))


class CheckpointProblem(OccursError, ValueError):
    """A saved state that is damaged or does not fit the program.  The hint explains how to continue."""

    @classmethod
    def damaged(cls, what: object, why: object, hint: str | None = None) -> Self:
        """``what``: a file of a checkpoint, or a saved piece, that cannot be read as it was written."""
        anew = "restore it from a backup, or start with a new --checkpoint (--replay-from fills its past)"
        return cls.of("bad-checkpoint", f"{what} is damaged: {why}", hint=hint or anew)


class ResourceProblem(OccursError, OSError):
    """A resource that is not available: a server, a permission, a lock, a package or the disk."""

    __str__ = Exception.__str__


class LimitProblem(OccursError, RuntimeError):
    """A limit was exceeded, for example ``max_instances``."""


def did_you_mean(name: str, known: Sequence[str] | Iterable[str], what: str = "known") -> str:
    """A hint with the nearest names, or all of them if none is near.

    Of many names only those are compared with ``name`` that begin or end most like it, so that a hint costs the same
    whether there are a hundred or thousands.
    """
    names = _sorted(tuple(known))
    near = nearest(name, names)
    if near:
        return "did you mean " + " or ".join(f"`{n}`" for n in near) + "?"
    if not names:
        return f"there are no {what}" if what != "known" else "no names are known here"
    return f"{what}: " + ", ".join(f"`{n}`" for n in names[:12]) + (", ..." if len(names) > 12 else "")


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The names most like ``name``, at most three; or those that differ in case alone."""
    names = _sorted(tuple(known))
    near = difflib.get_close_matches(name, _alike(name, names), n=3, cutoff=0.6)
    return near or _ignoring_case(tuple(names)).get(name.lower(), [])


#: so many names are compared one by one
_COMPARED = 128


@lru_cache(8)
def _sorted(names: tuple[str, ...]) -> list[str]:
    return sorted(set(names))


@lru_cache(8)
def _sorted_from_behind(names: tuple[str, ...]) -> list[str]:
    return sorted({n[::-1] for n in names})


@lru_cache(8)
def _ignoring_case(names: tuple[str, ...]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for n in names:
        out.setdefault(n.lower(), []).append(n)
    return out


def _alike(name: str, names: list[str]) -> list[str]:
    """Those of sorted ``names`` that may be meant by ``name``: all, or if they are many its neighbours in the order of
    first and of last letters."""
    if len(names) <= _COMPARED:
        return names
    behind = _sorted_from_behind(tuple(names))
    return sorted({*_around(name, names), *(n[::-1] for n in _around(name[::-1], behind))})


def _around(name: str, names: list[str]) -> list[str]:
    at, half = bisect_left(names, name), _COMPARED // 4
    return names[max(0, at - half) : at + half]


def hardened(problems: Iterable[Problem], *, strict: bool, require_bounds: bool) -> list[Problem]:
    """Problems with the severities that `--strict` (no warnings) and `--require-bounds` (no `unbounded-state`) give."""
    return [
        replace(p, severity="error")
        if (strict and p.severity == "warning") or (require_bounds and p.kind == "unbounded-state")
        else p
        for p in problems
    ]


def without(problems: Iterable[Problem], known: Iterable[Problem]) -> list[Problem]:
    """The problems that are not among ``known``, in their order.  None of them is about a value of a row."""
    seen = set(known)
    return [p for p in problems if p not in seen]


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise SyntaxProblem or DefinitionProblem if there is an error among ``problems``; warnings do not raise."""
    found = list(problems)
    if any(p.severity == "error" for p in found):
        syntax = any(p.kind == "syntax" for p in found)
        raise (SyntaxProblem if syntax else DefinitionProblem)(found)
