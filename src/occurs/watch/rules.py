"""The rules of a watch: which tables of the database they name, and whether these are as they are declared.

``table``, ``event`` and ``state`` declarations name tables of the database: of a ``table`` all changes count, of an
``event`` every row that is inserted is an event, of a ``state`` every row that is inserted or updated gives values to
the database variables.  A table that the rules name and do not declare is declared by the catalogue, its key being the
primary key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from occurs.connect.changes.model import EVENT, STATE, TABLE, Described, Watched
from occurs.errors import Problem, did_you_mean, raise_problems
from occurs.expr.text import Text
from occurs.expr.tree import Ref
from occurs.languages.logic import LANGUAGES, syntax
from occurs.languages.logic.parser import parse
from occurs.languages.logic.render import render
from occurs.model.sqltext import identifiers, parameters, parts
from occurs.model.types import Type
from occurs.watch.actions import fixed

#: (text, file, language)
RuleText: TypeAlias = "tuple[str, str | None, str]"
Describe: TypeAlias = Callable[[Sequence[str]], Mapping[str, Described]]
Refuses: TypeAlias = Callable[[str, Sequence[str]], "str | None"]

#: which types of a declaration may hold the values of a column of some type
_FITS: dict[Type | None, frozenset[Type]] = {
    Type.INT: frozenset((Type.INT, Type.FLOAT, Type.BOOL)),
    Type.FLOAT: frozenset((Type.FLOAT, Type.INT)),
    Type.STRING: frozenset((Type.STRING, Type.TIMESTAMP)),
    Type.BOOL: frozenset((Type.BOOL,)),
    Type.TIMESTAMP: frozenset((Type.TIMESTAMP, Type.STRING)),
}
_CONTROL = ("begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "prepare", "attach",
            "detach", "pragma", "vacuum")  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """The rules, and what they watch.

    ``texts``: as they were written; ``files``: the triggers among them, parsed; ``implied``: the declarations that the
    catalogue gives.  ``identity``: the same for rules that mean the same.
    """

    texts: tuple[RuleText, ...]
    files: tuple[syntax.File, ...]
    implied: tuple[syntax.Table, ...]
    tables: tuple[Watched, ...]

    @property
    def definitions(self) -> tuple[syntax.Definition, ...]:
        """All of them."""
        return (*self.implied, *(d for f in self.files for d in f.definitions))

    @property
    def triggers(self) -> tuple[syntax.Trigger, ...]:
        return tuple(d for d in self.definitions if isinstance(d, syntax.Trigger))

    @property
    def others(self) -> tuple[RuleText, ...]:
        """The texts of other languages."""
        return tuple(t for t in self.texts if t[2] not in LANGUAGES)

    @property
    def identity(self) -> str:
        """A digest of the canonical text."""
        texts = sorted([*(render(d) for d in self.definitions), *(text for text, _, _ in self.others)])
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def read_rules(texts: Sequence[RuleText], describe: Describe, refuses: Refuses = lambda s, n: None) -> Rules:
    """Parse texts, and look up the tables that they name.  ``refuses``: what the database has against a statement.

    Raises SyntaxProblem, DefinitionProblem: also for a table that is not there, or otherwise than it is declared.
    """
    files: list[syntax.File] = []
    problems: list[Problem] = []
    for text, name, language in texts:
        if language not in LANGUAGES:
            continue
        file, found = parse(text, name, past=language == "ptl")
        files.append(file)
        problems += found
    raise_problems(problems)
    declared = {d.name.text for f in files for d in f.definitions}
    unknown = sorted({n for f in files for n in _mentioned(f)} - declared)
    implied = tuple(_implied(d) for d in describe(unknown).values() if d.primary and d.why_not is None)
    watched: list[Watched] = []
    for file in files:
        source = Text(file.text, file.name)
        for d in file.definitions:
            if isinstance(d, syntax.Table | syntax.Event | syntax.State) and not _made(d, files):
                found_table = _declared(d, describe, source)
                watched += [found_table] if found_table is not None else []
            elif isinstance(d, syntax.Trigger):
                _statements(d, source, refuses)
        problems += source.problems
    raise_problems(problems)
    for table in implied:
        watched.append(Watched(table.name.text, tuple((c.name.text, c.type) for c in table.columns),
                               tuple(c.name.text for c in table.keys)))  # fmt: skip
    return Rules(tuple(texts), tuple(files), implied, tuple(sorted(watched, key=lambda t: t.name)))


def _made(d: syntax.Event | syntax.Table | syntax.State, files: Iterable[syntax.File]) -> bool:
    """Is it a declaration of what a trigger makes?"""
    triggers = [t for f in files for t in f.definitions if isinstance(t, syntax.Trigger)]
    return any(d.name.text == (t.name if t.emit is None else t.emit.type).text for t in triggers)


def _mentioned(file: syntax.File) -> set[str]:
    """Names that may be tables of the database."""
    out: set[str] = set()
    for d in file.definitions:
        if isinstance(d, syntax.View):
            out |= set(identifiers(d.sql.text))
        if not isinstance(d, syntax.Trigger):
            continue
        own = {v.text for v in d.each.variables} if d.each is not None else set()
        if d.each is not None and d.each.sql is not None:
            out |= set(identifiers(d.each.sql.text))
        terms = [d.formula, *(t for a in d.actions if not isinstance(a, syntax.Notify) for _, t in a.arguments)]
        found: set[str] = set()
        for node in (n for t in terms for n in t.walk()):
            if isinstance(node, Ref):
                found.add(node.name if node.scope is None else node.scope)
            elif isinstance(node, syntax.Apply):
                found.add(node.name)
            elif isinstance(node, syntax.Sql):
                found |= set(identifiers(node.text))
            elif isinstance(node, syntax.Assign):
                own.add(node.variable.text)
        out |= found - own
    return out


def _implied(found: Described) -> syntax.Table:
    """The declaration of a table that the rules name: the columns whose types we have."""
    columns = [
        syntax.Column(syntax.Name(c.name), c.type, c.name in found.primary) for c in found.columns if c.type is not None
    ]
    return syntax.Table(syntax.Name(found.name), tuple(columns))


def _declared(d: syntax.Table | syntax.Event | syntax.State, describe: Describe, source: Text) -> Watched | None:
    """A declared table as the database has it; reports what is otherwise there."""
    name = d.name.text
    found = describe([name]).get(name)
    if found is None:
        hint = "names are case-sensitive; PostgreSQL looks for tables in the search path"
        source.report("unknown-name", f"the database has no table `{name}`", d.name.span, hint)
        return None
    if found.why_not is not None:
        source.report("unsupported", f"`{name}` cannot be watched: {found.why_not}", d.name.span)
        return None
    names = [c.name for c in found.columns]
    for c in d.columns:
        there = found.column(c.name.text)
        if there is None:
            hint = did_you_mean(c.name.text, names, "columns")
            source.report("missing-column", f"the table `{name}` has no column `{c.name}`", c.name.span, hint)
        elif there.type is not None and c.type not in _FITS[there.type]:
            text = f"`{c.name}` is declared as {c.type}, but the column is {there.declared}"
            source.report("type-mismatch", text, c.name.span)
    keys = tuple(c.name.text for c in d.columns if c.key)
    if isinstance(d, syntax.Table) and keys and not any(u and u <= set(keys) for u in found.unique):
        hint = "make it the primary key or a unique index, or declare other columns as the key"
        text = f"the key ({', '.join(keys)}) does not identify a row of `{name}`"
        source.report("schema-conflict", text, d.name.span, hint)
    role = {syntax.Table: TABLE, syntax.Event: EVENT, syntax.State: STATE}[type(d)]
    return Watched(name, tuple((c.name.text, c.type) for c in d.columns), keys, role)


def _statements(trigger: syntax.Trigger, source: Text, refuses: Refuses) -> None:
    """Report statements that the database refuses, that end the transaction they run in, or reach outside of it."""
    for action in trigger.actions:
        if not isinstance(action, syntax.Execute):
            continue
        word = next((p.text.lower() for p in parts(action.statement) if p.kind == "word"), "")
        if word in _CONTROL:
            hint = "every `execute` runs in its own transaction"
            source.report("bad-sql", f"`{word}` cannot be executed by a trigger", action.span, hint)
            continue
        names = [v.text for v in trigger.each.variables] if trigger.each is not None else []
        for name, term in action.arguments if action.never else ():
            try:
                fixed(term, dict.fromkeys([*names, "time"]))
            except KeyError:
                hint = "use only literals, generic variables and `time`; there is no state to look it up in"
                source.report("unsupported", f"`{name}` cannot be used in `on never`", action.span, hint)
        why = refuses(action.statement, list(parameters(action.statement)))
        if why is not None:
            source.report("bad-sql", f"the database rejects the statement: {why}", action.span)
