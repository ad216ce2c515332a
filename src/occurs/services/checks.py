"""All problems of a program and its outline, whatever its texts are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from occurs.checked_program import CheckedProgram
from occurs.checked_texts import Bound, Read
from occurs.errors import OccursError, Problem, UsageProblem
from occurs.languages.kit.editing import Entry
from occurs.languages.kit.language import Known, folder, language
from occurs.languages.kit.statements import parsed as statements_kept
from occurs.loading import language_of
from occurs.model.types import Schema
from occurs.services import answers
from occurs.services.answers import Checked, Outline, Related

log = logging.getLogger(__name__)
#: while a person types, all statements but one are those of the call before
statements_kept.most = 6000
Done = TypeVar("Done")
#: programs with more statements are not planned with every check: that takes seconds
LARGE = 1_500


class Snapshot:
    """A program at one moment: its texts, what could be read of them, and what is known of its types.

    ``texts``: (text, path, language) triples.  ``read``, ``bound``: None if this failed, which is a problem then.
    """

    def __init__(self, texts: tuple[tuple[str, str], ...]) -> None:
        self.texts: list[tuple[str, str, str]] = []
        self._problems: list[Problem] = []
        for path, text in texts:
            try:
                self.texts.append((text, path, language_of(path)))
            except UsageProblem as error:
                self._problems += [replace(p, file=path) for p in error.problems]

    @cached_property
    def read(self) -> Read | None:
        """What could be read of the texts."""
        return self._done(lambda: Read.of(self.texts)) if self.texts else None

    @cached_property
    def bound(self) -> Bound | None:
        """The checked texts; where they have errors only the schemas are to be looked at."""
        read = self.read
        return None if read is None else self._done(lambda: read.check(Known()))

    @cached_property
    def problems(self) -> list[Problem]:
        """All problems: of the texts and, if there is no error, of the plan."""
        read, bound = self.read, self.bound
        found = [*self._problems]
        if read is None or bound is None:
            return [*found, *(read.problems if read is not None else ())]
        found += [*read.problems, *(p for p in bound.problems if p.kind != "unknown-order")]
        if any(p.severity == "error" for p in found):
            return found
        if self.statements > LARGE:
            text = f"costs are not checked here, as the program has more than {LARGE:,} statements"
            return [*found, Problem("partly-checked", text, "notice", hint="`occurs check` checks everything")]
        found += self._done(lambda: CheckedProgram(read).check()) or ()
        return found + [p for p in self._problems if p not in found]

    def _done(self, work: Callable[[], Done]) -> Done | None:
        """What is made; None if that fails, which is a problem then."""
        try:
            return work()
        except OccursError as error:
            self._problems += error.problems
        except MemoryError:
            raise  # the process is to end, with all that it keeps
        except Exception as error:
            self._problems.append(internal(error))
        return None

    @property
    def statements(self) -> int:
        """How many statements could be read."""
        files = () if self.read is None else (f for texts in self.read.texts.values() for f in texts.files)
        return sum(len(f.statements) for f in files)

    @property
    def schemas(self) -> dict[str, Schema]:
        """The types that are known, with their attributes as far as these are."""
        return {} if self.bound is None else self.bound.schemas

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """The statements that could be read, each with its path, by path and place."""
        made = {name: self._made(name) for name in (() if self.read is None else self.read.texts)}
        for name, path, number, file in self.files():
            for i, entry in enumerate(outlined(name, file)):
                output, reads = made[name].get((number, i), (entry.output, entry.reads))
                yield path, replace(entry, name=entry.name or output or entry.kind, output=output, reads=reads)

    def files(self) -> Iterator[tuple[str, str, int, Any]]:
        """The parsed texts: folder of the language, path, number among those of the language, tree."""
        for name, parsed in () if self.read is None else self.read.texts.items():
            own = [path for _, path, language in self.texts if folder(language) == name]
            for number, (path, file) in enumerate(zip(own, parsed.files, strict=True)):
                yield name, path, number, file

    def _made(self, name: str) -> dict[tuple[int, int], tuple[str, tuple[str, ...]]]:
        """What definitions of a language define and read, by the numbers of their text and statement."""
        part = None if self.bound is None else self.bound.parts.get(name)
        if part is None:
            return {}
        nodes = zip(part.at, part.nodes, strict=True)
        return {at: (node.defines, tuple(sorted(node.now | node.back))) for at, node in nodes}


def outlined(name: str, file: Any) -> Sequence[Entry]:
    """The outline of a parsed text: one entry per statement, as its language declares it."""
    outline = getattr(language(name), "outline", None)
    return outline(file) if outline is not None else ()


@lru_cache(maxsize=2)
def _snapshot(texts: tuple[tuple[str, str], ...]) -> Snapshot:
    return Snapshot(texts)


def snapshot(texts: Mapping[str, str]) -> Snapshot:
    """The program that ``texts`` are; the latest ones are kept."""
    return _snapshot(tuple(texts.items()))


def check(texts: Mapping[str, str]) -> Checked:
    """Check a program as ``occurs check`` does, and outline what can be read of it.

    Args:
        texts: The texts of the whole program by path; the suffix of a path says the language.

    Returns:
        The problems of all texts by file and place, and one entry for every statement that could be read, even if
        others are wrong.  A path of an unknown language is a problem, too (``unknown-language``); so is a crash
        (``internal``), which is logged.

    Examples:
        >>> from occurs.services import check
        >>> found = check({"hot.tesla": "define Hot(v) from Temp(Value > 45) where v = Temp.Valu and"})
        >>> [(p.kind, p.span.line, p.span.column) for p in found.problems]
        [('syntax', 1, 60)]
        >>> [(o.name, o.kind, o.reads) for o in check({"hot.tesla": "define Hot() from Temp()"}).outline]
        [('Hot', 'rule', ('Temp',))]
    """
    program = snapshot(texts)
    problems = list(program.problems)
    outline: list[Outline] = []
    try:
        outline = [Outline(path, e.name, e.kind, e.output, e.reads, e.span) for path, e in program.entries()]
    except MemoryError:
        raise
    except Exception as error:
        problems.append(internal(error))
    return Checked(tuple(told(problems)), tuple(sorted(outline, key=_order)))


def _order(entry: Outline) -> tuple[str, int, int]:
    return entry.file, *((entry.span.line, entry.span.column) if entry.span else (0, 0))


def told(problems: Iterable[Problem]) -> list[answers.Problem]:
    """Problems as answers, by file and place, none of them twice."""
    return [
        answers.Problem(
            p.kind, p.severity, p.message, p.hint, p.file, p.span,
            tuple(Related(r.message, r.file, r.span) for r in p.related), p.node, p.row, p.definition,
        )
        for p in sorted(dict.fromkeys(problems), key=Problem.sort_key)
    ]  # fmt: skip


def internal(error: Exception) -> Problem:
    """The problem that a check failed by itself; the traceback is logged."""
    log.error("a check of rules failed", exc_info=error)
    text = f"this program cannot be checked: {type(error).__name__}"
    return Problem("internal", text, hint="this is an error in Occurs: please report it with the rules")
