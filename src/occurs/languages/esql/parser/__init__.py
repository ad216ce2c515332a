"""The text of an `.esql` file to its tree (pipes.md, section 2).

A text is cut into statements at its full stops, and before LET and DEFINE, which begin statements only.  Every
statement is read by itself, so that each wrong one is reported.  Phrases are known from the statement behind their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from occurs.errors import DefinitionProblem, Problem, raise_problems
from occurs.expr.text import Text
from occurs.languages.esql import syntax
from occurs.languages.esql.parser.phrases import PRELUDE, Sizes, nearest
from occurs.languages.esql.parser.reader import Backtrack, Reader
from occurs.languages.esql.parser.tokens import Token, tokens
from occurs.operators.process.palettes import palettes as installed


def parse(
    text: str, file: str | None = None, phrases: Sequence[syntax.Phrase] = (), *, palettes: bool = True
) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    ``phrases``: those of texts before it; with ``palettes`` also those of packages.  Statements with a problem are left
    out of the tree.
    """
    source = Text(text, file)
    known = [*PRELUDE, *(phrases_of_palettes() if palettes else ()), *phrases]
    statements: list[syntax.Statement] = []
    unread: set[str] = set()
    sizes = Sizes()
    for piece in pieces(text):
        before = len(source.problems)
        reader = Reader(piece, source, known)
        try:
            statement = reader.statement()
        except Backtrack:
            source.problems.append(_with_nearest(reader, known))
            unread |= _names(piece)
            continue
        # a phrase stands for its body wherever it is used, a definition for its own pipe
        root = statement.body if isinstance(statement, syntax.Phrase) else statement.pipe
        problem = sizes.of(root).problem if root is not None else None
        if problem is not None:
            hint = "name a pipe that is used several times: `LET a BE ..`"
            source.report("syntax", problem, source.span(piece[0].start, piece[-1].end), hint)
        if len(source.problems) > before:
            unread |= _names(piece)
            continue
        if piece[-1].kind == "end":
            last = piece[-2].end
            hint = "end the statement with a full stop: `DEFINE Out AS THE SUM OF x.`"
            source.report("syntax", "the statement ends without `.`", source.span(last, last + 1), hint)
        statements.append(statement)
        if isinstance(statement, syntax.Phrase):
            known = [p for p in known if p.body is not None or p.shape != statement.shape] + [statement]
    tree = syntax.File(tuple(statements), file, text, frozenset(unread))
    return tree, sorted(source.problems, key=Problem.sort_key)


@lru_cache(maxsize=1)
def phrases_of_palettes() -> Sequence[syntax.Phrase]:
    """The phrases of all palettes that are installed.

    SyntaxProblem, and DefinitionProblem (``bad-palette``) if a text has other statements.
    """
    out: list[syntax.Phrase] = []
    for name, palette in installed().items():
        file, problems = parse(palette.phrases, f"palette {name}", out, palettes=False)
        raise_problems(problems)
        for statement in file.statements:
            if not isinstance(statement, syntax.Phrase):
                raise DefinitionProblem.of("bad-palette", f"the palette `{name}` has statements that are not phrases")
            out.append(statement)
    return tuple(out)


def _with_nearest(reader: Reader, phrases: Sequence[syntax.Phrase]) -> Problem:
    """Why a statement cannot be read; a hint names the patterns that come near to what stands there."""
    problem = reader.problem()
    if reader.furthest in reader.said or problem.hint is not None:
        return problem
    for start in range(reader.furthest, max(-1, reader.furthest - 4), -1):
        if start >= len(reader.tokens) or reader.tokens[start].kind != "word":
            continue
        near = nearest([t.word for t in reader.tokens[start : start + 4] if t.kind == "word"], phrases)
        if near:
            hint = "did you mean " + " or ".join(f"`{p}`" for p in near) + "?"
            return reader.source.problem(problem.kind, problem.message, problem.span, hint)
    return problem


def _names(piece: Sequence[Token]) -> set[str]:
    """What a statement that cannot be read was to define."""
    if piece[0].word not in ("LET", "DEFINE"):
        return {"Result"}
    return {piece[1].word.strip("`")} if piece[1].kind in ("word", "name") else set()


def pieces(text: str) -> Iterator[tuple[Token, ...]]:
    """The tokens of every statement; the last one is the full stop, or of kind ``end`` if there is none."""
    piece: list[Token] = []
    for token in tokens(text):
        if token.kind == "stop":
            yield (*piece, token)
            piece = []
            continue
        if piece and token.word in ("LET", "DEFINE") and token.kind == "word" and piece[-1].kind != "access":
            yield (*piece, Token("end", "", piece[-1].end, piece[-1].end))
            piece = []
        piece.append(token)
    if piece:
        yield (*piece, Token("end", "", piece[-1].end, piece[-1].end))
