"""The text of inscriptions in CPN ML to terms (epl-and-nets.md, section 4B): the part of ML that nets need.

What is ML but has no term (functions, ``let``, delays of time, a choice between multisets) is ``unsupported``, by its
name; what is not in the grammar is ``syntax``.
"""

from __future__ import annotations

import re

from lark import Tree
from lark.exceptions import UnexpectedInput

from occurs.errors import DefinitionProblem, OccursError, SyntaxProblem
from occurs.expr.parsing import expected_terminals, found_at, lark_of
from occurs.expr.text import Text
from occurs.nets.colours import Colour, Value
from occurs.nets.evaluate import evaluate
from occurs.nets.ml_build import MOST_TOKENS, Builder, Tokens
from occurs.nets.ml_functions import fit
from occurs.nets.ml_names import Names
from occurs.nets.ml_values import quick_values
from occurs.nets.terms import ListTerm, Term


def parse_term(text: str, names: Names, colour: Colour | None = None) -> Term:
    """The term of one expression.  ``colour``: what it is to be, which orders the fields of records.

    Raises SyntaxProblem (kind ``syntax``) or DefinitionProblem (``unknown-name``, ``unsupported`` ..); places are those
    in ``text``.
    """
    return _single(_built(text, names), Text(text, None), colour)


def parse_tokens(text: str, names: Names, colour: Colour) -> tuple[Term, ...]:
    """The terms of an arc's inscription, one per token."""
    built = _built(text, names)
    if isinstance(built, Tokens):
        return tuple(fit(t, colour) for t in built.terms)
    return (fit(built, colour),)


def parse_guard(text: str, names: Names) -> tuple[Term, ...]:
    """The conjuncts of a guard: ``[g1, g2]`` or one condition; nothing for an empty text."""
    if not without_comments(text).strip():
        return ()
    term = parse_term(text, names)
    return term.parts if isinstance(term, ListTerm) else (term,)


def parse_values(text: str, names: Names, colour: Colour) -> tuple[Value, ...]:
    """The tokens of an initial marking, in their order; nothing for an empty text."""
    if not without_comments(text).strip():
        return ()
    quick = quick_values(text, colour, MOST_TOKENS)
    if quick is not None:
        return quick
    terms = parse_tokens(text, names, colour)
    known: dict[Term, Value] = {}
    for term in terms:
        if term not in known:
            known[term] = _constant(term, names, colour, Text(text, None))
    return tuple(known[t] for t in terms)


def parse_constant(text: str, names: Names) -> Value:
    """The value of an expression without variables."""
    return _constant(parse_term(text, names), names, None, Text(text, None))


def _constant(term: Term, names: Names, colour: Colour | None, source: Text) -> Value:
    try:
        value = evaluate(term, {}, None, names.variables)
    except KeyError as error:
        message = f"a variable (`{error.args[0]}`) is not allowed here: expected a constant"
        raise DefinitionProblem(source.problem("bad-value", message, term.span)) from None  # type: ignore[attr-defined]
    wrong = None if colour is None else colour.check(value)
    if wrong is not None:
        raise DefinitionProblem(source.problem("bad-value", wrong, getattr(term, "span", None)))
    return value


def _single(built: Term | Tokens, source: Text, colour: Colour | None) -> Term:
    if isinstance(built, Tokens):
        if len(built.terms) != 1:
            message = "a multiset is not allowed here: expected one value"
            raise DefinitionProblem(source.problem("unsupported", message, built.span))
        built = built.terms[0]
    return built if colour is None else fit(built, colour)


def _built(text: str, names: Names) -> Term | Tokens:
    source, clean = Text(text, None), without_comments(text)
    try:
        tree = lark_of("occurs.nets", "ml.lark", lexer="basic").parse(clean)
    except UnexpectedInput as error:
        raise _explained(error, clean, source) from None
    assert isinstance(tree, Tree)
    try:
        return Builder(source, names).value(tree)
    except RecursionError:
        raise SyntaxProblem(source.problem("syntax", "brackets are nested too deeply", None)) from None


#: what is ML, but not of the part that is understood
_OTHER = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")|\b(?P<word>let|case|fn|handle|raise|while|op|input|output|action|as|_)\b"""
    r"""|(?P<sign>@\+|@@|@|--|\*\*|:=|(?<!\.)!|%|=>|\||;|(?<!:):(?!:)|<<=|>>=|<<|>>)""",
    re.DOTALL,
)
_TIMES = ("@+", "@", "@@")


def _explained(error: UnexpectedInput, text: str, source: Text) -> OccursError:
    for match in _OTHER.finditer(text):
        if match.lastgroup != "string":
            word = match.group()
            what = f"time (`{word}`)" if word in _TIMES else f"the ML syntax `{word}`"
            place = source.span(match.start(), match.end())
            return DefinitionProblem(source.problem("unsupported", f"{what} is not supported", place))
    start, end, found = found_at(error, text)
    found = found.replace("the statement", "the text")
    message = f"{found}: expected {_words(expected_terminals(error))}"
    return SyntaxProblem(source.problem("syntax", message, source.span(start, min(end, len(text) + 1))))


_SHOWN = {
    "COMPARISON": "a comparison", "RPAR": "`)`", "RSQB": "`]`", "RBRACE": "`}`", "COMMA": "`,`", "THEN": "`then`",
    "ELSE": "`else`", "EQUAL": "`=`", "$END": "the end",
}  # fmt: skip


def _words(expected: set[str]) -> str:
    """Terminals for people: the beginnings of values, and of what can stand between them, together."""
    if "INT" in expected and "COMPARISON" not in expected:
        return "a value"
    named = [_SHOWN[t] for t in _SHOWN if t in expected]
    if "PRODUCT" in expected:
        named = ["an operator", *(n for n in named if n != "a comparison")]
    return " or ".join(named) or "a name"


_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\(\*|\*\)', re.DOTALL)


def without_comments(text: str) -> str:
    """Blanks instead of comments, which may contain each other; what stands elsewhere stays where it is.

    >>> without_comments("a (* b (* c *) *) + d")
    'a                 + d'
    """
    out, depth, begin = list(text), 0, 0
    for match in _COMMENT.finditer(text):
        if match.group() == "(*":
            begin = begin if depth else match.start()
            depth += 1
        elif match.group() == "*)" and depth:
            depth -= 1
            if not depth:
                out[begin : match.end()] = [c if c == "\n" else " " for c in text[begin : match.end()]]
    return "".join(out)
