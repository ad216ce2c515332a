"""Functions as a text of their own: what ``fn("$0 + 1")`` means (pipes.md, 2.3)."""

from __future__ import annotations

from functools import lru_cache

from occurs.errors import raise_problems
from occurs.expr.text import Text
from occurs.expr.tree import Expr
from occurs.languages.esql.build_function import Functions
from occurs.languages.esql.build_scope import Scope
from occurs.languages.esql.parser_tokens import tokens_with_end
from occurs.languages.esql.reader import Backtrack, Reader

#: more inputs than any function has
_MANY = 1 << 30


@lru_cache(maxsize=512)
def function(text: str) -> Expr:
    """The function that a text in the notation of eSQL's functions says.

    Names are attributes, ``*`` and ``$0`` the first input, ``$1`` the second; any other ``$name`` is a variable.  How
    many inputs and which variables there are is known where the function is used.  Raises SyntaxProblem and
    DefinitionProblem (``unknown-function``, ``sort``) with all that is wrong.

    >>> function("a.b > $n")
    Binary(op='>', left=Attribute(of=Ref(scope=None, name='a', index=None), name='b'), right=Param(name='n'))
    """
    source = Text(text, None)
    reader = Reader(tokens_with_end(text), source)
    try:
        node = reader.expression()
        if reader.token.kind != "end":
            raise reader.fail("the end of the text")
    except Backtrack:
        raise_problems([reader.problem()])
        raise
    scope = Scope(source, inputs=_MANY, free=True)
    built = Functions().function(node, scope)
    raise_problems(source.problems)
    return built
