"""What a program reads, and how what is given to it becomes a history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from occurs.checked_program import Bound
from occurs.connect.files import line_sources
from occurs.errors import InputProblem, Problem, UsageProblem, did_you_mean
from occurs.model.history import History, InputOptions, Source, listed, normalise
from occurs.model.types import Schema
from occurs.options import named, sources_of


class Intake:
    """The side of a program that its input meets."""

    #: its texts, as they are without data
    _unbound: Bound
    #: of texts that are files, by their names: there the rules may read further files
    _folders: Mapping[str, Path]

    @property
    def declared(self) -> dict[str, Schema]:
        """Schemas that the texts declare or define."""
        return self._unbound.declared

    @property
    def assigned(self) -> Mapping[int, str]:
        """Names given to numeric type ids of the data (TESLA's Assign)."""
        return self._unbound.assigned

    @property
    def reads(self) -> set[str]:
        """The types that the program reads."""
        return set(self._unbound.reads)

    @property
    def external(self) -> set[str]:
        """The types that the input is to have: the program reads them, and no definition or text file makes them."""
        return self.reads - self._unbound.defined - self._unbound.text_files.keys()

    @property
    def defined(self) -> set[str]:
        """The types that definitions make."""
        return set(self._unbound.defined)

    @property
    def reads_all(self) -> bool:
        """Does a definition look at the rows of every type, whether the program knows it or not?"""
        return self._unbound.reads_all

    @property
    def reads_lists(self) -> bool:
        """Do definitions read columns of lists?"""
        return self._unbound.reads_lists

    def lines(self, given: Any, options: InputOptions) -> list[Source]:
        """The lines of the text files that definitions read, but of those ``given`` already.  Raises InputProblem."""
        files = {t: f for t, f in self._unbound.text_files.items() if t not in given}
        return line_sources(files, self._folders, options)

    def refuse_files(self, where: str) -> None:
        """Raise UsageProblem if a definition reads a text file, which ``where`` cannot."""
        for file in self._unbound.text_files.values():
            text = f"`{file.definition}` reads FILE {file.path!r}, which can only be read as a history, not as {where}"
            hint = "use `occurs run` or Program.detect on tables, or pass the lines as events"
            raise UsageProblem.of("unsupported", text, file=file.file, span=file.span, hint=hint)

    def history(self, events: Any, options: InputOptions, *, declared: bool = False) -> History:
        """The input as a history: ``events`` is a table, a mapping from types to tables, or sources of files.

        ``declared``: keep rows of all declared types, read by a definition or not.
        """
        names = {str(i): n for i, n in self.assigned.items()}
        options = replace(options, type_names=names, lists=self.reads_lists)
        inputs = sorted(self.reads | set(self._unbound.declared) if declared else self.reads)
        given = sources_of(named(events, self.assigned))
        lines = self.lines(given, options)
        history = normalise(
            [*listed(given), *lines] if lines else given,
            schemas=self._unbound.declared,
            inputs=None if self.reads_all else inputs,
            external=sorted(self.external),
            options=options,
        )
        self.refuse_owned(history.schemas)
        unread = self.unread((s.type, s.file) for s in listed(given))
        return replace(history, notices=[*history.notices, *unread])

    def unread(self, tables: Iterable[tuple[str | None, str | None]]) -> list[Problem]:
        """Warnings about tables that were given for a type, each with its file, of which no rule reads that type."""
        if self._unbound.reads_all:
            return []
        files: dict[str, str | None] = {}
        for name, file in tables:
            if name and name not in self.reads and name not in self._unbound.defined:
                files.setdefault(name, file)
        return [
            Problem(
                "unread-type", f"no rule reads events of type `{name}`", severity="warning", file=file,
                hint=did_you_mean(name, self.external, "types"),
            )
            for name, file in files.items()
        ]  # fmt: skip

    @property
    def owned(self) -> frozenset[str]:
        """Types of which only definitions may make rows."""
        return self._unbound.owned

    def refuse_owned(self, types: Iterable[str]) -> None:
        """Raise InputProblem if one of the ``types`` that the input has is ``owned``."""
        present = sorted(self.owned & set(types))
        if present:
            text = f"the rules define `{present[0]}`, but the input also has rows of this type"
            raise InputProblem.of("conflicting-values", text, hint="rename the definition or the input type")
