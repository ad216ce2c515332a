"""Everything that can be said of EPL statements before a row is read (epl-and-nets.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from occurs.errors import Place, Problem
from occurs.languages.epl import syntax
from occurs.languages.epl.checks_analysis import Analysis, Atom, Output, ResolvedQuery, Struct, Wait, is_name
from occurs.languages.epl.checks_bounds import Bounds
from occurs.languages.epl.checks_catalogue import Catalogue
from occurs.languages.epl.checks_notices import warn
from occurs.languages.epl.checks_pattern import Patterns
from occurs.languages.epl.checks_program import (
    Stated,
    check_annotations,
    check_cycles,
    in_order,
    reads,
    stated,
    warn_types,
)
from occurs.languages.epl.checks_retention import retention
from occurs.languages.epl.checks_scope import Names
from occurs.languages.epl.checks_select import Select
from occurs.languages.epl.render import render
from occurs.languages.text import Text
from occurs.model.time import TimeKind
from occurs.model.types import Schema

__all__ = ["Analysis", "Atom", "Output", "ResolvedQuery", "Struct", "Wait", "analyse", "retention"]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
) -> Analysis:
    """Check parsed files as one program and resolve their queries.

    ``inputs``: the types seen in the data (None: no data is known, types that nobody makes are accepted as they come).
    ``foreign``: types that other languages define or declare, ``foreign_reads``: what each of them is made of.
    ``kind``: what times count, None if not yet known: then nothing is said about units.  Problems have the kinds of
    common.md, section 5, and the warnings ``unbounded-state multiplying non-overlapping external-input``.
    """
    sources = [Text(f.text, f.file) for f in files]
    statements = [(s, t) for s, f in zip(sources, files, strict=True) for t in f.statements]
    check_annotations(statements)
    created = [(s, t) for s, t in statements if isinstance(t, syntax.CreateSchema)]
    queries = stated(statements)
    defined = {q.name: q.place for q in reversed(queries)}
    catalogue = Catalogue(inputs, foreign or {}, frozenset().union(*(f.unread for f in files)))
    catalogue.fill(created, defined)
    check_cycles(queries, catalogue, foreign_reads or {})
    resolved: dict[int, ResolvedQuery] = {}
    for q in in_order(queries, catalogue):
        before = len(q.source.problems)
        made = resolved[q.number] = _resolve(q, catalogue, kind, defined)
        catalogue.insert(q.source, made)
        if not any(p.severity == "error" for p in q.source.problems[before:]):
            warn(made, q.source)
    warn_types(queries, catalogue)
    schemas = catalogue.schemas()
    done = tuple(replace(resolved[q.number], schema=schemas[q.name]) for q in queries)
    problems = sorted(dict.fromkeys(p for s in sources for p in s.problems), key=Problem.sort_key)
    declared = {n: schemas[n] for n in catalogue.declared}
    subtypes = {n: catalogue.subtypes(n) for n in catalogue.declared}
    return Analysis(done, schemas, declared, subtypes, problems)


def _resolve(
    stated: Stated, catalogue: Catalogue, kind: TimeKind | None, defined: Mapping[str, Place]
) -> ResolvedQuery:
    query, source = stated.query, stated.source
    names = Names(source, catalogue, kind)
    patterns = Patterns(names, Bounds(source, kind), defined)
    pattern, bound = patterns.resolve(query.pattern)
    select = Select(names, query, bound)
    outputs, where = select.outputs(), select.where()
    columns = {tag: frozenset(found) for tag, found in names.columns.items()}
    plain = replace(query, annotations=tuple(a for a in query.annotations if not is_name(a)))
    return ResolvedQuery(
        query,
        stated.name,
        stated.number,
        pattern,
        patterns.atoms,
        where,
        outputs,
        columns,
        reads(query, catalogue),
        Schema(),
        source.file,
        render(plain),
    )
